//! Quarry.
pub mod clock;
pub mod domain;
pub mod recipe;
