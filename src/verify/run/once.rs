//! One try: the trees before and after gold, their runs, the oracle.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::log::Log;
use super::{Recorded, Verifier, VerifyRequest, tree};
use crate::domain::attempt::AttemptOutcome;
use crate::domain::ids::TestId;
use crate::domain::outcome::RunOutcome;
use crate::git::apply::{ApplyError, apply};
use crate::recipe::model::Verification;
use crate::sandbox::{
    End, Furnishing, Job, JobResult, LENT, Limits, Mount, OutputMode, SYSTEM_PATH, TESTBED,
};
use crate::verify::channel::{Channel, read};
use crate::verify::classify::classify;
use crate::verify::faults::{Ended, Fault, judge};
use crate::verify::plan::{Selection, select};
use crate::verify::runner::command;

/// The two sides of an oracle.
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

fn project(reason: &'static str, detail: impl Into<String>) -> Fault {
    Fault {
        outcome: AttemptOutcome::Project,
        reason,
        detail: detail.into(),
    }
}

fn infra(reason: &'static str, detail: impl Into<String>) -> Fault {
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
    /// Runs the tests of both sides. The first fault ends it: a side with a run missing makes no oracle.
    pub(super) async fn once(&self, request: &VerifyRequest, log: &mut Log) -> Result<Recorded, Fault> {
        let place = Place::new(&self.scratch)?;
        let trees = {
            let (request, folder) = (request.clone(), place.path().to_owned());
            blocking(move || prepare(&request, &folder)).await?
        };
        log.line(&format!("$ {}", trees.selection.args.join(" ")));
        let mut told = Told::default();
        let bench = Bench {
            environment: request.environment.as_ref(),
            settings: &request.subject.settings,
            selection: &trees.selection,
            place: place.path(),
        };
        for (side, tree) in [(Side::Before, &trees.before), (Side::After, &trees.after)] {
            for number in 1..=request.subject.settings.runs.max(1) {
                let run = Run { side, number, tree };
                let channel = self.complete(&bench, &run, log).await?;
                told.take(side, channel);
            }
        }
        told.judge(&request.subject.settings)
    }

    /// A run that must come to its own end.
    async fn complete(&self, bench: &Bench<'_>, run: &Run<'_>, log: &mut Log) -> Result<Channel, Fault> {
        let (result, told) = self.run_once(bench, run, log).await?;
        judge(ended(&result), &told).map_err(|fault| Fault {
            detail: format!("run {} {}: {}", run.number, run.side.name(), fault.detail),
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
        let job = self.job(bench, &testbed, &channel, run.number, &secret)?;
        let result = self
            .room
            .run(&job, &self.kill)
            .await
            .map_err(|error| infra(error.reason(), format!("failed to {error}")))?;
        let told = read(&result.channel, &secret);
        log.run(run.side, run.number, &result, &told);
        blocking(move || {
            tree::remove(testbed.parent().unwrap_or(&testbed)).map_err(disk("remove the work tree"))
        })
        .await?;
        Ok((result, told))
    }

    fn job(
        &self,
        bench: &Bench<'_>,
        testbed: &Path,
        channel: &Path,
        number: u32,
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
        let argv = command(
            &toolchain.python.display().to_string(),
            &seen(lent.join("runner")),
            &seen(lent.join("channel")),
            bench.settings.runner,
            &bench.selection.args,
        );
        let mut job = Job::new(argv, seen(TESTBED.into()));
        job.env = environment(&toolchain.path_dirs, &toolchain.env, number);
        job.mounts = mounts;
        job.stdin = format!("{}\n", hex(secret)).into_bytes();
        job.output = OutputMode::Merged;
        job.limits = limits(bench.settings);
        job.channel = Some(channel.to_owned());
        Ok(job)
    }
}

/// What all runs of one try share.
pub(super) struct Bench<'a> {
    pub(super) environment: &'a dyn Furnishing,
    pub(super) settings: &'a Verification,
    pub(super) selection: &'a Selection,
    /// The try's own folder.
    pub(super) place: &'a Path,
}

/// One of a side's runs, and the tree that it gets a copy of.
pub(super) struct Run<'a> {
    pub(super) side: Side,
    pub(super) number: u32,
    pub(super) tree: &'a Path,
}

/// What all runs told so far.
#[derive(Default)]
struct Told {
    before: Vec<RunOutcome>,
    after: Vec<RunOutcome>,
    runner: String,
    reruns: BTreeMap<TestId, u32>,
    forged_lines: u64,
}

impl Told {
    fn take(&mut self, side: Side, channel: Channel) {
        if let Some(hello) = channel.hello {
            self.runner = format!("{} {}", hello.runner, hello.version);
        }
        for (test, times) in channel.reruns {
            let most = self.reruns.entry(test).or_default();
            *most = times.max(*most);
        }
        self.forged_lines += channel.forged;
        match side {
            Side::Before => self.before.push(channel.outcome),
            Side::After => self.after.push(channel.outcome),
            Side::Base => {}
        }
    }

    fn judge(self, settings: &Verification) -> Result<Recorded, Fault> {
        let Self {
            before,
            after,
            runner,
            reruns,
            forged_lines,
        } = self;
        if before.iter().chain(&after).all(|run| run.tests.is_empty()) {
            return Err(project("no-tests", "no run on either side ran any test"));
        }
        Ok(Recorded {
            oracle: classify(&before, &after, settings),
            runner,
            reruns,
            forged_lines,
        })
    }
}

/// What a test run sees: nothing of the machine, the same on every one.
fn environment(
    path_dirs: &[PathBuf],
    more: &BTreeMap<String, String>,
    number: u32,
) -> BTreeMap<String, String> {
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
        // Each run of a side has its own: what depends on the order of a set shows, and shows again.
        ("PYTHONHASHSEED", number.to_string()),
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The trees of both sides, which runs only copy, and what a run selects.
struct Trees {
    before: PathBuf,
    after: PathBuf,
    selection: Selection,
}

/// Lays the patches before anything runs: a patch that does not apply costs no run.
fn prepare(request: &VerifyRequest, folder: &Path) -> Result<Trees, Fault> {
    let (before, after) = (folder.join("before"), folder.join("after"));
    tree::copy(&request.tree, &before).map_err(disk("copy the work tree"))?;
    request
        .environment
        .lay_products(&before)
        .map_err(|error| infra("environment", format!("failed to {error}")))?;
    lay(
        &before,
        &request.subject.patches.test,
        "test-patch-does-not-apply",
    )?;
    let files = tree::files(&before).map_err(disk("list the work tree"))?;
    let selection = select(&request.subject.touched, &files, &request.subject.settings)
        .ok_or_else(|| project("nothing-to-run", "the test patch leads to no test module"))?;
    tree::copy(&before, &after).map_err(disk("copy the work tree"))?;
    lay(&after, &request.subject.patches.gold, "gold-does-not-apply")?;
    Ok(Trees {
        before,
        after,
        selection,
    })
}

fn lay(tree: &Path, patch: &[u8], reason: &'static str) -> Result<(), Fault> {
    apply(tree, patch).map_err(|error| match error {
        ApplyError::DoesNotApply { detail } => project(reason, detail),
        ApplyError::Outside { source } => infra("disk", format!("failed to {source}")),
    })
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
