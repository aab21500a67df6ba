//! An evaluation as the logs that SWE-bench's harness (5.0) leaves: a folder an instance, in which its own programs look for
//! `patch.diff`, `test_output.txt`, `report.json` and `run_instance.log`.
//!
//! The log of a run's tests is written from what came through the sealed channel: nothing that a test printed is in it. It
//! names the tests that judge and no others. What broke a run off stands in it as the harness's own mark, so that a run
//! that was not finished is resolved there as little as here. A patch that does not apply leaves no test output, as in the
//! harness; nor does what the outside broke off.
//!
//! One difference stays: a test of PASS_TO_PASS that was skipped is kept to SWE-bench (`test_maintained`), and has not
//! passed here. The log says SKIPPED, and [`Logs::differing`] names the instances on which the verdicts differ for it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::result::{Class, OK, Outcome};
use crate::domain::ids::{InstanceId, TestId};
use crate::domain::outcome::TestStatus;
use crate::domain::test_name;

/// The files of an instance's folder.
pub const FILES: [&str; 4] = [PATCH, OUTPUT, REPORT, LOG];
const PATCH: &str = "patch.diff";
const OUTPUT: &str = "test_output.txt";
const REPORT: &str = "report.json";
const LOG: &str = "run_instance.log";
/// What the harness writes where a patch does not apply, where tests took too long, and where they broke off.
const NOT_APPLIED: &str = ">>>>> Patch Apply Failed";
const TIMED_OUT: &str = ">>>>> Tests Timed Out";
const BROKEN_OFF: &str = ">>>>> Tests Errored";
const APPLIED: &str = ">>>>> Applied Patch";

/// An instance's outcome, with what it was about.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The outcome.
    pub outcome: &'a Outcome,
    /// The patch, where there was one.
    pub patch: Option<&'a [u8]>,
    /// FAIL_TO_PASS.
    pub fail_to_pass: &'a [TestId],
    /// PASS_TO_PASS.
    pub pass_to_pass: &'a [TestId],
}

/// The logs of an evaluation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {
    /// Where the instances' folders are: `logs/run_evaluation/RUN/MODEL`.
    pub folder: String,
    /// Each instance's files, by name. An instance without a prediction, or with an empty one, has none.
    pub instances: BTreeMap<InstanceId, BTreeMap<&'static str, Vec<u8>>>,
    /// Instances that are not resolved here and are to SWE-bench: all that did not pass is of PASS_TO_PASS and was skipped.
    pub differing: Vec<InstanceId>,
}

/// Writes the logs of a run under this name.
pub fn logs<'a>(run: &str, model: &str, all: impl IntoIterator<Item = Judged<'a>>) -> Logs {
    let model = match model.replace('/', "__") {
        // As the harness calls a model without a name.
        model if matches!(model.as_str(), "" | "." | "..") => "None".to_owned(),
        model => model,
    };
    let mut logs = Logs {
        folder: format!("logs/run_evaluation/{run}/{model}"),
        ..Logs::default()
    };
    for judged in all {
        let id = &judged.outcome.instance_id;
        if is_kept_elsewhere(&judged) {
            logs.differing.push(id.clone());
        }
        logs.instances.insert(id.clone(), files(&judged));
    }
    logs
}

/// Whether SWE-bench resolves what is not resolved here: because of skipped tests of PASS_TO_PASS alone.
fn is_kept_elsewhere(judged: &Judged<'_>) -> bool {
    let outcome = judged.outcome;
    let kept = |(test, status): (&TestId, &TestStatus)| {
        *status == TestStatus::Skipped && !judged.fail_to_pass.contains(test)
    };
    outcome.class == Class::Unresolved
        && outcome.ended == OK
        && !outcome.not_passed.is_empty()
        && outcome.not_passed.iter().all(kept)
}

/// How each test that judges ended, as far as it is known.
fn statuses(judged: &Judged<'_>) -> BTreeMap<TestId, TestStatus> {
    let tests = judged.fail_to_pass.iter().chain(judged.pass_to_pass);
    tests
        .map(|test| {
            let status = judged.outcome.not_passed.get(test);
            (test.clone(), status.copied().unwrap_or(TestStatus::Passed))
        })
        .collect()
}

fn files(judged: &Judged<'_>) -> BTreeMap<&'static str, Vec<u8>> {
    let outcome = judged.outcome;
    let mut files = BTreeMap::new();
    let Some(patch) = judged.patch else { return files };
    let mark = match (outcome.class, outcome.ended.as_str()) {
        (Class::Empty | Class::Missing, _) => return files,
        (Class::NotApplied, _) => Some(NOT_APPLIED),
        (Class::Infra, _) | (Class::Resolved | Class::Unresolved, OK) => None,
        (Class::Resolved | Class::Unresolved, "time-out" | "silence") => Some(TIMED_OUT),
        (Class::Resolved | Class::Unresolved, _) => Some(BROKEN_OFF),
    };
    files.insert(PATCH, patch.to_vec());
    let mut log = format!(
        "{}: {} ({})\n",
        outcome.instance_id,
        outcome.class.name(),
        outcome.ended
    );
    if !outcome.detail.is_empty() {
        let _ = writeln!(log, "{}", outcome.detail);
    }
    if outcome.applied.is_some() {
        let _ = writeln!(log, "{APPLIED}");
    }
    if let Some(mark) = mark {
        let _ = writeln!(log, "{mark}");
    }
    files.insert(LOG, log.into_bytes());
    if matches!(outcome.class, Class::Resolved | Class::Unresolved) {
        let mut text = test_name::log(&statuses(judged));
        if let Some(mark) = mark {
            let _ = writeln!(text, "{mark}");
        }
        files.insert(OUTPUT, text.into_bytes());
        let report = format!("{:#}\n", report(judged, mark.is_none()));
        files.insert(REPORT, report.into_bytes());
    }
    files
}

/// `report.json`: the verdict in the shape of the harness's `get_eval_report`. Its tests are told when the run came to
/// its own end.
fn report(judged: &Judged<'_>, is_whole: bool) -> Value {
    let outcome = judged.outcome;
    let list = |tests: &[TestId]| {
        let (failure, success): (Vec<&TestId>, Vec<&TestId>) = tests
            .iter()
            .partition(|test| outcome.not_passed.contains_key(*test));
        let words = |tests: Vec<&TestId>| -> Vec<String> {
            tests.iter().map(|test| test_name::word(test.as_str())).collect()
        };
        json!({"success": words(success), "failure": words(failure)})
    };
    let mut verdict = json!({
        "patch_is_None": false,
        "patch_exists": true,
        "patch_successfully_applied": is_whole,
        "resolved": outcome.class == Class::Resolved,
        "infra_failure": false,
    });
    if is_whole {
        verdict["tests_status"] = json!({
            "FAIL_TO_PASS": list(judged.fail_to_pass),
            "PASS_TO_PASS": list(judged.pass_to_pass),
            "FAIL_TO_FAIL": list(&[]),
            "PASS_TO_FAIL": list(&[]),
        });
    }
    json!({outcome.instance_id.as_str(): verdict})
}

#[cfg(test)]
mod tests {
    use super::super::fixture::outcome;
    use super::*;

    fn written(class: Class, ended: &str, not_passed: &[(&str, TestStatus)]) -> Logs {
        let mut outcome = outcome("a__b-1", class, (1, 1), (2, 2));
        ended.clone_into(&mut outcome.ended);
        outcome.not_passed = not_passed
            .iter()
            .map(|(test, status)| ((*test).into(), *status))
            .collect();
        let judged = Judged {
            outcome: &outcome,
            patch: Some(b"diff"),
            fail_to_pass: &["t::f g".into()],
            pass_to_pass: &["t::p".into(), "t::q".into()],
        };
        logs("d-1", "org/m", [judged])
    }

    fn file(logs: &Logs, name: &str) -> String {
        String::from_utf8(logs.instances[&InstanceId::from("a__b-1")][name].clone()).unwrap()
    }

    #[test]
    fn a_run_leaves_what_the_harness_would_have_left() {
        let logs = written(Class::Unresolved, OK, &[("t::q", TestStatus::Failed)]);
        assert_eq!(logs.folder, "logs/run_evaluation/d-1/org__m");
        insta::assert_snapshot!(file(&logs, OUTPUT), @r"
        + : '>>>>> Start Test Output'
        PASSED t::f%20g
        PASSED t::p
        FAILED t::q
        + : '>>>>> End Test Output'
        ");
        let report: Value = serde_json::from_str(&file(&logs, REPORT)).unwrap();
        let told = &report["a__b-1"];
        assert_eq!(
            told["tests_status"]["FAIL_TO_PASS"]["success"],
            json!(["t::f%20g"])
        );
        assert_eq!(told["tests_status"]["PASS_TO_PASS"]["failure"], json!(["t::q"]));
        assert_eq!((&told["resolved"], logs.differing.len()), (&json!(false), 0));
        assert_eq!(file(&logs, PATCH), "diff");
    }

    #[test]
    fn what_was_not_finished_is_marked_and_what_never_ran_has_no_output() {
        for (ended, mark) in [("time-out", TIMED_OUT), ("crash", BROKEN_OFF)] {
            let logs = written(Class::Unresolved, ended, &[]);
            assert!(file(&logs, OUTPUT).contains(mark), "{ended}");
            assert!(!file(&logs, REPORT).contains("tests_status"), "{ended}");
        }
        let names = |class| {
            let logs = written(class, "", &[]);
            let files = logs.instances.into_values().next().unwrap();
            files.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(names(Class::NotApplied), [PATCH, LOG]);
        assert_eq!(names(Class::Infra), [PATCH, LOG]);
        assert!(names(Class::Empty).is_empty());
    }

    #[test]
    fn a_skipped_test_that_must_still_pass_is_where_the_verdicts_differ() {
        let skipped = TestStatus::Skipped;
        let differing = |not_passed: &[_]| written(Class::Unresolved, OK, not_passed).differing.len();
        assert_eq!(differing(&[("t::p", skipped)]), 1);
        assert_eq!(differing(&[("t::p", skipped), ("t::f g", skipped)]), 0);
        assert_eq!(differing(&[("t::p", skipped), ("t::q", TestStatus::Absent)]), 0);
        assert_eq!(
            written(Class::Unresolved, "crash", &[("t::p", skipped)])
                .differing
                .len(),
            0
        );
    }
}
