//! What only the REST API answers.
//!
//! - What became of an issue's number that GraphQL knows nothing of: REST tells a move (301) from a deletion (410) from what
//!   never was or must not be seen (404) ("Get an issue").
//! - What changed since: one list has issues and pull requests alike, and an unchanged one costs nothing (`ETag`, 304).

use jiff::Timestamp;
use serde::Deserialize;

use super::client::Client;
use super::error::GithubError;
use crate::domain::forge::{IssueFate, IssueId};
use crate::domain::ids::RepoName;

/// Redirections that are followed, at most.
const HOPS: usize = 3;

/// A page of what changed in a repository's issues and pull requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// Nothing since the `ETag`.
    Nothing,
    /// These numbers, with when each changed last, newest first.
    Some {
        /// The page's `ETag`: the first one's is for the next time.
        etag: Option<String>,
        /// When the first on the page changed; `None` where there is nothing.
        newest: Option<Timestamp>,
        /// What changed.
        changed: Vec<(u32, Timestamp)>,
        /// Whether another page follows.
        more: bool,
    },
}

#[derive(Deserialize)]
struct Place {
    number: u32,
    repository_url: String,
}

#[derive(Deserialize)]
struct Changed {
    number: u32,
    updated_at: Timestamp,
}

/// One of a token's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// How much it may spend in an hour.
    pub limit: u64,
    /// What is left of it.
    pub remaining: u64,
    /// Until when.
    pub resets_at: Timestamp,
}

/// What is left of a token's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Points of GraphQL.
    pub points: RateLimit,
    /// Requests of REST.
    pub requests: RateLimit,
}

#[derive(Deserialize)]
struct Resources {
    resources: Both,
}

#[derive(Deserialize)]
struct Both {
    core: One,
    graphql: One,
}

#[derive(Deserialize)]
struct One {
    limit: u64,
    remaining: u64,
    reset: i64,
}

impl One {
    fn read(&self) -> RateLimit {
        RateLimit {
            limit: self.limit,
            remaining: self.remaining,
            resets_at: Timestamp::from_second(self.reset).unwrap_or_default(),
        }
    }
}

impl Client {
    /// What is left of the token's limits, which asking does not count ("Get rate limit status for the authenticated user");
    /// `None` where the server has none.
    ///
    /// # Errors
    /// [`GithubError`].
    pub async fn limits(&self) -> Result<Option<Limits>, GithubError> {
        let what = "the token's limits";
        let (_, (status, body)) = self.follow("/rate_limit", what, None).await?;
        if status == 404 {
            return Ok(None);
        }
        let Resources { resources } = parse(what, &body)?;
        Ok(Some(Limits {
            points: resources.graphql.read(),
            requests: resources.core.read(),
        }))
    }

    /// What became of an issue's number that GraphQL knows nothing of.
    pub(super) async fn fate(&self, repo: &RepoName, number: u32) -> Result<IssueFate, GithubError> {
        let what = format!("issue {repo}#{number}");
        let path = format!("/repos/{repo}/issues/{number}");
        let (status, body) = self.follow(&path, &what, None).await.map(|(_, end)| end)?;
        Ok(match status {
            410 => IssueFate::Deleted,
            404 => IssueFate::Absent,
            301 | 302 | 307 | 308 => IssueFate::Transferred { to: None },
            _ => {
                let place: Place = parse(&what, &body)?;
                match moved_to(&place) {
                    Some(id) if id.number == number && id.repo.is(repo) => IssueFate::Absent,
                    to => IssueFate::Transferred { to },
                }
            }
        })
    }

    /// A page (from 1) of what changed in a repository since `since` (everything, for `None`), unless nothing did since
    /// `etag`.
    ///
    /// # Errors
    /// [`GithubError`].
    pub async fn changes(
        &self,
        repo: &RepoName,
        page: u32,
        etag: Option<&str>,
        since: Option<Timestamp>,
    ) -> Result<Changes, GithubError> {
        let what = format!("what changed in {repo}");
        let path =
            format!("/repos/{repo}/issues?state=all&sort=updated&direction=desc&per_page=100&page={page}");
        let (etag, (status, body)) = self.follow(&path, &what, etag).await?;
        match status {
            304 => return Ok(Changes::Nothing),
            404 | 410 => return Err(GithubError::NoRepository { repo: repo.clone() }),
            _ => {}
        }
        let list: Vec<Changed> = parse(&what, &body)?;
        let older = |moment: Timestamp| since.is_some_and(|since| moment < since);
        let reached = list.last().is_none_or(|last| older(last.updated_at));
        let (newest, more) = (
            list.first().map(|first| first.updated_at),
            list.len() == 100 && !reached,
        );
        let newer = list.into_iter().filter(|one| !older(one.updated_at));
        Ok(Changes::Some {
            etag,
            newest,
            changed: newer.map(|one| (one.number, one.updated_at)).collect(),
            more,
        })
    }

    /// Gets a path and follows where it moved, inside this API. Gives the `ETag`, the last status and the body.
    async fn follow(
        &self,
        path: &str,
        what: &str,
        etag: Option<&str>,
    ) -> Result<(Option<String>, (u16, String)), GithubError> {
        let mut path = path.to_owned();
        for hop in 0..HOPS {
            let (head, body) = self.get(&path, what, etag, hop > 0).await?;
            let moved = matches!(head.status, 301 | 302 | 307 | 308);
            match head
                .location
                .as_deref()
                .and_then(|location| self.path_of(location))
            {
                Some(next) if moved => path = next,
                _ => return Ok((head.etag, (head.status, body))),
            }
        }
        Err(GithubError::Answer {
            what: what.to_owned(),
            why: format!("it leads on and on, and last to `{path}`"),
        })
    }
}

fn moved_to(place: &Place) -> Option<IssueId> {
    let mut parts = place.repository_url.rsplit('/');
    let (name, owner) = (parts.next()?, parts.next()?);
    Some(IssueId {
        repo: format!("{owner}/{name}").parse().ok()?,
        number: place.number,
    })
}

fn parse<T: for<'de> Deserialize<'de>>(what: &str, body: &str) -> Result<T, GithubError> {
    serde_json::from_str(body).map_err(|error| GithubError::Answer {
        what: what.to_owned(),
        why: error.to_string(),
    })
}
