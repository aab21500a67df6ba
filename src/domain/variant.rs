//! A variant of a commit's tree, as it was made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{BlobId, CommitSha};
use super::path::RepoPath;

/// Which variant of a tree is made.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The tree as it is.
    Full,
    /// Without docstrings, comments and documentation files.
    #[default]
    CodeOnly,
    /// Without the files that instruct coding agents.
    NoContext,
}

impl Variant {
    /// The variant's name in recipes, in the ledger and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::CodeOnly => "code-only",
            Self::NoContext => "no-context",
        }
    }
}

/// One variant of one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantRecord {
    /// Which.
    pub variant: Variant,
    /// The name of its tree by git's own rule: the hash of its content.
    pub tree: CommitSha,
    /// How many of what.
    pub counts: VariantCounts,
    /// Files that should have been stripped and stand there as they were, by path.
    pub untouched: Vec<UntouchedFile>,
    /// Code that reads docstrings or source, and may behave otherwise in this variant; by path and line.
    pub needs: Vec<DocstringNeed>,
    /// The full report.
    pub report: BlobId,
}

/// How many of what a variant holds and lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantCounts {
    /// Files, links and submodules of the variant's tree.
    pub entries: u64,
    /// Files that were looked into: `stripped + unchanged + untouched`.
    pub files: u64,
    /// Files that changed.
    pub stripped: u64,
    /// Files with nothing to strip.
    pub unchanged: u64,
    /// Files left as they were, with a reason.
    pub untouched: u64,
    /// Bytes of the files looked into, before.
    pub bytes_before: u64,
    /// And after.
    pub bytes_after: u64,
    /// Comments that went.
    pub comments: u64,
    /// Docstrings and other string statements that went.
    pub docstrings: u64,
    /// `pass` statements put in.
    pub passes: u64,
    /// Documentation files that went.
    pub documentation_removed: u64,
    /// Documentation files that are there, and empty.
    pub documentation_emptied: u64,
    /// Files for coding agents that went.
    pub context_removed: u64,
}

/// A file that was left as it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntouchedFile {
    /// Which.
    pub path: RepoPath,
    /// Why: a stable word (`syntax`, `undecodable`, `too-large` …).
    pub reason: String,
}

/// A place that reads docstrings or the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocstringNeed {
    /// In which file.
    pub path: RepoPath,
    /// Its line in the original, from 1.
    pub line: u32,
    /// Who reads: a stable word (`docopt`, `doctest`, `doc-operand` …).
    pub kind: String,
}
