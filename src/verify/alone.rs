//! What a run by id says of an oracle: an id that selects nothing, or a test that fails without the others, is of no use.

use std::collections::BTreeSet;

use crate::domain::ids::TestId;
use crate::domain::oracle::{Oracle, OrderDependentTest};
use crate::domain::outcome::{RunOutcome, TestStatus};

/// A run after gold whose arguments are the oracle's ids, of which it ran FAIL_TO_PASS only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ById {
    /// What the ids selected.
    pub selected: BTreeSet<TestId>,
    /// What ran.
    pub outcome: RunOutcome,
}

/// The ids that a run by id is asked for: those that a prediction is judged by.
pub fn judged(oracle: &Oracle) -> impl Iterator<Item = &TestId> {
    oracle.fail_to_pass.iter().chain(&oracle.pass_to_pass)
}

/// Takes out of FAIL_TO_PASS and PASS_TO_PASS what cannot be selected by its id, and out of FAIL_TO_PASS what does not
/// pass when it runs without the others. Both are named in lists of their own.
pub fn settle(oracle: &mut Oracle, run: &ById) {
    let fail_to_pass = std::mem::take(&mut oracle.fail_to_pass);
    let before_gold = std::mem::take(&mut oracle.before_gold);
    for (test, before) in fail_to_pass.into_iter().zip(before_gold) {
        let alone = run.outcome.status(&test);
        if !run.selected.contains(&test) {
            oracle.not_addressable.push(test);
        } else if alone.is_pass() {
            oracle.fail_to_pass.push(test);
            oracle.before_gold.push(before);
        } else {
            oracle.order_dependent.push(OrderDependentTest {
                test,
                before,
                before_shuffled: oracle.order_seed.as_ref().map(|_| before),
                after: TestStatus::Passed,
                after_shuffled: oracle.order_seed.as_ref().map(|_| TestStatus::Passed),
                after_alone: Some(alone),
            });
        }
    }
    let (kept, lost) = std::mem::take(&mut oracle.pass_to_pass)
        .into_iter()
        .partition(|test| run.selected.contains(test));
    oracle.pass_to_pass = kept;
    oracle.not_addressable.extend::<Vec<TestId>>(lost);
    oracle.not_addressable.sort();
    oracle.order_dependent.sort();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_run_by_its_id_is_named_and_in_no_oracle() {
        let names = |names: &[&str]| names.iter().map(|name| TestId::from(*name)).collect::<Vec<_>>();
        let mut oracle = Oracle {
            fail_to_pass: names(&["a", "b", "c", "d"]),
            before_gold: vec![
                TestStatus::Failed,
                TestStatus::Errored,
                TestStatus::CollectionError,
                TestStatus::Failed,
            ],
            pass_to_pass: names(&["p", "q"]),
            ..Oracle::default()
        };
        assert_eq!(judged(&oracle).count(), 6);
        let mut run = ById {
            selected: names(&["a", "c", "d", "q"]).into_iter().collect(),
            ..ById::default()
        };
        run.outcome.tests.insert("a".into(), TestStatus::Failed);
        run.outcome.tests.insert("c".into(), TestStatus::Xpassed);
        settle(&mut oracle, &run);
        assert_eq!(oracle.fail_to_pass, names(&["c"]));
        assert_eq!(oracle.before_gold, [TestStatus::CollectionError]);
        assert_eq!(oracle.pass_to_pass, names(&["q"]));
        assert_eq!(oracle.not_addressable, names(&["b", "p"]));
        let alone: Vec<_> = oracle
            .order_dependent
            .iter()
            .map(|test| (test.test.as_str(), test.before_shuffled, test.after_alone))
            .collect();
        assert_eq!(
            alone,
            [
                ("a", None, Some(TestStatus::Failed)),
                ("d", None, Some(TestStatus::Absent))
            ]
        );
    }
}
