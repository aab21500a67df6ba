//! Work trees as folders: copies, looks, and what an install left in one.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::build::products::{Look, Stamp};
use crate::domain::path::RepoPath;
pub(super) use crate::workspace::tree::copy;

/// Marks a layer as used now: what nothing uses for a while may be removed.
pub(super) fn used(layer: &Path) {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let times = Timestamps {
        last_access: now,
        last_modification: now,
    };
    // A layer that cannot be marked is as good.
    let _ = utimensat(CWD, layer, &times, AtFlags::empty());
}

/// Looks at every file and link below `root`.
pub(super) fn look(root: &Path) -> io::Result<Look> {
    let mut look = Look::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let data = fs::symlink_metadata(&path)?;
            if data.is_dir() {
                folders.push(path);
                continue;
            }
            let stamp = Stamp {
                size: data.len(),
                mode: data.mode(),
                inode: data.ino(),
                changed: i128::from(data.ctime()) * 1_000_000_000 + i128::from(data.ctime_nsec()),
            };
            let inside = path.strip_prefix(root).unwrap_or(&path);
            look.insert(RepoPath::from(inside.as_os_str().as_bytes()), stamp);
        }
    }
    Ok(look)
}

/// Whether the file is the same in both trees: kind, executable bit, bytes.
pub(super) fn is_same(path: &RepoPath, one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (join(one, path), join(other, path));
    let (a, b) = (fs::symlink_metadata(&one)?, fs::symlink_metadata(&other)?);
    if a.is_symlink() || b.is_symlink() {
        return Ok(a.is_symlink() && b.is_symlink() && fs::read_link(&one)? == fs::read_link(&other)?);
    }
    if !a.is_file() || !b.is_file() || (a.mode() ^ b.mode()) & 0o100 != 0 || a.len() != b.len() {
        return Ok(false);
    }
    Ok(fs::read(&one)? == fs::read(&other)?)
}

/// Writes files into a tree, and removes those without content. What is no folder on the way to one gives way: nothing is
/// written through a link.
pub(super) fn lay<'a>(
    files: impl Iterator<Item = (&'a str, Option<&'a [u8]>)>,
    root: &Path,
) -> io::Result<()> {
    for (path, content) in files {
        let mut at = root.to_owned();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            at.push(part);
            let there = fs::symlink_metadata(&at).ok();
            let is_last = parts.peek().is_none();
            if there.is_some_and(|there| is_last || !there.is_dir()) {
                fs::remove_file(&at)?;
            }
        }
        if let Some(content) = content {
            fs::create_dir_all(at.parent().unwrap_or(root))?;
            fs::write(&at, content)?;
        }
    }
    Ok(())
}

/// Moves some files of a tree into another folder, at the same paths.
pub(super) fn move_files(paths: &[RepoPath], from: &Path, to: &Path) -> io::Result<()> {
    for path in paths {
        let target = join(to, path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::rename(join(from, path), target)?;
    }
    Ok(())
}

/// Reads a file of a tree; `None` when there is none, or when a link leads out of the tree.
pub(super) fn read(root: &Path, path: impl AsRef<Path>) -> Option<Vec<u8>> {
    let root = root.canonicalize().ok()?;
    let path = root.join(path).canonicalize().ok()?;
    (path.starts_with(&root) && path.is_file())
        .then(|| fs::read(path).ok())
        .flatten()
}

/// Makes `to` hold everything that `from` holds, its files as links; what `to` has already stays.
pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if fs::symlink_metadata(&target).map_or(true, |there| there.is_dir()) {
                link(&entry.path(), &target)?;
            }
        } else if fs::symlink_metadata(&target).is_err() && fs::hard_link(entry.path(), &target).is_err() {
            // Another file system, or a file that has all the links it can.
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Removes every `__pycache__` below a folder.
pub(super) fn remove_bytecode(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            if entry.file_name() == "__pycache__" {
                fs::remove_dir_all(entry.path())?;
            } else {
                remove_bytecode(&entry.path())?;
            }
        }
    }
    Ok(())
}

fn join(root: &Path, path: &RepoPath) -> PathBuf {
    root.join(std::ffi::OsStr::from_bytes(path.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::build::products::compare;

    #[test]
    fn a_copy_is_the_same_and_changes_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::create_dir_all(one.join("a/b")).unwrap();
        fs::write(one.join("a/run"), "x").unwrap();
        fs::set_permissions(one.join("a/run"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(one.join("a/b/f"), [0xff, 0]).unwrap();
        symlink("../run", one.join("a/b/link")).unwrap();
        copy(&one, &two).unwrap();
        let before = look(&two).unwrap();
        for path in before.keys() {
            assert!(is_same(path, &one, &two).unwrap(), "{path}");
        }
        fs::write(two.join("a/b/f"), [0xfe, 0]).unwrap();
        fs::write(two.join("new"), "").unwrap();
        fs::remove_file(two.join("a/b/link")).unwrap();
        let differences = compare(&before, &look(&two).unwrap());
        assert_eq!(differences.created, [RepoPath::from("new")]);
        assert_eq!(differences.touched, [RepoPath::from("a/b/f")]);
        assert_eq!(differences.removed, [RepoPath::from("a/b/link")]);
        assert!(!is_same(&RepoPath::from("a/b/f"), &one, &two).unwrap());
    }

    #[test]
    fn a_link_out_of_the_tree_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(folder.path().join("secret"), "s").unwrap();
        symlink("../secret", tree.join("requirements.txt")).unwrap();
        fs::write(tree.join("ok.txt"), "six").unwrap();
        assert_eq!(read(&tree, "requirements.txt"), None);
        assert_eq!(read(&tree, "ok.txt").as_deref(), Some(&b"six"[..]));
        assert_eq!(read(&tree, "none.txt"), None);
    }

    #[test]
    fn files_are_laid_over_a_tree_and_never_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, outside) = (folder.path().join("tree"), folder.path().join("outside"));
        for folder in [&tree, &outside] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(tree.join("a.txt"), "old").unwrap();
        fs::write(tree.join("gone.txt"), "old").unwrap();
        fs::write(outside.join("b.txt"), "kept").unwrap();
        symlink("../outside", tree.join("more")).unwrap();
        symlink("../outside/b.txt", tree.join("c.txt")).unwrap();
        let files = [
            ("a.txt", Some(&b"new"[..])),
            ("gone.txt", None),
            ("never.txt", None),
            ("more/b.txt", Some(b"new")),
            ("c.txt", Some(b"new")),
        ];
        lay(files.into_iter(), &tree).unwrap();
        for path in ["a.txt", "more/b.txt", "c.txt"] {
            assert_eq!(fs::read(tree.join(path)).unwrap(), b"new", "{path}");
        }
        assert!(!tree.join("gone.txt").exists());
        assert_eq!(fs::read(outside.join("b.txt")).unwrap(), b"kept");
    }

    #[test]
    fn links_join_folders_and_the_first_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for (path, text) in [
            ("one/lib/a/f", "1"),
            ("one/lib/x", "1"),
            ("two/lib/b/g", "2"),
            ("two/lib/x", "2"),
        ] {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        }
        link(&at("one"), &at("all")).unwrap();
        link(&at("two"), &at("all")).unwrap();
        assert_eq!(fs::read_to_string(at("all/lib/x")).unwrap(), "1");
        assert!(at("all/lib/b/g").is_file());
        assert_eq!(fs::metadata(at("all/lib/a/f")).unwrap().nlink(), 2);
    }
}
