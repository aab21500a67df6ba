//! A candidate's way through the steps. Emission and its check walk the same way: emission over what the ledger
//! holds, the check over what the log says.

use std::collections::BTreeMap;

use super::entry::{Found, Imported, LogEntry, RuleSaid, StageEnded, TestsSaid};
use super::manifest::{FunnelStep, StepKind};
use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::decision::Verdict;
use crate::domain::ids::{CandidateId, RuleId};

/// The name of the funnel's first step.
pub const MINE: &str = "mine";

/// Everything that is known of one pull request.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    /// That it was found merged.
    pub found: Option<Found>,
    /// That a row of a published dataset is about it.
    pub imported: Option<Imported>,
    /// What rules said, by rule.
    pub decisions: BTreeMap<RuleId, RuleSaid>,
    /// How stages ended, by stage.
    pub attempts: BTreeMap<Stage, StageEnded>,
    /// What tests said.
    pub oracle: Option<TestsSaid>,
}

impl Trail {
    /// Adds what a line of the log says.
    pub fn add(&mut self, entry: LogEntry) {
        match entry {
            LogEntry::Candidate(found) => self.found = Some(found),
            LogEntry::Imported(row) => self.imported = Some(row),
            LogEntry::Decision(said) => {
                self.decisions.insert(said.rule.clone(), said);
            }
            LogEntry::Attempt(ended) => {
                self.attempts.insert(ended.stage, ended);
            }
            LogEntry::Oracle(said) => self.oracle = Some(*said),
        }
    }
}

/// Where a pull request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Mining did not make a candidate of it.
    NotMined,
    /// It ended at the step with this index, by its own fault or the outside's.
    At(usize),
    /// It met every step and goes into the dataset.
    Kept,
    /// The step with this index has not spoken yet.
    Waiting(usize),
}

/// A pull request's way: what it met, in order, and where that ended.
#[derive(Debug, Clone)]
pub struct Way {
    /// The log's lines.
    pub entries: Vec<LogEntry>,
    /// The end.
    pub end: End,
}

/// Whether a funnel's step is that stage.
fn stage_of(step: &FunnelStep) -> Option<Stage> {
    [
        Stage::Mine,
        Stage::Filter,
        Stage::Build,
        Stage::Verify,
        Stage::Strip,
    ]
    .into_iter()
    .find(|stage| step.kind == StepKind::Stage && stage.name() == step.step)
}

/// Leads one pull request along `steps` (whose first is `mine`) and counts it in each that it meets.
pub fn walk(trail: &Trail, steps: &mut [FunnelStep]) -> Way {
    let mut entries = vec![];
    let mut end = End::Kept;
    for (index, step) in steps.iter_mut().enumerate() {
        match meet(trail, step, &mut entries) {
            Met::On => {
                step.entered += 1;
                step.out += 1;
                continue;
            }
            Met::Dropped => {
                step.entered += 1;
                step.dropped += 1;
                end = if step.kind == StepKind::Mine {
                    End::NotMined
                } else {
                    End::At(index)
                };
            }
            Met::Infra => {
                step.entered += 1;
                step.infra += 1;
                end = End::At(index);
            }
            Met::Nothing => end = End::Waiting(index),
        }
        break;
    }
    Way { entries, end }
}

enum Met {
    On,
    Dropped,
    Infra,
    Nothing,
}

fn meet(trail: &Trail, step: &mut FunnelStep, entries: &mut Vec<LogEntry>) -> Met {
    match step.kind {
        StepKind::Mine => {
            let is_there = trail.found.is_some() || trail.imported.is_some();
            entries.extend(trail.found.clone().map(LogEntry::Candidate));
            entries.extend(trail.imported.clone().map(LogEntry::Imported));
            let own = trail.decisions.values().filter(|said| is_mining(&said.rule));
            let own: Vec<_> = own.filter(|said| said.kept == is_there).collect();
            entries.extend(own.iter().map(|said| LogEntry::Decision((*said).clone())));
            match (is_there, own.is_empty()) {
                (true, _) => Met::On,
                (false, false) => Met::Dropped,
                (false, true) => Met::Nothing,
            }
        }
        StepKind::Rule => {
            let Some(said) = trail.decisions.get(&RuleId(step.step.clone())) else {
                return Met::Nothing;
            };
            entries.push(LogEntry::Decision(said.clone()));
            step.undecided += u64::from(said.verdict == Verdict::Undecided);
            if said.kept { Met::On } else { Met::Dropped }
        }
        StepKind::Stage => {
            let ended = stage_of(step).and_then(|stage| trail.attempts.get(&stage));
            let Some(ended) = ended else { return Met::Nothing };
            entries.push(LogEntry::Attempt(ended.clone()));
            if ended.stage == Stage::Verify && ended.outcome == AttemptOutcome::Done {
                entries.extend(trail.oracle.clone().map(Box::new).map(LogEntry::Oracle));
            }
            match ended.outcome {
                AttemptOutcome::Done => Met::On,
                AttemptOutcome::Project => Met::Dropped,
                AttemptOutcome::Infra => Met::Infra,
            }
        }
    }
}

/// Whether a rule is mining's own.
pub fn is_mining(rule: &RuleId) -> bool {
    rule.as_str().starts_with("mine-")
}

/// The trails of these lines, by pull request.
pub fn trails(entries: impl IntoIterator<Item = LogEntry>) -> BTreeMap<CandidateId, Trail> {
    let mut trails: BTreeMap<CandidateId, Trail> = BTreeMap::new();
    for entry in entries {
        trails.entry(entry.candidate().clone()).or_default().add(entry);
    }
    trails
}

/// A step that nobody has met yet.
pub fn fresh(step: &str, kind: StepKind, reason: &str, source: &str) -> FunnelStep {
    FunnelStep {
        step: step.to_owned(),
        kind,
        reason: reason.to_owned(),
        source: source.to_owned(),
        entered: 0,
        dropped: 0,
        undecided: 0,
        infra: 0,
        out: 0,
    }
}
