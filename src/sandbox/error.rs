//! What a room can fail with: the machine's fault or the caller's, never the job's.

use std::io;
use std::path::PathBuf;

/// Why a room cannot be had, or could not run a job.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A program that the room is made of is not installed.
    #[error("find the program `{program}`, which the sandbox is made of")]
    Missing {
        /// Its name.
        program: &'static str,
    },
    /// The kernel (or the container around us) does not let us make the room.
    #[error("open a sandbox: the system refuses it ({detail})")]
    Refused {
        /// What it said.
        detail: String,
    },
    /// The room's own programs failed before the job began.
    #[error("start `{program}` in the sandbox ({detail})")]
    Start {
        /// The job's program.
        program: String,
        /// What was said.
        detail: String,
    },
    /// A job that cannot be run as it is written.
    #[error("run a job in the sandbox: {problem}")]
    BadJob {
        /// What is wrong with it.
        problem: String,
    },
    /// A file or a process could not be handled.
    #[error("{action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl SandboxError {
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// What a person can do about it.
    pub fn hints(&self) -> Vec<String> {
        let open = "or run the tests unprotected, with your files and the network in reach: `--sandbox none`";
        match self {
            Self::Missing { program: "bwrap" } => vec![
                "install it: `apt install bubblewrap`, `dnf install bubblewrap`".to_owned(),
                open.to_owned(),
            ],
            Self::Missing { program } => vec![format!("install `{program}` (package `util-linux`)")],
            Self::Refused { .. } => vec![
                "allow user namespaces (`sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu also \
                 `kernel.apparmor_restrict_unprivileged_userns=0`; in a container: `--privileged`)"
                    .to_owned(),
                open.to_owned(),
                "`quarry doctor` shows what this system allows".to_owned(),
            ],
            Self::Start { .. } => vec!["look at the log: the sandbox's own words are in it".to_owned()],
            Self::BadJob { .. } => vec![],
            Self::Io { .. } => vec!["check the disk's free space and the folder's permissions".to_owned()],
        }
    }
}
