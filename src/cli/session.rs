//! What a verb runs in: the workspace with its lock, the watcher, and Ctrl-C.

use std::io::IsTerminal as _;
use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::args::Global;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::output::must_be_no_address;
use super::printer::Printer;
use crate::domain::event::{EventSink, Silent};
use crate::progress::{Human, JsonLines};
use crate::store::Store;
use crate::workspace::{Context, Workspace, WorkspaceError, WorkspaceLock};

/// The global options, settled.
#[derive(Clone)]
pub struct Session {
    /// The current folder: where relative names start from.
    pub here: Utf8PathBuf,
    /// Where the workspace is.
    pub workspace: Workspace,
    /// Whether the command line names it.
    pub is_named: bool,
    /// The workspace that this command made, if it made one.
    pub made: Arc<OnceLock<Workspace>>,
    /// Where results go.
    pub printer: Printer,
    /// Who watches.
    pub events: Arc<dyn EventSink>,
    /// Cancelled by the first Ctrl-C.
    pub cancel: CancellationToken,
    /// How many things to do at once.
    pub jobs: usize,
}

impl Session {
    /// Settles the global options.
    ///
    /// # Errors
    /// [`CliError`] when the current folder has no name that is text.
    pub fn new(global: &Global) -> Result<Self, CliError> {
        let here = std::env::current_dir()
            .ok()
            .and_then(|here| Utf8PathBuf::from_path_buf(here).ok())
            .ok_or_else(|| {
                CliError::usage(
                    "read the current folder's name as UTF-8",
                    vec!["change to a folder whose whole path is UTF-8".into()],
                )
            })?;
        let workspace = match &global.workspace {
            // Absolute, so that every path below it may be handed to programs that run elsewhere.
            Some(folder) => {
                must_be_no_address(folder.as_std_path())?;
                Workspace::at(here.join(folder))
            }
            None => Workspace::find(&here).unwrap_or_else(|| Workspace::at(&here)),
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            here,
            workspace,
            is_named: global.workspace.is_some(),
            made: Arc::default(),
            printer: Printer {
                json: global.json,
                quiet: global.quiet,
            },
            events: sink(global),
            cancel: CancellationToken::new(),
            jobs: global.jobs.map_or(cores, usize::from),
        })
    }

    /// Opens the workspace for writing: folders, lock, ledger. It is made when it is not there.
    ///
    /// # Errors
    /// [`CliError`] when another process holds it, or it cannot be written.
    pub fn open(&self) -> Result<(Context, WorkspaceLock), CliError> {
        if !self.workspace.state().exists() {
            let _ = self.made.set(self.workspace.clone());
        }
        let (context, lock) = Context::open(&self.workspace)?;
        Ok((self.watched(context), lock))
    }

    /// Opens the workspace for writing, where there is one.
    ///
    /// # Errors
    /// [`CliError`] as [`Session::open`], and when there is none.
    pub fn open_existing(&self) -> Result<(Context, WorkspaceLock), CliError> {
        if !self.workspace.state().is_dir() {
            let root = self.workspace.root().to_owned();
            return Err(WorkspaceError::None { root }.into());
        }
        self.open()
    }

    /// After a command that failed: removes the workspace that it made, if nothing is recorded in it. It would be in the way
    /// of the next command's search for one.
    pub fn tidy(&self) {
        let Some(made) = self.made.get() else {
            return;
        };
        let is_blank = match Store::open_read_only(&made.ledger()) {
            Ok(store) => {
                store.candidates(None).is_ok_and(|found| found.is_empty())
                    && store.cursors("").is_ok_and(|found| found.is_empty())
                    && store.tried().is_ok_and(|found| found.is_empty())
            }
            Err(_) => !made.ledger().exists(),
        };
        if is_blank {
            let _ = std::fs::remove_dir_all(made.state());
        }
    }

    /// The session for what only looks: in the workspace, or, where there is none, in a folder that goes when it is dropped.
    ///
    /// # Errors
    /// [`CliError`] when there is no place for that folder.
    pub fn looking(&self) -> Result<(Self, Option<tempfile::TempDir>), CliError> {
        if self.workspace.state().is_dir() {
            return Ok((self.clone(), None));
        }
        let fail = |error: &dyn std::fmt::Display| {
            let hint = "check that the folder of temporary files can be written".to_owned();
            CliError::machine(format!("make a folder to look in: {error}"), vec![hint])
        };
        let folder = tempfile::tempdir().map_err(|error| fail(&error))?;
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned())
            .map_err(|path| fail(&format!("`{}` is not UTF-8", path.display())))?;
        let session = Self {
            workspace: Workspace::at(root),
            made: Arc::default(),
            ..self.clone()
        };
        Ok((session, Some(folder)))
    }

    /// The session for a version: the command line's workspace, else the one that the version lies in, else the one here.
    #[must_use]
    pub fn of_version(&self, version: &Utf8Path) -> Self {
        let whole = version
            .canonicalize_utf8()
            .unwrap_or_else(|_| self.here.join(version));
        let found = if self.is_named {
            None
        } else {
            Workspace::find(&whole)
        };
        Self {
            workspace: found.unwrap_or_else(|| self.workspace.clone()),
            ..self.clone()
        }
    }

    /// Opens the workspace for reading, beside whatever writes in it.
    ///
    /// # Errors
    /// [`CliError`] when there is no workspace or its ledger cannot be read.
    pub fn open_read_only(&self) -> Result<Context, CliError> {
        Ok(self.watched(Context::open_read_only(&self.workspace)?))
    }

    fn watched(&self, context: Context) -> Context {
        Context {
            events: Arc::clone(&self.events),
            cancel: self.cancel.clone(),
            jobs: self.jobs,
            ..context
        }
    }
}

fn sink(global: &Global) -> Arc<dyn EventSink> {
    if global.json {
        if global.verbose > 0 {
            Arc::new(JsonLines::new(std::io::stderr()))
        } else {
            Arc::new(Silent)
        }
    } else {
        let verbosity = if global.quiet {
            -1
        } else {
            i8::try_from(global.verbose).unwrap_or(i8::MAX)
        };
        Arc::new(Human::new(
            std::io::stderr().is_terminal() && !global.no_progress,
            verbosity,
        ))
    }
}

/// Listens for Ctrl-C (and for SIGTERM and SIGHUP, which count as one): the first asks running work to finish and begins
/// nothing new; the second ends the process, and with it every sandbox it started.
pub fn listen(cancel: CancellationToken, printer: Printer) {
    tokio::spawn(async move {
        let mut signals = Signals::new();
        signals.wait().await;
        cancel.cancel();
        printer.note("stopping: what runs is finished and recorded; press Ctrl-C again to stop at once");
        signals.wait().await;
        printer.note("stopped; run the same command again to go on");
        std::process::exit(ExitCode::Interrupted as i32);
    });
}

/// What asks this process to stop. Kept for the whole life: a signal between two waits is not lost.
struct Signals(Vec<Signal>);

impl Signals {
    fn new() -> Self {
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        if !ignores_hangup() {
            kinds.push(SignalKind::hangup());
        }
        Self(kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    async fn wait(&mut self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        let waits = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures::future::select_all(waits).await;
    }
}

/// Whether whoever started us wants us to outlive the terminal (`nohup`): listening would undo that.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}
