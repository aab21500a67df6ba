//! The issues that pull requests close: which are to be known, and how far; asked, and kept page by page.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Asked, Question};
use crate::domain::candidate::Candidate;
use crate::domain::enriched::{began_at, closing};
use crate::domain::forge::{IssueFacts, IssueFate, IssueId};
use crate::domain::ids::RepoName;
use crate::github::ask::{Begun, Step};
use crate::github::{Client, GithubError};
use crate::mine::run::MineError;
use crate::workspace::Context;
use crate::workspace::forge::{Knowledge, Topic};

/// The issues that pull requests close (or, of those that were not asked, say in git that they close), each with the latest
/// moment that its comments have to be known until.
pub(super) fn issues_of(
    knowledge: &Knowledge,
    candidates: &[Candidate],
    from_git_too: bool,
) -> BTreeMap<IssueId, Timestamp> {
    let mut found: BTreeMap<IssueId, Timestamp> = BTreeMap::new();
    for candidate in candidates {
        let today = knowledge.today(&candidate.id.repo);
        let (ids, moment) = match knowledge.pull(&candidate.id) {
            Some(known) => (
                closing(candidate, known, today),
                began_at(candidate, &known.facts),
            ),
            None if from_git_too => {
                let named = candidate.references.iter().filter(|reference| reference.closes);
                let here = named.filter(|reference| {
                    let repo = reference.repo.as_deref();
                    repo.is_none_or(|repo| today.is_some_and(|today| today.is_called(repo)))
                });
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

/// What is wanted of one repository's issues.
#[derive(Default)]
struct Wanted {
    /// The latest moment that each one's comments have to be known until.
    until: BTreeMap<u32, Timestamp>,
    /// Those of which the first pages are known.
    begun: BTreeMap<u32, Box<IssueFacts>>,
}

/// What is not known, or not known far enough, by repository.
fn wanted(knowledge: &Knowledge, candidates: &[Candidate]) -> BTreeMap<RepoName, Wanted> {
    let mut wanted: BTreeMap<RepoName, Wanted> = BTreeMap::new();
    for (mut id, moment) in issues_of(knowledge, candidates, false) {
        // One that was moved is wanted where it went.
        if let Some(IssueFate::Transferred { to: Some(to) }) = knowledge.issue(&id) {
            id = to.clone();
        }
        let begun = match knowledge.issue(&id) {
            None => None,
            Some(IssueFate::Issue(facts)) if !facts.knows_comments_before(moment) => Some(facts.clone()),
            Some(_) => continue,
        };
        let of = wanted.entry(id.repo).or_default();
        let until = of.until.entry(id.number).or_insert(moment);
        *until = (*until).max(moment);
        if let Some(facts) = begun {
            of.begun.insert(id.number, facts);
        }
    }
    wanted
}

/// Asks the issues that are not known, or not known far enough. Gives how many.
pub(super) async fn ask_issues(
    context: &Context,
    client: &Client,
    question: Question<'_>,
    asked: &mut Asked,
) -> Result<usize, MineError> {
    let knowledge = context.knowledge(Some(question.repo))?;
    let mut count = 0;
    for (repo, wanted) in wanted(&knowledge, question.candidates) {
        let Wanted { until, begun } = wanted;
        let (mut half, mut new) = (Begun::nothing(), Vec::new());
        for number in until.keys().filter(|number| !begun.contains_key(*number)) {
            let id = IssueId {
                repo: repo.clone(),
                number: *number,
            };
            if context.is_kept(Topic::Missing(&id))? {
                half.missing.push(*number);
            } else {
                new.push(*number);
            }
        }
        half.pages = begun.into_iter().collect();
        let mut met = BTreeSet::new();
        let mut keep = |batch: Vec<(u32, Step<IssueFate>)>| {
            for (number, _) in &batch {
                if met.insert(*number) {
                    count += 1;
                    asked.issues += 1;
                }
            }
            keep_issues(context, &repo, batch)
        };
        let enough = |facts: &IssueFacts| {
            let moment = until.get(&facts.id.number).copied().unwrap_or(Timestamp::MAX);
            facts.knows_comments_before(moment)
        };
        match client.issues(&repo, &new, half, &enough, &mut keep).await {
            // Another repository that must not be seen, or is gone: so are its issues.
            Err(MineError::Github(GithubError::NoRepository { .. })) if !repo.is(question.repo) => {
                let absent = until
                    .keys()
                    .map(|number| (*number, Step::Known(IssueFate::Absent)));
                keep(absent.collect())?;
            }
            other => other?,
        }
    }
    Ok(count)
}

/// Keeps how far issues were read, each in the place of what was known of it.
fn keep_issues(
    context: &Context,
    repo: &RepoName,
    batch: Vec<(u32, Step<IssueFate>)>,
) -> Result<(), MineError> {
    let (mut forget, mut replies) = (Vec::new(), Vec::with_capacity(batch.len()));
    for (number, step) in batch {
        let id = IssueId {
            repo: repo.clone(),
            number,
        };
        match step {
            Step::Missing => {
                forget.push(Topic::Issue(&id).name());
                replies.push(context.reply(Topic::Missing(&id), None, &())?);
            }
            Step::Known(fate) => {
                let updated = match &fate {
                    IssueFate::Issue(facts) => Some(facts.updated_at.to_string()),
                    _ => None,
                };
                forget.push(Topic::Missing(&id).name());
                replies.push(context.reply(Topic::Issue(&id), updated, &fate)?);
            }
        }
    }
    Ok(context.store.replace_replies(forget, replies)?)
}
