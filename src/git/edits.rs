//! Which commits wrote which lines of some files: one pass of the git program over their whole history.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::error::GitError;
use super::program::{Settings, git, in_dir, succeed};
use crate::domain::diff::file_changes;
use crate::domain::ids::CommitSha;
use crate::domain::patch::ChangeKind;
use crate::domain::path::RepoPath;

/// What one commit did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The commit; no merge.
    pub commit: CommitSha,
    /// The file; a renamed one is deleted and added.
    pub path: RepoPath,
    /// What became of it.
    pub change: ChangeKind,
    /// The lines that it added, without their ends.
    pub added: Vec<Vec<u8>>,
    /// The lines that it removed, without their ends.
    pub removed: Vec<Vec<u8>>,
}

/// Every change that a commit which `tip` reaches, merges left out, made to the files and folders named by `paths`,
/// newest first.
///
/// # Errors
/// When git cannot run, or an object is missing.
pub fn edits(git_dir: &Path, tip: CommitSha, paths: &[RepoPath]) -> Result<Vec<Edit>, GitError> {
    if paths.is_empty() {
        return Ok(vec![]);
    }
    let mut command = in_dir(git(Settings::Isolated), git_dir);
    command.args(["-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false"]);
    command.args([
        "--literal-pathspecs",
        "log",
        "--no-merges",
        "--full-history",
        "--date-order",
    ]);
    command.args([
        "-p",
        "-U0",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--text",
    ]);
    command.args(["--src-prefix=a/", "--dst-prefix=b/", "--format=%x00%H"]);
    command.arg(tip.to_string()).arg("--");
    for path in paths {
        command.arg(OsStr::from_bytes(path.as_bytes()));
    }
    let text = succeed(command, "log", b"")?;
    let mut found = vec![];
    for record in text.split(|byte| *byte == 0).filter(|record| record.len() > 40) {
        let (hash, diff) = record.split_at(40);
        let Some(commit) = std::str::from_utf8(hash).ok().and_then(|hash| hash.parse().ok()) else {
            // A line of a file that holds the mark itself: it belongs to no commit.
            continue;
        };
        for file in file_changes(diff) {
            let range = usize::try_from(file.start).unwrap_or(usize::MAX)
                ..usize::try_from(file.end).unwrap_or(usize::MAX);
            let section = diff.get(range).unwrap_or_default();
            found.push(Edit {
                commit,
                path: file.path,
                change: file.change,
                added: lines_with(b"+", section),
                removed: lines_with(b"-", section),
            });
        }
    }
    Ok(found)
}

/// The lines of a file's hunks that bear this mark.
fn lines_with(mark: &[u8], section: &[u8]) -> Vec<Vec<u8>> {
    let mut in_hunks = false;
    let mut lines = vec![];
    for line in section.split(|byte| *byte == b'\n') {
        if line.starts_with(b"@@ ") {
            in_hunks = true;
        } else if let Some(text) = line.strip_prefix(mark).filter(|_| in_hunks) {
            lines.push(text.strip_suffix(b"\r").unwrap_or(text).to_vec());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::fixture::{FILE, Files, Fixture};

    #[test]
    fn lines_are_told_with_the_commit_that_wrote_them() {
        let mut fixture = Fixture::new();
        let mut files = Files::new();
        files.insert(b"NEWS".to_vec(), (FILE, b"one\ntwo\n".to_vec()));
        files.insert(b"other".to_vec(), (FILE, b"x\n".to_vec()));
        let first = fixture.commit(&[], &files, "Start");
        files.insert(b"NEWS".to_vec(), (FILE, b"one\nmore\ntwo\n".to_vec()));
        files.insert(b"news/1.feature".to_vec(), (FILE, b"word\n".to_vec()));
        files.remove(b"other".as_slice());
        let second = fixture.commit(&[first], &files, "More");
        files.remove(b"news/1.feature".as_slice());
        let third = fixture.commit(&[second], &files, "Less");
        let paths = ["NEWS", "news"].map(|path| RepoPath::from(path.as_bytes()));
        let told: Vec<_> = edits(fixture.path(), third, &paths)
            .unwrap()
            .into_iter()
            .map(|edit| {
                let text = |lines: &[Vec<u8>]| String::from_utf8_lossy(&lines.join(&b'|')).into_owned();
                let lines = format!("{} {}", text(&edit.added), text(&edit.removed));
                (edit.commit, edit.path.to_string(), edit.change, lines)
            })
            .collect();
        assert_eq!(
            told,
            [
                (
                    third,
                    "news/1.feature".to_owned(),
                    ChangeKind::Deleted,
                    " word".to_owned()
                ),
                (
                    second,
                    "NEWS".to_owned(),
                    ChangeKind::Modified,
                    "more ".to_owned()
                ),
                (
                    second,
                    "news/1.feature".to_owned(),
                    ChangeKind::Added,
                    "word ".to_owned()
                ),
                (first, "NEWS".to_owned(), ChangeKind::Added, "one|two ".to_owned()),
            ]
        );
    }
}
