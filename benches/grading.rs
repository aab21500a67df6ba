//! Grading alone: runs as the ledger keeps them → classes, scores and a report; and the same of SWE-bench's logs.

#![allow(clippy::unwrap_used, reason = "a benchmark fails loudly")]

use std::collections::BTreeMap;

use divan::Bencher;
use divan::counter::ItemsCount;
use quarry::domain::ids::{InstanceId, TestId};
use quarry::domain::outcome::TestStatus;
use quarry::evaluate::outcome::{About, outcome};
use quarry::evaluate::report::{Beside, Conditions, Kind, Parts, Report};
use quarry::evaluate::result::{Applied, OK, Run, RunResult, Strategy};
use quarry::evaluate::swebench::{Judged, logs};

/// As many instances as SWE-bench Verified has.
const INSTANCES: usize = 500;
/// Tests that an instance is judged by: the mean of SWE-bench Verified is 121.
const TESTS: usize = 121;

const PATCH: &str = "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x\n+y\n";

struct Instance {
    id: InstanceId,
    fail: Vec<TestId>,
    pass: Vec<TestId>,
    /// The run, as it stands in the ledger.
    recorded: String,
}

/// Every other one is resolved; in the rest ten tests failed.
fn instances() -> Vec<Instance> {
    (0..INSTANCES)
        .map(|number| {
            let tests = (0..TESTS).map(|test| {
                TestId::from(
                    format!("tests/test_module_{number}.py::TestCase::test_something[{test}-param]").as_str(),
                )
            });
            let mut fail: Vec<TestId> = tests.collect();
            let pass = fail.split_off(3);
            let failed = pass.iter().take(if number % 2 == 0 { 0 } else { 10 });
            let result = RunResult {
                patch_sha256: "0".repeat(64),
                oracle: "1".repeat(64),
                applied: Some(Applied {
                    strategy: Strategy::Exact,
                    fixes: vec![],
                }),
                ended: OK.to_owned(),
                not_passed: failed.map(|test| (test.clone(), TestStatus::Failed)).collect(),
                ..RunResult::default()
            };
            Instance {
                id: InstanceId(format!("owner__name-{number}")),
                fail,
                pass,
                recorded: serde_json::to_string(&result).unwrap(),
            }
        })
        .collect()
}

fn grade(instances: &[Instance]) -> Report {
    let outcomes = instances.iter().map(|instance| {
        let run = Run {
            result: Some(serde_json::from_str(&instance.recorded).unwrap()),
            reason: OK.to_owned(),
            detail: String::new(),
            log: None,
        };
        let about = About {
            id: &instance.id,
            repo: "owner/name",
            month: "2024-01",
            split: None,
            fail_to_pass: &instance.fail,
            pass_to_pass: &instance.pass,
            gold: PATCH.as_bytes(),
        };
        outcome(&about, PATCH.as_bytes(), None, &[run])
    });
    Report::new(Parts {
        tool: String::new(),
        dataset: "bench".to_owned(),
        version: "1.0.0".to_owned(),
        kind: Kind::Predictions,
        model: "m".to_owned(),
        conditions: Conditions {
            runs: 1,
            fuzz: 0,
            count_infra: false,
            room: "process".to_owned(),
            only: vec![],
        },
        beside: Beside::default(),
        outcomes: outcomes.collect(),
    })
}

/// From the ledger's JSON to a report with scores.
#[divan::bench]
fn runs_to_a_report(bencher: Bencher) {
    let instances = instances();
    bencher
        .counter(ItemsCount::new(INSTANCES))
        .bench(|| grade(&instances));
}

/// From a report to the files that SWE-bench's harness would have left.
#[divan::bench]
fn a_report_to_logs(bencher: Bencher) {
    let instances = instances();
    let report = grade(&instances);
    let by_id: BTreeMap<_, _> = instances
        .iter()
        .map(|instance| (&instance.id, instance))
        .collect();
    bencher.counter(ItemsCount::new(INSTANCES)).bench(|| {
        let judged = report.outcomes.iter().map(|outcome| {
            let instance = by_id[&outcome.instance_id];
            Judged {
                outcome,
                patch: Some(PATCH.as_bytes()),
                fail_to_pass: &instance.fail,
                pass_to_pass: &instance.pass,
            }
        });
        logs("run", "m", judged)
    });
}

fn main() {
    divan::main();
}
