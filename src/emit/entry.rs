//! One line of `selection-log.jsonl.zst`: what became of every pull request ever looked at, and why.
//!
//! Lines stand by repository and number; of one pull request first what was found, then the steps in the order in
//! which it met them. What a machine adds (durations, paths, the number of tries) stays in the workspace.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::candidate::MergeKind;
use crate::domain::decision::Verdict;
use crate::domain::ids::{CandidateId, CommitSha, RuleId};
use crate::domain::oracle::Oracle;

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LogEntry {
    /// The pull request was found merged.
    Candidate(Found),
    /// A row of a published dataset was taken over.
    Imported(Imported),
    /// A rule spoke.
    Decision(RuleSaid),
    /// A stage ended.
    Attempt(StageEnded),
    /// Tests judged it.
    Oracle(Box<TestsSaid>),
}

/// A pull request found merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// `owner/name#N`.
    pub candidate: CandidateId,
    /// Where its own branch ended.
    pub head: CommitSha,
    /// The commit that its change applies on.
    pub base_commit: CommitSha,
    /// The commit that brought it to the branch.
    pub merge_commit: CommitSha,
    /// By which road.
    pub merge_kind: MergeKind,
    /// The branch.
    pub merge_branch: String,
    /// When: the committer date of `merge_commit`.
    #[schemars(with = "String")]
    pub merged_at: Timestamp,
}

/// A row of a published dataset that was taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// `owner/name#N`.
    pub candidate: CandidateId,
    /// Its row in the file, from 1.
    pub row: u64,
    /// The commit that its change applies on.
    pub base_commit: CommitSha,
}

/// One rule, one pull request, one verdict, and the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSaid {
    /// `owner/name#N`.
    pub candidate: CandidateId,
    /// Which rule (mining's own start with `mine-`).
    pub rule: RuleId,
    /// What it said.
    pub verdict: Verdict,
    /// Whether the pull request went on.
    pub kept: bool,
    /// The values that it saw, by fact.
    pub observed: serde_json::Value,
    /// Why, for a reader.
    pub evidence: String,
}

/// How a stage ended for a pull request, after all tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageEnded {
    /// `owner/name#N`.
    pub candidate: CandidateId,
    /// Which stage.
    pub stage: Stage,
    /// Whose fault it was, if it was one.
    pub outcome: AttemptOutcome,
    /// A stable word for why, or `ok`.
    pub reason: String,
}

/// What repeated runs said of every test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestsSaid {
    /// `owner/name#N`.
    pub candidate: CandidateId,
    /// The environment's key in the manifest.
    pub environment: String,
    /// Dependencies are those an index had before this moment.
    #[schemars(with = "String")]
    pub exclude_newer: Timestamp,
    /// The tests.
    pub oracle: Oracle,
}

impl LogEntry {
    /// Whom the line is about.
    pub fn candidate(&self) -> &CandidateId {
        match self {
            Self::Candidate(found) => &found.candidate,
            Self::Imported(row) => &row.candidate,
            Self::Decision(said) => &said.candidate,
            Self::Attempt(ended) => &ended.candidate,
            Self::Oracle(said) => &said.candidate,
        }
    }
}
