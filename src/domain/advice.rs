//! Errors that say what to do about them.

use std::fmt::Display;

/// An error of an adapter, which a stage hands on in its own words.
pub trait Advises: Display {
    /// What to do about it, a sentence each.
    fn advice(&self) -> Vec<String>;
}
