//! What stops a verification that is neither the candidate's nor the outside's fault: ours or the caller's.

/// Why nothing can be verified as asked.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// An adapter (the ledger, the blob store, the harness) failed; its own words and hints.
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
            Self::Adapter { hints, .. } => hints.clone(),
        }
    }
}
