//! Filter: a recipe's rules over candidates, and over the rows of existing datasets.
//!
//! - **In:** a checked recipe, and facts: of a mined candidate, or of a row.
//! - **Out:** one decision for each rule that a candidate met (rules run in order and stop at the first that drops it),
//!   the survivors, and the funnel.
//! - **Always:** rules that need only git run before rules that need the oracle. What a source cannot know is unknown,
//!   never empty; a rule that depends on it is *undecided*, recorded as such, and the rule's `undecided` says who goes
//!   on. A decision's key is a hash of the rule and of the values it saw: it is taken again when, and only when, they
//!   change. A rule that cannot be computed stops the run with its name: it is never a verdict.
//!
//! | module | knows |
//! |---|---|
//! | [`value`] | what a source says of a fact: known, in part, unknown |
//! | [`facts`] | the facts of a mined candidate |
//! | [`files`] | facts about a diff's files |
//! | [`compile`](mod@compile) | from rules to a program |
//! | `growth` | what more elements in a partial list would do to a rule |
//! | [`explain`] | one pull request's whole story |
//! | [`eval`] | asking a rule: true, false, not to be known |
//! | [`plan`](mod@plan) | which rules run when, and what each reads |
//! | [`funnel`] | how many each rule met, stopped and let through |
//! | [`dataset`] | rows of published datasets |
//! | [`run`] | the shell: candidates and datasets in, decisions and survivors out |

pub mod compile;
pub mod dataset;
pub mod eval;
pub mod explain;
pub mod facts;
pub mod files;
pub mod funnel;
mod growth;
pub mod plan;
pub mod run;
pub mod value;

pub use compile::{CompileError, CompiledRule, Program, compile};
pub use eval::{EvalError, Judgement, Sight};
pub use facts::{CandidateFacts, FactSource};
pub use funnel::{Funnel, FunnelLine};
pub use plan::{Plan, plan};

#[cfg(test)]
mod tests;
