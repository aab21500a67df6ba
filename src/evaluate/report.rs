//! An evaluation's report: one value, told as a table, as Markdown and as a page.

mod folder;
mod page;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::folder::folder_name;
pub use self::page::html;
pub use self::text::{markdown, table};
pub(super) use self::text::{percent, rate};
use super::predictions::Named;
use super::result::{Class, Outcome};
use super::score::{Scores, score, score_by};
use crate::domain::ids::InstanceId;

/// The version of a report's shape that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// What was evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A model's predictions.
    Predictions,
    /// The gold patches: every instance must be resolved.
    Gold,
    /// The empty patch: no instance may be resolved.
    Null,
}

/// How it was evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// Runs of each prediction.
    pub runs: u32,
    /// Lines of context that a hunk may lack.
    pub fuzz: u8,
    /// Whether outcomes of class infra count as not resolved; else they are left out of the rates.
    pub count_infra: bool,
    /// The room.
    pub room: String,
    /// The instances that alone were evaluated, by id; empty when all were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<InstanceId>,
}

/// Predictions that are named and not evaluated as they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// For no instance of the version.
    pub unknown: Vec<Named>,
    /// Replaced by a later one for the same instance.
    pub replaced: Vec<Named>,
    /// Instances without a prediction.
    pub missing: Vec<InstanceId>,
    /// Instances whose prediction holds no patch.
    pub empty: Vec<InstanceId>,
}

/// An evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The version of this shape: 1.
    pub schema_version: u32,
    /// The program's version.
    pub tool: String,
    /// The dataset.
    pub dataset: String,
    /// Its version.
    pub version: String,
    /// What was evaluated.
    pub kind: Kind,
    /// The model.
    pub model: String,
    /// How.
    pub conditions: Conditions,
    /// Predictions that are named and not evaluated as they stand.
    pub beside: Beside,
    /// Over all instances.
    pub scores: Scores,
    /// By repository.
    pub by_repo: BTreeMap<String, Scores>,
    /// By split, where splits were given.
    pub by_split: BTreeMap<String, Scores>,
    /// By month of merge.
    pub by_month: BTreeMap<String, Scores>,
    /// Instances whose runs do not say the same.
    pub flaky: Vec<InstanceId>,
    /// Every instance, by id.
    pub outcomes: Vec<Outcome>,
}

/// What a report is made of.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The program's version.
    pub tool: String,
    /// The dataset.
    pub dataset: String,
    /// Its version.
    pub version: String,
    /// What was evaluated.
    pub kind: Kind,
    /// The model.
    pub model: String,
    /// How.
    pub conditions: Conditions,
    /// Predictions beside those that were evaluated.
    pub beside: Beside,
    /// Every instance, in any order.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// Scores the outcomes.
    pub fn new(parts: Parts) -> Self {
        let mut outcomes = parts.outcomes;
        outcomes.sort_by(|a, b| a.instance_id.cmp(&b.instance_id));
        let count = parts.conditions.count_infra;
        let flaky = outcomes.iter().filter(|outcome| outcome.flaky);
        Self {
            schema_version: SCHEMA_VERSION,
            tool: parts.tool,
            dataset: parts.dataset,
            version: parts.version,
            kind: parts.kind,
            model: parts.model,
            conditions: parts.conditions,
            beside: parts.beside,
            scores: score(&outcomes, count),
            by_repo: score_by(&outcomes, count, |outcome| Some(&outcome.repo)),
            by_split: score_by(&outcomes, count, |outcome| outcome.split.as_deref()),
            by_month: score_by(&outcomes, count, |outcome| Some(&outcome.month)),
            flaky: flaky.map(|outcome| outcome.instance_id.clone()).collect(),
            outcomes,
        }
    }

    /// Instances that are against what gold or the empty patch must give: with gold every one that is not resolved, with
    /// the empty patch every one that is, or of which nothing is known. Predictions may be anything.
    pub fn against(&self) -> Vec<&Outcome> {
        let wrong = |outcome: &&Outcome| match self.kind {
            Kind::Predictions => false,
            Kind::Gold => outcome.class != Class::Resolved,
            Kind::Null => outcome.class != Class::Unresolved || outcome.resolved_runs > 0,
        };
        self.outcomes.iter().filter(wrong).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::outcome;
    use super::*;

    pub(super) fn report() -> Report {
        let mut outcomes = vec![
            outcome("a__b-1", Class::Resolved, (2, 2), (4, 4)),
            outcome("a__b-2", Class::Unresolved, (1, 4), (4, 4)),
            outcome("a__b-3", Class::NotApplied, (0, 1), (0, 3)),
            outcome("a__b-4", Class::Missing, (0, 1), (0, 2)),
            outcome("a__b-5", Class::Infra, (0, 2), (0, 1)),
        ];
        "error: patch failed: src/a.py:3\nmore".clone_into(&mut outcomes[2].detail);
        "disk-full".clone_into(&mut outcomes[4].ended);
        outcomes[1].flaky = true;
        outcomes[1].month = "2024-02".to_owned();
        (outcomes[1].resolved_runs, outcomes[1].runs) = (1, 3);
        Report::new(Parts {
            tool: "0.1.0".to_owned(),
            dataset: "tiny".to_owned(),
            version: "1.0.0".to_owned(),
            kind: Kind::Predictions,
            model: "m_7".to_owned(),
            conditions: Conditions {
                runs: 3,
                fuzz: 0,
                count_infra: false,
                room: "process".to_owned(),
                only: vec![],
            },
            beside: Beside {
                missing: vec!["a__b-4".into()],
                ..Beside::default()
            },
            outcomes,
        })
    }

    #[test]
    fn gold_must_resolve_all_and_the_empty_patch_none() {
        let against = |kind| {
            let report = Report { kind, ..report() };
            report
                .against()
                .iter()
                .map(|outcome| outcome.instance_id.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(against(Kind::Predictions), [""; 0]);
        assert_eq!(against(Kind::Gold), ["a__b-2", "a__b-3", "a__b-4", "a__b-5"]);
        // One of its runs passed everything: so much for a test that must fail.
        assert_eq!(against(Kind::Null).len(), 5);
    }

    #[test]
    fn a_report_reads_back() {
        let report = report();
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
