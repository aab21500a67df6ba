//! Export: a version as the files that other tools read.
//!
//! - **In:** the files of one emitted version ([`Version`]).
//! - **Out:** files by name, for one [`Format`], and what was left out and why ([`Exported`]).
//! - **Always:** the same version gives the same bytes; nothing is left out silently; an id of a test stands in every
//!   format as one word ([`crate::domain::test_name`]).
//!
//! | module | for whom |
//! |---|---|
//! | [`swebench`] | the `swebench` package: rows, and its task tree |
//! | [`hf`] [`croissant`] | `datasets` and `mlcroissant`: Parquet, a card, metadata |
//! | [`harbor`] | the Harbor runner: a folder a task |
//! | [`inspect`] | `inspect_ai`: a file of samples |
//! | [`container`] | what the first and the third need: an image and the command that tests |

pub mod container;
pub mod croissant;
pub mod harbor;
pub mod hf;
pub mod inspect;
pub mod swebench;
mod version;

pub use version::{Exported, Format, Version, export};

#[cfg(test)]
mod tests;
