//! The shell: candidates from the ledger, rows from a dataset, decisions into the log.

mod batch;
mod candidates;
mod dataset;
mod error;
mod parquet;
mod selection_log;
mod sink;
mod target;

pub use candidates::{Selection, Told, filter_candidates};
pub use dataset::{DatasetRun, Input, Output, filter_dataset};
pub use error::FilterError;
pub use selection_log::{RowDecision, row_decisions};

#[cfg(test)]
mod tests;
