//! A version's files as audit sees them, and what one rule alone dropped.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use serde_json::Value;

use super::error::PipelineError;
use super::select::field;
use super::source::sources_of;
use super::version::{self, Version};
use crate::audit::diff::Side;
use crate::audit::distance::distances;
use crate::audit::funnel::{Audit, Dropped, Step};
use crate::domain::attempt::Stage;
use crate::domain::candidate::Candidate;
use crate::domain::ids::CandidateId;
use crate::emit::assemble::LOG;
use crate::emit::entry::LogEntry;
use crate::emit::import::row::UNTOLD;
use crate::emit::manifest::FunnelStep;
use crate::emit::walk::{End, Trail, fresh, trails, walk};
use crate::emit::{RunError, versions};
use crate::filter::run::FilterError;
use crate::filter::{CandidateFacts, Program, Sight, compile};
use crate::workspace::Context;

/// Reads a version and tells of every pull request of its log where it ended. With a workspace, also which were dropped by
/// one rule alone: every rule is asked of what the ledger knows of them.
///
/// # Errors
/// When there is no sound version, or the ledger cannot be read.
pub fn audit(folder: &Utf8Path, near: Option<&Context>) -> Result<Audit, PipelineError> {
    let version = version::read(folder)?;
    let trails = read_trails(folder)?;
    let manifest = &version.manifest;
    let mut by_repo: BTreeMap<String, Vec<FunnelStep>> = BTreeMap::new();
    let (mut dropped, mut kept) = (vec![], 0);
    for (id, trail) in &trails {
        let steps = by_repo
            .entry(id.repo.to_string())
            .or_insert_with(|| bare(&manifest.funnel));
        let way = walk(trail, steps);
        match way.end {
            End::Kept => kept += 1,
            End::NotMined | End::At(_) | End::Waiting(_) => dropped.extend(way.entries.last().map(told)),
        }
    }
    if let Some(context) = near {
        find_near(context, &version, &trails, &mut dropped)?;
    }
    Ok(Audit {
        dataset: manifest.dataset.name.clone(),
        version: manifest.dataset.version.clone(),
        funnel: manifest.funnel.iter().map(step).collect(),
        by_repo: by_repo
            .into_iter()
            .map(|(repo, steps)| (repo, steps.iter().map(step).collect()))
            .collect(),
        kept,
        dropped,
    })
}

/// A version as one side of a difference.
///
/// # Errors
/// When there is no sound version.
pub fn side(folder: &Utf8Path) -> Result<Side, PipelineError> {
    let version = version::read(folder)?;
    let files = versions::read(folder).map_err(RunError::from)?;
    let locks = files.iter().filter_map(|(name, bytes)| {
        let lock = name.strip_prefix("locks/")?.strip_suffix(".txt")?;
        Some((lock.to_owned(), String::from_utf8_lossy(bytes).into_owned()))
    });
    let rows = version.instances.iter().map(|row| {
        let value = serde_json::to_value(row).unwrap_or_default();
        (row.instance_id.to_string(), value)
    });
    let dataset = &version.manifest.dataset;
    let mut steps = bare(&version.manifest.funnel);
    let ends = read_trails(folder)?.into_iter().filter_map(|(id, trail)| {
        let way = walk(&trail, &mut steps);
        let last = way.entries.last().filter(|_| way.end != End::Kept)?;
        let told = told(last);
        Some((
            id.instance().to_string(),
            format!("{}: {}", told.step, told.evidence),
        ))
    });
    let ends = ends.collect();
    Ok(Side {
        ends,
        name: format!("{} {}", dataset.name, dataset.version),
        instances: rows.collect(),
        funnel: version.manifest.funnel.iter().map(step).collect(),
        locks: locks.collect(),
        untold: if version.manifest.import.is_some() {
            UNTOLD.iter().map(|name| (*name).to_owned()).collect()
        } else {
            BTreeSet::new()
        },
    })
}

fn read_trails(folder: &Utf8Path) -> Result<BTreeMap<CandidateId, Trail>, PipelineError> {
    let bad = |problem: String| PipelineError::BadVersion {
        folder: folder.to_owned(),
        problem,
    };
    let files = versions::read(folder).map_err(RunError::from)?;
    let packed = files.get(LOG).map(Vec::as_slice).unwrap_or_default();
    let bytes = zstd::stream::decode_all(packed).map_err(|error| bad(error.to_string()))?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let entries = lines
        .map(serde_json::from_slice::<LogEntry>)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| bad(error.to_string()))?;
    Ok(trails(entries))
}

/// The steps, not yet met by anybody.
fn bare(funnel: &[FunnelStep]) -> Vec<FunnelStep> {
    let bare = |step: &FunnelStep| fresh(&step.step, step.kind, &step.reason, &step.source);
    funnel.iter().map(bare).collect()
}

fn step(step: &FunnelStep) -> Step {
    Step {
        step: step.step.clone(),
        kind: serde_json::to_value(step.kind)
            .ok()
            .and_then(|kind| kind.as_str().map(str::to_owned))
            .unwrap_or_default(),
        reason: step.reason.clone(),
        entered: step.entered,
        dropped: step.dropped,
        undecided: step.undecided,
        infra: step.infra,
        out: step.out,
    }
}

/// Where a pull request ended, by the last line of its way.
fn told(entry: &LogEntry) -> Dropped {
    let (step, verdict, evidence, observed) = match entry {
        LogEntry::Decision(said) => (
            said.rule.to_string(),
            said.verdict.name(),
            said.evidence.clone(),
            said.observed.clone(),
        ),
        LogEntry::Attempt(ended) => (
            ended.stage.name().to_owned(),
            ended.outcome.name(),
            ended.reason.clone(),
            Value::Null,
        ),
        LogEntry::Candidate(_) | LogEntry::Imported(_) => (
            Stage::Mine.name().to_owned(),
            "undecided",
            String::new(),
            Value::Null,
        ),
        LogEntry::Oracle(_) => (
            Stage::Verify.name().to_owned(),
            "undecided",
            String::new(),
            Value::Null,
        ),
    };
    Dropped {
        candidate: entry.candidate().clone(),
        step,
        verdict: verdict.to_owned(),
        evidence,
        observed,
        near: None,
    }
}

/// Asks every rule of everybody whom a rule dropped. Rules on the oracle are asked of those that have one; nobody knows
/// what they would say of the others.
fn find_near(
    context: &Context,
    version: &Version,
    trails: &BTreeMap<CandidateId, Trail>,
    dropped: &mut [Dropped],
) -> Result<(), PipelineError> {
    let recipe = &version.loaded.recipe;
    let program = compile(recipe)?;
    let sources = sources_of(context, recipe)?;
    let field = field(context, recipe, &sources, &[])?;
    let candidates: BTreeMap<&CandidateId, &Candidate> = field
        .candidates
        .iter()
        .map(|candidate| (&candidate.id, candidate))
        .collect();
    let rules: Vec<&str> = program.rules().iter().map(|rule| rule.id.as_str()).collect();
    for one in dropped
        .iter_mut()
        .filter(|one| rules.contains(&one.step.as_str()))
    {
        let Some(candidate) = candidates.get(&one.candidate) else {
            continue;
        };
        let oracle = trails.get(&one.candidate).and_then(|trail| trail.oracle.as_ref());
        let parts: Vec<_> = candidate
            .files
            .iter()
            .map(|file| field.splitter.part_of(file))
            .collect();
        let utf8 = std::str::from_utf8(&context.blobs.get(&candidate.diff)?).is_ok();
        let facts = CandidateFacts {
            candidate,
            parts: &parts,
            oracle: oracle.map(|said| &said.oracle),
            utf8: Some(utf8),
            notes: field.told().notes_of(&one.candidate),
            text_lines: field.told().text_lines_of(&one.candidate),
        };
        if let Some(keep) = only_against(&program, &facts, oracle.is_some()).map_err(|error| {
            PipelineError::Filter(FilterError::Evaluate {
                candidate: one.candidate.clone(),
                error,
            })
        })? {
            one.near = Some(distances(&keep, &one.observed));
        }
    }
    Ok(())
}

/// The expression of the one rule that stops a candidate; `None` when several do.
fn only_against(
    program: &Program,
    facts: &CandidateFacts<'_>,
    has_oracle: bool,
) -> Result<Option<String>, crate::filter::EvalError> {
    let sight = Sight::new(program, facts);
    let oracle_rules = program.oracle_rules().filter(|_| has_oracle);
    let mut against = vec![];
    for rule in program.git_rules().chain(oracle_rules) {
        let judgement = program.judge(rule, &sight)?;
        if !judgement.kept {
            against.push(rule.keep.clone());
        }
    }
    Ok(match <[String; 1]>::try_from(against) {
        Ok([only]) => Some(only),
        Err(_) => None,
    })
}
