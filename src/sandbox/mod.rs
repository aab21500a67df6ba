//! Rooms that run other people's code.
//!
//! - in: a [`Job`]: a program, its whole environment, what of the host it may see, limits;
//! - out: a [`JobResult`]: why it ended, what it printed, what it wrote to its channel;
//! - always: a job sees nothing that it was not given, and nothing of it is left when its run returns. Asking for
//!   a closed room gives a closed room or an error, never an open one.

mod contract;
mod docker;
mod error;
mod probe;
mod process;
mod room;
mod vigil;

pub use contract::{
    Captured, End, FurnishError, Furnishing, Job, JobResult, LENT, Limits, Mount, OutputMode, TESTBED,
    Toolchain,
};
pub use docker::{
    DaemonFault, DockerSettings, Images, Made, Part, Swept, Text, Wanted, has, pinned, present, remove_all,
    sweep, user_files,
};
pub use error::SandboxError;
pub use probe::{ProbeLine, ProbeState, probe};
pub use process::system::SYSTEM_PATH;
pub use room::{Room, RoomKind};
