//! What a run tells its caller.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::domain::count::count;
use crate::emit::docs::Characteristics;
use crate::emit::docs::characteristics::table;
use crate::emit::manifest::FunnelStep;

/// One run of a recipe.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    /// The dataset and its version.
    pub dataset: String,
    /// The version's folder; `None` when nothing was emitted.
    pub manifest: Option<String>,
    /// Whether that version was there already, with the same bytes.
    pub already_there: bool,
    /// How many instances it has.
    pub instances: usize,
    /// How many candidates each step met, stopped and let through.
    pub funnel: Vec<FunnelStep>,
    /// How many candidates ended in building or verifying by their own fault, by stage and reason.
    pub project: BTreeMap<String, u64>,
    /// How many candidates ended in an infra outcome after all tries, by reason.
    pub infra: BTreeMap<String, u64>,
    /// Those candidates.
    pub infra_candidates: Vec<String>,
    /// Candidates that building and verifying met.
    pub met: usize,
    /// Of these, how many have an environment.
    pub built: usize,
    /// Different environments among them.
    pub environments: usize,
    /// Candidates with at least one test that passed.
    pub runnable: usize,
    /// Candidates with an oracle.
    pub verified: usize,
    /// Quarantined tests over all verified candidates.
    pub flaky_tests: usize,
    /// Trees of variants, when the recipe asks for some.
    pub variants: usize,
    /// Variants in which code is left that reads docstrings or source: it may behave otherwise.
    pub reads_docstrings: usize,
    /// How large the instances are, by repository and of all, when documentation tells them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub characteristics: BTreeMap<String, Characteristics>,
    /// Why nothing was emitted, if so.
    pub note: Option<String>,
}

impl RunReport {
    /// The report for a reader.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let width = self
            .funnel
            .iter()
            .map(|step| step.step.len())
            .max()
            .unwrap_or(0)
            .max("step".len());
        if !self.funnel.is_empty() {
            let _ = writeln!(
                text,
                "{:<width$}  {:>6}  {:>7}  {:>9}  {:>5}  {:>6}",
                "step", "in", "dropped", "undecided", "infra", "out"
            );
        }
        for step in &self.funnel {
            let _ = writeln!(
                text,
                "{:<width$}  {:>6}  {:>7}  {:>9}  {:>5}  {:>6}",
                step.step, step.entered, step.dropped, step.undecided, step.infra, step.out
            );
        }
        for (reason, count) in &self.project {
            let _ = writeln!(text, "  {count} dropped by {reason}");
        }
        if self.met > 0 {
            let share = 100.0 * ratio(self.runnable, self.met);
            let _ = writeln!(
                text,
                "\nbuilt:          {} of {}, in {}\nwith a passing test: {} ({share:.0} %)\nverified:       {}",
                self.built,
                count(self.met as u64, "candidate"),
                count(self.environments as u64, "environment"),
                self.runnable,
                self.verified
            );
        }
        let infra: u64 = self.infra.values().sum();
        let reasons: Vec<_> = self
            .infra
            .iter()
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        let _ = write!(text, "\ninfra outcomes: {infra}");
        if infra > 0 {
            let _ = write!(
                text,
                " ({}): {}",
                reasons.join(", "),
                self.infra_candidates.join(", ")
            );
        }
        let _ = writeln!(text, "\nflaky tests:    {}", self.flaky_tests);
        let _ = writeln!(text, "instances:      {}", self.instances);
        if self.variants > 0 {
            let _ = writeln!(
                text,
                "variants:       {} trees; in {} of them code reads docstrings or source (`variants.jsonl` says where)",
                self.variants, self.reads_docstrings
            );
        }
        if !self.characteristics.is_empty() {
            let _ = write!(text, "\n{}", table(&self.characteristics));
        }
        if let Some(manifest) = &self.manifest {
            let state = if self.already_there {
                " (it was there already, with the same bytes)"
            } else {
                ""
            };
            let _ = writeln!(text, "manifest:       {manifest}{state}");
        }
        if let Some(note) = &self.note {
            let _ = writeln!(text, "{note}");
        }
        text
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of candidates")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
