//! What one run of a prediction showed, and what all of its runs say: one class.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::canonical::Fix;
use super::guard::Edit;
use crate::domain::ids::{BlobId, InstanceId, TestId};
use crate::domain::outcome::TestStatus;

/// How a patch was laid on the base tree: the first way that takes the whole of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// `git apply`, whose context must match exactly.
    Exact,
    /// Merged with the files that the patch's index lines name.
    ThreeWay,
    /// With fewer lines of context, because that was asked for.
    Fuzz,
}

/// A patch that was laid on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Applied {
    /// How.
    pub strategy: Strategy,
    /// What was mended first.
    pub fixes: Vec<Fix>,
}

impl Applied {
    /// In words: `exactly`, `three-way, after mending its line ends`.
    pub fn told(&self) -> String {
        let how = match self.strategy {
            Strategy::Exact => "exactly",
            Strategy::ThreeWay => "three-way",
            Strategy::Fuzz => "with less context",
        };
        let fixes: Vec<&str> = self
            .fixes
            .iter()
            .map(|fix| match fix {
                Fix::FinalNewline => "its last line's end",
                Fix::TrailingContext => "blank lines at its end",
                Fix::LineEnds => "its line ends",
            })
            .collect();
        if fixes.is_empty() {
            how.to_owned()
        } else {
            format!("{how}, after mending {}", fixes.join(" and "))
        }
    }
}

/// What one run showed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunResult {
    /// SHA-256 of the patch, as given.
    pub patch_sha256: String,
    /// The key of the oracle and the environment that it met ([`oracle_key`](super::key::oracle_key)).
    pub oracle: String,
    /// How the patch was laid on; `null` when it does not apply, and nothing ran.
    pub applied: Option<Applied>,
    /// `ok` when the run came to its own end, else the word of what ended it (`time-out`); `not-applied`.
    pub ended: String,
    /// A sentence for what ended it.
    pub detail: String,
    /// Every test that judges and did not pass, with how it ended: absent and skipped tests, too.
    pub not_passed: BTreeMap<TestId, TestStatus>,
    /// Edits of what has a say in how tests run.
    pub edits: Vec<Edit>,
    /// Lines in the channel that something else than the runner wrote.
    pub forged_lines: u64,
    /// The runner and its version.
    pub runner: String,
}

/// The word of a run that came to its own end.
pub const OK: &str = "ok";
/// The word of a patch that does not apply.
pub const NOT_APPLIED: &str = "not-applied";

impl RunResult {
    /// Whether the run came to its own end with every test passed.
    pub fn is_resolved(&self) -> bool {
        self.applied.is_some() && self.ended == OK && self.not_passed.is_empty()
    }
}

/// A run as it stands in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What it showed; `null` for the outside's fault that stood after all tries.
    pub result: Option<RunResult>,
    /// Why, in a stable word, for the outside's fault.
    pub reason: String,
    /// A sentence.
    pub detail: String,
    /// Its log.
    pub log: Option<BlobId>,
}

/// Where a prediction belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Every test that judges passed, in every run.
    Resolved,
    /// The patch applies, and not every test passed.
    Unresolved,
    /// The patch does not apply as a whole.
    NotApplied,
    /// The prediction holds no patch.
    Empty,
    /// There is no prediction.
    Missing,
    /// The outside's fault: nothing is known of the prediction.
    Infra,
}

impl Class {
    /// Every class, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Resolved,
        Self::Unresolved,
        Self::NotApplied,
        Self::Empty,
        Self::Missing,
        Self::Infra,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Unresolved => "unresolved",
            Self::NotApplied => "not_applied",
            Self::Empty => "empty",
            Self::Missing => "missing",
            Self::Infra => "infra",
        }
    }
}

/// What an instance asks of a prediction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// FAIL_TO_PASS.
    pub fail_to_pass: u64,
    /// PASS_TO_PASS.
    pub pass_to_pass: u64,
}

/// Everything that is reported of one instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The instance.
    pub instance_id: InstanceId,
    /// Its repository.
    pub repo: String,
    /// The month of its merge, `YYYY-MM`.
    pub month: String,
    /// The split that it is in, where splits were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// The class.
    pub class: Class,
    /// Runs that were resolved.
    pub resolved_runs: u32,
    /// Runs that say something.
    pub runs: u32,
    /// Whether the runs do not say the same.
    pub flaky: bool,
    /// How the patch was laid on; `null` when it was not.
    pub applied: Option<Applied>,
    /// How the first run that says something ended, or why there is none.
    pub ended: String,
    /// A sentence for it.
    pub detail: String,
    /// FAIL_TO_PASS tests that passed in every run.
    pub fail_to_pass_passed: u64,
    /// FAIL_TO_PASS tests.
    pub fail_to_pass: u64,
    /// PASS_TO_PASS tests that passed in every run.
    pub pass_to_pass_passed: u64,
    /// PASS_TO_PASS tests.
    pub pass_to_pass: u64,
    /// Whether the patch touches every file that gold touches.
    pub has_gold_files: bool,
    /// Tests that judge and did not pass in every run, with how they ended in the first in which they did not.
    pub not_passed: BTreeMap<TestId, TestStatus>,
    /// Edits of what has a say in how tests run.
    pub edits: Vec<Edit>,
    /// Lines in channels that something else than the runner wrote, over all runs.
    pub forged_lines: u64,
    /// SHA-256 of the patch; empty without one.
    pub patch_sha256: String,
    /// The runs' logs, in order.
    pub logs: Vec<BlobId>,
    /// What it cost, as the prediction says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How many steps it took, as the prediction says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<f64>,
}

/// What an instance's runs say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The class.
    pub class: Class,
    /// Runs that were resolved.
    pub resolved_runs: u32,
    /// Runs that say something.
    pub runs: u32,
    /// Tests that did not pass in every run.
    pub not_passed: BTreeMap<TestId, TestStatus>,
}

impl Verdict {
    /// Whether some runs were resolved and some not.
    pub fn is_flaky(&self) -> bool {
        self.resolved_runs > 0 && self.resolved_runs < self.runs
    }
}

/// One class from all runs: resolved when every run that says something is; infra when none says anything.
pub fn verdict(runs: &[Run]) -> Verdict {
    let results: Vec<&RunResult> = runs.iter().filter_map(|run| run.result.as_ref()).collect();
    let resolved = results.iter().filter(|run| run.is_resolved()).count();
    let mut not_passed = BTreeMap::new();
    for (test, status) in results.iter().flat_map(|run| &run.not_passed) {
        not_passed.entry(test.clone()).or_insert(*status);
    }
    let class = if results.is_empty() {
        Class::Infra
    } else if results.iter().any(|run| run.applied.is_none()) {
        Class::NotApplied
    } else if resolved == results.len() {
        Class::Resolved
    } else {
        Class::Unresolved
    };
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Verdict {
        class,
        resolved_runs: count(resolved),
        runs: count(results.len()),
        not_passed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(change: impl FnOnce(&mut RunResult)) -> Run {
        let mut result = RunResult {
            applied: Some(Applied {
                strategy: Strategy::Exact,
                fixes: vec![],
            }),
            ended: OK.to_owned(),
            ..RunResult::default()
        };
        change(&mut result);
        Run {
            result: Some(result),
            reason: String::new(),
            detail: String::new(),
            log: None,
        }
    }

    fn infra() -> Run {
        Run {
            result: None,
            reason: "disk-full".to_owned(),
            detail: String::new(),
            log: None,
        }
    }

    #[test]
    fn the_class_follows_from_all_runs() {
        let good = || run(|_| {});
        let failing = || {
            run(|result| {
                result.not_passed.insert("t".into(), TestStatus::Skipped);
            })
        };
        let broken = || run(|result| "time-out".clone_into(&mut result.ended));
        let class = |runs: &[Run]| {
            let verdict = verdict(runs);
            (
                verdict.class,
                verdict.resolved_runs,
                verdict.runs,
                verdict.is_flaky(),
            )
        };
        assert_eq!(class(&[good(), good()]), (Class::Resolved, 2, 2, false));
        assert_eq!(class(&[good(), failing()]), (Class::Unresolved, 1, 2, true));
        assert_eq!(class(&[broken()]), (Class::Unresolved, 0, 1, false));
        assert_eq!(class(&[good(), infra()]), (Class::Resolved, 1, 1, false));
        assert_eq!(class(&[infra(), infra()]), (Class::Infra, 0, 0, false));
        assert_eq!(class(&[run(|result| result.applied = None)]).0, Class::NotApplied);
        let verdict = verdict(&[good(), failing()]);
        assert_eq!(verdict.not_passed[&"t".into()], TestStatus::Skipped);
    }
}
