//! A version and predictions → what their tests say, in the very environments that made the oracles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::brake::{Brake, WORKSPACE};
use super::error::PipelineError;
use super::prove::{Means, Prover};
use super::run::Settings;
use super::source::sources_of;
use super::version::{Version, candidate_of};
use crate::build::run::BuildOutcome;
use crate::domain::candidate::Candidate;
use crate::domain::event::Event;
use crate::domain::ids::InstanceId;
use crate::domain::patch::Part;
use crate::emit::instance::{Instance, PatchField};
use crate::evaluate::outcome::{About, Unrun, outcome, unrun};
use crate::evaluate::predictions::{Prediction, Settled, settle};
use crate::evaluate::report::{Beside, Conditions, Kind, Parts, Report};
use crate::evaluate::result::{Outcome as Judged, Run};
use crate::evaluate::run::{Evaluator, Request as RunRequest, Subject};
use crate::mine::split::Splitter;
use crate::recipe::model::EnvironmentRecipe;
use crate::sandbox::Room;
use crate::workspace::Context;

/// What is evaluated.
#[derive(Debug, Clone)]
pub enum What {
    /// Predictions that were read from a place, of this model where several are there.
    Predictions {
        /// The file or folder.
        file: String,
        /// All of them.
        all: Vec<Prediction>,
        /// The model.
        model: Option<String>,
    },
    /// The gold patches.
    Gold,
    /// The empty patch.
    Null,
}

/// What an evaluation is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is evaluated.
    pub what: What,
    /// Only these instances; all, when empty.
    pub only: Vec<InstanceId>,
    /// Runs of each prediction, at least 1.
    pub runs: u32,
    /// Lines of context that a hunk may lack.
    pub fuzz: u8,
    /// Whether what the ledger knows is run again.
    pub again: bool,
    /// Whether outcomes of class infra count as not resolved.
    pub count_infra: bool,
    /// The split that each instance is in.
    pub splits: BTreeMap<InstanceId, String>,
    /// Where tests run, and with what.
    pub settings: Settings,
}

/// How it ended.
#[derive(Debug)]
pub enum Outcome {
    /// Every instance has its class.
    Done(Box<Report>),
    /// The user asked to stop; runs that were finished are recorded.
    Interrupted,
}

/// Evaluates.
///
/// # Errors
/// Errors of ours or the caller's, and what the machine lacks.
pub async fn run(context: &Context, version: &Version, request: Request) -> Result<Outcome, PipelineError> {
    let rows = chosen(version, &request.only)?;
    let known: BTreeSet<InstanceId> = rows.iter().map(|row| row.instance_id.clone()).collect();
    let (kind, settled) = match request.what {
        What::Predictions { file, all, model } => {
            let settled =
                settle(&file, all, &known, model.as_deref()).map_err(crate::evaluate::EvaluateError::from)?;
            (Kind::Predictions, settled)
        }
        What::Gold => (Kind::Gold, named("gold")),
        What::Null => (Kind::Null, named("null")),
    };
    let recipe = &version.loaded.recipe;
    let splitter = Splitter::new(&recipe.split)?;
    let sources = sources_of(context, recipe)?;
    let mut docker = request.settings.docker;
    docker.workspace = context.workspace.root().to_string();
    let room = Room::open(
        request.settings.room,
        &docker,
        context.workspace.scratch().as_std_path(),
    )?;
    let room_name = room.identity();
    let evaluator = Evaluator::new(context.clone(), room.clone(), request.fuzz, request.again)?;
    let prover = Prover::new(
        context,
        recipe,
        &splitter,
        &sources,
        Means {
            room,
            build: request.settings.build,
            only_recorded: true,
            min_free_bytes: request.settings.min_free_bytes,
        },
    )?;
    let judge = Judge {
        prover,
        evaluator,
        brake: Brake::new(
            vec![(context.workspace.root().into(), WORKSPACE)],
            request.settings.min_free_bytes,
        ),
        runs: request.runs.max(1),
        kind,
        settled: &settled,
        splits: &request.splits,
    };
    let events = &context.events;
    events.emit(Event::StageStarted {
        stage: "evaluate",
        unit: "instances",
        total: rows.len() as u64,
    });
    let outcomes: Vec<Option<Judged>> = stream::iter(&rows)
        .map(|row| async {
            let outcome = judge.one(row).await;
            events.emit(Event::Advanced {
                stage: "evaluate",
                by: 1,
            });
            outcome
        })
        .buffer_unordered(context.jobs)
        .try_collect()
        .await?;
    if let Some(halt) = judge.brake.why() {
        return Err(PipelineError::Halted(halt.clone()));
    }
    let whole = outcomes.len();
    let outcomes: Vec<Judged> = outcomes.into_iter().flatten().collect();
    if outcomes.len() < whole {
        return Ok(Outcome::Interrupted);
    }
    let report = Report::new(Parts {
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: version.manifest.dataset.name.clone(),
        version: version.manifest.dataset.version.clone(),
        kind,
        model: settled.model.clone(),
        conditions: Conditions {
            runs: judge.runs,
            fuzz: request.fuzz,
            count_infra: request.count_infra,
            room: room_name,
        },
        beside: Beside {
            unknown: settled.unknown.clone(),
            replaced: settled.replaced.clone(),
            missing: settled.missing.clone(),
            empty: settled.empty.clone(),
        },
        outcomes,
    });
    events.emit(Event::StageFinished {
        stage: "evaluate",
        note: format!("{} of {whole} resolved", report.scores.success.numerator),
    });
    Ok(Outcome::Done(Box::new(report)))
}

fn named(model: &str) -> Settled {
    Settled {
        model: model.to_owned(),
        ..Settled::default()
    }
}

fn chosen<'a>(version: &'a Version, only: &[InstanceId]) -> Result<Vec<&'a Instance>, PipelineError> {
    for id in only {
        if !version.instances.iter().any(|row| row.instance_id == *id) {
            return Err(crate::evaluate::EvaluateError::NoInstance {
                id: id.clone(),
                dataset: version.manifest.dataset.name.clone(),
            }
            .into());
        }
    }
    let wanted = |row: &&Instance| only.is_empty() || only.contains(&row.instance_id);
    Ok(version.instances.iter().filter(wanted).collect())
}

struct Judge<'a> {
    prover: Prover<'a>,
    evaluator: Evaluator,
    brake: Brake,
    runs: u32,
    kind: Kind,
    settled: &'a Settled,
    splits: &'a BTreeMap<InstanceId, String>,
}

/// An instance and what its environment is.
struct Known {
    candidate: Candidate,
    recipe: EnvironmentRecipe,
    subject: Subject,
}

impl Judge<'_> {
    /// One instance's outcome; `None` when it was stopped.
    async fn one(&self, row: &Instance) -> Result<Option<Judged>, PipelineError> {
        let gold = bytes(row, PatchField::Patch);
        let repo = row.repo.to_string();
        let month: String = row.merged_at.to_string().chars().take("YYYY-MM".len()).collect();
        let about = About {
            id: &row.instance_id,
            repo: &repo,
            month: &month,
            split: self.splits.get(&row.instance_id).map(String::as_str),
            fail_to_pass: &row.fail_to_pass,
            pass_to_pass: &row.pass_to_pass,
            gold: &gold,
        };
        let prediction = self.settled.predictions.get(&row.instance_id);
        let patch = match (self.kind, prediction) {
            (Kind::Gold, _) => gold.clone(),
            (Kind::Null, _) => vec![],
            (Kind::Predictions, None) => return Ok(Some(unrun(&about, Unrun::Missing, None))),
            (Kind::Predictions, Some(prediction)) if prediction.is_empty() => {
                return Ok(Some(unrun(&about, Unrun::Empty, Some(prediction))));
            }
            (Kind::Predictions, Some(prediction)) => prediction.patch.clone(),
        };
        let runs = self.runs(row, &gold, &patch).await?;
        Ok(runs.map(|runs| outcome(&about, &patch, prediction, &runs)))
    }

    /// What the patch's runs show; `None` when it was stopped.
    async fn runs(
        &self,
        row: &Instance,
        gold: &[u8],
        patch: &[u8],
    ) -> Result<Option<Vec<Run>>, PipelineError> {
        let Some(known) = self.known(row, gold)? else {
            let detail = format!(
                "the workspace does not know the environment `{}`",
                row.environment
            );
            return Ok(Some(vec![infra("no-environment", detail)]));
        };
        if let Some(runs) = self.evaluator.recorded(&known.subject, patch, self.runs)? {
            return Ok(Some(runs));
        }
        let context = self.prover.context;
        if context.cancel.is_cancelled() || !self.brake.admits() {
            return Ok(None);
        }
        let work = self.prover.work_folder("evaluate-")?;
        let request = self
            .prover
            .build_request(&known.candidate, &known.recipe, work.path().join("tree"))?;
        self.prover.export(&known.candidate, &request.tree).await?;
        let built = match self.prover.builder.build_for(&request).await? {
            BuildOutcome::Built(built) => built,
            BuildOutcome::Failed(failure) => {
                return Ok(Some(vec![infra(&failure.reason, failure.detail)]));
            }
            BuildOutcome::Cancelled => return Ok(None),
        };
        if built.environment.key != row.environment {
            let detail = format!(
                "it is built as `{}`, not as `{}`",
                built.environment.key, row.environment
            );
            return Ok(Some(vec![infra("other-environment", detail)]));
        }
        let request = RunRequest {
            subject: known.subject,
            tree: request.tree,
            environment: Arc::new(*built),
            objects: self.prover.mirror(&known.candidate)?.join("objects"),
        };
        Ok(self.evaluator.run(&request, patch, self.runs).await?)
    }

    /// What the workspace knows of the instance, if it was verified there.
    fn known(&self, row: &Instance, gold: &[u8]) -> Result<Option<Known>, PipelineError> {
        let id = candidate_of(row);
        let Some(candidate) = self.prover.context.store.candidate(&id)? else {
            return Ok(None);
        };
        let Some(recipe) = self.prover.environment_of(row, &candidate)? else {
            return Ok(None);
        };
        let touched = row.splits.iter().filter(|file| file.part == Some(Part::Test));
        let subject = Subject {
            candidate: id,
            base_commit: row.base_commit,
            test: bytes(row, PatchField::TestPatch),
            gold: gold.to_vec(),
            touched: touched.map(|file| file.path.clone()).collect(),
            scope: row.scope,
            fail_to_pass: row.fail_to_pass.clone(),
            pass_to_pass: row.pass_to_pass.clone(),
            environment_key: row.environment.clone(),
            variables: recipe.env.clone(),
            settings: recipe.verification(&self.prover.recipe.verification),
        };
        Ok(Some(Known {
            candidate,
            recipe,
            subject,
        }))
    }
}

/// A patch's bytes; the version was found sound.
fn bytes(row: &Instance, field: PatchField) -> Vec<u8> {
    row.patch_bytes(field).unwrap_or_default()
}

fn infra(reason: &str, detail: String) -> Run {
    Run {
        result: None,
        reason: reason.to_owned(),
        detail,
        log: None,
    }
}
