//! Everything together, as files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use super::canonical;
use super::docs::characteristics::of_instances;
use super::entry::{Found, LogEntry, RuleSaid, StageEnded, TestsSaid};
use super::error::EmitError;
use super::input::{EmitInput, Step, Verified};
use super::instance::Instance;
use super::manifest::{
    Counts, DatasetName, EnvironmentEntry, Failure, FunnelStep, Manifest, MergeWindow, NotMined, RecipeText,
    SCHEMA_VERSION, StepKind, Tool,
};
use super::walk::{End, MINE, Trail, fresh, is_mining, trails, walk};
use super::{docs, rows, sums, variants};
use crate::domain::decision::Decision;
use crate::domain::hash::sha256_hex;
use crate::domain::ids::{BlobId, CandidateId};
use crate::recipe::model::ProblemStatement;
use crate::recipe::window::{WINDOW_RULE, Window};

/// A version's files by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// `manifest.json`.
pub const MANIFEST: &str = "manifest.json";
/// The rows.
pub const INSTANCES: &str = "instances.jsonl";
/// The variants, when the recipe asks for some.
pub const VARIANTS: &str = "variants.jsonl";
/// What documentation tells of the instances, when that is their statement.
pub const DOCS: &str = "docs.jsonl";
/// The rows as they were published, when they were imported.
pub const PUBLISHED: &str = "published.jsonl";
/// The log, compressed.
pub const LOG: &str = "selection-log.jsonl.zst";
/// Where locks stand.
pub const LOCKS: &str = "locks/";
/// Part of the version's bytes: another level would give others.
const LOG_LEVEL: i32 = 9;

/// What every pull request met and where it ended, before anything is read for those that survived.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The log's lines, in order.
    pub log: Vec<LogEntry>,
    /// Those that met every step, in order.
    pub kept: Vec<CandidateId>,
    /// The counted steps.
    pub funnel: Vec<FunnelStep>,
}

/// Leads every pull request through the steps.
///
/// # Errors
/// [`EmitError::Unfinished`] when a step has not spoken on somebody that reached it, [`EmitError::Stranger`] when
/// something is about a pull request of another repository.
pub fn select(input: &EmitInput) -> Result<Selection, EmitError> {
    let window = Window::of(&input.recipe.source);
    let mut funnel = steps(&input.steps, window);
    let (mut log, mut kept, mut waiting) = (vec![], vec![], vec![]);
    for (id, trail) in input_trails(input)? {
        let mut way = walk(&trail, &mut funnel);
        log.append(&mut way.entries);
        match way.end {
            End::Kept => kept.push(id),
            End::Waiting(index) => waiting.push((id, index)),
            End::NotMined | End::At(_) => {}
        }
    }
    if let Some((first, index)) = waiting.first() {
        return Err(EmitError::Unfinished {
            dataset: input.recipe.dataset.name.clone(),
            step: funnel[*index].step.clone(),
            count: waiting.len(),
            first: first.clone(),
        });
    }
    Ok(Selection { log, kept, funnel })
}

fn steps(steps: &[Step], window: Option<Window>) -> Vec<FunnelStep> {
    let mine = fresh(MINE, StepKind::Mine, "", "");
    let window = window.map(|window| fresh(WINDOW_RULE, StepKind::Rule, &window.reason(), "the recipe"));
    let rest = steps.iter().map(|step| match step {
        Step::Rule { id, reason, source } => fresh(id.as_str(), StepKind::Rule, reason, source),
        Step::Stage(stage) => fresh(stage.name(), StepKind::Stage, "", ""),
    });
    std::iter::once(mine).chain(window).chain(rest).collect()
}

fn input_trails(input: &EmitInput) -> Result<BTreeMap<CandidateId, Trail>, EmitError> {
    let repos: BTreeSet<_> = input.sources.iter().map(|source| &source.repo).collect();
    let found: BTreeSet<_> = input.candidates.iter().map(|candidate| &candidate.id).collect();
    let known = |what, id: &CandidateId, must_be_found: bool| {
        let fits = repos.contains(&id.repo) && (found.contains(id) || !must_be_found);
        if fits {
            Ok(())
        } else {
            Err(EmitError::Stranger {
                what,
                candidate: id.clone(),
            })
        }
    };
    let window = Window::of(&input.recipe.source);
    let mut entries = vec![];
    for candidate in &input.candidates {
        known("candidate", &candidate.id, true)?;
        entries.extend(window.map(|window| said(&window.decide(candidate))));
        entries.push(LogEntry::Candidate(Found {
            candidate: candidate.id.clone(),
            head: candidate.head,
            base_commit: candidate.base_commit,
            merge_commit: candidate.merge.commit,
            merge_kind: candidate.merge.kind,
            merge_branch: candidate.merge.branch.clone(),
            merged_at: candidate.merged_at,
        }));
    }
    // Why a pull request is none of ours has one answer: the last one that mining gave.
    let mut not_mined: BTreeMap<&CandidateId, LogEntry> = BTreeMap::new();
    for decision in &input.decisions {
        let mining = is_mining(&decision.rule);
        known("decision", &decision.candidate, !mining)?;
        if mining && !found.contains(&decision.candidate) {
            not_mined.insert(&decision.candidate, said(decision));
        } else {
            entries.push(said(decision));
        }
    }
    entries.extend(not_mined.into_values());
    for ended in &input.ended {
        known("stage's end", &ended.candidate, true)?;
        entries.push(LogEntry::Attempt(StageEnded {
            candidate: ended.candidate.clone(),
            stage: ended.stage,
            outcome: ended.outcome,
            reason: ended.reason.clone(),
        }));
    }
    for verified in &input.verified {
        known("oracle", &verified.candidate, true)?;
        entries.push(LogEntry::Oracle(Box::new(TestsSaid {
            candidate: verified.candidate.clone(),
            environment: verified.environment.key.clone(),
            exclude_newer: verified.environment.exclude_newer,
            oracle: verified.oracle.clone(),
        })));
    }
    Ok(trails(entries))
}

fn said(decision: &Decision) -> LogEntry {
    LogEntry::Decision(RuleSaid {
        candidate: decision.candidate.clone(),
        rule: decision.rule.clone(),
        verdict: decision.verdict,
        kept: decision.kept,
        observed: canonical::sorted(&decision.observed),
        evidence: decision.evidence.clone(),
    })
}

/// A version's files, sums included.
///
/// # Errors
/// [`EmitError`] when something is missing or does not belong together.
pub fn assemble(input: &EmitInput, selection: &Selection) -> Result<Files, EmitError> {
    let instances = instances(input, selection)?;
    let environments = environments(input, &selection.log)?;
    let mut files = Files::new();
    for entry in &environments {
        files.insert(lock_name(&entry.lock), lock(input, &entry.lock)?);
    }
    let manifest = manifest(input, selection, &instances, environments);
    let json = |file| move |source| EmitError::Json { file, source };
    files.insert(
        MANIFEST.into(),
        canonical::document(&manifest).map_err(json(MANIFEST))?,
    );
    files.insert(
        INSTANCES.into(),
        canonical::lines(&instances).map_err(json(INSTANCES))?,
    );
    if manifest.variants.is_some() {
        let rows = variants::rows(input, selection)?;
        files.insert(VARIANTS.into(), canonical::lines(&rows).map_err(json(VARIANTS))?);
    }
    if input.recipe.emission.problem_statement == ProblemStatement::Docs {
        let rows = docs::row::rows(input, selection)?;
        files.insert(DOCS.into(), canonical::lines(&rows).map_err(json(DOCS))?);
    }
    let log = canonical::lines(&selection.log).map_err(json(LOG))?;
    files.insert(LOG.into(), compress(&log).map_err(EmitError::Compress)?);
    files.insert(sums::NAME.into(), sums::write(&files).into_bytes());
    Ok(files)
}

fn instances(input: &EmitInput, selection: &Selection) -> Result<Vec<Instance>, EmitError> {
    let candidates: BTreeMap<_, _> = input
        .candidates
        .iter()
        .map(|candidate| (&candidate.id, candidate))
        .collect();
    let verified: BTreeMap<_, _> = input
        .verified
        .iter()
        .map(|verified| (&verified.candidate, verified))
        .collect();
    let mut instances = vec![];
    for id in &selection.kept {
        let missing = |what| EmitError::Missing {
            candidate: id.clone(),
            what,
        };
        let candidate = candidates.get(id).ok_or_else(|| missing("record"))?;
        let verified = verified.get(id).ok_or_else(|| missing("oracle"))?;
        let change = input.changes.get(id).ok_or_else(|| missing("diff"))?;
        instances.push(rows::row(
            candidate,
            change,
            verified,
            input.recipe.emission.problem_statement,
            input.tasks.get(id),
        )?);
    }
    Ok(instances)
}

/// The environments of every oracle in the log, by key.
fn environments(input: &EmitInput, log: &[LogEntry]) -> Result<Vec<EnvironmentEntry>, EmitError> {
    let judged = log.iter().filter(|entry| matches!(entry, LogEntry::Oracle(_)));
    let judged: BTreeSet<_> = judged.map(LogEntry::candidate).collect();
    let mut by_key: BTreeMap<&str, EnvironmentEntry> = BTreeMap::new();
    for Verified {
        candidate,
        environment,
        ..
    } in &input.verified
    {
        if !judged.contains(candidate) {
            continue;
        }
        let entry = by_key
            .entry(&environment.key)
            .or_insert_with(|| EnvironmentEntry {
                key: environment.key.clone(),
                names: vec![],
                interpreter: environment.interpreter.clone(),
                resolver: environment.resolver.clone(),
                lock: environment.lock.clone(),
                constraints: vec![],
                newer: vec![],
                left_out: vec![],
                requirements_after: vec![],
            });
        let theirs = (&environment.interpreter, &environment.resolver, &environment.lock);
        if theirs != (&entry.interpreter, &entry.resolver, &entry.lock) {
            return Err(EmitError::EnvironmentClash {
                key: environment.key.clone(),
            });
        }
        entry.names.push(environment.name.clone());
        entry.constraints.extend_from_slice(&environment.constraints);
        entry.newer.extend_from_slice(&environment.newer);
        entry.left_out.extend_from_slice(&environment.left_out);
        entry
            .requirements_after
            .extend(environment.requirements_after.clone());
    }
    let mut entries: Vec<_> = by_key.into_values().collect();
    for entry in &mut entries {
        entry.names.sort();
        entry.names.dedup();
        entry.constraints.sort();
        entry.constraints.dedup();
        entry.newer.sort();
        entry.newer.dedup();
        entry.left_out.sort();
        entry.left_out.dedup();
        entry.requirements_after.sort();
        entry.requirements_after.dedup();
    }
    Ok(entries)
}

/// The name of a lock's file.
pub fn lock_name(lock: &BlobId) -> String {
    format!("{LOCKS}{lock}.txt")
}

fn lock(input: &EmitInput, id: &BlobId) -> Result<Vec<u8>, EmitError> {
    let bytes = input.locks.get(id).filter(|bytes| BlobId::of(bytes) == *id);
    bytes.cloned().ok_or_else(|| EmitError::Lock { id: id.clone() })
}

fn manifest(
    input: &EmitInput,
    selection: &Selection,
    instances: &[Instance],
    environments: Vec<EnvironmentEntry>,
) -> Manifest {
    let mut sources = input.sources.clone();
    sources.sort_by(|a, b| a.repo.cmp(&b.repo));
    sources.dedup();
    let dataset = &input.recipe.dataset;
    let is_docs = input.recipe.emission.problem_statement == ProblemStatement::Docs;
    let characteristics = if is_docs {
        of_instances(instances.iter())
    } else {
        BTreeMap::new()
    };
    Manifest {
        schema_version: SCHEMA_VERSION,
        dataset: DatasetName {
            name: dataset.name.clone(),
            version: dataset.version.clone(),
            description: dataset.description.clone(),
        },
        tool: Tool {
            name: "quarry".into(),
            version: input.tool_version.clone(),
        },
        recipe: RecipeText {
            sha256: sha256_hex(input.recipe_text.as_bytes()),
            text: input.recipe_text.clone(),
        },
        sources,
        window: MergeWindow {
            merged_since: input.recipe.source.merged_since.clone(),
            merged_before: input.recipe.source.merged_before.clone(),
        },
        counts: counts(&selection.log, &selection.funnel, instances.len()),
        funnel: selection.funnel.clone(),
        failures: failures(&selection.log),
        environments,
        variants: variants::entry(&input.recipe),
        characteristics,
        parent: None,
        annotation: None,
        import: None,
    }
}

/// The counts that follow from a log and its funnel.
pub fn counts(log: &[LogEntry], funnel: &[FunnelStep], instances: usize) -> Counts {
    let found: BTreeSet<_> = log
        .iter()
        .filter(|entry| matches!(entry, LogEntry::Candidate(_) | LogEntry::Imported(_)))
        .map(LogEntry::candidate)
        .collect();
    let mut not_mined: BTreeMap<_, u64> = BTreeMap::new();
    for entry in log {
        if let LogEntry::Decision(said) = entry
            && is_mining(&said.rule)
            && !found.contains(&said.candidate)
        {
            *not_mined.entry(said.rule.clone()).or_default() += 1;
        }
    }
    let not_mined = not_mined
        .into_iter()
        .map(|(rule, pull_requests)| NotMined { rule, pull_requests });
    Counts {
        pull_requests: funnel.first().map_or(0, |mine| mine.entered),
        candidates: found.len() as u64,
        instances: instances as u64,
        infra: funnel.iter().map(|step| step.infra).sum(),
        log_entries: log.len() as u64,
        not_mined: not_mined.collect(),
    }
}

/// How stages failed, by stage, outcome and reason.
pub fn failures(log: &[LogEntry]) -> Vec<Failure> {
    let mut failures: BTreeMap<_, u64> = BTreeMap::new();
    for entry in log {
        if let LogEntry::Attempt(ended) = entry
            && ended.outcome != crate::domain::attempt::AttemptOutcome::Done
        {
            *failures
                .entry((ended.stage, ended.outcome, ended.reason.clone()))
                .or_default() += 1;
        }
    }
    let failures = failures.into_iter();
    failures
        .map(|((step, outcome, reason), candidates)| Failure {
            step,
            outcome,
            reason,
            candidates,
        })
        .collect()
}

/// One frame, one thread, a checksum, no date: the same bytes for the same log.
pub(super) fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::Encoder::new(vec![], LOG_LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
    encoder.write_all(bytes)?;
    encoder.finish()
}
