//! An instance, a prediction and its runs → one outcome.

use std::collections::BTreeSet;

use super::predictions::Prediction;
use super::result::{Class, Outcome, Run, verdict};
use crate::domain::diff::file_changes;
use crate::domain::hash::sha256_hex;
use crate::domain::ids::{InstanceId, TestId};

/// What is reported of an instance whatever the prediction.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The instance.
    pub id: &'a InstanceId,
    /// Its repository.
    pub repo: &'a str,
    /// The month of its merge, `YYYY-MM`.
    pub month: &'a str,
    /// The split that it is in.
    pub split: Option<&'a str>,
    /// FAIL_TO_PASS.
    pub fail_to_pass: &'a [TestId],
    /// PASS_TO_PASS.
    pub pass_to_pass: &'a [TestId],
    /// The gold patch.
    pub gold: &'a [u8],
}

/// What becomes of a prediction without any run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrun {
    /// There is none.
    Missing,
    /// It holds no patch.
    Empty,
}

/// The outcome of a prediction that was not run.
pub fn unrun(about: &About<'_>, why: Unrun, prediction: Option<&Prediction>) -> Outcome {
    let class = match why {
        Unrun::Missing => Class::Missing,
        Unrun::Empty => Class::Empty,
    };
    Outcome {
        class,
        ended: class.name().to_owned(),
        ..bare(about, prediction)
    }
}

/// The outcome of a prediction's runs.
pub fn outcome(about: &About<'_>, patch: &[u8], prediction: Option<&Prediction>, runs: &[Run]) -> Outcome {
    let verdict = verdict(runs);
    let first = runs.iter().find_map(|run| run.result.as_ref());
    let applied = first.and_then(|result| result.applied.clone());
    // The run that shows most: one that was not resolved, if there is one.
    let telling = runs
        .iter()
        .filter_map(|run| run.result.as_ref())
        .find(|result| !result.is_resolved())
        .or(first);
    let passed = |tests: &[TestId]| {
        if applied.is_none() {
            return 0;
        }
        let passed = tests
            .iter()
            .filter(|test| !verdict.not_passed.contains_key(*test));
        passed.count() as u64
    };
    let edits: BTreeSet<_> = first
        .into_iter()
        .flat_map(|result| &result.edits)
        .cloned()
        .collect();
    let results = runs.iter().filter_map(|run| run.result.as_ref());
    Outcome {
        class: verdict.class,
        resolved_runs: verdict.resolved_runs,
        runs: verdict.runs,
        flaky: verdict.is_flaky(),
        ended: telling.map_or_else(
            || runs.last().map(|run| run.reason.clone()).unwrap_or_default(),
            |result| result.ended.clone(),
        ),
        detail: telling.map_or_else(
            || runs.last().map(|run| run.detail.clone()).unwrap_or_default(),
            |result| result.detail.clone(),
        ),
        fail_to_pass_passed: passed(about.fail_to_pass),
        pass_to_pass_passed: passed(about.pass_to_pass),
        has_gold_files: has_gold_files(about.gold, patch),
        applied,
        not_passed: verdict.not_passed.clone(),
        edits: edits.into_iter().collect(),
        forged_lines: results.map(|result| result.forged_lines).sum(),
        patch_sha256: sha256_hex(patch),
        logs: runs.iter().filter_map(|run| run.log.clone()).collect(),
        ..bare(about, prediction)
    }
}

fn bare(about: &About<'_>, prediction: Option<&Prediction>) -> Outcome {
    Outcome {
        instance_id: about.id.clone(),
        repo: about.repo.to_owned(),
        month: about.month.to_owned(),
        split: about.split.map(str::to_owned),
        class: Class::Missing,
        resolved_runs: 0,
        runs: 0,
        flaky: false,
        applied: None,
        ended: String::new(),
        detail: String::new(),
        fail_to_pass_passed: 0,
        fail_to_pass: about.fail_to_pass.len() as u64,
        pass_to_pass_passed: 0,
        pass_to_pass: about.pass_to_pass.len() as u64,
        has_gold_files: false,
        not_passed: std::collections::BTreeMap::new(),
        edits: vec![],
        forged_lines: 0,
        patch_sha256: String::new(),
        logs: vec![],
        cost: prediction.and_then(|prediction| prediction.cost),
        steps: prediction.and_then(|prediction| prediction.steps),
    }
}

/// Whether a patch touches every file that gold touches (by its path after gold, and before a rename).
fn has_gold_files(gold: &[u8], patch: &[u8]) -> bool {
    let touched: BTreeSet<_> = file_changes(patch)
        .into_iter()
        .flat_map(|file| std::iter::once(file.path).chain(file.old_path))
        .collect();
    file_changes(gold).iter().all(|file| touched.contains(&file.path))
}

#[cfg(test)]
mod tests {
    use super::super::result::{Applied, OK, RunResult, Strategy};
    use super::*;
    use crate::domain::outcome::TestStatus;

    fn diff(paths: &[&str]) -> Vec<u8> {
        let one = |path: &&str| {
            format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n")
        };
        paths.iter().map(one).collect::<String>().into_bytes()
    }

    #[test]
    fn what_passed_is_what_was_judged_and_did_not_fail() {
        let (id, gold) = (InstanceId::from("a__b-1"), diff(&["a.py", "b.py"]));
        let (fail, pass): (Vec<TestId>, Vec<TestId>) = (vec!["f".into(), "g".into()], vec!["p".into()]);
        let about = About {
            id: &id,
            repo: "a/b",
            month: "2024-01",
            split: None,
            fail_to_pass: &fail,
            pass_to_pass: &pass,
            gold: &gold,
        };
        let result = RunResult {
            applied: Some(Applied {
                strategy: Strategy::Exact,
                fixes: vec![],
            }),
            ended: OK.to_owned(),
            not_passed: [("f".into(), TestStatus::Absent)].into(),
            ..RunResult::default()
        };
        let run = |result: Option<RunResult>| Run {
            result,
            reason: "disk-full".to_owned(),
            detail: "the disk was all but full".to_owned(),
            log: None,
        };
        let found = outcome(
            &about,
            &diff(&["b.py", "a.py", "c.py"]),
            None,
            &[run(Some(result.clone()))],
        );
        assert_eq!(
            (found.class, found.fail_to_pass_passed, found.pass_to_pass_passed),
            (Class::Unresolved, 1, 1)
        );
        assert!(found.has_gold_files && found.keeps_all());
        let not = RunResult {
            applied: None,
            not_passed: std::collections::BTreeMap::new(),
            ..result
        };
        let found = outcome(&about, &diff(&["b.py"]), None, &[run(Some(not))]);
        assert_eq!(
            (found.class, found.fail_to_pass_passed, found.pass_to_pass_passed),
            (Class::NotApplied, 0, 0)
        );
        assert!(!found.has_gold_files && !found.keeps_all());
        let found = outcome(&about, b"", None, &[run(None)]);
        assert_eq!((found.class, found.ended.as_str()), (Class::Infra, "disk-full"));
        assert_eq!(unrun(&about, Unrun::Empty, None).class, Class::Empty);
    }
}
