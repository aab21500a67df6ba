//! How the room is opened: a daemon found, what dead Quarries left removed, the image made ready, and one job run.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::super::contract::{End, Job, LENT, Mount};
use super::super::error::SandboxError;
use super::super::process::system;
use super::container::{Ceiling, User, Walls};
use super::daemon::{Daemon, DaemonFault};
use super::image;
use super::owner::{OWNER, Owner, RUN, WORKSPACE, reap};
use super::settings::DockerSettings;
use crate::domain::hash::hex;
use crate::domain::image::BaseImage;

/// Who jobs are where Quarry is root.
pub(super) const OTHER: u32 = 65_532;

/// A room made by a daemon on this machine.
#[derive(Debug, Clone)]
pub struct Docker {
    pub(super) daemon: Daemon,
    pub(super) walls: Arc<Walls>,
    /// Our small files; gone with the last clone.
    _scratch: Arc<TempDir>,
}

impl Docker {
    /// Finds the daemon, removes containers of dead owners, makes the image ready and runs one small job, to know that
    /// jobs run and that the daemon sees this machine's folders. `scratch` is a folder for the room's own small files.
    pub(in super::super) fn detect(settings: &DockerSettings, scratch: &Path) -> Result<Self, SandboxError> {
        fs::create_dir_all(scratch).map_err(SandboxError::io("make the folder", scratch))?;
        let folder = tempfile::Builder::new()
            .prefix("docker-")
            .tempdir_in(scratch)
            .map_err(SandboxError::io("make a folder in", scratch))?;
        apart(Self::open(settings, folder))
    }

    async fn open(settings: &DockerSettings, folder: TempDir) -> Result<Self, SandboxError> {
        let daemon = Daemon::find(settings).await?;
        let owner = Owner::own();
        let reaped = reap(&daemon, &owner, false).await?;
        if reaped > 0 {
            tracing::debug!(reaped, "removed containers of Quarries that are gone");
        }
        let image = image::ready(&daemon, &settings.base_image).await?;
        let user = user(&daemon);
        let mut written = Vec::new();
        for (name, text) in system::written_files(user.uid) {
            let path = folder.path().join(name);
            fs::write(&path, text).map_err(SandboxError::io("write", &path))?;
            written.push((name.to_owned(), path));
        }
        let run = random().map_err(SandboxError::io("draw a name from", "/dev/urandom"))?;
        let walls = Walls {
            image: image.id,
            image_variables: image.variables,
            pieces: if image.is_skeleton {
                system::pieces()
            } else {
                Vec::new()
            },
            written,
            user,
            owned_tmpfs: daemon.name != "Podman",
            network: settings.network.clone(),
            cpus: settings.cpus,
            ceiling: Ceiling::parse(&fs::read_to_string("/proc/self/limits").unwrap_or_default()),
            labels: [
                (OWNER, owner.to_string()),
                (WORKSPACE, settings.workspace.clone()),
                (RUN, run.clone()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        };
        let witness = folder.path().join("witness");
        fs::write(&witness, &run).map_err(SandboxError::io("write", &witness))?;
        let room = Self {
            daemon,
            walls: Arc::new(walls),
            _scratch: Arc::new(folder),
        };
        room.rehearse(&witness, &run).await?;
        Ok(room)
    }

    /// Runs a job that reads a file of ours.
    async fn rehearse(&self, witness: &Path, words: &str) -> Result<(), SandboxError> {
        let remote = || SandboxError::RemoteDaemon {
            address: self.daemon.address.clone(),
        };
        let inside = Path::new(LENT).join("witness");
        let mut job = Job::new(["/bin/cat".to_owned(), inside.display().to_string()], "/");
        job.mounts = vec![Mount::read_only(witness, inside)];
        match self.run(&job, &CancellationToken::new()).await {
            Ok(result) if result.end == End::Exited(0) && result.stdout.bytes() == words.as_bytes() => Ok(()),
            Ok(result) if result.end == End::Exited(0) => Err(remote()),
            Ok(result) => Err(SandboxError::Start {
                program: "/bin/cat".to_owned(),
                detail: format!("it ended {}: {}", result.end, result.stdout.text().trim()),
            }),
            Err(SandboxError::Daemon { detail, .. }) if detail.contains("source path does not exist") => {
                Err(remote())
            }
            Err(error) => Err(error),
        }
    }

    /// The image's id, where it is not made of this machine's own programs.
    pub(in super::super) fn image(&self) -> Option<&str> {
        self.walls.pieces.is_empty().then_some(self.walls.image.as_str())
    }
}

/// Whom a daemon's containers run as so that they can read and write our files and are nobody's root.
fn user(daemon: &Daemon) -> User {
    let (uid, gid) = (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    );
    let plain = User {
        uid,
        gid,
        is_other: false,
        keep: false,
    };
    match (uid, daemon.rootless, daemon.name) {
        (0, _, _) => User {
            uid: OTHER,
            gid: OTHER,
            is_other: true,
            ..plain
        },
        (_, true, "Podman") => User { keep: true, ..plain },
        // The user inside that is our own outside, without any capability.
        (_, true, _) => User {
            uid: 0,
            gid: 0,
            ..plain
        },
        (_, false, _) => plain,
    }
}

/// The whole name, with its digest, of an image that is named by a tag; `None` when no daemon answers or knows.
pub fn pinned(settings: &DockerSettings, name: &str) -> Option<String> {
    let found = apart(async {
        let daemon = Daemon::find(settings).await?;
        Ok(image::pin(&daemon, name).await)
    });
    found.ok().flatten()
}

/// Whether the daemon has this image. Nothing is downloaded.
///
/// # Errors
/// When no daemon answers, or it fails.
pub fn has(settings: &DockerSettings, image: &BaseImage) -> Result<bool, SandboxError> {
    apart(async {
        let daemon = Daemon::find(settings).await?;
        image::is_there(&daemon, image).await
    })
}

/// What a sweep took of the daemon's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Swept {
    /// Containers of Quarries that are gone.
    pub containers: usize,
    /// Skeleton images that this machine no longer uses.
    pub images: usize,
}

/// Removes what Quarry left at the daemon and needs no more; with `dry_run` it is only counted.
///
/// # Errors
/// When no daemon answers, or it fails.
pub fn sweep(settings: &DockerSettings, dry_run: bool) -> Result<Swept, SandboxError> {
    apart(async {
        let daemon = Daemon::find(settings).await?;
        Ok(Swept {
            containers: reap(&daemon, &Owner::own(), dry_run).await?,
            images: image::sweep(&daemon, dry_run).await?,
        })
    })
}

/// Random hex digits.
pub(super) fn random() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

/// Waits for `work` on a thread and a runtime of its own: rooms are opened where waiting is not possible.
pub(in super::super) fn apart<T: Send>(
    work: impl Future<Output = Result<T, SandboxError>> + Send,
) -> Result<T, SandboxError> {
    let broken = |detail: String| SandboxError::Daemon {
        action: "talk to the daemon",
        fault: DaemonFault::Refused,
        detail,
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| broken(error.to_string()))?.block_on(work)
        });
        thread
            .join()
            .unwrap_or_else(|_| Err(broken("its thread panicked".to_owned())))
    })
}
