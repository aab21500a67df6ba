//! What stops an evaluation that is neither a prediction's nor the outside's fault: ours or the caller's.

use super::predictions::PredictionError;
use crate::domain::ids::InstanceId;

/// Why nothing can be evaluated as asked.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The predictions.
    #[error(transparent)]
    Predictions(#[from] PredictionError),
    /// The version has no such instance.
    #[error("find the instance `{id}` in `{dataset}`")]
    NoInstance {
        /// The instance.
        id: InstanceId,
        /// The dataset.
        dataset: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{action} `{path}`: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: camino::Utf8PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("read `{path}`: {problem}")]
    Content {
        /// The file.
        path: camino::Utf8PathBuf,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// An adapter (the ledger, the blob store, the harness) failed; its own words and hints.
    #[error("{message}")]
    Adapter {
        /// What it said.
        message: String,
        /// What it advises.
        hints: Vec<String>,
    },
}

impl EvaluateError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Predictions(error) => error.hints(),
            Self::NoInstance { .. } => vec!["ids are `owner__name-N`".to_owned()],
            Self::Io { .. } => vec!["check that it is there and that you may read and write it".to_owned()],
            Self::Content { hint, .. } => vec![hint.clone()],
            Self::Adapter { hints, .. } => hints.clone(),
        }
    }
}
