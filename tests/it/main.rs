//! Harness 1: the program and its laws, without any daemon.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

mod architecture;
mod build;
mod cli;
mod emit;
mod kill;
mod program;
mod python;
mod runner_matrix;
mod sample;
mod sample_run;
mod sandbox;
mod strip;
mod strip_fuzz;
mod strip_tree;
mod variants;
mod verify;
