//! A recipe's whole run, or its middle part on what was mined before.

use std::collections::{BTreeMap, BTreeSet};

use super::documented::documented;
use super::error::PipelineError;
use super::gate;
use super::proof::Proof;
use super::prove::{Means, Prover};
use super::publish::request;
use super::report::RunReport;
use super::select::{Field, ask, field};
use super::source::{MinedSource, spelled};
use super::vary::{Variety, vary};
use crate::build::run::BuildSettings;
use crate::domain::attempt::AttemptOutcome;
use crate::domain::count::count;
use crate::domain::event::Event;
use crate::domain::ids::CandidateId;
use crate::emit;
use crate::emit::versions::Release;
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
    let only = spelled(sources, &settings.only);
    let emit = emit && only.is_empty();
    if emit {
        emit::run::prepare(context, recipe, &loaded.text_hash)?;
    }
    let field = field(context, recipe, sources, &only)?;
    let total = field.candidates.len() as u64;
    context.events.emit(Event::StageStarted {
        stage: "filter",
        unit: "candidates",
        total,
    });
    let first = ask(context, recipe, &field, &BTreeMap::new())?;
    let note = format!(
        "{} of {} {} the rules that need git alone",
        first.waiting.len(),
        count(total, "candidate"),
        if total == 1 { "passes" } else { "pass" }
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
    let mut varied = None;
    if emit {
        let instances = gate::against(context, &field, &proofs, &kept)?;
        if !instances.is_empty() {
            let dataset = recipe.dataset.name.clone();
            return Err(PipelineError::Gate { dataset, instances });
        }
        varied = vary(context, recipe, sources, &field, &kept).await?;
        if varied.is_none() {
            return Ok(Outcome::Interrupted);
        }
    }
    let end = End {
        context,
        loaded,
        sources,
        field: &field,
        only: &only,
    };
    let report = end.conclude(last, &proofs, varied)?;
    Ok(Outcome::Done(Box::new(report)))
}

/// What a run's end looks at.
struct End<'a> {
    context: &'a Context,
    loaded: &'a LoadedRecipe,
    sources: &'a [MinedSource],
    field: &'a Field,
    only: &'a [CandidateId],
}

impl End<'_> {
    /// Emits, if there are variants (perhaps none of them), and sums up.
    fn conclude(
        &self,
        selection: Selection,
        proofs: &[Proof],
        varied: Option<Variety>,
    ) -> Result<RunReport, PipelineError> {
        let emit = varied.is_some();
        let dataset = &self.loaded.recipe.dataset;
        let kept = selection.kept.clone();
        let mut report = summary(&kept, proofs, varied.as_ref());
        report.dataset = format!("{} {}", dataset.name, dataset.version);
        let mut request = request(
            self.context,
            self.loaded,
            self.sources,
            self.field,
            selection,
            proofs,
            varied,
        )?;
        if emit && report.instances > 0 {
            let told = documented(self.context, &self.loaded.recipe, self.sources, self.field, &kept)?;
            request.tasks = told.tasks;
            report.characteristics = told.characteristics;
            let emitted = emit::run::run(self.context, request)?;
            report.manifest = Some(emitted.folder.to_string());
            report.already_there = emitted.release == Release::AlreadyThere;
            report.instances = emitted.instances;
            report.funnel = emitted.funnel;
            return Ok(report);
        }
        report.funnel = emit::run::funnel(self.context, request, self.only)?;
        // A version is for good: one that holds nothing would only be in the way of the one that is meant.
        report.note = Some(if emit {
            "nothing is emitted: no candidate is left (`quarry explain` says why, one by one)".to_owned()
        } else {
            "nothing is emitted: `quarry emit RECIPE` does, of all candidates".to_owned()
        });
        Ok(report)
    }
}

/// The counts of a run's end.
fn summary(kept: &[CandidateId], proofs: &[Proof], varied: Option<&Variety>) -> RunReport {
    let nothing = Variety::default();
    let varied = varied.unwrap_or(&nothing);
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
    let instances = kept.iter().filter(|id| left(id)).count();
    let flaky_tests = proofs
        .iter()
        .filter_map(|proof| proof.verified.as_ref())
        .map(|verified| verified.oracle.flaky.len())
        .sum();
    RunReport {
        dataset: String::new(),
        manifest: None,
        already_there: false,
        instances,
        funnel: vec![],
        project,
        infra,
        infra_candidates,
        met: proofs.len(),
        built: proofs.iter().filter(|proof| proof.environment.is_some()).count(),
        environments: proofs
            .iter()
            .filter_map(|proof| proof.environment.as_deref())
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
        characteristics: BTreeMap::new(),
        note: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attempt::Stage;
    use crate::emit::Ended;

    #[test]
    fn an_environment_counts_whatever_tests_say_in_it() {
        let id: CandidateId = "a/b#1".parse().unwrap();
        let ended = |stage, outcome, reason: &str| Ended {
            candidate: id.clone(),
            stage,
            outcome,
            reason: reason.to_owned(),
        };
        let proof = Proof {
            candidate: id.clone(),
            ended: vec![
                ended(Stage::Build, AttemptOutcome::Done, "ok"),
                ended(Stage::Verify, AttemptOutcome::Project, "no-tests"),
            ],
            environment: Some("key".to_owned()),
            verified: None,
            log: None,
        };
        let report = summary(&[], &[proof], None);
        assert_eq!((report.met, report.built, report.environments), (1, 1, 1));
        assert_eq!((report.verified, report.project["verify: no-tests"]), (0, 1));
        assert!(
            report
                .text()
                .contains("built:          1 of 1 candidate, in 1 environment")
        );
    }
}
