//! One run of the tests: a fresh tree, a job in the room, what its channel told.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::log::Log;
use super::{Verifier, tree};
use crate::domain::attempt::AttemptOutcome;
use crate::recipe::model::Verification;
use crate::sandbox::{
    End, Furnishing, Job, JobResult, LENT, Limits, Mount, OutputMode, SYSTEM_PATH, TESTBED,
};
use crate::verify::channel::{Channel, read};
use crate::verify::faults::{Ended, Fault, judge};
use crate::verify::runner::{Wishes, command, stdin, trace_command};

/// The trees that tests run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Base and test patch.
    Before,
    /// Gold on top.
    After,
    /// The base tree as it is.
    Base,
}

impl Side {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Before => "before gold",
            Self::After => "after gold",
            Self::Base => "on the base tree",
        }
    }
}

/// Which of a side's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// In collection order, by number from 1.
    Ordered(u32),
    /// In collection order, in an A/A run's second half: by number, after those of the first.
    Again(u32),
    /// In the random order.
    Shuffled,
    /// Of what the oracle's ids select, FAIL_TO_PASS alone.
    ById,
    /// Of FAIL_TO_PASS by id, with gold's lines watched.
    Traced,
    /// Of FAIL_TO_PASS by id, on gold without one of its hunks, by number from 1.
    Without(u32),
}

impl Which {
    /// Each run in collection order has its own: what depends on the order of a set shows, and shows again. The others
    /// share the first one's, so that nothing but what they are made for differs.
    const fn hash_seed(self) -> u32 {
        match self {
            Self::Ordered(number) | Self::Again(number) => number,
            Self::Shuffled | Self::ById | Self::Traced | Self::Without(_) => 1,
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ordered(number) => write!(f, "run {number}"),
            Self::Again(number) => write!(f, "A/A run {number}"),
            Self::Shuffled => f.write_str("the run in random order"),
            Self::ById => f.write_str("the run by id"),
            Self::Traced => f.write_str("the traced run"),
            Self::Without(number) => write!(f, "the run without hunk {number}"),
        }
    }
}

/// What all runs of one try share.
pub(super) struct Bench<'a> {
    pub(super) environment: &'a dyn Furnishing,
    pub(super) settings: &'a Verification,
    /// The try's own folder.
    pub(super) place: &'a Path,
}

/// One run, and the tree that it gets a copy of.
pub(super) struct Run<'a> {
    pub(super) side: Side,
    pub(super) which: Which,
    pub(super) tree: &'a Path,
    /// The runner's arguments.
    pub(super) args: &'a [String],
    pub(super) wishes: Wishes,
}

pub(super) fn project(reason: &'static str, detail: impl Into<String>) -> Fault {
    Fault {
        outcome: AttemptOutcome::Project,
        reason,
        detail: detail.into(),
    }
}

pub(super) fn infra(reason: &'static str, detail: impl Into<String>) -> Fault {
    Fault {
        outcome: AttemptOutcome::Infra,
        reason,
        detail: detail.into(),
    }
}

/// A file could not be handled: the machine's fault.
pub(super) fn disk(action: &'static str) -> impl FnOnce(std::io::Error) -> Fault {
    move |error| infra("disk", format!("{action}: {error}"))
}

impl Verifier {
    /// A run that must come to its own end.
    pub(super) async fn complete(
        &self,
        bench: &Bench<'_>,
        run: &Run<'_>,
        log: &mut Log,
    ) -> Result<Channel, Fault> {
        let (result, told) = self.run_once(bench, run, log).await?;
        judge(ended(&result), &told).map_err(|fault| Fault {
            detail: format!("{} {}: {}", run.which, run.side.name(), fault.detail),
            ..fault
        })?;
        Ok(told)
    }

    /// One run of the tests, in a fresh copy of its side's tree, however it ends.
    pub(super) async fn run_once(
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
        log.run(&format!("{} {}", run.which, run.side.name()), &result, &told);
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
        let command = if run.which == Which::Traced {
            trace_command
        } else {
            command
        };
        let argv = command(
            &toolchain.python.display().to_string(),
            &seen(lent.join("runner")),
            &seen(lent.join("channel")),
            bench.settings.runner,
            run.args,
        );
        let mut job = Job::new(argv, seen(TESTBED.into()));
        job.env = environment(&toolchain.path_dirs, &toolchain.env, run.which);
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
    which: Which,
) -> BTreeMap<String, String> {
    let mut env = variables(path_dirs, &BTreeMap::new());
    env.insert("PYTHONHASHSEED".to_owned(), which.hash_seed().to_string());
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

pub(super) fn ended(result: &JobResult) -> Ended {
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
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| infra("disk", error.to_string()))?
}

/// A try's folder, gone with it whatever its tests left there.
pub(super) struct Place(Option<TempDir>);

impl Place {
    pub(super) fn new(scratch: &Path) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix("verify-").tempdir_in(scratch);
        folder
            .map(|folder| Self(Some(folder)))
            .map_err(disk("make a scratch folder"))
    }

    pub(super) fn path(&self) -> &Path {
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
