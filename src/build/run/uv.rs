//! Calls of uv and of build tools, in the room or (what runs no code of anybody) outside it, with their logs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::Failure;
use super::inner::Stop;
use crate::build::error::BuildError;
use crate::build::faults::{self, Fault, Step};
use crate::build::index;
use crate::build::python::Interpreter;
use crate::domain::attempt::AttemptOutcome;
use crate::domain::environment::Newer;
use crate::sandbox::{End, Job, LENT, Limits, Mount, Room, RoomKind, SYSTEM_PATH, SandboxError};

/// Before this moment no setuptools existed that installers can drive by PEP 517 (40.8.0), and they all ask for one.
/// A project from before is built with the tools of this day.
const FIRST_BUILD_TOOLS: &str = "2019-02-10T00:00:00Z";

/// What of a user's settings a call needs.
pub(super) struct Kit {
    /// The uv program.
    pub uv: PathBuf,
    /// `uv 0.13.9`.
    pub version: String,
    /// Settings that reach builds.
    pub env: BTreeMap<String, String>,
}

/// One call: what runs, where, and what it sees.
pub(super) struct Call<'a> {
    /// What it is part of.
    pub step: Step,
    /// The room it runs in.
    pub room: &'a Room,
    /// Mounts beside those that every call has.
    pub mounts: Vec<Mount>,
    /// The interpreter whose prefix it sees.
    pub interpreter: &'a Interpreter,
    /// Where it runs, as a path inside.
    pub cwd: &'a Path,
    /// uv's cache on the host.
    pub cache: &'a Path,
    /// More variables.
    pub env: Vec<(String, String)>,
}

/// The program of a call.
pub(super) enum Program {
    /// uv with these arguments.
    Uv(Vec<String>),
    /// A program inside with these arguments.
    Other(Vec<String>),
}

impl Kit {
    /// Asks uv who it is.
    pub(super) fn find(uv: PathBuf, env: BTreeMap<String, String>) -> Result<Self, BuildError> {
        let broken = |problem: String| BuildError::BrokenUv {
            program: uv.clone(),
            problem,
        };
        let output = Command::new(&uv)
            .arg("--version")
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .map_err(|error| broken(error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        // `uv 0.13.9 (commit date platform)`: what is in brackets says nothing about what is resolved.
        let version = said.split('(').next().unwrap_or_default().trim().to_owned();
        if !output.status.success() || !version.starts_with("uv ") {
            return Err(broken(format!("`--version` says `{}`", said.trim())));
        }
        Ok(Self { uv, version, env })
    }

    /// Runs a call to its end, adds what it printed to `log`, and gives it back when it succeeded.
    pub(super) async fn run(
        &self,
        call: Call<'_>,
        program: Program,
        log: &mut String,
        cancel: &CancellationToken,
    ) -> Result<String, Stop> {
        let Call {
            step,
            room,
            interpreter,
            ..
        } = call;
        let job = self.job(call, program);
        let words: Vec<&str> = job
            .argv
            .iter()
            .map(|word| if word.len() > 300 { "…" } else { word })
            .collect();
        let _ = writeln!(log, "$ {}", words.join(" "));
        let result = room.run(&job, cancel).await.map_err(|error| {
            let (reason, message, hints) = (error.reason(), error.to_string(), error.hints());
            match error {
                SandboxError::Io { .. }
                | SandboxError::Start { .. }
                | SandboxError::Daemon { .. }
                | SandboxError::NoDaemon { .. } => BuildError::Room {
                    reason,
                    message,
                    hints,
                },
                _ => BuildError::Adapter { message, hints },
            }
        })?;
        let text = index::without_hosts(&result.stdout.text());
        log.push_str(&text);
        if !text.is_empty() && !text.ends_with('\n') {
            log.push('\n');
        }
        let _ = writeln!(
            log,
            "# Python {}, ended {}, {} ms",
            interpreter.version,
            result.end,
            result.wall.as_millis()
        );
        let infra = |reason: &str| {
            Stop::Failed(Failure::new(
                AttemptOutcome::Infra,
                reason,
                faults::summary(&text),
            ))
        };
        match result.end {
            End::Exited(0) => Ok(text),
            End::Cancelled => Err(Stop::Cancelled),
            End::Exited(_) => Err(match faults::classify(step, &text) {
                Fault::NoEditable => Stop::NoEditable,
                Fault::Infra(reason) => infra(reason),
                Fault::Project(reason) => Stop::Failed(Failure::new(
                    AttemptOutcome::Project,
                    reason,
                    faults::summary(&text),
                )),
            }),
            End::WallClock | End::Silence => Err(infra("time-out")),
            End::MemoryLimit => Err(infra("out-of-memory")),
            End::DiskLimit => Err(infra("disk-full")),
            End::Signaled(_) => Err(infra("killed")),
            End::OutputLimit | End::ProcessLimit => Err(Stop::Failed(Failure::new(
                AttemptOutcome::Project,
                "install-failed",
                format!("the build ended {}", result.end),
            ))),
        }
    }

    fn job(&self, call: Call<'_>, program: Program) -> Job {
        let lent = Path::new(LENT);
        let mut mounts = call.mounts;
        mounts.push(Mount::read_only(&self.uv, lent.join("uv")));
        mounts.push(Mount::writable(call.cache, lent.join("cache")));
        mounts.extend(interpreter_mounts(call.interpreter));
        let mut env = self.env.clone();
        // Certificates are lent under a path of their own: where they are on the host is nobody's business inside.
        let files: Vec<String> = index::named_files(&self.env)
            .into_iter()
            .map(str::to_owned)
            .collect();
        for (number, file) in files
            .iter()
            .enumerate()
            .filter(|(_, file)| Path::new(file).exists())
        {
            let inside = lent.join(format!("settings/{number}"));
            mounts.push(Mount::read_only(file, &inside));
            let seen = call.room.path(&mounts, &inside).display().to_string();
            env.values_mut()
                .filter(|value| *value == file)
                .for_each(|value| value.clone_from(&seen));
        }
        let path = |inside: &str| call.room.path(&mounts, lent.join(inside)).display().to_string();
        let fixed = [
            ("PATH", SYSTEM_PATH),
            ("LANG", "C.UTF-8"),
            ("UV_PYTHON_DOWNLOADS", "never"),
            ("UV_NO_PROGRESS", "1"),
            ("UV_NO_CONFIG", "1"),
            // Between two mounts no file can be linked; said outright, it is no warning.
            (
                "UV_LINK_MODE",
                if call.room.kind() == RoomKind::None {
                    "hardlink"
                } else {
                    "copy"
                },
            ),
            ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        ];
        env.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        env.insert("UV_CACHE_DIR".to_owned(), path("cache"));
        env.extend(call.env);
        let argv = match program {
            Program::Uv(args) => std::iter::once(path("uv")).chain(args).collect(),
            Program::Other(argv) => argv,
        };
        let cwd = call.room.path(&mounts, call.cwd);
        let mut job = Job::new(argv, cwd);
        job.mounts = mounts;
        job.env = env;
        job.network = true;
        // uv says nothing while a large file comes in; compilers need room.
        job.limits = Limits {
            wall: Duration::from_mins(30),
            silence: None,
            memory_bytes: 8 << 30,
            file_bytes: 8 << 30,
            tmp_bytes: 4 << 30,
            ..Limits::default()
        };
        job
    }
}

/// The folders an interpreter is made of; those of the system are in every room.
pub(super) fn interpreter_mounts(interpreter: &Interpreter) -> Vec<Mount> {
    // One of the image's is there already.
    if interpreter.image.is_some() {
        return vec![];
    }
    let of_system = |prefix: &Path| prefix.starts_with("/usr") || prefix == Path::new("/");
    let mut mounts: Vec<Mount> = interpreter
        .prefixes
        .iter()
        .filter(|prefix| !of_system(prefix))
        .map(|prefix| Mount::read_only(prefix, prefix))
        .collect();
    mounts.sort();
    mounts.dedup();
    mounts
}

/// The arguments that make uv's answer one of its day, but for the distributions in `newer`.
pub(super) fn dated(date: Timestamp, newer: &[Newer]) -> Vec<String> {
    let mut args = vec!["--exclude-newer".to_owned(), date.to_string()];
    if FIRST_BUILD_TOOLS
        .parse::<Timestamp>()
        .is_ok_and(|first| date < first)
    {
        for tool in ["setuptools", "wheel"] {
            args.extend([
                "--exclude-newer-package".to_owned(),
                format!("{tool}={FIRST_BUILD_TOOLS}"),
            ]);
        }
    }
    for Newer {
        distribution, until, ..
    } in newer
    {
        args.extend([
            "--exclude-newer-package".to_owned(),
            format!("{distribution}={until}"),
        ]);
    }
    args
}
