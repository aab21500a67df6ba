//! Candidates without an entry in the recipe → the environment found for each: detection, groups, one search a group.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::error::PipelineError;
use super::prove::Prover;
use super::search::Searched;
use crate::build::after::PackagingAfter;
use crate::build::detect::{Detected, Origin, Tree, detect};
use crate::build::group::fingerprint;
use crate::build::python::PythonVersion;
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::candidate::Candidate;
use crate::domain::count::count;
use crate::domain::event::Event;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{CandidateId, CommitSha};
use crate::domain::path::RepoPath;
use crate::git::Mirror;
use crate::recipe::model::{EnvironmentRecipe, Runner, Verification};

/// Bumped when the same tree would be searched in another way.
const SEARCH_VERSION: u32 = 5;

/// What one tree asks for, and with which others it shares that.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The group's key.
    pub group: String,
    /// The ways to meet it, the most promising first, at most as many as the recipe lets be tried.
    pub proposals: Vec<Proposed>,
    /// Top-level names of the tree's own modules.
    pub own_modules: BTreeSet<String>,
}

/// A way to meet what a tree asks for.
#[derive(Debug, Clone)]
pub struct Proposed {
    /// What a builder and a runner follow.
    pub environment: EnvironmentRecipe,
    /// Where each line of it comes from.
    pub because: Vec<Origin>,
    /// What nothing but the tests' own requirements ask for.
    pub optional: BTreeSet<String>,
}

/// A tree that was read for detection.
struct ReadTree {
    detected: Detected,
    paths: BTreeSet<RepoPath>,
    /// The files that were read, and the packaging files.
    files: BTreeMap<String, Vec<u8>>,
}

/// Reads a commit's tree, with these packaging files in the place of its own, and detects what it asks for.
fn read_tree(
    mirror: &Path,
    commit: CommitSha,
    date: jiff::Timestamp,
    pythons: &[PythonVersion],
    after: Option<&PackagingAfter>,
) -> Result<ReadTree, PipelineError> {
    let mirror = Mirror::open(mirror)?;
    let mut paths: BTreeSet<RepoPath> = mirror.files(commit)?.into_iter().map(|file| file.path).collect();
    for (path, content) in after.into_iter().flat_map(PackagingAfter::files) {
        let path = RepoPath::from(path);
        match content {
            Some(_) => paths.insert(path),
            None => paths.remove(&path),
        };
    }
    let content = |name: &str| match after.and_then(|after| after.get(name)) {
        Some(laid) => Ok(laid.map(<[u8]>::to_vec)),
        None => mirror.read_through(commit, &RepoPath::from(name)),
    };
    let read = std::cell::RefCell::new(BTreeMap::new());
    let detected = detect(
        Tree {
            paths: &paths,
            read: &|name| {
                let mut known = read.borrow_mut();
                let bytes = known
                    .entry(name.to_owned())
                    .or_insert_with(|| content(name).ok().flatten());
                bytes.clone()
            },
        },
        date,
        pythons,
    );
    for name in ["pyproject.toml", "setup.cfg", "setup.py"] {
        let bytes = match after.and_then(|after| after.get(name)) {
            Some(laid) => laid.map(<[u8]>::to_vec),
            None => mirror.read(commit, &RepoPath::from(name))?,
        };
        read.borrow_mut().entry(name.to_owned()).or_insert(bytes);
    }
    let read = read.into_inner();
    let read = read.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
    Ok(ReadTree {
        detected,
        paths,
        files: read.collect(),
    })
}

impl Prover<'_> {
    /// Finds, for every candidate that no entry of the recipe matches, what its tree asks for. Those that a stop, or a hole
    /// in the mirror, kept from it are missing.
    ///
    /// # Errors
    /// When a mirror cannot be read.
    pub(super) async fn ask_trees(
        &self,
        candidates: &[&Candidate],
    ) -> Result<BTreeMap<CandidateId, Asked>, PipelineError> {
        let mut asked = BTreeMap::new();
        if !self.recipe.detection.enabled {
            return Ok(asked);
        }
        let mut unmatched = Vec::new();
        for candidate in candidates {
            if self.entry(candidate)?.is_none() {
                unmatched.push(*candidate);
            }
        }
        let found: Vec<Option<(CandidateId, Asked)>> = stream::iter(unmatched)
            .map(|candidate| async {
                if self.context.cancel.is_cancelled() {
                    return Ok(None);
                }
                let Ok(found) = self.or_hole(candidate, self.ask_tree(candidate, None).await)? else {
                    return Ok(None);
                };
                self.record_group(candidate, &found, "")?;
                Ok::<_, PipelineError>(Some((candidate.id.clone(), found)))
            })
            .buffer_unordered(self.context.jobs)
            .try_collect()
            .await?;
        asked.extend(found.into_iter().flatten());
        Ok(asked)
    }

    /// Remembers, once, with whom a candidate shares an environment; `why` goes before how many ways are proposed.
    pub(super) fn record_group(
        &self,
        candidate: &Candidate,
        asked: &Asked,
        why: &str,
    ) -> Result<(), PipelineError> {
        let store = &self.context.store;
        let known = store.attempts(Some(Stage::Ask), Some(&candidate.id))?;
        if known.iter().any(|attempt| attempt.input_key == asked.group) {
            return Ok(());
        }
        let detail = match asked.proposals.len() {
            1 => "1 way to install and test it is proposed".to_owned(),
            count => format!("{count} ways to install and test it are proposed"),
        };
        store.append_attempt(Attempt {
            candidate: candidate.id.clone(),
            stage: Stage::Ask,
            input_key: asked.group.clone(),
            outcome: AttemptOutcome::Done,
            reason: "ok".to_owned(),
            detail: format!("{why}{detail}"),
            log: None,
            result: None,
        })?;
        Ok(())
    }

    /// What the base commit's tree asks for, with these packaging files in the place of its own.
    pub(super) async fn ask_tree(
        &self,
        candidate: &Candidate,
        after: Option<PackagingAfter>,
    ) -> Result<Asked, PipelineError> {
        let mirror = self.mirror(candidate)?;
        let pythons: Vec<PythonVersion> = self
            .builder
            .interpreters()
            .iter()
            .map(|interpreter| interpreter.version.clone())
            .collect();
        let (commit, date) = (candidate.base_commit, candidate.base_date);
        let read = move || read_tree(&mirror, commit, date, &pythons, after.as_ref());
        let ReadTree {
            detected,
            paths,
            files,
        } = tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| PipelineError::Broken {
                candidate: candidate.id.to_string(),
                reason: error.to_string(),
            })??;
        let most = usize::try_from(self.recipe.detection.proposals).unwrap_or(usize::MAX);
        let proposals: Vec<Proposed> = detected
            .proposals
            .into_iter()
            .map(|proposal| {
                let mut environment = proposal.environment;
                environment.runner = Some(proposal.runner);
                environment.args = Some(arguments(
                    &self.recipe.verification,
                    proposal.runner,
                    proposal.args,
                ));
                Proposed {
                    environment,
                    because: proposal.because,
                    optional: proposal.optional,
                }
            })
            .take(most)
            .collect();
        let plain: Vec<_> = proposals.iter().map(|one| one.environment.clone()).collect();
        let group = KeyHasher::new("detect", SEARCH_VERSION)
            .json("repo", &candidate.id.repo)
            .json(
                "tree",
                &fingerprint(&plain, &detected.asked, &|name| files.get(name).cloned()),
            )
            .json("detection", &self.recipe.detection)
            .json("runner", &self.recipe.verification.runner)
            .finish();
        Ok(Asked {
            group,
            proposals,
            own_modules: own_modules(&paths),
        })
    }

    /// Searches each group once; those that a stop kept from it are missing. Searched is for the newest member whose tree
    /// is whole: what breaks with time shows there, and a constraint that keeps it out does no harm to those before. Tried
    /// are the modules that any member touches.
    ///
    /// # Errors
    /// Errors of ours or the caller's.
    pub(super) async fn search_groups(
        &self,
        candidates: &[&Candidate],
        asked: &BTreeMap<CandidateId, Asked>,
    ) -> Result<BTreeMap<String, Searched>, PipelineError> {
        let mut groups: BTreeMap<&str, Vec<&Candidate>> = BTreeMap::new();
        for candidate in candidates {
            if let Some(own) = asked.get(&candidate.id) {
                groups.entry(own.group.as_str()).or_default().push(candidate);
            }
        }
        if groups.is_empty() || self.context.cancel.is_cancelled() {
            return Ok(BTreeMap::new());
        }
        let events = &self.context.events;
        events.emit(Event::StageStarted {
            stage: "detect",
            unit: "groups",
            total: groups.len() as u64,
        });
        let found: Vec<Option<(String, Searched)>> = stream::iter(&groups)
            .map(|(group, members)| async move {
                let touched: BTreeSet<RepoPath> =
                    members.iter().flat_map(|member| self.touched(member)).collect();
                let touched: Vec<RepoPath> = touched.into_iter().collect();
                let mut newest_first = members.clone();
                newest_first.sort_by_key(|member| std::cmp::Reverse((member.base_date, &member.id)));
                let mut found = None;
                for member in newest_first {
                    let searched = self.search(member, &asked[&member.id], &touched, group).await;
                    if let Ok(searched) = self.or_hole(member, searched)? {
                        found = searched;
                        break;
                    }
                }
                events.emit(Event::Advanced {
                    stage: "detect",
                    by: 1,
                });
                Ok::<_, PipelineError>(found.map(|found| ((*group).to_owned(), found)))
            })
            .buffer_unordered(self.context.jobs)
            .try_collect()
            .await?;
        let found: BTreeMap<String, Searched> = found.into_iter().flatten().collect();
        let good = found
            .values()
            .filter(|found| found.search.environment().is_some())
            .count();
        events.emit(Event::StageFinished {
            stage: "detect",
            note: format!(
                "{} for {}; {good} of these were found",
                match asked.len() {
                    1 => "1 candidate asks".to_owned(),
                    many => format!("{many} candidates ask"),
                },
                count(groups.len() as u64, "environment")
            ),
        });
        Ok(found)
    }
}

/// A proposal's arguments; where its runner is the dataset's, after the dataset's own, which keep a project's settings out
/// of the run, none of these twice.
fn arguments(dataset: &Verification, runner: Runner, proposal: Vec<String>) -> Vec<String> {
    if runner != dataset.runner || proposal.starts_with(&dataset.args) {
        return proposal;
    }
    dataset.args.iter().cloned().chain(proposal).collect()
}

/// Top-level names that the tree itself brings: its folders and modules, those below `src` and `lib` too.
pub(super) fn own_modules<'a>(paths: impl IntoIterator<Item = &'a RepoPath>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in paths.into_iter().filter_map(RepoPath::to_str) {
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let is_file = parts.peek().is_none();
            match part.strip_suffix(".py").filter(|_| is_file) {
                Some(module) => names.insert(module.to_owned()),
                None => !is_file && names.insert(part.to_owned()),
            };
            if !matches!(part, "src" | "lib" | "python") {
                break;
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trees_own_modules_are_its_folders_and_files() {
        let paths = [
            "src/pantry/units.py",
            "tests/test_a.py",
            "setup.py",
            "README.md",
            "lib/one.py",
        ];
        let paths = paths.map(RepoPath::from);
        let names = own_modules(&paths);
        assert_eq!(
            names.into_iter().collect::<Vec<_>>(),
            ["lib", "one", "pantry", "setup", "src", "tests"]
        );
    }
}
