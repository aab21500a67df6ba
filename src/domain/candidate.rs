//! A candidate: one merged pull request, as mining found it. Independent of any recipe.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enriched::Enriched;
use super::ids::{BlobId, CandidateId, CommitSha};
use super::patch::FileChange;

/// A merged pull request. What the source could not know is `None` — **unknown**, which is not empty:
/// a git mirror has no pull-request body, no labels and no issue text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// `owner/name#N`.
    pub id: CandidateId,
    /// Where the pull request's own branch ended (`refs/pull/N/head`).
    pub head: CommitSha,
    /// How it reached a branch.
    pub merge: Merge,
    /// The commit the change is applied on: the merge's first parent (for a rebase merge, the parent of its first
    /// commit on the branch). Tests run here, before and after gold.
    pub base_commit: CommitSha,
    /// The best common ancestor of `base_commit` and the diff's new side: where the three-dot diff starts.
    pub merge_base: CommitSha,
    /// Which commit is the diff's new side: the pull request's head, or what landed.
    pub diff_source: DiffSource,
    /// Whether the whole diff applies to `base_commit`'s tree, byte for byte.
    pub applies: bool,
    /// Title: from a squash subject or a merge message's body; `None` when git does not tell.
    pub title: Option<String>,
    /// The pull request's description. Never known from git.
    pub body: Option<String>,
    /// The account that opened it. Never known from git (commit authors are `commits[].author`).
    pub author: Option<String>,
    /// Labels. Never known from git.
    pub labels: Option<Vec<String>>,
    /// The pull request's own commits, oldest first, at most [`Candidate::MAX_COMMITS`].
    pub commits: Vec<CommitNote>,
    /// How many commits it has, also beyond that cap.
    pub commit_count: u32,
    /// When the merge landed (committer date of `merge.commit`).
    pub merged_at: Timestamp,
    /// Committer date of `base_commit`: "now" for dependency resolution.
    pub base_date: Timestamp,
    /// Issues it refers to, each with where that was read. Complete only when `body` is known.
    pub references: Vec<IssueReference>,
    /// The nearest release tag below `base_commit`, as written (`v2.31.0`), if there is one.
    pub release: Option<String>,
    /// Every file of the diff, in diff order.
    pub files: Vec<FileChange>,
    /// The diff's bytes (merge base … new side, renames detected, binary patches included).
    pub diff: BlobId,
    /// What the forge says of it; `None` while it was not asked. Never recorded with the candidate: see
    /// [`enriched`](super::enriched).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forge: Option<Box<Enriched>>,
}

impl Candidate {
    /// Cap on [`Candidate::commits`]: a longer branch keeps its first and last commits.
    pub const MAX_COMMITS: usize = 100;

    /// Whether this pull request undoes another one.
    pub fn is_revert(&self) -> bool {
        self.merge
            .relations
            .iter()
            .any(|relation| relation.kind == RelationKind::Reverts)
    }
}

/// How a pull request reached a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merge {
    /// The commit on the branch that brought the change: the merge commit, the squash commit, or the last of a
    /// rebased series.
    pub commit: CommitSha,
    /// The branch it landed on (`main`, `3.0.x`), the default branch where several hold it.
    pub branch: String,
    /// By which road.
    pub kind: MergeKind,
    /// What in git says so, strongest first; never empty.
    pub evidence: Vec<MergeEvidence>,
    /// What this pull request is to others: a backport of, a revert of ….
    pub relations: Vec<Relation>,
}

/// The roads by which a pull request lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeKind {
    /// A merge commit with the head as a parent.
    Merge,
    /// One new commit that holds the whole change.
    Squash,
    /// Its commits replayed on the branch.
    Rebase,
    /// The branch moved to the head itself, or contains it without a merge of its own.
    FastForward,
}

/// What in git shows the merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeEvidence {
    /// `Merge pull request #N from …` and the like in the subject.
    MergeSubject,
    /// A subject that ends in `(#N)`.
    SquashSubject,
    /// The head is an ancestor of the branch.
    Ancestry,
    /// The same change by patch-id.
    PatchId,
    /// The same author, author date and subject, commit by commit.
    CommitIdentity,
    /// The changelog or a message names it.
    Message,
}

/// What this pull request is to another change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Relation {
    /// The kind of tie.
    pub kind: RelationKind,
    /// The other pull request, by number in the same repository, where it is named.
    pub number: Option<u32>,
    /// The other change's commit, where that is named.
    pub commit: Option<CommitSha>,
    /// The words that say so.
    pub text: String,
}

/// Kinds of tie between pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RelationKind {
    /// The same change carried to another branch.
    BackportOf,
    /// `(cherry picked from commit …)`.
    CherryPickOf,
    /// Undoes the other.
    Reverts,
}

/// Which commit gave the diff its new side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiffSource {
    /// The pull request's head: the published three-dot diff.
    Head,
    /// The landed commit: used where the head's diff is not what landed.
    Landed,
}

/// What a candidate keeps of one of its commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitNote {
    /// Its object name.
    pub sha: CommitSha,
    /// First line of its message.
    pub subject: String,
    /// Author's name as written (no mail address: manifests are published).
    pub author: String,
    /// Author date.
    pub authored_at: Timestamp,
}

/// One reference to an issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct IssueReference {
    /// `owner/name` when the text names another repository, else `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The number.
    pub number: u32,
    /// Whether a close/fix/resolve keyword stands before it.
    pub closes: bool,
    /// Where it was read.
    pub found_in: FoundIn,
    /// The words as written (`fixes #1`).
    pub text: String,
}

/// Where a reference was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "place", content = "commit", rename_all = "kebab-case")]
pub enum FoundIn {
    /// The pull request's title.
    Title,
    /// The pull request's description.
    Body,
    /// The merge or squash commit's message.
    MergeMessage,
    /// One of its own commits' messages.
    CommitMessage(CommitSha),
    /// The forge's own link between a pull request and the issues that it closes.
    Linked,
}
