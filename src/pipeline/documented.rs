//! Tasks that documentation tells, of candidates that are kept: their statements, hints and sizes; and, for rules, how much
//! text there is to read.

use std::collections::BTreeMap;

use super::error::PipelineError;
use super::select::Field;
use super::source::MinedSource;
use crate::domain::candidate::{Candidate, DiffSource};
use crate::domain::charset;
use crate::domain::ids::CandidateId;
use crate::domain::patch::{EntryKind, FileChange, Part};
use crate::emit::docs::characteristics::Size;
use crate::emit::docs::{
    Characteristics, DocsFile, DocsTask, SourcePair, characteristics, hints, holds_text, render, text_lines,
};
use crate::filter::compile;
use crate::git::Mirror;
use crate::mine::split::{Splitter, section};
use crate::recipe::language::FactId;
use crate::recipe::model::{ProblemStatement, Recipe};
use crate::workspace::Context;

/// The tasks, and how large they are.
#[derive(Debug, Default)]
pub struct Documented {
    /// By candidate.
    pub tasks: BTreeMap<CandidateId, DocsTask>,
    /// By repository, and of all under the empty name.
    pub characteristics: BTreeMap<String, Characteristics>,
}

/// Puts the tasks of `kept` together, when the recipe's statement is documentation; else there is none.
///
/// # Errors
/// When a mirror or a diff cannot be read.
pub fn documented(
    context: &Context,
    recipe: &Recipe,
    sources: &[MinedSource],
    field: &Field,
    kept: &[CandidateId],
) -> Result<Documented, PipelineError> {
    if recipe.emission.problem_statement != ProblemStatement::Docs {
        return Ok(Documented::default());
    }
    let mut tasks = BTreeMap::new();
    let mut sizes = vec![];
    for source in sources {
        let mirror = Mirror::open(&source.mirror)?;
        let own = field
            .candidates
            .iter()
            .filter(|candidate| candidate.id.repo == source.repo && kept.contains(&candidate.id));
        for candidate in own {
            let diff = context.blobs.get(&candidate.diff)?;
            let task = task(&mirror, candidate, &diff, &field.splitter)?;
            let gold = files(candidate, &field.splitter, Part::Gold);
            sizes.push((source.repo.to_string(), Size::of(&task.statement, gold)));
            tasks.insert(candidate.id.clone(), task);
        }
    }
    Ok(Documented {
        tasks,
        characteristics: characteristics(&sizes),
    })
}

/// Counts the lines of text that the documentation of each candidate adds, where a rule asks; who is left out has none.
///
/// # Errors
/// When a rule cannot be compiled, or a mirror or a diff cannot be read.
pub(super) fn counted(
    context: &Context,
    recipe: &Recipe,
    sources: &[MinedSource],
    candidates: &[Candidate],
    splitter: &Splitter,
) -> Result<Option<BTreeMap<CandidateId, u64>>, PipelineError> {
    if !compile(recipe)?.reads(FactId::DocsTextLines) {
        return Ok(None);
    }
    let mut counts = BTreeMap::new();
    for source in sources {
        let mirror = Mirror::open(&source.mirror)?;
        let own = candidates
            .iter()
            .filter(|candidate| candidate.id.repo == source.repo);
        for candidate in own {
            let told: Vec<&FileChange> = files(candidate, splitter, Part::Docs)
                .filter(|file| file.entry == EntryKind::File && file.hunks > 0 && holds_text(&file.path))
                .collect();
            if told.is_empty() {
                continue;
            }
            let diff = context.blobs.get(&candidate.diff)?;
            let mut documents = vec![];
            for file in told {
                let (before, after) = sides(&mirror, candidate, file)?;
                documents.push(document(file, &diff, before, after));
            }
            counts.insert(candidate.id.clone(), text_lines(&documents));
        }
    }
    Ok(Some(counts))
}

fn files<'c>(
    candidate: &'c Candidate,
    splitter: &'c Splitter,
    part: Part,
) -> impl Iterator<Item = &'c FileChange> {
    candidate
        .files
        .iter()
        .filter(move |file| splitter.part_of(file) == Some(part))
}

/// A file's bytes before and after a candidate's change.
type Sides = (Option<Vec<u8>>, Option<Vec<u8>>);

fn sides(mirror: &Mirror, candidate: &Candidate, file: &FileChange) -> Result<Sides, PipelineError> {
    Ok((before(mirror, candidate, file)?, after(mirror, candidate, file)?))
}

fn before(
    mirror: &Mirror,
    candidate: &Candidate,
    file: &FileChange,
) -> Result<Option<Vec<u8>>, PipelineError> {
    let path = file.old_path.as_ref().unwrap_or(&file.path);
    Ok(mirror.read(candidate.merge_base, path)?)
}

fn after(
    mirror: &Mirror,
    candidate: &Candidate,
    file: &FileChange,
) -> Result<Option<Vec<u8>>, PipelineError> {
    let commit = match candidate.diff_source {
        DiffSource::Head => candidate.head,
        DiffSource::Landed => candidate.merge.commit,
    };
    Ok(mirror.read(commit, &file.path)?)
}

fn document(file: &FileChange, diff: &[u8], before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> DocsFile {
    DocsFile {
        path: file.path.clone(),
        section: section(diff, file).to_vec(),
        before,
        after,
    }
}

fn task(
    mirror: &Mirror,
    candidate: &Candidate,
    diff: &[u8],
    splitter: &Splitter,
) -> Result<DocsTask, PipelineError> {
    let mut documents = vec![];
    for file in files(candidate, splitter, Part::Docs) {
        let (before, after) = sides(mirror, candidate, file)?;
        documents.push(document(file, diff, before, after));
    }
    let statement = render(&documents);
    let pairs = |part| {
        let mut pairs = vec![];
        for file in files(candidate, splitter, part).filter(|file| file.path.has_extension("py")) {
            let (before, after) = sides(mirror, candidate, file)?;
            let text = |bytes: Option<Vec<u8>>| bytes.map(|bytes| charset::decode(&bytes).into_owned());
            pairs.push(SourcePair {
                path: file.path.clone(),
                before: text(before),
                after: text(after),
            });
        }
        Ok::<_, PipelineError>(pairs)
    };
    let hints = hints(&pairs(Part::Gold)?, &pairs(Part::Test)?, &statement);
    Ok(DocsTask { statement, hints })
}
