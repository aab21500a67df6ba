//! What a failed build or a failed first run is missing, and what is tried about it.
//!
//! - in: the words of a failure (the resolver's, a build's, a runner's), the environment that failed, its lock;
//! - out: an environment that differs in one thing, with its reason; or that nothing general helps;
//! - always: one table of general remedies, no repository's name in it; a remedy names the line that called for it.
//!
//! | file | knows |
//! |---|---|
//! | `symptoms` | failure text → what is missing |
//! | `remedies` | what is missing → the environment changed in one thing |
//! | `newer` | how new a distribution that must be newer than the cut-off has to be |
//! | `names` | modules and fixtures → the distributions that bring them |

mod names;
mod newer;
mod remedies;
mod symptoms;

#[cfg(test)]
mod tests;

pub use names::{distribution_of_fixture, distribution_of_module};
pub use remedies::{Case, Remedy, leave_out, remedy};
pub use symptoms::{Symptom, Trouble, symptoms};
