//! The builder's insides: the steps of one build, their shared parts, and the ledger's record of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::project::Layer;
use super::resolve::Resolved;
use super::uv::Kit;
use super::{BuildRequest, Failure, SearchPaths};
use crate::build::error::BuildError;
use crate::build::index;
use crate::build::key::{environment_key, project_key};
use crate::build::lock::Lock;
use crate::build::python::Interpreter;
use crate::build::spec::{Spec, read_spec};
use crate::domain::advice::Advises;
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::environment::{Environment, RequirementsAfter};
use crate::domain::event::Event;
use crate::domain::ids::BlobId;
use crate::sandbox::Room;
use crate::workspace::Context;

/// What every clone of a builder shares.
pub(super) struct Inner {
    pub(super) context: Context,
    pub(super) room: Room,
    /// Runs what runs nobody's code.
    pub(super) host: Room,
    pub(super) kit: Kit,
    pub(super) search: SearchPaths,
    pub(super) interpreters: OnceLock<Vec<Interpreter>>,
    pub(super) layers: PathBuf,
    pub(super) scratch: PathBuf,
    pub(super) room_cache: PathBuf,
    pub(super) host_cache: PathBuf,
    /// What a base image's own interpreter unpacks, in the room: no project's build code sees it.
    pub(super) image_cache: PathBuf,
    pub(super) turns: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner")
            .field("layers", &self.layers)
            .field("uv", &self.kit.version)
            .finish_non_exhaustive()
    }
}

/// What a build's steps share.
pub(super) struct Work<'a> {
    pub(super) request: &'a BuildRequest,
    pub(super) interpreter: &'a Interpreter,
    pub(super) log: String,
}

/// What ends a build early.
#[derive(Debug)]
pub(super) enum Stop {
    Failed(Failure),
    /// The build tool knows no editable installs.
    NoEditable,
    Cancelled,
    Error(BuildError),
}

impl From<BuildError> for Stop {
    fn from(error: BuildError) -> Self {
        Self::Error(error)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// An attempt's result in the ledger: all that is needed to make the layers again, without resolving.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recorded {
    pub(super) environment: Environment,
    pub(super) sources: BTreeMap<String, Timestamp>,
}

impl Recorded {
    /// The same environment with today's recipe's name and reasons: words that change no built byte.
    pub(super) fn in_words_of(mut self, request: &BuildRequest) -> Self {
        let recipe = &request.recipe;
        self.environment.name.clone_from(&recipe.name);
        self.environment.constraints.clone_from(&recipe.constraints);
        self.environment.newer.clone_from(&recipe.newer);
        self.environment.left_out.clone_from(&recipe.left_out);
        let after = request.after.as_ref();
        self.environment.requirements_after = after.map(|after| RequirementsAfter {
            files: after.names().map(str::to_owned).collect(),
            reason: recipe.requirements_after.clone().unwrap_or_default(),
        });
        self
    }
}

impl Inner {
    pub(super) fn interpreters(&self) -> &[Interpreter] {
        self.interpreters.get_or_init(|| self.search.interpreters())
    }

    pub(super) async fn build(
        self: &Arc<Self>,
        work: &mut Work<'_>,
        input_key: &str,
        recorded: Option<&Recorded>,
    ) -> Result<(Recorded, PathBuf, PathBuf, Layer), Stop> {
        let spec = Self::spec(work)?;
        let (resolved, mut recorded) = if let Some(recorded) = recorded {
            (self.read_lock(recorded)?, recorded.clone())
        } else {
            work.log
                .extend(spec.notes.iter().map(|note| format!("# {note}\n")));
            if let Some(after) = &work.request.after {
                let names: Vec<_> = after.names().collect();
                let why = work.request.recipe.requirements_after.as_deref();
                let _ = writeln!(
                    work.log,
                    "# as the pull request leaves them: {} ({})",
                    names.join(", "),
                    why.unwrap_or_default()
                );
            }
            let resolved = self.resolve(work, &spec).await?;
            let recorded = self.describe(work, &resolved)?;
            (resolved, recorded)
        };
        recorded = recorded.in_words_of(work.request);
        let key = recorded.environment.key.clone();
        let deps = self.dependencies(work, &key, &resolved).await?;
        let key = project_key(input_key, &key, &self.room.identity());
        let (place, layer) = self.project(work, &key, &spec, &deps).await?;
        Ok((recorded, place, deps, layer))
    }

    /// The resolution that an earlier attempt recorded.
    fn read_lock(&self, recorded: &Recorded) -> Result<Resolved, BuildError> {
        let bytes = self
            .context
            .blobs
            .get(&recorded.environment.lock)
            .map_err(adapter)?;
        let lock = Lock::read(&String::from_utf8_lossy(&bytes)).map_err(|error| BuildError::Adapter {
            message: error.to_string(),
            hints: vec![],
        })?;
        Ok(Resolved {
            lock,
            sources: recorded.sources.clone(),
        })
    }

    fn spec(work: &Work<'_>) -> Result<Spec, Stop> {
        let recipe = &work.request.recipe;
        let read = |path: &str| work.request.packaging_file(path);
        read_spec(&recipe.install, &recipe.constraints, &read).map_err(|source| {
            if source.is_callers() {
                return Stop::Error(BuildError::Install {
                    environment: recipe.name.clone(),
                    source,
                });
            }
            let detail = index::without_hosts(&source.to_string());
            Failure::new(
                AttemptOutcome::Project,
                source.reason(),
                format!("failed to {detail}"),
            )
            .into()
        })
    }

    fn describe(&self, work: &Work<'_>, resolved: &Resolved) -> Result<Recorded, Stop> {
        let text = resolved.lock.to_text();
        let version = &work.interpreter.version;
        let date = work.request.base_date;
        let environment = Environment {
            key: environment_key(&work.interpreter.identity(), &text, &resolved.sources),
            name: String::new(),
            interpreter: version.to_string(),
            exclude_newer: date,
            lock: self.context.blobs.put(text.as_bytes()).map_err(adapter)?,
            resolver: self.kit.version.clone(),
            constraints: vec![],
            newer: vec![],
            left_out: vec![],
            requirements_after: None,
        };
        Ok(Recorded {
            environment,
            sources: resolved.sources.clone(),
        })
    }

    pub(super) fn record(
        &self,
        request: &BuildRequest,
        key: &str,
        outcome: Result<&Recorded, &Failure>,
        log: Option<BlobId>,
    ) -> Result<(), BuildError> {
        let attempt = Attempt {
            candidate: request.candidate.clone(),
            stage: Stage::Build,
            input_key: key.to_owned(),
            outcome: outcome.map_or_else(|failure| failure.outcome, |_| AttemptOutcome::Done),
            reason: outcome.map_or_else(|failure| failure.reason.clone(), |_| "ok".to_owned()),
            detail: outcome.map_or_else(|failure| failure.detail.clone(), |_| String::new()),
            log,
            result: outcome
                .ok()
                .and_then(|recorded| serde_json::to_value(recorded).ok()),
        };
        self.context.events.emit(Event::Attempted {
            candidate: request.candidate.to_string(),
            stage: Stage::Build,
            outcome: attempt.outcome,
            reason: attempt.reason.clone(),
        });
        self.context.store.append_attempt(attempt).map_err(adapter)
    }

    /// The lock by which one builder makes a layer while others wait for it.
    pub(super) fn turn(&self, key: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(key.to_owned()).or_default())
    }

    /// A fresh folder on the same file system as the layers, gone when dropped.
    pub(super) fn scratch(&self, name: &str) -> Result<TempDir, BuildError> {
        tempfile::Builder::new()
            .prefix(&format!("{name}-"))
            .tempdir_in(&self.scratch)
            .map_err(BuildError::io("make a folder in", &self.scratch))
    }

    /// Runs file work where it holds up no other task.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, BuildError> + Send + 'static,
    ) -> Result<T, BuildError> {
        let failed = |error: tokio::task::JoinError| BuildError::Adapter {
            message: error.to_string(),
            hints: vec![],
        };
        tokio::task::spawn_blocking(work).await.map_err(failed)?
    }
}

/// An adapter's error, with its words and hints.
#[expect(
    clippy::needless_pass_by_value,
    reason = "an error is handed over, as `map_err` does"
)]
pub(super) fn adapter<E: Advises>(error: E) -> BuildError {
    BuildError::Adapter {
        message: error.to_string(),
        hints: error.advice(),
    }
}
