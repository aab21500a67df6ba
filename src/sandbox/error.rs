//! What a room can fail with: the machine's fault or the caller's, never the job's.

use std::io;
use std::path::PathBuf;

use super::docker::DaemonFault;

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
    /// No container daemon answers.
    #[error("find a container daemon ({tried})")]
    NoDaemon {
        /// Where it was looked for, and what was found.
        tried: String,
    },
    /// The daemon does not see this machine's folders.
    #[error("use the container daemon at `{address}`: it is on another machine")]
    RemoteDaemon {
        /// Where it listens.
        address: String,
    },
    /// The daemon failed, or does not do what it is asked.
    #[error("{action} ({detail})")]
    Daemon {
        /// What was tried.
        action: &'static str,
        /// What it means.
        fault: DaemonFault,
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

    /// The stable word for ledgers: whose fault a run is that could not be made.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NoDaemon { .. } => DaemonFault::Gone.reason(),
            Self::Daemon { fault, .. } => fault.reason(),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => "disk-full",
            _ => "sandbox",
        }
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
            Self::NoDaemon { .. } => vec![
                "install one and start it: `apt install docker.io`, or `apt install podman` and \
                 `systemctl --user start podman.socket`"
                    .to_owned(),
                "a user who is not root must be in the group `docker`; another address is named by `DOCKER_HOST`"
                    .to_owned(),
                "or use the room that needs no daemon: `--room process`".to_owned(),
            ],
            Self::RemoteDaemon { .. } => vec![
                "run Quarry on the daemon's machine: work trees and environments are lent to containers as folders"
                    .to_owned(),
                "or use the room that needs no daemon: `--room process`".to_owned(),
            ],
            Self::Daemon { fault, .. } => match fault {
                DaemonFault::Gone => vec!["start it again, then run the same command again to go on".to_owned()],
                DaemonFault::ImageGone => vec![
                    "get it again: `docker pull NAME@sha256:…`, or `scripts/base-image` for an imported one".to_owned(),
                    "or use `base_image = \"skeleton\"`, which needs none".to_owned(),
                ],
                DaemonFault::NoSpace => vec!["`quarry gc` removes what is not needed now; so does `docker system prune`".to_owned()],
                DaemonFault::NoMemory => vec!["do fewer things at once: `--jobs 1`".to_owned()],
                DaemonFault::Network => vec!["check that the daemon reaches the registry: `docker pull` says more".to_owned()],
                DaemonFault::ContainerGone | DaemonFault::Refused => {
                    vec!["the daemon's own log says more: `journalctl -u docker`".to_owned()]
                }
            },
            Self::BadJob { .. } => vec![],
            Self::Io { .. } => vec!["check the disk's free space and the folder's permissions".to_owned()],
        }
    }
}

impl crate::domain::advice::Advises for SandboxError {
    fn advice(&self) -> Vec<String> {
        self.hints()
    }
}
