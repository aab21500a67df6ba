//! Test runs before and after gold, and the oracle they make.
//!
//! - in: a candidate's base tree, its gold and test patches, a built environment, the recipe's settings;
//! - out: an [`Oracle`](crate::domain::oracle::Oracle), or why there is none: the project's fault, or the outside's;
//! - always: outcomes come through the runner's sealed channel, never from what tests print; a run that did not come
//!   to its own end gives no outcome at all; every test is in exactly one list of the oracle.
//!
//! | file | knows |
//! |---|---|
//! | `classify` | statuses on both sides → the oracle |
//! | `alone` | what a run by ids says of an oracle |
//! | `outside` | messages that tell of a missing network or another time |
//! | `gold` | gold's lines, and gold without one of its hunks |
//! | `key` | what a verification depends on |
//! | [`run`] | the shell; a run itself is [`harness`](crate::harness)'s |

mod alone;
mod classify;
mod error;
mod gold;
mod key;
mod outside;
pub mod run;

pub use alone::{ById, judged, settle};
pub use classify::{Runs, Shuffled, against_itself, classify};
pub use error::VerifyError;
pub use gold::{Left, changed_lines, cover, without_each};
pub use key::{VerifyInputs, input_key};
pub use run::{
    Failure, Measured, Patches, Subject, Trial, TrialOutcome, TrialRequest, Verified, Verifier,
    VerifyOutcome, VerifyRequest,
};
