//! An output file: there whole or not at all.

use std::fs::File;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::NamedTempFile;

use super::FilterError;

/// A file being written.
pub(super) struct Target {
    path: Utf8PathBuf,
    file: Opened,
}

enum Opened {
    /// It takes its name when it is complete.
    Beside(NamedTempFile),
    /// A device or a pipe has its name already and must keep it.
    Device(File),
}

impl Target {
    /// Begins the file at `path`.
    pub(super) fn begin(path: &Utf8Path) -> Result<Self, FilterError> {
        let write = |cause| FilterError::Write {
            file: path.to_string(),
            cause,
        };
        let known = path.metadata();
        if known.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
            return Err(write(io::ErrorKind::IsADirectory.into()));
        }
        let file = if known.is_ok_and(|known| !known.is_file()) {
            Opened::Device(File::options().write(true).open(path).map_err(write)?)
        } else {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_str().is_empty())
                .unwrap_or(Utf8Path::new("."));
            // An output is for whoever may read here, where a temporary file would be its owner's alone.
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
            let file = tempfile::Builder::new()
                .permissions(permissions)
                .tempfile_in(folder);
            Opened::Beside(file.map_err(write)?)
        };
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// Its path.
    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The open file.
    pub(super) fn file(&self) -> &File {
        match &self.file {
            Opened::Beside(file) => file.as_file(),
            Opened::Device(file) => file,
        }
    }

    /// The error for a write that failed.
    pub(super) fn failed(&self, cause: io::Error) -> FilterError {
        FilterError::Write {
            file: self.path.to_string(),
            cause,
        }
    }

    /// Gives the complete file its name.
    pub(super) fn complete(self) -> Result<(), FilterError> {
        match self.file {
            Opened::Beside(file) => {
                let file_name = self.path.to_string();
                file.persist(&self.path).map_err(|error| FilterError::Write {
                    file: file_name,
                    cause: error.error,
                })?;
                Ok(())
            }
            Opened::Device(_) => Ok(()),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}
