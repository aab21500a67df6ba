//! The room made by a container daemon (Docker, Podman).
//!
//! - in: a [`Job`](super::Job) and a token that cancels it;
//! - out: a [`JobResult`](super::JobResult), or an error when the daemon cannot run jobs;
//! - always: one container a job, removed when [`Room::run`](super::Room::run) returns. A container whose Quarry is
//!   gone ends by itself: its first process reads a pipe that Quarry holds, and kills everything at the pipe's end.
//!   What is left of it is removed when the next room opens.
//!
//! | file | knows |
//! |---|---|
//! | `settings` | where a daemon may listen, which image, which network |
//! | `daemon` | the connection, and what the daemon's errors mean |
//! | `image`, `skeleton` | the image that containers begin from |
//! | `images` | images of our own: a layer over another one |
//! | `layer`, `tar`, `archive` | the bytes of a layer and of an image |
//! | `owner` | whose a container is, and which ones nobody owns any more |
//! | `container` | a job as the daemon is told it |
//! | `first` | the first process inside, and the marks by which it tells how the job ended |
//! | `handover` | files that the user inside must own |
//! | `open` | how the room is opened |
//! | `supervise` | a job's life: start, limits, end |

mod archive;
mod container;
mod daemon;
mod first;
mod handover;
mod image;
mod images;
mod layer;
mod open;
mod owner;
mod settings;
mod skeleton;
mod supervise;
mod tar;

pub(super) use daemon::Daemon;
pub use daemon::DaemonFault;
pub use images::{Images, Made, Wanted, present, remove_all, user_files};
pub use layer::{Part, Text};
pub(super) use open::{Docker, apart};
pub use open::{Swept, has, pinned, sweep};
pub use settings::DockerSettings;
