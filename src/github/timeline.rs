//! Who closed an issue: what its timeline links, all pages of it. `closingIssuesReferences` of a pull request tells the same
//! from the other side, for those that are asked themselves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ask::{Begun, Step, bad};
use super::budget::points;
use super::client::Client;
use super::error::GithubError;
use super::graphql::{LIMIT, Query, counted, of_repo};
use super::reply::{Connection, FullName, aliases, read};
use super::retry::BatchSize;
use crate::domain::forge::{Closers, IssueFate, IssueId};
use crate::domain::ids::{CommitSha, RepoName};

/// Events that link an issue with what closes it: one connection.
const TYPES: &str = "itemTypes: [CLOSED_EVENT, CONNECTED_EVENT, DISCONNECTED_EVENT, CROSS_REFERENCED_EVENT]";

const EVENTS: &str = "
fragment events on IssueTimelineItemsConnection {
  pageInfo { hasNextPage endCursor }
  nodes {
    __typename
    ... on ClosedEvent { closer { __typename ...pull ... on Commit { oid } } }
    ... on ConnectedEvent { subject { __typename ...pull } }
    ... on DisconnectedEvent { subject { __typename ...pull } }
    ... on CrossReferencedEvent { willCloseTarget source { __typename ...pull } }
  }
}
fragment pull on PullRequest { number repository { nameWithOwner } }";

/// How many issues' timelines are asked for at once: a connection each.
const AT_ONCE: usize = 50;

/// What so many issues' timelines cost, when each has one page: requests and points.
pub fn cost(issues: usize, batch: usize) -> (u64, u64) {
    let size = batch.clamp(1, AT_ONCE);
    let batches = (0..issues)
        .step_by(size)
        .map(|from| points(size.min(issues - from) as u64));
    (issues.div_ceil(size) as u64, batches.sum())
}

/// What numbers of a repository are, with the first page of links.
pub fn closers(repo: &RepoName, numbers: &[u32]) -> Query {
    let mut fields = String::new();
    for number in numbers {
        let _ = writeln!(
            fields,
            "    i{number}: issueOrPullRequest(number: {number}) {{ __typename ... on Issue {{ \
             timelineItems(first: 100, {TYPES}) {{ ...events }} }} }}"
        );
    }
    let what = format!("what closed {} of {repo}", counted(numbers.len(), "issue"));
    of_repo(repo, what, &fields, &[EVENTS], numbers.len() as u64)
}

/// The next pages of some issues' links: the number, and where its last page ended.
pub fn pages(repo: &RepoName, next: &[(u32, String)]) -> Query {
    let (mut declared, mut fields) = (String::new(), String::new());
    let mut variables = json!({ "owner": repo.owner(), "name": repo.name() });
    for (number, cursor) in next {
        let _ = write!(declared, ", $c{number}: String!");
        let _ = writeln!(
            fields,
            "    i{number}: issue(number: {number}) {{ __typename timelineItems(first: 100, after: $c{number}, {TYPES}) {{ ...events }} }}"
        );
        variables[format!("c{number}")] = json!(cursor);
    }
    let text = format!(
        "query($owner: String!, $name: String!{declared}) {{\n  {LIMIT}\n  repository(owner: $owner, name: $name) {{\n    \
         nameWithOwner\n{fields}  }}\n}}{EVENTS}"
    );
    Query {
        what: format!("more of what closed {} of {repo}", counted(next.len(), "issue")),
        text,
        variables,
        points: points(next.len() as u64),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timeline {
    timeline_items: Connection<Event>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "__typename")]
    kind: String,
    #[serde(default)]
    closer: Option<Subject>,
    #[serde(default)]
    subject: Option<Subject>,
    #[serde(default)]
    source: Option<Subject>,
    #[serde(default)]
    will_close_target: bool,
}

/// A pull request, a commit, or something that has no place here (an issue, a project).
#[derive(Deserialize)]
struct Subject {
    #[serde(default)]
    number: Option<u32>,
    #[serde(default)]
    repository: Option<FullName>,
    #[serde(default)]
    oid: Option<String>,
}

impl Subject {
    fn pull(&self) -> Option<IssueId> {
        Some(IssueId {
            number: self.number?,
            repo: self.repository.as_ref()?.name_with_owner.parse().ok()?,
        })
    }
}

/// What pages of one issue's timeline say so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    closed: BTreeSet<IssueId>,
    linked: BTreeSet<IssueId>,
    commits: BTreeSet<CommitSha>,
}

impl Links {
    fn take(&mut self, event: &Event) {
        let pull = |subject: &Option<Subject>| subject.as_ref().and_then(Subject::pull);
        match event.kind.as_str() {
            "ClosedEvent" => {
                self.closed.extend(pull(&event.closer));
                let commit = event.closer.as_ref().and_then(|closer| closer.oid.as_deref());
                self.commits
                    .extend(commit.and_then(|oid| oid.parse::<CommitSha>().ok()));
            }
            "CrossReferencedEvent" if event.will_close_target => self.linked.extend(pull(&event.source)),
            "ConnectedEvent" => self.linked.extend(pull(&event.subject)),
            "DisconnectedEvent" => {
                if let Some(pull) = pull(&event.subject) {
                    self.linked.remove(&pull);
                }
            }
            _ => {}
        }
    }

    fn whole(self) -> Closers {
        let pulls: BTreeSet<IssueId> = self.closed.into_iter().chain(self.linked).collect();
        Closers::Issue {
            pulls: pulls.into_iter().collect(),
            commits: self.commits.into_iter().collect(),
        }
    }
}

/// The pages of one issue's timeline that were read, and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    links: Links,
    next: String,
}

/// What is known of who closed an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// All of it.
    Whole(Closers),
    /// The first pages.
    Part(Part),
}

/// What a page of one number says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    /// A page of an issue's links was added; where the next one begins.
    Issue(Option<String>),
    /// It is a pull request.
    PullRequest,
    /// GraphQL knows nothing of it.
    Nothing,
}

/// Reads pages of timelines into `links`.
///
/// # Errors
/// What is wrong with the answer.
pub fn take(repository: &Value, links: &mut BTreeMap<u32, Links>) -> Result<Vec<(u32, Page)>, String> {
    let mut found = vec![];
    for (number, value) in aliases(repository, 'i') {
        let page = match value["__typename"].as_str() {
            None => Page::Nothing,
            Some("PullRequest") => Page::PullRequest,
            Some(_) => {
                let timeline: Timeline =
                    read(value).map_err(|error| format!("the timeline of issue {number}: {error}"))?;
                let next = timeline.timeline_items.next();
                let of = links.entry(number).or_default();
                timeline.timeline_items.seen().for_each(|event| of.take(&event));
                Page::Issue(next)
            }
        };
        found.push((number, page));
    }
    Ok(found)
}

impl Client {
    /// Who closed these issues of a repository, by all pages of each timeline. What earlier asking began is gone on with
    /// first. Each answer is handed over at once: an issue of which more pages are read comes again, with them. A number
    /// that GraphQL knows nothing of is looked up by REST.
    ///
    /// # Errors
    /// [`GithubError`], or what `keep` says; what was read before it was handed over.
    pub async fn closers<E: From<GithubError>>(
        &self,
        repo: &RepoName,
        numbers: &[u32],
        begun: Begun<Part>,
        mut keep: impl FnMut(Vec<(u32, Step<Told>)>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left: VecDeque<u32> = numbers.iter().copied().collect();
        self.fates_of(repo, &begun.missing, &mut keep).await?;
        let lost = self.rest_of_links(repo, begun.pages, true, &mut keep).await?;
        left.extend(lost);
        let mut size = BatchSize::new(self.settings.batch.min(AT_ONCE));
        while !left.is_empty() {
            let (value, query) = self
                .batch(repo, &mut left, &mut size, |some| closers(repo, some))
                .await?;
            let mut links = BTreeMap::new();
            let first = take(&value, &mut links).map_err(|why| bad(&query, why))?;
            let (read, missing, parts) = told(first, links);
            keep(read)?;
            self.fates_of(repo, &missing, &mut keep).await?;
            self.rest_of_links(repo, parts, false, &mut keep).await?;
        }
        Ok(())
    }

    /// Looks up by REST what GraphQL knows nothing of, one after the other.
    async fn fates_of<E: From<GithubError>>(
        &self,
        repo: &RepoName,
        missing: &[u32],
        keep: &mut impl FnMut(Vec<(u32, Step<Told>)>) -> Result<(), E>,
    ) -> Result<(), E> {
        for number in missing {
            let fate = self.fate(repo, *number).await?;
            let told = Told::Whole(Closers::Other { fate });
            keep(vec![(*number, Step::Known(told))])?;
        }
        Ok(())
    }

    /// Reads on in timelines, a page of each at a time. Of `old` ones, whose first pages another run read, GitHub may not
    /// know the place any longer: gives those that have to be read from the start.
    async fn rest_of_links<E: From<GithubError>>(
        &self,
        repo: &RepoName,
        mut parts: Vec<(u32, Part)>,
        old: bool,
        keep: &mut impl FnMut(Vec<(u32, Step<Told>)>) -> Result<(), E>,
    ) -> Result<Vec<u32>, E> {
        let mut lost = Vec::new();
        while !parts.is_empty() {
            let now: Vec<(u32, Part)> = parts.drain(..parts.len().min(AT_ONCE)).collect();
            let next: Vec<(u32, String)> = now
                .iter()
                .map(|(number, part)| (*number, part.next.clone()))
                .collect();
            let query = pages(repo, &next);
            let value = match self.of_repo(repo, &query, true).await {
                Err(GithubError::Refused { .. }) if old => {
                    lost.extend(next.iter().map(|(number, _)| *number));
                    continue;
                }
                other => other?,
            };
            let mut links: BTreeMap<u32, Links> = now
                .into_iter()
                .map(|(number, part)| (number, part.links))
                .collect();
            let found = take(&value, &mut links).map_err(|why| bad(&query, why))?;
            let found = found.into_iter().map(|(number, page)| match page {
                // A page that leads back to itself would be read for ever.
                Page::Issue(Some(more)) if next.contains(&(number, more.clone())) => {
                    (number, Page::Issue(None))
                }
                page => (number, page),
            });
            let (read, missing, more) = told(found, links);
            parts.extend(more);
            keep(read)?;
            self.fates_of(repo, &missing, keep).await?;
        }
        Ok(lost)
    }
}

/// Every number's step, then those that GraphQL knows nothing of, then those that have more pages.
type Steps = (Vec<(u32, Step<Told>)>, Vec<u32>, Vec<(u32, Part)>);

/// What is known of numbers after a page of each, with the links of all their pages.
fn told(pages: impl IntoIterator<Item = (u32, Page)>, mut links: BTreeMap<u32, Links>) -> Steps {
    let (mut read, mut missing, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for (number, page) in pages {
        let step = step(links.remove(&number).unwrap_or_default(), page);
        match &step {
            Step::Known(Told::Part(part)) => parts.push((number, part.clone())),
            Step::Known(Told::Whole(_)) => {}
            Step::Missing => missing.push(number),
        }
        read.push((number, step));
    }
    (read, missing, parts)
}

/// What is known of a number after a page of it, with the links of all its pages.
fn step(links: Links, page: Page) -> Step<Told> {
    match page {
        Page::Issue(Some(next)) => Step::Known(Told::Part(Part { links, next })),
        Page::Issue(None) => Step::Known(Told::Whole(links.whole())),
        Page::PullRequest => {
            let fate = IssueFate::PullRequest;
            Step::Known(Told::Whole(Closers::Other { fate }))
        }
        Page::Nothing => Step::Missing,
    }
}
