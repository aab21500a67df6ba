//! What can be asked. Lists are asked in batches that shrink when GitHub is slow and grow again when it is not; each batch
//! is handed over when it is whole, so that a stop loses at most one.

use std::collections::VecDeque;

use serde_json::Value;

use super::budget::points;
use super::client::Client;
use super::error::GithubError;
use super::graphql::{self, Query};
use super::reply;
use super::retry::{BatchSize, back_off};
use crate::domain::forge::{IssueFacts, IssueFate, PullFacts, ReleaseFacts, RepositoryFacts};
use crate::domain::ids::RepoName;

/// A repository and its releases, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The repository.
    pub facts: RepositoryFacts,
    /// Its releases.
    pub releases: Vec<ReleaseFacts>,
}

/// Repositories that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// How many there are in all; GitHub shows 1,000 of them at most.
    pub total: u64,
    /// The first of them.
    pub repositories: Vec<RepositoryFacts>,
}

/// Tells whether a path at the root, or in `.github`, instructs coding agents.
pub type IsContext<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// How many issues are asked for at once, at most: their comments make answers long.
const ISSUES: usize = 40;

/// How many repositories of a search are asked for at once.
const SEARCHED: u32 = 25;

/// What so many pull requests and issues cost in batches of this size, when GitHub is not slow: requests and points.
pub fn cost(pulls: usize, issues: usize, batch: usize) -> (u64, u64) {
    let of = |count: usize, size: usize, per_one: u64| {
        let (size, last) = (size.max(1), count % size.max(1));
        let full = (count / size) as u64;
        let rest = u64::from(last > 0);
        let in_points = full * points(per_one * size as u64) + rest * points(per_one * last as u64);
        (full + rest, in_points)
    };
    let (first, second) = (
        of(pulls, batch, graphql::PULL_CONNECTIONS),
        of(issues, batch.min(ISSUES), graphql::ISSUE_CONNECTIONS),
    );
    (first.0 + second.0, first.1 + second.1)
}

impl Client {
    /// A repository's facts and all its releases.
    ///
    /// # Errors
    /// [`GithubError`].
    pub async fn repository(&self, repo: &RepoName, is_context: IsContext<'_>) -> Result<Whole, GithubError> {
        let query = graphql::repository(repo);
        let value = self.of_repo(repo, &query, true).await?;
        let facts = reply::repository(&value, is_context).map_err(|why| bad(&query, why))?;
        let (mut releases, mut next) = reply::releases(&value).map_err(|why| bad(&query, why))?;
        while let Some(after) = next {
            let query = graphql::releases(repo, &after);
            let value = self.of_repo(repo, &query, true).await?;
            let (more, then) = reply::releases(&value).map_err(|why| bad(&query, why))?;
            releases.extend(more);
            next = then;
        }
        Ok(Whole { facts, releases })
    }

    /// The first `most` repositories that GitHub's search finds for these words.
    ///
    /// # Errors
    /// [`GithubError`].
    pub async fn search(
        &self,
        words: &str,
        most: usize,
        is_context: IsContext<'_>,
    ) -> Result<Found, GithubError> {
        let mut found = Found {
            total: 0,
            repositories: vec![],
        };
        let mut after: Option<String> = None;
        loop {
            let wanted = u32::try_from(most - found.repositories.len()).unwrap_or(SEARCHED);
            let query = graphql::search(words, wanted.clamp(1, SEARCHED), after.as_deref());
            let answer = self.query(&query, true).await?;
            let page = &answer.data["search"];
            found.total = page["repositoryCount"].as_u64().unwrap_or_default();
            for node in page["nodes"].as_array().into_iter().flatten() {
                // A repository that must not be seen leaves a hole.
                if node.as_object().is_some_and(|node| !node.is_empty()) {
                    let facts = reply::repository(node, is_context).map_err(|why| bad(&query, why))?;
                    found.repositories.push(facts);
                }
            }
            let more = page["pageInfo"]["hasNextPage"] == true && found.repositories.len() < most;
            after = page["pageInfo"]["endCursor"].as_str().map(str::to_owned);
            if !more || after.is_none() {
                found.repositories.truncate(most);
                return Ok(found);
            }
        }
    }

    /// Pull requests of a repository, handed over batch by batch; `None` for one that is not there.
    ///
    /// # Errors
    /// [`GithubError`], or what `keep` says; batches before it were handed over.
    pub async fn pulls<E: From<GithubError>>(
        &self,
        repo: &RepoName,
        numbers: &[u32],
        mut keep: impl FnMut(Vec<(u32, Option<PullFacts>)>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left: VecDeque<u32> = numbers.iter().copied().collect();
        let mut size = BatchSize::new(self.settings.batch);
        while !left.is_empty() {
            let (value, query) = self
                .batch(repo, &mut left, &mut size, |some| graphql::pulls(repo, some))
                .await?;
            keep(reply::pulls(&value).map_err(|why| bad(&query, why))?)?;
        }
        Ok(())
    }

    /// What numbers of a repository are, handed over batch by batch: issues with all the comments that `enough` does not find
    /// to be enough. A number that GraphQL knows nothing of is looked up by REST.
    ///
    /// # Errors
    /// [`GithubError`], or what `keep` says; batches before it were handed over.
    pub async fn issues<E: From<GithubError>>(
        &self,
        repo: &RepoName,
        numbers: &[u32],
        enough: &(dyn Fn(&IssueFacts) -> bool + Sync),
        mut keep: impl FnMut(Vec<(u32, IssueFate)>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left: VecDeque<u32> = numbers.iter().copied().collect();
        let mut size = BatchSize::new(self.settings.batch.min(ISSUES));
        while !left.is_empty() {
            let (value, query) = self
                .batch(repo, &mut left, &mut size, |some| graphql::issues(repo, some))
                .await?;
            let mut whole = Vec::new();
            for (number, fate) in reply::fates(&value).map_err(|why| bad(&query, why))? {
                let fate = match fate {
                    Some(fate) => fate,
                    None => self.fate(repo, number).await?,
                };
                whole.push((number, fate));
            }
            self.rest_of_comments(repo, &mut whole, enough).await?;
            keep(whole)?;
        }
        Ok(())
    }

    /// Reads on in the comments of those issues that need it, a page of each at a time.
    async fn rest_of_comments(
        &self,
        repo: &RepoName,
        issues: &mut [(u32, IssueFate)],
        enough: &(dyn Fn(&IssueFacts) -> bool + Sync),
    ) -> Result<(), GithubError> {
        loop {
            let pages: Vec<(u32, String)> = issues
                .iter()
                .filter_map(|(number, fate)| match fate {
                    IssueFate::Issue(facts) if !enough(facts) => {
                        Some((*number, facts.comments_next.clone()?))
                    }
                    _ => None,
                })
                .collect();
            if pages.is_empty() {
                return Ok(());
            }
            let query = graphql::comments(repo, &pages);
            let value = self.of_repo(repo, &query, true).await?;
            let mut read = reply::comment_pages(&value).map_err(|why| bad(&query, why))?;
            for (number, fate) in issues.iter_mut() {
                let Some(place) = read.iter().position(|(of, _)| of == number) else {
                    continue;
                };
                let (_, (total, comments, next)) = read.swap_remove(place);
                if let IssueFate::Issue(facts) = fate {
                    facts.comments.extend(comments);
                    facts.comments_total = total;
                    // A page that leads back to itself would be read for ever.
                    facts.comments_next = next.filter(|next| Some(next) != facts.comments_next.as_ref());
                }
            }
        }
    }

    /// The next batch of a list, by one query: fewer at once when GitHub is slow.
    pub(super) async fn batch(
        &self,
        repo: &RepoName,
        left: &mut VecDeque<u32>,
        size: &mut BatchSize,
        query_for: impl Fn(&[u32]) -> Query,
    ) -> Result<(Value, Query), GithubError> {
        let mut slow = 0;
        loop {
            let some: Vec<u32> = left.iter().copied().take(size.now()).collect();
            let query = query_for(&some);
            match self.of_repo(repo, &query, some.len() == 1).await {
                Err(GithubError::Slow { .. }) => {
                    // A batch smaller than the size must shrink too.
                    while size.now() >= some.len() && size.shrink() {}
                    self.pause(back_off(slow, self.noise())).await?;
                    slow += 1;
                }
                Err(error) => return Err(error),
                Ok(value) => {
                    left.drain(..some.len());
                    size.grow();
                    return Ok((value, query));
                }
            }
        }
    }

    /// The `repository` of an answer.
    pub(super) async fn of_repo(
        &self,
        repo: &RepoName,
        query: &Query,
        patient: bool,
    ) -> Result<Value, GithubError> {
        let mut answer = self.query(query, patient).await?;
        let value = answer.data["repository"].take();
        if value.is_null() {
            return Err(GithubError::NoRepository { repo: repo.clone() });
        }
        Ok(value)
    }
}

pub(super) fn bad(query: &Query, why: String) -> GithubError {
    GithubError::Answer {
        what: query.what.clone(),
        why,
    }
}
