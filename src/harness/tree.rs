//! Work trees as folders: copies for runs, and their removal whatever tests did to them.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::domain::path::RepoPath;
pub use crate::workspace::tree::copy;

/// Every file and link below `root`, by its path inside.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(root: &Path) -> io::Result<BTreeSet<RepoPath>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                let inside = path.strip_prefix(root).unwrap_or(&path);
                found.insert(RepoPath::from(inside.as_os_str().as_bytes()));
            }
        }
    }
    Ok(found)
}

/// Removes a folder, also one with folders inside that forbid it.
///
/// # Errors
/// When something in it cannot be removed.
pub fn remove(root: &Path) -> io::Result<()> {
    match fs::remove_dir_all(root) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unlock(root);
            fs::remove_dir_all(root)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn unlock(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_tree_is_copied_listed_and_removed_even_when_it_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::create_dir_all(one.join("a/b")).unwrap();
        fs::write(one.join("a/b/f"), [0xff, 0]).unwrap();
        fs::set_permissions(one.join("a/b/f"), Permissions::from_mode(0o755)).unwrap();
        symlink("/nowhere", one.join("link")).unwrap();
        copy(&one, &two).unwrap();
        assert_eq!(
            files(&two).unwrap(),
            [RepoPath::from("a/b/f"), RepoPath::from("link")].into()
        );
        assert_eq!(fs::read(two.join("a/b/f")).unwrap(), [0xff, 0]);
        assert_eq!(
            fs::metadata(two.join("a/b/f")).unwrap().permissions().mode() & 0o777,
            0o755
        );
        fs::set_permissions(two.join("a"), Permissions::from_mode(0o000)).unwrap();
        remove(&two).unwrap();
        assert!(!two.exists());
        remove(&two).unwrap();
    }
}
