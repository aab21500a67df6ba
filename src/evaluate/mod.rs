//! Evaluate: predictions for a version's instances into scores.
//!
//! - **In:** predictions as the field writes them, and for each instance its base tree, its patches, its oracle and its
//!   environment.
//! - **Out:** a [`Report`]: one class an instance, with the tests that did not pass, and scores with their
//!   denominators; comparisons of reports.
//! - **Always:** a patch is laid on whole or not at all; what is the oracle's is put back over it; one process runs the whole
//!   selection, and outcomes come through the runner's sealed channel. What is absent or skipped did not pass. What the
//!   outside broke off says nothing of a prediction, and is counted apart. No prediction is dropped in silence.
//!
//! | file | knows |
//! |---|---|
//! | [`predictions`] | JSON lines, lists, maps and folders of diffs |
//! | [`canonical`] | what may be mended in a patch |
//! | [`guard`] | what of a prediction's files is the oracle's |
//! | [`outcome`](mod@outcome) | an instance, a prediction and its runs → what is reported |
//! | [`result`](mod@result) | what runs show → one class |
//! | [`score`](mod@score) | outcomes → metrics |
//! | [`statistics`] | tests and intervals for comparisons |
//! | [`compare`](mod@compare) | two reports, task by task |
//! | [`report`] | everything together, for people and programs |
//! | [`swebench`] | an evaluation as the logs of SWE-bench's harness |
//! | [`key`] | what a run depends on |
//! | [`run`] | the shell |

pub mod canonical;
pub mod compare;
pub mod error;
pub mod guard;
pub mod key;
pub mod outcome;
pub mod predictions;
pub mod report;
pub mod result;
pub mod run;
pub mod score;
pub mod statistics;
pub mod swebench;

#[cfg(test)]
mod fixture;

pub use error::EvaluateError;
pub use report::Report;
