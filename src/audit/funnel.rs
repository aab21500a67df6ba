//! Steps, where pull requests ended, and how both are told.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::distance::Distance;
use crate::domain::ids::CandidateId;

/// One step of a funnel: `in = dropped + infra + out`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The rule's id, or the stage's name.
    pub step: String,
    /// `mine`, `rule` or `stage`.
    pub kind: String,
    /// Why a rule exists.
    pub reason: String,
    /// Pull requests that met it.
    #[serde(rename = "in")]
    pub entered: u64,
    /// Those that ended here by their own fault.
    pub dropped: u64,
    /// Those on which the rule could not decide.
    pub undecided: u64,
    /// Those that ended here by the outside's fault.
    pub infra: u64,
    /// Those that went on.
    pub out: u64,
}

/// A pull request that is not in the version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// `owner/name#N`.
    pub candidate: CandidateId,
    /// The step at which it ended; mining's rule, for one that was not mined.
    pub step: String,
    /// `drop`, `undecided`, `project` or `infra`.
    pub verdict: String,
    /// Why, for a reader.
    pub evidence: String,
    /// The values that a rule saw.
    pub observed: Value,
    /// When one rule alone dropped it: how far it was from that rule's thresholds, where these are numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Vec<Distance>>,
}

/// A version's audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The dataset.
    pub dataset: String,
    /// Its version.
    pub version: String,
    /// The whole funnel.
    pub funnel: Vec<Step>,
    /// The funnel of each repository.
    pub by_repo: BTreeMap<String, Vec<Step>>,
    /// How many pull requests are in the version.
    pub kept: usize,
    /// Every other one.
    pub dropped: Vec<Dropped>,
}

/// What is to be told of the dropped, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Only what this step dropped.
    pub why: Option<String>,
    /// Only what holds these words, in any of its fields; letters' case does not matter.
    pub find: Option<String>,
    /// Only those of this repository.
    pub repo: Option<String>,
    /// Only what one rule alone dropped.
    pub near: bool,
    /// By what they are sorted.
    pub sort: Sort,
}

/// Orders of the dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// By repository and number.
    #[default]
    Candidate,
    /// By the funnel's steps.
    Step,
    /// By the distance to the threshold; those without one last.
    Distance,
}

impl Audit {
    /// The names of everything that drops somebody: the funnel's steps, and mining's rules.
    pub fn reasons(&self) -> Vec<String> {
        let mut names: Vec<String> = self.funnel.iter().map(|step| step.step.clone()).collect();
        for dropped in &self.dropped {
            if !names.contains(&dropped.step) {
                names.push(dropped.step.clone());
            }
        }
        names
    }

    /// Leaves of the dropped what was chosen.
    pub fn choose(&mut self, choice: &Choice) {
        let words = choice.find.as_deref().unwrap_or_default().to_lowercase();
        self.dropped.retain(|one| {
            let told = format!(
                "{} {} {} {} {}",
                one.candidate, one.step, one.verdict, one.evidence, one.observed
            );
            choice.why.as_ref().is_none_or(|why| *why == one.step)
                && choice
                    .repo
                    .as_ref()
                    .is_none_or(|repo| one.candidate.repo.to_string().eq_ignore_ascii_case(repo))
                && (!choice.near || one.near.is_some())
                && told.to_lowercase().contains(&words)
        });
        let order: BTreeMap<String, usize> = self
            .reasons()
            .into_iter()
            .enumerate()
            .map(|(index, name)| (name, index))
            .collect();
        match choice.sort {
            Sort::Candidate => self.dropped.sort_by(|a, b| a.candidate.cmp(&b.candidate)),
            Sort::Step => self
                .dropped
                .sort_by_key(|one| (order.get(&one.step).copied(), one.candidate.clone())),
            Sort::Distance => self.dropped.sort_by(|a, b| {
                let near = |one: &Dropped| distance(one).unwrap_or(f64::INFINITY);
                near(a)
                    .total_cmp(&near(b))
                    .then_with(|| a.candidate.cmp(&b.candidate))
            }),
        }
    }

    /// The audit for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{} {}: {} instances\n\n", self.dataset, self.version, self.kept);
        text.push_str(&table(&self.funnel));
        if self.by_repo.len() > 1 {
            for (repo, steps) in &self.by_repo {
                let _ = write!(text, "\n{repo}\n{}", table(steps));
            }
        }
        text.push('\n');
        for one in &self.dropped {
            let _ = writeln!(
                text,
                "{}  {}  {}  {}{}",
                one.candidate,
                one.step,
                one.verdict,
                one.evidence,
                told(one)
            );
        }
        let _ = writeln!(text, "{} pull requests told", self.dropped.len());
        text
    }

    /// The dropped as CSV (RFC 4180), with a head.
    pub fn csv(&self) -> String {
        let mut text = "candidate,step,verdict,evidence,observed,distance\r\n".to_owned();
        for one in &self.dropped {
            let distance = distance(one).map_or_else(String::new, |distance| distance.to_string());
            let cells = [
                one.candidate.to_string(),
                one.step.clone(),
                one.verdict.clone(),
                one.evidence.clone(),
                one.observed.to_string(),
                distance,
            ];
            let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
            let _ = write!(text, "{}\r\n", cells.join(","));
        }
        text
    }
}

/// The least distance of a pull request that one rule alone dropped.
fn distance(one: &Dropped) -> Option<f64> {
    let distances = one.near.as_ref()?.iter().map(|near| near.distance);
    distances.min_by(f64::total_cmp)
}

/// A dropped pull request's distances, for a reader.
pub(super) fn told(one: &Dropped) -> String {
    match &one.near {
        None => String::new(),
        Some(distances) if distances.is_empty() => "; by this rule alone".to_owned(),
        Some(distances) => {
            let parts: Vec<String> = distances
                .iter()
                .map(|near| {
                    format!(
                        "{} is {}, asked is {} {}: {} away",
                        near.fact, near.value, near.comparison, near.threshold, near.distance
                    )
                })
                .collect();
            format!("; by this rule alone: {}", parts.join("; "))
        }
    }
}

fn quoted(cell: &str) -> String {
    // A cell that begins like a formula must not become one in a spreadsheet.
    let guarded = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    if guarded.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

/// The steps as a table.
pub(super) fn table(steps: &[Step]) -> String {
    let width = steps.iter().map(|step| step.step.len()).max().unwrap_or(0).max(4);
    let mut text = format!(
        "{:width$}  {:>7}  {:>7}  {:>9}  {:>5}  {:>7}\n",
        "step", "in", "dropped", "undecided", "infra", "out"
    );
    for step in steps {
        let _ = writeln!(
            text,
            "{:width$}  {:>7}  {:>7}  {:>9}  {:>5}  {:>7}",
            step.step, step.entered, step.dropped, step.undecided, step.infra, step.out
        );
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub(in crate::audit) fn audit() -> Audit {
        let step = |name: &str, kind: &str, entered, dropped, infra| Step {
            step: name.to_owned(),
            kind: kind.to_owned(),
            entered,
            dropped,
            infra,
            out: entered - dropped - infra,
            ..Step::default()
        };
        let dropped = |id: &str, step: &str, verdict: &str, evidence: &str, files: u64| Dropped {
            candidate: id.parse().unwrap(),
            step: step.to_owned(),
            verdict: verdict.to_owned(),
            evidence: evidence.to_owned(),
            observed: json!({ "gold.files": files }),
            near: None,
        };
        let funnel = vec![
            step("mine", "mine", 5, 1, 0),
            step("one-file", "rule", 4, 2, 0),
            step("build", "stage", 2, 0, 1),
        ];
        let mut all = vec![
            dropped("a/b#4", "build", "infra", "time-out", 1),
            dropped("a/b#3", "one-file", "drop", "more, than \"one\"", 5),
            dropped("a/b#2", "one-file", "drop", "=more", 2),
            dropped("a/b#1", "mine-unmerged", "drop", "never merged", 0),
        ];
        for (index, distance) in [(1, 4.0), (2, 1.0)] {
            all[index].near = Some(vec![Distance {
                fact: "gold.files".to_owned(),
                value: distance + 1.0,
                comparison: "==".to_owned(),
                threshold: 1.0,
                distance,
            }]);
        }
        Audit {
            dataset: "tiny".to_owned(),
            version: "1.0.0".to_owned(),
            by_repo: [("a/b".to_owned(), funnel.clone())].into(),
            funnel,
            kept: 1,
            dropped: all,
        }
    }

    fn order(choice: &Choice) -> Vec<u32> {
        let mut audit = audit();
        audit.choose(choice);
        audit.dropped.iter().map(|one| one.candidate.number).collect()
    }

    #[test]
    fn what_is_dropped_is_found_and_sorted() {
        let all = Choice::default;
        assert_eq!(order(&all()), [1, 2, 3, 4]);
        assert_eq!(
            order(&Choice {
                sort: Sort::Step,
                ..all()
            }),
            [2, 3, 4, 1]
        );
        let near = Choice {
            near: true,
            sort: Sort::Distance,
            ..all()
        };
        assert_eq!(order(&near), [2, 3]);
        assert_eq!(
            order(&Choice {
                why: Some("build".to_owned()),
                ..all()
            }),
            [4]
        );
        assert_eq!(
            order(&Choice {
                find: Some("NEVER".to_owned()),
                ..all()
            }),
            [1]
        );
        assert_eq!(
            order(&Choice {
                repo: Some("A/B".to_owned()),
                ..all()
            })
            .len(),
            4
        );
    }

    #[test]
    fn it_is_told_as_a_table_and_as_csv() {
        let mut audit = audit();
        audit.choose(&Choice::default());
        insta::assert_snapshot!(audit.text(), @r#"
        tiny 1.0.0: 1 instances

        step           in  dropped  undecided  infra      out
        mine            5        1          0      0        4
        one-file        4        2          0      0        2
        build           2        0          0      1        1

        a/b#1  mine-unmerged  drop  never merged
        a/b#2  one-file  drop  =more; by this rule alone: gold.files is 2, asked is == 1: 1 away
        a/b#3  one-file  drop  more, than "one"; by this rule alone: gold.files is 5, asked is == 1: 4 away
        a/b#4  build  infra  time-out
        4 pull requests told
        "#);
        let csv = audit.csv();
        let lines: Vec<&str> = csv.split("\r\n").collect();
        assert_eq!(lines[2], r#"a/b#2,one-file,drop,'=more,"{""gold.files"":2}",1"#);
        assert_eq!(
            lines[3],
            r#"a/b#3,one-file,drop,"more, than ""one""","{""gold.files"":5}",4"#
        );
    }
}
