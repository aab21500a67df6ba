//! The search for an environment: proposals are built and tried, failures are repaired, the best one wins.
//!
//! A proposal is accepted when collection succeeds and at least one existing test passes (CTXbench's criterion); among
//! the accepted the one with most passing tests is chosen. Where the scope is the touched modules, those of all who are
//! searched for are what is tried: when next to nothing fails there, no other proposal could do more for them. Every step
//! is in the ledger.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use super::environments::{Asked, Proposed};
use super::error::PipelineError;
use super::prove::Prover;
use super::tried::{self, Change, Search, Step};
use crate::build::lock::Lock;
use crate::build::repair::{Case, leave_out, remedy, symptoms};
use crate::build::run::{BuildOutcome, Built};
use crate::build::{BuildError, Failure};
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::candidate::Candidate;
use crate::domain::event::Event;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{BlobId, CandidateId};
use crate::domain::path::RepoPath;
use crate::recipe::model::EnvironmentRecipe;
use crate::verify::run::{BETTER_BY, Trial, TrialOutcome, TrialRequest};

/// A search that came to an end, and whose tree it looked at.
#[derive(Debug, Clone)]
pub(super) struct Searched {
    /// What it came to.
    pub(super) search: Search,
    /// Whose tree.
    pub(super) of: CandidateId,
}

/// The key of a search for one candidate alone, after what its group has did not do for it.
pub(super) fn own_key(group: &str, candidate: &CandidateId) -> String {
    KeyHasher::new("detect-own", 1)
        .part("group", group.as_bytes())
        .json("candidate", candidate)
        .finish()
}

/// What trying one environment showed.
enum Tried {
    Trial(Box<Trial>, Option<Lock>, Option<BlobId>),
    /// It cannot be built: why, in the log's words, and the log.
    NotBuilt(String, String, Option<BlobId>),
    Infra(String),
    Stopped,
}

/// What an environment shows on a commit's own tree.
pub(super) enum Shown {
    Tried(Box<Trial>, Option<BlobId>),
    /// It cannot be built, or the outside failed: the word for it, and the log.
    NotBuilt(String, Option<BlobId>),
    Stopped,
}

/// The best that one proposal came to.
struct Best {
    trial: Trial,
    environment: EnvironmentRecipe,
    /// Its step's number, from 0.
    step: usize,
}

/// On what proposals are tried.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    /// Whose base commit.
    pub(super) candidate: &'a Candidate,
    /// Its tree, exported.
    pub(super) tree: &'a Path,
    /// The files that test patches touch: this candidate's and those of all that share what is found.
    pub(super) touched: &'a [RepoPath],
}

/// Where one proposal's turn begins.
struct Start<'a> {
    proposal: &'a Proposed,
    environment: EnvironmentRecipe,
    /// What is changed about the proposal there.
    change: Option<Change>,
}

/// How one proposal's turn ended.
enum Turn {
    /// It was tried, with its repairs; `None` when nothing of it was accepted.
    Over(Option<Box<Best>>),
    Infra(String),
    Stopped,
}

impl<'a> Start<'a> {
    fn of(proposal: &'a Proposed) -> Self {
        Self {
            proposal,
            environment: proposal.environment.clone(),
            change: None,
        }
    }
}

impl Prover<'_> {
    /// What the ledger says of a search, if it came to an end.
    fn searched(&self, key: &str) -> Result<Option<Searched>, PipelineError> {
        let attempts = self.context.store.attempts_by_key(Stage::Detect, key)?;
        Ok(attempts.into_iter().find_map(finished))
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
        touched: &[RepoPath],
        key: &str,
    ) -> Result<Option<Searched>, PipelineError> {
        if let Some(known) = self.searched(key)? {
            return Ok(Some(known));
        }
        if !self.may_work() {
            return Ok(None);
        }
        let work = self.work_folder("detect-")?;
        let tree = work.path().join("tree");
        self.export(candidate, &tree).await?;
        let ground = Ground {
            candidate,
            tree: &tree,
            touched,
        };
        let mut tried = Vec::new();
        let mut best: Option<Box<Best>> = None;
        let mut queue: VecDeque<Start<'_>> = asked.proposals.iter().map(Start::of).collect();
        let mut untried = Vec::new();
        while let Some(start) = queue.pop_front() {
            let is_changed = start.change.is_some();
            let found = match self
                .try_proposal(ground, asked, start, &mut tried, &mut queue)
                .await?
            {
                Turn::Stopped => return Ok(None),
                Turn::Infra(reason) => {
                    return self
                        .record_search(candidate, key, Search::Infra(reason))
                        .map(Some);
                }
                Turn::Over(None) => continue,
                Turn::Over(Some(found)) => found,
            };
            let is_enough = found.trial.is_enough();
            let skips = found.trial.skipped > 0;
            let is_better = best
                .as_ref()
                .is_none_or(|best| found.trial.beats(&best.trial, BETTER_BY));
            if is_better {
                best = Some(found);
            }
            // Too little is left for another proposal to be better, except where tests are skipped for want of what an
            // earlier one asks for: that one without what it lacks has its turn.
            if is_enough {
                let (mut changed, others): (VecDeque<_>, VecDeque<_>) =
                    queue.into_iter().partition(|left| left.change.is_some());
                untried.extend(others.into_iter().map(|left| left.environment.name));
                changed.truncate(usize::from(skips && !is_changed));
                queue = changed;
            }
        }
        let search = match best {
            Some(best) => Search::Found {
                environment: Box::new(best.environment),
                tried,
                chosen: best.step,
                untried,
            },
            None => Search::Nothing { tried },
        };
        self.record_search(candidate, key, search).map(Some)
    }

    /// One proposal with its repairs. What could be built if something were left out comes into `queue`: when all else
    /// had its turn.
    async fn try_proposal<'a>(
        &self,
        ground: Ground<'_>,
        asked: &Asked,
        start: Start<'a>,
        tried: &mut Vec<Step>,
        queue: &mut VecDeque<Start<'a>>,
    ) -> Result<Turn, PipelineError> {
        let mut best: Option<Box<Best>> = None;
        let is_last = start.change.is_some();
        let Start {
            proposal,
            mut environment,
            mut change,
        } = start;
        for _ in 0..=self.recipe.detection.repairs {
            // What was built and tried so far is recorded; the next search goes on from it.
            if !self.may_work() {
                return Ok(Turn::Stopped);
            }
            let shown = self.try_one(ground, &environment).await?;
            let step = Step {
                proposal: proposal.environment.name.clone(),
                python: environment.python.clone(),
                environment: environment.clone(),
                because: proposal.because.clone(),
                remedy: change.take(),
                ..Step::default()
            };
            let (text, lock) = match shown {
                Tried::Stopped => return Ok(Turn::Stopped),
                Tried::Infra(reason) => return Ok(Turn::Infra(reason)),
                Tried::NotBuilt(build, text, log) => {
                    tried.push(Step { build, log, ..step });
                    (text, None)
                }
                Tried::Trial(mut trial, lock, log) => {
                    let text = std::mem::take(&mut trial.said);
                    tried.push(Step {
                        build: "ok".to_owned(),
                        trial: Some((*trial).clone()),
                        log,
                        ..step
                    });
                    let is_enough = trial.is_enough();
                    let helped = match &best {
                        Some(best) => trial.beats(&best.trial, 0),
                        None => trial.passed > 0,
                    };
                    if helped {
                        best = Some(Box::new(Best {
                            trial: *trial,
                            environment: environment.clone(),
                            step: tried.len() - 1,
                        }));
                    }
                    // Done, or the last change brought nothing.
                    if is_enough || (!helped && best.is_some()) {
                        break;
                    }
                    (text, lock)
                }
            };
            let case = Case {
                environment: &environment,
                lock: lock.as_ref(),
                own_modules: &asked.own_modules,
                optional: &proposal.optional,
            };
            let found = symptoms(&text);
            let repaired = remedy(&case, &found);
            let is_repaired = repaired.is_some();
            let Some(next) = repaired.or_else(|| leave_out(&case, &found)) else {
                break;
            };
            let changed = Change {
                trouble: next.symptom.trouble.name().to_owned(),
                remedy: next.change,
                evidence: next.symptom.evidence,
            };
            if !is_repaired && !is_last {
                queue.push_back(Start {
                    proposal,
                    environment: next.environment,
                    change: Some(changed),
                });
                break;
            }
            change = Some(changed);
            environment = next.environment;
        }
        Ok(Turn::Over(best))
    }

    /// Builds an environment for a commit and tries its tests, whoever it was found for.
    ///
    /// # Errors
    /// Errors of ours or the caller's.
    pub(super) async fn show(
        &self,
        ground: Ground<'_>,
        environment: &EnvironmentRecipe,
    ) -> Result<Shown, PipelineError> {
        Ok(match self.try_one(ground, environment).await? {
            Tried::Trial(trial, _, log) => Shown::Tried(trial, log),
            Tried::NotBuilt(reason, _, log) => Shown::NotBuilt(reason, log),
            Tried::Infra(reason) => Shown::NotBuilt(reason, None),
            Tried::Stopped => Shown::Stopped,
        })
    }

    async fn try_one(
        &self,
        ground: Ground<'_>,
        environment: &EnvironmentRecipe,
    ) -> Result<Tried, PipelineError> {
        let request = self.build_request(ground.candidate, environment, ground.tree.to_owned())?;
        let built = match self.builder.build_for(&request).await {
            Ok(BuildOutcome::Built(built)) => built,
            Ok(BuildOutcome::Cancelled) => return Ok(Tried::Stopped),
            Ok(BuildOutcome::Failed(failure)) if failure.outcome == AttemptOutcome::Infra => {
                return Ok(Tried::Infra(failure.reason));
            }
            Ok(BuildOutcome::Failed(failure)) => {
                let text = self.words(&failure)?;
                return Ok(Tried::NotBuilt(failure.reason, text, failure.log));
            }
            // A line that a repository's own files led to and that cannot be followed is no fault of the caller's.
            Err(error @ BuildError::Install { .. }) => {
                return Ok(Tried::NotBuilt(
                    "bad-line".to_owned(),
                    format!("failed to {error}"),
                    None,
                ));
            }
            Err(error) => return Err(error.into()),
        };
        self.try_tests(ground, environment, built).await
    }

    async fn try_tests(
        &self,
        ground: Ground<'_>,
        environment: &EnvironmentRecipe,
        built: Box<Built>,
    ) -> Result<Tried, PipelineError> {
        let candidate = ground.candidate;
        let lock = self.context.blobs.get(&built.environment.lock)?;
        let lock = Lock::read(&String::from_utf8_lossy(&lock)).ok();
        let request = TrialRequest {
            base_commit: candidate.base_commit,
            tree: ground.tree.to_owned(),
            environment_key: built.environment.key.clone(),
            variables: environment.env.clone(),
            settings: environment.verification(&self.recipe.verification),
            touched: ground.touched.to_vec(),
            environment: Arc::new(*built),
        };
        let key = self.verifier.trial_key(&request);
        let attempts = self.context.store.attempts_by_key(Stage::Trial, &key)?;
        let known = attempts
            .into_iter()
            .rfind(|attempt| attempt.outcome == AttemptOutcome::Done)
            .and_then(|attempt| Some((serde_json::from_value(attempt.result?).ok()?, attempt.log)));
        if let Some((known, log)) = known {
            return Ok(Tried::Trial(Box::new(known), lock, log));
        }
        if !self.may_work() {
            return Ok(Tried::Stopped);
        }
        let attempt = Attempt {
            candidate: candidate.id.clone(),
            stage: Stage::Trial,
            input_key: key,
            outcome: AttemptOutcome::Done,
            reason: String::new(),
            detail: String::new(),
            log: None,
            result: None,
        };
        match self.verifier.trial(&request).await? {
            TrialOutcome::Cancelled => Ok(Tried::Stopped),
            TrialOutcome::Ran(trial, log) => {
                self.record(Attempt {
                    reason: trial.ended.clone(),
                    detail: format!("{} passed, {} failed", trial.passed, trial.failed),
                    log: log.clone(),
                    result: serde_json::to_value(&*trial).ok(),
                    ..attempt
                })?;
                Ok(Tried::Trial(trial, lock, log))
            }
            TrialOutcome::Failed(failure) => {
                let reason = failure.reason.clone();
                self.record(Attempt {
                    outcome: failure.outcome,
                    reason: failure.reason,
                    detail: failure.detail,
                    log: failure.log,
                    ..attempt
                })?;
                Ok(Tried::Infra(reason))
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
        search: Search,
    ) -> Result<Searched, PipelineError> {
        let log = self.context.blobs.put(tried::text(&search).as_bytes())?;
        let (outcome, reason, detail) = match &search {
            Search::Found { environment, .. } => (AttemptOutcome::Done, "ok", environment.name.clone()),
            Search::Nothing { tried } => (
                AttemptOutcome::Project,
                NOTHING_FOUND,
                format!("{} ways were tried and none ran a test", tried.len()),
            ),
            Search::Infra(reason) => (AttemptOutcome::Infra, reason.as_str(), String::new()),
        };
        self.record(Attempt {
            candidate: candidate.id.clone(),
            stage: Stage::Detect,
            input_key: key.to_owned(),
            outcome,
            reason: reason.to_owned(),
            detail,
            log: Some(log),
            result: serde_json::to_value(&search).ok(),
        })?;
        Ok(Searched {
            search,
            of: candidate.id.clone(),
        })
    }

    /// Writes an attempt into the ledger and tells who watches.
    fn record(&self, attempt: Attempt) -> Result<(), PipelineError> {
        self.context.events.emit(Event::Attempted {
            candidate: attempt.candidate.to_string(),
            stage: attempt.stage,
            outcome: attempt.outcome,
            reason: attempt.reason.clone(),
        });
        self.context.store.append_attempt(attempt)?;
        Ok(())
    }
}

/// The search that an attempt of `detect` recorded; `None` when only the outside ended it.
pub(super) fn finished(attempt: Attempt) -> Option<Searched> {
    if attempt.outcome == AttemptOutcome::Infra {
        return None;
    }
    Some(Searched {
        search: serde_json::from_value(attempt.result?).ok()?,
        of: attempt.candidate,
    })
}

/// The word for a search that found nothing.
pub(super) const NOTHING_FOUND: &str = "no-environment-found";
