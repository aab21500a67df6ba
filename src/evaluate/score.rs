//! Scores of a set of outcomes, each with its numerator and denominator beside it.
//!
//! The metrics are Doc2Feat-Bench's: N, all instances of the set, is the denominator of every share of instances, so a
//! prediction that is missing, empty or does not apply counts as one that did nothing. Outcomes of class infra say
//! nothing of a prediction: they are left out of N, or, when that is asked for, counted as not resolved.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::result::{Class, Outcome};
use crate::domain::rate::PassRate;

/// A share, with what it is a share of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Numerator by denominator, from 0 to 1; `null` of nothing.
    pub value: Option<f64>,
    /// What is counted.
    pub numerator: f64,
    /// Of how many.
    pub denominator: u64,
    /// Of how many what.
    pub of: String,
}

impl Metric {
    fn new(numerator: f64, denominator: u64, of: &str) -> Self {
        Self {
            value: (denominator > 0).then(|| numerator / denominator as f64),
            numerator,
            denominator,
            of: of.to_owned(),
        }
    }
}

/// What is said of a set of outcomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scores {
    /// Outcomes of each class, by its name.
    pub classes: BTreeMap<String, u64>,
    /// Resolved instances by N, with Wilson's interval at 95 %; `null` when N is 0.
    pub resolution: Option<PassRate>,
    /// Success%: resolved instances by N.
    pub success: Metric,
    /// Applied%: instances whose patch was laid on by N.
    pub applied: Metric,
    /// File%: instances whose patch touches every file that gold touches by N.
    pub files: Metric,
    /// RT%: instances whose every `PASS_TO_PASS` test passed by N. What was not run kept nothing.
    pub regression: Metric,
    /// FV-Micro: `FAIL_TO_PASS` tests that passed by all `FAIL_TO_PASS` tests.
    pub feature_micro: Metric,
    /// FV-Macro: the mean over N of each instance's share of `FAIL_TO_PASS` tests that passed.
    pub feature_macro: Metric,
    /// Pass fraction: the mean over N of passed by (passed + failed + errors), over `FAIL_TO_PASS` and `PASS_TO_PASS`.
    pub pass_fraction: Metric,
    /// Resolved runs by all runs that say something.
    pub resolved_runs: Metric,
}

/// Scores these outcomes.
pub fn score<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>, count_infra: bool) -> Scores {
    let mut classes: BTreeMap<String, u64> = Class::ALL
        .iter()
        .map(|class| (class.name().to_owned(), 0))
        .collect();
    let mut counted: Vec<&Outcome> = vec![];
    for outcome in outcomes {
        *classes.entry(outcome.class.name().to_owned()).or_default() += 1;
        if count_infra || outcome.class != Class::Infra {
            counted.push(outcome);
        }
    }
    let n = counted.len() as u64;
    let number = |is: &dyn Fn(&Outcome) -> bool| counted.iter().filter(|outcome| is(outcome)).count() as f64;
    let sum = |of: &dyn Fn(&Outcome) -> f64| {
        counted
            .iter()
            .map(|outcome| of(outcome))
            .fold(0.0, |sum, one| sum + one)
    };
    let total = |of: &dyn Fn(&Outcome) -> u64| counted.iter().map(|outcome| of(outcome)).sum::<u64>();
    let resolved = number(&|outcome| outcome.class == Class::Resolved);
    let share = |part: u64, whole: u64| {
        if whole == 0 {
            0.0
        } else {
            part as f64 / whole as f64
        }
    };
    let instances = "instances";
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a count"
    )]
    let resolution = (n > 0).then(|| PassRate::of(resolved as u32, small(n)));
    Scores {
        classes,
        resolution,
        success: Metric::new(resolved, n, instances),
        applied: Metric::new(number(&|outcome| outcome.applied.is_some()), n, instances),
        files: Metric::new(number(&|outcome| outcome.has_gold_files), n, instances),
        regression: Metric::new(number(&Outcome::keeps_all), n, instances),
        feature_micro: Metric::new(
            total(&|outcome| outcome.fail_to_pass_passed) as f64,
            total(&|outcome| outcome.fail_to_pass),
            "FAIL_TO_PASS tests",
        ),
        feature_macro: Metric::new(
            sum(&|outcome| share(outcome.fail_to_pass_passed, outcome.fail_to_pass)),
            n,
            instances,
        ),
        pass_fraction: Metric::new(
            sum(&|outcome| {
                share(
                    outcome.fail_to_pass_passed + outcome.pass_to_pass_passed,
                    outcome.fail_to_pass + outcome.pass_to_pass,
                )
            }),
            n,
            instances,
        ),
        resolved_runs: Metric::new(
            total(&|outcome| u64::from(outcome.resolved_runs)) as f64,
            total(&|outcome| u64::from(outcome.runs)),
            "runs",
        ),
    }
}

/// Scores by what `group` says of each outcome, in its order; outcomes of no group are left out.
pub fn score_by<'a>(
    outcomes: &'a [Outcome],
    count_infra: bool,
    group: impl Fn(&'a Outcome) -> Option<&'a str>,
) -> BTreeMap<String, Scores> {
    let mut groups: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        if let Some(name) = group(outcome) {
            groups.entry(name).or_default().push(outcome);
        }
    }
    groups
        .into_iter()
        .map(|(name, group)| (name.to_owned(), score(group, count_infra)))
        .collect()
}

impl Outcome {
    /// Whether its patch was laid on, its runs came to their end and every `PASS_TO_PASS` test passed in them.
    pub fn keeps_all(&self) -> bool {
        self.applied.is_some()
            && self.runs > 0
            && self.ended == super::result::OK
            && self.pass_to_pass_passed == self.pass_to_pass
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::outcome;
    use super::*;

    #[test]
    fn every_metric_has_its_denominator() {
        let mut all = vec![
            outcome("a", Class::Resolved, (2, 2), (4, 4)),
            outcome("b", Class::Unresolved, (1, 4), (4, 4)),
            outcome("c", Class::NotApplied, (0, 1), (0, 3)),
            outcome("d", Class::Missing, (0, 1), (0, 0)),
            outcome("e", Class::Infra, (0, 2), (0, 1)),
        ];
        all[1].has_gold_files = true;
        let shown = |count_infra: bool| {
            let scores = score(&all, count_infra);
            let parts = |metric: &Metric| format!("{}/{}", metric.numerator, metric.denominator);
            [
                parts(&scores.success),
                parts(&scores.applied),
                parts(&scores.files),
                parts(&scores.regression),
                parts(&scores.feature_micro),
                parts(&scores.feature_macro),
                format!("{:.4}", scores.pass_fraction.numerator),
            ]
            .join(" ")
        };
        assert_eq!(shown(false), "1/4 2/4 1/4 2/4 3/8 1.25/4 1.6250");
        assert_eq!(shown(true), "1/5 2/5 1/5 2/5 3/10 1.25/5 1.6250");
        let scores = score(&all, false);
        assert_eq!((scores.classes["infra"], scores.classes["empty"]), (1, 0));
        assert!(
            (scores.resolution.unwrap().low.value() - 0.0455).abs() < 1e-3,
            "{:?}",
            scores.resolution
        );
        let groups = score_by(&all, false, |outcome| Some(&outcome.repo));
        assert_eq!(groups["a/b"].success.denominator, 4);
        // Of nothing there is no share: neither 0 nor -0.
        let nothing = score(&all[4..], false);
        let json = serde_json::to_string(&nothing).unwrap();
        assert_eq!((nothing.success.value, nothing.resolution), (None, None));
        assert!(
            json.contains("\"numerator\":0.0") && !json.contains("-0"),
            "{json}"
        );
    }
}
