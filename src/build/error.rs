//! What stops a build that is neither the candidate's nor the outside's fault: ours or the caller's.

use std::path::{Path, PathBuf};

use super::spec::SpecError;
use crate::recipe::python::BadPython;

/// Why nothing can be built as asked.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The recipe's `python` is no version.
    #[error("choose an interpreter for the environment `{environment}`: {source}")]
    BadPython {
        /// The recipe's entry.
        environment: String,
        /// What is wrong.
        source: BadPython,
    },
    /// No interpreter of this machine will do.
    #[error("find Python `{wanted}` for the environment `{environment}` (found: {found})")]
    NoInterpreter {
        /// The recipe's entry.
        environment: String,
        /// What it asks for.
        wanted: String,
        /// The versions that are there, or `none`.
        found: String,
    },
    /// An install line of the recipe is wrong.
    #[error("follow the environment `{environment}`: {source}")]
    Install {
        /// The recipe's entry.
        environment: String,
        /// What is wrong.
        source: SpecError,
    },
    /// There is no uv.
    #[error("find the program `uv`, which resolves and installs dependencies")]
    NoUv,
    /// uv is there and does not work.
    #[error("run `{}`: {problem}", program.display())]
    BrokenUv {
        /// The program.
        program: PathBuf,
        /// What happened.
        problem: String,
    },
    /// A file or folder of the workspace could not be handled.
    #[error("{action} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// The room could not run a job that it ran before: the machine is short of something.
    #[error("{message}")]
    Room {
        /// Its stable word for what it lacks.
        reason: &'static str,
        /// What it said.
        message: String,
        /// What it advises.
        hints: Vec<String>,
    },
    /// An adapter (the sandbox, the ledger, the blob store) failed; its own words and hints.
    #[error("{message}")]
    Adapter {
        /// What it said.
        message: String,
        /// What it advises.
        hints: Vec<String>,
    },
}

impl BuildError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::BadPython { source, .. } => source.hints(),
            Self::NoInterpreter { wanted, .. } => {
                let version = wanted.trim_start_matches(['>', '=', '<', '!', ' ']);
                let version = version.split(',').next().unwrap_or(version).trim();
                vec![
                    format!("install one: `uv python install {version}` or `pyenv install {version}`"),
                    "or let the recipe's `python` name one that is there".to_owned(),
                ]
            }
            Self::Install { source, .. } => source.hints(),
            Self::NoUv | Self::BrokenUv { .. } => {
                vec!["install it: `pip install uv`, `pipx install uv`, or `scripts/setup`".to_owned()]
            }
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                vec![
                    "free some disk space and run the same command again; nothing recorded is lost"
                        .to_owned(),
                ]
            }
            Self::Io { .. } => vec!["check that the workspace's folder is there and writable".to_owned()],
            Self::Adapter { hints, .. } | Self::Room { hints, .. } => hints.clone(),
        }
    }

    /// The stable word for it, where it is the outside's fault and a later try may go better.
    pub fn outside_reason(&self) -> Option<&'static str> {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        match self {
            Self::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded) => {
                Some("disk-full")
            }
            Self::Room {
                reason: "sandbox", ..
            } => Some("sandbox-failed"),
            Self::Room { reason, .. } => Some(reason),
            _ => None,
        }
    }

    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
