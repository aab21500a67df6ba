//! Decisions: what a rule said of a candidate. Appended to the selection log, never changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{CandidateId, RuleId};

/// What a rule said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The rule holds.
    Keep,
    /// The rule does not hold.
    Drop,
    /// The rule reads a fact that the source cannot know.
    Undecided,
}

impl Verdict {
    /// The verdict's name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
            Self::Undecided => "undecided",
        }
    }
}

/// One rule, one candidate, one verdict, and the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Whom it is about.
    pub candidate: CandidateId,
    /// Which rule (mining's own decisions use ids that start with `mine-`).
    pub rule: RuleId,
    /// What the rule said.
    pub verdict: Verdict,
    /// Whether the candidate goes on: the verdict, or for `undecided` what the recipe says of it.
    pub kept: bool,
    /// The values the rule saw, by fact name (a sorted JSON object).
    pub observed: serde_json::Value,
    /// Why, for a reader: the rule's reason, or what went wrong.
    pub evidence: String,
    /// Hash of what the decision read: recipe part and facts. A new key means it is taken again.
    pub input_key: String,
}
