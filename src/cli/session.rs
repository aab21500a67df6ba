//! What a verb runs in: the workspace with its lock, the watcher, and Ctrl-C.

use std::io::IsTerminal as _;
use std::sync::Arc;

use camino::Utf8PathBuf;
use tokio_util::sync::CancellationToken;

use super::args::Global;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::printer::Printer;
use crate::domain::event::{EventSink, Silent};
use crate::progress::{Human, JsonLines};
use crate::workspace::{Context, Workspace, WorkspaceLock};

/// The global options, settled.
#[derive(Clone)]
pub struct Session {
    /// The current folder: where relative names start from.
    pub here: Utf8PathBuf,
    /// Where the workspace is.
    pub workspace: Workspace,
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
            Some(folder) => Workspace::at(here.join(folder)),
            None => Workspace::find(&here).unwrap_or_else(|| Workspace::at(&here)),
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            here,
            workspace,
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
        let (context, lock) = Context::open(&self.workspace)?;
        Ok((self.watched(context), lock))
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

/// Listens for Ctrl-C (and SIGTERM, which counts as one): the first asks running work to finish and begins nothing
/// new; the second ends the process, and with it every sandbox it started.
pub fn listen(cancel: CancellationToken, printer: Printer) {
    tokio::spawn(async move {
        wait_for_signal().await;
        cancel.cancel();
        printer.note("stopping: what runs is finished and recorded; press Ctrl-C again to stop at once");
        wait_for_signal().await;
        printer.note("stopped; run the same command again to go on");
        std::process::exit(ExitCode::Interrupted as i32);
    });
}

async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}
