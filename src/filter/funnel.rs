//! The funnel: how many candidates each rule met, stopped and let through.

use serde::Serialize;

use super::compile::Program;
use crate::domain::decision::Verdict;
use crate::domain::ids::RuleId;

/// What each rule did, in the order they ran, and the sum of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Funnel {
    /// Candidates that came in.
    #[serde(rename = "in")]
    pub entered: u64,
    /// Candidates that met every rule and were kept.
    pub out: u64,
    /// One line a rule.
    pub rules: Vec<FunnelLine>,
}

/// What one rule did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunnelLine {
    /// The rule.
    pub rule: RuleId,
    /// Candidates that met it.
    #[serde(rename = "in")]
    pub entered: u64,
    /// Of those, how many it stopped (an undecided one that its `undecided` drops among them).
    pub dropped: u64,
    /// Of those that met it, how many it could not decide.
    pub undecided: u64,
    /// How many went on.
    pub out: u64,
}

impl Funnel {
    /// An empty funnel with a line for each rule.
    pub fn of(program: &Program) -> Self {
        let line = |rule: &super::compile::CompiledRule| FunnelLine {
            rule: rule.id.clone(),
            entered: 0,
            dropped: 0,
            undecided: 0,
            out: 0,
        };
        Self {
            entered: 0,
            out: 0,
            rules: program.rules().iter().map(line).collect(),
        }
    }

    /// Counts one candidate: what each rule it met said, in order.
    pub fn count(&mut self, met: impl Iterator<Item = (Verdict, bool)>) {
        self.entered += 1;
        let mut kept = true;
        for (line, (verdict, goes_on)) in self.rules.iter_mut().zip(met) {
            line.entered += 1;
            line.undecided += u64::from(verdict == Verdict::Undecided);
            if goes_on {
                line.out += 1;
            } else {
                line.dropped += 1;
            }
            kept &= goes_on;
        }
        self.out += u64::from(kept);
    }

    /// Adds another part of the same run.
    pub fn add(&mut self, other: &Self) {
        self.entered += other.entered;
        self.out += other.out;
        for (line, more) in self.rules.iter_mut().zip(&other.rules) {
            line.entered += more.entered;
            line.dropped += more.dropped;
            line.undecided += more.undecided;
            line.out += more.out;
        }
    }

    /// The funnel as a table for a reader.
    pub fn text(&self) -> String {
        use std::fmt::Write as _;
        let width = self
            .rules
            .iter()
            .map(|line| line.rule.as_str().len())
            .max()
            .unwrap_or(0)
            .max(5);
        let mut text = format!(
            "{:width$} {:>8} {:>8} {:>9} {:>8}\n",
            "rule", "in", "dropped", "undecided", "out"
        );
        for line in &self.rules {
            let FunnelLine {
                rule,
                entered,
                dropped,
                undecided,
                out,
            } = line;
            let _ = writeln!(
                text,
                "{:width$} {entered:>8} {dropped:>8} {undecided:>9} {out:>8}",
                rule.as_str()
            );
        }
        let _ = writeln!(
            text,
            "{:width$} {:>8} {:>8} {:>9} {:>8}",
            "total",
            self.entered,
            self.entered - self.out,
            "",
            self.out
        );
        text
    }
}
