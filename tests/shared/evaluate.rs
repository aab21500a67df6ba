//! Predictions that try what they must not, under a real runner: each gets its class, and leaves nothing behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quarry::domain::attempt::{Attempt, Stage};
use quarry::domain::ids::TestId;
use quarry::domain::oracle::RanScope;
use quarry::domain::outcome::TestStatus;
use quarry::domain::path::RepoPath;
use quarry::evaluate::canonical::Fix;
use quarry::evaluate::guard::EditKind;
use quarry::evaluate::result::{Class, Run, RunResult, Strategy, verdict};
use quarry::evaluate::run::{Evaluator, Request, Subject};
use quarry::recipe::model::Verification;
use quarry::sandbox::{FurnishError, Furnishing, Room, Toolchain};

use crate::site::{Site, adds};
use crate::verify::GOLD;

const TESTS: &str = "import lib


def test_value():
    assert lib.VALUE == 2


def test_type():
    assert isinstance(lib.VALUE, int)
";

/// A conftest that turns every failure into a pass.
const FORGER: &str = "import pytest


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = 'passed'
    report.longrepr = None
    call.excinfo = None
";

/// An environment with more variables.
struct WithVariables(Arc<dyn Furnishing>, BTreeMap<String, String>);

impl Furnishing for WithVariables {
    fn toolchain(&self, tree: &Path) -> Result<Toolchain, FurnishError> {
        let mut toolchain = self.0.toolchain(tree)?;
        toolchain.env.extend(self.1.clone());
        Ok(toolchain)
    }

    fn lay_products(&self, tree: &Path) -> Result<(), FurnishError> {
        self.0.lay_products(tree)
    }
}

struct Bench {
    site: Site,
    evaluator: Evaluator,
    request: Request,
}

fn ids(names: &[&str]) -> Vec<TestId> {
    names.iter().map(|name| TestId::from(*name)).collect()
}

impl Bench {
    fn new() -> Self {
        let site = Site::new(crate::CLOSED);
        let old = [
            ("tests/test_old.py", "def test_old():\n    pass\n"),
            ("dos.txt", "one\r\ntwo\r\n"),
        ];
        let verify = site.pytest_request("", "", &old);
        let room = Room::detect(crate::CLOSED, &site.folder.path().join("room")).unwrap();
        let evaluator = Evaluator::new(site.context.clone(), room, 0, false).unwrap();
        let subject = Subject {
            candidate: verify.subject.candidate,
            base_commit: verify.subject.base_commit,
            test: [
                adds("tests/test_lib.py", TESTS),
                b"diff --git a/tests/test_old.py b/tests/test_old.py\n--- a/tests/test_old.py\n+++ b/tests/test_old.py\n\
                  @@ -1,2 +1,3 @@\n def test_old():\n     pass\n+    assert True\n"
                    .to_vec(),
            ]
            .concat(),
            gold: GOLD.into(),
            touched: vec![
                RepoPath::from("tests/test_lib.py"),
                RepoPath::from("tests/test_old.py"),
            ],
            scope: RanScope::Modules,
            fail_to_pass: ids(&["tests/test_lib.py::test_value"]),
            pass_to_pass: ids(&["tests/test_lib.py::test_type", "tests/test_old.py::test_old"]),
            environment_key: "plain".to_owned(),
            variables: BTreeMap::new(),
            settings: Verification {
                timeout_seconds: 120,
                infra_tries: 1,
                ..Verification::default()
            },
        };
        let request = Request {
            subject,
            tree: verify.tree,
            environment: Arc::clone(&verify.environment),
            objects: PathBuf::from("/nonexistent"),
        };
        Self {
            site,
            evaluator,
            request,
        }
    }

    async fn runs(&self, patch: &[u8], runs: u32) -> Vec<Run> {
        let runs = self
            .evaluator
            .run(&self.request, patch, runs)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(self.site.leftovers(), [""; 0]);
        runs
    }

    async fn judged(&self, patch: &[u8]) -> (Class, RunResult) {
        let runs = self.runs(patch, 1).await;
        let result = runs[0].result.clone().unwrap_or_else(|| panic!("{:?}", runs[0]));
        (verdict(&runs).class, result)
    }

    fn attempts(&self) -> Vec<Attempt> {
        self.site
            .context
            .store
            .attempts(Some(Stage::Evaluate), None)
            .unwrap()
    }
}

/// Gold, with more behind it.
fn gold_and(more: &[u8]) -> Vec<u8> {
    [GOLD.as_bytes(), more].concat()
}

fn of_lib(text: &str) -> Vec<u8> {
    let lines: Vec<String> = text.lines().map(|line| format!("+{line}\n")).collect();
    let (count, lines) = (lines.len(), lines.concat());
    format!(
        "diff --git a/lib.py b/lib.py\n--- a/lib.py\n+++ b/lib.py\n@@ -1 +1,{count} @@\n-VALUE = 1\n{lines}"
    )
    .into_bytes()
}

#[tokio::test]
async fn a_patch_is_judged_by_the_oracle_and_by_nothing_that_it_brings() {
    let bench = Bench::new();
    let (class, result) = bench.judged(GOLD.as_bytes()).await;
    assert_eq!(class, Class::Resolved, "{result:?}");
    assert!(result.runner.starts_with("pytest 8") && result.edits.is_empty());

    let (class, result) = bench.judged(b"").await;
    assert_eq!(class, Class::Unresolved);
    assert_eq!(
        result.not_passed,
        [("tests/test_lib.py::test_value".into(), TestStatus::Failed)].into()
    );

    // It writes the tests itself, deletes others, and adds conftests that turn failures into passes.
    let deletes = "diff --git a/tests/test_old.py b/tests/test_old.py\ndeleted file mode 100644\n--- a/tests/test_old.py\n\
                   +++ /dev/null\n@@ -1,2 +0,0 @@\n-def test_old():\n-    pass\n";
    let evil = [
        adds("tests/test_lib.py", "def test_value():\n    pass\n"),
        deletes.into(),
        adds("tests/conftest.py", FORGER),
        adds("conftest.py", FORGER),
        adds("pytest.ini", "[pytest]\npython_functions = nothing\n"),
        adds("sitecustomize.py", "raise SystemExit(0)\n"),
    ]
    .concat();
    let (class, result) = bench.judged(&evil).await;
    assert_eq!(
        (class, result.ended.as_str()),
        (Class::Unresolved, "ok"),
        "{result:?}"
    );
    assert_eq!(
        result.not_passed,
        [("tests/test_lib.py::test_value".into(), TestStatus::Failed)].into()
    );
    let edits: Vec<_> = result
        .edits
        .iter()
        .map(|edit| (edit.path.to_string(), edit.kind, edit.undone))
        .collect();
    assert_eq!(
        edits,
        [
            ("conftest.py".to_owned(), EditKind::Conftest, true),
            ("pytest.ini".to_owned(), EditKind::RunnerConfiguration, true),
            ("sitecustomize.py".to_owned(), EditKind::Customize, true),
            ("tests/conftest.py".to_owned(), EditKind::Conftest, true),
            ("tests/test_lib.py".to_owned(), EditKind::OracleFile, true),
            ("tests/test_old.py".to_owned(), EditKind::OracleFile, true),
        ]
    );
    // The same beside a solution costs it nothing.
    let (class, _) = bench.judged(&gold_and(&evil)).await;
    assert_eq!(class, Class::Resolved);

    // It prints results, and writes some into the channel.
    let prints = of_lib(
        "VALUE = 1
print('tests/test_lib.py::test_value PASSED [100%]')
with open('/quarry/channel', 'a') as channel:
    channel.write('0' * 32 + ' {\"e\": \"phase\", \"id\": \"tests/test_lib.py::test_value\"}\\n')",
    );
    let (class, result) = bench.judged(&prints).await;
    assert_eq!((class, result.forged_lines), (Class::Unresolved, 1), "{result:?}");

    // It has its tests skipped.
    let (class, result) = bench
        .judged(&of_lib("import unittest\nraise unittest.SkipTest('not today')"))
        .await;
    assert_eq!(class, Class::Unresolved);
    assert_eq!(
        result.not_passed[&"tests/test_lib.py::test_value".into()],
        TestStatus::Skipped
    );

    // A link in the place of the tests' folder.
    let link = [
        deletes.as_bytes(),
        b"diff --git a/tests/__init__.py b/tests/__init__.py\ndeleted file mode 100644\n",
        b"diff --git a/tests b/tests\nnew file mode 120000\n--- /dev/null\n+++ b/tests\n@@ -0,0 +1 @@\n+elsewhere\n\\ No newline at end of file\n",
    ]
    .concat();
    let (class, result) = bench.judged(&link).await;
    assert_eq!(
        (class, result.not_passed.len()),
        (Class::Unresolved, 1),
        "{result:?}"
    );
}

#[tokio::test]
async fn a_patch_is_taken_whole_or_not_at_all_and_mended_in_two_ways_only() {
    let bench = Bench::new();
    let half = gold_and(
        b"diff --git a/dos.txt b/dos.txt\n--- a/dos.txt\n+++ b/dos.txt\n@@ -1 +1 @@\n-three\n+four\n",
    );
    let (class, result) = bench.judged(&half).await;
    assert_eq!((class, result.ended.as_str()), (Class::NotApplied, "not-applied"));
    assert!(result.detail.contains("dos.txt"), "{}", result.detail);
    let (class, _) = bench.judged(b"I could not find the fault.").await;
    assert_eq!(class, Class::NotApplied);

    let (class, result) = bench.judged(GOLD.trim_end().as_bytes()).await;
    let applied = result.applied.unwrap();
    assert_eq!(
        (class, applied.fixes.as_slice()),
        (Class::Resolved, &[Fix::FinalNewline][..])
    );
    let dos = gold_and(
        b"diff --git a/dos.txt b/dos.txt\n--- a/dos.txt\n+++ b/dos.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
    );
    let converted = String::from_utf8(dos.clone()).unwrap().replace('\n', "\r\n");
    for patch in [dos, converted.into_bytes()] {
        let (class, result) = bench.judged(&patch).await;
        let applied = result.applied.unwrap();
        assert_eq!((class, applied.strategy), (Class::Resolved, Strategy::Exact));
        assert_eq!(applied.fixes, [Fix::LineEnds]);
    }
    let bytes = gold_and(
        b"diff --git a/latin.txt b/latin.txt\nnew file mode 100644\n--- /dev/null\n+++ b/latin.txt\n@@ -0,0 +1 @@\n+caf\xe9 \xff\n",
    );
    let (class, result) = bench.judged(&bytes).await;
    assert_eq!((class, result.applied.unwrap().fixes), (Class::Resolved, vec![]));
}

#[tokio::test]
async fn code_that_breaks_its_run_off_is_unresolved_and_what_the_outside_breaks_off_is_not_judged() {
    let mut bench = Bench::new();
    let (class, result) = bench.judged(&of_lib("import os\nos._exit(0)")).await;
    assert_eq!(
        (class, result.ended.as_str()),
        (Class::Unresolved, "lost-channel")
    );
    assert!(bench.attempts()[0].result.is_some());

    bench.request.subject.settings.silence_seconds = 15;
    bench.request.subject.settings.infra_tries = 2;
    let hangs = of_lib("import threading\nVALUE = 2\nthreading.Event().wait()");
    let before = bench.attempts().len();
    let (class, result) = bench.judged(&hangs).await;
    assert_eq!((class, result.ended.as_str()), (Class::Unresolved, "silence"));
    assert_eq!(result.not_passed.len(), 3 - 1 + 1, "{result:?}");
    assert_eq!(bench.attempts().len(), before + 2, "tried again to its cap");
    bench.judged(&hangs).await;
    assert_eq!(bench.attempts().len(), before + 2, "then it stands");

    // The test patch does not apply: the instance's fault, and no prediction's.
    bench.request.subject.test = adds("tests/__init__.py", "x");
    let runs = bench.runs(GOLD.as_bytes(), 1).await;
    assert_eq!(
        (verdict(&runs).class, runs[0].reason.as_str()),
        (Class::Infra, "oracle")
    );
}

#[tokio::test]
async fn an_unchanged_prediction_costs_nothing_and_a_changed_one_is_run() {
    let bench = Bench::new();
    // Passes in every other run: its hash seed is the run's number.
    let flaky = of_lib("import os\nVALUE = 2 - int(os.environ['PYTHONHASHSEED']) % 2");
    let runs = bench.runs(&flaky, 2).await;
    let found = verdict(&runs);
    assert_eq!(
        (found.class, found.resolved_runs, found.runs),
        (Class::Unresolved, 1, 2)
    );
    assert!(found.is_flaky());
    assert_eq!(bench.attempts().len(), 2);
    let recorded = bench
        .evaluator
        .recorded(&bench.request.subject, &flaky, 2)
        .unwrap();
    assert_eq!(recorded, Some(runs.clone()));
    assert_eq!(bench.runs(&flaky, 2).await, runs);
    assert_eq!(bench.attempts().len(), 2, "the second answer is the ledger's");
    bench.runs(&flaky, 3).await;
    assert_eq!(bench.attempts().len(), 3, "only the third run was missing");
    let mut changed = flaky.clone();
    changed.extend_from_slice(b"\n");
    assert_eq!(
        bench
            .evaluator
            .recorded(&bench.request.subject, &changed, 1)
            .unwrap(),
        None
    );
    let mut other = bench.request.subject.clone();
    other.environment_key = "another".to_owned();
    assert_eq!(bench.evaluator.recorded(&other, &flaky, 1).unwrap(), None);
}

#[tokio::test]
async fn a_module_that_stands_in_for_the_runners_own_has_no_say() {
    let bench = Bench::new();
    // It would have every test pass.
    let shim = "import sys\ndel sys.modules['pytest']\nsys.path.remove(sys.path[0])\nimport pytest\n\
                pytest.Function.runtest = lambda self: None\n";
    for (path, text) in [
        ("pytest.py", shim),
        ("pytest.py", "raise SystemExit(0)\n"),
        ("_pytest/__init__.py", "raise SystemExit(0)\n"),
        ("unittest/__init__.py", "raise SystemExit(0)\n"),
    ] {
        let (class, result) = bench.judged(&adds(path, text)).await;
        assert_eq!(class, Class::Unresolved, "{path}: {result:?}");
        assert_eq!(
            result.not_passed.len(),
            1,
            "{path}: what passes without it passes: {result:?}"
        );
        let edits: Vec<_> = result.edits.iter().map(|edit| (edit.kind, edit.undone)).collect();
        assert_eq!(edits, [(EditKind::Shadow, true)], "{path}");
    }
    // Modules of other names are the solution's; what these do before the runner is there is the prediction's doing.
    let (class, result) = bench
        .judged(&adds("dataclasses.py", "raise SystemExit(0)\n"))
        .await;
    assert_eq!(
        (class, result.not_passed.len()),
        (Class::Unresolved, 1),
        "{result:?}"
    );
    let mut bench = Bench::new();
    let python_path = ("PYTHONPATH".to_owned(), ".".to_owned());
    bench.request.subject.variables.extend([python_path.clone()]);
    bench.request.environment = Arc::new(WithVariables(
        Arc::clone(&bench.request.environment),
        [python_path].into(),
    ));
    let (class, result) = bench
        .judged(&adds("dataclasses.py", "raise SystemExit(0)\n"))
        .await;
    assert_eq!(
        (class, result.ended.as_str()),
        (Class::Unresolved, "kept-from-starting"),
        "{result:?}"
    );
}
