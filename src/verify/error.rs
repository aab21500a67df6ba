//! What stops a verification that is neither the candidate's nor the outside's fault: ours or the caller's.

use std::path::PathBuf;

/// Why nothing can be verified as asked.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The workspace cannot be written.
    #[error("{action} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// An adapter (the ledger, the blob store) failed; its own words and hints.
    #[error("{message}")]
    Adapter {
        /// What it said.
        message: String,
        /// What it advises.
        hints: Vec<String>,
    },
}

impl VerifyError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Io { .. } => vec!["check that the workspace is writable and has free space".to_owned()],
            Self::Adapter { hints, .. } => hints.clone(),
        }
    }
}
