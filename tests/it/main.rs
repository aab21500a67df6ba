//! Harness 1: the program and its laws, without any daemon.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

mod architecture;
mod build;
mod emit;
mod python;
mod runner_matrix;
mod sample;
mod sandbox;
mod verify;
