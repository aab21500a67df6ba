//! What can be asked. Lists are asked in batches that shrink when GitHub is slow and grow again when it is not. What an
//! answer tells is handed over at once, also where more pages follow: a stop loses at most one request.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::budget::points;
use super::client::Client;
use super::error::GithubError;
use super::graphql::{self, Query};
use super::reply;
use super::retry::{BatchSize, back_off};
use crate::domain::forge::{IssueFacts, IssueFate, PullFacts, ReleaseFacts, RepositoryFacts};
use crate::domain::ids::RepoName;

/// A repository and the first page of its releases, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The repository.
    pub facts: RepositoryFacts,
    /// Its releases.
    pub releases: Vec<ReleaseFacts>,
    /// Where their next page begins.
    pub next: Option<String>,
}

/// How far a number was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<T> {
    /// This is known of it, which may tell itself that more pages follow.
    Known(T),
    /// GraphQL knows nothing of it; REST is asked next.
    Missing,
}

/// Numbers that earlier asking left half read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun<T> {
    /// Those of which pages were read, with what they tell.
    pub pages: Vec<(u32, T)>,
    /// Those that GraphQL knew nothing of.
    pub missing: Vec<u32>,
}

impl<T> Begun<T> {
    /// Nothing was begun.
    pub const fn nothing() -> Self {
        Self {
            pages: Vec::new(),
            missing: Vec::new(),
        }
    }
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
    /// A repository's facts and the first page of its releases.
    ///
    /// # Errors
    /// [`GithubError`].
    pub async fn repository(
        &self,
        repo: &RepoName,
        is_context: IsContext<'_>,
    ) -> Result<Opened, GithubError> {
        let query = graphql::repository(repo);
        let value = self.of_repo(repo, &query, true).await?;
        let facts = reply::repository(&value, is_context).map_err(|why| bad(&query, why))?;
        let (releases, next) = reply::releases(&value).map_err(|why| bad(&query, why))?;
        Ok(Opened {
            facts,
            releases,
            next,
        })
    }

    /// The next page of a repository's releases, and where the one after it begins.
    ///
    /// # Errors
    /// [`GithubError`].
    pub async fn releases(
        &self,
        repo: &RepoName,
        after: &str,
    ) -> Result<(Vec<ReleaseFacts>, Option<String>), GithubError> {
        let query = graphql::releases(repo, after);
        let value = self.of_repo(repo, &query, true).await?;
        let (more, next) = reply::releases(&value).map_err(|why| bad(&query, why))?;
        // A page that leads back to itself would be read for ever.
        Ok((more, next.filter(|next| next != after)))
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

    /// What numbers of a repository are: issues with all the comments that `enough` does not find to be enough. What
    /// earlier asking began is gone on with first. Each answer is handed over at once: an issue of which more comments are
    /// read comes again, with them. A number that GraphQL knows nothing of is looked up by REST.
    ///
    /// # Errors
    /// [`GithubError`], or what `keep` says; what was read before it was handed over.
    pub async fn issues<E: From<GithubError>>(
        &self,
        repo: &RepoName,
        numbers: &[u32],
        begun: Begun<Box<IssueFacts>>,
        enough: &(dyn Fn(&IssueFacts) -> bool + Sync),
        mut keep: impl FnMut(Vec<(u32, Step<IssueFate>)>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left: VecDeque<u32> = numbers.iter().copied().collect();
        self.look_up(repo, &begun.missing, &mut keep).await?;
        let lost = self
            .rest_of_comments(repo, begun.pages, true, enough, &mut keep)
            .await?;
        left.extend(lost);
        let mut size = BatchSize::new(self.settings.batch.min(ISSUES));
        while !left.is_empty() {
            let (value, query) = self
                .batch(repo, &mut left, &mut size, |some| graphql::issues(repo, some))
                .await?;
            let (mut read, mut missing, mut pages) = (Vec::new(), Vec::new(), Vec::new());
            for (number, fate) in reply::fates(&value).map_err(|why| bad(&query, why))? {
                let Some(fate) = fate else {
                    missing.push(number);
                    read.push((number, Step::Missing));
                    continue;
                };
                if let IssueFate::Issue(facts) = &fate
                    && facts.comments_next.is_some()
                {
                    pages.push((number, facts.clone()));
                }
                read.push((number, Step::Known(fate)));
            }
            keep(read)?;
            self.look_up(repo, &missing, &mut keep).await?;
            self.rest_of_comments(repo, pages, false, enough, &mut keep)
                .await?;
        }
        Ok(())
    }

    /// Looks up by REST what GraphQL knows nothing of, one after the other.
    async fn look_up<E: From<GithubError>>(
        &self,
        repo: &RepoName,
        missing: &[u32],
        keep: &mut impl FnMut(Vec<(u32, Step<IssueFate>)>) -> Result<(), E>,
    ) -> Result<(), E> {
        for number in missing {
            let fate = self.fate(repo, *number).await?;
            keep(vec![(*number, Step::Known(fate))])?;
        }
        Ok(())
    }

    /// Reads on in the comments of those issues that need it, a page of each at a time. Of `old` issues, whose first pages
    /// another run read, GitHub may not know the place any longer: gives those that have to be read from the start.
    async fn rest_of_comments<E: From<GithubError>>(
        &self,
        repo: &RepoName,
        mut issues: Vec<(u32, Box<IssueFacts>)>,
        old: bool,
        enough: &(dyn Fn(&IssueFacts) -> bool + Sync),
        keep: &mut impl FnMut(Vec<(u32, Step<IssueFate>)>) -> Result<(), E>,
    ) -> Result<Vec<u32>, E> {
        let mut lost = Vec::new();
        let mut size = BatchSize::new(self.settings.batch.min(ISSUES));
        let mut slow = 0;
        loop {
            issues.retain(|(_, facts)| facts.comments_next.is_some() && !enough(facts));
            let next = issues.iter().take(size.now());
            let pages: Vec<(u32, String)> = next
                .filter_map(|(number, facts)| Some((*number, facts.comments_next.clone()?)))
                .collect();
            if pages.is_empty() {
                return Ok(lost);
            }
            let query = graphql::comments(repo, &pages);
            let value = match self.of_repo(repo, &query, pages.len() == 1).await {
                Err(GithubError::Slow { .. }) => {
                    while size.now() >= pages.len() && size.shrink() {}
                    self.pause(back_off(slow, self.noise())).await?;
                    slow += 1;
                    continue;
                }
                Err(GithubError::Refused { .. }) if old => {
                    lost.extend(pages.iter().map(|(number, _)| *number));
                    issues.drain(..pages.len());
                    continue;
                }
                other => other?,
            };
            size.grow();
            let read = reply::comment_pages(&value).map_err(|why| bad(&query, why))?;
            let mut read: BTreeMap<u32, Option<reply::CommentPage>> = read.into_iter().collect();
            let (mut kept, mut gone) = (Vec::new(), Vec::new());
            for (number, facts) in issues.iter_mut().take(pages.len()) {
                let Some((total, comments, next)) = read.remove(&*number).flatten() else {
                    // It was there a moment ago.
                    facts.comments_next = None;
                    gone.push(*number);
                    kept.push((*number, Step::Missing));
                    continue;
                };
                facts.comments.extend(comments);
                facts.comments_total = total;
                // A page that leads back to itself would be read for ever.
                facts.comments_next = next.filter(|next| Some(next) != facts.comments_next.as_ref());
                kept.push((*number, Step::Known(IssueFate::Issue(facts.clone()))));
            }
            keep(kept)?;
            self.look_up(repo, &gone, keep).await?;
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
