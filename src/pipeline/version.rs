//! An emitted version, and what the workspace knows of its instances.

use std::collections::BTreeMap;
use std::path::PathBuf;

use camino::Utf8Path;

use super::error::PipelineError;
use super::prove::Prover;
use super::search::{finished, own_key};
use crate::build::BuildError;
use crate::domain::attempt::Stage;
use crate::domain::candidate::Candidate;
use crate::domain::ids::BlobId;
use crate::domain::ids::CandidateId;
use crate::emit::assemble::{INSTANCES, MANIFEST, lock_name};
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
    /// The locks of its environments.
    pub locks: BTreeMap<BlobId, Vec<u8>>,
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
    let locks = manifest.environments.iter().map(|entry| {
        let bytes = get(&lock_name(&entry.lock)).to_vec();
        (entry.lock.clone(), bytes)
    });
    Ok(Version {
        locks: locks.collect(),
        manifest,
        instances,
        loaded,
    })
}

/// The pull request that a row was.
pub(super) fn candidate_of(row: &Instance) -> CandidateId {
    CandidateId::pull(row.repo.clone(), row.pull_number)
}

/// An environment that instances can be evaluated in.
pub(super) struct Placed {
    /// How it is made.
    pub(super) recipe: EnvironmentRecipe,
    /// Its key.
    pub(super) key: String,
}

impl Prover<'_> {
    /// The recipe of the very environment that the row names: one of those that proving would take for it.
    pub(super) fn environment_of(
        &self,
        row: &Instance,
        candidate: &Candidate,
    ) -> Result<Option<EnvironmentRecipe>, PipelineError> {
        let known = self.known_environments(candidate)?;
        let named = known.into_iter().find(|known| known.key == row.environment_key());
        Ok(named.map(|known| known.recipe))
    }

    /// Environments that were built for a candidate here, those first that proving would take first.
    fn known_environments(&self, candidate: &Candidate) -> Result<Vec<Placed>, PipelineError> {
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
        let mut known = Vec::new();
        for choice in choices {
            let request = self.build_request(candidate, &choice, PathBuf::new())?;
            match self.builder.recorded(&request) {
                // Not this one's, or told below.
                Err(BuildError::NoInterpreter { .. }) => {}
                Ok(Some(Ok(built))) => known.push(Placed {
                    recipe: choice,
                    key: built.key,
                }),
                other => {
                    other?;
                }
            }
        }
        Ok(known)
    }

    /// The environment that a row is evaluated in: the one that it names, as it was built here, or as the version says
    /// that it is built; of an imported row the one in which it was verified here. When there is none, why.
    pub(super) fn place_of(
        &self,
        version: &Version,
        row: &Instance,
        candidate: &Candidate,
    ) -> Result<Result<Placed, String>, PipelineError> {
        let known = self.known_environments(candidate)?.into_iter();
        let Some(key) = &row.environment else {
            let nobody = || {
                "the row was imported, and nobody knows its environment: verify it again here first, by the version's \
                 `reverify.toml`"
                    .to_owned()
            };
            return Ok(known.into_iter().next().ok_or_else(nobody));
        };
        if let Some(named) = known.into_iter().find(|known| known.key == *key) {
            return Ok(Ok(named));
        }
        let entry = version
            .manifest
            .environments
            .iter()
            .find(|entry| entry.key == *key);
        let Some((entry, recipe)) = entry.zip(published(row)) else {
            let what = format!(
                "the workspace does not know the environment `{key}`, nor does the row say how it is made"
            );
            return Ok(Err(what));
        };
        let recipe = EnvironmentRecipe {
            name: entry.names.first().cloned().unwrap_or_default(),
            constraints: entry.constraints.clone(),
            newer: entry.newer.clone(),
            left_out: entry.left_out.clone(),
            requirements_after: entry.requirements_after.first().map(|after| after.reason.clone()),
            ..recipe
        };
        let request = self.build_request(candidate, &recipe, PathBuf::new())?;
        let lock = version
            .locks
            .get(&entry.lock)
            .map(Vec::as_slice)
            .unwrap_or_default();
        match self.builder.adopt(&request, key, lock, &entry.resolver) {
            // What it is built into is looked at once it is built.
            Ok(_) => Ok(Ok(Placed {
                recipe,
                key: key.clone(),
            })),
            Err(BuildError::NoInterpreter { wanted, found, .. }) => Ok(Err(format!(
                "the environment `{key}` needs Python {wanted}, and this machine has {found}: `--install-python {wanted}` \
                 gets it"
            ))),
            Err(error) => Err(error.into()),
        }
    }
}

/// How a row says that its environment is made; `None` when it does not.
fn published(row: &Instance) -> Option<EnvironmentRecipe> {
    let runner = serde_json::from_value(row.setup.runner.as_str().into()).ok()?;
    Some(EnvironmentRecipe {
        reason: "as the version says that it was made".to_owned(),
        python: row.interpreter.clone()?,
        install: row.setup.install.clone(),
        env: row.setup.variables.clone(),
        runner: Some(runner),
        args: Some(row.setup.args.clone()),
        ..EnvironmentRecipe::default()
    })
}
