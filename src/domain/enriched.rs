//! A candidate with what the forge says of it: joined when it is read, never recorded with it, so that mining git again
//! and asking the forge again do not undo each other.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, FoundIn, IssueReference};
use super::forge::{GHOST, IssueFacts, IssueFate, IssueId, PullFacts, RepositoryFacts};
use super::ids::RepoName;

/// A pull request as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPull {
    /// What the forge said.
    pub facts: PullFacts,
    /// The references in its title and description.
    pub references: Vec<IssueReference>,
}

/// What the forge says of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enriched {
    /// The pull request.
    pub pull: PullFacts,
    /// The repository, where it was asked.
    pub repository: Option<RepositoryFacts>,
    /// When work began: the author date of its first commit, or when it was opened, whichever is earlier. What was said
    /// later may tell the solution.
    pub began_at: Timestamp,
    /// What it says it closes, and what became of each; `None` while one of them was not asked, or its comments were not
    /// read up to when work began.
    pub closes: Option<Vec<Closing>>,
}

/// Something that a pull request says it closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    /// Where the reference points to.
    pub id: IssueId,
    /// What is there; of an issue that was moved, what is there where it went to.
    pub fate: IssueFate,
}

impl Enriched {
    /// The issues that it closes, by place; `None` while they are not known.
    pub fn issues(&self) -> Option<impl Iterator<Item = (&IssueId, &IssueFacts)>> {
        let closes = self.closes.as_ref()?;
        Some(closes.iter().filter_map(|closing| match &closing.fate {
            IssueFate::Issue(facts) => Some((&closing.id, facts.as_ref())),
            _ => None,
        }))
    }

    /// Whether it may close issues that are not among [`Enriched::issues`].
    pub fn may_close_more(&self) -> bool {
        self.pull.hidden > 0 || self.closes.is_none()
    }

    /// Each issue's title and text, as SWE-bench joins them.
    pub fn texts(&self) -> Option<Vec<String>> {
        let text = |(_, issue): (&IssueId, &IssueFacts)| format!("{}\n{}", issue.title, issue.body);
        Some(self.issues()?.map(text).collect())
    }

    /// What was said under its issues before work began, oldest first, a paragraph each. Comments that the forge hides
    /// (spam, off-topic) are left out.
    pub fn hints(&self) -> Option<String> {
        let mut said: Vec<_> = self
            .issues()?
            .flat_map(|(_, issue)| issue.comments_before(self.began_at))
            .filter(|comment| !comment.minimized)
            .collect();
        said.sort_by_key(|comment| comment.created_at);
        let texts: Vec<_> = said.iter().map(|comment| comment.body.as_str()).collect();
        Some(texts.join("\n"))
    }

    /// When an issue's text, or a comment that is a hint, was edited after work began. Sorted.
    pub fn edited_later(&self) -> Option<Vec<Timestamp>> {
        let mut edits: Vec<_> = self
            .issues()?
            .flat_map(|(_, issue)| issue.edited_since(self.began_at))
            .collect();
        edits.sort_unstable();
        edits.dedup();
        Some(edits)
    }
}

/// When work on a pull request began.
pub fn began_at(candidate: &Candidate, pull: &PullFacts) -> Timestamp {
    let commits = candidate.commits.iter().map(|commit| commit.authored_at);
    commits.chain([pull.created_at]).min().unwrap_or(pull.created_at)
}

/// Every issue that a pull request says it closes, by keyword or by the forge's link, each once, sorted. `today` is what
/// the forge calls the candidate's repository: both names are one repository, which keeps the name it was mined under.
pub fn closing(candidate: &Candidate, known: &KnownPull, today: Option<&RepoName>) -> Vec<IssueId> {
    let own = &candidate.id.repo;
    let here = |repo: &str| repo.parse::<RepoName>().ok();
    let named = candidate.references.iter().chain(&known.references);
    let named = named
        .filter(|reference| reference.closes)
        .filter_map(|reference| {
            Some(IssueId {
                repo: match &reference.repo {
                    Some(repo) => here(repo)?,
                    None => own.clone(),
                },
                number: reference.number,
            })
        });
    let mut found: BTreeMap<(String, u32), IssueId> = BTreeMap::new();
    for mut id in named.chain(known.facts.closes.iter().cloned()) {
        if is_own(&id.repo, own, today) {
            if id.number == candidate.id.number {
                continue;
            }
            id.repo = own.clone();
        }
        found
            .entry((id.repo.to_string().to_ascii_lowercase(), id.number))
            .or_insert(id);
    }
    found.into_values().collect()
}

fn is_own(name: &RepoName, own: &RepoName, today: Option<&RepoName>) -> bool {
    name.is(own) || today.is_some_and(|today| name.is(today))
}

/// The candidate with what the forge says. `fate` tells what became of an issue's number, where that was asked.
#[must_use]
pub fn enriched(
    mut candidate: Candidate,
    known: KnownPull,
    repository: Option<RepositoryFacts>,
    fate: &dyn Fn(&IssueId) -> Option<IssueFate>,
) -> Candidate {
    let began = began_at(&candidate, &known.facts);
    let own = candidate.id.repo.clone();
    let today = repository.as_ref().map(|repository| repository.repo.clone());
    // Names that are the candidate's own repository's as well: what it is called today, and what it was called before.
    let mut names: Vec<RepoName> = today.iter().cloned().collect();
    let mut closes: Option<Vec<Closing>> = closing(&candidate, &known, today.as_ref())
        .into_iter()
        .map(|mut id| {
            let told = fate(&id)?;
            if let IssueFate::Issue(facts) = &told
                && facts.id.number == id.number
                && is_own(&facts.id.repo, &own, today.as_ref())
            {
                names.push(std::mem::replace(&mut id.repo, own.clone()));
            }
            let fate = match told {
                IssueFate::Transferred { to: Some(to) } => fate(&to)?,
                other => other,
            };
            if matches!(&fate, IssueFate::Issue(facts) if !facts.knows_comments_before(began)) {
                return None;
            }
            Some(Closing { id, fate })
        })
        .collect();
    if let Some(closes) = &mut closes {
        let mut seen = BTreeSet::new();
        closes.retain(|closing| seen.insert(closing.id.clone()));
        closes.sort_by_key(|closing| {
            (
                closing.id.repo.to_string().to_ascii_lowercase(),
                closing.id.number,
            )
        });
    }
    let KnownPull { facts, references } = known;
    let is_home = |name: &RepoName| name.is(&own) || names.iter().any(|other| name.is(other));
    let linked = facts.closes.iter().map(|id| IssueReference {
        repo: (!is_home(&id.repo)).then(|| id.repo.to_string()),
        number: id.number,
        closes: true,
        found_in: FoundIn::Linked,
        text: id.to_string(),
    });
    // The title was read before where git told it: its references would stand there twice.
    candidate
        .references
        .retain(|reference| reference.found_in != FoundIn::Title);
    candidate.references.extend(references.into_iter().chain(linked));
    for reference in &mut candidate.references {
        let written = reference
            .repo
            .as_deref()
            .and_then(|repo| repo.parse::<RepoName>().ok());
        if written.is_some_and(|repo| is_home(&repo)) {
            reference.repo = None;
        }
    }
    candidate
        .references
        .retain(|reference| reference.repo.is_some() || reference.number != candidate.id.number);
    candidate.title = Some(facts.title.clone());
    candidate.body = Some(facts.body.clone());
    candidate.author = Some(facts.author.clone().unwrap_or_else(|| GHOST.to_owned()));
    candidate.labels = Some(facts.labels.clone());
    candidate.forge = Some(Box::new(Enriched {
        began_at: began,
        pull: facts,
        repository,
        closes,
    }));
    candidate
}
