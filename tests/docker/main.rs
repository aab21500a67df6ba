//! Harness 2: the Docker room. It needs a container daemon (`scripts/setup --tests` installs and starts one), and fails
//! without.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

mod base;
mod cli;
mod daemon;
mod drills;
#[path = "../shared/evaluate.rs"]
mod evaluate_hostile;
#[path = "../shared/hostile.rs"]
mod hostile;
mod images;
#[path = "../shared/program.rs"]
mod program;
#[path = "../shared/prove.rs"]
mod prove;
#[path = "../shared/python.rs"]
mod python;
mod same;
#[path = "../shared/sandbox.rs"]
mod sandbox;
#[path = "../shared/site.rs"]
mod site;
#[path = "../shared/strength.rs"]
mod strength;
#[path = "../shared/verify.rs"]
mod verify;

use quarry::sandbox::RoomKind;

/// The rooms of this harness.
const ROOMS: [RoomKind; 1] = [RoomKind::Docker];
/// The one of them with walls.
const CLOSED: RoomKind = RoomKind::Docker;
