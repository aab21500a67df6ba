//! pytest 3 to 9.

use futures::StreamExt as _;
use quarry::domain::ids::TestId;
use quarry::domain::outcome::TestStatus;
use quarry::recipe::model::Runner;
use quarry::sandbox::Job;

use super::bench::{Bench, check_promises, interpreters, reason};

/// What is tried: a Python and what is installed beside pytest. Not every pytest runs on every Python.
const MATRIX: [(&str, &[&str]); 9] = [
    ("3.6", &["pytest==3.0.7"]),
    (
        "3.6",
        &[
            "pytest==3.10.1",
            "pytest-xdist==1.27.0",
            "pytest-rerunfailures==7.0",
        ],
    ),
    (
        "3.6",
        &[
            "pytest==4.6.11",
            "pytest-xdist==1.34.0",
            "pytest-rerunfailures==8.0",
            "pytest-subtests==0.3.2",
        ],
    ),
    (
        "3.6",
        &[
            "pytest==5.4.3",
            "pytest-xdist==1.34.0",
            "pytest-rerunfailures==10.3",
            "pytest-subtests==0.5.0",
        ],
    ),
    (
        "3.8",
        &[
            "pytest==6.2.5",
            "pytest-xdist==3.5.0",
            "pytest-rerunfailures==12.0",
        ],
    ),
    (
        "3.8",
        &[
            "pytest==8.3.5",
            "pytest-xdist==3.6.1",
            "pytest-rerunfailures==14.0",
            "pytest-subtests==0.13.1",
        ],
    ),
    (
        "3.11",
        &[
            "pytest==7.4.4",
            "pytest-xdist==3.8.0",
            "pytest-rerunfailures==16.1",
            "pytest-subtests==0.15.0",
        ],
    ),
    ("3.12", &["pytest==8.4.2"]),
    (
        "3.13",
        &[
            "pytest==9.0.1",
            "pytest-xdist==3.8.0",
            "pytest-rerunfailures==16.1",
        ],
    ),
];

/// Every outcome, plainly and (where it is installed) under xdist.
async fn outcomes(which: &str, bench: &Bench, packages: &[&str]) {
    let has = |name: &str| packages.iter().any(|package| package.starts_with(name));
    let mut ways: Vec<&[&str]> = vec![&[]];
    if has("pytest-xdist") {
        ways.push(&["-n", "2"]);
    }
    for more in ways {
        let which = &format!("{which} {more:?}");
        let (result, told) = bench.pytest("outcomes", more).await;
        assert_eq!(
            reason(&result, &told),
            ("ok", String::new()),
            "{which}: {}",
            result.stdout.text()
        );
        check_promises(which, &told, 37);
        let odd = told
            .outcome
            .tests
            .keys()
            .find(|id| id.as_str().contains("odd_id"))
            .unwrap();
        let escaped = if more.is_empty() { "\\udc80" } else { "" };
        assert_eq!(
            odd.as_str(),
            format!("test_outcomes.py::test_odd_id_passes[\n\t\u{e9} \u{4e2d}]{escaped}")
        );
        let errors: Vec<&String> = told.outcome.collection_errors.keys().collect();
        let skips: Vec<&String> = told.outcome.collection_skips.keys().collect();
        assert_eq!(errors, ["test_broken.py"], "{which}");
        // Under xdist a worker's skips stay in the worker.
        assert!(
            skips == ["test_module_skip.py"] || (skips.is_empty() && !more.is_empty()),
            "{which}: {skips:?}"
        );
        for id in [
            "test_outcomes.py::TestClass::test_method_passes",
            "test_outcomes.py::test_ids_pass[[x]]",
            "test_outcomes.py::test_ids_pass[a-b/c.py::d]",
        ] {
            assert!(told.outcome.tests.contains_key(&id.into()), "{which}: no `{id}`");
        }
        assert_eq!((told.forged, told.damaged), (0, false), "{which}");
        assert_eq!(told.collected.len(), told.outcome.tests.len(), "{which}");
    }
    if has("pytest-rerunfailures") {
        let (result, told) = bench.pytest("reruns", &["--reruns", "2"]).await;
        assert_eq!(reason(&result, &told).0, "ok", "{which}");
        check_promises(which, &told, 1 + 1);
        let reruns: Vec<(&str, u32)> = told
            .reruns
            .iter()
            .map(|(id, times)| (id.as_str(), *times))
            .collect();
        let expected = [
            ("test_reruns.py::test_never_passes_or_fails", 2),
            ("test_reruns.py::test_second_try_passes", 1),
        ];
        assert_eq!(reruns, expected, "{which}");
    }
}

/// What a run is asked beside its arguments.
async fn wishes(which: &str, bench: &Bench) {
    let args = [
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",
        "--continue-on-collection-errors",
    ];
    let ask = async |wishes: &str| {
        let input = |job: &mut Job| job.stdin.extend_from_slice(wishes.as_bytes());
        let (result, told) = bench.run("outcomes", Runner::Pytest, &args, input).await;
        let text = result.stdout.text();
        assert_eq!(reason(&result, &told), ("ok", String::new()), "{which}: {text}");
        told
    };
    let told = ask(r#"{"order": "5eed"}"#).await;
    assert_eq!(told.order.as_deref(), Some("5eed"), "{which}");
    check_promises(which, &told, 37);

    let told = ask(
        r#"{"only": ["test_outcomes.py::TestClass::test_method_passes", "test_outcomes.py::test_call_fails"],
            "ids": ["test_outcomes.py::TestClass::test_method_passes", "test_outcomes.py::test_call_fails",
                    "test_outcomes.py::test_ids_pass[[x]]", "test_outcomes.py::test_gone", "gone.py::test_gone"]}"#,
    )
    .await;
    let addressed = told.addressed.unwrap();
    let addressed: Vec<&str> = addressed.iter().map(TestId::as_str).collect();
    let expected = [
        "test_outcomes.py::TestClass::test_method_passes",
        "test_outcomes.py::test_call_fails",
        "test_outcomes.py::test_ids_pass[[x]]",
    ];
    assert_eq!(addressed, expected, "{which}");
    let ran: Vec<&str> = told.outcome.tests.keys().map(TestId::as_str).collect();
    assert_eq!(ran, expected[..2], "{which}");
}

/// What hostile or broken tests do to a run.
async fn hostile(which: &str, bench: &Bench) {
    let alone = async |module: &str| bench.pytest("hostile", &[module]).await;

    let (result, told) = alone("test_exit.py").await;
    let (word, detail) = reason(&result, &told);
    assert_eq!(word, "lost-channel", "{which}");
    assert!(
        detail.contains("`test_exit.py::test_leaves`"),
        "{which}: {detail}"
    );

    let (result, told) = alone("test_segfault.py").await;
    let (word, detail) = reason(&result, &told);
    assert_eq!(word, "crash", "{which}: {detail}");
    assert!(
        detail.contains("signal 11") && detail.contains("test_crashes"),
        "{which}: {detail}"
    );

    for module in ["test_pytest_exit.py", "test_interrupt.py"] {
        let (result, told) = alone(module).await;
        assert_eq!(reason(&result, &told).0, "interrupted", "{which}: {module}");
    }

    let (result, told) = alone("test_forge.py").await;
    assert_eq!(
        reason(&result, &told).0,
        "ok",
        "{which}: {}",
        result.stdout.text()
    );
    assert_eq!(told.forged, 101, "{which}");
    assert_eq!(
        told.outcome.tests[&"test_forge.py::test_fails".into()],
        TestStatus::Failed,
        "{which}"
    );

    let (result, told) = alone("test_truncate.py").await;
    assert_ne!(reason(&result, &told).0, "ok", "{which}");

    let (result, told) = alone("test_hangs_at_exit.py").await;
    assert_eq!(reason(&result, &told).0, "ok", "{which}");

    let (result, told) = alone("test_network.py").await;
    assert_eq!(reason(&result, &told).0, "ok", "{which}");
    assert!(
        told.outcome.tests.values().all(|status| status.is_pass()),
        "{which}: {:?}",
        told.messages
    );

    // A conftest that cannot be imported is a collection error of its folder, not a usage error.
    let (result, told) = bench.pytest("hostile/conf", &[]).await;
    assert_eq!(
        reason(&result, &told).0,
        "ok",
        "{which}: {}",
        result.stdout.text()
    );
    assert!(told.outcome.tests.is_empty(), "{which}");
    let errors: Vec<&String> = told.outcome.collection_errors.keys().collect();
    assert_eq!(errors, ["conftest.py"], "{which}: {:?}", told.outcome);

    // What fails once every outcome is told takes none of them back.
    let (result, told) = bench.pytest("hostile/late", &[]).await;
    assert_eq!(
        reason(&result, &told).0,
        "ok",
        "{which}: {}",
        result.stdout.text()
    );
    check_promises(which, &told, 2);
    assert!(result.stdout.text().contains("after the end"), "{which}");

    let (result, told) = bench.pytest("reruns", &["--no-such-option"]).await;
    assert_eq!(reason(&result, &told).0, "usage-error", "{which}");

    let thief = |job: &mut Job| drop(job.env.insert("PYTHONPATH".to_owned(), "/testbed".to_owned()));
    let (result, told) = bench
        .run(
            "hostile/sitecustom",
            Runner::Pytest,
            &["-p", "no:cacheprovider"],
            thief,
        )
        .await;
    assert_eq!(reason(&result, &told).0, "ok", "{which}");
    assert!(
        told.outcome.tests.values().all(|status| status.is_pass()),
        "{which}: {:?}",
        told.messages
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pytest_from_3_to_9_tells_every_outcome() {
    let found = interpreters();
    let mut tried = Vec::new();
    for (python, packages) in MATRIX {
        match found.get(python) {
            Some(interpreter) => tried.push((interpreter, packages)),
            None => println!("not tried, no Python {python} here: {}", packages.join(" ")),
        }
    }
    if tried.is_empty() {
        // Whatever Python there is must do with the pytest of today.
        tried.push((found.values().next_back().unwrap(), &["pytest", "pytest-xdist"]));
    }
    let last = tried.len() - 1;
    let jobs = tried
        .into_iter()
        .enumerate()
        .map(async |(index, (interpreter, packages))| {
            let which = format!("Python {}, {}", interpreter.version, packages.join(" "));
            let bench = Bench::new(interpreter, packages);
            outcomes(&which, &bench, packages).await;
            wishes(&which, &bench).await;
            // The oldest and the newest.
            if [0, last].contains(&index) {
                hostile(&which, &bench).await;
            }
            println!("tried: {which}");
        });
    futures::stream::iter(jobs)
        .buffer_unordered(2)
        .collect::<Vec<()>>()
        .await;
}

#[tokio::test]
async fn a_worker_that_dies_under_xdist_is_a_crash() {
    let found = interpreters();
    let interpreter = found.values().next_back().unwrap();
    let bench = Bench::new(interpreter, &["pytest", "pytest-xdist"]);
    let (result, told) = bench.pytest("hostile", &["-n", "2", "test_exit.py"]).await;
    let (word, detail) = reason(&result, &told);
    assert_eq!(word, "crash", "{detail}");
    assert!(detail.contains("`test_exit.py::test_leaves`"), "{detail}");
}

#[tokio::test]
async fn an_environment_without_the_runner_says_so() {
    let found = interpreters();
    let bench = Bench::new(found.values().next_back().unwrap(), &[]);
    let (result, told) = bench.pytest("outcomes", &[]).await;
    let (word, detail) = reason(&result, &told);
    assert_eq!(word, "no-runner", "{}", result.stdout.text());
    assert!(detail.contains("pytest"), "{detail}");
}
