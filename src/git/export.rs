//! A commit's tree as files in a folder.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use git2::ObjectType;

use super::error::GitError;
use super::mirror::{Mirror, join};
use crate::domain::ids::CommitSha;
use crate::domain::path::RepoPath;

impl Mirror {
    /// Writes a commit's files into `dest`: a new folder, or an empty one. Contents are the blobs' bytes (no line-end
    /// conversion, no filters), executable bits and symbolic links are kept, a submodule is an empty folder, and there
    /// is no `.git`. Everything is created new, so nothing is written through a link and nothing outside `dest`.
    ///
    /// # Errors
    /// When an object is missing, an entry's name is unsafe (`..`, `.git`), `dest` is not empty, or the disk refuses.
    /// What was written by then stays.
    pub fn export(&self, commit: CommitSha, dest: impl AsRef<Path>) -> Result<(), GitError> {
        let dest = dest.as_ref();
        let refused = |source| GitError::Write {
            path: dest.to_owned(),
            source,
        };
        fs::create_dir_all(dest).map_err(refused)?;
        if fs::read_dir(dest).map_err(refused)?.next().is_some() {
            return Err(GitError::NotEmpty {
                path: dest.to_owned(),
            });
        }
        let mut folders = vec![(Vec::new(), dest.to_owned(), self.tree(commit)?)];
        while let Some((prefix, folder, tree)) = folders.pop() {
            for entry in &tree {
                let name = entry.name_bytes();
                let path = join(&prefix, name);
                let named = || RepoPath::from(path.as_slice());
                if !is_safe(name) {
                    return Err(GitError::UnsafePath {
                        commit,
                        path: named(),
                    });
                }
                let target = folder.join(OsStr::from_bytes(name));
                let refused = |source| GitError::Write {
                    path: target.clone(),
                    source,
                };
                let missing = |source| GitError::File {
                    commit,
                    path: named(),
                    source,
                };
                match entry.kind() {
                    Some(ObjectType::Tree) => {
                        new_folder(&target).map_err(refused)?;
                        let inner = self.repo.find_tree(entry.id()).map_err(missing)?;
                        folders.push((path, target, inner));
                    }
                    Some(ObjectType::Commit) => new_folder(&target).map_err(refused)?,
                    _ => {
                        let blob = self.repo.find_blob(entry.id()).map_err(missing)?;
                        new_file(&target, entry.filemode_raw(), blob.content()).map_err(refused)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_safe(name: &[u8]) -> bool {
    !name.is_empty()
        && name != b"."
        && name != b".."
        && !name.eq_ignore_ascii_case(b".git")
        && !name.contains(&b'/')
        && !name.contains(&0)
}

fn new_folder(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().mode(0o755).create(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

fn new_file(path: &Path, mode: i32, content: &[u8]) -> std::io::Result<()> {
    if mode == 0o120_000 {
        return symlink(OsStr::from_bytes(content), path);
    }
    let permissions = if mode & 0o100 == 0 { 0o644 } else { 0o755 };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(permissions)
        .open(path)?;
    file.write_all(content)?;
    // The process's umask must not show in the result.
    file.set_permissions(fs::Permissions::from_mode(permissions))
}
