//! Sinks for [events](crate::domain::event): bars for a person, JSON lines for a program, nothing for a pipe.
//!
//! - **In:** events. **Out:** standard error only; standard output belongs to results.
//! - **Always:** a sink never fails and never slows the work; bars appear on a terminal only.

mod human;
mod json;

pub use human::Human;
pub use json::JsonLines;
