//! One run of a project's tests in a room, through the runner plugin: what verifying and evaluating share.
//!
//! - in: a work tree, a built environment, the runner's arguments, the recipe's settings;
//! - out: what the run told through its sealed channel, how it ended, and its log;
//! - always: every run has a fresh copy of its tree at the same path; outcomes come through the channel, never from what
//!   tests print; a run that did not come to its own end is a fault, with whose it is.
//!
//! | file | knows |
//! |---|---|
//! | `modules` | which files a project's runner takes for test modules |
//! | `plan` | which tests a run selects |
//! | `runner` | the Python side (`data/runner/`) and its command line |
//! | `seal`, `channel` | the bytes a run leaves in its channel |
//! | `faults` | when a run is complete, and whose fault it is when not |
//! | [`job`] | a run as a job of a room |
//! | [`log`] | what a reader is told of a run |
//! | [`tree`] | work trees as folders |

mod channel;
mod faults;
pub mod job;
pub mod log;
mod modules;
mod plan;
mod runner;
mod seal;
pub mod tree;

pub use channel::{Channel, Hello, read};
pub use faults::{Ended, Fault, infra, is_machines, judge, project};
pub use job::{Bench, Harness, HarnessError, Place, Run, variables};
pub use log::Log;
pub use modules::TestModules;
pub use plan::{Selection, by_id, select, widen};
pub use runner::{FILES, TRACER, Wishes, command, name, stdin, trace_command};
