use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

const STATUSES: [TestStatus; 8] = [
    TestStatus::Passed,
    TestStatus::Failed,
    TestStatus::Errored,
    TestStatus::Skipped,
    TestStatus::Xfailed,
    TestStatus::Xpassed,
    TestStatus::CollectionError,
    TestStatus::Absent,
];

/// A run in which `tests/m.py::t` looked like `status`.
fn run(status: TestStatus) -> RunOutcome {
    let mut outcome = RunOutcome::default();
    match status {
        TestStatus::Absent => {}
        TestStatus::CollectionError => {
            outcome
                .collection_errors
                .insert("tests/m.py".to_owned(), "ImportError".to_owned());
        }
        told => {
            outcome.tests.insert("tests/m.py::t".into(), told);
        }
    }
    outcome
}

fn lists(oracle: &Oracle) -> BTreeMap<&'static str, Vec<TestId>> {
    let flaky = oracle.flaky.iter().map(|flaky| flaky.test.clone()).collect();
    let ordered = oracle
        .order_dependent
        .iter()
        .map(|test| test.test.clone())
        .collect();
    BTreeMap::from([
        ("fail_to_pass", oracle.fail_to_pass.clone()),
        ("pass_to_pass", oracle.pass_to_pass.clone()),
        ("pass_to_fail", oracle.pass_to_fail.clone()),
        ("fail_to_fail", oracle.fail_to_fail.clone()),
        ("absent_to_pass", oracle.absent_to_pass.clone()),
        ("pass_to_absent", oracle.pass_to_absent.clone()),
        ("skipped_on_one_side", oracle.skipped_on_one_side.clone()),
        ("never_ran", oracle.never_ran.clone()),
        ("flaky", flaky),
        ("order_dependent", ordered),
    ])
}

fn runs(before: &[RunOutcome], after: &[RunOutcome]) -> Runs {
    Runs {
        before: before.to_vec(),
        after: after.to_vec(),
        shuffled: None,
    }
}

fn settings(uncollected: BeforeGold, absent: BeforeGold) -> Verification {
    Verification {
        collection_error_before: uncollected,
        absent_before: absent,
        ..Verification::default()
    }
}

/// The list of the one test of a runs' pair, or `-` when no run knows it.
fn place(before: TestStatus, after: TestStatus, settings: &Verification) -> &'static str {
    let oracle = classify(&runs(&[run(before), run(before)], &[run(after)]), settings);
    lists(&oracle)
        .into_iter()
        .find(|(_, tests)| !tests.is_empty())
        .map_or("-", |(name, _)| name)
}

/// Rows: before gold. Columns: after it, in the order of `STATUSES`:
/// passed, failed, errored, skipped, xfailed, xpassed, collection error, absent.
#[test]
fn every_pair_of_statuses_has_its_list() {
    const P2P: &str = "pass_to_pass";
    const F2P: &str = "fail_to_pass";
    const P2F: &str = "pass_to_fail";
    const F2F: &str = "fail_to_fail";
    const ONE: &str = "skipped_on_one_side";
    const NOT: &str = "never_ran";
    const P2A: &str = "pass_to_absent";
    const A2P: &str = "absent_to_pass";
    let fails = [F2P, F2F, F2F, ONE, ONE, F2P, F2F, F2F];
    let passes = [P2P, P2F, P2F, ONE, ONE, P2P, P2F, P2A];
    let idles = [ONE, ONE, ONE, NOT, NOT, ONE, ONE, NOT];
    // A test that only one side's collection error can hold is known to no run: it is in no list.
    let uncollected = [F2P, F2F, F2F, ONE, ONE, F2P, "-", "-"];
    let absent = [A2P, F2F, F2F, NOT, NOT, A2P, "-", "-"];
    let table = [passes, fails, fails, idles, idles, passes, uncollected, absent];
    for (before, row) in STATUSES.into_iter().zip(table) {
        for (after, expected) in STATUSES.into_iter().zip(row) {
            let place = place(before, after, &Verification::default());
            assert_eq!(place, expected, "{before:?} before gold, {after:?} after");
        }
    }
}

#[test]
fn the_recipe_says_what_unseen_tests_count_as() {
    use TestStatus::{Absent, CollectionError, Failed, Passed};
    let strict = settings(BeforeGold::Exclude, BeforeGold::Exclude);
    let lenient = settings(BeforeGold::Fail, BeforeGold::Fail);
    assert_eq!(place(CollectionError, Passed, &strict), "absent_to_pass");
    assert_eq!(place(CollectionError, Passed, &lenient), "fail_to_pass");
    assert_eq!(place(Absent, Passed, &strict), "absent_to_pass");
    assert_eq!(place(Absent, Passed, &lenient), "fail_to_pass");
    assert_eq!(place(Failed, Passed, &strict), "fail_to_pass");
}

#[test]
fn before_gold_keeps_what_kind_of_failure_it_was() {
    use TestStatus::{Absent, CollectionError, Errored, Failed, Passed};
    let lenient = settings(BeforeGold::Fail, BeforeGold::Fail);
    for before in [Failed, Errored, CollectionError, Absent] {
        let oracle = classify(&runs(&[run(before)], &[run(Passed)]), &lenient);
        assert_eq!(oracle.before_gold, [before]);
    }
}

/// In collection order the test fails before gold and passes after; the random order's runs are given.
fn ordered(before: TestStatus, after: TestStatus) -> Oracle {
    let mut runs = runs(&[run(TestStatus::Failed)], &[run(TestStatus::Passed)]);
    runs.shuffled = Some(Shuffled {
        seed: "5eed".to_owned(),
        before: run(before),
        after: run(after),
    });
    classify(&runs, &Verification::default())
}

#[test]
fn what_the_random_order_changes_depends_on_the_order() {
    use TestStatus::{Absent, CollectionError, Errored, Failed, Passed, Skipped, Xfailed, Xpassed};
    for (before, after) in [(Failed, Passed), (Errored, Passed), (Failed, Xpassed)] {
        let oracle = ordered(before, after);
        assert_eq!(oracle.fail_to_pass.len(), 1, "{before:?} {after:?}");
        assert_eq!(oracle.order_seed.as_deref(), Some("5eed"));
    }
    for (before, after) in [
        (Passed, Passed),
        (Failed, Failed),
        (Skipped, Passed),
        (CollectionError, Passed),
        (Failed, Absent),
        (Failed, Xfailed),
    ] {
        let expected = OrderDependentTest {
            test: "tests/m.py::t".into(),
            before: Failed,
            before_shuffled: Some(before),
            after: Passed,
            after_shuffled: Some(after),
            after_alone: None,
        };
        let oracle = ordered(before, after);
        assert_eq!(oracle.order_dependent, [expected]);
        assert_eq!((oracle.fail_to_pass, oracle.before_gold), (vec![], vec![]));
    }
}

#[test]
fn what_differs_in_one_order_is_flaky_whatever_the_other_shows() {
    use TestStatus::{Failed, Passed};
    let mut runs = runs(&[run(Failed)], &[run(Passed), run(Failed), run(Passed)]);
    runs.shuffled = Some(Shuffled {
        before: run(Passed),
        ..Shuffled::default()
    });
    let oracle = classify(&runs, &Verification::default());
    assert_eq!(
        oracle.flaky,
        [FlakyTest::new("tests/m.py::t".into(), (0, 1), (2, 3))]
    );
    assert_eq!(oracle.order_dependent, []);
}

#[test]
fn a_side_against_itself_shows_noise_alone() {
    use TestStatus::{Failed, Passed, Skipped};
    let null = |first: [TestStatus; 2], again: [TestStatus; 2]| {
        against_itself(&first.map(run), &again.map(run), &Verification::default())
    };
    assert_eq!(null([Passed; 2], [Passed; 2]).changed, []);
    let lucky = null([Failed; 2], [Passed; 2]);
    assert_eq!(
        (lucky.runs, lucky.fail_to_pass.len(), lucky.changed.len()),
        (2, 1, 0)
    );
    let unlucky = null([Passed; 2], [Skipped; 2]);
    assert_eq!((unlucky.fail_to_pass.len(), unlucky.changed.len()), (0, 1));
    // Flaky within a half: the oracle names it as it is.
    let flaky = null([Failed, Passed], [Passed; 2]);
    assert_eq!((flaky.fail_to_pass, flaky.changed), (vec![], vec![]));
}

fn any_run() -> impl Strategy<Value = RunOutcome> {
    let test = (0_u8..3, 0_u8..4).prop_map(|(module, name)| TestId(format!("m{module}.py::t{name}")));
    let tests = proptest::collection::btree_map(test, proptest::sample::select(&STATUSES[..6]), 0..8);
    let nodes = || proptest::collection::btree_map("m[0-2].py", "why", 0..2);
    (tests, nodes(), nodes()).prop_map(|(tests, collection_errors, collection_skips)| RunOutcome {
        tests,
        collection_errors,
        collection_skips,
    })
}

fn any_settings() -> impl Strategy<Value = Verification> {
    let either = || proptest::sample::select(&[BeforeGold::Fail, BeforeGold::Exclude][..]);
    (either(), either()).prop_map(|(one, other)| settings(one, other))
}

fn any_runs() -> impl Strategy<Value = Runs> {
    let side = || proptest::collection::vec(any_run(), 1..4);
    let shuffled = proptest::option::of((any_run(), any_run()).prop_map(|(before, after)| Shuffled {
        seed: "5eed".to_owned(),
        before,
        after,
    }));
    (side(), side(), shuffled).prop_map(|(before, after, shuffled)| Runs {
        before,
        after,
        shuffled,
    })
}

proptest! {
    #[test]
    fn every_test_is_in_exactly_one_sorted_list(runs in any_runs(), settings in any_settings()) {
        let oracle = classify(&runs, &settings);
        let known: BTreeSet<TestId> = runs.all().flat_map(|run| run.tests.keys().cloned()).collect();
        let all: Vec<TestId> = lists(&oracle).into_values().flatten().collect();
        prop_assert_eq!(all.len(), known.len());
        prop_assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), known);
        for (name, tests) in lists(&oracle) {
            prop_assert!(tests.is_sorted(), "{}", name);
        }
        prop_assert_eq!(oracle.before_gold.len(), oracle.fail_to_pass.len());
    }

    #[test]
    fn the_order_of_the_runs_does_not_matter(runs in any_runs(), settings in any_settings(), turn in 0_usize..4) {
        let oracle = classify(&runs, &settings);
        let mut turned = runs;
        let middle = turn % turned.before.len();
        turned.before.rotate_left(middle);
        turned.after.reverse();
        prop_assert_eq!(classify(&turned, &settings), oracle);
    }

    #[test]
    fn fail_to_pass_never_passed_before_and_always_passes_after(runs in any_runs(), settings in any_settings()) {
        let oracle = classify(&runs, &settings);
        let shuffled = runs.shuffled.clone().into_iter();
        let before: Vec<_> = runs.before.iter().cloned().chain(shuffled.clone().map(|run| run.before)).collect();
        let after: Vec<_> = runs.after.iter().cloned().chain(shuffled.map(|run| run.after)).collect();
        for test in &oracle.fail_to_pass {
            prop_assert!(before.iter().all(|run| !run.status(test).is_pass()));
            prop_assert!(before.iter().all(|run| kind(run.status(test)) != Kind::Idle));
            prop_assert!(after.iter().all(|run| run.status(test).is_pass()));
        }
        for test in &oracle.pass_to_pass {
            prop_assert!(before.iter().chain(&after).all(|run| run.status(test).is_pass()));
        }
        for flaky in &oracle.flaky {
            let (before, after) = (runs.before.len(), runs.after.len());
            prop_assert!(flaky.passed_before as usize <= before && flaky.passed_after as usize <= after);
        }
    }
}
