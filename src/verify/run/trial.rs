//! A trial: one run of the tests on a base tree as it is, to see what an environment is worth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::job::{Run, Side, Which, blocking, disk};
use super::{Verifier, adapter};
use crate::domain::attempt::AttemptOutcome;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{BlobId, CommitSha};
use crate::domain::oracle::RanScope;
use crate::domain::outcome::TestStatus;
use crate::domain::path::RepoPath;
use crate::harness::{
    Bench, Channel, FILES, Fault, Log, Place, Selection, TestModules, Wishes, job, judge, select, tree,
};
use crate::recipe::model::{Scope, Verification};
use crate::sandbox::{Furnishing, JobResult};
use crate::verify::VerifyError;
use crate::verify::outside::tells_of_network;

/// How many messages of tests and modules are read for what is missing.
const MESSAGES: usize = 80;

/// Faults that say nothing of the environment.
const OUTSIDE: [&str; 2] = ["disk-full", "cancelled"];

/// Faults of a suite in which one test never ends.
const HANGS: [&str; 2] = ["time-out", "silence"];

/// What is tried.
#[derive(Clone)]
pub struct TrialRequest {
    /// The commit, for the key.
    pub base_commit: CommitSha,
    /// Its tree, exported; it is only read.
    pub tree: PathBuf,
    /// The environment's key.
    pub environment_key: String,
    /// The environment.
    pub environment: Arc<dyn Furnishing>,
    /// The recipe's variables for test runs; they are in the toolchain's environment already.
    pub variables: BTreeMap<String, String>,
    /// How tests are run.
    pub settings: Verification,
    /// The files that test patches touch for whose sake the environment is tried. Where the scope is `modules`, the modules
    /// that they lead to are tried; the whole suite only where none of their tests passes.
    pub touched: Vec<RepoPath>,
}

/// What a trial showed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The runner and its version.
    pub runner: String,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, or whose setup or teardown did.
    pub failed: u64,
    /// Those of them that said that there is no network: the room keeps it from every environment alike.
    #[serde(default)]
    pub no_network: u64,
    /// Tests that were skipped or failed as they were marked to.
    pub skipped: u64,
    /// Modules and folders that could not be collected.
    pub not_collected: u64,
    /// What was run.
    #[serde(default = "whole_suite")]
    pub scope: RanScope,
    /// How the run ended: `ok`, or the fault's word. Tests told before a fault count.
    pub ended: String,
    /// What modules that could not be collected and tests that did not pass say, each once, capped; when nothing was
    /// collected, what the run printed.
    pub said: String,
    /// How long the tests of each module took, in milliseconds, where ids begin with a module's path: what running them
    /// again will cost, about.
    #[serde(default)]
    pub modules: BTreeMap<String, u64>,
}

/// How many tests in a thousand may fail for another reason than the network's before another environment could be better:
/// a few that come and go must not turn a choice.
pub const BETTER_BY: u64 = 10;

/// What trials ran before they said.
fn whole_suite() -> RanScope {
    RanScope::Suite
}

impl Trial {
    /// Whether no other environment could make more than [`BETTER_BY`] in a thousand more tests pass.
    pub fn is_enough(&self) -> bool {
        self.leaves_at_most(BETTER_BY)
    }

    /// Whether it shows more than another of the same commit's: enough where that shows too little, else a pass in the
    /// touched modules where that has none there, else more than `per_mille` thousandths more passing tests.
    pub fn beats(&self, other: &Self, per_mille: u64) -> bool {
        let is_narrow = |trial: &Self| trial.scope == RanScope::Modules;
        match (self.is_enough(), other.is_enough()) {
            (true, false) => true,
            (false, true) => false,
            _ if self.scope != other.scope => is_narrow(self) && self.passed > 0,
            _ => self.passed > other.passed + other.passed * per_mille / 1000,
        }
    }

    /// Whether it came to its end and some test passed: CTXbench's criterion for an environment.
    fn shows_a_pass(&self) -> bool {
        self.ended == "ok" && self.passed > 0
    }

    /// Whether everything was collected and at most `per_mille` thousandths of the tests that ran failed for another
    /// reason than that there is no network.
    fn leaves_at_most(&self, per_mille: u64) -> bool {
        self.shows_a_pass()
            && self.not_collected == 0
            && self.failed.saturating_sub(self.no_network) * 1000 <= self.passed * per_mille
    }
}

/// How a trial ended.
#[derive(Debug)]
pub enum TrialOutcome {
    /// It ran; its log.
    Ran(Box<Trial>, Option<BlobId>),
    /// It could not be made, and whose fault that is.
    Failed(super::Failure),
    /// The user asked to stop.
    Cancelled,
}

impl Verifier {
    /// What a trial's result depends on.
    pub fn trial_key(&self, request: &TrialRequest) -> String {
        let settings = request.settings.of_one_run();
        KeyHasher::new("trial", 3)
            .part("commit", request.base_commit.as_bytes())
            .part("environment", request.environment_key.as_bytes())
            .json("variables", &request.variables)
            .json("settings", &settings)
            .part("room", self.harness.room().kind().name().as_bytes())
            .json("runner", &FILES)
            .json("touched", &request.touched)
            .finish()
    }

    /// Runs tests once on the base tree.
    ///
    /// # Errors
    /// When the log cannot be kept; whatever happens to the run is an outcome.
    pub async fn trial(&self, request: &TrialRequest) -> Result<TrialOutcome, VerifyError> {
        let mut log = Log::default();
        let ran = self.try_once(request, &mut log).await;
        if self.harness.is_killed() {
            return Ok(TrialOutcome::Cancelled);
        }
        let log = Some(self.context.blobs.put(log.bytes()).map_err(adapter)?);
        Ok(match ran {
            Ok(trial) => TrialOutcome::Ran(Box::new(trial), log),
            Err(fault) => TrialOutcome::Failed(super::Failure {
                outcome: fault.outcome,
                reason: fault.reason.to_owned(),
                detail: fault.detail,
                log,
            }),
        })
    }

    async fn try_once(&self, request: &TrialRequest, log: &mut Log) -> Result<Trial, Fault> {
        let place = self.harness.place()?;
        let base = place.path().join("base");
        {
            let (from, to, environment) = (
                request.tree.clone(),
                base.clone(),
                Arc::clone(&request.environment),
            );
            blocking(move || {
                tree::copy(&from, &to).map_err(disk("copy the work tree"))?;
                environment.lay_products(&to).map_err(|error| Fault {
                    outcome: AttemptOutcome::Infra,
                    reason: "environment",
                    detail: format!("failed to {error}"),
                })
            })
            .await?;
        }
        let files = tree::files(&base).map_err(disk("list the work tree"))?;
        let mut touched = request.touched.clone();
        // A module that is new says nothing here; data that is new is read by modules that may be there.
        let known = TestModules::of(&base, request.settings.runner);
        touched.retain(|path| files.contains(path) || !path.to_str().is_some_and(|path| known.has(path)));
        let is_wide = request.settings.scope == Scope::Suite;
        let narrow = select(&touched, &files, &request.settings, &known).filter(|_| !is_wide);
        let mut first = None;
        if let Some(modules) = &narrow {
            let trial = self
                .try_selection(request, &request.settings, modules, &place, &base, log)
                .await?;
            // Other environments are tried on the same modules: which one is best for them shows there, at their cost.
            if trial.shows_a_pass() {
                return Ok(trial);
            }
            first = Some(trial);
        }
        let settings = Verification {
            scope: Scope::Suite,
            ..request.settings.clone()
        };
        let Some(suite) = select(&[], &BTreeSet::new(), &settings, &known) else {
            return Ok(first.unwrap_or_default());
        };
        let trial = self
            .try_selection(request, &settings, &suite, &place, &base, log)
            .await?;
        // A suite that hangs says less than the modules did.
        let hangs = trial.passed == 0 && HANGS.contains(&trial.ended.as_str());
        Ok(first.filter(|_| hangs).unwrap_or(trial))
    }

    async fn try_selection(
        &self,
        request: &TrialRequest,
        settings: &Verification,
        selection: &Selection,
        place: &Place,
        base: &Path,
        log: &mut Log,
    ) -> Result<Trial, Fault> {
        log.line(&format!("$ {}", selection.args.join(" ")));
        let bench = Bench {
            environment: request.environment.as_ref(),
            settings,
            place: place.path(),
        };
        let run = Run {
            side: Side::Base,
            which: Which::Ordered(1),
            tree: base,
            args: &selection.args,
            wishes: Wishes::default(),
        };
        let (result, told) = self.run_once(&bench, &run, log).await?;
        match judge(job::ended(&result), &told) {
            Err(fault) if OUTSIDE.contains(&fault.reason) => Err(fault),
            judged => {
                // A suite that hangs, or a plugin that cannot be imported: that is what this environment is worth.
                let (ended, detail) =
                    judged.map_or_else(|fault| (fault.reason, fault.detail), |()| ("ok", String::new()));
                Ok(Trial {
                    scope: selection.scope,
                    ..summary(&result, told, ended, &detail)
                })
            }
        }
    }
}
fn summary(result: &JobResult, told: Channel, ended: &str, detail: &str) -> Trial {
    let mut trial = Trial {
        runner: told
            .hello
            .map_or_else(String::new, |hello| format!("{} {}", hello.runner, hello.version)),
        not_collected: told.outcome.collection_errors.len() as u64,
        ended: ended.to_owned(),
        ..Trial::default()
    };
    for status in told.outcome.tests.values() {
        match status {
            TestStatus::Passed | TestStatus::Xpassed => trial.passed += 1,
            TestStatus::Failed | TestStatus::Errored => trial.failed += 1,
            TestStatus::Skipped | TestStatus::Xfailed => trial.skipped += 1,
            TestStatus::CollectionError | TestStatus::Absent => {}
        }
    }
    for (test, seconds) in &told.seconds {
        if let Some((module, _)) = test.as_str().split_once("::") {
            let spent = Duration::try_from_secs_f64(*seconds).unwrap_or_default();
            let spent = u64::try_from(spent.as_millis()).unwrap_or(u64::MAX);
            *trial.modules.entry(module.to_owned()).or_default() += spent;
        }
    }
    let failed = || {
        let messages = told.messages.iter().filter(|(test, _)| {
            matches!(
                told.outcome.tests.get(*test),
                Some(TestStatus::Failed | TestStatus::Errored)
            )
        });
        messages.map(|(_, message)| message)
    };
    trial.no_network = failed().filter(|message| tells_of_network(message)).count() as u64;
    let words = told.outcome.collection_errors.values().chain(failed());
    let mut seen = BTreeSet::new();
    let mut said: Vec<String> = words
        .filter(|message| seen.insert(message.as_str()))
        .take(MESSAGES)
        .cloned()
        .collect();
    if told.outcome.tests.is_empty() {
        said.push(detail.to_owned());
        said.push(result.stdout.text());
    }
    trial.said = said.join("\n");
    trial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_network_would_mend_leaves_nothing_to_other_environments() {
        let trial = |failed, no_network| Trial {
            ended: "ok".to_owned(),
            passed: 1000,
            failed,
            no_network,
            ..Trial::default()
        };
        assert!(trial(10, 0).is_enough());
        assert!(!trial(11, 0).is_enough());
        assert!(trial(60, 50).is_enough());
        assert!(!trial(61, 50).is_enough());
    }

    #[test]
    fn enough_beats_more_of_another_selection() {
        let trial = |scope, passed, failed| Trial {
            ended: "ok".to_owned(),
            scope,
            passed,
            failed,
            ..Trial::default()
        };
        let modules = trial(RanScope::Modules, 50, 0);
        let suite = trial(RanScope::Suite, 900, 100);
        assert!(modules.beats(&suite, 0) && !suite.beats(&modules, 0));
        let more = trial(RanScope::Suite, 905, 95);
        assert!(more.beats(&suite, 0) && !more.beats(&suite, BETTER_BY));
        assert!(!modules.beats(&modules, 0));
        // Not enough, but of the modules that count.
        let some = trial(RanScope::Modules, 5, 5);
        assert!(some.beats(&suite, 0) && !suite.beats(&some, 0));
        assert!(modules.beats(&some, 0));
    }
}
