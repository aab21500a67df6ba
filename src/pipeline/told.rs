//! What release notes tell of pull requests, for rules that ask.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::error::PipelineError;
use super::source::MinedSource;
use crate::domain::event::Event;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{BlobId, CandidateId, RepoName, RuleId};
use crate::domain::notes::Note;
use crate::filter::compile;
use crate::mine::release_notes::run::{Notes as Read, Settings, VERSION, notes, outside};
use crate::recipe::language::FactId;
use crate::recipe::model::Recipe;
use crate::workspace::Context;

/// For each pull request what release notes tell of it; who is not in it is told of nowhere.
pub(super) type Notes = BTreeMap<CandidateId, Vec<Note>>;

/// What one repository's release notes tell.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// Of pull requests.
    pub(super) notes: Notes,
    /// Issues that entries name and of which nobody tells who closed them.
    pub(super) open: BTreeSet<u32>,
}

/// Cursors of this name say where what was read of a repository's notes is kept.
const CURSOR: &str = "notes:";
const STAGE: &str = "notes";

/// Reads the notes of every source, where a rule asks for them. What was read of a mirror is kept until the mirror, or how
/// notes are read, changes.
///
/// # Errors
/// When a mirror, the ledger or the blobs cannot be read.
pub(super) fn told(
    context: &Context,
    recipe: &Recipe,
    sources: &[MinedSource],
) -> Result<Option<Notes>, PipelineError> {
    if !reads(recipe)? {
        return Ok(None);
    }
    let mut all = Notes::new();
    for source in sources {
        all.extend(of(context, recipe, source)?.notes);
    }
    Ok(Some(all))
}

/// Whether a rule of the recipe reads release notes.
///
/// # Errors
/// When a rule cannot be compiled.
pub(super) fn reads(recipe: &Recipe) -> Result<bool, PipelineError> {
    let program = compile(recipe)?;
    Ok(program.reads(FactId::NotesEntries) || program.reads(FactId::NotesKinds))
}

/// The recipe without its rules that read release notes.
///
/// # Errors
/// When a rule cannot be compiled.
pub(super) fn without(recipe: &Recipe) -> Result<Recipe, PipelineError> {
    let program = compile(recipe)?;
    let of_notes: BTreeSet<&RuleId> = program
        .rules()
        .iter()
        .filter(|rule| {
            let facts = program.facts_of(rule);
            facts.contains(&FactId::NotesEntries) || facts.contains(&FactId::NotesKinds)
        })
        .map(|rule| &rule.id)
        .collect();
    let mut rest = recipe.clone();
    rest.rules.retain(|rule| !of_notes.contains(&rule.id));
    Ok(rest)
}

/// Reads the notes of one repository, with what the workspace knows of it from the forge.
///
/// # Errors
/// When the mirror, the ledger or the blobs cannot be read.
pub(super) fn of(context: &Context, recipe: &Recipe, source: &MinedSource) -> Result<Told, PipelineError> {
    let outside = outside::outside(context, &source.repo)?;
    let key = KeyHasher::new(STAGE, VERSION)
        .json("refs", &source.source.refs_sha256)
        .json("repo", &source.repo)
        .json("notes", &recipe.notes)
        .json("outside", &outside)
        .finish();
    let cursor = format!("{CURSOR}{}", source.repo);
    if let Some((of, kept)) = kept(context, &source.repo)?
        && of == key
    {
        return Ok(kept);
    }
    context.events.emit(Event::StageStarted {
        stage: STAGE,
        unit: "entries",
        total: 0,
    });
    let read = notes(&Settings {
        mirror: source.mirror.clone(),
        repo: Some(source.repo.clone()),
        notes: recipe.notes.clone(),
        outside,
        jobs: context.jobs,
    })?;
    let open = outside::open(&read);
    let found = by_pull_request(&read);
    let pairs: Vec<(&CandidateId, &Vec<Note>)> = found.iter().collect();
    let bytes = serde_json::to_vec(&pairs).unwrap_or_default();
    let blob = context.blobs.put(&bytes)?;
    context
        .store
        .put_cursor(&cursor, json!({ "key": key, "blob": blob, "open": open }))?;
    for glob in &read.unmatched {
        context.events.emit(Event::Warning {
            message: format!(
                "{}: no file matches `{glob}` in the recipe's `notes.files`",
                source.repo
            ),
        });
    }
    context.events.emit(Event::StageFinished {
        stage: STAGE,
        note: format!(
            "{}: {} entries tell of {} pull requests",
            source.repo,
            read.summary.resolved,
            found.len()
        ),
    });
    Ok(Told { notes: found, open })
}

/// What was read last of a repository's notes, by whichever recipe, and the key of what it was read from.
///
/// # Errors
/// When the ledger cannot be read. What cannot be read any longer counts for nothing.
pub(super) fn kept(context: &Context, repo: &RepoName) -> Result<Option<(String, Told)>, PipelineError> {
    let cursor = format!("{CURSOR}{repo}");
    let rows = context.store.cursors(&cursor)?;
    let row = rows.into_iter().find(|(name, _)| *name == cursor);
    Ok(row.and_then(|(_, data)| {
        let id: BlobId = serde_json::from_value(data["blob"].clone()).ok()?;
        let open = serde_json::from_value(data["open"].clone()).ok()?;
        let bytes = context.blobs.get(&id).ok()?;
        let pairs: Vec<(CandidateId, Vec<Note>)> = serde_json::from_slice(&bytes).ok()?;
        let notes = pairs.into_iter().collect();
        Some((data["key"].as_str()?.to_owned(), Told { notes, open }))
    }))
}

/// The entries by the pull requests that they were resolved to, in the entries' order.
fn by_pull_request(read: &Read) -> Notes {
    let mut found = Notes::new();
    for resolved in &read.entries {
        let entry = &resolved.entry;
        for pull in resolved.chosen() {
            let id = CandidateId::pull(read.repo.clone(), pull.number);
            found.entry(id).or_default().push(Note {
                version: entry.version.clone().unwrap_or_default(),
                kind: entry.kind,
                section: entry.section.join(" > "),
                text: entry.text.clone(),
                evidence: pull
                    .evidence
                    .first()
                    .map_or("", |evidence| evidence.name())
                    .to_owned(),
            });
        }
    }
    found
}
