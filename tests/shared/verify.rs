//! One candidate's verification, end to end, through the ledger, in both rooms.

use quarry::domain::attempt::AttemptOutcome;
use quarry::domain::ids::TestId;
use quarry::domain::oracle::{FlakyTest, Oracle, RanScope};
use quarry::domain::outcome::TestStatus;
use quarry::domain::path::RepoPath;
use quarry::recipe::model::{Scope, Verification};
use quarry::verify::run::{TrialOutcome, TrialRequest};
use quarry::verify::{VerifyOutcome, VerifyRequest};
use tokio_util::sync::CancellationToken;

use crate::site::{Site, adds};

const TESTS: &str = r#"import os
import unittest

import lib


class Lib(unittest.TestCase):
    def test_value(self):
        self.assertEqual(lib.VALUE, 2)

    def test_type(self):
        self.assertIsInstance(lib.VALUE, int)

    def test_old(self):
        self.assertEqual(lib.VALUE, 1)

    def test_each_run_has_a_fresh_tree(self):
        self.assertFalse(os.path.exists("dirt"))
        open("dirt", "w").close()
        os.mkdir("locked")
        os.chmod("locked", 0)

    def test_environment(self):
        self.assertEqual(os.environ["FLAVOUR"], "plain")
        self.assertEqual(open("product.txt").read(), "left by the install")
        self.assertNotIn("CI", os.environ)

    def test_order(self):
        self.assertNotEqual(os.environ["PYTHONHASHSEED"], "2")

    def test_never(self):
        self.fail()

    @unittest.skip("always")
    def test_skipped(self):
        pass

    @unittest.skipIf(lib.VALUE == 1, "not yet")
    def test_skipped_before(self):
        pass
"#;

pub(crate) const GOLD: &str = "diff --git a/lib.py b/lib.py
--- a/lib.py
+++ b/lib.py
@@ -1 +1 @@
-VALUE = 1
+VALUE = 2
";

fn ids(names: &[&str]) -> Vec<TestId> {
    names
        .iter()
        .map(|name| TestId(format!("tests.test_lib.Lib.{name}")))
        .collect()
}

#[tokio::test]
async fn both_sides_make_an_oracle_that_is_made_once() {
    let expected = Oracle {
        fail_to_pass: ids(&["test_value"]),
        pass_to_pass: ids(&["test_each_run_has_a_fresh_tree", "test_environment", "test_type"]),
        pass_to_fail: ids(&["test_old"]),
        fail_to_fail: ids(&["test_never"]),
        skipped_on_one_side: ids(&["test_skipped_before"]),
        never_ran: ids(&["test_skipped"]),
        flaky: vec![FlakyTest::new(ids(&["test_order"])[0].clone(), (2, 3), (2, 3))],
        before_gold: vec![TestStatus::Failed],
        runs_before: 3,
        runs_after: 3,
        ..Oracle::default()
    };
    let mut seeds = None;
    for kind in crate::ROOMS {
        let site = Site::new(kind);
        let request = site.request(TESTS, GOLD);
        let first = site.verifier.verify(&request).await.unwrap();
        let VerifyOutcome::Verified(verified) = &first else {
            panic!("{kind:?}: {first:?}")
        };
        // Drawn from what is verified and not from where: every room has the same one.
        let seed = verified.oracle.order_seed.clone().unwrap();
        assert!(
            seed.len() == 16 && seed.bytes().all(|b| b.is_ascii_hexdigit()),
            "{seed}"
        );
        assert_eq!(seeds.get_or_insert_with(|| seed.clone()), &seed, "{kind:?}");
        let expected = Oracle {
            order_seed: Some(seed),
            ..expected.clone()
        };
        assert_eq!(verified.oracle, expected, "{kind:?}");
        assert!(verified.runner.starts_with("unittest 3."), "{}", verified.runner);
        assert_eq!(site.leftovers(), [""; 0], "{kind:?}");
        let log = site.context.blobs.get(verified.log.as_ref().unwrap()).unwrap();
        let log = String::from_utf8(log).unwrap();
        assert!(log.contains("==== run 3 after gold ===="), "{log}");
        assert!(
            log.contains("==== the run in random order after gold ===="),
            "{log}"
        );

        assert_eq!(site.verifier.verify(&request).await.unwrap(), first, "{kind:?}");
        assert_eq!(
            site.attempts().len(),
            1,
            "{kind:?}: the second answer is the ledger's"
        );
        let mut other = request.clone();
        other.subject.settings.runs = 1;
        let VerifyOutcome::Verified(verified) = site.verifier.verify(&other).await.unwrap() else {
            panic!()
        };
        assert_eq!(verified.oracle.runs_after, 1);
        assert_eq!(verified.oracle.flaky, []);
        assert_eq!(
            site.attempts().len(),
            2,
            "{kind:?}: other settings are other work"
        );
    }
}

/// Two tests that gold does nothing for: one passes, one comes and goes with the hash seed of the run.
const NOTHING_FIXED: &str = r#"import os
import unittest


class Lib(unittest.TestCase):
    def test_steady(self):
        pass

    def test_order(self):
        self.assertNotEqual(os.environ["PYTHONHASHSEED"], "2")
"#;

#[tokio::test]
async fn runs_end_with_the_first_after_which_no_test_can_be_fail_to_pass() {
    let site = Site::new(crate::CLOSED);
    let mut request = site.request(NOTHING_FIXED, GOLD);
    request.subject.needs_fail_to_pass = true;
    let short = site.verified(&request).await;
    assert_eq!((short.oracle.runs_before, short.oracle.runs_after), (1, 1));
    assert_eq!(
        (&short.oracle.fail_to_pass, &short.oracle.order_seed),
        (&vec![], &None)
    );
    assert_eq!(site.verified(&request).await, short);
    assert_eq!(site.attempts().len(), 1, "the second answer is the ledger's");

    // Who asks for more than FAIL_TO_PASS is not content with it.
    request.subject.needs_fail_to_pass = false;
    let whole = site.verified(&request).await;
    assert_eq!((whole.oracle.runs_before, whole.oracle.runs_after), (3, 3));
    assert_eq!(whole.oracle.flaky.len(), 1);
    request.subject.needs_fail_to_pass = true;
    assert_eq!(site.verified(&request).await, whole);
    assert_eq!(site.attempts().len(), 2);

    // With a test that may be one, every run is made, and the answer is everybody's.
    let mut request = site.request(TESTS, GOLD);
    request.subject.needs_fail_to_pass = true;
    let whole = site.verified(&request).await;
    assert_eq!((whole.oracle.runs_before, whole.oracle.runs_after), (3, 3));
    request.subject.needs_fail_to_pass = false;
    assert_eq!(site.verified(&request).await, whole);
    assert_eq!(site.attempts().len(), 3);
}

/// One module whose tests pass but for want of a network, one with a test that fails, one in which none passes.
const TRIED: [(&str, &str); 3] = [
    (
        "tests/test_net.py",
        "import socket
import unittest


class Net(unittest.TestCase):
    def test_resolves(self):
        socket.getaddrinfo('quarry.example', 80)

    def test_passes(self):
        pass
",
    ),
    (
        "tests/test_other.py",
        "import unittest


class Other(unittest.TestCase):
    def test_fails(self):
        self.fail()

    def test_passes(self):
        pass
",
    ),
    (
        "tests/test_dark.py",
        "import unittest


class Dark(unittest.TestCase):
    def test_fails(self):
        self.fail()
",
    ),
];

#[tokio::test]
async fn a_trial_runs_the_suite_where_touched_modules_show_no_pass() {
    let site = Site::new(crate::CLOSED);
    let request = site.request("", GOLD);
    for (path, text) in TRIED {
        std::fs::write(request.tree.join(path), text).unwrap();
    }
    let (narrow, wide) = (Scope::Modules, Scope::Suite);
    for (touched, scope, ran, counts) in [
        (vec!["tests/test_net.py"], narrow, RanScope::Modules, (1, 1, 1)),
        (vec!["tests/test_other.py"], narrow, RanScope::Modules, (1, 1, 0)),
        (vec!["tests/test_dark.py"], narrow, RanScope::Suite, (2, 3, 1)),
        // New modules say nothing of an environment yet.
        (vec!["tests/test_new.py"], narrow, RanScope::Suite, (2, 3, 1)),
        // New data does, by the modules that read it.
        (vec!["tests/net/new.json"], narrow, RanScope::Modules, (1, 1, 1)),
        (vec![], narrow, RanScope::Suite, (2, 3, 1)),
        (vec!["tests/test_net.py"], wide, RanScope::Suite, (2, 3, 1)),
    ] {
        let subject = request.subject.clone();
        let trial = site
            .verifier
            .trial(&TrialRequest {
                base_commit: subject.base_commit,
                tree: request.tree.clone(),
                environment_key: subject.environment_key,
                environment: request.environment.clone(),
                variables: subject.variables,
                settings: Verification {
                    scope,
                    ..subject.settings
                },
                touched: touched.iter().map(|path| RepoPath::from(*path)).collect(),
            })
            .await
            .unwrap();
        let TrialOutcome::Ran(trial, _) = trial else {
            panic!("{trial:?}")
        };
        assert_eq!(
            (trial.passed, trial.failed, trial.no_network),
            counts,
            "{touched:?}: {}",
            trial.said
        );
        assert_eq!(trial.scope, ran, "{touched:?}");
    }
}

#[tokio::test]
async fn patches_that_do_not_apply_are_the_projects_fault() {
    let site = Site::new(crate::CLOSED);
    let failure = site
        .failure(&site.request(TESTS, &GOLD.replace("VALUE = 1", "VALUE = 7")))
        .await;
    assert_eq!(
        (failure.outcome, failure.reason.as_str()),
        (AttemptOutcome::Project, "gold-does-not-apply")
    );
    assert!(failure.detail.contains("lib.py"), "{}", failure.detail);
    let mut request = site.request(TESTS, GOLD);
    request.subject.patches.test = adds("tests/__init__.py", "x = 1");
    let failure = site.failure(&request).await;
    assert_eq!(
        (failure.outcome, failure.reason.as_str()),
        (AttemptOutcome::Project, "test-patch-does-not-apply")
    );
    let mut request = site.request(TESTS, GOLD);
    request.subject.patches.test = adds("data/x.json", "{}");
    request.subject.touched = vec![RepoPath::from("data/x.json")];
    let failure = site.failure(&request).await;
    assert_eq!(
        (failure.outcome, failure.reason.as_str()),
        (AttemptOutcome::Project, "nothing-to-run")
    );
    let before = site.attempts().len();
    assert_eq!(site.failure(&request).await, failure);
    assert_eq!(
        site.attempts().len(),
        before,
        "a project outcome is not tried again"
    );
    let failure = site.failure(&site.request("x = 1", GOLD)).await;
    assert_eq!(failure.reason, "no-tests");
}

const HANG: &str = "import time
import unittest


class Hang(unittest.TestCase):
    def test_a(self):
        pass

    def test_hangs(self):
        print('going to sleep')
        time.sleep(1000)
";

#[tokio::test]
async fn an_infra_outcome_is_tried_to_its_cap_and_then_stands() {
    let site = Site::new(crate::CLOSED);
    let mut request = site.request(HANG, GOLD);
    request.subject.settings.timeout_seconds = 2;
    let failure = site.failure(&request).await;
    assert_eq!(
        (failure.outcome, failure.reason.as_str()),
        (AttemptOutcome::Infra, "time-out")
    );
    assert!(
        failure.detail.contains("run 1 before gold") && failure.detail.contains("test_hangs"),
        "{}",
        failure.detail
    );
    assert!(site.log(&failure).contains("1 Passed"), "{}", site.log(&failure));
    assert_eq!(site.attempts().len(), 2);
    assert_eq!(site.failure(&request).await, failure);
    assert_eq!(site.attempts().len(), 2, "its tries are used up");
    request.subject.settings.infra_tries = 1;
    site.failure(&VerifyRequest {
        again: true,
        ..request.clone()
    })
    .await;
    assert_eq!(site.attempts().len(), 3, "asked for again");
    assert_eq!(site.leftovers(), [""; 0]);
}

#[tokio::test]
async fn a_process_that_dies_in_a_test_makes_no_oracle() {
    let site = Site::new(crate::CLOSED);
    let dies = TESTS.replace("self.fail()", "os._exit(0) if lib.VALUE == 2 else None");
    let mut request = site.request(&dies, GOLD);
    request.subject.settings.infra_tries = 1;
    let failure = site.failure(&request).await;
    assert_eq!(
        (failure.outcome, failure.reason.as_str()),
        (AttemptOutcome::Infra, "lost-channel")
    );
    assert!(
        failure.detail.contains("run 1 after gold") && failure.detail.contains("test_never"),
        "{}",
        failure.detail
    );
    assert!(site.attempts()[0].result.is_none());
}

#[tokio::test]
async fn a_stopped_run_leaves_no_attempt() {
    let site = Site::new(crate::CLOSED);
    let request = site.request(HANG, GOLD);
    let kill = CancellationToken::new();
    let verifier = site.verifier.clone().with_kill(kill.clone());
    let killer = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        kill.cancel();
    };
    let (outcome, ()) = tokio::join!(verifier.verify(&request), killer);
    assert_eq!(outcome.unwrap(), VerifyOutcome::Cancelled);
    site.context.cancel.cancel();
    assert_eq!(
        site.verifier.verify(&request).await.unwrap(),
        VerifyOutcome::Cancelled
    );
    assert_eq!(site.attempts(), []);
    assert_eq!(site.leftovers(), [""; 0]);
}
