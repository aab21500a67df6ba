//! What a search for an environment tried, what came of it, and what was chosen: as the ledger keeps it, and for a reader.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::build::detect::Origin;
use crate::domain::ids::BlobId;
use crate::domain::oracle::RanScope;
use crate::recipe::model::EnvironmentRecipe;
use crate::verify::run::{BETTER_BY, Trial};

/// What a search came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// The environment that won, and everything that was tried.
    Found {
        /// The environment.
        environment: Box<EnvironmentRecipe>,
        /// What was tried, in order.
        tried: Vec<Step>,
        /// Which of the steps won, from 0.
        #[serde(default)]
        chosen: usize,
        /// Proposals that were not tried: the one before them left too little to gain.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untried: Vec<String>,
    },
    /// No proposal was accepted.
    Nothing {
        /// What was tried, in order.
        tried: Vec<Step>,
    },
    /// The outside failed.
    Infra(String),
}

impl Search {
    /// What was found.
    pub fn environment(&self) -> Option<&EnvironmentRecipe> {
        match self {
            Self::Found { environment, .. } => Some(environment),
            Self::Nothing { .. } | Self::Infra(_) => None,
        }
    }

    /// The step that won.
    pub fn chosen(&self) -> Option<&Step> {
        match self {
            Self::Found { tried, chosen, .. } => tried.get(*chosen),
            Self::Nothing { .. } | Self::Infra(_) => None,
        }
    }

    /// What was tried, in order.
    pub fn tried(&self) -> &[Step] {
        match self {
            Self::Found { tried, .. } | Self::Nothing { tried } => tried,
            Self::Infra(_) => &[],
        }
    }
}

/// One thing tried.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Step {
    /// The proposal's name.
    pub proposal: String,
    /// Its interpreter.
    pub python: String,
    /// All of it, as it was tried.
    #[serde(default)]
    pub environment: EnvironmentRecipe,
    /// Where each line of the proposal comes from, in the tree that was searched for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Origin>,
    /// What was changed about it, and the words that called for it; absent for the proposal as it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Change>,
    /// How the build ended: `ok`, or its failure's word.
    pub build: String,
    /// What its tests showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// The log of what decided: of the trial, or of the build that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<BlobId>,
}

/// A repair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The kind of trouble.
    pub trouble: String,
    /// What was done about it.
    pub remedy: String,
    /// The words that called for it.
    pub evidence: String,
}

/// What a search tried and chose, for a reader.
pub fn text(search: &Search) -> String {
    let mut text = String::new();
    for (number, step) in (1..).zip(search.tried()) {
        write_step(&mut text, number, step);
    }
    let _ = match search {
        Search::Found {
            tried,
            chosen,
            untried,
            environment,
        } => {
            let trial = tried.get(*chosen).and_then(|step| step.trial.as_ref());
            let passed = trial.map_or(0, |trial| trial.passed);
            let why = if trial.is_some_and(Trial::is_enough) {
                "next to nothing failed in it that another environment could mend".to_owned()
            } else {
                format!("no later one had more than {BETTER_BY} in a thousand more")
            };
            let _ = writeln!(
                text,
                "chosen: {} ({}), with {passed} passing tests: {why}",
                chosen + 1,
                environment.name
            );
            untried
                .iter()
                .try_for_each(|name| writeln!(text, "not tried: {name}"))
        }
        Search::Nothing { tried } => writeln!(
            text,
            "chosen: none; {} ways were tried, and in none did a test pass",
            tried.len()
        ),
        Search::Infra(reason) => writeln!(
            text,
            "chosen: nothing yet; the outside failed ({reason}), and the next run searches again"
        ),
    };
    text
}

fn write_step(text: &mut String, number: usize, step: &Step) {
    let _ = writeln!(text, "{number} {} (Python {})", step.proposal, step.python);
    let environment = &step.environment;
    match &step.remedy {
        Some(change) => {
            let _ = writeln!(
                text,
                "    repaired: {}\n      because of {}: {}",
                change.remedy,
                change.trouble,
                one_line(&change.evidence)
            );
        }
        None if step.because.is_empty() => {
            let lines = environment.install.iter().map(|line| format!("install {line}"));
            for line in lines {
                let _ = writeln!(text, "    {line}");
            }
        }
        None => {
            for origin in &step.because {
                let place = origin.place.as_ref();
                let place = place.map_or_else(String::new, |place| format!("{place}: "));
                let _ = writeln!(text, "    {:<40} {place}{}", origin.what, origin.why);
            }
        }
    }
    if let (None, Some(why)) = (&step.remedy, &environment.requirements_after) {
        let _ = writeln!(text, "    requirements as the pull request leaves them: {why}");
    }
    if let (None, Some(runner)) = (&step.remedy, environment.runner) {
        let args = environment.args.as_deref().unwrap_or_default().join(" ");
        let _ = writeln!(text, "    run {} {args}", runner.name());
    }
    let _ = match &step.trial {
        None => writeln!(text, "    not built: {}", step.build),
        Some(trial) => {
            let network = match trial.no_network {
                0 => String::new(),
                count => format!(" ({count} for want of a network)"),
            };
            writeln!(
                text,
                "    {}, {}: {} passed, {} failed{network}, {} skipped, {} modules not collected ({})",
                trial.runner,
                match trial.scope {
                    RanScope::Modules => "the touched modules",
                    RanScope::Suite | RanScope::Widened => "the whole suite",
                },
                trial.passed,
                trial.failed,
                trial.skipped,
                trial.not_collected,
                trial.ended
            )
        }
    };
    if let Some(log) = &step.log {
        let _ = writeln!(text, "    log {log}");
    }
}

/// The first lines of some words, as one, not longer than a reader wants.
fn one_line(words: &str) -> String {
    const MOST: usize = 300;
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
