//! A recipe's whole run, or its middle part on what was mined before.

use std::collections::{BTreeMap, BTreeSet};

use super::error::PipelineError;
use super::prove::{Means, Proof, Prover};
use super::publish::publish;
use super::report::RunReport;
use super::select::{Field, ask, field};
use super::source::MinedSource;
use super::vary::{Variety, vary};
use crate::build::run::BuildSettings;
use crate::domain::attempt::AttemptOutcome;
use crate::domain::event::Event;
use crate::domain::ids::CandidateId;
use crate::emit::manifest::{FunnelStep, StepKind};
use crate::emit::versions::Release;
use crate::filter::FunnelLine;
use crate::filter::run::Selection;
use crate::recipe::LoadedRecipe;
use crate::sandbox::{DockerSettings, Room, RoomKind};
use crate::workspace::Context;

/// What a run needs to be told beside the recipe.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Only these pull requests; all, when empty. A run of some emits nothing.
    pub only: Vec<CandidateId>,
    /// Where installs and tests run.
    pub room: RoomKind,
    /// The Docker room's daemon.
    pub docker: DockerSettings,
    /// No work begins while less is free, in bytes, on the workspace's disk.
    pub min_free_bytes: u64,
    /// The machine's interpreters and package settings.
    pub build: BuildSettings,
    /// Whether nothing may be built or run: the ledger has to know everything.
    pub only_recorded: bool,
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// It went to its end.
    Done(Box<RunReport>),
    /// The user asked to stop; what was finished is recorded.
    Interrupted,
}

/// Filters, builds, verifies and (with `emit`) emits what the ledger has of `sources`.
///
/// # Errors
/// Errors of ours or the caller's; candidates' and the outside's faults are in the report.
pub async fn run(
    context: &Context,
    loaded: &LoadedRecipe,
    sources: &[MinedSource],
    settings: Settings,
    emit: bool,
) -> Result<Outcome, PipelineError> {
    let recipe = &loaded.recipe;
    let field = field(context, recipe, sources, &settings.only)?;
    let total = field.candidates.len() as u64;
    context.events.emit(Event::StageStarted {
        stage: "filter",
        unit: "candidates",
        total,
    });
    let first = ask(context, recipe, &field, &BTreeMap::new())?;
    let note = format!(
        "{} of {total} candidates pass the rules that need git alone",
        first.waiting.len()
    );
    context.events.emit(Event::StageFinished {
        stage: "filter",
        note,
    });

    let wanted: BTreeSet<_> = first.waiting.iter().collect();
    let candidates: Vec<_> = field
        .candidates
        .iter()
        .filter(|candidate| wanted.contains(&candidate.id))
        .collect();
    let proofs = if candidates.is_empty() {
        Vec::new()
    } else {
        let mut docker = settings.docker;
        docker.workspace = context.workspace.root().to_string();
        let room = Room::open(settings.room, &docker, context.workspace.scratch().as_std_path())?;
        let prover = Prover::new(
            context,
            recipe,
            &field.splitter,
            sources,
            Means {
                room,
                build: settings.build,
                only_recorded: settings.only_recorded,
                min_free_bytes: settings.min_free_bytes,
            },
        )?;
        let proofs = prover.prove(&candidates).await?;
        if let Some(halt) = prover.halt() {
            return Err(PipelineError::Halted(halt.clone()));
        }
        proofs
    };
    if context.cancel.is_cancelled() {
        return Ok(Outcome::Interrupted);
    }
    if proofs.len() < candidates.len() && settings.only_recorded {
        return Err(PipelineError::Unverified {
            dataset: recipe.dataset.name.clone(),
            missing: candidates.len() - proofs.len(),
        });
    }
    if proofs.len() < candidates.len() {
        return Ok(Outcome::Interrupted);
    }
    let oracles: BTreeMap<_, _> = proofs
        .iter()
        .filter_map(|proof| Some((proof.candidate.clone(), proof.verified.as_ref()?.oracle.clone())))
        .collect();
    let last = ask(context, recipe, &field, &oracles)?;
    let kept: Vec<_> = last
        .kept
        .iter()
        .filter(|id| oracles.contains_key(id))
        .cloned()
        .collect();
    let emit = emit && settings.only.is_empty();
    let mut varied = None;
    if emit {
        varied = vary(context, recipe, sources, &field, &kept).await?;
        if varied.is_none() {
            return Ok(Outcome::Interrupted);
        }
    }
    let report = conclude(context, loaded, sources, &field, last, &proofs, varied)?;
    Ok(Outcome::Done(Box::new(report)))
}

/// Emits, if there are variants (perhaps none of them), and sums up.
fn conclude(
    context: &Context,
    loaded: &LoadedRecipe,
    sources: &[MinedSource],
    field: &Field,
    selection: Selection,
    proofs: &[Proof],
    varied: Option<Variety>,
) -> Result<RunReport, PipelineError> {
    let emit = varied.is_some();
    let varied = varied.unwrap_or_default();
    let dataset = &loaded.recipe.dataset;
    let mut infra: BTreeMap<String, u64> = BTreeMap::new();
    let mut project: BTreeMap<String, u64> = BTreeMap::new();
    let mut infra_candidates = Vec::new();
    let ended = proofs.iter().flat_map(|proof| &proof.ended);
    for ended in ended.chain(&varied.ended) {
        match ended.outcome {
            AttemptOutcome::Done => {}
            AttemptOutcome::Project => {
                *project
                    .entry(format!("{}: {}", ended.stage.name(), ended.reason))
                    .or_default() += 1;
            }
            AttemptOutcome::Infra => {
                *infra.entry(ended.reason.clone()).or_default() += 1;
                infra_candidates.push(ended.candidate.to_string());
            }
        }
    }
    let verified: BTreeSet<_> = proofs
        .iter()
        .filter(|proof| proof.verified.is_some())
        .map(|proof| &proof.candidate)
        .collect();
    let left = |id: &CandidateId| verified.contains(id) && varied.is_whole(id);
    let instances = selection.kept.iter().filter(|id| left(id)).count();
    let flaky_tests = proofs
        .iter()
        .filter_map(|proof| proof.verified.as_ref())
        .map(|verified| verified.oracle.flaky.len())
        .sum();
    let mut report = RunReport {
        dataset: format!("{} {}", dataset.name, dataset.version),
        manifest: None,
        already_there: false,
        instances,
        funnel: vec![],
        project,
        infra,
        infra_candidates,
        met: proofs.len(),
        built: proofs.iter().filter(|proof| proof.is_built()).count(),
        environments: proofs
            .iter()
            .filter_map(|proof| proof.verified.as_ref())
            .map(|verified| verified.environment.key.as_str())
            .collect::<BTreeSet<_>>()
            .len(),
        runnable: proofs
            .iter()
            .filter_map(|proof| proof.verified.as_ref())
            .filter(|verified| verified.oracle.shows_a_pass())
            .count(),
        verified: verified.len(),
        flaky_tests,
        variants: varied.made.values().map(Vec::len).sum(),
        reads_docstrings: varied.readers(),
        note: None,
    };
    if emit && instances == 0 {
        // A version is for good: one that holds nothing would only be in the way of the one that is meant.
        report.funnel = selection.funnel.rules.iter().map(rule_step).collect();
        report.note =
            Some("nothing is emitted: no candidate is left (`quarry explain` says why, one by one)".into());
    } else if emit {
        let emitted = publish(context, loaded, sources, field, selection, proofs, varied)?;
        report.manifest = Some(emitted.folder.to_string());
        report.already_there = emitted.release == Release::AlreadyThere;
        report.instances = emitted.instances;
        report.funnel = emitted.funnel;
    } else {
        report.funnel = selection.funnel.rules.iter().map(rule_step).collect();
        report.note = Some("nothing is emitted: `quarry emit RECIPE` does, of all candidates".into());
    }
    Ok(report)
}

/// A rule's line of the funnel where no manifest counts the stages between.
fn rule_step(line: &FunnelLine) -> FunnelStep {
    FunnelStep {
        step: line.rule.to_string(),
        kind: StepKind::Rule,
        reason: String::new(),
        source: String::new(),
        entered: line.entered,
        dropped: line.dropped,
        undecided: line.undecided,
        infra: 0,
        out: line.out,
    }
}
