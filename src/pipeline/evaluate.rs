//! A version and predictions → what their tests say, in the very environments that made the oracles: as they were built in this
//! workspace, or built again of the version's locks in another one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::brake::{Brake, WORKSPACE};
use super::error::PipelineError;
use super::prove::{Means, Prover};
use super::run::Settings;
use super::source::sources_of;
use super::version::{Placed, Version, candidate_of};
use crate::build::run::BuildOutcome;
use crate::domain::candidate::Candidate;
use crate::domain::event::Event;
use crate::domain::ids::InstanceId;
use crate::domain::patch::Part;
use crate::emit::instance::{Instance, PatchField};
use crate::evaluate::outcome::{About, Unrun, outcome, unrun};
use crate::evaluate::predictions::{Prediction, Settled, settle};
use crate::evaluate::report::{Beside, Conditions, Kind, Parts, Report, folder_name};
use crate::evaluate::result::{Outcome as Judged, Run};
use crate::evaluate::run::{Evaluator, Request as RunRequest, Subject};
use crate::evaluate::swebench;
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

/// What is evaluated, settled against a version: known before anything is opened or run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What is evaluated.
    pub kind: Kind,
    /// Only these instances, by id; all, when empty.
    pub only: Vec<InstanceId>,
    settled: Settled,
}

impl Plan {
    /// The model: `gold` and `null` for these.
    pub fn model(&self) -> &str {
        &self.settled.model
    }

    /// The name of its folder beside those of other evaluations of the version.
    pub fn folder_name(&self) -> String {
        folder_name(self.kind, self.model(), &self.only)
    }
}

/// Settles what is evaluated.
///
/// # Errors
/// When the version has not an instance that is asked for, or there are no predictions of one model for its instances.
pub fn plan(version: &Version, what: What, only: &[InstanceId]) -> Result<Plan, PipelineError> {
    let rows = chosen(version, only)?;
    let known: BTreeSet<InstanceId> = rows.iter().map(|row| row.instance_id.clone()).collect();
    let (kind, settled) = match what {
        What::Predictions { file, mut all, model } => {
            // What is for another instance of the version is not asked for, and no fault.
            let is_beside = |id: &InstanceId| {
                !known.contains(id) && version.instances.iter().any(|row| row.instance_id == *id)
            };
            if all.iter().any(|one| known.contains(&one.instance)) {
                all.retain(|one| !is_beside(&one.instance));
            }
            let settled =
                settle(&file, all, &known, model.as_deref()).map_err(crate::evaluate::EvaluateError::from)?;
            (Kind::Predictions, settled)
        }
        What::Gold => (Kind::Gold, named("gold")),
        What::Null => (Kind::Null, named("null")),
    };
    let only: BTreeSet<InstanceId> = only.iter().cloned().collect();
    Ok(Plan {
        kind,
        only: only.into_iter().collect(),
        settled,
    })
}

/// What an evaluation is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is evaluated.
    pub plan: Plan,
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

/// An evaluation that came to its end.
#[derive(Debug)]
pub struct Done {
    /// What it found.
    pub report: Report,
    /// The patch of every instance that has one.
    pub patches: BTreeMap<InstanceId, Vec<u8>>,
}

impl Done {
    /// The files that SWE-bench's harness would have left of this evaluation, by their names below a folder that its
    /// programs are started in.
    pub fn swebench_logs(&self, version: &Version) -> swebench::Logs {
        let rows: BTreeMap<&InstanceId, &Instance> = version
            .instances
            .iter()
            .map(|row| (&row.instance_id, row))
            .collect();
        let judged = self.report.outcomes.iter().filter_map(|outcome| {
            let row = rows.get(&outcome.instance_id)?;
            Some(swebench::Judged {
                outcome,
                patch: self.patches.get(&outcome.instance_id).map(Vec::as_slice),
                fail_to_pass: &row.fail_to_pass,
                pass_to_pass: &row.pass_to_pass,
            })
        });
        let run = format!("{}-{}", self.report.dataset, self.report.version);
        swebench::logs(&run, &self.report.model, judged)
    }
}

/// How it ended.
#[derive(Debug)]
pub enum Outcome {
    /// Every instance has its class.
    Done(Box<Done>),
    /// The user asked to stop; runs that were finished are recorded.
    Interrupted,
}

/// Evaluates.
///
/// # Errors
/// Errors of ours or the caller's, and what the machine lacks.
pub async fn run(context: &Context, version: &Version, request: Request) -> Result<Outcome, PipelineError> {
    let Plan { kind, only, settled } = request.plan;
    let rows = chosen(version, &only)?;
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
        version,
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
            only,
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
    let patches = rows.iter().filter_map(|row| {
        let patch = match kind {
            Kind::Gold => bytes(row, PatchField::Patch),
            Kind::Null => vec![],
            Kind::Predictions => settled.predictions.get(&row.instance_id)?.patch.clone(),
        };
        Some((row.instance_id.clone(), patch))
    });
    Ok(Outcome::Done(Box::new(Done {
        patches: patches.collect(),
        report,
    })))
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
    version: &'a Version,
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
        // Nobody knows when an imported row's change was merged.
        let month = row.merged_at.map_or_else(
            || "unknown".to_owned(),
            |merged| merged.to_string().chars().take("YYYY-MM".len()).collect(),
        );
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
        let known = match self.known(row, gold)? {
            Ok(known) => known,
            Err((reason, detail)) => return Ok(Some(vec![infra(reason, detail)])),
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
        if built.environment.key != known.subject.environment_key {
            let detail = format!(
                "it is built as `{}`, not as `{}`",
                built.environment.key, known.subject.environment_key
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

    /// The instance's candidate and its environment; else why it cannot be evaluated here, in a word and a sentence.
    fn known(
        &self,
        row: &Instance,
        gold: &[u8],
    ) -> Result<Result<Known, (&'static str, String)>, PipelineError> {
        let id = candidate_of(row);
        let Some(candidate) = self.prover.context.store.candidate(&id)? else {
            let detail = format!(
                "the workspace has read no mirror of {} with this pull request: `--mirror` names one",
                row.repo
            );
            return Ok(Err(("no-mirror", detail)));
        };
        if candidate.base_commit != row.base_commit {
            let detail = format!(
                "its base commit is {}, and the mirror here says {}",
                row.base_commit, candidate.base_commit
            );
            return Ok(Err(("other-base", detail)));
        }
        let Placed { recipe, key } = match self.prover.place_of(self.version, row, &candidate)? {
            Ok(placed) => placed,
            Err(detail) => return Ok(Err(("no-environment", detail))),
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
            environment_key: key,
            variables: recipe.env.clone(),
            settings: recipe.verification(&self.prover.recipe.verification),
        };
        Ok(Ok(Known {
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
