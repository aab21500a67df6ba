//! Quarry.
pub mod blobs;
pub mod clock;
pub mod domain;
pub mod progress;
pub mod git;
pub mod recipe;
pub mod store;
pub mod workspace;
