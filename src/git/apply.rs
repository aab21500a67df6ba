//! Laying a patch over a folder.

use std::fs;
use std::path::Path;

use super::error::GitError;
use super::program::{Settings, git, last_words, output};

/// A patch that was not laid over a folder. The folder is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The patch does not fit the files: the candidate's (or the prediction's) own fault.
    #[error("apply the patch: {detail}")]
    DoesNotApply {
        /// What git said: the file and line of the first hunk that does not fit.
        detail: String,
    },
    /// The outside's fault: no git program, no disk space ….
    #[error("apply the patch: {source}")]
    Outside {
        /// What went wrong.
        #[from]
        source: GitError,
    },
}

impl ApplyError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::DoesNotApply { .. } => {
                vec![
                    "a patch is taken whole or not at all, without fuzz: make it against these very files"
                        .to_owned(),
                ]
            }
            Self::Outside { source } => source.hints(),
        }
    }
}

/// Lays `patch` (a `git diff` with or without binary patches, renames and modes) over the files in `dir`: all of it or
/// nothing, byte exact. Hunks may have moved, but their context must match exactly. `.gitattributes` files, line-end
/// settings and the user's git settings have no say. An empty patch changes nothing. Paths that lead out of `dir`, also
/// through symbolic links, and paths into `.git` are refused.
///
/// # Errors
/// [`ApplyError::DoesNotApply`] when the patch does not fit or is no patch; [`ApplyError::Outside`] when git cannot run.
pub fn apply(dir: &Path, patch: &[u8]) -> Result<(), ApplyError> {
    run(dir, patch, &[])
}

/// Whether [`apply`] would succeed; nothing is written.
///
/// # Errors
/// As [`apply`].
pub fn check(dir: &Path, patch: &[u8]) -> Result<(), ApplyError> {
    run(dir, patch, &["--check"])
}

fn run(dir: &Path, patch: &[u8], more: &[&str]) -> Result<(), ApplyError> {
    if patch.is_empty() {
        return Ok(());
    }
    let scratch = blank_repository().map_err(|source| GitError::Write {
        path: std::env::temp_dir(),
        source,
    })?;
    let mut command = git(Settings::Isolated);
    command
        .current_dir(dir)
        .args([
            "-c",
            "core.autocrlf=false",
            "-c",
            "core.eol=lf",
            "-c",
            "core.safecrlf=false",
        ])
        .args([
            "-c",
            "core.symlinks=true",
            "-c",
            "core.fileMode=true",
            "-c",
            "core.ignoreCase=false",
        ])
        .args([
            "-c",
            "core.precomposeUnicode=false",
            "-c",
            "apply.whitespace=nowarn",
            "-c",
            "apply.ignoreWhitespace=no",
        ])
        .env("GIT_DIR", scratch.path())
        .env("GIT_WORK_TREE", ".")
        .args(["apply", "--whitespace=nowarn"])
        .args(more)
        .arg("-");
    let output = output(command, "apply", patch)?;
    if output.status.success() {
        return Ok(());
    }
    let detail = last_words(&output.stderr);
    // Git's own faults end with other codes than a patch that does not fit (1) or is none (128).
    match output.status.code() {
        Some(1 | 128) if !is_outside(&detail) => Err(ApplyError::DoesNotApply { detail }),
        _ => Err(GitError::Program {
            command: "apply".to_owned(),
            detail,
        }
        .into()),
    }
}

fn is_outside(detail: &str) -> bool {
    [
        "No space left on device",
        "Read-only file system",
        "Out of memory",
        "Permission denied",
        "Disk quota exceeded",
    ]
    .iter()
    .any(|words| detail.contains(words))
}

/// A repository with nothing in it but one rule that outranks every `.gitattributes`: no conversion of any kind.
fn blank_repository() -> std::io::Result<tempfile::TempDir> {
    let dir = tempfile::Builder::new().prefix("quarry-apply-").tempdir()?;
    for folder in ["objects", "refs", "info"] {
        fs::create_dir(dir.path().join(folder))?;
    }
    fs::write(dir.path().join("HEAD"), "ref: refs/heads/none\n")?;
    fs::write(
        dir.path().join("config"),
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    )?;
    fs::write(
        dir.path().join("info/attributes"),
        "* -text !eol !crlf -ident !filter !working-tree-encoding !whitespace\n",
    )?;
    Ok(dir)
}
