//! The rule language: CEL over documented facts, checked before anything runs.
//!
//! In: an expression's text. Out: a [`Checked`] expression (its tree, its type and the facts it reads), or every
//! [`Fault`] in it with the bytes it stands on. What always holds of a checked expression: each fact and function it
//! names exists, operators and arguments have fitting types, and evaluating it reads no fact but those listed.
//!
//! | module | knows |
//! |---|---|
//! | [`facts`] | the table of facts: name, type, meaning, phase, and which source can know it |
//! | [`facts_text`] | that table for readers and programs |
//! | [`types`] | the types of values |
//! | `functions`, `operators` | functions and operators, by the types they take |
//! | [`check`](mod@check) | an expression's faults, or its type and what it reads |
//! | `walk` | the walk over its tree |
//! | `syntax` | what does not parse, in plain words |
//! | `place` | where in the text a node stands |
//! | [`nearest`](mod@nearest), `names` | what a mistyped name may have been meant to be |

pub mod check;
pub mod facts;
pub mod facts_text;
mod functions;
mod names;
pub mod nearest;
mod operators;
mod place;
mod syntax;
pub mod types;
mod walk;

#[cfg(test)]
mod tests;

pub use check::{Checked, Fault, check_condition};
pub use facts::{FactId, Phase, Scope};
pub use facts_text::fact_table;
pub use types::Type;
