//! Laying a patch over a folder.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output};

use super::error::GitError;
use super::program::{Settings, git, last_words, output};
use crate::domain::diff::file_changes;

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

/// As [`apply`], but each hunk needs only `context` lines of context on either side that match, and the numbers of lines
/// in its head are counted anew.
///
/// # Errors
/// As [`apply`].
pub fn apply_fuzzy(dir: &Path, patch: &[u8], context: u8) -> Result<(), ApplyError> {
    run(dir, patch, &["--recount", &format!("-C{context}")])
}

/// Lays `patch` over the files in `dir` by merging: the files that its index lines name are looked for in the object
/// store `objects`, and what the patch does to them is merged into those of `dir`. All of it or nothing; a conflict is
/// "does not apply".
///
/// # Errors
/// As [`apply`].
pub fn apply_three_way(dir: &Path, patch: &[u8], objects: &Path) -> Result<(), ApplyError> {
    if patch.is_empty() {
        return Ok(());
    }
    let written = |source| GitError::Write {
        path: std::env::temp_dir(),
        source,
    };
    let scratch = blank_repository().map_err(written)?;
    let place = scratch.path();
    let objects = std::path::absolute(objects).map_err(written)?;
    let mut alternates = objects.into_os_string().into_encoded_bytes();
    alternates.push(b'\n');
    fs::create_dir(place.join("objects/info"))
        .and_then(|()| fs::write(place.join("objects/info/alternates"), &alternates))
        .map_err(written)?;
    // Merging looks at the index: what the patch touches must be in it.
    let touched = file_changes(patch);
    let mut names = Vec::new();
    for path in touched
        .iter()
        .flat_map(|file| std::iter::once(&file.path).chain(&file.old_path))
    {
        let is_file = fs::symlink_metadata(dir.join(OsStr::from_bytes(path.as_bytes())))
            .is_ok_and(|found| !found.is_dir());
        if is_file {
            names.extend_from_slice(path.as_bytes());
            names.push(0);
        }
    }
    let mut command = in_tree(dir, place);
    command.args(["update-index", "--add", "-z", "--stdin"]);
    judged(&output(command, "update-index", &names)?)?;
    // First in an index of its own: a conflict must leave nothing behind.
    fs::copy(place.join("index"), place.join("trial"))
        .map(drop)
        .or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
        .map_err(written)?;
    let mut command = in_tree(dir, place);
    command.env("GIT_INDEX_FILE", place.join("trial")).args([
        "apply",
        "--whitespace=nowarn",
        "--3way",
        "--cached",
        "-",
    ]);
    judged(&output(command, "apply", patch)?)?;
    let mut command = in_tree(dir, place);
    command.args(["apply", "--whitespace=nowarn", "--3way", "-"]);
    judged(&output(command, "apply", patch)?)
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
    let mut command = in_tree(dir, scratch.path());
    command.args(["apply", "--whitespace=nowarn"]).args(more).arg("-");
    judged(&output(command, "apply", patch)?)
}

/// A git command whose work tree is `dir` and whose repository is `place`, and that converts nothing.
fn in_tree(dir: &Path, place: &Path) -> Command {
    let mut command = git(Settings::Isolated);
    command.current_dir(dir);
    for setting in [
        "core.autocrlf=false",
        "core.eol=lf",
        "core.safecrlf=false",
        "core.symlinks=true",
        "core.fileMode=true",
        "core.ignoreCase=false",
        "core.precomposeUnicode=false",
        "apply.whitespace=nowarn",
        "apply.ignoreWhitespace=no",
    ] {
        command.args(["-c", setting]);
    }
    command.env("GIT_DIR", place).env("GIT_WORK_TREE", ".");
    command
}

/// What git's end says: fine, a patch that does not fit, or the outside's fault.
fn judged(output: &Output) -> Result<(), ApplyError> {
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
