//! What release notes tell of pull requests, for rules that ask.

use std::collections::BTreeMap;

use serde_json::json;

use super::error::PipelineError;
use super::source::MinedSource;
use crate::domain::event::Event;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{BlobId, CandidateId};
use crate::domain::notes::Note;
use crate::filter::compile;
use crate::mine::release_notes::run::{Notes as Read, Settings, VERSION, notes};
use crate::recipe::language::FactId;
use crate::recipe::model::Recipe;
use crate::workspace::Context;

/// For each pull request what release notes tell of it; who is not in it is told of nowhere.
pub(super) type Notes = BTreeMap<CandidateId, Vec<Note>>;

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
    let program = compile(recipe)?;
    if !program.reads(FactId::NotesEntries) && !program.reads(FactId::NotesKinds) {
        return Ok(None);
    }
    let mut all = Notes::new();
    for source in sources {
        all.extend(of(context, recipe, source)?);
    }
    Ok(Some(all))
}

fn of(context: &Context, recipe: &Recipe, source: &MinedSource) -> Result<Notes, PipelineError> {
    let key = KeyHasher::new(STAGE, VERSION)
        .json("refs", &source.source.refs_sha256)
        .json("repo", &source.repo)
        .json("notes", &recipe.notes)
        .finish();
    let cursor = format!("{CURSOR}{}", source.repo);
    let kept = context
        .store
        .cursors(&cursor)?
        .into_iter()
        .find(|(name, _)| *name == cursor);
    let kept = kept.and_then(|(_, data)| {
        let id: BlobId = serde_json::from_value(data["blob"].clone()).ok()?;
        (data["key"] == key).then_some(id)
    });
    if let Some(id) = kept
        && let Ok(bytes) = context.blobs.get(&id)
        && let Ok(pairs) = serde_json::from_slice::<Vec<(CandidateId, Vec<Note>)>>(&bytes)
    {
        return Ok(pairs.into_iter().collect());
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
        jobs: context.jobs,
        ..Settings::default()
    })?;
    let found = by_pull_request(&read);
    let pairs: Vec<(&CandidateId, &Vec<Note>)> = found.iter().collect();
    let bytes = serde_json::to_vec(&pairs).unwrap_or_default();
    let blob = context.blobs.put(&bytes)?;
    context
        .store
        .put_cursor(&cursor, json!({ "key": key, "blob": blob }))?;
    context.events.emit(Event::StageFinished {
        stage: STAGE,
        note: format!(
            "{}: {} entries tell of {} pull requests",
            source.repo,
            read.summary.resolved,
            found.len()
        ),
    });
    Ok(found)
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
