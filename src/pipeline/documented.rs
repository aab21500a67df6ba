//! Tasks that documentation tells, of candidates that are kept: their statements, hints and sizes.

use std::collections::BTreeMap;

use super::error::PipelineError;
use super::select::Field;
use super::source::MinedSource;
use crate::domain::candidate::{Candidate, DiffSource};
use crate::domain::ids::{CandidateId, CommitSha};
use crate::domain::patch::{FileChange, Part};
use crate::domain::path::RepoPath;
use crate::emit::docs::characteristics::Size;
use crate::emit::docs::{Characteristics, DocsFile, DocsTask, SourcePair, characteristics, hints, render};
use crate::git::Mirror;
use crate::mine::split::section;
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
            let task = task(&mirror, candidate, &diff, field)?;
            let gold = files(candidate, field, Part::Gold);
            sizes.push((source.repo.to_string(), Size::of(&task.statement, gold)));
            tasks.insert(candidate.id.clone(), task);
        }
    }
    Ok(Documented {
        tasks,
        characteristics: characteristics(&sizes),
    })
}

fn files<'c>(candidate: &'c Candidate, field: &'c Field, part: Part) -> impl Iterator<Item = &'c FileChange> {
    candidate
        .files
        .iter()
        .filter(move |file| field.splitter.part_of(file) == Some(part))
}

fn task(
    mirror: &Mirror,
    candidate: &Candidate,
    diff: &[u8],
    field: &Field,
) -> Result<DocsTask, PipelineError> {
    let after = match candidate.diff_source {
        DiffSource::Head => candidate.head,
        DiffSource::Landed => candidate.merge.commit,
    };
    let sides = |file: &FileChange| {
        let read = |commit: CommitSha, path: &RepoPath| mirror.read(commit, path);
        let before = read(candidate.merge_base, file.old_path.as_ref().unwrap_or(&file.path))?;
        Ok::<_, PipelineError>((before, read(after, &file.path)?))
    };
    let mut documents = vec![];
    for file in files(candidate, field, Part::Docs) {
        let (before, after) = sides(file)?;
        documents.push(DocsFile {
            path: file.path.clone(),
            section: section(diff, file).to_vec(),
            before,
            after,
        });
    }
    let statement = render(&documents);
    let pairs = |part| {
        let mut pairs = vec![];
        for file in files(candidate, field, part).filter(|file| file.path.has_extension("py")) {
            let (before, after) = sides(file)?;
            let text =
                |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
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
