//! Attempts: one try at a stage for one candidate. Appended, never changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{BlobId, CandidateId};

/// The stages that keep attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Pull requests into candidates.
    Mine,
    /// Rules over candidates.
    Filter,
    /// What a candidate's tree asks for, and so the group that it shares an environment with.
    Ask,
    /// Which way to meet what a group asks for is best: the search for an environment.
    Detect,
    /// One run of a base tree's tests in an environment that the search looks at.
    Trial,
    /// An environment for a base commit.
    Build,
    /// Test runs and their oracle.
    Verify,
    /// What of gold an oracle runs and notices.
    Strength,
    /// Variants of the base commit's tree.
    Strip,
    /// One run of a prediction.
    Evaluate,
}

impl Stage {
    /// Every stage, in the order in which a candidate meets them.
    pub const ALL: [Self; 10] = [
        Self::Mine,
        Self::Filter,
        Self::Ask,
        Self::Detect,
        Self::Trial,
        Self::Build,
        Self::Verify,
        Self::Strength,
        Self::Strip,
        Self::Evaluate,
    ];

    /// The stage's name in the ledger and in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Filter => "filter",
            Self::Ask => "ask",
            Self::Detect => "detect",
            Self::Trial => "trial",
            Self::Build => "build",
            Self::Verify => "verify",
            Self::Strength => "strength",
            Self::Strip => "strip",
            Self::Evaluate => "evaluate",
        }
    }
}

/// How a try ended. The two kinds of failure are never mixed: a project outcome is final for its input,
/// an infra outcome is retried with a cap and always reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttemptOutcome {
    /// The stage has its result.
    Done,
    /// The candidate's own fault: it does not install, its gold does not apply ….
    Project,
    /// The outside's fault: time-out, lost channel, disk, memory, network.
    Infra,
}

impl AttemptOutcome {
    /// The outcome's name in the ledger and in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Project => "project",
            Self::Infra => "infra",
        }
    }
}

/// One try at a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Whom it was for.
    pub candidate: CandidateId,
    /// Which stage.
    pub stage: Stage,
    /// Hash of everything the stage read: upstream output, its part of the recipe, its own version.
    pub input_key: String,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// A stable word for why (`gold-does-not-apply`, `time-out`), or `ok`.
    pub reason: String,
    /// A sentence for a reader.
    pub detail: String,
    /// The stage's log, if it wrote one.
    pub log: Option<BlobId>,
    /// The stage's result as JSON, when it is done.
    pub result: Option<serde_json::Value>,
}
