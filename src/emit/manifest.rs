//! `manifest.json`: what a version is made of, and how it came to be.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::environment::{Constraint, LeftOut, Newer, RequirementsAfter};
use crate::domain::hash::sha256_hex;
use crate::domain::ids::{BlobId, CommitSha, RepoName, RuleId};
use crate::domain::variant::Variant;
use crate::recipe::variants::Policy;

use super::annotate::record::{Annotation, Parent};
use super::docs::Characteristics;

/// The schema version that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A version of a dataset, without its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this file's shape: 1.
    pub schema_version: u32,
    /// The dataset's name, version and description, as the recipe gives them.
    pub dataset: DatasetName,
    /// The program that wrote it.
    pub tool: Tool,
    /// The recipe, whole.
    pub recipe: RecipeText,
    /// The repositories, as they were read; by name.
    pub sources: Vec<Source>,
    /// When a pull request must have been merged, as it was in force (a command's `--since` overrides the recipe).
    pub window: MergeWindow,
    /// How many of what.
    pub counts: Counts,
    /// What each step took in and let out, in the order in which candidates met them.
    pub funnel: Vec<FunnelStep>,
    /// How candidates ended whose tests could not be judged, or that could not be built; by step, outcome and reason.
    pub failures: Vec<Failure>,
    /// The environments in which oracles were made; by key.
    pub environments: Vec<EnvironmentEntry>,
    /// The variants that `variants.jsonl` names for each instance; left out when the recipe asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<Variants>,
    /// How large the tasks are, by repository, and of all under the empty name; left out where statements are no
    /// documentation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub characteristics: BTreeMap<String, Characteristics>,
    /// The version that this one is a part of; left out when it was made from a recipe directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// What people said of the parent's instances (`annotations.jsonl` has their answers); left out when nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation: Option<Annotation>,
    /// Where the rows come from, for a version that `quarry import` made; left out for every other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<Import>,
}

/// A published dataset's file, and what became of its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// Whose rows: `swebench`.
    pub format: String,
    /// The file's name, without its folder.
    pub file: String,
    /// SHA-256 of its bytes, 64 hex digits.
    pub sha256: String,
    /// How many rows it has. `rows = counts.instances + left_out`.
    pub rows: u64,
    /// Columns that mean something here, by name.
    pub columns: Vec<String>,
    /// The other columns, by name; every row's values stand in `published.jsonl`.
    pub other_columns: Vec<String>,
    /// Names of tests that a row gives twice in one list, over all rows; they stand once in `instances.jsonl`.
    pub repeated_tests: u64,
    /// Rows that are in no instance, in their order.
    pub left_out: Vec<LeftOutRow>,
}

/// A row that became no instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOutRow {
    /// Which row, from 1.
    pub row: u64,
    /// Its `instance_id`.
    pub instance_id: String,
    /// The rule by which.
    pub rule: RuleId,
    /// Why, for a reader.
    pub why: String,
}

/// Variants of each instance's tree at its `base_commit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variants {
    /// Which, in the order of their rows.
    pub wanted: Vec<Variant>,
    /// How the code-only variant is made, in full.
    pub policy: Policy,
}

/// What a dataset is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetName {
    /// Lower-case words joined by `-`.
    pub name: String,
    /// `MAJOR.MINOR.PATCH`.
    pub version: String,
    /// A sentence.
    pub description: String,
}

/// The program that wrote a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// `quarry`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A recipe as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeText {
    /// SHA-256 of `text`, 64 hex digits.
    pub sha256: String,
    /// The recipe file's text.
    pub text: String,
}

/// A repository as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// `owner/name`.
    pub repo: RepoName,
    /// The branch that `HEAD` of the mirror named.
    pub branch: String,
    /// That branch's commit.
    pub commit: CommitSha,
    /// SHA-256 over every branch, tag and pull-request head that was read (`<commit> <ref>\n`, sorted by ref):
    /// two mirrors with the same fingerprint give the same candidates.
    pub refs_sha256: String,
    /// The licence that its own files name at that commit, as an SPDX expression; missing where they tell none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
}

impl Source {
    /// The fingerprint of these refs and their commits, in any order.
    pub fn fingerprint<'a>(refs: impl IntoIterator<Item = (&'a str, CommitSha)>) -> String {
        let mut lines: Vec<_> = refs.into_iter().collect();
        lines.sort_unstable();
        let text = lines.iter().map(|(name, commit)| format!("{commit} {name}\n"));
        sha256_hex(text.collect::<Vec<_>>().concat().as_bytes())
    }
}

/// When a pull request must have been merged (`YYYY-MM-DD`, UTC); `null` where nothing is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeWindow {
    /// On this day or later.
    pub merged_since: Option<String>,
    /// Before this day.
    pub merged_before: Option<String>,
}

/// How many of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Pull requests that mining looked at: those found merged, and those with a decision that says why not.
    pub pull_requests: u64,
    /// Pull requests found merged.
    pub candidates: u64,
    /// Rows of `instances.jsonl`.
    pub instances: u64,
    /// Candidates that ended in an infra outcome after all tries: neither kept nor dropped by a rule.
    pub infra: u64,
    /// Lines of the selection log.
    pub log_entries: u64,
    /// Pull requests that are no candidates, by mining's reason.
    pub not_mined: Vec<NotMined>,
}

/// Pull requests that mining did not make candidates of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotMined {
    /// Mining's rule.
    pub rule: RuleId,
    /// How many.
    pub pull_requests: u64,
}

/// The kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Pull requests into candidates.
    Mine,
    /// One rule of the recipe.
    Rule,
    /// A stage that builds or runs something.
    Stage,
}

/// One step of the funnel. `in = dropped + infra + out`, and the next step's `in` is this one's `out`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunnelStep {
    /// The rule's id, or the stage's name.
    pub step: String,
    /// What kind of step.
    pub kind: StepKind,
    /// Why a rule exists; empty for a stage.
    pub reason: String,
    /// Where a rule comes from; empty for a stage.
    pub source: String,
    /// Candidates that met the step (for `mine`: pull requests).
    #[serde(rename = "in")]
    pub entered: u64,
    /// Those that ended here by their own fault.
    pub dropped: u64,
    /// Those of `in` on which the rule could not decide; the recipe said whether they went on.
    pub undecided: u64,
    /// Those that ended here by the outside's fault, after all tries.
    pub infra: u64,
    /// Those that went on.
    pub out: u64,
}

/// Candidates that a stage could not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The stage.
    pub step: Stage,
    /// Whose fault.
    pub outcome: AttemptOutcome,
    /// A stable word for why.
    pub reason: String,
    /// How many.
    pub candidates: u64,
}

/// An environment, described without any path or host of the machine that built it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentEntry {
    /// The key that instances name.
    pub key: String,
    /// The recipe's names for it.
    pub names: Vec<String>,
    /// The interpreter's full version.
    pub interpreter: String,
    /// The resolver and its version.
    pub resolver: String,
    /// The lock, as `locks/<lock>.txt`: SHA-256 of that file.
    pub lock: BlobId,
    /// Constraints laid over the resolution.
    pub constraints: Vec<Constraint>,
    /// Distributions that may be newer than the base commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newer: Vec<Newer>,
    /// Distributions that tests ask for and that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Packaging files that dependencies were resolved from as a pull request leaves them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements_after: Vec<RequirementsAfter>,
}
