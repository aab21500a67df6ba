//! What the runs beside the ordinary ones find: one tiny project a defect, under real runners.

use quarry::domain::ids::TestId;
use quarry::domain::oracle::RanScope;
use quarry::domain::outcome::TestStatus;
use quarry::domain::path::RepoPath;
use quarry::verify::{Verified, VerifyRequest};

use crate::site::{Site, adds};

const GOLD: &str = "diff --git a/lib.py b/lib.py
--- a/lib.py
+++ b/lib.py
@@ -1 +1 @@
-VALUE = 1
+VALUE = 2
";

/// A test that passes only when the one above it has run, one that passes only when the one above it has not, and one
/// that is its own master.
const ORDERED: &str = r#"import unittest

import lib

SEEN = []


class Lib(unittest.TestCase):
    def test_a_leads(self):
        SEEN.append("a")

    def test_b_follows(self):
        self.assertEqual((SEEN, lib.VALUE), (["a"], 2))

    def test_c_alone(self):
        self.assertEqual(lib.VALUE, 2)
"#;

/// Verifies with the first of several patches (of one meaning, with other bytes and so another seed) whose random
/// order sets `test_b_follows` before `test_a_leads`.
async fn until_turned(site: &Site, request: &VerifyRequest, prefix: &str) -> Verified {
    for salt in 0..32 {
        let mut request = request.clone();
        let more = format!("+# {salt}\n");
        request.subject.patches.gold = GOLD.replace("+1 @@", "+1,2 @@").into_bytes();
        request.subject.patches.gold.extend(more.into_bytes());
        request.subject.settings.runs = 1;
        let verified = site.verified(&request).await;
        let found = &verified.oracle.order_dependent;
        assert_eq!(found.len(), 1, "at the latest the run by id shows it");
        assert_eq!(found[0].test.as_str(), format!("{prefix}test_b_follows"));
        if found[0].after_alone.is_none() {
            return verified;
        }
    }
    panic!("32 seeds left the order as it was");
}

#[tokio::test]
async fn a_test_that_needs_another_one_is_named_and_in_no_oracle() {
    for runner in ["pytest", "unittest"] {
        let site = Site::new(crate::CLOSED);
        let (request, prefix) = match runner {
            "pytest" => (
                site.pytest_request(ORDERED, GOLD, &[]),
                "tests/test_lib.py::Lib::",
            ),
            _ => (site.request(ORDERED, GOLD), "tests.test_lib.Lib."),
        };
        let oracle = until_turned(&site, &request, prefix).await.oracle;
        let found = &oracle.order_dependent[0];
        assert_eq!(
            (found.before, found.after),
            (TestStatus::Failed, TestStatus::Passed),
            "{runner}"
        );
        assert_eq!(found.after_shuffled, Some(TestStatus::Failed), "{runner}");
        let names = |tests: &[quarry::domain::ids::TestId]| {
            tests
                .iter()
                .map(|test| test.as_str().replace(prefix, ""))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&oracle.fail_to_pass), ["test_c_alone"], "{runner}");
        assert_eq!(names(&oracle.pass_to_pass), ["test_a_leads"], "{runner}");
        assert_eq!(oracle.flaky, [], "{runner}");
    }
}

#[tokio::test]
async fn without_the_setting_no_run_is_in_random_order() {
    let site = Site::new(crate::CLOSED);
    let mut request = site.request(ORDERED, GOLD);
    request.subject.settings.random_order = false;
    let oracle = site.verified(&request).await.oracle;
    assert_eq!(oracle.order_seed, None);
    // The run by id has no test that leads.
    let [found] = &oracle.order_dependent[..] else {
        panic!("{:?}", oracle.order_dependent)
    };
    assert_eq!(found.after_alone, Some(TestStatus::Failed));
    assert_eq!((found.before_shuffled, found.after_shuffled), (None, None));
    assert_eq!(oracle.fail_to_pass.len(), 1);
}

const RENAMES: &str = "def pytest_collection_modifyitems(items):
    for item in items:
        if 'renamed' in item.name:
            item._nodeid += ' (new)'
";

const NAMED: &str = r#"import socket

import lib


def test_named():
    assert lib.VALUE == 2


def test_renamed():
    assert lib.VALUE == 2


def test_renamed_too():
    pass


def test_far():
    socket.getaddrinfo("quarry-bench.invalid", 80)
    assert lib.VALUE == 2
"#;

#[tokio::test]
async fn ids_that_select_nothing_and_tests_that_miss_the_network_are_named() {
    let site = Site::new(crate::CLOSED);
    // Settings in a folder below: pytest's own ids would begin there.
    let more = [("tests/conftest.py", RENAMES), ("tests/pytest.ini", "[pytest]\n")];
    let request = site.pytest_request(NAMED, GOLD, &more);
    let oracle = site.verified(&request).await.oracle;
    assert_eq!(oracle.fail_to_pass, ["tests/test_lib.py::test_named".into()]);
    assert_eq!(oracle.before_gold.len(), 1);
    let lost = [
        "tests/test_lib.py::test_renamed (new)",
        "tests/test_lib.py::test_renamed_too (new)",
    ];
    assert_eq!(oracle.not_addressable, lost.map(Into::into));
    assert_eq!(oracle.pass_to_pass, []);
    assert_eq!(oracle.needs_network, ["tests/test_lib.py::test_far".into()]);
    assert_eq!(oracle.fail_to_fail, oracle.needs_network);
    assert_eq!(oracle.scope, RanScope::Modules);
}

#[tokio::test]
async fn a_new_module_takes_what_must_still_pass_from_the_suite() {
    for runner in ["pytest", "unittest"] {
        let site = Site::new(crate::CLOSED);
        // The project's own settings leave the folder of the new module out.
        let more = [
            ("pytest.ini", "[pytest]\ntestpaths = old\n"),
            ("old/__init__.py", ""),
            (
                "old/test_old.py",
                "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_old(self):\n        pass\n",
            ),
        ];
        let mut request = site.pytest_request(ORDERED, GOLD, &more);
        if runner == "unittest" {
            request = site.request(ORDERED, GOLD);
        }
        let oracle = site.verified(&request).await.oracle;
        assert_eq!(oracle.scope, RanScope::Widened, "{runner}");
        assert_eq!(oracle.fail_to_pass.len(), 1, "{runner}: {oracle:?}");
        let kept: Vec<&str> = oracle.pass_to_pass.iter().map(TestId::as_str).collect();
        let expected = match runner {
            "pytest" => [
                "old/test_old.py::Old::test_old",
                "tests/test_lib.py::Lib::test_a_leads",
            ],
            _ => ["old.test_old.Old.test_old", "tests.test_lib.Lib.test_a_leads"],
        };
        assert_eq!(kept, expected, "{runner}");
    }
}

#[tokio::test]
async fn a_projects_settings_say_what_its_test_modules_are() {
    let site = Site::new(crate::CLOSED);
    let files = [
        ("pytest.ini", "[pytest]\npython_files = checks/*.py\n"),
        ("checks/__init__.py", ""),
    ];
    let mut request = site.pytest_request("", GOLD, &files);
    request.subject.patches.test = adds("checks/value.py", ORDERED);
    request.subject.touched = vec![RepoPath::from("checks/value.py")];
    let oracle = site.verified(&request).await.oracle;
    let found: Vec<&str> = oracle.fail_to_pass.iter().map(TestId::as_str).collect();
    assert!(
        matches!(found[..], [one] if one.starts_with("checks/value.py::")),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_suite_that_does_not_come_to_its_end_leaves_the_new_module() {
    let site = Site::new(crate::CLOSED);
    let dies = "import os\n\n\ndef test_old():\n    os._exit(0)\n";
    let request = site.pytest_request(ORDERED, GOLD, &[("old/test_old.py", dies)]);
    let oracle = site.verified(&request).await.oracle;
    assert_eq!(oracle.scope, RanScope::Modules);
    assert_eq!(oracle.fail_to_pass.len(), 1);
}

const SEEDED: &str = r#"import os
import unittest

import lib


class Lib(unittest.TestCase):
    def test_value(self):
        self.assertEqual(lib.VALUE, 2)

    def test_lucky(self):
        self.assertGreater(int(os.environ["PYTHONHASHSEED"]), 3)
"#;

#[tokio::test]
async fn what_a_side_shows_against_itself_is_named_and_in_no_oracle() {
    let site = Site::new(crate::CLOSED);
    let mut request = site.request(SEEDED, GOLD);
    let lucky = TestId::from("tests.test_lib.Lib.test_lucky");
    let plain = site.verified(&request).await.oracle;
    assert_eq!((&plain.aa, &plain.fail_to_fail), (&None, &vec![lucky.clone()]));
    request.subject.settings.aa = true;
    let oracle = site.verified(&request).await.oracle;
    let null = oracle.aa.unwrap();
    assert_eq!((null.runs, null.changed), (3, vec![]));
    assert_eq!(null.fail_to_pass, std::slice::from_ref(&lucky));
    assert_eq!((oracle.runs_before, oracle.runs_after), (6, 3));
    assert_eq!(oracle.flaky[0].test, lucky);
    assert_eq!(oracle.flaky[0].passed_before, 3);
    assert_eq!(oracle.fail_to_pass, ["tests.test_lib.Lib.test_value".into()]);
}
