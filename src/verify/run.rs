//! The shell of verifying: one candidate in, an oracle out, through the ledger.

mod job;
mod once;
mod strength;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::error::VerifyError;
use super::key::{VerifyInputs, input_key};
use crate::domain::advice::Advises;
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::event::Event;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{BlobId, CandidateId, CommitSha, TestId};
use crate::domain::oracle::Oracle;
use crate::domain::path::RepoPath;
use crate::harness::{FILES, Fault, Harness, Log, is_machines};
use crate::recipe::model::Verification;
use crate::sandbox::{Furnishing, Room};
use crate::workspace::Context;

pub use job::said_at_last;
pub use strength::Measured;
pub use trial::{BETTER_BY, Trial, TrialOutcome, TrialRequest};

/// A candidate's change, cut into what judges and what is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patches {
    /// Laid on the base tree for every run.
    pub test: Vec<u8>,
    /// Laid on top for the runs after.
    pub gold: Vec<u8>,
}

/// What is verified: everything that its outcome depends on.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Whom it is for.
    pub candidate: CandidateId,
    /// The commit whose tree the patches are laid on.
    pub base_commit: CommitSha,
    /// The candidate's patches.
    pub patches: Patches,
    /// The files that the test patch touches.
    pub touched: Vec<RepoPath>,
    /// The environment's key.
    pub environment_key: String,
    /// The recipe's variables for test runs; they are in the toolchain's environment already.
    pub variables: BTreeMap<String, String>,
    /// How tests are run and judged.
    pub settings: Verification,
    /// Whether nothing is kept whose FAIL_TO_PASS is empty: then runs end with the first after which no test can come
    /// into it. The oracle says how many were made.
    pub needs_fail_to_pass: bool,
}

/// One candidate's verification.
#[derive(Clone)]
pub struct VerifyRequest {
    /// What is verified.
    pub subject: Subject,
    /// The base commit's tree, exported; it is only read.
    pub tree: PathBuf,
    /// The environment itself.
    pub environment: Arc<dyn Furnishing>,
    /// Whether infra outcomes that used up their tries in earlier commands are tried again.
    pub again: bool,
}

/// How a verification ended.
#[derive(Debug, Clone, PartialEq)]
pub enum VerifyOutcome {
    /// There is an oracle.
    Verified(Box<Verified>),
    /// There is none, and whose fault that is.
    Failed(Failure),
    /// The user asked to stop before it began.
    Cancelled,
}

/// A candidate's oracle.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// The tests.
    pub oracle: Oracle,
    /// The runner and its version (`pytest 8.3.5`).
    pub runner: String,
    /// How often, at most in one run, a plugin ran a test again before its outcome stood.
    pub reruns: BTreeMap<TestId, u32>,
    /// Lines in the channels that something else than the runner wrote, over all runs.
    pub forged_lines: u64,
    /// Every run's log.
    pub log: Option<BlobId>,
}

/// Why there is no oracle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// [`AttemptOutcome::Project`] or [`AttemptOutcome::Infra`].
    pub outcome: AttemptOutcome,
    /// A stable word (`gold-does-not-apply`, `time-out`).
    pub reason: String,
    /// A sentence.
    pub detail: String,
    /// The logs of the runs that were made.
    pub log: Option<BlobId>,
}

/// An attempt's result in the ledger.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Recorded {
    oracle: Oracle,
    runner: String,
    #[serde(default)]
    reruns: BTreeMap<TestId, u32>,
    #[serde(default)]
    forged_lines: u64,
    /// Whether runs were spared because FAIL_TO_PASS could only be empty.
    #[serde(skip)]
    cut_short: bool,
}

impl Recorded {
    fn verified(self, log: Option<BlobId>) -> VerifyOutcome {
        let Self {
            oracle,
            runner,
            reruns,
            forged_lines,
            cut_short: _,
        } = self;
        VerifyOutcome::Verified(Box::new(Verified {
            oracle,
            runner,
            reruns,
            forged_lines,
            log,
        }))
    }
}

/// Verifies candidates in one workspace and one room; cheap to clone, safe to use for many candidates at once.
#[derive(Clone)]
pub struct Verifier {
    context: Context,
    harness: Harness,
}

impl Verifier {
    /// A verifier for runs in `room`. Writes the runner's files into the workspace's scratch folder.
    ///
    /// # Errors
    /// [`VerifyError`] when that cannot be written.
    pub fn new(context: Context, room: Room) -> Result<Self, VerifyError> {
        let harness = Harness::new(context.workspace.scratch().as_std_path(), room).map_err(adapter)?;
        Ok(Self { context, harness })
    }

    /// Stops running tests at once when `kill` is cancelled. (The context's own token lets what runs finish.)
    #[must_use]
    pub fn with_kill(mut self, kill: CancellationToken) -> Self {
        self.harness = self.harness.with_kill(kill);
        self
    }

    /// The key of a candidate's attempt.
    pub fn input_key(&self, subject: &Subject) -> String {
        Self::key_in(subject, &self.harness.room().identity())
    }

    fn key_in(subject: &Subject, room: &str) -> String {
        input_key(&VerifyInputs {
            base_commit: subject.base_commit,
            test: &subject.patches.test,
            gold: &subject.patches.gold,
            touched: &subject.touched,
            environment: &subject.environment_key,
            variables: &subject.variables,
            settings: &subject.settings,
            room,
            runner: &FILES,
        })
    }

    /// What the ledger says of this verification, if it needs no further try. Nothing is run.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn recorded(&self, subject: &Subject) -> Result<Option<VerifyOutcome>, VerifyError> {
        let mine = self.attempts(subject, &self.input_key(subject))?;
        if let Some(known) = mine.iter().rev().find_map(finished) {
            return Ok(Some(known));
        }
        let used_up = tries(&mine) >= subject.settings.infra_tries.max(1);
        Ok(mine
            .last()
            .filter(|_| used_up)
            .map(|last| VerifyOutcome::Failed(failure_of(last))))
    }

    fn attempts(&self, subject: &Subject, key: &str) -> Result<Vec<Attempt>, VerifyError> {
        let store = &self.context.store;
        let mut attempts = store
            .attempts(Some(Stage::Verify), Some(&subject.candidate))
            .map_err(adapter)?;
        let short = subject.needs_fail_to_pass.then(|| cut_short(key));
        attempts.retain(|attempt| attempt.input_key == key || Some(&attempt.input_key) == short.as_ref());
        Ok(attempts)
    }

    /// Gives a candidate its oracle: from the ledger where it is there for the same inputs, else by running its tests.
    /// Attempts and their logs go into the ledger. An infra outcome is tried again until the recipe's cap of tries is
    /// used up, tries of earlier commands included; then the last of them stands, unless `again` is asked for.
    ///
    /// # Errors
    /// Errors of ours or the caller's; what is the candidate's or the outside's fault is an outcome.
    pub async fn verify(&self, request: &VerifyRequest) -> Result<VerifyOutcome, VerifyError> {
        let subject = &request.subject;
        let key = self.input_key(subject);
        let mine = self.attempts(subject, &key)?;
        if let Some(known) = mine.iter().rev().find_map(finished) {
            return Ok(known);
        }
        let cap = subject.settings.infra_tries.max(1);
        let used = if request.again { 0 } else { tries(&mine) };
        let mut last = mine.last().map(failure_of);
        for number in used..cap {
            if self.context.cancel.is_cancelled() {
                return Ok(VerifyOutcome::Cancelled);
            }
            if number > used {
                tokio::select! {
                    () = self.context.cancel.cancelled() => return Ok(VerifyOutcome::Cancelled),
                    () = tokio::time::sleep(Duration::from_secs(1)) => {}
                }
            }
            let mut text = Log::default();
            // What is drawn from it is the same in every room.
            let lot = Self::key_in(subject, "");
            let result = self.once(request, &lot, &mut text).await;
            if self.harness.is_killed() {
                return Ok(VerifyOutcome::Cancelled);
            }
            let log = Some(self.context.blobs.put(text.bytes()).map_err(adapter)?);
            match result {
                Ok(recorded) => {
                    let key = if recorded.cut_short {
                        &cut_short(&key)
                    } else {
                        &key
                    };
                    self.record(request, key, Ok(&recorded), log.clone())?;
                    return Ok(recorded.verified(log));
                }
                Err(fault) => {
                    self.record(request, &key, Err(&fault), log.clone())?;
                    let failure = Failure {
                        outcome: fault.outcome,
                        reason: fault.reason.to_owned(),
                        detail: fault.detail,
                        log,
                    };
                    if failure.outcome == AttemptOutcome::Project {
                        return Ok(VerifyOutcome::Failed(failure));
                    }
                    last = Some(failure);
                }
            }
        }
        Ok(last.map_or(VerifyOutcome::Cancelled, VerifyOutcome::Failed))
    }

    fn record(
        &self,
        request: &VerifyRequest,
        key: &str,
        outcome: Result<&Recorded, &Fault>,
        log: Option<BlobId>,
    ) -> Result<(), VerifyError> {
        let attempt = Attempt {
            candidate: request.subject.candidate.clone(),
            stage: Stage::Verify,
            input_key: key.to_owned(),
            outcome: outcome.map_or_else(|fault| fault.outcome, |_| AttemptOutcome::Done),
            reason: outcome.map_or_else(|fault| fault.reason, |_| "ok").to_owned(),
            detail: outcome.map_or_else(|fault| fault.detail.clone(), |_| String::new()),
            log,
            result: outcome
                .ok()
                .and_then(|recorded| serde_json::to_value(recorded).ok()),
        };
        self.context.events.emit(Event::Attempted {
            candidate: request.subject.candidate.to_string(),
            stage: Stage::Verify,
            outcome: attempt.outcome,
            reason: attempt.reason.clone(),
        });
        self.context.store.append_attempt(attempt).map_err(adapter)
    }
}

/// The key of what runs showed that were cut short: only who asks for no more may take it for an answer.
fn cut_short(key: &str) -> String {
    KeyHasher::new("verify-cut-short", 1)
        .part("verify", key.as_bytes())
        .finish()
}

/// How many tries of the candidate's own there were: what the whole machine lacked says nothing about it.
fn tries(attempts: &[Attempt]) -> u32 {
    let own = attempts
        .iter()
        .filter(|attempt| !is_machines(attempt.outcome, &attempt.reason));
    u32::try_from(own.count()).unwrap_or(u32::MAX)
}

/// The outcome of an attempt that needs no other: an oracle, or the project's own fault.
fn finished(attempt: &Attempt) -> Option<VerifyOutcome> {
    match attempt.outcome {
        AttemptOutcome::Infra => None,
        AttemptOutcome::Project => Some(VerifyOutcome::Failed(failure_of(attempt))),
        AttemptOutcome::Done => {
            let recorded: Recorded = serde_json::from_value(attempt.result.clone()?).ok()?;
            Some(recorded.verified(attempt.log.clone()))
        }
    }
}

fn failure_of(attempt: &Attempt) -> Failure {
    Failure {
        outcome: attempt.outcome,
        reason: attempt.reason.clone(),
        detail: attempt.detail.clone(),
        log: attempt.log.clone(),
    }
}

/// An adapter's error, with its words and hints.
#[expect(
    clippy::needless_pass_by_value,
    reason = "an error is handed over, as `map_err` does"
)]
fn adapter<E: Advises>(error: E) -> VerifyError {
    VerifyError::Adapter {
        message: error.to_string(),
        hints: error.advice(),
    }
}
