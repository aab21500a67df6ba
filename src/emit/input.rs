//! What emission is given, as plain data. The order of its lists does not matter, except of `steps`.

use std::collections::BTreeMap;

use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::candidate::Candidate;
use crate::domain::decision::Decision;
use crate::domain::environment::{Environment, Setup};
use crate::domain::ids::{BlobId, CandidateId, RuleId};
use crate::domain::oracle::Oracle;
use crate::domain::patch::Part;
use crate::domain::strength::Strength;
use crate::domain::variant::VariantRecord;
use crate::recipe::model::Recipe;

use super::docs::DocsTask;
use super::manifest::Source;

/// Everything a version is made of.
#[derive(Debug, Clone)]
pub struct EmitInput {
    /// The recipe.
    pub recipe: Recipe,
    /// Its file's text, as read.
    pub recipe_text: String,
    /// This program's version.
    pub tool_version: String,
    /// The repositories.
    pub sources: Vec<Source>,
    /// What a candidate meets, in order: rules and stages. The recipe's window comes before them by itself.
    pub steps: Vec<Step>,
    /// Every candidate of those repositories.
    pub candidates: Vec<Candidate>,
    /// The decisions that hold now: mining's own, and the recipe's. Of several by one rule on one pull request, the
    /// last counts.
    pub decisions: Vec<Decision>,
    /// How stages ended, after all tries; one for a candidate and stage.
    pub ended: Vec<Ended>,
    /// What tests said of those that were verified.
    pub verified: Vec<Verified>,
    /// The diffs of those that survive every step, with their split.
    pub changes: BTreeMap<CandidateId, Change>,
    /// The variants of those that survive every step, when the recipe asks for some.
    pub variants: BTreeMap<CandidateId, Vec<VariantRecord>>,
    /// The tasks of those that survive every step, when documentation tells them.
    pub tasks: BTreeMap<CandidateId, DocsTask>,
    /// The lock files' bytes.
    pub locks: BTreeMap<BlobId, Vec<u8>>,
}

/// One thing that a candidate meets on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A rule.
    Rule {
        /// Its id.
        id: RuleId,
        /// Why it exists.
        reason: String,
        /// Where it comes from.
        source: String,
    },
    /// A stage that may fail.
    Stage(Stage),
}

/// How a stage ended for a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Whom it was for.
    pub candidate: CandidateId,
    /// Which stage.
    pub stage: Stage,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// A stable word for why.
    pub reason: String,
}

/// What tests said of a candidate, and where they ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Whom it is about.
    pub candidate: CandidateId,
    /// The tests.
    pub oracle: Oracle,
    /// What was measured of that oracle.
    pub strength: Option<Strength>,
    /// Where they ran.
    pub environment: Environment,
    /// How that was installed, and how they were started.
    pub setup: Setup,
}

/// A candidate's diff and the part of each of its files, in [`Candidate::files`]' order; `None` for a file that the split
/// leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The diff's bytes.
    pub diff: Vec<u8>,
    /// One for each file.
    pub parts: Vec<Option<Part>>,
}
