//! Objects by name: reading one without a path, and writing blobs and trees.

use std::collections::BTreeMap;
use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Oid};

use super::error::GitError;
use super::mirror::{Mirror, TreeFile, oid, sha};
use super::program::{Settings, git, succeed};
use crate::domain::ids::CommitSha;
use crate::domain::patch::EntryKind;
use crate::domain::path::RepoPath;

/// The entries of a tree that is to be written.
#[derive(Debug, Clone, Default)]
pub struct TreeObjects(BTreeMap<RepoPath, TreeFile>);

impl TreeObjects {
    /// Adds an entry, in place of what was at its path.
    pub fn insert(&mut self, file: TreeFile) {
        self.0.insert(file.path.clone(), file);
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes an entry out.
    pub fn remove(&mut self, path: &RepoPath) {
        self.0.remove(path);
    }
}

impl Mirror {
    /// A blob's bytes, by its name.
    ///
    /// # Errors
    /// When the mirror lacks it.
    pub fn blob(&self, object: CommitSha) -> Result<Vec<u8>, GitError> {
        self.repo
            .find_blob(oid(object))
            .map(|blob| blob.content().to_vec())
            .map_err(GitError::library("read a blob"))
    }

    /// Whether a tree of this name is here.
    pub fn has_tree(&self, tree: CommitSha) -> bool {
        self.repo.find_tree(oid(tree)).is_ok()
    }

    /// The name of a commit's tree.
    ///
    /// # Errors
    /// When the mirror lacks the commit.
    pub fn tree_of(&self, commit: CommitSha) -> Result<CommitSha, GitError> {
        self.repo
            .find_commit(oid(commit))
            .map(|found| sha(found.tree_id()))
            .map_err(|source| GitError::Commit { commit, source })
    }

    /// Writes a blob, and gives its name.
    ///
    /// # Errors
    /// When the mirror cannot be written.
    pub fn write_blob(&self, content: &[u8]) -> Result<CommitSha, GitError> {
        self.repo
            .blob(content)
            .map(sha)
            .map_err(GitError::library("write a blob"))
    }

    /// Writes a tree, and gives its name.
    ///
    /// # Errors
    /// When the mirror cannot be written.
    pub fn write_tree(&self, objects: &TreeObjects) -> Result<CommitSha, GitError> {
        let write = || -> Result<Oid, git2::Error> {
            let empty = self.repo.find_tree(self.repo.treebuilder(None)?.write()?)?;
            let mut update = TreeUpdateBuilder::new();
            for file in objects.0.values() {
                let mode = match (file.entry, file.executable) {
                    (EntryKind::Symlink, _) => FileMode::Link,
                    (EntryKind::Submodule, _) => FileMode::Commit,
                    (EntryKind::File, true) => FileMode::BlobExecutable,
                    (EntryKind::File, false) => FileMode::Blob,
                };
                update.upsert(file.path.as_bytes(), oid(file.object), mode);
            }
            update.create_updated(&self.repo, &empty)
        };
        write().map(sha).map_err(GitError::library("write a tree"))
    }
}

/// Whether git can bring back everything below a folder: it is in a work tree of git, no change is uncommitted, git looks
/// at every tracked file, and no file that git ignores is `precious`, asked by its path from the folder on.
///
/// # Errors
/// When it is in no work tree, or git fails.
pub fn is_clean_work_tree(folder: &Path, precious: &dyn Fn(&[u8]) -> bool) -> Result<bool, GitError> {
    let run = |args: &[&str]| {
        let mut command = git(Settings::Isolated);
        command.current_dir(folder).args(args);
        succeed(command, "git status", &[])
    };
    // Files that git was told not to look at (`assume-unchanged`, `skip-worktree`) have a small letter or an `S`.
    let tracked = run(&["ls-files", "-v", "-z", "."])?;
    let unseen = |entry: &[u8]| {
        entry
            .first()
            .is_some_and(|tag| tag.is_ascii_lowercase() || *tag == b'S')
    };
    if tracked.split(|byte| *byte == 0).any(unseen) {
        return Ok(false);
    }
    let status = run(&[
        "status",
        "--porcelain",
        "-z",
        "--ignored",
        "--untracked-files=all",
        ".",
    ])?;
    // Paths come from the top of the work tree on.
    let prefix = run(&["rev-parse", "--show-prefix"])?;
    let prefix = prefix.strip_suffix(b"\n").unwrap_or(&prefix);
    let mut entries = status.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    Ok(entries.all(|entry| {
        entry
            .strip_prefix(b"!! ")
            .is_some_and(|path| !precious(path.strip_prefix(prefix).unwrap_or(path)))
    }))
}
