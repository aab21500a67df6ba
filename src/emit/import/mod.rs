//! Import: the rows of a published dataset as a version.
//!
//! - **In:** the bytes of a file of rows as they are published: JSON lines, a JSON list (Parquet becomes JSON lines first).
//! - **Out:** a version's files like those of [`super::assemble`](mod@super::assemble), and two more: `published.jsonl`, the
//!   rows that became instances with every column as it was given, in their order; and `reverify.toml`, a recipe by which
//!   a mirror's candidates are exactly these instances, for the version after this one.
//! - **Always:** nothing is made up: what a row does not say is `null`, and there are no environments and no runs. Every
//!   row is an instance or is named with the rule that left it out. The rows of `instances.jsonl` follow from those of
//!   `published.jsonl`, and [`mod@super::check`] holds them to that.
//!
//! | module | what it knows |
//! |---|---|
//! | [`published`] | the file's rows and their columns |
//! | [`row`] | a row's columns as an instance |
//! | [`recipe`] | the texts of both recipes |
//! | [`version`] | everything together, as files, and whether such files agree |

pub mod published;
pub mod recipe;
pub mod row;
pub mod version;

#[cfg(test)]
mod tests;

pub use published::{ImportError, Published};
pub(super) use version::agree;
pub use version::{Named, import};
