//! Files that are written when the work is done: what would keep them from it is said before the work.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::error::CliError;
use crate::strip::run::StripError;

/// Makes sure that a file of this name can be written, and leaves things as they are.
///
/// # Errors
/// [`CliError`] when its folder is not there or cannot be written, or something else has its name.
pub(super) fn must_be_writable(path: &Path) -> Result<(), CliError> {
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
