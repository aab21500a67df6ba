//! Work trees as folders.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Copies a folder's content into `to` (made if missing): bytes, permissions, links as links. Pipes and devices, which no
/// commit holds, are left out.
///
/// # Errors
/// When something cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            // Also copies the permission bits.
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
