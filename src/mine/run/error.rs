//! What can go wrong with mining.

use crate::blobs::BlobError;
use crate::git::GitError;
use crate::github::GithubError;
use crate::store::StoreError;

/// A mining that failed. Pull requests that make no candidate are decisions, not errors.
#[derive(Debug, thiserror::Error)]
pub enum MineError {
    /// The mirror.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The ledger.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The diffs.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// GitHub.
    #[error(transparent)]
    Github(#[from] GithubError),
    /// There is nothing at the mirror's path.
    #[error("find the mirror `{mirror}`: nothing is there")]
    NoMirror {
        /// The mirror as given.
        mirror: String,
    },
    /// Nothing says which repository the mirror is of.
    #[error("tell which repository `{mirror}` is a mirror of")]
    NoName {
        /// The mirror as given.
        mirror: String,
    },
    /// The mirror has no pull requests.
    #[error("find pull requests in `{mirror}`: it has no `refs/pull/*/head`")]
    NoPullRequests {
        /// The mirror.
        mirror: String,
    },
    /// The mirror's `HEAD` names no branch that is there.
    #[error("find the default branch of `{mirror}`: its `HEAD` names a branch that is not there")]
    NoDefaultBranch {
        /// The mirror.
        mirror: String,
    },
    /// Where an earlier reading stopped, as recorded, makes no sense.
    #[error("read where mining of `{repo}` stopped: {source}")]
    Page {
        /// The repository.
        repo: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A recipe's glob does not parse.
    #[error("read the glob `{glob}` in `notes.files`: {source}")]
    Glob {
        /// The glob as written.
        glob: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// A worker thread ended before its time.
    #[error("mine `{repo}`: a worker ended before its time")]
    Worker {
        /// The repository.
        repo: String,
    },
}

impl MineError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Git(error) => error.hints(),
            Self::Store(error) => error.hints(),
            Self::Blob(error) => error.hints(),
            Self::Github(error) => error.hints(),
            Self::NoMirror { .. } => {
                vec!["give the path of a git mirror, or an address that git clones".into()]
            }
            Self::NoName { .. } => vec!["name it: `--repo OWNER/NAME`".into()],
            Self::NoPullRequests { .. } => vec![
                "in the mirror: `git fetch origin '+refs/pull/*/head:refs/pull/*/head'`".into(),
                "or give the repository's address, and let quarry clone it".into(),
            ],
            Self::NoDefaultBranch { .. } => {
                vec!["in the mirror: `git symbolic-ref HEAD refs/heads/<branch>`".into()]
            }
            Self::Page { .. } => vec!["mine it again from the start: `quarry mine --again`".into()],
            Self::Glob { .. } => vec!["globs match whole paths: `docs/news/*.rst`".into()],
            Self::Worker { .. } => vec!["run the same command again; what was recorded is kept".into()],
        }
    }
}
