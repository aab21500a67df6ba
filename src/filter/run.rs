//! The shell: candidates from the ledger, rows from a dataset, decisions into the log.

mod candidates;

pub use candidates::{Selection, filter_candidates};

use super::compile::CompileError;
use super::eval::EvalError;
use crate::blobs::BlobError;
use crate::domain::ids::CandidateId;
use crate::store::StoreError;

/// A filter run that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// A rule does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A rule cannot be computed on a candidate.
    #[error("filter `{candidate}`: {error}")]
    Evaluate {
        /// The candidate.
        candidate: CandidateId,
        /// Which rule, and why.
        error: EvalError,
    },
    /// The ledger refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A diff cannot be read back.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl FilterError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Compile(error) => error.hints(),
            Self::Evaluate { error, .. } => error.hints(),
            Self::Store(error) => error.hints(),
            Self::Blob(error) => error.hints(),
        }
    }
}
