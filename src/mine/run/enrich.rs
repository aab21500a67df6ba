//! What git alone cannot tell: the repository, its pull requests and the issues they close, asked of GitHub, once.
//!
//! What an answer tells is kept at once, also where more pages follow, so that a stop loses at most one request; what is
//! known is not asked again. A refresh asks one question first, "has anything changed?", which costs nothing when nothing
//! has.

mod issues;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::issues::{ask_issues, issues_of};
use super::MineError;
use crate::domain::candidate::{Candidate, FoundIn};
use crate::domain::enriched::KnownPull;
use crate::domain::event::Event;
use crate::domain::forge::{IssueFate, IssueId, PullFacts, ReleaseFacts, RepositoryFacts};
use crate::domain::ids::{CandidateId, RepoName};
use crate::github::ask::IsContext;
use crate::github::rest::Changes;
use crate::github::{Client, GithubError, Spent};
use crate::mine::link::references;
use crate::mine::release_notes::run::outside::AskedClosers;
use crate::store::Reply;
use crate::workspace::Context;
use crate::workspace::forge::{Knowledge, Topic};

const STAGE: &str = "ask";

/// What to ask.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The repository.
    pub repo: &'a RepoName,
    /// Its pull requests that are asked about.
    pub candidates: &'a [Candidate],
    /// Whether what is known is asked again where it changed since.
    pub refresh: bool,
    /// Tells a path at the root that instructs coding agents.
    pub is_context: IsContext<'a>,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// What GitHub says of the repository; `None` when it was stopped before that.
    pub repository: Option<RepositoryFacts>,
    /// Its releases.
    pub releases: usize,
    /// Pull requests that were to be known.
    pub wanted: usize,
    /// Pull requests that were asked.
    pub pulls: usize,
    /// Issues that were asked.
    pub issues: usize,
    /// Who closed issues that release notes name; `None` where no rule asks for release notes.
    pub closers: Option<AskedClosers>,
    /// Pull requests that GitHub does not show.
    pub missing: usize,
    /// What became of the numbers that they say they close, by kind, of all that are known.
    pub fates: BTreeMap<&'static str, usize>,
    /// What changed since the last time, of what was known; `None` without a refresh.
    pub changed: Option<usize>,
    /// What it cost.
    pub spent: Spent,
    /// Why it stopped before its end; the same command goes on.
    pub stopped: Option<String>,
}

impl Asked {
    /// Before anything was asked.
    pub fn nothing(wanted: usize) -> Self {
        Self {
            repository: None,
            releases: 0,
            wanted,
            pulls: 0,
            issues: 0,
            closers: None,
            missing: 0,
            fates: BTreeMap::new(),
            changed: None,
            spent: Spent::default(),
            stopped: None,
        }
    }
}

/// What asking would cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Pull requests that would be asked.
    pub pulls: usize,
    /// Issues that git names and nobody asked yet.
    pub issues_named: usize,
    /// Issues of which the first pages of comments are known, and not as many as have to be.
    pub issues_begun: usize,
    /// The pages of comments that are left of those, at most. Of issues that were not asked nobody knows how many there are.
    pub comment_pages: u64,
    /// Issues at most, if every pull request closes another one.
    pub issues_most: usize,
    /// Issues that release notes name, that git does not resolve and nobody asked about.
    pub issues_in_notes: usize,
    /// Requests, at least and at most, when GitHub is not slow; pages of comments beyond an issue's first come on top.
    pub requests: (u64, u64),
    /// Points, at least and at most; pages of comments beyond an issue's first come on top.
    pub points: (u64, u64),
}

/// When a repository was last looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Looked {
    since: Option<Timestamp>,
    /// A look that did not come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    half: Option<HalfLooked>,
}

/// How far a look came: what its first page told, and the next page. (What changes meanwhile comes to the first page, and is
/// found by the next look.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct HalfLooked {
    newest: Option<Timestamp>,
    etag: Option<String>,
    page: u32,
}

/// What asking would cost, of what is not known yet, and of so many issues that release notes name, in batches of this
/// size. Nothing is asked.
///
/// # Errors
/// When the ledger cannot be read.
pub fn estimate(
    context: &Context,
    question: Question<'_>,
    in_notes: usize,
    batch: usize,
) -> Result<Estimate, MineError> {
    let knowledge = context.knowledge(Some(question.repo))?;
    let pulls = unasked(&knowledge, question.candidates).len();
    let (mut named, mut begun, mut comment_pages) = (0_usize, 0_usize, 0_u64);
    for (id, moment) in issues_of(&knowledge, question.candidates, true) {
        match knowledge.issue(&id) {
            None => named += 1,
            Some(IssueFate::Issue(facts)) if !facts.knows_comments_before(moment) => {
                begun += 1;
                let left = facts.comments_total.saturating_sub(facts.comments.len() as u64);
                comment_pages += left.div_ceil(100).max(1);
            }
            Some(_) => {}
        }
    }
    let most = named.max(pulls);
    let cost = |issues: usize| {
        let (first, second) = crate::github::ask::cost(pulls, issues, batch);
        // The repository, and the first look at what changes.
        let new = u64::from(knowledge.repository(question.repo).is_none());
        let (third, fourth) = crate::github::timeline::cost(in_notes, batch);
        (first + third + 2 * new, second + fourth + new)
    };
    let ((fewest, cheapest), (requests, points)) = (cost(named), cost(most));
    Ok(Estimate {
        pulls,
        issues_named: named,
        issues_begun: begun,
        comment_pages,
        issues_most: most,
        issues_in_notes: in_notes,
        requests: (fewest, requests),
        points: (cheapest, points),
    })
}

/// Asks GitHub what is not known yet, and keeps it.
///
/// # Errors
/// When GitHub cannot be asked, or the ledger cannot be written. A spent budget and a stop are no errors.
pub async fn enrich(context: &Context, client: &Client, question: Question<'_>) -> Result<Asked, MineError> {
    let mut asked = Asked::nothing(question.candidates.len());
    context.events.emit(Event::StageStarted {
        stage: STAGE,
        unit: "pull requests",
        total: question.candidates.len() as u64,
    });
    match ask(context, client, question, &mut asked).await {
        Err(MineError::Github(error)) if error.is_pause() => asked.stopped = Some(error.to_string()),
        other => other?,
    }
    let knowledge = context.knowledge(Some(question.repo))?;
    for (id, moment) in issues_of(&knowledge, question.candidates, false) {
        let fate = match knowledge.issue(&id) {
            None => "not asked",
            Some(IssueFate::Issue(facts)) if !facts.knows_comments_before(moment) => "issue, half read",
            Some(IssueFate::Issue(_)) => "issue",
            Some(IssueFate::PullRequest) => "pull request",
            Some(IssueFate::Transferred { .. }) => "transferred",
            Some(IssueFate::Deleted) => "deleted",
            Some(IssueFate::Absent) => "absent",
        };
        *asked.fates.entry(fate).or_default() += 1;
    }
    asked.spent = client.spent();
    context.events.emit(Event::StageFinished {
        stage: STAGE,
        note: format!(
            "{}: {} pull requests and {} issues, {} requests",
            question.repo, asked.pulls, asked.issues, asked.spent.requests
        ),
    });
    Ok(asked)
}

async fn ask(
    context: &Context,
    client: &Client,
    question: Question<'_>,
    asked: &mut Asked,
) -> Result<(), MineError> {
    let repo = question.repo;
    if question.refresh {
        asked.changed = Some(forget_changed(context, client, repo).await?);
    }
    let (facts, releases) = repository(context, client, question).await?;
    if !facts.repo.is(repo) {
        context.events.emit(Event::Warning {
            message: format!(
                "`{repo}` is called `{}` on GitHub today; it keeps its name here",
                facts.repo
            ),
        });
    }
    asked.releases = releases;
    asked.repository = Some(facts);
    if question.candidates.is_empty() {
        return Ok(());
    }
    if context.said::<Looked>(Topic::Changes(repo))?.is_none() {
        // From here on it is known what changed: what is asked below is newer.
        let now = Looked {
            since: Some(context.clock.now()),
            half: None,
        };
        look(context, client, repo, None, now).await?;
    }
    ask_pulls(context, client, question, asked).await?;
    // Issues that were moved are asked again where they went.
    for _ in 0..3 {
        if ask_issues(context, client, question, asked).await? == 0 {
            break;
        }
    }
    Ok(())
}

/// The first pages of a repository's releases, and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ReleasesPart {
    releases: Vec<ReleaseFacts>,
    next: String,
}

/// The repository and how many releases it has: as known, or asked, page by page.
async fn repository(
    context: &Context,
    client: &Client,
    question: Question<'_>,
) -> Result<(RepositoryFacts, usize), MineError> {
    let repo = question.repo;
    let known = context.said::<RepositoryFacts>(Topic::Repository(repo))?;
    let begun = context.said::<ReleasesPart>(Topic::ReleasesPart(repo))?;
    let (facts, mut releases, mut next) = match (known, context.releases(repo)?, begun) {
        (Some((_, facts)), Some(releases), _) => return Ok((facts, releases.len())),
        (Some((_, facts)), None, Some((_, part))) => (facts, part.releases, Some(part.next)),
        _ => {
            let opened = client.repository(repo, question.is_context).await?;
            let reply = context.reply(Topic::Repository(repo), None, &opened.facts)?;
            context.store.put_replies(vec![reply])?;
            (opened.facts, opened.releases, opened.next)
        }
    };
    let part = Topic::ReleasesPart(repo);
    while let Some(after) = next {
        let read = ReleasesPart {
            releases,
            next: after,
        };
        context
            .store
            .put_replies(vec![context.reply(part, None, &read)?])?;
        let (more, then) = match client.releases(repo, &read.next).await {
            Err(error @ GithubError::Refused { .. }) => {
                // GitHub may not know that place any longer: the same command begins anew.
                context.store.replace_replies(vec![part.name()], vec![])?;
                return Err(error.into());
            }
            other => other?,
        };
        releases = read.releases;
        releases.extend(more);
        next = then;
    }
    let reply = context.reply(Topic::Releases(repo), None, &releases)?;
    context.store.replace_replies(vec![part.name()], vec![reply])?;
    Ok((facts, releases.len()))
}

/// Looks what changed since, forgets what is older than that, page by page, and remembers when it looked. Gives how much was
/// forgotten; `None` when nothing changed at all.
async fn look(
    context: &Context,
    client: &Client,
    repo: &RepoName,
    etag: Option<&str>,
    looked: Looked,
) -> Result<Option<usize>, MineError> {
    let Looked { since, mut half } = looked;
    let mut count = 0;
    loop {
        let page = half.as_ref().map_or(1, |half| half.page);
        let unless = etag.filter(|_| half.is_none());
        let Changes::Some {
            etag: this_etag,
            newest,
            changed,
            more,
        } = client.changes(repo, page, unless, since).await?
        else {
            return Ok(None);
        };
        let first = half.take().unwrap_or(HalfLooked {
            newest,
            etag: this_etag,
            page,
        });
        let stale = stale(context, repo, &changed)?;
        count += stale.len();
        let (end, etag) = if more {
            let page = page.saturating_add(1);
            half = Some(HalfLooked { page, ..first });
            let half = half.clone();
            (Looked { since, half }, None)
        } else {
            let since = first.newest;
            (Looked { since, half: None }, first.etag)
        };
        let mut reply = context.reply(Topic::Changes(repo), None, &end)?;
        reply.etag = etag;
        // At once: a stop in between would lose a change.
        context.store.replace_replies(stale, vec![reply])?;
        if !more {
            return Ok(Some(count));
        }
    }
}

/// The names of what is known and older than what changed.
fn stale(context: &Context, repo: &RepoName, changed: &[(u32, Timestamp)]) -> Result<Vec<String>, MineError> {
    let mut names = Vec::new();
    for (number, moment) in changed {
        let (repo, number) = (repo.clone(), *number);
        let id = CandidateId::pull(repo.clone(), number);
        let issue = IssueId { repo, number };
        for name in [
            Topic::Pull(&id).name(),
            Topic::Issue(&issue).name(),
            Topic::Closers(&issue).name(),
            Topic::ClosersPart(&issue).name(),
        ] {
            let known = context.store.reply(&name)?;
            let is_older = |reply: &Reply| {
                let read = reply
                    .updated_at
                    .as_deref()
                    .and_then(|text| text.parse::<Timestamp>().ok());
                read.is_none_or(|read| read < *moment)
            };
            names.extend(known.filter(is_older).map(|reply| reply.name));
        }
    }
    Ok(names)
}

/// Forgets what changed since the last look. Gives how much.
async fn forget_changed(context: &Context, client: &Client, repo: &RepoName) -> Result<usize, MineError> {
    let Some((reply, looked)) = context.said::<Looked>(Topic::Changes(repo))? else {
        return Ok(0);
    };
    let forgotten = look(context, client, repo, reply.etag.as_deref(), looked).await?;
    if forgotten.is_some() {
        // Stars, topics and releases are in no list of changes: they come with one request.
        let names = [
            Topic::Repository(repo),
            Topic::Releases(repo),
            Topic::ReleasesPart(repo),
        ]
        .map(|topic| topic.name());
        context.store.replace_replies(names.to_vec(), vec![])?;
    }
    Ok(forgotten.unwrap_or_default())
}

fn unasked(knowledge: &Knowledge, candidates: &[Candidate]) -> Vec<u32> {
    let new = candidates
        .iter()
        .filter(|candidate| !knowledge.asked(&candidate.id));
    let numbers: BTreeSet<u32> = new.map(|candidate| candidate.id.number).collect();
    // The newest first: what a budget cuts off is the oldest.
    numbers.into_iter().rev().collect()
}

async fn ask_pulls(
    context: &Context,
    client: &Client,
    question: Question<'_>,
    asked: &mut Asked,
) -> Result<(), MineError> {
    let repo = question.repo;
    let knowledge = context.knowledge(Some(repo))?;
    let numbers = unasked(&knowledge, question.candidates);
    let advanced = |by: usize| {
        context.events.emit(Event::Advanced {
            stage: STAGE,
            by: by as u64,
        });
    };
    advanced(question.candidates.len() - numbers.len());
    client
        .pulls(repo, &numbers, |batch| {
            let (all, mut missing) = (batch.len(), 0);
            let mut replies = Vec::with_capacity(all);
            for (number, facts) in batch {
                let id = CandidateId::pull(repo.clone(), number);
                missing += usize::from(facts.is_none());
                let updated = facts.as_ref().map(|facts| facts.updated_at.to_string());
                let known = facts.map(|facts| known(repo, facts));
                replies.push(context.reply(Topic::Pull(&id), updated, &known)?);
            }
            context.store.put_replies(replies)?;
            asked.pulls += all;
            asked.missing += missing;
            advanced(all);
            Ok::<_, MineError>(())
        })
        .await
}

/// A pull request with the references in its texts.
fn known(repo: &RepoName, facts: PullFacts) -> KnownPull {
    let mut found = references(&facts.title, repo, &FoundIn::Title);
    found.extend(references(&facts.body, repo, &FoundIn::Body));
    found.retain(|reference| reference.repo.is_some() || reference.number != facts.number);
    KnownPull {
        facts,
        references: found,
    }
}
