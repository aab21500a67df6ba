//! What mining asks of a mirror, as a trait: the cores run on plain data, the shell brings git.

use crate::domain::history::{DiffText, TreeChange};
use crate::domain::ids::CommitSha;

/// Two trees to compare, old and new, by their object names.
pub type TreePair = (CommitSha, CommitSha);

/// A comparison, or why there is none (an object is missing).
pub type Compared<T> = Result<T, String>;

/// What differs, and the diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullDiff {
    /// The entries, renames found.
    pub changes: Vec<TreeChange>,
    /// The diff.
    pub text: DiffText,
}

/// Compares trees in bulk; results come in the order of the pairs.
pub trait Source: Sync {
    /// Why nothing can be compared at all.
    type Error;

    /// The entries that differ; renames are a deletion and an addition.
    ///
    /// # Errors
    /// When nothing can be compared.
    fn entries(&self, pairs: &[TreePair]) -> Result<Vec<Compared<Vec<TreeChange>>>, Self::Error>;

    /// The diffs, each up to a limit in bytes.
    ///
    /// # Errors
    /// When nothing can be compared.
    fn diffs(&self, pairs: &[TreePair], limit: usize) -> Result<Vec<Compared<FullDiff>>, Self::Error>;

    /// The contents of files; `None` for one that is missing or longer than a limit in bytes.
    ///
    /// # Errors
    /// When nothing can be read.
    fn contents(&self, objects: &[CommitSha], limit: usize) -> Result<Vec<Option<Vec<u8>>>, Self::Error>;
}
