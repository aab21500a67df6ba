//! A pull request's whole story: what was found, what every rule said and saw, what was tried, what tests said.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;

use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::candidate::Candidate;
use crate::domain::decision::Decision;
use crate::domain::ids::CandidateId;
use crate::domain::oracle::Oracle;
use crate::domain::patch::Part;

/// Everything the ledger knows of one pull request.
#[derive(Debug, Clone, Serialize)]
pub struct Story {
    /// The pull request.
    pub id: CandidateId,
    /// What mining found, when it was merged.
    pub candidate: Option<Candidate>,
    /// The part of each of its files, in the candidate's order; `None` for a file in no part.
    pub parts: Vec<Option<Part>>,
    /// What rules said, in the order of recording: the scope (`mine`, or a dataset's name) and the decision.
    pub decisions: Vec<Told>,
    /// What was tried, in order.
    pub attempts: Vec<Attempt>,
    /// What tests said, by the last verification that came to its end.
    pub oracle: Option<Oracle>,
}

/// A decision and who took it.
#[derive(Debug, Clone, Serialize)]
pub struct Told {
    /// `mine`, or a dataset's name.
    pub scope: String,
    /// The decision.
    pub decision: Decision,
    /// Whether the same rule of the same scope said something later, on other facts or in another version; of mining's,
    /// whether any of its rules did, or the pull request was found merged since.
    pub replaced: bool,
}

/// The scope of mining: it takes one decision, on those that are no candidates.
const MINE: &str = "mine";

impl Story {
    /// Puts a story together; the oracle is read from the last finished verification.
    pub fn new(
        id: CandidateId,
        candidate: Option<Candidate>,
        parts: Vec<Option<Part>>,
        decisions: Vec<(String, Decision)>,
        attempts: Vec<Attempt>,
    ) -> Self {
        let oracle = attempts
            .iter()
            .rev()
            .filter(|attempt| attempt.stage == Stage::Verify && attempt.outcome == AttemptOutcome::Done)
            .find_map(|attempt| serde_json::from_value(attempt.result.as_ref()?.get("oracle")?.clone()).ok());
        let mut later = BTreeSet::new();
        let mut is_mined = candidate.is_some();
        let mut decisions: Vec<Told> = decisions
            .into_iter()
            .rev()
            .map(|(scope, decision)| {
                let is_later = !later.insert((scope.clone(), decision.rule.clone()));
                let is_outdated = scope == MINE && std::mem::replace(&mut is_mined, true);
                Told {
                    replaced: is_later || is_outdated,
                    scope,
                    decision,
                }
            })
            .collect();
        decisions.reverse();
        Self {
            id,
            candidate,
            parts,
            decisions,
            attempts,
            oracle,
        }
    }

    /// Whether the ledger knows nothing of it.
    pub fn is_empty(&self) -> bool {
        self.candidate.is_none() && self.decisions.is_empty() && self.attempts.is_empty()
    }

    /// The story for a reader; `between` stands after what rules said: release notes, and how its environment was
    /// searched for.
    pub fn text(&self, between: &str) -> String {
        let mut text = format!("{}\n", self.id);
        if let Some(candidate) = &self.candidate {
            self.found(&mut text, candidate);
        }
        self.said(&mut text);
        text.push_str(between);
        if !self.attempts.is_empty() {
            let _ = writeln!(
                text,
                "\nattempts (`quarry log '{}' --attempt N` prints the log of one)",
                self.id
            );
        }
        for (number, attempt) in (1..).zip(&self.attempts) {
            let (stage, outcome) = (attempt.stage.name(), attempt.outcome.name());
            let _ = write!(text, "  {number:>3} {stage:<8} {outcome:<8} {}", attempt.reason);
            if !attempt.detail.is_empty() {
                let _ = write!(text, ": {}", attempt.detail);
            }
            text.push('\n');
            if let Some(log) = &attempt.log {
                let _ = writeln!(text, "               log {log}");
            }
        }
        if let Some(oracle) = &self.oracle {
            tested(&mut text, oracle);
        }
        text
    }

    fn found(&self, text: &mut String, candidate: &Candidate) {
        let merge = &candidate.merge;
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "  {name:<12} {value}");
        };
        line(
            "title",
            candidate
                .title
                .clone()
                .unwrap_or_else(|| "(git does not tell)".to_owned()),
        );
        line(
            "merged",
            format!(
                "{} into {} by {}",
                candidate.merged_at,
                merge.branch,
                word(&merge.kind)
            ),
        );
        let evidence: Vec<_> = merge.evidence.iter().map(word).collect();
        line(
            "merge",
            format!("{} (seen by: {})", merge.commit, evidence.join(", ")),
        );
        for relation in &merge.relations {
            line(&word(&relation.kind), relation.text.clone());
        }
        line("head", candidate.head.to_string());
        line(
            "base commit",
            format!("{} of {}", candidate.base_commit, candidate.base_date),
        );
        line("merge base", candidate.merge_base.to_string());
        let applies = if candidate.applies {
            "applies"
        } else {
            "does not apply"
        };
        line(
            "diff",
            format!(
                "{} ({}; {applies} on the base commit)",
                candidate.diff,
                word(&candidate.diff_source)
            ),
        );
        line(
            "release",
            candidate
                .release
                .clone()
                .unwrap_or_else(|| "none below its base".to_owned()),
        );
        line("commits", candidate.commit_count.to_string());
        for found in &candidate.references {
            let closes = if found.closes { "closes" } else { "mentions" };
            line(closes, format!("{} in {}", found.text, word(&found.found_in)));
        }
        let nothing = std::iter::repeat(&None);
        for (file, part) in candidate.files.iter().zip(self.parts.iter().chain(nothing)) {
            let part = part.map_or("-", Part::name);
            line(
                part,
                format!(
                    "{} +{} -{} ({})",
                    file.path,
                    file.added,
                    file.removed,
                    word(&file.change)
                ),
            );
        }
    }

    fn said(&self, text: &mut String) {
        let mut scope = "";
        for told in &self.decisions {
            let Told {
                scope: of, decision, ..
            } = told;
            if scope != of {
                let _ = writeln!(text, "\n{of}");
                scope = of;
            }
            let goes_on = match decision.kept {
                _ if told.replaced && scope == MINE && self.candidate.is_some() => {
                    "outdated: it is merged now"
                }
                _ if told.replaced => "replaced below",
                true => "goes on",
                false => "stops here",
            };
            let (verdict, rule) = (decision.verdict.name(), &decision.rule);
            let _ = writeln!(text, "  {verdict:<9} {rule} ({goes_on}): {}", decision.evidence);
            for (fact, value) in decision.observed.as_object().into_iter().flatten() {
                let _ = writeln!(text, "            {fact} = {value}");
            }
        }
    }
}

fn tested(text: &mut String, oracle: &Oracle) {
    let _ = writeln!(
        text,
        "\noracle ({} runs before gold, {} after)",
        oracle.runs_before, oracle.runs_after
    );
    for (test, before) in oracle.fail_to_pass.iter().zip(&oracle.before_gold) {
        let _ = writeln!(text, "  FAIL_TO_PASS  {test} (before gold: {})", word(before));
    }
    for test in &oracle.pass_to_fail {
        let _ = writeln!(text, "  PASS_TO_FAIL  {test}");
    }
    for flaky in &oracle.flaky {
        let _ = writeln!(
            text,
            "  flaky         {} (passed {} of {} before, {} of {} after)",
            flaky.test, flaky.passed_before, oracle.runs_before, flaky.passed_after, oracle.runs_after
        );
    }
    for (name, tests) in [
        ("PASS_TO_PASS", &oracle.pass_to_pass),
        ("FAIL_TO_FAIL", &oracle.fail_to_fail),
        ("absent, then passed", &oracle.absent_to_pass),
        ("passed, then absent", &oracle.pass_to_absent),
        ("never ran", &oracle.never_ran),
    ] {
        let _ = writeln!(text, "  {:>6} {name}", tests.len());
    }
}

/// A value's own word in the ledger: `squash`, `commit-message`.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(serde_json::Value::Object(fields)) => fields
            .values()
            .map(|value| value.as_str().unwrap_or_default())
            .collect::<Vec<_>>()
            .join(" "),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::decision::Verdict;

    #[test]
    fn what_a_later_version_says_replaces_what_was_said() {
        let id: CandidateId = "o/r#1".parse().unwrap();
        let said = |scope: &str, rule: &str, kept: bool| {
            let decision = Decision {
                candidate: id.clone(),
                rule: rule.into(),
                verdict: if kept { Verdict::Keep } else { Verdict::Drop },
                kept,
                observed: serde_json::Value::Null,
                evidence: "so".to_owned(),
                input_key: "k".to_owned(),
            };
            (scope.to_owned(), decision)
        };
        let decisions = vec![
            said("mine", "small", true),
            said("set", "small", false),
            said("set", "small", true),
            said("set", "tests", true),
        ];
        let story = Story::new(id.clone(), None, vec![], decisions, vec![]);
        assert_eq!(
            story.text(""),
            "o/r#1\n\nmine\n  keep      small (goes on): so\n\nset\n  drop      small (replaced below): so\n  keep      small \
             (goes on): so\n  keep      tests (goes on): so\n"
        );
        let decisions = vec![said("mine", "open", false), said("mine", "twin", false)];
        let story = Story::new(id.clone(), None, vec![], decisions.clone(), vec![]);
        assert_eq!(
            story.text(""),
            "o/r#1\n\nmine\n  drop      open (replaced below): so\n  drop      twin (stops here): so\n"
        );
        let candidate = crate::filter::tests::candidate();
        let story = Story::new(id.clone(), Some(candidate), vec![], decisions, vec![]);
        assert!(story.decisions.iter().all(|told| told.replaced));
        assert!(story.text("").contains("twin (outdated: it is merged now)"));
    }
}
