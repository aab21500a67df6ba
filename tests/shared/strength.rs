//! What is measured of an oracle: a hunk that no test misses, a line that no test runs. The same in every room and by
//! every interpreter.

use std::sync::Arc;

use quarry::build::SearchPaths;
use quarry::domain::attempt::Stage;
use quarry::domain::path::RepoPath;
use quarry::domain::strength::{Ablation, Branch, FileLines, Hunk, LineCoverage};

use crate::site::{Plain, Site};

const BASE: &str = "VALUE = 1


def grown(by):
    return VALUE


def spare():
    return 1
";

/// The second hunk's branch is run by no test; the third hunk is missed by none; without the first, all fail.
const GOLD: &str = "diff --git a/lib.py b/lib.py
--- a/lib.py
+++ b/lib.py
@@ -1,2 +1,3 @@
-VALUE = 1
+# Two.
+VALUE = 2
 
@@ -4,3 +5,5 @@ VALUE = 1
 def grown(by):
-    return VALUE
+    if by < 0:
+        raise ValueError(by)
+    return VALUE + by
 
@@ -8,2 +11,2 @@ def grown(by):
 def spare():
-    return 1
+    return 2
";

const TESTS: &str = "import threading
import unittest

import lib


class Lib(unittest.TestCase):
    def test_value(self):
        self.assertEqual(lib.VALUE, 2)

    def test_grown_in_a_thread(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(lib.grown(3)))
        thread.start()
        thread.join()
        self.assertEqual(found, [5])
";

/// What of gold the tests run.
fn covered() -> LineCoverage {
    let path = RepoPath::from("lib.py");
    LineCoverage {
        lines: 5,
        covered: 3,
        uncovered: vec![FileLines {
            path: path.clone(),
            lines: vec![7, 12],
        }],
        branches: 2,
        branches_taken: 1,
        not_taken: vec![Branch {
            path,
            line: 6,
            to: Some(7),
        }],
        not_passed: vec![],
    }
}

/// Interpreters watch lines in two ways (`sys.settrace`; `sys.monitoring` since 3.12), and number them in more.
#[tokio::test]
async fn every_interpreter_sees_the_same_lines() {
    let mut interpreters = SearchPaths::of(&std::env::vars().collect()).interpreters();
    interpreters.sort_by(|a, b| a.version.cmp(&b.version));
    interpreters.dedup_by_key(|found| found.version.short());
    assert!(!interpreters.is_empty());
    let site = Site::new(crate::CLOSED);
    for found in interpreters {
        let mut request = site.request(TESTS, GOLD);
        std::fs::write(request.tree.join("lib.py"), BASE).unwrap();
        request.environment = Arc::new(Plain(found.executable));
        request.subject.environment_key = found.version.to_string();
        request.subject.settings.runs = 1;
        request.subject.settings.random_order = false;
        let verified = site.verified(&request).await;
        let tests = &verified.oracle.fail_to_pass;
        let measured = site.verifier.strength(&request, tests).await.unwrap();
        let coverage = measured.strength.unwrap().coverage;
        assert_eq!(coverage, Some(covered()), "Python {}", found.version);
    }
}

#[tokio::test]
async fn what_fail_to_pass_neither_runs_nor_misses_is_named() {
    for runner in ["pytest", "unittest"] {
        let site = Site::new(crate::CLOSED);
        let mut request = match runner {
            "pytest" => site.pytest_request(TESTS, GOLD, &[]),
            _ => site.request(TESTS, GOLD),
        };
        std::fs::write(request.tree.join("lib.py"), BASE).unwrap();
        request.subject.settings.runs = 1;
        request.subject.settings.ablation = 9;
        let verified = site.verified(&request).await;
        let tests = &verified.oracle.fail_to_pass;
        assert_eq!(tests.len(), 2, "{runner}");
        let unknown = site.verifier.known_strength(&request.subject, tests).unwrap();
        assert!(!unknown.complete, "{runner}");

        let measured = site.verifier.strength(&request, tests).await.unwrap();
        assert_eq!((measured.complete, &measured.infra), (true, &vec![]), "{runner}");
        let strength = measured.strength.clone().unwrap();
        let path = RepoPath::from("lib.py");
        assert_eq!(strength.coverage, Some(covered()), "{runner}");
        let head = "@@ -8,2 +11,2 @@ def grown(by):".to_owned();
        let expected = Ablation {
            hunks: 3,
            tried: 3,
            unnoticed: vec![Hunk { path, head }],
            ..Ablation::default()
        };
        assert_eq!(strength.ablation, Some(expected), "{runner}");

        let attempts = || {
            site.context
                .store
                .attempts(Some(Stage::Strength), None)
                .unwrap()
                .len()
        };
        assert_eq!(attempts(), 2, "{runner}: one a measure");
        assert_eq!(site.verifier.strength(&request, tests).await.unwrap(), measured);
        assert_eq!(
            site.verifier.known_strength(&request.subject, tests).unwrap(),
            measured
        );
        assert_eq!(attempts(), 2, "{runner}: they are made once");
        assert_eq!(site.verified(&request).await, verified, "{runner}");
        assert_eq!(site.leftovers(), [""; 0], "{runner}");

        let key = site.verifier.input_key(&request.subject);
        request.subject.settings.ablation = 1;
        request.subject.settings.coverage = false;
        assert_eq!(site.verifier.input_key(&request.subject), key, "{runner}");
        let measured = site.verifier.strength(&request, tests).await.unwrap();
        let strength = measured.strength.unwrap();
        assert_eq!(strength.coverage, None, "{runner}");
        let ablation = strength.ablation.unwrap();
        assert_eq!((ablation.hunks, ablation.tried), (3, 1), "{runner}");
        assert_eq!(ablation.unnoticed, [], "{runner}");
    }
}
