//! Rooms made of processes, with no daemon.
//!
//! - in: a [`Job`](super::Job) and a token that cancels it;
//! - out: a [`JobResult`](super::JobResult), or an error when the machine cannot run jobs;
//! - always: when [`Room::run`](super::Room::run) returns, every process of the job has been killed; jobs also
//!   die when Quarry is killed.
//!
//! | file | knows |
//! |---|---|
//! | `bubblewrap` | the closed room: namespaces, what of the system is seen |
//! | `open` | the explicit room without walls |
//! | `system` | which programs and folders a system has |
//! | `supervise` | a job's life: start, limits, end |
//! | `output` | what it prints |
//! | `guardian` | who ends the open room's jobs when Quarry is killed |
//! | `spawner` | the one thread that starts jobs |
//! | `meter`, `cgroup`, `group`, `tree` | who counts memory and processes: the kernel, or we |

mod cgroup;
mod group;
mod guardian;
mod meter;
mod output;
mod spawner;
mod supervise;
mod tree;

pub(super) mod bubblewrap;
pub(super) mod open;
pub(super) mod system;

pub(super) use cgroup::{HostCgroup, Version};
pub(super) use group::Group;
