//! What happened to tests in one run, as the runner plugin told it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::TestId;

/// How one test ended in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    /// Setup, call and teardown passed.
    Passed,
    /// The call failed.
    Failed,
    /// Setup or teardown failed.
    Errored,
    /// It was skipped.
    Skipped,
    /// It failed as it was marked to.
    Xfailed,
    /// It passed although marked to fail.
    Xpassed,
    /// Its module could not be collected in this run, so it never started.
    CollectionError,
    /// This run does not know it.
    Absent,
}

impl TestStatus {
    /// Whether the test showed that what it checks works.
    pub const fn is_pass(self) -> bool {
        matches!(self, Self::Passed | Self::Xpassed)
    }
}

/// One complete run's outcomes, by test id. A run that did not end by itself gives none:
/// that is an infra outcome of the attempt, never a set of failures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// Every test the run reported.
    pub tests: BTreeMap<TestId, TestStatus>,
    /// Collection errors by the node that could not be collected (a module or a folder).
    pub collection_errors: BTreeMap<String, String>,
    /// Reasons by the node (a module or a class) that was skipped as a whole while it was collected.
    #[serde(default)]
    pub collection_skips: BTreeMap<String, String>,
}

impl RunOutcome {
    /// How `test` looked in this run: what the run told of it, or else what it told of the module that holds it.
    pub fn status(&self, test: &TestId) -> TestStatus {
        if let Some(status) = self.tests.get(test) {
            return *status;
        }
        let held_by = |nodes: &BTreeMap<String, String>| nodes.keys().any(|node| holds(node, test));
        if held_by(&self.collection_errors) {
            TestStatus::CollectionError
        } else if held_by(&self.collection_skips) {
            TestStatus::Skipped
        } else {
            TestStatus::Absent
        }
    }
}

/// Whether the collection node `node` (a module, a class, a folder, a conftest, or the whole session) holds `test`.
fn holds(node: &str, test: &TestId) -> bool {
    // A conftest or a package's own file stands for its folder.
    let folder = ["conftest.py", "__init__.py"].into_iter().find_map(|name| {
        let folder = node.strip_suffix(name)?;
        (folder.is_empty() || folder.ends_with('/')).then(|| folder.trim_end_matches('/'))
    });
    let node = folder.unwrap_or(node);
    if matches!(node, "" | ".") {
        return true;
    }
    // unittest separates with dots: `package.module` holds `package.module.Class.test`.
    test.as_str()
        .strip_prefix(node)
        .is_some_and(|rest| rest.starts_with("::") || rest.starts_with(['/', '.']))
}

#[cfg(test)]
mod tests {
    #[test]
    fn nodes_hold_what_is_below_them() {
        let holds = |node: &str, test: &str| super::holds(node, &test.into());
        assert!(holds("tests/a.py", "tests/a.py::t"));
        assert!(holds("tests/a.py::C", "tests/a.py::C::t"));
        assert!(holds("tests", "tests/a.py::t"));
        assert!(holds("tests/conftest.py", "tests/sub/a.py::t"));
        assert!(holds("conftest.py", "tests/a.py::t"));
        assert!(holds("tests/__init__.py", "tests/a.py::t"));
        assert!(holds("", "anything"));
        assert!(holds("pkg.tests.m", "pkg.tests.m.C.t"));
        assert!(!holds("tests/a.py", "tests/ab.py::t"));
        assert!(!holds("tests/conftest.py", "other/a.py::t"));
        assert!(!holds("tests/myconftest.py", "tests/a.py::t"));
        assert!(!holds("pkg.tests.m", "pkg.tests.mm.C.t"));
    }
}
