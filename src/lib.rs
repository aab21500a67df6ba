//! Quarry.
pub mod blobs;
pub mod build;
pub mod cli;
pub mod clock;
pub mod domain;
pub mod emit;
pub mod filter;
pub mod git;
pub mod mine;
pub mod pipeline;
pub mod progress;
pub mod recipe;
pub mod sample;
pub mod sandbox;
pub mod store;
pub mod verify;
pub mod workspace;
