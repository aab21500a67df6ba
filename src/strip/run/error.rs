//! Why a tree could not be stripped.

use std::io::ErrorKind;
use std::path::PathBuf;

/// What can go wrong with a whole tree; what goes wrong with one file is in the report.
#[derive(Debug, thiserror::Error)]
pub enum StripError {
    /// Something on disk could not be read.
    #[error("read `{path}`: {source}")]
    Read {
        /// What.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// Something on disk could not be written.
    #[error("write `{path}`: {source}")]
    Write {
        /// What.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// The destination has something in it.
    #[error("write into `{path}`: it is not empty")]
    NotEmpty {
        /// The destination.
        path: PathBuf,
    },
    /// The destination lies in the source, or the source in the destination.
    #[error("write to `{path}`: one of source and destination lies inside the other")]
    Nested {
        /// The destination.
        path: PathBuf,
    },
    /// A tree that cannot be restored would be changed in place.
    #[error("strip `{path}` in place: {why}")]
    Dirty {
        /// The tree.
        path: PathBuf,
        /// What stands against it.
        why: String,
    },
    /// A folder without a history would be changed in place.
    #[error("strip `{path}` in place: it is no work tree of git")]
    NoWorkTree {
        /// The folder.
        path: PathBuf,
    },
    /// A mirror could not be read or written.
    #[error(transparent)]
    Git(#[from] crate::git::GitError),
    /// A variant could not be recorded.
    #[error("{message}")]
    Adapter {
        /// The adapter's words.
        message: String,
        /// Its hints.
        hints: Vec<String>,
    },
    /// Threads could not be started.
    #[error("start the worker threads: {0}")]
    Threads(String),
    /// The second judge could not be started or broke off.
    #[error("ask `{python}`: {message}")]
    Judge {
        /// The interpreter.
        python: String,
        /// What happened.
        message: String,
    },
}

impl StripError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Read { source, .. } => vec![match source.kind() {
                ErrorKind::NotFound => "there is nothing of that name: check the path".into(),
                ErrorKind::PermissionDenied => "this user may not read it".into(),
                _ => "name a folder or a file that can be read".into(),
            }],
            Self::Write { source, .. } => vec![match source.kind() {
                ErrorKind::StorageFull => "make room there, or name another place".into(),
                _ => "name a place whose folder is there and can be written".into(),
            }],
            Self::NotEmpty { .. } => vec!["name a folder that does not exist yet, or an empty one".into()],
            Self::Nested { .. } => vec!["name a destination outside the source".into()],
            Self::Dirty { .. } => {
                vec!["commit or stash first, or say --force to lose what is not committed".into()]
            }
            Self::NoWorkTree { .. } => vec![
                "--out DST leaves the source as it is; --force changes it all the same, and nothing brings it back"
                    .into(),
            ],
            Self::Git(error) => error.hints(),
            Self::Adapter { hints, .. } => hints.clone(),
            Self::Threads(_) => vec!["each worker needs 512 MB of address space: try --jobs 1".into()],
            Self::Judge { .. } => {
                vec!["name a Python 3 interpreter, as --verify-with /usr/bin/python3".into()]
            }
        }
    }
}
