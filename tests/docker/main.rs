//! Harness 2: the Docker room. It needs a container daemon (`scripts/setup --tests` installs and starts one), and fails
//! without.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what is wrong by panicking"
)]

#[path = "../shared/sandbox.rs"]
mod sandbox;

use quarry::sandbox::RoomKind;

/// The rooms of this harness.
const ROOMS: [RoomKind; 1] = [RoomKind::Docker];
/// The one of them with walls.
const CLOSED: RoomKind = RoomKind::Docker;
