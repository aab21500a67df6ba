//! The shell of building: one candidate in, an environment out, through the ledger.

mod dependencies;
mod furnish;
mod image;
mod inner;
mod interpreters;
mod project;
mod resolve;
mod settings;
mod tree;
mod uv;
mod venv;

#[cfg(test)]
pub(super) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use jiff::Timestamp;

pub use interpreters::SearchPaths;

use self::inner::{Inner, Recorded, Stop, Work, adapter};
use self::project::Layer;
use self::uv::Kit;
use super::after::PackagingAfter;
use super::error::BuildError;
use super::index;
use super::key::{BuildInputs, environment_key, input_key};
use super::python::{Interpreter, choose};
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::environment::Environment;
use crate::domain::ids::{BlobId, CandidateId, CommitSha};
use crate::domain::path::RepoPath;
use crate::recipe::model::EnvironmentRecipe;
use crate::recipe::python::PythonSpec;
use crate::sandbox::{LENT, Mount, Room, RoomKind, Toolchain};
use crate::workspace::Context;

/// Settings of building, read by the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildSettings {
    /// Where interpreters and uv are looked for.
    pub search: SearchPaths,
    /// The uv program, when it is not to be looked for.
    pub uv: Option<PathBuf>,
    /// Variables that builds see (and nothing else does): see [`index::build_env`].
    pub build_env: BTreeMap<String, String>,
}

impl BuildSettings {
    /// What a user's environment says.
    pub fn of(variables: &BTreeMap<String, String>) -> Self {
        let build_env = index::build_env(
            variables
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        Self {
            search: SearchPaths::of(variables),
            uv: None,
            build_env,
        }
    }
}

/// One candidate's build.
#[derive(Debug, Clone)]
pub struct BuildRequest {
    /// Whom it is for.
    pub candidate: CandidateId,
    /// The commit that is built.
    pub base_commit: CommitSha,
    /// Its committer date: dependencies are those an index had before it.
    pub base_date: Timestamp,
    /// The nearest release tag below it, if there is one.
    pub release: Option<String>,
    /// Its tree, exported; it is only read.
    pub tree: PathBuf,
    /// The recipe's entry that matches the candidate.
    pub recipe: EnvironmentRecipe,
    /// Packaging files that requirements are read and resolved from, in the place of the tree's own.
    pub after: Option<PackagingAfter>,
    /// Tries when the outside fails, at least 1.
    pub infra_tries: u32,
}

/// The interpreters of a room's base image, its own or lent, after making sure that uv runs there; `None` where the room
/// shows this machine's own system.
///
/// # Errors
/// [`BuildError::UvInImage`] when the image lacks something, and when there is no uv or the room cannot be used.
pub fn base_image(room: &Room, settings: &BuildSettings) -> Result<Option<Vec<Interpreter>>, BuildError> {
    let uv = settings.uv.clone().map_or_else(|| settings.search.uv(), Ok)?;
    image::look_into(room, &uv, &settings.search)
}

impl BuildRequest {
    /// A file that says what the tree requires.
    fn packaging_file(&self, path: &str) -> Option<Vec<u8>> {
        match self.after.as_ref().and_then(|after| after.get(path)) {
            Some(laid) => laid.map(<[u8]>::to_vec),
            None => tree::read(&self.tree, path),
        }
    }
}

/// How a build ended.
#[derive(Debug)]
pub enum BuildOutcome {
    /// There is an environment.
    Built(Box<Built>),
    /// There is none, and whose fault that is.
    Failed(Failure),
    /// The user asked to stop.
    Cancelled,
}

/// Why there is no environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// [`AttemptOutcome::Project`] or [`AttemptOutcome::Infra`].
    pub outcome: AttemptOutcome,
    /// A stable word (`resolve-failed`, `index-unreachable`).
    pub reason: String,
    /// A sentence.
    pub detail: String,
    /// The build's log.
    pub log: Option<BlobId>,
}

impl Failure {
    fn new(outcome: AttemptOutcome, reason: &str, detail: impl Into<String>) -> Self {
        Self {
            outcome,
            reason: reason.to_owned(),
            detail: detail.into(),
            log: None,
        }
    }
}

/// An environment, ready for jobs.
#[derive(Debug, Clone)]
pub struct Built {
    /// What a manifest says of it.
    pub environment: Environment,
    /// Files that installing left in the work tree (`src/requests.egg-info/PKG-INFO`, compiled modules).
    pub products: Vec<RepoPath>,
    /// The build's log; `None` when nothing had to be built.
    pub log: Option<BlobId>,
    interpreter: Interpreter,
    place: PathBuf,
    deps: PathBuf,
    layer: Layer,
    inner: Arc<Inner>,
    variables: BTreeMap<String, String>,
}

impl Built {
    /// The environment as a job sees it whose work tree is the host's folder `tree` (at
    /// [`TESTBED`](crate::sandbox::TESTBED) in a closed room). In the open room this makes a copy for that folder.
    ///
    /// # Errors
    /// [`BuildError::Io`] when that copy cannot be made.
    pub fn toolchain(&self, tree: &Path) -> Result<Toolchain, BuildError> {
        let env = match self.inner.room.kind() {
            RoomKind::None => {
                let copy = self.inner.scratch("env")?.keep().join("env");
                venv::relocate(&self.layer, &self.place.join("env"), &copy, tree)?;
                copy
            }
            RoomKind::Process | RoomKind::Docker => self.place.join("env"),
        };
        let lent = Path::new(LENT);
        let mut mounts = uv::interpreter_mounts(&self.interpreter);
        mounts.push(Mount::read_only(env, lent.join("env")));
        mounts.push(Mount::read_only(&self.deps, lent.join("deps")));
        let programs = self.inner.room.path(&mounts, lent.join("env/bin"));
        Ok(Toolchain {
            python: programs.join("python"),
            path_dirs: vec![programs],
            mounts,
            env: self.variables.clone(),
        })
    }

    /// The folders that hold it: the dependencies, shared, and the project's own layer.
    pub fn folders(&self) -> [&Path; 2] {
        [&self.deps, &self.place]
    }

    /// Lays what installing left in the work tree over another copy of it.
    ///
    /// # Errors
    /// [`BuildError::Io`] when a file cannot be written.
    pub fn lay_products(&self, tree: &Path) -> Result<(), BuildError> {
        tree::copy(&self.place.join("overlay"), tree).map_err(BuildError::io("write into", tree))
    }
}

/// Builds environments in one workspace and one room; cheap to clone, safe to use for many candidates at once.
#[derive(Debug, Clone)]
pub struct Builder {
    inner: Arc<Inner>,
}

impl Builder {
    /// A builder for jobs in `room`.
    ///
    /// # Errors
    /// [`BuildError`] when there is no usable uv or the workspace cannot be written.
    pub fn new(context: Context, room: Room, settings: BuildSettings) -> Result<Self, BuildError> {
        let uv = settings.uv.map_or_else(|| settings.search.uv(), Ok)?;
        let kit = Kit::find(uv, settings.build_env)?;
        let absolute = |path: &camino::Utf8Path| {
            std::path::absolute(path).map_err(BuildError::io("find", path.as_std_path()))
        };
        let state = absolute(&context.workspace.state())?;
        let inner = Inner {
            layers: absolute(&context.workspace.envs())?,
            scratch: absolute(&context.workspace.scratch())?,
            // Two caches: what a project's build code can write is never what is unpacked outside the room. And one for
            // the Docker room's user, who is somebody else.
            room_cache: state.join(match room.kind() {
                RoomKind::Docker => "uv/docker",
                RoomKind::Process | RoomKind::None => "uv/room",
            }),
            host_cache: state.join("uv/host"),
            image_cache: state.join("uv/image"),
            host: Room::detect(RoomKind::None, &absolute(&context.workspace.scratch())?).map_err(adapter)?,
            context,
            room,
            kit,
            search: settings.search,
            interpreters: OnceLock::new(),
            turns: Mutex::default(),
        };
        for folder in [
            &inner.layers,
            &inner.scratch,
            &inner.room_cache,
            &inner.host_cache,
            &inner.image_cache,
        ] {
            std::fs::create_dir_all(folder).map_err(BuildError::io("make the folder", folder))?;
        }
        if let Some(found) = image::look_into(&inner.room, &inner.kit.uv, &inner.search)? {
            let _ = inner.interpreters.set(found);
        }
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The interpreters that environments are made for, in search order: this machine's, or a base image's own.
    pub fn interpreters(&self) -> &[Interpreter] {
        self.inner.interpreters()
    }

    /// The resolver and its version (`uv 0.13.9`).
    pub fn resolver(&self) -> &str {
        &self.inner.kit.version
    }

    /// Chooses the interpreter for a recipe's entry.
    ///
    /// # Errors
    /// [`BuildError`] when `python` is no version or no interpreter will do: the caller's errors.
    pub fn interpreter(&self, recipe: &EnvironmentRecipe) -> Result<&Interpreter, BuildError> {
        let environment = || recipe.name.clone();
        let wanted: PythonSpec = recipe.python.parse().map_err(|source| BuildError::BadPython {
            environment: environment(),
            source,
        })?;
        let found = self.interpreters();
        choose(&wanted, found).ok_or_else(|| {
            let versions: BTreeSet<String> = found.iter().map(|python| python.version.to_string()).collect();
            let versions: Vec<String> = versions.into_iter().collect();
            let found = if versions.is_empty() {
                "none".to_owned()
            } else {
                versions.join(", ")
            };
            BuildError::NoInterpreter {
                environment: environment(),
                wanted: wanted.to_string(),
                found,
            }
        })
    }

    /// The key of a candidate's build attempt.
    ///
    /// # Errors
    /// As [`Builder::interpreter`].
    pub fn input_key(&self, request: &BuildRequest) -> Result<String, BuildError> {
        Ok(input_key(&BuildInputs {
            base_commit: request.base_commit,
            base_date: request.base_date,
            release: request.release.as_deref(),
            recipe: &request.recipe,
            interpreter: &self.interpreter(&request.recipe)?.identity(),
            after: request.after.as_ref(),
        }))
    }

    /// What the ledger says of this build: an environment or the project's own fault; `None` when it is still to be done
    /// or only the outside failed. Nothing is built.
    ///
    /// # Errors
    /// As [`Builder::interpreter`], and when the ledger cannot be read.
    pub fn recorded(
        &self,
        request: &BuildRequest,
    ) -> Result<Option<Result<Environment, Failure>>, BuildError> {
        let finished = self.finished(request, &self.input_key(request)?)?;
        Ok(finished.map(|finished| finished.map(|recorded| recorded.in_words_of(request).environment)))
    }

    fn finished(
        &self,
        request: &BuildRequest,
        key: &str,
    ) -> Result<Option<Result<Recorded, Failure>>, BuildError> {
        let attempts = self
            .inner
            .context
            .store
            .attempts(Some(Stage::Build), Some(&request.candidate));
        let finished = attempts
            .map_err(adapter)?
            .into_iter()
            .rfind(|attempt| attempt.input_key == key && attempt.outcome != AttemptOutcome::Infra);
        Ok(match finished {
            Some(Attempt {
                outcome: AttemptOutcome::Project,
                reason,
                detail,
                log,
                ..
            }) => Some(Err(Failure {
                outcome: AttemptOutcome::Project,
                reason,
                detail,
                log,
            })),
            Some(Attempt {
                result: Some(result), ..
            }) => serde_json::from_value::<Recorded>(result).ok().map(Ok),
            _ => None,
        })
    }

    /// Takes over an environment that another workspace resolved, so that it is built of this lock and nothing is resolved.
    /// Says whether that can be: not where distributions are built from source by tools of a day, nor with another
    /// interpreter, for its key tells of these, too.
    ///
    /// # Errors
    /// As [`Builder::interpreter`], and when the ledger or the blobs cannot be used.
    pub fn adopt(
        &self,
        request: &BuildRequest,
        key: &str,
        lock: &[u8],
        resolver: &str,
    ) -> Result<bool, BuildError> {
        let interpreter = self.interpreter(&request.recipe)?;
        let input = self.input_key(request)?;
        let sources = BTreeMap::new();
        let text = String::from_utf8_lossy(lock);
        if environment_key(&interpreter.identity(), &text, &sources) != key {
            return Ok(false);
        }
        if self.finished(request, &input)?.is_none() {
            let environment = Environment {
                key: key.to_owned(),
                name: String::new(),
                interpreter: interpreter.version.to_string(),
                exclude_newer: request.base_date,
                lock: self.inner.context.blobs.put(lock).map_err(adapter)?,
                resolver: resolver.to_owned(),
                constraints: vec![],
                newer: vec![],
                left_out: vec![],
                requirements_after: None,
            };
            let recorded = Recorded { environment, sources };
            self.inner.record(request, &input, Ok(&recorded), None)?;
        }
        Ok(true)
    }

    /// Gives a candidate its environment: from the ledger and the layers on disk where they are, else by building.
    /// Attempts and their logs go into the ledger; infra outcomes are tried again up to the request's cap.
    ///
    /// # Errors
    /// Errors of ours or the caller's; what is the candidate's or the outside's fault is an outcome.
    pub async fn build_for(&self, request: &BuildRequest) -> Result<BuildOutcome, BuildError> {
        let interpreter = self.interpreter(&request.recipe)?;
        let key = self.input_key(request)?;
        let recorded = match self.finished(request, &key)? {
            Some(Err(failure)) => return Ok(BuildOutcome::Failed(failure)),
            Some(Ok(recorded)) => Some(recorded),
            None => None,
        };
        let tries = request.infra_tries.max(1);
        for number in 1.. {
            let mut work = Work {
                request,
                interpreter,
                log: String::new(),
            };
            let outcome = self.inner.build(&mut work, &key, recorded.as_ref()).await;
            let log = match work.log.as_str() {
                "" => None,
                log => Some(self.inner.context.blobs.put(log.as_bytes()).map_err(adapter)?),
            };
            let failure = match outcome {
                Ok((recorded_now, place, deps, layer)) => {
                    if log.is_some() || recorded.is_none() {
                        self.inner.record(request, &key, Ok(&recorded_now), log.clone())?;
                    }
                    return Ok(BuildOutcome::Built(Box::new(Built {
                        environment: recorded_now.environment,
                        products: layer.products.clone(),
                        log,
                        interpreter: interpreter.clone(),
                        place,
                        deps,
                        layer,
                        inner: Arc::clone(&self.inner),
                        variables: request.recipe.env.clone(),
                    })));
                }
                Err(Stop::Failed(failure)) => Failure {
                    log: log.clone(),
                    ..failure
                },
                Err(Stop::NoEditable) => Failure {
                    log: log.clone(),
                    ..Failure::new(
                        AttemptOutcome::Project,
                        "no-editable-install",
                        "its build tool knows none",
                    )
                },
                Err(Stop::Cancelled) => return Ok(BuildOutcome::Cancelled),
                Err(Stop::Error(error)) => match error.outside_reason() {
                    None => return Err(error),
                    Some(reason) => Failure {
                        log: log.clone(),
                        ..Failure::new(AttemptOutcome::Infra, reason, format!("failed to {error}"))
                    },
                },
            };
            self.inner.record(request, &key, Err(&failure), log)?;
            if failure.outcome == AttemptOutcome::Project || number >= tries {
                return Ok(BuildOutcome::Failed(failure));
            }
            tokio::select! {
                () = self.inner.context.cancel.cancelled() => return Ok(BuildOutcome::Cancelled),
                () = tokio::time::sleep(Duration::from_secs(2_u64.saturating_pow(number.min(6)))) => {}
            }
        }
        Ok(BuildOutcome::Cancelled)
    }
}
