//! An emitted version, and what the workspace knows of its instances.

use std::path::PathBuf;

use camino::Utf8Path;

use super::error::PipelineError;
use super::prove::Prover;
use super::search::{finished, own_key};
use crate::build::BuildError;
use crate::domain::attempt::Stage;
use crate::domain::candidate::Candidate;
use crate::domain::ids::CandidateId;
use crate::emit::assemble::{INSTANCES, MANIFEST};
use crate::emit::instance::Instance;
use crate::emit::manifest::Manifest;
use crate::emit::{self, RunError, versions};
use crate::recipe::model::EnvironmentRecipe;
use crate::recipe::{self, LoadedRecipe};

/// An emitted version, read and found sound.
#[derive(Debug, Clone)]
pub struct Version {
    /// Its manifest.
    pub manifest: Manifest,
    /// Its rows, in their order.
    pub instances: Vec<Instance>,
    /// Its recipe, checked again.
    pub loaded: LoadedRecipe,
}

/// Reads a version's folder.
///
/// # Errors
/// When there is none, or it is not sound.
pub fn read(folder: &Utf8Path) -> Result<Version, PipelineError> {
    let bad = |problem: String| PipelineError::BadVersion {
        folder: folder.to_owned(),
        problem,
    };
    let checked = emit::verify(folder)?;
    if let Some(problem) = checked.problems.first() {
        return Err(bad(problem.to_string()));
    }
    let files = versions::read(folder).map_err(RunError::from)?;
    let get = |name: &str| files.get(name).map(Vec::as_slice).unwrap_or_default();
    let manifest: Manifest = serde_json::from_slice(get(MANIFEST)).map_err(|error| bad(error.to_string()))?;
    let rows = get(INSTANCES)
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let instances = rows
        .map(serde_json::from_slice)
        .collect::<Result<_, _>>()
        .map_err(|error| bad(error.to_string()))?;
    let loaded = recipe::parse(folder.join(MANIFEST).as_str(), &manifest.recipe.text)?;
    Ok(Version {
        manifest,
        instances,
        loaded,
    })
}

/// The pull request that a row was.
pub(super) fn candidate_of(row: &Instance) -> CandidateId {
    CandidateId::pull(row.repo.clone(), row.pull_number)
}

impl Prover<'_> {
    /// The recipe of the very environment that the row names: one of those that proving would take for it.
    pub(super) fn environment_of(
        &self,
        row: &Instance,
        candidate: &Candidate,
    ) -> Result<Option<EnvironmentRecipe>, PipelineError> {
        let mut choices = Vec::new();
        choices.extend(self.entry(candidate)?.cloned());
        // What was found for the groups that it was in, and for it alone: whichever interpreters there were then.
        let store = &self.context.store;
        for asked in store.attempts(Some(Stage::Ask), Some(&candidate.id))? {
            let group = asked.input_key;
            for key in [own_key(&group, &candidate.id), group] {
                let searches = store.attempts_by_key(Stage::Detect, &key)?;
                let found = searches.into_iter().find_map(finished);
                choices.extend(found.and_then(|found| found.search.environment().cloned()));
            }
        }
        for choice in choices {
            let request = self.build_request(candidate, &choice, PathBuf::new())?;
            let known = match self.builder.recorded(&request) {
                // Not this one's, or told below.
                Err(BuildError::NoInterpreter { .. }) => continue,
                other => other?,
            };
            if let Some(Ok(known)) = known
                && known.key == row.environment
            {
                return Ok(Some(choice));
            }
        }
        Ok(None)
    }
}
