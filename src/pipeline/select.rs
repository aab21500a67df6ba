//! The ledger's candidates of a recipe, and what its rules say of them.

use std::collections::BTreeMap;

use super::documented::counted;
use super::error::PipelineError;
use super::source::MinedSource;
use super::told::told;
use crate::domain::candidate::Candidate;
use crate::domain::ids::CandidateId;
use crate::domain::notes::Note;
use crate::domain::oracle::Oracle;
use crate::filter::run::{Selection, Told, filter_candidates};
use crate::mine::split::Splitter;
use crate::recipe::model::Recipe;
use crate::recipe::window::Window;
use crate::workspace::Context;

/// The candidates a recipe looks at, with what splits their diffs.
pub struct Field {
    /// Candidates of the recipe's repositories that are in its window (and among those asked for), by repository and
    /// number.
    pub candidates: Vec<Candidate>,
    /// The recipe's split.
    pub splitter: Splitter,
    /// What release notes tell of pull requests; `None` where no rule asks.
    pub notes: Option<BTreeMap<CandidateId, Vec<Note>>>,
    /// How many lines of text documentation adds; `None` where no rule asks.
    pub text_lines: Option<BTreeMap<CandidateId, u64>>,
}

impl Field {
    /// What rules may see beside the candidates themselves.
    pub fn told(&self) -> Told<'_> {
        Told {
            notes: self.notes.as_ref(),
            text_lines: self.text_lines.as_ref(),
        }
    }
}

/// Reads the candidates of `sources` that the recipe looks at; of those only `only`, unless it is empty.
///
/// # Errors
/// When the ledger cannot be read, or `only` names a pull request that is no candidate there.
pub fn field(
    context: &Context,
    recipe: &Recipe,
    sources: &[MinedSource],
    only: &[CandidateId],
) -> Result<Field, PipelineError> {
    let splitter = Splitter::new(&recipe.split)?;
    let window = Window::of(&recipe.source);
    let mut candidates = Vec::new();
    for source in sources {
        candidates.extend(context.candidates(Some(&source.repo))?);
    }
    for id in only {
        if !candidates.iter().any(|candidate| candidate.id == *id) {
            return Err(PipelineError::NoCandidate { id: id.clone() });
        }
    }
    candidates.retain(|candidate| {
        let admitted = window.is_none_or(|window| window.admits(candidate.merged_at));
        admitted && (only.is_empty() || only.contains(&candidate.id))
    });
    let notes = told(context, recipe, sources)?;
    let text_lines = counted(context, recipe, sources, &candidates, &splitter)?;
    Ok(Field {
        candidates,
        splitter,
        notes,
        text_lines,
    })
}

/// Asks the recipe's rules, with the oracles that are known.
///
/// # Errors
/// When a rule cannot be computed on a candidate, or the ledger cannot be written.
pub fn ask(
    context: &Context,
    recipe: &Recipe,
    field: &Field,
    oracles: &BTreeMap<CandidateId, Oracle>,
) -> Result<Selection, PipelineError> {
    let selection = filter_candidates(
        context,
        recipe,
        &field.candidates,
        |file| field.splitter.part_of(file),
        |id| oracles.get(id).cloned(),
        field.told(),
    )?;
    Ok(selection)
}
