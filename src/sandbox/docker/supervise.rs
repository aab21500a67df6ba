//! One job's life in a container: start, limits, end. The container is gone when it is over, however it is over.

use std::pin::Pin;
use std::time::Duration;

use bollard::container::{AttachContainerResults, LogOutput};
use bollard::errors::Error;
use bollard::models::ContainerState;
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptions, InspectContainerOptions,
    RemoveContainerOptionsBuilder, StartContainerOptions,
};
use futures::{Stream, StreamExt as _};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::super::contract::{Captured, End, Job, JobResult, OutputMode};
use super::super::error::SandboxError;
use super::super::process::Group;
use super::super::vigil::{GRACE, TICK, Vigil};
use super::container::{body, dropped};
use super::daemon::{Daemon, DaemonFault, fault};
use super::first::{Marks, Told, preface};
use super::handover::hand_over;
use super::open::{Docker, apart, random};

type Output = Pin<Box<dyn Stream<Item = Result<LogOutput, Error>> + Send>>;

impl Docker {
    /// Runs `job`.
    pub(in super::super) async fn run(
        &self,
        job: &Job,
        cancel: &CancellationToken,
    ) -> Result<JobResult, SandboxError> {
        if cancel.is_cancelled() {
            return Ok(JobResult::cancelled());
        }
        self.hand_over(job).await?;
        let mark = random().map_err(SandboxError::io("draw a mark from", "/dev/urandom"))?;
        let mut container = self.create(job).await?;
        let outcome = self.attend(&mut container, job, &mark, cancel).await;
        container.remove().await?;
        outcome
    }

    async fn hand_over(&self, job: &Job) -> Result<(), SandboxError> {
        if !self.walls.user.is_other {
            return Ok(());
        }
        let user = self.walls.user.uid;
        let writable = job.mounts.iter().filter(|mount| mount.writable);
        let folders: Vec<_> = writable.map(|mount| mount.host.clone()).collect();
        let work = move || {
            folders.iter().try_for_each(|folder| {
                hand_over(folder, user).map_err(SandboxError::io("hand over to the sandbox's user", folder))
            })
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| SandboxError::BadJob {
                problem: error.to_string(),
            })?
    }

    async fn create(&self, job: &Job) -> Result<Container, SandboxError> {
        let created = self
            .daemon
            .client
            .create_container(None::<CreateContainerOptions>, body(&self.walls, job))
            .await
            .map_err(fault("create a container"))?;
        Ok(Container {
            daemon: self.daemon.clone(),
            id: created.id,
            group: None,
            is_removed: false,
        })
    }

    async fn attend(
        &self,
        container: &mut Container,
        job: &Job,
        mark: &str,
        cancel: &CancellationToken,
    ) -> Result<JobResult, SandboxError> {
        let program = || job.argv.first().cloned().unwrap_or_default();
        let AttachContainerResults { output, input } = container.attach().await?;
        let merged = job.output == OutputMode::Merged;
        let mut words = preface(mark, job.stdin.len(), merged, &dropped(&self.walls, job)).into_bytes();
        words.extend_from_slice(&job.stdin);
        container.start(&program()).await?;
        let mut watch = Watch {
            vigil: Vigil::begin(job),
            merged,
            marks: Marks::new(mark),
            output: Some(output),
            stdout: Captured::default(),
            stderr: Captured::default(),
        };
        let _lifeline = feed(input, words);
        container.group = container.find_group().await?;
        let stopped = watch.run(container.group.as_ref(), cancel).await;
        let wall = watch.vigil.started.elapsed();
        // Before the container goes, and its counters with it.
        let breach = container.group.as_ref().and_then(Group::breach);
        let peak_memory = container.group.as_ref().and_then(Group::peak_memory);
        let state = match (&stopped, breach) {
            (Ok(None), None) => container.state().await,
            _ => Ok(ContainerState::default()),
        };
        watch.read_while(container.remove()).await?;
        watch.drain().await;
        let end = match stopped?.or(breach) {
            Some(end) => end,
            None => natural_end(watch.marks.told(), state, &watch.last_words(), &program())?,
        };
        watch.stdout.trim();
        watch.stderr.trim();
        Ok(JobResult {
            end,
            wall,
            peak_memory,
            stdout: watch.stdout,
            stderr: watch.stderr,
            channel: watch.vigil.channel()?,
        })
    }
}

/// Writes the job's input from a task of its own, and then holds the pipe: its end is the container's.
fn feed(mut input: Pin<Box<dyn AsyncWrite + Send>>, words: Vec<u8>) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        let _ = input.write_all(&words).await;
        let _ = input.flush().await;
        std::future::pending::<()>().await;
    }))
}

/// How a job that Quarry did not stop ended, by its first process's marks, else by what the daemon knows.
fn natural_end(
    told: Option<Told>,
    state: Result<ContainerState, SandboxError>,
    said: &str,
    program: &str,
) -> Result<End, SandboxError> {
    if let Ok(state) = &state
        && state.oom_killed == Some(true)
    {
        return Ok(End::MemoryLimit);
    }
    let code = match told {
        Some(Told::NotStarted) => {
            return Err(SandboxError::Start {
                program: program.to_owned(),
                detail: said.to_owned(),
            });
        }
        Some(Told::Ended(code) | Told::Killed(code)) => code,
        // The first process told nothing: it was killed from outside, or the daemon is gone.
        None => {
            let state = state?;
            if state.running != Some(false) {
                return Err(SandboxError::Daemon {
                    action: "read what a container prints",
                    fault: DaemonFault::Gone,
                    detail: "its output broke off while it ran".to_owned(),
                });
            }
            state
                .exit_code
                .and_then(|code| i32::try_from(code).ok())
                .unwrap_or(-1)
        }
    };
    // A signal is told the way shells do.
    Ok(match code {
        129..=192 => End::Signaled(code - 128),
        code => End::Exited(code),
    })
}

/// A running job as its watcher sees it.
struct Watch<'a> {
    vigil: Vigil<'a>,
    merged: bool,
    marks: Marks,
    output: Option<Output>,
    stdout: Captured,
    stderr: Captured,
}

impl Watch<'_> {
    /// Waits for the job's end (`None`) or for a reason to stop it.
    async fn run(
        &mut self,
        group: Option<&Group>,
        cancel: &CancellationToken,
    ) -> Result<Option<End>, SandboxError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while let Some(output) = &mut self.output {
            tokio::select! {
                () = cancel.cancelled() => return Ok(Some(End::Cancelled)),
                _ = ticks.tick() => {
                    if let Some(end) = self.vigil.overdue().or_else(|| group.and_then(Group::breach)) {
                        return Ok(Some(end));
                    }
                }
                read = output.next() => match read {
                    Some(Ok(chunk)) => {
                        self.vigil.heard();
                        self.take(&chunk);
                        if let Some(end) = self.vigil.printed(self.stdout.total + self.stderr.total) {
                            return Ok(Some(end));
                        }
                        if self.marks.told().is_some() {
                            return Ok(None);
                        }
                    }
                    // What a broken stream means, the container's state says.
                    Some(Err(_)) | None => self.output = None,
                },
            }
        }
        Ok(None)
    }

    fn take(&mut self, chunk: &LogOutput) {
        match chunk {
            LogOutput::StdErr { message } => {
                let own = self.marks.take(message);
                self.push_error(&own);
            }
            LogOutput::StdOut { message } | LogOutput::Console { message } | LogOutput::StdIn { message } => {
                self.stdout.push(message);
            }
        }
    }

    fn push_error(&mut self, bytes: &[u8]) {
        if self.merged {
            self.stdout.push(bytes);
        } else {
            self.stderr.push(bytes);
        }
    }

    /// Goes on reading while `work` is done: a daemon whose reader has stopped cannot end a container that prints.
    async fn read_while<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            let Some(output) = &mut self.output else {
                return work.await;
            };
            tokio::select! {
                done = &mut work => return done,
                read = output.next() => match read {
                    Some(Ok(chunk)) => self.take(&chunk),
                    _ => self.output = None,
                },
            }
        }
    }

    /// Takes in what was printed last. Whoever still holds a pipe after that is not waited for.
    async fn drain(&mut self) {
        let deadline = Instant::now() + GRACE;
        while let Some(output) = &mut self.output {
            match timeout_at(deadline, output.next()).await {
                Ok(Some(Ok(chunk))) => self.take(&chunk),
                _ => self.output = None,
            }
        }
        let rest = self.marks.rest();
        self.push_error(&rest);
    }

    fn last_words(&self) -> String {
        let text = if self.merged {
            self.stdout.text()
        } else {
            self.stderr.text()
        };
        text.trim().lines().last().unwrap_or("it said nothing").to_owned()
    }
}

/// One job's container. Dropping it removes it.
struct Container {
    daemon: Daemon,
    id: String,
    group: Option<Group>,
    is_removed: bool,
}

impl Container {
    async fn attach(&self) -> Result<AttachContainerResults, SandboxError> {
        let options = AttachContainerOptionsBuilder::default()
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .stream(true)
            .build();
        self.daemon
            .client
            .attach_container(&self.id, Some(options))
            .await
            .map_err(fault("attach to a container"))
    }

    async fn start(&self, program: &str) -> Result<(), SandboxError> {
        let started = self
            .daemon
            .client
            .start_container(&self.id, None::<StartContainerOptions>)
            .await;
        started
            .map_err(fault("start a container"))
            .map_err(|error| match error {
                SandboxError::Daemon { detail, .. } if detail.contains("exec: \"/bin/sh\"") => {
                    SandboxError::Start {
                        program: program.to_owned(),
                        detail: "the image has no `/bin/sh`".to_owned(),
                    }
                }
                other => other,
            })
    }

    async fn state(&self) -> Result<ContainerState, SandboxError> {
        let found = self
            .daemon
            .client
            .inspect_container(&self.id, None::<InspectContainerOptions>)
            .await
            .map_err(fault("look at a container"))?;
        Ok(found.state.unwrap_or_default())
    }

    /// The kernel's group for the container, where its first process is seen from here.
    async fn find_group(&self) -> Result<Option<Group>, SandboxError> {
        let pid = self.state().await?.pid.and_then(|pid| u32::try_from(pid).ok());
        let group = pid.filter(|pid| *pid > 0).and_then(Group::of_process);
        // A number of another machine's namespace would be somebody else's process here.
        Ok(group.filter(|group| group.is_named(&self.id)))
    }

    /// Kills what runs in it and removes it.
    async fn remove(&mut self) -> Result<(), SandboxError> {
        if self.is_removed {
            return Ok(());
        }
        let removed = remove(&self.daemon, &self.id).await;
        if removed.is_err()
            && let Some(group) = &self.group
        {
            // The daemon does not help: the kernel does.
            group.kill();
        }
        self.is_removed = true;
        removed
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if !self.is_removed {
            // A job that nobody waits for any more: its future was dropped.
            let (daemon, id) = (self.daemon.clone(), std::mem::take(&mut self.id));
            let patience = Duration::from_secs(10);
            let _ = apart(async move { timeout(patience, remove(&daemon, &id)).await.unwrap_or(Ok(())) });
        }
    }
}

async fn remove(daemon: &Daemon, id: &str) -> Result<(), SandboxError> {
    let options = RemoveContainerOptionsBuilder::default()
        .force(true)
        .v(true)
        .build();
    let removed = daemon.client.remove_container(id, Some(options)).await;
    match removed.map_err(fault("remove a container")) {
        Err(SandboxError::Daemon {
            fault: DaemonFault::ContainerGone,
            ..
        }) => Ok(()),
        Err(SandboxError::Daemon { detail, .. }) if detail.contains("already in progress") => Ok(()),
        other => other,
    }
}
