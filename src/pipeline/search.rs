//! The search for an environment: proposals are built and tried, failures are repaired, the best one wins.
//!
//! A proposal is accepted when collection succeeds and at least one existing test passes (CTXbench's criterion); among
//! the accepted the one with most passing tests is chosen. Every step is in the ledger.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::environments::Asked;
use super::error::PipelineError;
use super::prove::Prover;
use crate::build::lock::Lock;
use crate::build::repair::{Case, remedy, symptoms};
use crate::build::run::{BuildOutcome, BuildRequest, Built};
use crate::build::{BuildError, Failure};
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::candidate::Candidate;
use crate::recipe::model::EnvironmentRecipe;
use crate::verify::run::{Trial, TrialOutcome, TrialRequest};

/// A later proposal is only better than an earlier one when it has more passing tests than these many in a thousand: a few
/// tests that come and go must not turn the choice.
const BETTER_BY: u64 = 10;

/// What a search came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Search {
    /// The environment that won, and everything that was tried.
    Found {
        /// The environment.
        environment: Box<EnvironmentRecipe>,
        /// What was tried, in order.
        tried: Vec<Step>,
    },
    /// No proposal was accepted.
    Nothing {
        /// What was tried, in order.
        tried: Vec<Step>,
    },
    /// The outside failed.
    Infra(String),
}

impl Search {
    /// What was found.
    pub(super) fn environment(&self) -> Option<&EnvironmentRecipe> {
        match self {
            Self::Found { environment, .. } => Some(environment),
            Self::Nothing { .. } | Self::Infra(_) => None,
        }
    }
}

/// One thing tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Step {
    /// The proposal's name.
    proposal: String,
    /// Its interpreter.
    python: String,
    /// What was changed about it, and the words that called for it; absent for the proposal as it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remedy: Option<Change>,
    /// How the build ended: `ok`, or its failure's word.
    build: String,
    /// What its tests showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trial: Option<Trial>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Change {
    trouble: String,
    remedy: String,
    evidence: String,
}

/// What trying one environment showed.
enum Tried {
    Trial(Box<Trial>, Option<Lock>),
    /// It cannot be built; the log's words.
    NotBuilt(String, String),
    Infra(String),
    Cancelled,
}

impl Prover<'_> {
    /// What the ledger says of a search, if it came to an end.
    pub(super) fn searched(&self, key: &str) -> Result<Option<Search>, PipelineError> {
        let attempts = self.context.store.attempts(Some(Stage::Detect), None)?;
        let known = attempts
            .into_iter()
            .find(|attempt| attempt.input_key == key && attempt.outcome != AttemptOutcome::Infra);
        Ok(known.and_then(|known| serde_json::from_value(known.result?).ok()))
    }

    /// Searches an environment for `candidate`, under `key` in the ledger. `None` when it was stopped, or when the ledger
    /// does not know and nothing may be run.
    ///
    /// # Errors
    /// Errors of ours or the caller's.
    pub(super) async fn search(
        &self,
        candidate: &Candidate,
        asked: &Asked,
        key: &str,
    ) -> Result<Option<Search>, PipelineError> {
        if let Some(known) = self.searched(key)? {
            return Ok(Some(known));
        }
        if self.only_recorded || self.context.cancel.is_cancelled() {
            return Ok(None);
        }
        let work = self.work_folder("detect-")?;
        let tree = work.path().join("tree");
        self.export(candidate, &tree).await?;
        let mut tried = Vec::new();
        let mut best: Option<(u64, EnvironmentRecipe)> = None;
        for proposal in &asked.proposals {
            let Some(found) = self
                .try_proposal(candidate, asked, proposal, &tree, &mut tried)
                .await?
            else {
                return Ok(None);
            };
            let (trial, environment) = match found {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(reason) => {
                    let search = Search::Infra(reason);
                    self.record_search(candidate, key, &search, &tried)?;
                    return Ok(Some(search));
                }
            };
            let is_better = best
                .as_ref()
                .is_none_or(|(passed, _)| trial.passed > passed + passed * BETTER_BY / 1000);
            if is_better {
                best = Some((trial.passed, environment));
            }
            // Too little is left for another proposal to be better.
            if trial.leaves_at_most(BETTER_BY) {
                break;
            }
        }
        let search = match best {
            Some((_, environment)) => Search::Found {
                environment: Box::new(environment),
                tried: tried.clone(),
            },
            None => Search::Nothing { tried: tried.clone() },
        };
        self.record_search(candidate, key, &search, &tried)?;
        Ok(Some(search))
    }

    /// One proposal with its repairs: the best of them that was accepted. The outer `None` means stopped, `Err` the
    /// outside's fault.
    async fn try_proposal(
        &self,
        candidate: &Candidate,
        asked: &Asked,
        proposal: &EnvironmentRecipe,
        tree: &Path,
        tried: &mut Vec<Step>,
    ) -> Result<Option<Result<Option<(Trial, EnvironmentRecipe)>, String>>, PipelineError> {
        let mut best: Option<(Trial, EnvironmentRecipe)> = None;
        let mut environment = proposal.clone();
        let mut change = None;
        for _ in 0..=self.recipe.detection.repairs {
            let shown = self.try_one(candidate, &environment, tree).await?;
            let step = |build: &str, trial: Option<Trial>| Step {
                proposal: proposal.name.clone(),
                python: proposal.python.clone(),
                remedy: change.clone(),
                build: build.to_owned(),
                trial,
            };
            let (text, lock) = match shown {
                Tried::Cancelled => return Ok(None),
                Tried::Infra(reason) => return Ok(Some(Err(reason))),
                Tried::NotBuilt(reason, text) => {
                    tried.push(step(&reason, None));
                    (text, None)
                }
                Tried::Trial(trial, lock) => {
                    let text = trial.said.clone();
                    let brief = Trial {
                        said: String::new(),
                        ..(*trial).clone()
                    };
                    tried.push(step("ok", Some(brief)));
                    let before = best.as_ref().map_or(0, |(best, _)| best.passed);
                    let helped = trial.passed > before;
                    if helped {
                        best = Some(((*trial).clone(), environment.clone()));
                    }
                    // Done, or the last change brought nothing.
                    if trial.leaves_at_most(BETTER_BY) || (!helped && best.is_some()) {
                        break;
                    }
                    (text, lock)
                }
            };
            let case = Case {
                environment: &environment,
                lock: lock.as_ref(),
                own_modules: &asked.own_modules,
            };
            let Some(next) = remedy(&case, &symptoms(&text)) else {
                break;
            };
            change = Some(Change {
                trouble: next.symptom.trouble.name().to_owned(),
                remedy: next.change,
                evidence: next.symptom.evidence,
            });
            environment = next.environment;
        }
        Ok(Some(Ok(best)))
    }

    async fn try_one(
        &self,
        candidate: &Candidate,
        environment: &EnvironmentRecipe,
        tree: &Path,
    ) -> Result<Tried, PipelineError> {
        let request = BuildRequest {
            candidate: candidate.id.clone(),
            base_commit: candidate.base_commit,
            base_date: candidate.base_date,
            release: candidate.release.clone(),
            tree: tree.to_owned(),
            recipe: environment.clone(),
            infra_tries: self.recipe.verification.infra_tries,
        };
        let built = match self.builder.build_for(&request).await {
            Ok(BuildOutcome::Built(built)) => built,
            Ok(BuildOutcome::Cancelled) => return Ok(Tried::Cancelled),
            Ok(BuildOutcome::Failed(failure)) if failure.outcome == AttemptOutcome::Infra => {
                return Ok(Tried::Infra(failure.reason));
            }
            Ok(BuildOutcome::Failed(failure)) => {
                let text = self.words(&failure)?;
                return Ok(Tried::NotBuilt(failure.reason, text));
            }
            // A line that a repository's own files led to and that cannot be followed is no fault of the caller's.
            Err(error @ BuildError::Install { .. }) => {
                return Ok(Tried::NotBuilt(
                    "bad-line".to_owned(),
                    format!("failed to {error}"),
                ));
            }
            Err(error) => return Err(error.into()),
        };
        self.try_tests(candidate, environment, built, tree).await
    }

    async fn try_tests(
        &self,
        candidate: &Candidate,
        environment: &EnvironmentRecipe,
        built: Box<Built>,
        tree: &Path,
    ) -> Result<Tried, PipelineError> {
        let lock = self.context.blobs.get(&built.environment.lock)?;
        let lock = Lock::read(&String::from_utf8_lossy(&lock)).ok();
        let request = TrialRequest {
            base_commit: candidate.base_commit,
            tree: tree.to_owned(),
            environment_key: built.environment.key.clone(),
            variables: environment.env.clone(),
            settings: environment.verification(&self.recipe.verification),
            touched: self.touched(candidate),
            environment: Arc::new(*built),
        };
        let key = self.verifier.trial_key(&request);
        let attempts = self
            .context
            .store
            .attempts(Some(Stage::Trial), Some(&candidate.id))?;
        let known = attempts
            .into_iter()
            .rfind(|attempt| attempt.input_key == key && attempt.outcome == AttemptOutcome::Done)
            .and_then(|attempt| serde_json::from_value::<Trial>(attempt.result?).ok());
        if let Some(known) = known {
            return Ok(Tried::Trial(Box::new(known), lock));
        }
        match self.verifier.trial(&request).await? {
            TrialOutcome::Cancelled => Ok(Tried::Cancelled),
            TrialOutcome::Ran(trial, log) => {
                self.context.store.append_attempt(Attempt {
                    candidate: candidate.id.clone(),
                    stage: Stage::Trial,
                    input_key: key,
                    outcome: AttemptOutcome::Done,
                    reason: trial.ended.clone(),
                    detail: format!("{} passed, {} failed", trial.passed, trial.failed),
                    log,
                    result: serde_json::to_value(&*trial).ok(),
                })?;
                Ok(Tried::Trial(trial, lock))
            }
            TrialOutcome::Failed(failure) => {
                self.context.store.append_attempt(Attempt {
                    candidate: candidate.id.clone(),
                    stage: Stage::Trial,
                    input_key: key,
                    outcome: failure.outcome,
                    reason: failure.reason.clone(),
                    detail: failure.detail,
                    log: failure.log,
                    result: None,
                })?;
                Ok(Tried::Infra(failure.reason))
            }
        }
    }

    /// A failed build's words: its log, or its sentence.
    fn words(&self, failure: &Failure) -> Result<String, PipelineError> {
        let log = match &failure.log {
            Some(log) => String::from_utf8_lossy(&self.context.blobs.get(log)?).into_owned(),
            None => String::new(),
        };
        Ok(format!("{}\n{log}", failure.detail))
    }

    fn record_search(
        &self,
        candidate: &Candidate,
        key: &str,
        search: &Search,
        tried: &[Step],
    ) -> Result<(), PipelineError> {
        let log = self.context.blobs.put(story(tried).as_bytes())?;
        let (outcome, reason, detail) = match search {
            Search::Found { environment, .. } => (AttemptOutcome::Done, "ok", environment.name.clone()),
            Search::Nothing { .. } => (
                AttemptOutcome::Project,
                NOTHING_FOUND,
                format!("{} ways were tried and none ran a test", tried.len()),
            ),
            Search::Infra(reason) => (AttemptOutcome::Infra, reason.as_str(), String::new()),
        };
        self.context.store.append_attempt(Attempt {
            candidate: candidate.id.clone(),
            stage: Stage::Detect,
            input_key: key.to_owned(),
            outcome,
            reason: reason.to_owned(),
            detail,
            log: Some(log),
            result: serde_json::to_value(search).ok(),
        })?;
        Ok(())
    }
}

/// The word for a search that found nothing.
pub(super) const NOTHING_FOUND: &str = "no-environment-found";

/// What was tried, for a reader.
fn story(tried: &[Step]) -> String {
    let mut text = String::new();
    for step in tried {
        let _ = write!(text, "{} (Python {})", step.proposal, step.python);
        if let Some(change) = &step.remedy {
            let _ = write!(
                text,
                ", {}\n    because of {}: {}",
                change.remedy, change.trouble, change.evidence
            );
        }
        let _ = match &step.trial {
            None => writeln!(text, "\n    not built: {}", step.build),
            Some(trial) => writeln!(
                text,
                "\n    {}: {} passed, {} failed, {} skipped, {} modules not collected ({})",
                trial.runner, trial.passed, trial.failed, trial.skipped, trial.not_collected, trial.ended
            ),
        };
    }
    text
}
