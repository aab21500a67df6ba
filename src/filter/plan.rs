//! What `quarry check --plan` shows: which rules run when, and what each reads.

use std::fmt::Write as _;

use serde::Serialize;

use super::compile::Program;
use crate::domain::ids::RuleId;
use crate::recipe::language::Phase;
use crate::recipe::language::facts::Knows;
use crate::recipe::model::Undecided;

/// A recipe's rules in the order they run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// One step a rule.
    pub steps: Vec<Step>,
}

/// One rule of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// When it runs.
    pub phase: Phase,
    /// The rule.
    pub rule: RuleId,
    /// Its expression.
    pub keep: String,
    /// The facts it reads, or asks for with `has`, by name.
    pub reads: Vec<&'static str>,
    /// Those of them that a git mirror does not know, or knows only in part or at times.
    pub uncertain: Vec<&'static str>,
    /// What becomes of a candidate that it cannot decide.
    pub undecided: Undecided,
    /// Why it exists.
    pub reason: String,
}

/// The plan of a program.
pub fn plan(program: &Program) -> Plan {
    let step = |rule: &super::compile::CompiledRule| {
        let facts = program.facts_of(rule);
        Step {
            phase: rule.phase,
            rule: rule.id.clone(),
            keep: rule.keep.clone(),
            reads: facts.iter().map(|fact| fact.name()).collect(),
            uncertain: facts
                .iter()
                .filter(|fact| fact.fact().git != Knows::Yes)
                .map(|fact| fact.name())
                .collect(),
            undecided: rule.undecided,
            reason: rule.reason.clone(),
        }
    };
    Plan {
        steps: program.rules().iter().map(step).collect(),
    }
}

impl Plan {
    /// The plan for a reader.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for phase in [Phase::Git, Phase::Oracle] {
            let (title, none) = match phase {
                Phase::Git => (
                    "before anything is built",
                    "no rule: everything that was mined is built",
                ),
                Phase::Oracle => (
                    "after verification",
                    "no rule: everything that has an oracle is kept",
                ),
            };
            let _ = writeln!(text, "{title}:");
            let mut empty = true;
            for (index, step) in self
                .steps
                .iter()
                .enumerate()
                .filter(|(_, step)| step.phase == phase)
            {
                empty = false;
                let keep = step.keep.split_whitespace().collect::<Vec<_>>().join(" ");
                let _ = writeln!(text, "  {:>2}. {}\n      keep {keep}", index + 1, step.rule);
                let _ = writeln!(
                    text,
                    "      reads {}",
                    if step.reads.is_empty() {
                        "nothing".to_owned()
                    } else {
                        step.reads.join(", ")
                    }
                );
                if !step.uncertain.is_empty() {
                    let fate = match step.undecided {
                        Undecided::Keep => "keeps",
                        Undecided::Drop => "drops",
                    };
                    let _ = writeln!(
                        text,
                        "      {fate} what it cannot decide: a mirror may not know {}",
                        step.uncertain.join(", ")
                    );
                }
            }
            if empty {
                let _ = writeln!(text, "  {none}");
            }
        }
        text
    }
}
