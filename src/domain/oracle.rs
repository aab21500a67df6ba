//! The oracle: what repeated runs before and after gold say of every test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::TestId;
use super::outcome::TestStatus;
use super::rate::PassRate;

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
    /// The same in every run in collection order and another in the run in random order, or in FAIL_TO_PASS but for
    /// the run by id: in no other list.
    #[serde(default)]
    pub order_dependent: Vec<OrderDependentTest>,
    /// Would be in FAIL_TO_PASS or PASS_TO_PASS, but the runner selects nothing by their ids: in no other list.
    #[serde(default)]
    pub not_addressable: Vec<TestId>,
    /// Did not pass in some run and said that there is no network. These stand in another list, too.
    #[serde(default)]
    pub needs_network: Vec<TestId>,
    /// Did not pass in some run and said that a date is not what it was. These stand in another list, too.
    #[serde(default)]
    pub needs_clock: Vec<TestId>,
    /// What was run.
    #[serde(default)]
    pub scope: RanScope,
    /// How each FAIL_TO_PASS test looked before gold: failed, errored at collection … (same order as the list).
    pub before_gold: Vec<TestStatus>,
    /// What the random order is made of; `null` when no run was made in one.
    #[serde(default)]
    pub order_seed: Option<String>,
    /// What the side before gold shows against itself; `null` when that was not asked for.
    #[serde(default)]
    pub aa: Option<NullRun>,
    /// Runs made before gold in collection order, those of an A/A run included.
    pub runs_before: u32,
    /// Runs made after gold in collection order.
    pub runs_after: u32,
}

impl Oracle {
    /// Whether any test passed in any run: without one, the runs say more of the environment than of the patch.
    pub fn shows_a_pass(&self) -> bool {
        let steady = [
            &self.fail_to_pass,
            &self.pass_to_pass,
            &self.pass_to_fail,
            &self.absent_to_pass,
            &self.pass_to_absent,
        ];
        steady.iter().any(|tests| !tests.is_empty())
            || self
                .flaky
                .iter()
                .any(|test| test.passed_before + test.passed_after > 0)
            || !self.not_addressable.is_empty()
            || self
                .order_dependent
                .iter()
                .any(|test| test.before.is_pass() || test.after.is_pass())
    }
}

/// An A/A run: the first runs before gold in the place of one side, as many more in the place of the other. Nothing
/// lies between them but noise, so both lists should be empty. The oracle takes all of these runs as runs before gold:
/// what is named here is flaky there.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NullRun {
    /// Runs in the place of each side.
    pub runs: u32,
    /// Tests that would have been FAIL_TO_PASS.
    pub fail_to_pass: Vec<TestId>,
    /// Other tests that were the same in every run of each half, and not the same in both.
    pub changed: Vec<TestId>,
}

/// What the runs of an oracle selected.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RanScope {
    /// The test modules that the test patch touches.
    #[default]
    Modules,
    /// The whole suite, as the recipe asks.
    Suite,
    /// The whole suite although the recipe asks for modules: those that are touched are all new, so none of their tests
    /// could show what gold must not break.
    Widened,
}

/// A test whose outcome varies between runs of one side in the same order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FlakyTest {
    /// The test.
    pub test: TestId,
    /// Runs before gold in which it passed.
    pub passed_before: u32,
    /// Runs after gold in which it passed.
    pub passed_after: u32,
    /// How often it passes before gold.
    pub before: PassRate,
    /// How often it passes after gold.
    pub after: PassRate,
}

impl FlakyTest {
    /// A test that passed in so many runs `(of all)` before gold and after it.
    pub fn new(test: TestId, before: (u32, u32), after: (u32, u32)) -> Self {
        Self {
            test,
            passed_before: before.0,
            passed_after: after.0,
            before: PassRate::of(before.0, before.1),
            after: PassRate::of(after.0, after.1),
        }
    }
}

/// A test that other tests help or hinder. A test that fails rarely, and did so in the run in random order alone,
/// looks the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct OrderDependentTest {
    /// The test.
    pub test: TestId,
    /// How it ended before gold, in collection order.
    pub before: TestStatus,
    /// How it ended before gold, in the random order.
    pub before_shuffled: Option<TestStatus>,
    /// How it ended after gold, in collection order.
    pub after: TestStatus,
    /// How it ended after gold, in the random order.
    pub after_shuffled: Option<TestStatus>,
    /// How it ended after gold when FAIL_TO_PASS alone ran, where that is what shows it.
    pub after_alone: Option<TestStatus>,
}
