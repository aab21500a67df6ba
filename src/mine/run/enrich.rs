//! What git alone cannot tell: the repository, its pull requests and the issues they close, asked of GitHub, once.
//!
//! Replies are kept batch by batch, so that a stop loses at most one; what is known is not asked again. A refresh asks one
//! question first, "has anything changed?", which costs nothing when nothing has.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::MineError;
use crate::domain::candidate::{Candidate, FoundIn};
use crate::domain::enriched::{KnownPull, began_at, closing};
use crate::domain::event::Event;
use crate::domain::forge::{IssueFate, IssueId, PullFacts, RepositoryFacts};
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
    /// Issues at most, if every pull request closes another one.
    pub issues_most: usize,
    /// Issues that release notes name, that git does not resolve and nobody asked about.
    pub issues_in_notes: usize,
    /// Requests, at least and at most, when GitHub is not slow.
    pub requests: (u64, u64),
    /// Points, at least and at most.
    pub points: (u64, u64),
}

/// When a repository was last looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Looked {
    since: Option<Timestamp>,
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
    let named = issues_of(&knowledge, question.candidates, true);
    let named = named
        .iter()
        .filter(|(id, _)| knowledge.issue(id).is_none())
        .count();
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
    for id in issues_of(&knowledge, question.candidates, false).keys() {
        let fate = match knowledge.issue(id) {
            None => "not asked",
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
    let known = context.said(Topic::Repository(repo))?;
    let releases = context.releases(repo)?;
    let (facts, releases) = if let (Some((_, facts)), Some(releases)) = (known, releases) {
        (facts, releases)
    } else {
        let whole = client.repository(repo, question.is_context).await?;
        context.store.put_replies(vec![
            context.reply(Topic::Repository(repo), None, &whole.facts)?,
            context.reply(Topic::Releases(repo), None, &whole.releases)?,
        ])?;
        (whole.facts, whole.releases)
    };
    if !facts.repo.is(repo) {
        context.events.emit(Event::Warning {
            message: format!(
                "`{repo}` is called `{}` on GitHub today; it keeps its name here",
                facts.repo
            ),
        });
    }
    asked.releases = releases.len();
    asked.repository = Some(facts);
    if question.candidates.is_empty() {
        return Ok(());
    }
    if context.said::<Looked>(Topic::Changes(repo))?.is_none() {
        // From here on it is known what changed: what is asked below is newer.
        look(context, client, repo, None, Some(context.clock.now())).await?;
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

/// Looks what changed since, forgets what is older than that, and remembers when it looked. Gives how much was forgotten;
/// `None` when nothing changed at all.
async fn look(
    context: &Context,
    client: &Client,
    repo: &RepoName,
    etag: Option<&str>,
    since: Option<Timestamp>,
) -> Result<Option<usize>, MineError> {
    match client.changes(repo, etag, since).await? {
        Changes::Nothing => Ok(None),
        Changes::Some {
            etag,
            newest,
            changed,
        } => {
            let mut reply = context.reply(Topic::Changes(repo), None, &Looked { since: newest })?;
            reply.etag = etag;
            let stale = stale(context, repo, &changed)?;
            let count = stale.len();
            // At once: a stop in between would lose a change.
            context.store.replace_replies(stale, vec![reply])?;
            Ok(Some(count))
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
    let forgotten = look(context, client, repo, reply.etag.as_deref(), looked.since).await?;
    if forgotten.is_some() {
        // Stars, topics and releases are in no list of changes: they come with one request.
        let names = [Topic::Repository(repo).name(), Topic::Releases(repo).name()];
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

/// The issues that pull requests close (or, of those that were not asked, say in git that they close), each with the latest
/// moment that its comments have to be known until.
fn issues_of(
    knowledge: &Knowledge,
    candidates: &[Candidate],
    from_git_too: bool,
) -> BTreeMap<IssueId, Timestamp> {
    let mut found: BTreeMap<IssueId, Timestamp> = BTreeMap::new();
    for candidate in candidates {
        let (ids, moment) = match knowledge.pull(&candidate.id) {
            Some(known) => (closing(candidate, known), began_at(candidate, &known.facts)),
            None if from_git_too => {
                let named = candidate.references.iter().filter(|reference| reference.closes);
                let here = named.filter(|reference| reference.repo.is_none());
                let id = |number| IssueId {
                    repo: candidate.id.repo.clone(),
                    number,
                };
                (
                    here.map(|reference| id(reference.number)).collect(),
                    candidate.merged_at,
                )
            }
            None => continue,
        };
        for id in ids {
            let moment_of = found.entry(id).or_insert(moment);
            *moment_of = (*moment_of).max(moment);
        }
    }
    found
}

/// Asks the issues that are not known, or not known far enough. Gives how many.
async fn ask_issues(
    context: &Context,
    client: &Client,
    question: Question<'_>,
    asked: &mut Asked,
) -> Result<usize, MineError> {
    let knowledge = context.knowledge(Some(question.repo))?;
    let mut wanted: BTreeMap<RepoName, BTreeMap<u32, Timestamp>> = BTreeMap::new();
    let mut want = |id: &IssueId, moment| {
        wanted
            .entry(id.repo.clone())
            .or_default()
            .insert(id.number, moment);
    };
    for (id, moment) in issues_of(&knowledge, question.candidates, false) {
        match knowledge.issue(&id) {
            None => want(&id, moment),
            Some(IssueFate::Issue(facts)) if !facts.knows_comments_before(moment) => want(&id, moment),
            Some(IssueFate::Transferred { to: Some(to) }) => match knowledge.issue(to) {
                Some(IssueFate::Issue(facts)) if facts.knows_comments_before(moment) => {}
                Some(IssueFate::Issue(_)) | None => want(to, moment),
                Some(_) => {}
            },
            Some(_) => {}
        }
    }
    let mut count = 0;
    for (repo, moments) in wanted {
        let numbers: Vec<u32> = moments.keys().copied().collect();
        let mut keep = |batch: Vec<(u32, IssueFate)>| {
            count += batch.len();
            asked.issues += batch.len();
            let replies = batch.into_iter().map(|(number, fate)| {
                let id = IssueId {
                    repo: repo.clone(),
                    number,
                };
                let updated = match &fate {
                    IssueFate::Issue(facts) => Some(facts.updated_at.to_string()),
                    _ => None,
                };
                Ok(context.reply(Topic::Issue(&id), updated, &fate)?)
            });
            context
                .store
                .put_replies(replies.collect::<Result<Vec<_>, MineError>>()?)?;
            Ok::<_, MineError>(())
        };
        let enough = |facts: &crate::domain::forge::IssueFacts| {
            let moment = moments.get(&facts.id.number).copied().unwrap_or(Timestamp::MAX);
            facts.knows_comments_before(moment)
        };
        match client.issues(&repo, &numbers, &enough, &mut keep).await {
            // Another repository that must not be seen, or is gone: so are its issues.
            Err(MineError::Github(GithubError::NoRepository { .. })) if !repo.is(question.repo) => {
                keep(
                    numbers
                        .into_iter()
                        .map(|number| (number, IssueFate::Absent))
                        .collect(),
                )?;
            }
            other => other?,
        }
    }
    Ok(count)
}
