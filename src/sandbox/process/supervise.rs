//! Runs a started job to its end: reads what it prints, watches its limits, kills what is left.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::super::contract::{Captured, End, Job, JobResult, OutputMode};
use super::super::error::SandboxError;
use super::super::vigil::{GRACE, TICK, Vigil};
use super::cgroup::HostCgroup;
use super::guardian::Guardian;
use super::meter::Meter;
use super::output::Stream;
use super::{spawner, tree};

/// Enters the job's control groups, then becomes the room. Arguments: a file for bubblewrap's status, the groups'
/// doors, `--`, the command.
const ENTER: &str =
    "status=$1; shift; while [ \"$1\" != -- ]; do echo $$ > \"$1\" || exit 125; shift; done; shift; ";

/// What a room adds to a job.
pub(super) struct Launch<'a> {
    /// The room's whole command line.
    pub(super) argv: Vec<String>,
    /// The working folder of that command line, on the host.
    pub(super) cwd: &'a Path,
    /// The file that bubblewrap writes its status to (descriptor 9), when the room is closed.
    pub(super) status: Option<&'a Path>,
    /// Where groups can be made.
    pub(super) groups: Option<&'a HostCgroup>,
    /// Whether that command line opens a session (and with it a process group) by itself: `setsid` forks when it
    /// already leads a group.
    pub(super) opens_session: bool,
    /// Who ends the job when Quarry is killed, where the room does not see to it.
    pub(super) guardian: Option<&'a Guardian>,
    /// The line in every environment of the job, by which processes that ran away are found.
    pub(super) mark: Option<String>,
}

/// Starts and runs a job. An error is the machine's fault; everything the job does is in the result.
pub(super) async fn supervise(
    job: &Job,
    launch: Launch<'_>,
    cancel: &CancellationToken,
) -> Result<JobResult, SandboxError> {
    let meter = Meter::new(launch.groups, &job.limits);
    let mut command = enter(job, &launch, &meter);
    // Whoever already gave up starts nothing.
    if cancel.is_cancelled() {
        return Ok(JobResult::cancelled());
    }
    let vigil = Vigil::begin(job);
    command.kill_on_drop(true);
    let mut child = spawner::spawn(command)
        .await
        .map_err(SandboxError::io("start", job.argv.first().map_or("", |a| a)))?;
    let _watched = launch
        .guardian
        .and_then(|guardian| Some(guardian.watch(child.id()?, launch.mark.as_deref()?, &meter.doors())));
    feed(&mut child, job.stdin.clone());
    let mut watch = Watch::new(job, vigil, meter, &mut child);
    let (stopped, status) = watch.run(&mut child, cancel).await?;
    let wall = watch.vigil.started.elapsed();
    // Before the groups go, and their counters with them.
    let (breach, peak_memory) = (watch.meter.breach(), watch.meter.peak());
    watch.clean_up(&mut child, launch.status, launch.mark).await;
    let program = job.argv.first().map_or("", |program| program);
    let end = match stopped.or(breach) {
        Some(end) => end,
        None => natural_end(status, launch.status, program, &watch.text())?,
    };
    watch.finish(end, wall, peak_memory)
}

impl JobResult {
    pub(in super::super) fn cancelled() -> Self {
        Self {
            end: End::Cancelled,
            wall: Duration::ZERO,
            peak_memory: None,
            stdout: Captured::default(),
            stderr: Captured::default(),
            channel: Vec::new(),
        }
    }
}

fn enter(job: &Job, launch: &Launch<'_>, meter: &Meter) -> Command {
    let status = if launch.status.is_some() {
        " 9> \"$status\""
    } else {
        ""
    };
    let merge = if job.output == OutputMode::Merged {
        " 2>&1"
    } else {
        ""
    };
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(format!("{ENTER}exec \"$@\"{merge}{status}"))
        .arg("sh");
    command
        .arg(launch.status.unwrap_or(Path::new("/dev/null")))
        .args(meter.doors())
        .arg("--")
        .args(&launch.argv);
    command.env_clear().current_dir(launch.cwd);
    if !launch.opens_session {
        command.process_group(0);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Writes the job's input from a task of its own: a job that does not read must not stop its reader.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut stdin) = child.stdin.take() {
        tokio::spawn(async move {
            let _ = stdin.write_all(&input).await;
        });
    }
}

/// How a job that Quarry did not stop ended. Bubblewrap says in its status whether the job's program began at all.
fn natural_end(
    status: Option<ExitStatus>,
    room: Option<&Path>,
    program: &str,
    output: &str,
) -> Result<End, SandboxError> {
    let Some(status) = status else {
        return Ok(End::Signaled(Signal::KILL.as_raw()));
    };
    if let Some(room) = room {
        let said = fs::read_to_string(room).map_err(SandboxError::io("read", room))?;
        if !said.contains("\"exit-code\"") && status.signal().is_none() {
            let detail = output
                .trim()
                .lines()
                .last()
                .unwrap_or("it said nothing")
                .to_owned();
            return Err(SandboxError::Start {
                program: program.to_owned(),
                detail,
            });
        }
        // Bubblewrap tells a signal the way a shell does.
        if let Some(code @ 129..=192) = status.code() {
            return Ok(End::Signaled(code - 128));
        }
    }
    Ok(status
        .signal()
        .map_or_else(|| End::Exited(status.code().unwrap_or(-1)), End::Signaled))
}

/// The first process of a closed room, as bubblewrap's status names it.
fn first_process(status: &Path) -> Option<u32> {
    let text = fs::read_to_string(status).ok()?;
    let (_, rest) = text.split_once("\"child-pid\":")?;
    rest.trim_start()
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// A running job as its watcher sees it.
struct Watch<'a> {
    job: &'a Job,
    vigil: Vigil<'a>,
    meter: Meter,
    pid: Option<u32>,
    stdout: Stream,
    stderr: Stream,
}

impl<'a> Watch<'a> {
    fn new(job: &'a Job, vigil: Vigil<'a>, meter: Meter, child: &mut Child) -> Self {
        Self {
            job,
            vigil,
            meter,
            pid: child.id(),
            stdout: Stream::new(child.stdout.take()),
            stderr: Stream::new(child.stderr.take()),
        }
    }

    /// Waits for the job's end or for a reason to stop it.
    async fn run(
        &mut self,
        child: &mut Child,
        cancel: &CancellationToken,
    ) -> Result<(Option<End>, Option<ExitStatus>), SandboxError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let read = tokio::select! {
                status = child.wait() => {
                    return Ok((None, Some(status.map_err(SandboxError::io("wait for", "the job"))?)));
                }
                () = cancel.cancelled() => return Ok((Some(End::Cancelled), None)),
                _ = ticks.tick() => {
                    if let Some(end) = self.overdue() {
                        return Ok((Some(end), None));
                    }
                    continue;
                }
                read = self.stdout.read() => read,
                read = self.stderr.read() => read,
            };
            if read.map_err(SandboxError::io("read", "the job's output"))? > 0 {
                self.vigil.heard();
            }
            if let Some(end) = self.vigil.printed(self.printed()) {
                return Ok((Some(end), None));
            }
        }
    }

    fn printed(&self) -> u64 {
        self.stdout.captured.total + self.stderr.captured.total
    }

    fn overdue(&mut self) -> Option<End> {
        self.vigil
            .overdue()
            .or_else(|| self.pid.and_then(|pid| self.meter.sample(pid)))
    }

    /// Whether no process of the job is left, as far as the kernel can tell: its group could be removed, and the
    /// first process of a closed room is gone, which it is only after all others.
    fn is_gone(&self, room: Option<&Path>) -> bool {
        let emptied = match &self.meter {
            Meter::Group(group) => group.close(),
            Meter::Tree { .. } => true,
        };
        emptied && room.and_then(first_process).is_none_or(tree::is_gone)
    }

    /// Kills everything that is left and takes in what was printed last.
    async fn clean_up(&mut self, child: &mut Child, room: Option<&Path>, mark: Option<String>) {
        // In a closed room the death of its first process is the death of all.
        let _ = child.start_kill();
        if let Some(group) = self.pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = timeout(GRACE, child.wait()).await;
        if let Some(first) = room.and_then(first_process) {
            tree::kill(first);
        }
        let deadline = Instant::now() + GRACE;
        while !self.is_gone(room) && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        if let Some(mark) = mark {
            tree::kill_marked(&mark, 20);
        }
        // Whoever still holds a pipe after that is not waited for.
        let drained = async {
            self.stdout.drain().await;
            self.stderr.drain().await;
        };
        let _ = timeout(GRACE, drained).await;
    }

    fn text(&self) -> String {
        if self.job.output == OutputMode::Merged {
            self.stdout.captured.text()
        } else {
            self.stderr.captured.text()
        }
    }

    fn finish(self, end: End, wall: Duration, peak_memory: Option<u64>) -> Result<JobResult, SandboxError> {
        let channel = self.vigil.channel()?;
        Ok(JobResult {
            end,
            wall,
            peak_memory,
            stdout: self.stdout.captured,
            stderr: self.stderr.captured,
            channel,
        })
    }
}
