//! A program of the project's own on every interpreter here.

use std::collections::BTreeSet;

use quarry::domain::ids::TestId;
use quarry::domain::outcome::TestStatus;
use quarry::recipe::model::Runner;
use quarry::sandbox::JobResult;

use super::bench::{Bench, check_promises, interpreters, reason};

const SCRIPT: &str = "tests/runtests.py";

#[tokio::test]
async fn a_script_tells_every_outcome() {
    for interpreter in interpreters().values() {
        let which = &format!("Python {}", interpreter.version);
        let bench = Bench::new(interpreter, &[]);
        let ways: [(&[&str], &str); 2] = [
            (&["--settings=plain"], "broken.tests"),
            (
                &["--settings", "plain", "pantry.tests", "broken.tests"],
                "broken.tests",
            ),
        ];
        for (args, broken) in ways {
            let args = [&[SCRIPT], args].concat();
            let (result, told) = bench.run("program", Runner::Script, &args, |_| {}).await;
            assert_eq!(
                reason(&result, &told).0,
                "ok",
                "{which}: {}",
                result.stdout.text()
            );
            assert_eq!(told.hello.as_ref().unwrap().runner, "script");
            check_promises(which, &told, 10);
            let errors: Vec<&String> = told.outcome.collection_errors.keys().collect();
            assert_eq!(errors, [broken], "{which}");
        }
    }
}

/// Tests in the order they ran in.
fn started(result: &JobResult) -> Vec<String> {
    let text = String::from_utf8_lossy(&result.channel);
    let starts = text.lines().filter(|line| line.contains(r#""e":"start""#));
    let id = |line: &str| Some(line.split_once(r#""id":""#)?.1.split_once('"')?.0.to_owned());
    starts.filter_map(id).collect()
}

#[tokio::test]
async fn ids_select_and_a_seed_orders_what_a_script_runs() {
    let interpreters = interpreters();
    let bench = Bench::new(interpreters.values().next_back().unwrap(), &[]);
    let wish = |wishes: &'static str| {
        move |job: &mut quarry::sandbox::Job| job.stdin.extend_from_slice(wishes.as_bytes())
    };
    let args = [SCRIPT, "--settings=plain"];
    let ids = r#"{"ids": ["pantry.tests.Door.test_fails", "pantry.tests.Rest.test_skips", "pantry.tests.Gone.test_passes"],
        "only": ["pantry.tests.Door.test_fails"]}"#;
    let (result, told) = bench.run("program", Runner::Script, &args, wish(ids)).await;
    assert_eq!(reason(&result, &told).0, "ok", "{}", result.stdout.text());
    let addressed: Vec<&str> = told.addressed.iter().flatten().map(TestId::as_str).collect();
    assert_eq!(
        addressed,
        ["pantry.tests.Door.test_fails", "pantry.tests.Rest.test_skips"]
    );
    let ran: Vec<_> = told
        .outcome
        .tests
        .iter()
        .map(|(id, status)| (id.as_str(), *status))
        .collect();
    assert_eq!(ran, [("pantry.tests.Door.test_fails", TestStatus::Failed)]);
    let mut orders = BTreeSet::new();
    for seed in ["a", "b", "c", "d"] {
        let wishes = format!(r#"{{"order": "{seed}"}}"#);
        let order = |job: &mut quarry::sandbox::Job| job.stdin.extend_from_slice(wishes.as_bytes());
        let (result, told) = bench.run("program", Runner::Script, &args, order).await;
        assert_eq!(reason(&result, &told).0, "ok", "{}", result.stdout.text());
        assert_eq!(told.order.as_deref(), Some(seed));
        check_promises(seed, &told, 10);
        let (again, _) = bench.run("program", Runner::Script, &args, order).await;
        assert_eq!(started(&again), started(&result), "a seed decides the order");
        orders.insert(started(&result));
    }
    assert!(orders.len() > 1, "{orders:?}");
}

#[tokio::test]
async fn a_program_without_a_suite_says_why() {
    let interpreters = interpreters();
    let bench = Bench::new(interpreters.values().next().unwrap(), &[]);
    let cases: [(&[&str], &str, &str); 6] = [
        (
            &[SCRIPT, "--settings=unready"],
            "ok",
            "No module named 'no_such_module'",
        ),
        (&[SCRIPT, "--settings=refuses"], "ok", "ended with 1"),
        (&[SCRIPT, "--settings=idle"], "ok", ""),
        (&[SCRIPT, "--no-such-option"], "usage-error", ""),
        (&["tests/no_such.py"], "usage-error", ""),
        (&["-m", "tests.no_such"], "ok", "No module named"),
    ];
    for (args, ended, message) in cases {
        let (result, told) = bench.run("program", Runner::Script, args, |_| {}).await;
        assert_eq!(
            reason(&result, &told).0,
            ended,
            "{args:?}: {}",
            result.stdout.text()
        );
        assert!(
            told.outcome.tests.is_empty() && told.collected.is_empty(),
            "{args:?}"
        );
        let errors: Vec<_> = told.outcome.collection_errors.iter().collect();
        match errors.as_slice() {
            [] => assert_eq!(message, "", "{args:?}"),
            [(node, text)] => {
                assert_eq!(node.as_str(), "", "the whole session");
                assert!(!message.is_empty() && text.contains(message), "{args:?}: {text}");
            }
            more => panic!("{more:?}"),
        }
    }
    let (result, told) = bench
        .run(
            "units",
            Runner::Script,
            &["-m", "unittest", "suite.test_units"],
            |_| {},
        )
        .await;
    assert_eq!(reason(&result, &told).0, "ok", "{}", result.stdout.text());
    assert!(told.outcome.tests.len() > 5);
}
