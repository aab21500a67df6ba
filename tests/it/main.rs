//! Harness 1: the program and its laws, without any daemon.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

mod architecture;
mod build;
mod build_commit;
mod cli;
mod emit;
mod evaluate;
#[path = "../shared/evaluate.rs"]
mod evaluate_hostile;
mod export;
mod github_model;
#[path = "../shared/hostile.rs"]
mod hostile;
mod import;
mod kill;
mod notes;
mod pages;
#[path = "../shared/program.rs"]
mod program;
#[path = "../shared/prove.rs"]
mod prove;
#[path = "../shared/python.rs"]
mod python;
mod runner_matrix;
mod sample;
mod sample_run;
#[path = "../shared/sandbox.rs"]
mod sandbox;
mod signals;
#[path = "../shared/site.rs"]
mod site;
#[path = "../shared/strength.rs"]
mod strength;
mod strip;
mod strip_cli;
mod strip_fuzz;
mod strip_hostile;
mod strip_judge;
mod strip_tree;
mod variants;
#[path = "../shared/verify.rs"]
mod verify;

use quarry::sandbox::RoomKind;

/// The rooms of this harness.
const ROOMS: [RoomKind; 2] = [RoomKind::Process, RoomKind::None];
/// The one of them with walls.
const CLOSED: RoomKind = RoomKind::Process;
