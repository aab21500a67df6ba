//! What the workspace keeps of a forge's replies: the place in the ledger, the words in a blob.
//!
//! A reply that cannot be read any longer (its blob was removed, an older version wrote it) counts for nothing: it is asked
//! again.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Context;
use crate::blobs::BlobError;
use crate::domain::candidate::Candidate;
use crate::domain::enriched::{KnownPull, enriched};
use crate::domain::forge::{Closers, IssueFate, IssueId, ReleaseFacts, RepositoryFacts};
use crate::domain::ids::{CandidateId, RepoName};
use crate::store::{Reply, StoreError};

/// What is kept under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic<'a> {
    /// A pull request.
    Pull(&'a CandidateId),
    /// An issue's number.
    Issue(&'a IssueId),
    /// An issue's number that must be looked up in another way: the first one knew nothing of it.
    Missing(&'a IssueId),
    /// Who closed an issue.
    Closers(&'a IssueId),
    /// The first pages of what tells who closed an issue.
    ClosersPart(&'a IssueId),
    /// A repository.
    Repository(&'a RepoName),
    /// Its releases.
    Releases(&'a RepoName),
    /// The first pages of its releases.
    ReleasesPart(&'a RepoName),
    /// What had changed in it when it was last looked at.
    Changes(&'a RepoName),
}

impl Topic<'_> {
    /// The name; forges take no notice of the letters' case in repositories' names.
    pub fn name(&self) -> String {
        match self {
            Self::Pull(id) => format!("pull:{}#{}", lower(&id.repo), id.number),
            Self::Issue(id) => format!("issue:{}#{}", lower(&id.repo), id.number),
            Self::Missing(id) => format!("missing:{}#{}", lower(&id.repo), id.number),
            Self::Closers(id) => format!("closers:{}#{}", lower(&id.repo), id.number),
            Self::ClosersPart(id) => format!("closers-part:{}#{}", lower(&id.repo), id.number),
            Self::Repository(repo) => format!("repository:{}", lower(repo)),
            Self::Releases(repo) => format!("releases:{}", lower(repo)),
            Self::ReleasesPart(repo) => format!("releases-part:{}", lower(repo)),
            Self::Changes(repo) => format!("changes:{}", lower(repo)),
        }
    }
}

fn lower(repo: &RepoName) -> String {
    repo.to_string().to_ascii_lowercase()
}

/// What the workspace knows from a forge of one repository's pull requests, and of every issue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Knowledge {
    pulls: BTreeMap<String, Option<KnownPull>>,
    issues: BTreeMap<String, IssueFate>,
    repositories: BTreeMap<String, RepositoryFacts>,
}

impl Knowledge {
    /// Every pull request that the forge showed.
    pub fn pulls(&self) -> impl Iterator<Item = &KnownPull> {
        self.pulls.values().flatten()
    }

    /// What is known of a pull request.
    pub fn pull(&self, id: &CandidateId) -> Option<&KnownPull> {
        self.pulls.get(&Topic::Pull(id).name())?.as_ref()
    }

    /// Whether a pull request was asked: also of one that the forge does not show something is known.
    pub fn asked(&self, id: &CandidateId) -> bool {
        self.pulls.contains_key(&Topic::Pull(id).name())
    }

    /// What became of an issue's number.
    pub fn issue(&self, id: &IssueId) -> Option<&IssueFate> {
        self.issues.get(&Topic::Issue(id).name())
    }

    /// What is known of a repository.
    pub fn repository(&self, repo: &RepoName) -> Option<&RepositoryFacts> {
        self.repositories.get(&Topic::Repository(repo).name())
    }

    /// What the forge calls a repository today, where it was asked.
    pub fn today(&self, repo: &RepoName) -> Option<&RepoName> {
        self.repository(repo).map(|facts| &facts.repo)
    }

    /// The candidate with what is known of it; as it is, where nothing is.
    #[must_use]
    pub fn enrich(&self, candidate: Candidate) -> Candidate {
        let Some(pull) = self.pull(&candidate.id) else {
            return candidate;
        };
        let repository = self.repository(&candidate.id.repo).cloned();
        enriched(candidate, pull.clone(), repository, &|id| self.issue(id).cloned())
    }

    /// Whether nothing is known of any pull request.
    pub fn is_empty(&self) -> bool {
        self.pulls.is_empty()
    }
}

impl Context {
    /// Puts what a forge said into a blob; the reply's place is for [`put_replies`](crate::store::Store::put_replies).
    ///
    /// # Errors
    /// [`BlobError`] when the blob cannot be written.
    pub fn reply(
        &self,
        topic: Topic<'_>,
        updated_at: Option<String>,
        value: &impl Serialize,
    ) -> Result<Reply, BlobError> {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        Ok(Reply {
            name: topic.name(),
            updated_at,
            etag: None,
            reply: self.blobs.put(&bytes)?,
        })
    }

    /// Whether anything is kept under this name.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn is_kept(&self, topic: Topic<'_>) -> Result<bool, StoreError> {
        Ok(self.store.reply(&topic.name())?.is_some())
    }

    /// What a forge said of a topic, if it was asked.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn said<T: DeserializeOwned>(&self, topic: Topic<'_>) -> Result<Option<(Reply, T)>, StoreError> {
        let reply = self.store.reply(&topic.name())?;
        Ok(reply.and_then(|reply| {
            let value = self.read(&reply)?;
            Some((reply, value))
        }))
    }

    fn read<T: DeserializeOwned>(&self, reply: &Reply) -> Option<T> {
        serde_json::from_slice(&self.blobs.get(&reply.reply).ok()?).ok()
    }

    /// What is known of these repositories' pull requests, and of all issues (of all repositories, for `None`).
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn knowledge(&self, repo: Option<&RepoName>) -> Result<Knowledge, StoreError> {
        let of = repo.map_or_else(String::new, |repo| format!("{}#", lower(repo)));
        let pulls = self.all(&format!("pull:{of}"))?;
        if pulls.is_empty() {
            return Ok(Knowledge::default());
        }
        Ok(Knowledge {
            pulls,
            // Issues of any repository: a pull request may close another's.
            issues: self.all("issue:")?,
            repositories: self.all("repository:")?,
        })
    }

    fn all<T: DeserializeOwned>(&self, prefix: &str) -> Result<BTreeMap<String, T>, StoreError> {
        let replies = self.store.replies(prefix)?;
        let read = replies.into_iter().filter_map(|reply| {
            let value = self.read(&reply)?;
            Some((reply.name, value))
        });
        Ok(read.collect())
    }

    /// A repository's releases as a forge tells them, newest first; `None` when it was not asked.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn releases(&self, repo: &RepoName) -> Result<Option<Vec<ReleaseFacts>>, StoreError> {
        Ok(self.said(Topic::Releases(repo))?.map(|(_, releases)| releases))
    }

    /// Who closed issues of a repository, by their numbers, as far as it was asked.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn closers(&self, repo: &RepoName) -> Result<BTreeMap<u32, Closers>, StoreError> {
        let all: BTreeMap<String, Closers> = self.all(&format!("closers:{}#", lower(repo)))?;
        let by_number = all.into_iter().filter_map(|(name, told)| {
            let (_, number) = name.rsplit_once('#')?;
            Some((number.parse().ok()?, told))
        });
        Ok(by_number.collect())
    }

    /// Every candidate of a repository (of all, for `None`), by repository and number, with what a forge says of it.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn candidates(&self, repo: Option<&RepoName>) -> Result<Vec<Candidate>, StoreError> {
        let candidates = self.store.candidates(repo)?;
        let knowledge = self.knowledge(repo)?;
        if knowledge.is_empty() {
            return Ok(candidates);
        }
        Ok(candidates
            .into_iter()
            .map(|candidate| knowledge.enrich(candidate))
            .collect())
    }

    /// One candidate, if mining found it merged, with what a forge says of it.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn candidate(&self, id: &CandidateId) -> Result<Option<Candidate>, StoreError> {
        let Some(candidate) = self.store.candidate(id)? else {
            return Ok(None);
        };
        if self.store.reply(&Topic::Pull(id).name())?.is_none() {
            return Ok(Some(candidate));
        }
        Ok(Some(self.knowledge(Some(&id.repo))?.enrich(candidate)))
    }
}
