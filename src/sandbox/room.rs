//! The rooms a job can run in, behind one contract.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::contract::{Job, JobResult, Mount, host_path};
use super::docker::{Docker, DockerSettings, apart};
use super::error::SandboxError;
use super::process::bubblewrap::Bubblewrap;
use super::process::open::Open;

/// Which room is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RoomKind {
    /// Closed, made of namespaces: no network unless asked, a read-only system, only what is mounted.
    #[default]
    Process,
    /// Closed, made by a container daemon: no network unless asked, a read-only root, only what is mounted.
    Docker,
    /// No walls: only ever on explicit demand.
    None,
}

impl RoomKind {
    /// The name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Docker => "docker",
            Self::None => "none",
        }
    }
}

/// A room on this machine, ready to run jobs; cheap to clone.
#[derive(Debug, Clone)]
pub enum Room {
    /// Bubblewrap's namespaces.
    Bubblewrap(Bubblewrap),
    /// A daemon's containers.
    Docker(Docker),
    /// No walls.
    None(Open),
}

impl Room {
    /// Opens the kind of room asked for, with the Docker room's usual settings: see [`Room::open`].
    ///
    /// # Errors
    /// As [`Room::open`].
    pub fn detect(kind: RoomKind, scratch: &Path) -> Result<Self, SandboxError> {
        Self::open(kind, &DockerSettings::default(), scratch)
    }

    /// Opens the kind of room asked for; never another one in its place. `scratch` is a folder for the room's own
    /// small files, on the host. Takes some tens of milliseconds; the Docker room takes a job's time, and that of a
    /// download when its image has to be pulled.
    ///
    /// # Errors
    /// When its programs are missing or the system refuses; the hints say what to do.
    pub fn open(kind: RoomKind, docker: &DockerSettings, scratch: &Path) -> Result<Self, SandboxError> {
        match kind {
            RoomKind::Process => Bubblewrap::detect(scratch).map(Self::Bubblewrap),
            RoomKind::Docker => Docker::detect(docker, scratch).map(Self::Docker),
            RoomKind::None => Open::detect(scratch).map(Self::None),
        }
    }

    /// Its kind.
    pub const fn kind(&self) -> RoomKind {
        match self {
            Self::Bubblewrap(_) => RoomKind::Process,
            Self::Docker(_) => RoomKind::Docker,
            Self::None(_) => RoomKind::None,
        }
    }

    /// The name by which what ran here is told from what ran elsewhere: the kind's, with the image where there is one.
    pub fn identity(&self) -> String {
        match self {
            Self::Docker(room) => match room.image() {
                Some(image) => format!("docker {image}"),
                None => "docker".to_owned(),
            },
            _ => self.kind().name().to_owned(),
        }
    }

    /// The id of the image that jobs begin from, where that brings the system's programs; `None` where they are this
    /// machine's own.
    pub fn image(&self) -> Option<&str> {
        match self {
            Self::Docker(room) => room.image(),
            Self::Bubblewrap(_) | Self::None(_) => None,
        }
    }

    /// Runs a small job and waits for its end, where waiting is not possible otherwise.
    ///
    /// # Errors
    /// As [`Room::run`].
    pub fn ask(&self, job: &Job) -> Result<JobResult, SandboxError> {
        apart(self.run(job, &CancellationToken::new()))
    }

    /// The same room, counting memory and processes by polling `/proc` even where control groups can be made.
    #[must_use]
    pub fn polling(mut self) -> Self {
        match &mut self {
            Self::Bubblewrap(room) => room.poll(),
            // The daemon makes the groups.
            Self::Docker(_) => {}
            Self::None(room) => room.poll(),
        }
        self
    }

    /// The path by which a job in this room reaches `inside`: the same path in a closed room, the host's path
    /// behind the mount in the open one. A path under no mount stays as it is.
    pub fn path(&self, mounts: &[Mount], inside: impl AsRef<Path>) -> PathBuf {
        let inside = inside.as_ref();
        match self {
            Self::Bubblewrap(_) | Self::Docker(_) => inside.to_owned(),
            Self::None(_) => host_path(mounts, inside).unwrap_or_else(|| inside.to_owned()),
        }
    }

    /// Runs `job` to its end or until `cancel`. When this returns every process of the job has been killed.
    ///
    /// # Errors
    /// The machine's faults and jobs that cannot be started as written. Whatever the job itself does is a result.
    pub async fn run(&self, job: &Job, cancel: &CancellationToken) -> Result<JobResult, SandboxError> {
        check(job)?;
        match self {
            Self::Bubblewrap(room) => room.run(job, cancel).await,
            Self::Docker(room) => room.run(job, cancel).await,
            Self::None(room) => room.run(job, cancel).await,
        }
    }
}

fn check(job: &Job) -> Result<(), SandboxError> {
    let bad = |problem: String| Err(SandboxError::BadJob { problem });
    if job.argv.is_empty() {
        return bad("it has no program".to_owned());
    }
    if let Some(mount) = job
        .mounts
        .iter()
        .find(|mount| !mount.host.is_absolute() || !mount.inside.is_absolute())
    {
        return bad(format!("the mount of `{}` is not absolute", mount.host.display()));
    }
    if let Some(mount) = job.mounts.iter().find(|mount| !mount.host.exists()) {
        return bad(format!("there is no `{}` to mount", mount.host.display()));
    }
    let words = job.argv.iter().chain(job.env.keys()).chain(job.env.values());
    if words.into_iter().any(|word| word.contains('\0')) || job.env.keys().any(|name| name.contains('=')) {
        return bad("an argument or a variable cannot be handed over".to_owned());
    }
    Ok(())
}
