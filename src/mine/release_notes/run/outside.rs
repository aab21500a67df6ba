//! What the forge tells beside git: texts of releases, and who closed issues that entries name and git does not resolve.
//! Replies are kept batch by batch; what is known is not asked again.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Notes, Outside};
use crate::domain::forge::{Closers, IssueFate, IssueId};
use crate::domain::ids::RepoName;
use crate::github::ask::{Begun, Step};
use crate::github::timeline::{Part, Told};
use crate::github::{Client, GithubError};
use crate::mine::release_notes::resolve::{Outcome, is_home};
use crate::mine::release_notes::sources::ReleaseBody;
use crate::mine::run::MineError;
use crate::workspace::Context;
use crate::workspace::forge::Topic;

/// What came of asking who closed issues.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AskedClosers {
    /// Issues that release notes name, and git does not tell who closed.
    pub open: usize,
    /// Those that were asked now.
    pub asked: usize,
    /// What the numbers are, of all that are known.
    pub fates: BTreeMap<&'static str, usize>,
}

/// What the workspace knows of a repository's releases and of who closed its issues: as their timelines say, and as its
/// pull requests say that were asked themselves.
///
/// # Errors
/// When the ledger cannot be read.
pub fn outside(context: &Context, repo: &RepoName) -> Result<Outside, MineError> {
    let knowledge = context.knowledge(Some(repo))?;
    let today = context
        .said::<crate::domain::forge::RepositoryFacts>(Topic::Repository(repo))?
        .map(|(_, facts)| facts.repo)
        .filter(|today| !today.is(repo));
    let is_own = |name: &RepoName| name.is(repo) || today.as_ref().is_some_and(|today| name.is(today));
    let mut closers: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for pull in knowledge.pulls() {
        let linked = pull
            .facts
            .closes
            .iter()
            .filter(|id| is_own(&id.repo))
            .map(|id| id.number);
        let said = pull
            .references
            .iter()
            .filter(|said| said.closes && is_here(said.repo.as_deref(), today.as_ref()));
        for issue in linked.chain(said.map(|said| said.number)) {
            closers.entry(issue).or_default().insert(pull.facts.number);
        }
    }
    let mut commits = BTreeMap::new();
    for (number, told) in context.closers(repo)? {
        let told = match told {
            Closers::Other {
                fate: IssueFate::Transferred { to: Some(to) },
            } => context.said(Topic::Closers(&to))?.map(|(_, told)| told),
            told => Some(told),
        };
        if let Some(Closers::Issue { pulls, commits: own }) = told {
            let here = pulls.iter().filter(|id| is_own(&id.repo)).map(|id| id.number);
            closers.entry(number).or_default().extend(here);
            if !own.is_empty() {
                commits.insert(number, own);
            }
        }
    }
    let releases = context.releases(repo)?.unwrap_or_default().into_iter();
    let releases = releases.filter(|release| !release.body.trim().is_empty());
    Ok(Outside {
        releases: releases
            .map(|release| ReleaseBody {
                tag: release.tag,
                date: release.published_at.map(|at| at.strftime("%Y-%m-%d").to_string()),
                text: release.body,
            })
            .collect(),
        closers: closers
            .into_iter()
            .map(|(issue, pulls)| (issue, pulls.into_iter().collect()))
            .collect(),
        commits,
        today,
    })
}

/// Whether a reference from a text of the repository's own, in which its own name is left out, is to the repository.
fn is_here(named: Option<&str>, today: Option<&RepoName>) -> bool {
    named.is_none_or(|named| today.is_some_and(|today| today.is_called(named)))
}

/// The issues that entries name and of which git does not tell who closed them.
pub fn open(notes: &Notes) -> BTreeSet<u32> {
    let open = notes
        .entries
        .iter()
        .filter(|resolved| resolved.outcome == Outcome::IssueOnly);
    let named = open.flat_map(|resolved| &resolved.entry.references);
    let here = named.filter(|named| is_home(named.repo.as_deref(), &notes.repo, notes.today.as_ref()));
    here.map(|named| named.number).collect()
}

/// Those of these issues that were not asked yet, the newest first: what a budget cuts off is the oldest.
///
/// # Errors
/// When the ledger cannot be read.
pub fn unasked(context: &Context, repo: &RepoName, open: &BTreeSet<u32>) -> Result<Vec<u32>, MineError> {
    let known = context.closers(repo)?;
    let new = open.iter().rev().filter(|number| !known.contains_key(number));
    Ok(new.copied().collect())
}

/// Asks who closed these issues, and keeps it. Issues that were moved are asked where they went.
///
/// # Errors
/// When GitHub cannot be asked, its budget is spent, or the ledger cannot be written; what was asked before that is kept.
pub async fn ask(
    context: &Context,
    client: &Client,
    repo: &RepoName,
    open: &BTreeSet<u32>,
) -> Result<AskedClosers, MineError> {
    let mut asked = AskedClosers {
        open: open.len(),
        ..AskedClosers::default()
    };
    let numbers = unasked(context, repo, open)?;
    asked.asked += ask_repo(context, client, repo, &numbers).await?;
    let mut moved: BTreeMap<RepoName, Vec<u32>> = BTreeMap::new();
    for (_, told) in context.closers(repo)? {
        if let Closers::Other {
            fate: IssueFate::Transferred { to: Some(to) },
        } = told
            && context.said::<Closers>(Topic::Closers(&to))?.is_none()
        {
            moved.entry(to.repo).or_default().push(to.number);
        }
    }
    for (there, numbers) in moved {
        match ask_repo(context, client, &there, &numbers).await {
            // It is gone, or must not be seen: nobody knows who closed them.
            Err(MineError::Github(GithubError::NoRepository { .. })) => {
                let absent = numbers.into_iter().map(|number| {
                    let fate = IssueFate::Absent;
                    (number, Step::Known(Told::Whole(Closers::Other { fate })))
                });
                keep(context, &there, absent.collect())?;
            }
            other => asked.asked += other?,
        }
    }
    for (number, told) in context.closers(repo)? {
        if open.contains(&number) {
            *asked.fates.entry(told.name()).or_default() += 1;
        }
    }
    Ok(asked)
}

async fn ask_repo(
    context: &Context,
    client: &Client,
    repo: &RepoName,
    numbers: &[u32],
) -> Result<usize, MineError> {
    // What an earlier run half read is gone on with.
    let mut begun = Begun::nothing();
    let mut new = Vec::new();
    for number in numbers {
        let id = IssueId {
            repo: repo.clone(),
            number: *number,
        };
        if let Some((_, part)) = context.said::<Part>(Topic::ClosersPart(&id))? {
            begun.pages.push((*number, part));
        } else if context.is_kept(Topic::Missing(&id))? {
            begun.missing.push(*number);
        } else {
            new.push(*number);
        }
    }
    let mut count = 0;
    client
        .closers(repo, &new, begun, |batch| {
            let whole = |(_, step): &&(u32, Step<Told>)| matches!(step, Step::Known(Told::Whole(_)));
            count += batch.iter().filter(whole).count();
            keep(context, repo, batch)
        })
        .await?;
    Ok(count)
}

fn keep(context: &Context, repo: &RepoName, batch: Vec<(u32, Step<Told>)>) -> Result<(), MineError> {
    let (mut forget, mut replies) = (Vec::new(), Vec::new());
    for (number, step) in batch {
        let id = IssueId {
            repo: repo.clone(),
            number,
        };
        let (part, missing) = (Topic::ClosersPart(&id), Topic::Missing(&id));
        forget.extend([part.name(), missing.name()]);
        replies.push(match step {
            Step::Known(Told::Whole(told)) => context.reply(Topic::Closers(&id), None, &told)?,
            Step::Known(Told::Part(read)) => context.reply(part, None, &read)?,
            Step::Missing => context.reply(missing, None, &())?,
        });
    }
    Ok(context.store.replace_replies(forget, replies)?)
}
