//! What GraphQL answers, read into the domain's values. Data may come beside errors: what an error says of one alias is that
//! alias's own result.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::retry::line;
use crate::domain::forge::{
    Comment, IssueFacts, IssueFate, IssueId, PullFacts, ReleaseFacts, RepositoryFacts,
};
use crate::domain::ids::RepoName;

/// An answer that can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What it holds.
    pub data: Value,
    /// What it cost, and what is left.
    pub limit: Option<Limit>,
}

/// What an answer says of the token's points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What the query cost.
    pub cost: u64,
    /// What is left.
    pub remaining: u64,
    /// Until when.
    pub resets_at: Timestamp,
}

/// An answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bad {
    /// The token's points are used up.
    Exhausted,
    /// GitHub gave up on the query.
    Slow,
    /// It is no JSON, or not all of it came.
    Unreadable(String),
    /// GitHub will not answer it.
    Refused(String),
}

#[derive(Deserialize)]
struct Outer {
    #[serde(default)]
    data: Value,
    #[serde(default)]
    errors: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    message: String,
}

/// Reads an answer's outer side.
///
/// # Errors
/// [`Bad`] when there is nothing to be read. Nodes that are not there or must not be seen are no error: they are `null`.
pub fn answer(body: &str) -> Result<Answer, Bad> {
    let outer: Outer = serde_json::from_str(body).map_err(|error| Bad::Unreadable(error.to_string()))?;
    for fault in &outer.errors {
        match fault.kind.as_deref() {
            // Said of single nodes, beside the others' data.
            Some("NOT_FOUND" | "FORBIDDEN" | "SAML_FAILURE" | "INSUFFICIENT_SCOPES") => {}
            Some("RATE_LIMITED" | "RATE_LIMIT") => return Err(Bad::Exhausted),
            Some(
                "RESOURCE_LIMITS_EXCEEDED" | "MAX_NODE_LIMIT_EXCEEDED" | "SERVICE_UNAVAILABLE" | "INTERNAL",
            ) => {
                return Err(Bad::Slow);
            }
            None if is_time_out(&fault.message) => return Err(Bad::Slow),
            _ => return Err(Bad::Refused(line(&fault.message))),
        }
    }
    if !outer.data.is_object() {
        return Err(Bad::Unreadable("it has no data".to_owned()));
    }
    Ok(Answer {
        limit: limit(&outer.data["rateLimit"]),
        data: outer.data,
    })
}

/// GitHub's words for a query that took more than ten seconds, or that failed inside.
fn is_time_out(message: &str) -> bool {
    let said = message.to_ascii_lowercase();
    said.contains("timeout") || said.contains("timedout") || said.contains("something went wrong")
}

fn limit(value: &Value) -> Option<Limit> {
    Some(Limit {
        cost: value["cost"].as_u64()?,
        remaining: value["remaining"].as_u64()?,
        resets_at: value["resetAt"].as_str()?.parse().ok()?,
    })
}

/// Reads a field's value; `null` and what is not there are the type's own affair.
pub(super) fn read<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| error.to_string())
}

/// The aliases of a kind (`p`, `i`) with their numbers and values.
pub(super) fn aliases(repository: &Value, letter: char) -> BTreeMap<u32, &Value> {
    let fields = repository.as_object().into_iter().flatten();
    fields
        .filter_map(|(name, value)| Some((name.strip_prefix(letter)?.parse().ok()?, value)))
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Login {
    login: String,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Titled {
    title: String,
}

#[derive(Deserialize)]
struct Oid {
    oid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FullName {
    pub(super) name_with_owner: String,
}

/// A list of which single elements may be withheld.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Connection<T> {
    #[serde(default)]
    total_count: u64,
    #[serde(default)]
    page_info: Option<PageInfo>,
    nodes: Option<Vec<Option<T>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

impl<T> Connection<T> {
    pub(super) fn next(&self) -> Option<String> {
        let page = self.page_info.as_ref().filter(|page| page.has_next_page)?;
        page.end_cursor.clone()
    }

    pub(super) fn seen(self) -> impl Iterator<Item = T> {
        self.nodes.into_iter().flatten().flatten()
    }
}

fn names(labels: Option<Connection<Named>>) -> Vec<String> {
    labels
        .into_iter()
        .flat_map(Connection::seen)
        .map(|label| label.name)
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pull {
    number: u32,
    title: String,
    body: String,
    state: String,
    locked: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    merged_at: Option<Timestamp>,
    last_edited_at: Option<Timestamp>,
    author: Option<Login>,
    milestone: Option<Titled>,
    merge_commit: Option<Oid>,
    base_ref_name: String,
    base_ref_oid: String,
    head_ref_name: String,
    head_ref_oid: String,
    head_repository: Option<FullName>,
    review_decision: Option<String>,
    changed_files: u64,
    labels: Option<Connection<Named>>,
    closing_issues_references: Option<Connection<Linked>>,
}

#[derive(Deserialize)]
struct Linked {
    number: u32,
    repository: FullName,
}

/// Pull requests by number; `None` for one that is not there, or must not be seen.
///
/// # Errors
/// What is wrong with the answer.
pub fn pulls(repository: &Value) -> Result<Vec<(u32, Option<PullFacts>)>, String> {
    let found = aliases(repository, 'p');
    let found = found.into_iter().map(|(number, value)| {
        let pull: Option<Pull> = read(value).map_err(|error| format!("pull request {number}: {error}"))?;
        Ok((number, pull.map(pull_facts)))
    });
    found.collect()
}

fn pull_facts(pull: Pull) -> PullFacts {
    let linked = pull.closing_issues_references;
    let total = linked.as_ref().map_or(0, |linked| linked.total_count);
    let mut closes: Vec<_> = linked
        .into_iter()
        .flat_map(Connection::seen)
        .filter_map(|issue| {
            Some(IssueId {
                repo: issue.repository.name_with_owner.parse().ok()?,
                number: issue.number,
            })
        })
        .collect();
    let hidden = total.saturating_sub(closes.len() as u64);
    closes.sort();
    closes.dedup();
    PullFacts {
        number: pull.number,
        title: pull.title,
        body: pull.body,
        author: pull.author.map(|author| author.login),
        labels: names(pull.labels),
        milestone: pull.milestone.map(|milestone| milestone.title),
        state: pull.state,
        created_at: pull.created_at,
        updated_at: pull.updated_at,
        merged_at: pull.merged_at,
        last_edited_at: pull.last_edited_at,
        merge_commit: pull.merge_commit.and_then(|commit| commit.oid.parse().ok()),
        base_ref: pull.base_ref_name,
        base_sha: pull.base_ref_oid.parse().ok(),
        head_ref: pull.head_ref_name,
        head_sha: pull.head_ref_oid.parse().ok(),
        head_repository: pull
            .head_repository
            .and_then(|repo| repo.name_with_owner.parse().ok()),
        review: pull.review_decision,
        locked: pull.locked,
        changed_files: pull.changed_files,
        closes,
        hidden: u32::try_from(hidden).unwrap_or(u32::MAX),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issue {
    number: u32,
    title: String,
    body: String,
    closed: bool,
    locked: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    author: Option<Login>,
    repository: FullName,
    labels: Option<Connection<Named>>,
    user_content_edits: Option<Connection<Edit>>,
    comments: Connection<Said>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edit {
    edited_at: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    body: String,
    created_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    is_minimized: bool,
    author: Option<Login>,
}

/// A page of comments: how many there are in all, these, and where the next page begins.
pub type CommentPage = (u64, Vec<Comment>, Option<String>);

fn page(comments: Connection<Said>) -> CommentPage {
    let (total, next) = (comments.total_count, comments.next());
    let said = comments.seen().map(|said| Comment {
        author: said.author.map(|author| author.login),
        body: said.body,
        created_at: said.created_at,
        last_edited_at: said.last_edited_at,
        minimized: said.is_minimized,
    });
    (total, said.collect(), next)
}

/// What numbers are; `None` for one that GraphQL knows nothing of (it was moved or deleted, or never was: REST tells).
///
/// # Errors
/// What is wrong with the answer.
pub fn fates(repository: &Value) -> Result<Vec<(u32, Option<IssueFate>)>, String> {
    let found = aliases(repository, 'i').into_iter().map(|(number, value)| {
        let fate = match value["__typename"].as_str() {
            None => None,
            Some("PullRequest") => Some(IssueFate::PullRequest),
            Some(_) => {
                let issue: Issue = read(value).map_err(|error| format!("issue {number}: {error}"))?;
                Some(IssueFate::Issue(Box::new(issue_facts(issue).ok_or_else(
                    || format!("issue {number}: its repository has no name"),
                )?)))
            }
        };
        Ok((number, fate))
    });
    found.collect()
}

fn issue_facts(issue: Issue) -> Option<IssueFacts> {
    let (comments_total, comments, comments_next) = page(issue.comments);
    let mut edits: Vec<_> = issue
        .user_content_edits
        .into_iter()
        .flat_map(Connection::seen)
        .map(|edit| edit.edited_at)
        .collect();
    edits.sort_unstable();
    Some(IssueFacts {
        id: IssueId {
            repo: issue.repository.name_with_owner.parse().ok()?,
            number: issue.number,
        },
        title: issue.title,
        body: issue.body,
        author: issue.author.map(|author| author.login),
        labels: names(issue.labels),
        closed: issue.closed,
        locked: issue.locked,
        created_at: issue.created_at,
        updated_at: issue.updated_at,
        last_edited_at: issue.last_edited_at,
        edits,
        comments,
        comments_total,
        comments_next,
    })
}

/// The next pages of comments, by the issue's number; `None` for one that is not there any longer.
///
/// # Errors
/// What is wrong with the answer.
pub fn comment_pages(repository: &Value) -> Result<Vec<(u32, Option<CommentPage>)>, String> {
    let found = aliases(repository, 'i').into_iter().map(|(number, value)| {
        let comments: Option<Connection<Said>> =
            read(&value["comments"]).map_err(|error| format!("comments of issue {number}: {error}"))?;
        Ok((number, comments.map(page)))
    });
    found.collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    name_with_owner: String,
    description: Option<String>,
    stargazer_count: u64,
    is_archived: bool,
    is_fork: bool,
    primary_language: Option<Named>,
    license_info: Option<Licence>,
    default_branch_ref: Option<Named>,
    repository_topics: Connection<Topic>,
    pull_requests: Connection<Value>,
    merged: Connection<Value>,
    issues: Connection<Value>,
    root: Option<Tree>,
    github: Option<Tree>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Licence {
    spdx_id: Option<String>,
}

#[derive(Deserialize)]
struct Topic {
    topic: Named,
}

#[derive(Deserialize)]
struct Tree {
    #[serde(default)]
    entries: Option<Vec<Named>>,
}

/// A repository's facts. `is_context` tells a path that instructs coding agents.
///
/// # Errors
/// What is wrong with the answer.
pub fn repository(value: &Value, is_context: &dyn Fn(&str) -> bool) -> Result<RepositoryFacts, String> {
    let read: About = read(value)?;
    let repo: RepoName = read
        .name_with_owner
        .parse()
        .map_err(|error: crate::domain::ids::BadId| error.to_string())?;
    let entries = |tree: Option<Tree>| tree.and_then(|tree| tree.entries).unwrap_or_default();
    let root = entries(read.root).into_iter().map(|entry| entry.name);
    let below = entries(read.github)
        .into_iter()
        .map(|entry| format!(".github/{}", entry.name));
    let mut context_files: Vec<_> = root.chain(below).filter(|path| is_context(path)).collect();
    context_files.sort();
    let mut topics: Vec<_> = read
        .repository_topics
        .seen()
        .map(|topic| topic.topic.name)
        .collect();
    topics.sort();
    Ok(RepositoryFacts {
        repo,
        description: read.description,
        stars: read.stargazer_count,
        language: read.primary_language.map(|language| language.name),
        licence: read.license_info.and_then(|licence| licence.spdx_id),
        topics,
        default_branch: read.default_branch_ref.map(|branch| branch.name),
        archived: read.is_archived,
        fork: read.is_fork,
        pull_requests: read.pull_requests.total_count,
        merged: read.merged.total_count,
        issues: read.issues.total_count,
        context_files,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Release {
    tag_name: String,
    name: Option<String>,
    description: Option<String>,
    published_at: Option<Timestamp>,
    is_prerelease: bool,
    is_draft: bool,
}

/// A page of releases, newest first (drafts are none), and where the next page begins.
///
/// # Errors
/// What is wrong with the answer.
pub fn releases(repository: &Value) -> Result<(Vec<ReleaseFacts>, Option<String>), String> {
    let page: Connection<Release> = read(&repository["releases"])?;
    let next = page.next();
    let published = page.seen().filter(|release| !release.is_draft);
    let releases = published.map(|release| ReleaseFacts {
        tag: release.tag_name,
        name: release.name.filter(|name| !name.is_empty()),
        body: release.description.unwrap_or_default(),
        published_at: release.published_at,
        prerelease: release.is_prerelease,
    });
    Ok((releases.collect(), next))
}
