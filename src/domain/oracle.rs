//! The oracle: what repeated runs before and after gold say of every test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::TestId;
use super::outcome::TestStatus;

/// Tests by what they did on both sides of the gold patch. Each list is sorted and free of duplicates;
/// no test is in two of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Oracle {
    /// Passed in no run before gold and in every run after.
    pub fail_to_pass: Vec<TestId>,
    /// Passed in every run on both sides.
    pub pass_to_pass: Vec<TestId>,
    /// Passed in every run before, failed (or could not be collected) in every run after: gold breaks them.
    pub pass_to_fail: Vec<TestId>,
    /// Passed in no run on either side.
    pub fail_to_fail: Vec<TestId>,
    /// Unknown to every run before gold (or, where the recipe excludes that, uncollectable there), passed in every
    /// run after.
    pub absent_to_pass: Vec<TestId>,
    /// Passed in every run before gold, unknown to every run after.
    pub pass_to_absent: Vec<TestId>,
    /// Skipped or xfailed in every run of one side, something else on the other: such a test neither shows a fault
    /// nor its repair, so it is in no oracle.
    #[serde(default)]
    pub skipped_on_one_side: Vec<TestId>,
    /// Skipped or xfailed throughout, on both sides (or on one, and unknown to the other).
    pub never_ran: Vec<TestId>,
    /// Not the same in every run of a side: in no oracle, with their rates.
    pub flaky: Vec<FlakyTest>,
    /// How each FAIL_TO_PASS test looked before gold: failed, errored at collection … (same order as the list).
    pub before_gold: Vec<TestStatus>,
    /// Runs made before gold.
    pub runs_before: u32,
    /// Runs made after gold.
    pub runs_after: u32,
}

/// A test whose outcome varies between runs of one side.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FlakyTest {
    /// The test.
    pub test: TestId,
    /// Runs before gold in which it passed.
    pub passed_before: u32,
    /// Runs after gold in which it passed.
    pub passed_after: u32,
}
