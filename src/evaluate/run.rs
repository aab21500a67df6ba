//! The shell of evaluating: one prediction for one instance in, what its runs showed out, through the ledger.

mod files;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use self::tree::{Laid, Prepared, prepare};
use super::error::EvaluateError;
use super::key::{RunInputs, input_key, oracle_key};
use super::result::{NOT_APPLIED, OK, Run, RunResult};
use crate::domain::advice::Advises;
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::event::Event;
use crate::domain::hash::sha256_hex;
use crate::domain::ids::{CandidateId, CommitSha, TestId};
use crate::domain::oracle::RanScope;
use crate::domain::path::RepoPath;
use crate::harness::{self, Bench, FILES, Fault, Harness, Log, Wishes, is_machines, judge};
use crate::recipe::model::Verification;
use crate::sandbox::{Furnishing, Room};
use crate::workspace::Context;

pub use files::{REPORT_FILES, read_predictions, read_report, read_splits, write_logs, write_report};

/// What a prediction is judged by: everything of the instance that an outcome depends on.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The pull request that the instance was.
    pub candidate: CandidateId,
    /// The commit that patches are laid on.
    pub base_commit: CommitSha,
    /// The test patch.
    pub test: Vec<u8>,
    /// The gold patch.
    pub gold: Vec<u8>,
    /// The files that the test patch touches, as the split says.
    pub touched: Vec<RepoPath>,
    /// What the oracle's runs selected.
    pub scope: RanScope,
    /// FAIL_TO_PASS.
    pub fail_to_pass: Vec<TestId>,
    /// PASS_TO_PASS.
    pub pass_to_pass: Vec<TestId>,
    /// The environment's key.
    pub environment_key: String,
    /// The recipe's variables for test runs; they are in the toolchain's environment already.
    pub variables: BTreeMap<String, String>,
    /// How tests are run.
    pub settings: Verification,
}

impl Subject {
    /// The tests that judge.
    pub fn judged(&self) -> impl Iterator<Item = &TestId> {
        self.fail_to_pass.iter().chain(&self.pass_to_pass)
    }
}

/// What runs need beside the subject.
#[derive(Clone)]
pub struct Request {
    /// What is judged by.
    pub subject: Subject,
    /// The base commit's tree, exported; it is only read.
    pub tree: PathBuf,
    /// The environment.
    pub environment: Arc<dyn Furnishing>,
    /// The object store in which a three-way merge finds the files that a patch was made on.
    pub objects: PathBuf,
}

/// Evaluates predictions in one workspace and one room; cheap to clone, safe to use for many instances at once.
#[derive(Clone)]
pub struct Evaluator {
    context: Context,
    harness: Harness,
    /// How many lines of context may be missing.
    fuzz: u8,
    /// Whether what the ledger knows is run again.
    again: bool,
}

/// The word of a run whose runner starts without the prediction only.
const KEPT_FROM_STARTING: &str = "kept-from-starting";

/// Words of faults that say nothing of the prediction.
const OUTSIDE: [&str; 7] = [
    "disk",
    "environment",
    "sandbox",
    "no-start",
    "oracle",
    "cancelled",
    "internal",
];

/// Whether a run's fault is the outside's, and not what the prediction's code did to its run.
fn is_outside(outcome: AttemptOutcome, reason: &str) -> bool {
    outcome == AttemptOutcome::Infra && (is_machines(outcome, reason) || OUTSIDE.contains(&reason))
}

impl Evaluator {
    /// An evaluator for runs in `room`.
    ///
    /// # Errors
    /// When the workspace's scratch folder cannot be written.
    pub fn new(context: Context, room: Room, fuzz: u8, again: bool) -> Result<Self, EvaluateError> {
        let harness = Harness::new(context.workspace.scratch().as_std_path(), room).map_err(adapter)?;
        Ok(Self {
            context,
            harness,
            fuzz,
            again,
        })
    }

    /// Stops running tests at once when `kill` is cancelled. (The context's own token lets what runs finish.)
    #[must_use]
    pub fn with_kill(mut self, kill: CancellationToken) -> Self {
        self.harness = self.harness.with_kill(kill);
        self
    }

    /// The key of one run.
    pub fn input_key(&self, subject: &Subject, patch: &[u8], number: u32) -> String {
        input_key(&RunInputs {
            patch,
            base_commit: subject.base_commit,
            test: &subject.test,
            gold: &subject.gold,
            scope: subject.scope,
            fail_to_pass: &subject.fail_to_pass,
            pass_to_pass: &subject.pass_to_pass,
            environment: &subject.environment_key,
            variables: &subject.variables,
            settings: &subject.settings,
            fuzz: self.fuzz,
            room: &self.harness.room().identity(),
            runner: &FILES,
            number,
        })
    }

    /// What the ledger knows of these runs, if it knows all of them. Nothing is run.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn recorded(
        &self,
        subject: &Subject,
        patch: &[u8],
        runs: u32,
    ) -> Result<Option<Vec<Run>>, EvaluateError> {
        if self.again {
            return Ok(None);
        }
        let mut known = vec![];
        for number in 1..=runs.max(1) {
            let mine = self.attempts(&self.input_key(subject, patch, number))?;
            match settled(&mine, subject.settings.infra_tries) {
                Some(run) => known.push(run),
                None => return Ok(None),
            }
        }
        Ok(Some(known))
    }

    fn attempts(&self, key: &str) -> Result<Vec<Attempt>, EvaluateError> {
        let store = &self.context.store;
        store.attempts_by_key(Stage::Evaluate, key).map_err(adapter)
    }

    /// Runs a patch's tests so many times: from the ledger where it knows a run, else for real. A run that the outside
    /// broke off, or that the prediction's code did, is tried again up to the recipe's cap. `None` when it was stopped.
    ///
    /// # Errors
    /// Errors of ours or the caller's.
    pub async fn run(
        &self,
        request: &Request,
        patch: &[u8],
        runs: u32,
    ) -> Result<Option<Vec<Run>>, EvaluateError> {
        let mut prepared = None;
        let mut done = vec![];
        for number in 1..=runs.max(1) {
            let key = self.input_key(&request.subject, patch, number);
            let mut mine = if self.again { vec![] } else { self.attempts(&key)? };
            let run = loop {
                if let Some(run) = settled(&mine, request.subject.settings.infra_tries) {
                    break run;
                }
                if self.context.cancel.is_cancelled() {
                    return Ok(None);
                }
                if !mine.is_empty() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                let attempt = self.attempt(request, patch, number, &key, &mut prepared).await?;
                let Some(attempt) = attempt else { return Ok(None) };
                let machines = is_machines(attempt.outcome, &attempt.reason);
                mine.push(attempt);
                if machines && let Some(last) = mine.last() {
                    // The next command tries again; this one reports it.
                    break of(last);
                }
            };
            done.push(run);
        }
        Ok(Some(done))
    }

    /// One try of one run, recorded. `None` when it was stopped.
    async fn attempt(
        &self,
        request: &Request,
        patch: &[u8],
        number: u32,
        key: &str,
        prepared: &mut Option<Prepared>,
    ) -> Result<Option<Attempt>, EvaluateError> {
        let mut log = Log::default();
        let tried = self.once(request, patch, number, prepared, &mut log).await;
        if self.harness.is_killed() {
            return Ok(None);
        }
        let (outcome, reason, detail, result) = match tried {
            Ok((result, None)) if result.applied.is_none() => (
                AttemptOutcome::Project,
                NOT_APPLIED,
                result.detail.clone(),
                Some(result),
            ),
            Ok((result, None)) => (AttemptOutcome::Done, OK, String::new(), Some(result)),
            Ok((result, Some(fault))) => (fault.outcome, fault.reason, fault.detail, Some(result)),
            Err(fault) => (AttemptOutcome::Infra, fault.reason, fault.detail, None),
        };
        let attempt = Attempt {
            candidate: request.subject.candidate.clone(),
            stage: Stage::Evaluate,
            input_key: key.to_owned(),
            outcome,
            reason: reason.to_owned(),
            detail,
            log: Some(self.context.blobs.put(log.bytes()).map_err(adapter)?),
            result: result.and_then(|result| serde_json::to_value(result).ok()),
        };
        self.context.events.emit(Event::Attempted {
            candidate: request.subject.candidate.to_string(),
            stage: Stage::Evaluate,
            outcome,
            reason: attempt.reason.clone(),
        });
        self.context
            .store
            .append_attempt(attempt.clone())
            .map_err(adapter)?;
        Ok(Some(attempt))
    }

    /// Lays the patch, if that is not done yet, and runs the tests once. The fault is what broke the run off.
    async fn once(
        &self,
        request: &Request,
        patch: &[u8],
        number: u32,
        prepared: &mut Option<Prepared>,
        log: &mut Log,
    ) -> Result<(RunResult, Option<Fault>), Fault> {
        let ready = if let Some(ready) = prepared {
            ready
        } else {
            let place = self.harness.place()?;
            let (request, patch, fuzz) = (request.clone(), patch.to_vec(), self.fuzz);
            prepared.insert(harness::job::blocking(move || prepare(&request, &patch, fuzz, place)).await?)
        };
        let subject = &request.subject;
        let mut result = RunResult {
            patch_sha256: sha256_hex(patch),
            oracle: oracle_key(
                &subject.environment_key,
                &subject.fail_to_pass,
                &subject.pass_to_pass,
            ),
            edits: ready.edits.clone(),
            ..RunResult::default()
        };
        for edit in &ready.edits {
            let undone = if edit.undone { "undone" } else { "kept" };
            log.line(&format!("edited: {} ({:?}, {undone})", edit.path, edit.kind));
        }
        match &ready.laid {
            Laid::Not(detail) => {
                log.line(&format!("the patch does not apply: {detail}"));
                NOT_APPLIED.clone_into(&mut result.ended);
                result.detail.clone_from(detail);
                result.not_passed = BTreeMap::new();
                return Ok((result, None));
            }
            Laid::Whole(applied) => {
                log.line(&format!("applied: {}", applied.told()));
                result.applied = Some(applied.clone());
            }
        }
        log.line(&format!("$ {}", ready.selection.args.join(" ")));
        let settings = &subject.settings;
        let bench = Bench {
            environment: request.environment.as_ref(),
            settings,
            place: ready.place.path(),
        };
        let run = harness::Run {
            name: format!("run {number} of the prediction"),
            hash_seed: number,
            traced: false,
            tree: &ready.tree,
            args: &ready.selection.args,
            wishes: Wishes {
                also: ready.selection.also.clone(),
                ..Wishes::default()
            },
        };
        let (job, mut told) = self.harness.run_once(&bench, &run, log).await?;
        let mut fault = judge(harness::job::ended(&job), &told).err();
        if let Some(fault) = fault.as_mut().filter(|fault| fault.reason == "no-start") {
            log.line("without the prediction:");
            let bare = harness::Run {
                name: format!("run {number} without the prediction"),
                tree: &request.tree,
                ..run
            };
            if self.harness.run_once(&bench, &bare, log).await?.1.hello.is_some() {
                fault.reason = KEPT_FROM_STARTING;
                fault.detail += ", and does without the prediction";
            }
        }
        if fault.is_some() {
            // What was running when the run was broken off did not pass.
            for test in &told.running {
                told.outcome.tests.remove(test);
            }
        }
        fault
            .as_ref()
            .map_or(OK, |fault| fault.reason)
            .clone_into(&mut result.ended);
        result.detail = fault
            .as_ref()
            .map_or_else(String::new, |fault| fault.detail.clone());
        result.forged_lines = told.forged;
        if let Some(hello) = &told.hello {
            result.runner = format!("{} {}", hello.runner, hello.version);
        }
        for test in subject.judged() {
            let status = told.outcome.status(test);
            if !status.is_pass() {
                result.not_passed.insert(test.clone(), status);
            }
        }
        Ok((result, fault))
    }
}

/// What a run's attempts say, if no other is needed: one that came to its end, or as many broken-off ones as the cap says.
/// Then the last of these stands: what the prediction's code did to its run is the prediction's, the rest the outside's.
fn settled(attempts: &[Attempt], cap: u32) -> Option<Run> {
    let finished = attempts
        .iter()
        .rev()
        .find(|attempt| attempt.outcome != AttemptOutcome::Infra);
    if let Some(finished) = finished {
        return Some(of(finished));
    }
    let own = attempts
        .iter()
        .filter(|attempt| !is_machines(attempt.outcome, &attempt.reason));
    let used = u32::try_from(own.count()).unwrap_or(u32::MAX);
    attempts.last().filter(|_| used >= cap.max(1)).map(of)
}

fn of(attempt: &Attempt) -> Run {
    let outside = is_outside(attempt.outcome, &attempt.reason);
    let result = attempt.result.clone().filter(|_| !outside);
    Run {
        result: result.and_then(|result| serde_json::from_value(result).ok()),
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
fn adapter<E: Advises>(error: E) -> EvaluateError {
    EvaluateError::Adapter {
        message: error.to_string(),
        hints: error.advice(),
    }
}
