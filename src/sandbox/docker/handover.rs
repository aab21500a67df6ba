//! Files that the user inside must own: where Quarry is root, jobs are somebody else.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Gid, Uid, chownat};

/// Makes `user` the owner of everything below `root`, links as links. A folder changes hands after what is in it, so
/// that one that has done so is whole. What vanishes meanwhile is passed over.
pub(super) fn hand_over(root: &Path, user: u32) -> io::Result<()> {
    let data = match fs::symlink_metadata(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    if data.uid() == user {
        return Ok(());
    }
    if data.is_dir() {
        for entry in fs::read_dir(root)? {
            hand_over(&entry?.path(), user)?;
        }
    }
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    match chownat(CWD, root, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => Ok(()),
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_owns_already_stays() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/nowhere", folder.path().join("link")).unwrap();
        let own = rustix::process::getuid().as_raw();
        hand_over(folder.path(), own).unwrap();
        hand_over(&folder.path().join("missing"), own + 1).unwrap();
        if own == 0 {
            hand_over(folder.path(), 65_532).unwrap();
            let link = fs::symlink_metadata(folder.path().join("link")).unwrap();
            assert_eq!(link.uid(), 65_532, "a link is handed over itself");
        }
    }
}
