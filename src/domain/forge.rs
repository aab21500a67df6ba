//! What a forge (GitHub) says of repositories, pull requests, issues and releases.
//!
//! Every odd state has a value of its own: an account that was deleted is `None`, a fork that was deleted leaves no head
//! repository, a linked issue that must not be seen is counted, and an issue number that is no issue any longer has a
//! [`IssueFate`] that says what became of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{CommitSha, RepoName};

/// The account that the forge shows in the place of a deleted one.
pub const GHOST: &str = "ghost";

/// An issue (or pull request) by its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IssueId {
    /// The repository.
    pub repo: RepoName,
    /// The number in it.
    pub number: u32,
}

impl std::fmt::Display for IssueId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.repo, self.number)
    }
}

/// What a forge says of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryFacts {
    /// Its name today; another one than was asked for where it was renamed or moved.
    pub repo: RepoName,
    /// What it says of itself.
    pub description: Option<String>,
    /// Stars.
    pub stars: u64,
    /// The language that most of it is written in.
    pub language: Option<String>,
    /// Its licence as an SPDX id; `None` when there is none or the forge does not know it.
    pub licence: Option<String>,
    /// Its topics, sorted.
    pub topics: Vec<String>,
    /// Its default branch; `None` for an empty repository.
    pub default_branch: Option<String>,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether it is a fork.
    pub fork: bool,
    /// Pull requests, open and closed.
    pub pull_requests: u64,
    /// Those that were merged.
    pub merged: u64,
    /// Issues, open and closed.
    pub issues: u64,
    /// Files and folders at its root (or in `.github`) on the default branch that instruct coding agents, sorted.
    pub context_files: Vec<String>,
}

/// What a forge says of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullFacts {
    /// Its number.
    pub number: u32,
    /// Its title.
    pub title: String,
    /// Its description; empty when there is none.
    pub body: String,
    /// Who opened it; `None` when the account was deleted.
    pub author: Option<String>,
    /// Its labels, in the forge's order.
    pub labels: Vec<String>,
    /// Its milestone's title.
    pub milestone: Option<String>,
    /// `OPEN`, `CLOSED` or `MERGED`.
    pub state: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When something of it changed last.
    pub updated_at: Timestamp,
    /// When it was merged.
    pub merged_at: Option<Timestamp>,
    /// When its title or description was edited last.
    pub last_edited_at: Option<Timestamp>,
    /// The commit that merging made on the base branch.
    pub merge_commit: Option<CommitSha>,
    /// The branch it was meant for.
    pub base_ref: String,
    /// Where that branch was when it was last looked at; not the merge base.
    pub base_sha: Option<CommitSha>,
    /// The branch it came from.
    pub head_ref: String,
    /// Where that branch ended.
    pub head_sha: Option<CommitSha>,
    /// The repository it came from; `None` when that was deleted.
    pub head_repository: Option<RepoName>,
    /// What its reviewers decided: `APPROVED`, `CHANGES_REQUESTED`, `REVIEW_REQUIRED`; `None` when nobody had to.
    pub review: Option<String>,
    /// Whether its conversation is locked.
    pub locked: bool,
    /// Files that it changes, as the forge counts them.
    pub changed_files: u64,
    /// Issues that it closes, as the forge links them (by keyword or by hand); sorted.
    pub closes: Vec<IssueId>,
    /// Linked issues that are not in `closes`: in repositories that the token must not see, or beyond the first 100.
    pub hidden: u32,
}

/// What became of an issue's number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum IssueFate {
    /// It is an issue.
    Issue(Box<IssueFacts>),
    /// It is a pull request.
    PullRequest,
    /// It was moved to another repository and has another number there.
    Transferred {
        /// Where it is now; `None` where the token must not look.
        to: Option<IssueId>,
    },
    /// It was deleted.
    Deleted,
    /// Nothing that the token may see has that number.
    Absent,
}

/// Who closed an issue, by the forge's own links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Closers {
    /// It is an issue.
    Issue {
        /// Pull requests that closed it, or that are linked as closing it; sorted.
        pulls: Vec<IssueId>,
        /// Commits that closed it; sorted.
        commits: Vec<CommitSha>,
    },
    /// It is none here, or none any longer.
    Other {
        /// What became of its number.
        fate: IssueFate,
    },
}

impl Closers {
    /// What the number is, for a table.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Issue { pulls, commits } if pulls.is_empty() && commits.is_empty() => {
                "issue that nothing closed"
            }
            Self::Issue { .. } => "issue",
            Self::Other { fate } => match fate {
                IssueFate::PullRequest => "pull request",
                IssueFate::Transferred { .. } => "transferred",
                IssueFate::Deleted => "deleted",
                IssueFate::Issue(_) | IssueFate::Absent => "absent",
            },
        }
    }
}

/// What a forge says of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueFacts {
    /// Where it is today.
    pub id: IssueId,
    /// Its title.
    pub title: String,
    /// Its text; empty when there is none.
    pub body: String,
    /// Who opened it; `None` when the account was deleted.
    pub author: Option<String>,
    /// Its labels, in the forge's order.
    pub labels: Vec<String>,
    /// Whether it is closed.
    pub closed: bool,
    /// Whether its conversation is locked.
    pub locked: bool,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When something of it changed last.
    pub updated_at: Timestamp,
    /// When its text was edited last.
    pub last_edited_at: Option<Timestamp>,
    /// When its text was edited, oldest first (the last 100 times).
    pub edits: Vec<Timestamp>,
    /// Its comments, oldest first: all of them, or the first pages of them.
    pub comments: Vec<Comment>,
    /// How many comments it has.
    pub comments_total: u64,
    /// Where reading goes on when not all comments were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comments_next: Option<String>,
}

/// A comment on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Who wrote it; `None` when the account was deleted.
    pub author: Option<String>,
    /// Its text.
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was edited last.
    pub last_edited_at: Option<Timestamp>,
    /// Whether it is hidden as off-topic, spam, outdated and the like.
    pub minimized: bool,
}

/// A release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseFacts {
    /// The tag.
    pub tag: String,
    /// Its title.
    pub name: Option<String>,
    /// Its notes, in Markdown; empty when there are none.
    pub body: String,
    /// When it was published; `None` for a draft.
    pub published_at: Option<Timestamp>,
    /// Whether it is a pre-release.
    pub prerelease: bool,
}

impl IssueFacts {
    /// Whether every comment before this moment was read.
    pub fn knows_comments_before(&self, moment: Timestamp) -> bool {
        self.comments_next.is_none() || self.comments.last().is_some_and(|last| last.created_at >= moment)
    }

    /// Its comments from before this moment, oldest first.
    pub fn comments_before(&self, moment: Timestamp) -> impl Iterator<Item = &Comment> {
        self.comments
            .iter()
            .filter(move |comment| comment.created_at < moment)
    }

    /// When its text, or one of its comments from before this moment, was edited at or after it: what stands there now is
    /// not what stood there then. Sorted, each once.
    pub fn edited_since(&self, moment: Timestamp) -> Vec<Timestamp> {
        let own = self.edits.iter().copied().chain(self.last_edited_at);
        let comments = self
            .comments_before(moment)
            .filter_map(|comment| comment.last_edited_at);
        let mut edits: Vec<_> = own.chain(comments).filter(|edit| *edit >= moment).collect();
        edits.sort_unstable();
        edits.dedup();
        edits
    }
}
