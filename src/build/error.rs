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
    /// The base image lacks what uv needs to run in it.
    #[error("run `uv` in the base image `{image}`: {problem}")]
    UvInImage {
        /// The image.
        image: String,
        /// What its loader or its shell said.
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
            Self::UvInImage { problem, .. } => image_hints(problem),
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

    /// Of what uv printed in a base image where it does not run.
    pub(super) fn uv_in_image(image: &str, said: &str) -> Self {
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        Self::UvInImage {
            image: image.to_owned(),
            problem: last.unwrap_or("it left no word").to_owned(),
        }
    }

    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// What to do about an image in which a program of the GNU C library does not run, by its loader's words.
fn image_hints(problem: &str) -> Vec<String> {
    let library = problem
        .split_once("loading shared libraries: ")
        .and_then(|(_, rest)| rest.split(':').next());
    let first = match library {
        Some(name) => format!(
            "add the library `{name}` to the image (Debian's package of it: `apt-file search {name}`)"
        ),
        None if problem.contains("GLIBC_") => {
            "take an image with a newer C library: Debian 11, Ubuntu 20.04 or later".to_owned()
        }
        None => {
            "take an image with the GNU C library (Debian, Ubuntu, Fedora): Alpine's is another".to_owned()
        }
    };
    vec![
        first,
        "`scripts/base-image` makes one; images called `python:3.x-slim` have what is needed".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_base_image_lacks_is_named_with_its_remedy() {
        let of = |said: &str| {
            let error = BuildError::uv_in_image("sha256:1", said);
            (error.to_string(), error.hints().swap_remove(0))
        };
        let (message, hint) = of(
            "/quarry/uv: error while loading shared libraries: libgcc_s.so.1: cannot open shared object file: No such file or directory\n",
        );
        assert!(
            message.starts_with("run `uv` in the base image `sha256:1`: /quarry/uv: error"),
            "{message}"
        );
        assert!(hint.contains("`libgcc_s.so.1`"), "{hint}");
        let (_, hint) =
            of("/quarry/uv: /lib/libc.so.6: version `GLIBC_2.28' not found (required by /quarry/uv)");
        assert!(hint.contains("newer C library"), "{hint}");
        let (message, hint) = of("sh: 1: /quarry/uv: not found\n\n");
        assert!(
            message.ends_with("/quarry/uv: not found") && hint.contains("GNU C library"),
            "{message}: {hint}"
        );
    }
}
