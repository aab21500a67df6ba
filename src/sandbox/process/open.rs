//! The room without walls, for systems that refuse a closed one and for those who ask for it: same life of a job,
//! same limits, but the host's own files and network.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::super::contract::{Job, JobResult};
use super::super::error::SandboxError;
use super::guardian::Guardian;
use super::supervise::{Launch, supervise};
use super::{HostCgroup, system};

/// The environment variable by which processes that left their parent are found again.
const MARK: &str = "QUARRY_JOB";

/// The longest `TMPDIR`, in bytes: a Unix socket's address has 107, and programs put theirs in folders of their own.
const LONGEST_TMPDIR: usize = 60;

/// An open room on this machine.
#[derive(Debug, Clone)]
pub struct Open {
    groups: Option<HostCgroup>,
    scratch: Arc<PathBuf>,
    guardian: Arc<Guardian>,
}

impl Open {
    /// Makes `scratch`, where jobs get their home and temporary folders.
    pub(in super::super) fn detect(scratch: &Path) -> Result<Self, SandboxError> {
        fs::create_dir_all(scratch).map_err(SandboxError::io("make the folder", scratch))?;
        let scratch = scratch
            .canonicalize()
            .map_err(SandboxError::io("find", scratch))?;
        let guardian = Guardian::start(&scratch).map_err(SandboxError::io("start a shell in", &scratch))?;
        Ok(Self {
            groups: HostCgroup::detect(),
            scratch: Arc::new(scratch),
            guardian: Arc::new(guardian),
        })
    }

    /// Gives up control groups.
    pub(in super::super) fn poll(&mut self) {
        self.groups = None;
    }

    /// The whole command line for `job`, with its private folders.
    fn argv(job: &Job, home: &Path, tmp: &Path, mark: &str) -> Vec<String> {
        let mut args = system::prlimit(job.limits.file_bytes);
        for (program, rest) in [
            ("setsid", &[][..]),
            ("setpriv", &["--pdeathsig", "KILL", "--"][..]),
        ] {
            if let Ok(path) = system::program(program) {
                args.push(path.display().to_string());
                args.extend(rest.iter().map(|arg| (*arg).to_owned()));
            }
        }
        args.extend(["/usr/bin/env", "-i"].map(str::to_owned));
        let own = ["HOME", "TMPDIR"];
        args.extend(
            job.env
                .iter()
                .filter(|(name, _)| !own.contains(&name.as_str()))
                .map(|(name, value)| format!("{name}={value}")),
        );
        args.push(format!("HOME={}", home.display()));
        args.push(format!("TMPDIR={}", tmp.display()));
        args.push(mark.to_owned());
        args.extend(job.argv.iter().cloned());
        args
    }

    /// Whether `job`'s program is there: without walls nobody else would tell a missing one from exit code 127.
    fn check(job: &Job) -> Result<(), SandboxError> {
        let program = job.argv.first().map_or("", String::as_str);
        let found = if program.contains('/') {
            job.cwd.join(program).is_file()
        } else {
            job.env
                .get("PATH")
                .is_some_and(|path| path.split(':').any(|dir| Path::new(dir).join(program).is_file()))
        };
        let missing = || SandboxError::Start {
            program: program.to_owned(),
            detail: "there is no such program".to_owned(),
        };
        if found { Ok(()) } else { Err(missing()) }
    }

    /// Runs `job`.
    pub(in super::super) async fn run(
        &self,
        job: &Job,
        cancel: &CancellationToken,
    ) -> Result<JobResult, SandboxError> {
        Self::check(job)?;
        let private: TempDir = tempfile::Builder::new()
            .prefix("job-")
            .tempdir_in(self.scratch.as_path())
            .map_err(SandboxError::io("make a folder in", self.scratch.as_path()))?;
        let (home, inner) = (private.path().join("home"), private.path().join("tmp"));
        for folder in [&home, &inner] {
            fs::create_dir(folder).map_err(SandboxError::io("make the folder", folder))?;
        }
        // A deep workspace leaves no room for a socket's address: then the system's own place has to do.
        let short = (inner.as_os_str().len() > LONGEST_TMPDIR)
            .then(|| tempfile::Builder::new().prefix("quarry-").tempdir_in("/tmp"))
            .transpose()
            .map_err(SandboxError::io("make a folder in", Path::new("/tmp")))?;
        let tmp = short.as_ref().map_or(inner.as_path(), TempDir::path);
        // The folder's random name makes the mark unlike any other job's.
        let mark = format!(
            "{MARK}={}",
            private.path().file_name().unwrap_or_default().display()
        );
        let launch = Launch {
            argv: Self::argv(job, &home, tmp, &mark),
            cwd: &job.cwd,
            opens_session: system::program("setsid").is_ok(),
            status: None,
            groups: self.groups.as_ref(),
            guardian: Some(&self.guardian),
            mark: Some(mark),
        };
        supervise(job, launch, cancel).await
    }
}
