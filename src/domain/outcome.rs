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
