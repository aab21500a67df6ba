//! How a person names what the ledger keeps a story of, and what that is there.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::error::PipelineError;
use crate::domain::ids::{BadId, CandidateId, CommitSha, RepoName};
use crate::workspace::Context;

/// An abbreviation shorter than this says too little.
const SHORTEST: usize = 4;

/// A name as it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// A pull request: `owner/name#N`.
    Pull(CandidateId),
    /// A commit: `owner/name@` and its name or the beginning of that, in hex digits.
    Commit(RepoName, String),
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pull(id) => write!(f, "{id}"),
            Self::Commit(repo, commit) => write!(f, "{repo}@{commit}"),
        }
    }
}

impl FromStr for Named {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let Some((repo, commit)) = text.split_once('@') else {
            return Ok(Self::Pull(text.parse()?));
        };
        let commit = commit.to_ascii_lowercase();
        let is_hex = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || !(SHORTEST..=40).contains(&commit.len()) {
            return Err(BadId {
                text: text.to_owned(),
                what: "a repository and a commit, such as `psf/requests@d16bfe05`",
            });
        }
        Ok(Self::Commit(repo.parse()?, commit))
    }
}

/// What is named so in the ledger, as the ledger spells it. A commit is known by itself, or as the base of pull requests;
/// then it goes by the one whose story tells of something tried, of several the first.
///
/// # Errors
/// [`PipelineError::NoCommit`] when no commit or more than one is named so, and when the ledger cannot be read.
pub fn find(context: &Context, named: &Named) -> Result<CandidateId, PipelineError> {
    let store = &context.store;
    let (repo, commit) = match named {
        Named::Pull(id) => return Ok(id.of(store.spelled(&id.repo)?)),
        Named::Commit(repo, commit) => (store.spelled(repo)?, commit),
    };
    let mut found: BTreeMap<CommitSha, Vec<CandidateId>> = BTreeMap::new();
    let is_it = |sha: &CommitSha| sha.to_string().starts_with(commit.as_str());
    let tried = store.tried()?;
    for id in tried.iter().filter(|id| id.repo == repo) {
        if let Some(sha) = id.commit().filter(is_it) {
            found.entry(sha).or_default().push(id.clone());
        }
    }
    for candidate in store.candidates(Some(&repo))? {
        if is_it(&candidate.base_commit) {
            let ids = found.entry(candidate.base_commit).or_default();
            ids.push(candidate.id);
        }
    }
    let none = |hint: String| PipelineError::NoCommit {
        what: format!("{repo}@{commit}"),
        hint,
    };
    let count = found.len();
    match (found.into_values().next(), count) {
        (Some(ids), 1) => {
            let first = ids.iter().find(|id| tried.contains(id)).or(ids.first());
            first.cloned().ok_or_else(|| none(String::new()))
        }
        (Some(_), more) => Err(none(format!(
            "the names of {more} commits begin so: write more of its digits"
        ))),
        (None, _) => Err(none(format!(
            "`quarry build {repo}@{commit} --mirror PATH` builds its environment"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_and_a_commit_have_names() {
        let read = |text: &str| text.parse::<Named>().map(|named| named.to_string());
        assert_eq!(read("a/b#12").unwrap(), "a/b#12");
        assert_eq!(read("a/b@D16BFE05").unwrap(), "a/b@d16bfe05");
        for wrong in ["a/b", "a/b#x", "a/b@d16", "a/b@main", "b@d16bfe05", "a/b@", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
