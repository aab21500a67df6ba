//! Files that are written when the work is done: what would keep them from it is said before the work.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use camino::Utf8Path;

use super::error::CliError;
use crate::domain::address;
use crate::emit::assemble::MANIFEST;
use crate::emit::sums::NAME as SUMS;
use crate::strip::run::StripError;

/// Refuses an address where a file or a folder is to be written: it would become a folder of that name.
///
/// # Errors
/// [`CliError`] when it is one.
pub(super) fn must_be_no_address(path: &Path) -> Result<(), CliError> {
    let text = path.to_string_lossy();
    if address::parts(&text).is_none() {
        return Ok(());
    }
    Err(CliError::input(
        format!("write `{}`: it is an address", address::shown(&text)),
        vec!["name a place on this machine".to_owned()],
    ))
}

/// Makes sure that a file of this name can be written, and leaves things as they are.
///
/// # Errors
/// [`CliError`] when its folder is not there or cannot be written, or something else has its name.
pub(super) fn must_be_writable(path: &Path) -> Result<(), CliError> {
    must_be_no_address(path)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    let tried = match path.metadata() {
        Ok(there) if there.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(_) => File::options().append(true).open(path).map(drop),
        Err(_) => tempfile::tempfile_in(folder).map(drop),
    };
    tried.map_err(|error| {
        CliError::input(
            format!("write `{}`: {error}", path.display()),
            vec!["name a file in a folder that is there and can be written".to_owned()],
        )
    })
}

/// Makes sure that a folder of this name, which may not be there yet, takes files of these names, that none of them is in
/// the way, and that it lies in no emitted version; leaves things as they are.
///
/// # Errors
/// [`CliError`] with what is in the way.
pub(super) fn must_take_files(folder: &Utf8Path, names: &[&str]) -> Result<(), CliError> {
    must_be_outside_versions(folder)?;
    let whole = real(folder.as_std_path());
    let there = whole.ancestors().find(|path| path.exists());
    let there = there.unwrap_or(Path::new("/"));
    if !there.is_dir() {
        return Err(CliError::input(
            format!(
                "write into `{folder}`: `{}` is a file, not a folder",
                there.display()
            ),
            vec!["name a folder: one that is there, or a new one".to_owned()],
        ));
    }
    tempfile::tempfile_in(there).map_err(|error| {
        CliError::input(
            format!("write into `{folder}`: {error}"),
            vec!["name a folder that can be written".to_owned()],
        )
    })?;
    for name in names.iter().filter(|_| there == whole) {
        must_be_writable(&whole.join(name))?;
    }
    Ok(())
}

/// Refuses a place inside an emitted version: it would not be sound any more.
///
/// # Errors
/// [`CliError`] when a folder above the place is a version.
pub(super) fn must_be_outside_versions(path: &Utf8Path) -> Result<(), CliError> {
    must_be_no_address(path.as_std_path())?;
    let whole = real(path.as_std_path());
    let is_version = |folder: &&Path| folder.join(MANIFEST).is_file() && folder.join(SUMS).is_file();
    match whole.ancestors().find(is_version) {
        None => Ok(()),
        Some(version) => Err(CliError::input(
            format!(
                "write `{path}`: it lies in the emitted version `{}`",
                version.display()
            ),
            vec!["name a place outside: a version stays as it was released".to_owned()],
        )),
    }
}

/// A path without links; what is not there yet is judged by the nearest folder that is.
pub(super) fn real(path: &Path) -> PathBuf {
    let mut rest = vec![];
    let mut known = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    loop {
        if let Ok(real) = known.canonicalize() {
            return rest
                .iter()
                .rev()
                .fold(real, |path: PathBuf, part| path.join(part));
        }
        match (
            known.file_name().map(ToOwned::to_owned),
            known.parent().map(Path::to_owned),
        ) {
            (Some(name), Some(parent)) => {
                rest.push(name);
                known = parent;
            }
            _ => return known,
        }
    }
}

/// Refuses a destination inside the source and the other way round.
pub(super) fn apart(source: &Path, target: &Path) -> Result<(), CliError> {
    let (source, target) = (real(source), real(target));
    if target.starts_with(&source) || source.starts_with(&target) {
        return Err(StripError::Nested { path: target }.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_for_files_is_no_file_and_in_no_version() {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temp.path()).unwrap();
        for address in ["https://ann:s3cret@host/a", "FTP://host/a"] {
            let refused = must_take_files(Utf8Path::new(address), &[]).unwrap_err();
            assert!(refused.message.contains("host/a`: it is an address"), "{refused}");
            assert!(!refused.message.contains("s3cret"), "{refused}");
        }
        std::fs::create_dir_all(root.join("version/in/it")).unwrap();
        std::fs::create_dir_all(root.join("taken/report.json")).unwrap();
        for name in ["version/manifest.json", "version/SHA256SUMS", "file"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let refused = |name: &str| {
            let error = must_take_files(&root.join(name), &["report.json"]).unwrap_err();
            error.message
        };
        assert!(must_take_files(&root.join("new/folder"), &["report.json"]).is_ok());
        assert!(!root.join("new").exists());
        for name in ["version", "version/in", "version/new/one"] {
            assert!(refused(name).contains("emitted version"), "{name}");
        }
        assert!(refused("file/below").contains("is a file, not a folder"));
        assert!(refused("taken").contains("report.json"));
    }

    #[test]
    fn what_cannot_be_written_is_known_before_and_what_can_is_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        let there = temp.path().join("there");
        std::fs::write(&there, "kept").unwrap();
        assert!(must_be_writable(&there).is_ok());
        assert_eq!(std::fs::read(&there).unwrap(), b"kept");
        let new = temp.path().join("new");
        assert!(must_be_writable(&new).is_ok());
        assert!(!new.exists());
        for wrong in [temp.path(), &temp.path().join("none/new"), &there.join("below")] {
            let error = must_be_writable(wrong).unwrap_err();
            assert!(error.message.contains(wrong.to_str().unwrap()), "{error}");
        }
    }
}
