//! Both sides' runs → the oracle: one pure, exhaustive function.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::ids::TestId;
use crate::domain::oracle::{FlakyTest, NullRun, Oracle, OrderDependentTest};
use crate::domain::outcome::{RunOutcome, TestStatus};
use crate::recipe::model::{BeforeGold, Verification};

/// What a status says of the code under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// It works.
    Pass,
    /// It does not.
    Fail,
    /// Its module could not be collected.
    Uncollected,
    /// Nothing: the test was skipped, or failed as it was marked to.
    Idle,
    /// Nothing: the run does not know the test.
    Absent,
}

const fn kind(status: TestStatus) -> Kind {
    match status {
        TestStatus::Passed | TestStatus::Xpassed => Kind::Pass,
        TestStatus::Failed | TestStatus::Errored => Kind::Fail,
        TestStatus::CollectionError => Kind::Uncollected,
        TestStatus::Skipped | TestStatus::Xfailed => Kind::Idle,
        TestStatus::Absent => Kind::Absent,
    }
}

/// The lists of an oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    FailToPass,
    PassToPass,
    PassToFail,
    FailToFail,
    AbsentToPass,
    PassToAbsent,
    SkippedOnOneSide,
    NeverRan,
}

/// Where a test goes that was the same in every run of each side.
fn list(before: Kind, after: Kind, uncollected: BeforeGold, absent: BeforeGold) -> List {
    use Kind::{Absent, Fail, Idle, Pass, Uncollected};
    let counts = |setting: BeforeGold| match setting {
        BeforeGold::Fail => List::FailToPass,
        BeforeGold::Exclude => List::AbsentToPass,
    };
    match (before, after) {
        (Pass, Pass) => List::PassToPass,
        (Pass, Fail | Uncollected) => List::PassToFail,
        (Pass, Absent) => List::PassToAbsent,
        (Fail, Pass) => List::FailToPass,
        (Uncollected, Pass) => counts(uncollected),
        (Absent, Pass) => counts(absent),
        (Fail | Uncollected | Absent, Fail | Uncollected) | (Fail | Uncollected, Absent) => List::FailToFail,
        (Idle, Pass | Fail | Uncollected) | (Pass | Fail | Uncollected, Idle) => List::SkippedOnOneSide,
        (Idle | Absent, Idle | Absent) => List::NeverRan,
    }
}

/// What all runs of a candidate told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs {
    /// Those before gold, in collection order; at least one.
    pub before: Vec<RunOutcome>,
    /// Those after gold, in collection order; at least one.
    pub after: Vec<RunOutcome>,
    /// The two in random order, if they were made.
    pub shuffled: Option<Shuffled>,
}

/// A run of each side in one random order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shuffled {
    /// What the order is made of.
    pub seed: String,
    /// Before gold.
    pub before: RunOutcome,
    /// After gold.
    pub after: RunOutcome,
}

impl Runs {
    /// Every run.
    pub fn all(&self) -> impl Iterator<Item = &RunOutcome> {
        let shuffled = self
            .shuffled
            .iter()
            .flat_map(|shuffled| [&shuffled.before, &shuffled.after]);
        self.before.iter().chain(&self.after).chain(shuffled)
    }
}

/// Sorts every test that any run knows into exactly one list of the oracle.
///
/// A test is stable on a side when all its statuses there say the same of the code; a test that is not stable on both
/// sides is flaky and in no other list, one that is stable and that the random order changes is order-dependent.
/// FAIL_TO_PASS: stable, not passing before, passing after. The order of the runs does not matter.
pub fn classify(runs: &Runs, settings: &Verification) -> Oracle {
    let known: BTreeSet<&TestId> = runs.all().flat_map(|run| run.tests.keys()).collect();
    let mut oracle = Oracle {
        runs_before: count(runs.before.len()),
        runs_after: count(runs.after.len()),
        order_seed: runs.shuffled.as_ref().map(|shuffled| shuffled.seed.clone()),
        ..Oracle::default()
    };
    for test in known {
        let (first, second) = (Side::of(test, &runs.before), Side::of(test, &runs.after));
        let (Some(one), Some(other)) = (first.kind(), second.kind()) else {
            oracle.flaky.push(FlakyTest::new(
                test.clone(),
                (first.passes(), oracle.runs_before),
                (second.passes(), oracle.runs_after),
            ));
            continue;
        };
        if let Some(shuffled) = &runs.shuffled {
            let (before, after) = (shuffled.before.status(test), shuffled.after.status(test));
            if (kind(before), kind(after)) != (one, other) {
                oracle.order_dependent.push(OrderDependentTest {
                    test: test.clone(),
                    before: first.shown(),
                    before_shuffled: Some(before),
                    after: second.shown(),
                    after_shuffled: Some(after),
                    after_alone: None,
                });
                continue;
            }
        }
        let list = list(
            one,
            other,
            settings.collection_error_before,
            settings.absent_before,
        );
        if list == List::FailToPass {
            oracle.before_gold.push(first.shown());
        }
        tests_of(&mut oracle, list).push(test.clone());
    }
    oracle
}

/// What runs of one side show against as many more of the same side.
pub fn against_itself(first: &[RunOutcome], again: &[RunOutcome], settings: &Verification) -> NullRun {
    let halves = Runs {
        before: first.to_vec(),
        after: again.to_vec(),
        shuffled: None,
    };
    let oracle = classify(&halves, settings);
    let mut changed = [
        oracle.pass_to_fail,
        oracle.absent_to_pass,
        oracle.pass_to_absent,
        oracle.skipped_on_one_side,
    ]
    .concat();
    changed.sort();
    NullRun {
        runs: oracle.runs_after,
        fail_to_pass: oracle.fail_to_pass,
        changed,
    }
}

fn tests_of(oracle: &mut Oracle, list: List) -> &mut Vec<TestId> {
    match list {
        List::FailToPass => &mut oracle.fail_to_pass,
        List::PassToPass => &mut oracle.pass_to_pass,
        List::PassToFail => &mut oracle.pass_to_fail,
        List::FailToFail => &mut oracle.fail_to_fail,
        List::AbsentToPass => &mut oracle.absent_to_pass,
        List::PassToAbsent => &mut oracle.pass_to_absent,
        List::SkippedOnOneSide => &mut oracle.skipped_on_one_side,
        List::NeverRan => &mut oracle.never_ran,
    }
}

fn count(runs: usize) -> u32 {
    u32::try_from(runs).unwrap_or(u32::MAX)
}

/// One test's statuses in the runs of one side, with how often each was seen.
struct Side(BTreeMap<TestStatus, u32>);

impl Side {
    fn of(test: &TestId, runs: &[RunOutcome]) -> Self {
        let mut seen = BTreeMap::new();
        for run in runs {
            *seen.entry(run.status(test)).or_insert(0) += 1;
        }
        Self(seen)
    }

    /// What all runs say, if they say the same.
    fn kind(&self) -> Option<Kind> {
        let kinds: BTreeSet<Kind> = self.0.keys().map(|status| kind(*status)).collect();
        let mut kinds = kinds.into_iter();
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => Some(kind),
            _ => None,
        }
    }

    fn passes(&self) -> u32 {
        self.0
            .iter()
            .filter(|(status, _)| status.is_pass())
            .map(|(_, times)| times)
            .sum()
    }

    /// The status to show for the side: the first in the order of their declaration, whatever the order of the runs.
    fn shown(&self) -> TestStatus {
        self.0.keys().next().copied().unwrap_or(TestStatus::Absent)
    }
}

#[cfg(test)]
mod tests;
