//! One run of the tests: a fresh tree, a job in the room, what its channel told.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::channel::{Channel, read};
use super::faults::{Ended, Fault, infra, judge};
use super::log::Log;
use super::runner::{FILES, TRACER, Wishes, command, stdin, trace_command};
use super::tree;
use crate::recipe::model::Verification;
use crate::sandbox::{
    End, Furnishing, Job, JobResult, LENT, Limits, Mount, OutputMode, Room, SYSTEM_PATH, TESTBED,
};

/// The runner's files or a scratch folder cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{action} `{}`: {source}", path.display())]
pub struct HarnessError {
    /// What was tried.
    pub action: &'static str,
    /// On what.
    pub path: PathBuf,
    /// The system's word.
    pub source: std::io::Error,
}

impl HarnessError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        vec!["check that the workspace is writable and has free space".to_owned()]
    }
}

impl crate::domain::advice::Advises for HarnessError {
    fn advice(&self) -> Vec<String> {
        self.hints()
    }
}

/// What all runs of one try share.
pub struct Bench<'a> {
    /// The environment.
    pub environment: &'a dyn Furnishing,
    /// How tests are run.
    pub settings: &'a Verification,
    /// The try's own folder.
    pub place: &'a Path,
}

/// One run, and the tree that it gets a copy of.
pub struct Run<'a> {
    /// What it is called in logs and faults (`run 1 before gold`).
    pub name: String,
    /// Python's hash seed.
    pub hash_seed: u32,
    /// Whether the lines of the wishes' files are watched.
    pub traced: bool,
    /// The tree.
    pub tree: &'a Path,
    /// The runner's arguments.
    pub args: &'a [String],
    /// What it is asked beside them.
    pub wishes: Wishes,
}

/// A file could not be handled: the machine's fault.
pub fn disk(action: &'static str) -> impl FnOnce(std::io::Error) -> Fault {
    move |error| infra("disk", format!("{action}: {error}"))
}

/// Runs tests in one room; cheap to clone, safe to use for many runs at once.
#[derive(Clone)]
pub struct Harness {
    room: Room,
    kill: CancellationToken,
    scratch: PathBuf,
    runner: PathBuf,
}

impl Harness {
    /// A harness for runs in `room`. Writes the runner's files into the folder `scratch`.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn new(scratch: &Path, room: Room) -> Result<Self, HarnessError> {
        let scratch = std::path::absolute(scratch).map_err(io("find", scratch))?;
        let runner = scratch.join("runner");
        std::fs::create_dir_all(&runner).map_err(io("make the folder", &runner))?;
        for (name, text) in FILES.into_iter().chain([TRACER]) {
            let path = runner.join(name);
            std::fs::write(&path, text).map_err(io("write", &path))?;
        }
        Ok(Self {
            room,
            kill: CancellationToken::new(),
            scratch,
            runner,
        })
    }

    /// Stops running tests at once when `kill` is cancelled.
    #[must_use]
    pub fn with_kill(mut self, kill: CancellationToken) -> Self {
        self.kill = kill;
        self
    }

    /// Whether running tests were stopped.
    pub fn is_killed(&self) -> bool {
        self.kill.is_cancelled()
    }

    /// The room.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// A folder for one try.
    ///
    /// # Errors
    /// The machine's fault.
    pub fn place(&self) -> Result<Place, Fault> {
        Place::new(&self.scratch)
    }

    /// A run that must come to its own end.
    ///
    /// # Errors
    /// The fault, and whose it is.
    pub async fn complete(&self, bench: &Bench<'_>, run: &Run<'_>, log: &mut Log) -> Result<Channel, Fault> {
        let (result, told) = self.run_once(bench, run, log).await?;
        judge(ended(&result), &told).map_err(|fault| Fault {
            detail: format!("{}: {}", run.name, fault.detail),
            ..fault
        })?;
        Ok(told)
    }

    /// One run of the tests, in a fresh copy of its tree, however it ends.
    ///
    /// # Errors
    /// When it could not be made: the machine's fault.
    pub async fn run_once(
        &self,
        bench: &Bench<'_>,
        run: &Run<'_>,
        log: &mut Log,
    ) -> Result<(JobResult, Channel), Fault> {
        // The same path for every run: what a test learns of it does not differ.
        let (testbed, channel) = (bench.place.join("run/tree"), bench.place.join("run/channel"));
        {
            let (from, to, channel) = (run.tree.to_owned(), testbed.clone(), channel.clone());
            blocking(move || {
                tree::copy(&from, &to).map_err(disk("copy the work tree"))?;
                File::create(&channel).map(drop).map_err(disk("make the channel"))
            })
            .await?;
        }
        let secret = secret().map_err(disk("draw a secret"))?;
        let job = self.job(bench, run, &testbed, &channel, &secret)?;
        let result = self
            .room
            .run(&job, &self.kill)
            .await
            .map_err(|error| infra(error.reason(), format!("failed to {error}")))?;
        let told = read(&result.channel, &secret);
        log.run(&run.name, &result, &told);
        blocking(move || {
            tree::remove(testbed.parent().unwrap_or(&testbed)).map_err(disk("remove the work tree"))
        })
        .await?;
        Ok((result, told))
    }

    fn job(
        &self,
        bench: &Bench<'_>,
        run: &Run<'_>,
        testbed: &Path,
        channel: &Path,
        secret: &[u8],
    ) -> Result<Job, Fault> {
        let toolchain = bench
            .environment
            .toolchain(testbed)
            .map_err(|error| infra("environment", format!("failed to {error}")))?;
        let lent = Path::new(LENT);
        let mut mounts = toolchain.mounts;
        mounts.push(Mount::writable(testbed, TESTBED));
        mounts.push(Mount::read_only(&self.runner, lent.join("runner")));
        mounts.push(Mount::writable(channel, lent.join("channel")));
        let seen = |path: PathBuf| self.room.path(&mounts, path).display().to_string();
        let command = if run.traced { trace_command } else { command };
        let argv = command(
            &toolchain.python.display().to_string(),
            &seen(lent.join("runner")),
            &seen(lent.join("channel")),
            bench.settings.runner,
            run.args,
        );
        let mut job = Job::new(argv, seen(TESTBED.into()));
        job.env = environment(&toolchain.path_dirs, &toolchain.env, run.hash_seed);
        job.mounts = mounts;
        job.stdin = stdin(secret, &run.wishes);
        job.output = OutputMode::Merged;
        job.network = bench.settings.network;
        job.limits = limits(bench.settings);
        job.channel = Some(channel.to_owned());
        Ok(job)
    }
}

fn environment(
    path_dirs: &[PathBuf],
    more: &BTreeMap<String, String>,
    hash_seed: u32,
) -> BTreeMap<String, String> {
    let mut env = variables(path_dirs, &BTreeMap::new());
    env.insert("PYTHONHASHSEED".to_owned(), hash_seed.to_string());
    env.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
    env
}

/// The variables that a test run sees, but for the hash seed, which each run has its own of: nothing of the machine, the
/// same on every one. `path_dirs` come before the system's programs; `more` has the last word.
pub fn variables(path_dirs: &[PathBuf], more: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut path: Vec<String> = path_dirs
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    path.push(SYSTEM_PATH.to_owned());
    let fixed = [
        ("PATH", path.join(":")),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("USER", "quarry".to_owned()),
        ("LOGNAME", "quarry".to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
    ];
    let mut env: BTreeMap<String, String> = fixed
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    env.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
    env
}

fn limits(settings: &Verification) -> Limits {
    Limits {
        wall: Duration::from_secs(settings.timeout_seconds),
        silence: (settings.silence_seconds > 0).then(|| Duration::from_secs(settings.silence_seconds)),
        memory_bytes: settings.memory_mb << 20,
        processes: settings.processes,
        output_bytes: settings.output_mb << 20,
        ..Limits::default()
    }
}

/// How a job ended, in the words of a fault's table.
pub fn ended(result: &JobResult) -> Ended {
    match result.end {
        End::Exited(code) => Ended::Exited(code),
        End::Signaled(signal) => Ended::Signaled(signal),
        End::WallClock => Ended::TimeOut,
        End::Silence => Ended::Silence,
        End::OutputLimit => Ended::OutputLimit,
        End::MemoryLimit => Ended::MemoryLimit,
        End::ProcessLimit => Ended::ProcessLimit,
        End::DiskLimit => Ended::DiskFull,
        End::Cancelled => Ended::Cancelled,
    }
}

/// A secret that no run has seen.
fn secret() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Runs file work where it holds up no other task.
///
/// # Errors
/// As the work says.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| infra("disk", error.to_string()))?
}

/// A try's folder, gone with it whatever its tests left there.
pub struct Place(Option<TempDir>);

impl Place {
    fn new(scratch: &Path) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix("verify-").tempdir_in(scratch);
        folder
            .map(|folder| Self(Some(folder)))
            .map_err(disk("make a scratch folder"))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), TempDir::path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take() {
            let _ = tree::remove(&folder.keep());
        }
    }
}

fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> HarnessError {
    let path = path.as_ref().to_owned();
    move |source| HarnessError { action, path, source }
}
