//! The closed room: bubblewrap's namespaces, no daemon.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::super::contract::{Job, JobResult, Mount};
use super::super::error::SandboxError;
use super::supervise::{Launch, supervise};
use super::system::HOME;
use super::{HostCgroup, system};

/// Who a job is inside, where the kernel grants user namespaces.
const UID: u32 = 1000;

/// A closed room on this machine.
#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
    /// Whether the kernel grants user namespaces; else the job is the user who runs Quarry, without capabilities.
    user_namespace: bool,
    groups: Option<HostCgroup>,
    scratch: Arc<TempDir>,
}

impl Bubblewrap {
    /// Finds out what this machine grants, by opening a room. `scratch` is a folder for the room's own small files.
    pub(in super::super) fn detect(scratch: &Path) -> Result<Self, SandboxError> {
        let program = system::program("bwrap")?;
        fs::create_dir_all(scratch).map_err(SandboxError::io("make the folder", scratch))?;
        let folder = tempfile::Builder::new()
            .prefix("room-")
            .tempdir_in(scratch)
            .map_err(SandboxError::io("make a folder in", scratch))?;
        let mut room = Self {
            program,
            user_namespace: true,
            groups: HostCgroup::detect(),
            scratch: Arc::new(folder),
        };
        if let Err(with) = room.rehearse() {
            room.user_namespace = false;
            // The first refusal is the one that a person can do something about.
            room.rehearse().map_err(|_| with)?;
        }
        room.write_files()?;
        Ok(room)
    }

    /// The user id inside.
    pub(in super::super) fn uid(&self) -> u32 {
        if self.user_namespace {
            UID
        } else {
            rustix::process::getuid().as_raw()
        }
    }

    /// Opens a room in which nothing happens.
    fn rehearse(&self) -> Result<(), SandboxError> {
        let mut args = self.walls(false);
        args.extend(system::system_folders());
        args.extend(
            [
                "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--", "/bin/sh", "-c", ":",
            ]
            .map(str::to_owned),
        );
        let output = Command::new(&self.program)
            .args(args)
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .map_err(SandboxError::io("start", &self.program))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(SandboxError::Refused {
            detail: said.trim().lines().last().unwrap_or("no message").to_owned(),
        })
    }

    fn write_files(&self) -> Result<(), SandboxError> {
        for (name, text) in system::written_files(self.uid()) {
            let path = self.scratch.path().join(name);
            fs::write(&path, text).map_err(SandboxError::io("write", &path))?;
        }
        Ok(())
    }

    fn walls(&self, network: bool) -> Vec<String> {
        let mut args: Vec<String> = [
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ]
        .map(str::to_owned)
        .into();
        if self.user_namespace {
            let uid = UID.to_string();
            args.extend(["--unshare-user", "--uid", &uid, "--gid", &uid].map(str::to_owned));
        }
        if !network {
            args.push("--unshare-net".to_owned());
        }
        args.extend(
            [
                "--die-with-parent",
                "--new-session",
                "--clearenv",
                "--hostname",
                "quarry",
            ]
            .map(str::to_owned),
        );
        args
    }

    /// Gives up control groups.
    pub(in super::super) fn poll(&mut self) {
        self.groups = None;
    }

    /// The whole command line for `job`.
    fn argv(&self, job: &Job) -> Vec<String> {
        let mut args = system::prlimit(job.limits.file_bytes);
        args.push(self.program.display().to_string());
        args.extend(self.walls(job.network));
        args.extend(["--json-status-fd", "9"].map(str::to_owned));
        args.extend(system::system_folders());
        self.etc(&mut args, job.network);
        args.extend(["--proc", "/proc", "--dev", "/dev"].map(str::to_owned));
        let size = job.limits.tmp_bytes.to_string();
        for (mode, path) in [("1777", "/dev/shm"), ("1777", "/tmp"), ("0700", HOME)] {
            args.extend(["--perms", mode, "--size", &size, "--tmpfs", path].map(str::to_owned));
        }
        args.extend(["--symlink", "/tmp", "/var/tmp"].map(str::to_owned));
        let mut mounts: Vec<&Mount> = job.mounts.iter().collect();
        mounts.sort_by_key(|mount| mount.inside.components().count());
        for mount in mounts {
            let how = if mount.writable { "--bind" } else { "--ro-bind" };
            args.extend([
                how.to_owned(),
                mount.host.display().to_string(),
                mount.inside.display().to_string(),
            ]);
        }
        args.extend(["--remount-ro", "/dev", "--remount-ro", "/"].map(str::to_owned));
        for (name, value) in job.env.iter().filter(|(name, _)| *name != "HOME") {
            args.extend(["--setenv".to_owned(), name.clone(), value.clone()]);
        }
        args.extend(["--setenv".to_owned(), "HOME".to_owned(), HOME.to_owned()]);
        args.extend([
            "--chdir".to_owned(),
            job.cwd.display().to_string(),
            "--".to_owned(),
        ]);
        args.extend(job.argv.iter().cloned());
        args
    }

    fn etc(&self, args: &mut Vec<String>, network: bool) {
        for (name, _) in system::written_files(self.uid()) {
            // With the network on, names are found the host's way.
            let host = if network && name == "hosts" && Path::new("/etc/hosts").exists() {
                PathBuf::from("/etc/hosts")
            } else {
                self.scratch.path().join(name)
            };
            args.extend([
                "--ro-bind".to_owned(),
                host.display().to_string(),
                format!("/etc/{name}"),
            ]);
        }
        if network {
            args.extend(["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"].map(str::to_owned));
        }
        args.extend(["--symlink", "/usr/share/zoneinfo/UTC", "/etc/localtime"].map(str::to_owned));
    }

    /// Runs `job`.
    pub(in super::super) async fn run(
        &self,
        job: &Job,
        cancel: &CancellationToken,
    ) -> Result<JobResult, SandboxError> {
        let status = tempfile::Builder::new()
            .prefix("status-")
            .tempfile_in(self.scratch.path())
            .map_err(SandboxError::io("make a file in", self.scratch.path()))?;
        let launch = Launch {
            argv: self.argv(job),
            cwd: Path::new("/"),
            opens_session: false,
            status: Some(status.path()),
            groups: self.groups.as_ref(),
            guardian: None,
            mark: None,
        };
        supervise(job, launch, cancel).await
    }
}
