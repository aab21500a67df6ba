//! Candidates → environments and oracles: build, then run the tests before and after gold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::brake::{Brake, Halt, WORKSPACE};
use super::environments::Asked;
use super::error::PipelineError;
use super::proof::Proof;
use super::search::{NOTHING_FOUND, Searched, own_key};
use super::source::MinedSource;
use super::tried::Search;
use crate::build::BuildError;
use crate::build::run::{BuildOutcome, BuildRequest, BuildSettings, Builder};
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::candidate::Candidate;
use crate::domain::count::count;
use crate::domain::event::Event;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{CandidateId, TestId};
use crate::domain::patch::Part;
use crate::domain::path::RepoPath;
use crate::filter::{CandidateFacts, Program, compile};
use crate::git::Mirror;
use crate::mine::split::Splitter;
use crate::recipe::model::{EnvironmentRecipe, Recipe};
use crate::sandbox::Room;
use crate::verify::run::{Patches, Subject, Verifier, VerifyOutcome, VerifyRequest};
use crate::workspace::Context;

/// Builds and verifies candidates of one recipe.
pub struct Prover<'a> {
    pub(super) context: &'a Context,
    pub(super) recipe: &'a Recipe,
    splitter: &'a Splitter,
    sources: &'a [MinedSource],
    program: Program,
    /// Whether the recipe keeps nothing whose FAIL_TO_PASS is empty.
    needs_fail_to_pass: bool,
    pub(super) builder: Builder,
    pub(super) verifier: Verifier,
    pub(super) only_recorded: bool,
    brake: Brake,
}

/// What proving works with.
#[derive(Debug)]
pub struct Means {
    /// Where installs and tests run.
    pub room: Room,
    /// The machine's interpreters and package settings.
    pub build: BuildSettings,
    /// Whether nothing may be built or run: what the ledger does not know is missing from the answer.
    pub only_recorded: bool,
    /// No work begins while less is free, in bytes, on the workspace's disk.
    pub min_free_bytes: u64,
}

impl<'a> Prover<'a> {
    /// Finds the machine's tools.
    ///
    /// # Errors
    /// When the room, uv or the workspace cannot be used.
    pub fn new(
        context: &'a Context,
        recipe: &'a Recipe,
        splitter: &'a Splitter,
        sources: &'a [MinedSource],
        means: Means,
    ) -> Result<Self, PipelineError> {
        let Means { room, build, .. } = means;
        let program = compile(recipe)?;
        Ok(Self {
            context,
            recipe,
            splitter,
            sources,
            needs_fail_to_pass: program.needs_fail_to_pass(),
            program,
            builder: Builder::new(context.clone(), room.clone(), build)?,
            verifier: Verifier::new(context.clone(), room)?,
            only_recorded: means.only_recorded,
            brake: Brake::new(
                vec![(context.workspace.root().into(), WORKSPACE)],
                means.min_free_bytes,
            ),
        })
    }

    /// Why work stopped before its end, if the machine lacks something.
    pub fn halt(&self) -> Option<&Halt> {
        self.brake.why()
    }

    /// Proves candidates, several at once. Those that a stop kept from being finished are missing from the answer.
    ///
    /// # Errors
    /// Errors of ours or the caller's; what is a candidate's or the outside's fault is in its proof.
    pub async fn prove(&self, candidates: &[&Candidate]) -> Result<Vec<Proof>, PipelineError> {
        let asked = self.ask_trees(candidates).await?;
        let groups = self.search_groups(candidates, &asked).await?;
        let events = &self.context.events;
        let total = candidates.len() as u64;
        events.emit(Event::StageStarted {
            stage: "verify",
            unit: "candidates",
            total,
        });
        let mut proofs: Vec<Proof> = stream::iter(self.longest_first(candidates, &asked, &groups))
            .map(|candidate| async {
                // What is missing is not asked for one by one once somebody wants an end.
                if self.context.cancel.is_cancelled() {
                    return Ok(None);
                }
                let proof = self.prove_one(candidate, &asked, &groups).await;
                let proof = match self.or_hole(candidate, proof) {
                    Ok(Ok(proof)) => Ok(proof),
                    Ok(Err(hole)) => Ok(Some(hole.proof(candidate))),
                    Err(error) => Err(error),
                };
                if let Ok(Some(proof)) = &proof {
                    self.brake.see(&proof.ended);
                }
                events.emit(Event::Advanced {
                    stage: "verify",
                    by: 1,
                });
                proof
            })
            .buffer_unordered(self.context.jobs)
            .try_filter_map(|proof| async { Ok(proof) })
            .try_collect()
            .await?;
        // They come in the order in which they end; what follows must not depend on that.
        proofs.sort_by(|a, b| a.candidate.cmp(&b.candidate));
        let verified = proofs.iter().filter(|proof| proof.verified.is_some()).count();
        let note = format!(
            "{verified} of {} {} an oracle",
            count(total, "candidate"),
            if total == 1 { "has" } else { "have" }
        );
        events.emit(Event::StageFinished {
            stage: "verify",
            note,
        });
        Ok(proofs)
    }

    async fn prove_one(
        &self,
        candidate: &Candidate,
        asked: &BTreeMap<CandidateId, Asked>,
        groups: &BTreeMap<String, Searched>,
    ) -> Result<Option<Proof>, PipelineError> {
        if let Some(entry) = self.entry(candidate)? {
            return self.prove_in(candidate, entry).await;
        }
        let Some(asked) = asked.get(&candidate.id) else {
            // Kept from being asked, then: a hole is met again and told, a stop is one still.
            if self.recipe.detection.enabled {
                self.ask_tree(candidate, None).await?;
                return Ok(None);
            }
            self.record_no_environment(candidate)?;
            let proof = Proof::of(candidate);
            return Ok(Some(
                proof.without_environment(AttemptOutcome::Project, NO_ENVIRONMENT),
            ));
        };
        match self.prove_found(candidate, asked, groups).await? {
            Some(proof) => self.prove_after(candidate, asked, proof).await,
            None => Ok(None),
        }
    }

    /// With what was found for its group, or for it alone.
    async fn prove_found(
        &self,
        candidate: &Candidate,
        asked: &Asked,
        groups: &BTreeMap<String, Searched>,
    ) -> Result<Option<Proof>, PipelineError> {
        let Some(shared) = groups.get(&asked.group) else {
            // A stop, or no member's tree is whole: that is met again, and told.
            if self.may_work() {
                let work = self.work_folder("prove-")?;
                self.export(candidate, &work.path().join("tree")).await?;
            }
            return Ok(None);
        };
        if let Search::Infra(reason) = &shared.search {
            let proof = Proof::of(candidate);
            return Ok(Some(proof.without_environment(AttemptOutcome::Infra, reason)));
        }
        let found = shared.search.environment();
        let nothing = || Proof::of(candidate).without_environment(AttemptOutcome::Project, NOTHING_FOUND);
        let mut proof = None;
        if let Some(environment) = found {
            let Some(shared) = self.prove_in(candidate, environment).await? else {
                return Ok(None);
            };
            if !shared.is_hollow() {
                return Ok(Some(shared));
            }
            proof = Some(shared);
        }
        if shared.of == candidate.id {
            return Ok(Some(proof.unwrap_or_else(nothing)));
        }
        // What does for the group does not do for this one: it is searched for by itself.
        let key = own_key(&asked.group, &candidate.id);
        let Some(own) = self
            .search(candidate, asked, &self.touched(candidate), &key)
            .await?
        else {
            return Ok(None);
        };
        match &own.search {
            Search::Infra(reason) => Ok(Some(
                Proof::of(candidate).without_environment(AttemptOutcome::Infra, reason),
            )),
            search => match search.environment() {
                Some(own) if Some(own) != found => self.prove_in(candidate, own).await,
                Some(_) | None => Ok(Some(proof.unwrap_or_else(nothing))),
            },
        }
    }

    /// A folder for one candidate's work, gone when dropped.
    pub(super) fn work_folder(&self, prefix: &str) -> Result<tempfile::TempDir, PipelineError> {
        let scratch = self.context.workspace.scratch();
        tempfile::Builder::new()
            .prefix(prefix)
            .tempdir_in(&scratch)
            .map_err(|source| PipelineError::Scratch {
                path: scratch,
                source,
            })
    }

    /// Builds one environment and verifies the candidate in it. `None` when it was stopped, or when the ledger does not
    /// know and nothing may be run.
    pub(super) async fn prove_in(
        &self,
        candidate: &Candidate,
        environment: &EnvironmentRecipe,
    ) -> Result<Option<Proof>, PipelineError> {
        let proof = Proof::of(candidate);
        let work = self.work_folder("prove-")?;
        let request = self.build_request(candidate, environment, work.path().join("tree"))?;
        // What the ledger knows costs no export, no build and no run.
        if let Some(recorded) = self.builder.recorded(&request)? {
            match recorded {
                Err(failure) => return Ok(Some(proof.built(Err(failure)))),
                Ok(described) => {
                    let subject = self.subject(candidate, environment, &described.key)?;
                    if let Some(outcome) = self.verifier.recorded(&subject)? {
                        let tests = fail_to_pass(&outcome);
                        let measured = self.verifier.known_strength(&subject, tests)?;
                        if measured.complete || !self.may_work() {
                            let setup = environment.setup(&self.recipe.verification);
                            return Ok(proof
                                .built(Ok(&described))
                                .judged(outcome, measured, described, setup));
                        }
                    }
                }
            }
        }
        if !self.may_work() {
            return Ok(None);
        }
        self.export(candidate, &request.tree).await?;
        let built = match self.builder.build_for(&request).await {
            Ok(BuildOutcome::Built(built)) => built,
            Ok(BuildOutcome::Failed(failure)) => return Ok(Some(proof.built(Err(failure)))),
            Ok(BuildOutcome::Cancelled) => return Ok(None),
            // A line that this commit's own files led to.
            Err(BuildError::Install { .. }) if !self.recipe.environment.contains(environment) => {
                return Ok(Some(
                    proof.without_environment(AttemptOutcome::Project, "bad-line"),
                ));
            }
            Err(error) => return Err(error.into()),
        };
        let described = built.environment.clone();
        let request = VerifyRequest {
            subject: self.subject(candidate, environment, &described.key)?,
            tree: request.tree,
            environment: Arc::new(*built),
            again: false,
        };
        let outcome = self.verifier.verify(&request).await?;
        let measured = self.verifier.strength(&request, fail_to_pass(&outcome)).await?;
        let setup = environment.setup(&self.recipe.verification);
        Ok(proof
            .built(Ok(&described))
            .judged(outcome, measured, described, setup))
    }

    /// What building is asked, for the candidate's tree exported at `tree`.
    pub(super) fn build_request(
        &self,
        candidate: &Candidate,
        environment: &EnvironmentRecipe,
        tree: PathBuf,
    ) -> Result<BuildRequest, PipelineError> {
        let after = match &environment.requirements_after {
            Some(_) => self.packaging_after(candidate)?,
            None => None,
        };
        Ok(BuildRequest {
            candidate: candidate.id.clone(),
            base_commit: candidate.base_commit,
            base_date: candidate.base_date,
            release: candidate.release.clone(),
            tree,
            recipe: environment.clone(),
            after,
            infra_tries: self.recipe.verification.infra_tries,
        })
    }

    /// Whether something may be built or run now.
    pub(super) fn may_work(&self) -> bool {
        !self.only_recorded && !self.context.cancel.is_cancelled() && self.brake.admits()
    }

    /// The files that a candidate's test patch touches.
    pub(super) fn touched(&self, candidate: &Candidate) -> Vec<RepoPath> {
        let tests = candidate
            .files
            .iter()
            .filter(|file| self.splitter.part_of(file) == Some(Part::Test));
        tests.map(|file| file.path.clone()).collect()
    }

    fn subject(
        &self,
        candidate: &Candidate,
        environment: &EnvironmentRecipe,
        environment_key: &str,
    ) -> Result<Subject, PipelineError> {
        let diff = self.context.blobs.get(&candidate.diff)?;
        let cut = self.splitter.cut(&diff, &candidate.files);
        Ok(Subject {
            candidate: candidate.id.clone(),
            base_commit: candidate.base_commit,
            patches: Patches {
                test: cut.test,
                gold: cut.gold,
            },
            touched: self.touched(candidate),
            environment_key: environment_key.to_owned(),
            variables: environment.env.clone(),
            settings: environment.verification(&self.recipe.verification),
            needs_fail_to_pass: self.needs_fail_to_pass,
        })
    }

    /// The recipe's entry for this candidate.
    pub(super) fn entry(&self, candidate: &Candidate) -> Result<Option<&EnvironmentRecipe>, PipelineError> {
        let parts: Vec<_> = candidate
            .files
            .iter()
            .map(|file| self.splitter.part_of(file))
            .collect();
        let facts = CandidateFacts {
            candidate,
            parts: &parts,
            oracle: None,
            utf8: None,
            notes: None,
            text_lines: None,
        };
        let index = self
            .program
            .environment(&candidate.id.repo, &facts)
            .map_err(|error| {
                PipelineError::Filter(crate::filter::run::FilterError::Evaluate {
                    candidate: candidate.id.clone(),
                    error,
                })
            })?;
        Ok(index.and_then(|index| self.recipe.environment.get(index)))
    }

    /// Records, once, that the recipe does not say how to install this candidate.
    fn record_no_environment(&self, candidate: &Candidate) -> Result<(), PipelineError> {
        let key = KeyHasher::new("environment", 1)
            .json("entries", &self.recipe.environment)
            .finish();
        let attempts = self
            .context
            .store
            .attempts(Some(Stage::Build), Some(&candidate.id))?;
        if !attempts.iter().any(|attempt| attempt.input_key == key) {
            self.context.store.append_attempt(Attempt {
                candidate: candidate.id.clone(),
                stage: Stage::Build,
                input_key: key,
                outcome: AttemptOutcome::Project,
                reason: NO_ENVIRONMENT.to_owned(),
                detail: "no `[[environment]]` of the recipe matches".to_owned(),
                log: None,
                result: None,
            })?;
        }
        Ok(())
    }

    /// Writes the base commit's tree into the folder `tree`.
    pub(super) async fn export(&self, candidate: &Candidate, tree: &Path) -> Result<(), PipelineError> {
        let (mirror, commit, tree) = (self.mirror(candidate)?, candidate.base_commit, tree.to_owned());
        let export = move || Mirror::open(&mirror)?.export(commit, &tree);
        tokio::task::spawn_blocking(export)
            .await
            .map_err(|error| PipelineError::Broken {
                candidate: candidate.id.to_string(),
                reason: error.to_string(),
            })??;
        Ok(())
    }

    pub(super) fn mirror(&self, candidate: &Candidate) -> Result<PathBuf, PipelineError> {
        let source = self
            .sources
            .iter()
            .find(|source| source.repo == candidate.id.repo);
        source
            .map(|source| source.mirror.clone())
            .ok_or_else(|| PipelineError::NoCandidate {
                id: candidate.id.clone(),
            })
    }
}

/// The tests whose strength can be measured.
fn fail_to_pass(outcome: &VerifyOutcome) -> &[TestId] {
    match outcome {
        VerifyOutcome::Verified(verified) => &verified.oracle.fail_to_pass,
        VerifyOutcome::Failed(_) | VerifyOutcome::Cancelled => &[],
    }
}

const NO_ENVIRONMENT: &str = "no-environment";
