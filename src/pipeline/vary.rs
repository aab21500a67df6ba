//! Those that are kept → the variants of their base commits that the recipe asks for.

use std::collections::{BTreeMap, BTreeSet};

use super::error::PipelineError;
use super::select::Field;
use super::source::MinedSource;
use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::event::Event;
use crate::domain::ids::CandidateId;
use crate::domain::variant::VariantRecord;
use crate::emit::Ended;
use crate::recipe::model::Recipe;
use crate::strip::run::{VariantRequest, Varied, make_variants};
use crate::workspace::Context;

/// The variants of every candidate that is kept.
#[derive(Debug, Clone, Default)]
pub struct Variety {
    /// Each one's variants.
    pub made: BTreeMap<CandidateId, Vec<VariantRecord>>,
    /// How the step ended for each.
    pub ended: Vec<Ended>,
}

impl Variety {
    /// Whether nothing that was asked for of this candidate is missing.
    pub fn is_whole(&self, candidate: &CandidateId) -> bool {
        let own = self.ended.iter().filter(|ended| ended.candidate == *candidate);
        own.into_iter().all(|ended| ended.outcome == AttemptOutcome::Done)
    }

    /// In how many variants code is left that reads docstrings or source.
    pub fn readers(&self) -> usize {
        let made = self.made.values().flatten();
        made.filter(|record| !record.needs.is_empty()).count()
    }
}

/// Makes the variants, one candidate after the other (each on all threads); those that the ledger knows cost nothing.
/// `None` when the user asked to stop; what was made is recorded.
///
/// # Errors
/// When a mirror, the workspace or the ledger cannot be used.
pub async fn vary(
    context: &Context,
    recipe: &Recipe,
    sources: &[MinedSource],
    field: &Field,
    kept: &[CandidateId],
) -> Result<Option<Variety>, PipelineError> {
    let wanted: BTreeSet<_> = recipe.variants.iter().copied().collect();
    let mut variety = Variety::default();
    if wanted.is_empty() {
        return Ok(Some(variety));
    }
    let events = &context.events;
    events.emit(Event::StageStarted {
        stage: "strip",
        unit: "instances",
        total: kept.len() as u64,
    });
    for id in kept {
        if context.cancel.is_cancelled() {
            return Ok(None);
        }
        let unknown = || PipelineError::NoCandidate { id: id.clone() };
        let candidate = field.candidates.iter().find(|candidate| candidate.id == *id);
        let source = sources.iter().find(|source| source.repo == id.repo);
        let request = VariantRequest {
            candidate: id.clone(),
            commit: candidate.ok_or_else(unknown)?.base_commit,
            wanted: wanted.clone(),
            policy: recipe.strip.clone(),
            tries: recipe.verification.infra_tries,
        };
        let mirror = source.ok_or_else(unknown)?.mirror.clone();
        let own = context.clone();
        let work = move || make_variants(&own, &mirror, &request);
        let made = tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| PipelineError::Broken {
                candidate: id.to_string(),
                reason: error.to_string(),
            })??;
        let (outcome, reason) = match made {
            Varied::Made(records) => {
                variety.made.insert(id.clone(), records);
                (AttemptOutcome::Done, "ok")
            }
            Varied::Infra(reason) => (AttemptOutcome::Infra, reason),
        };
        variety.ended.push(Ended {
            candidate: id.clone(),
            stage: Stage::Strip,
            outcome,
            reason: reason.to_owned(),
        });
        events.emit(Event::Advanced {
            stage: "strip",
            by: 1,
        });
    }
    events.emit(Event::StageFinished {
        stage: "strip",
        note: format!(
            "{} variants each of {} instances",
            wanted.len(),
            variety.made.len()
        ),
    });
    Ok(Some(variety))
}
