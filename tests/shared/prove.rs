//! What the runs beside the ordinary ones find: one tiny project a defect, under real runners.

use quarry::domain::outcome::TestStatus;
use quarry::verify::{Verified, VerifyRequest};

use crate::site::Site;

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
        let names: Vec<_> = verified
            .oracle
            .order_dependent
            .iter()
            .map(|test| test.test.as_str())
            .collect();
        if !names.is_empty() {
            assert_eq!(names, [format!("{prefix}test_b_follows")]);
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
        assert_eq!(found.after_shuffled, TestStatus::Failed, "{runner}");
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
    assert_eq!((oracle.order_seed, oracle.order_dependent), (None, vec![]));
    assert_eq!(oracle.fail_to_pass.len(), 2);
}
