//! What is asked of GitHub, and about whom: git first, the rules on what git alone knows, and only then the API.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::error::PipelineError;
use super::select::{ask, field};
use super::source::{MinedSource, spelled};
use super::told;
use crate::clock::SystemClock;
use crate::domain::candidate::Candidate;
use crate::domain::decision::Verdict;
use crate::domain::forge::RepositoryFacts;
use crate::domain::ids::{CandidateId, RuleId};
use crate::domain::path::RepoPath;
use crate::github::{Client, Settings};
use crate::mine::release_notes::run::outside;
use crate::mine::run::MineError;
use crate::mine::run::enrich::{Asked, Estimate, Question, enrich, estimate};
use crate::recipe::model::{Enrich, Recipe};
use crate::strip::context::reader;
use crate::workspace::Context;

/// How GitHub is asked.
#[derive(Debug, Clone)]
pub struct Asking {
    /// Whom about.
    pub about: Enrich,
    /// Whether what is known is asked again where it changed.
    pub refresh: bool,
    /// Whether only the cost is told.
    pub dry_run: bool,
    /// The tokens, the address, the budget.
    pub github: Settings,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// What it would cost.
    WouldCost(Estimate),
    /// What was asked.
    Asked(Box<Asked>),
    /// Nothing: what git alone tells drops every pull request that is looked at, by these rules.
    Settled(BTreeMap<CandidateId, RuleId>),
}

/// Whom GitHub is asked about.
#[derive(Debug, Default)]
struct Whom {
    candidates: Vec<Candidate>,
    /// The rules that drop others, whatever GitHub would tell.
    settled: BTreeMap<CandidateId, RuleId>,
    /// Whether nobody is left of whom GitHub could tell more.
    nobody: bool,
}

/// Asks GitHub about a mined repository's pull requests: with a recipe, those of its window, and for
/// [`Enrich::Survivors`] those that its rules keep on what is known so far; without one, every one. Of those only `only`,
/// unless it is empty: then nothing is asked where git alone drops them all.
///
/// # Errors
/// When GitHub or the ledger fail, or a rule cannot be computed.
pub async fn tell(
    context: &Context,
    recipe: Option<&Recipe>,
    source: &MinedSource,
    only: &[CandidateId],
    asking: &Asking,
) -> Result<Told, PipelineError> {
    let about = asking.about;
    let mut recipe = recipe.map(Cow::Borrowed);
    let mut reads = false;
    if let Some(whole) = &recipe
        && about != Enrich::None
        && told::reads(whole)?
    {
        if only.is_empty() {
            reads = true;
        } else {
            // What the notes name of some pull requests alone, these tell themselves (what they close): nobody else is
            // asked, and until then rules on the notes decide nothing.
            recipe = Some(Cow::Owned(told::without(whole)?));
        }
    }
    let recipe = recipe.as_deref();
    let noted = recipe.filter(|_| reads);
    let whom = || whom(context, recipe, source, only, about);
    let question = |candidates, refresh| Question {
        repo: &source.repo,
        candidates,
        refresh,
        is_context: &is_context,
    };
    if asking.dry_run {
        let in_notes = match noted {
            Some(recipe) => {
                let open = told::of(context, recipe, source)?.open;
                outside::unasked(context, &source.repo, &open)?.len()
            }
            None => 0,
        };
        let whom = whom()?;
        if whom.nobody {
            return Ok(Told::Settled(whom.settled));
        }
        let cost = estimate(
            context,
            question(&whom.candidates, false),
            in_notes,
            asking.github.batch,
        )?;
        return Ok(Told::WouldCost(cost));
    }
    let Some(noted) = noted else {
        let whom = whom()?;
        if whom.nobody {
            return Ok(Told::Settled(whom.settled));
        }
        let client = client(context, asking.github.clone())?;
        let asked = enrich(context, &client, question(&whom.candidates, asking.refresh)).await?;
        return Ok(Told::Asked(Box::new(asked)));
    };
    let client = client(context, asking.github.clone())?;
    // Who closed what the notes name decides whom the rules let through, and so whom is asked about.
    let mut first = enrich(context, &client, question(&[], asking.refresh)).await?;
    if first.stopped.is_some() {
        return Ok(Told::Asked(Box::new(first)));
    }
    let open = told::of(context, noted, source)?.open;
    let closers = match outside::ask(context, &client, &source.repo, &open).await {
        Err(MineError::Github(error)) if error.is_pause() => {
            first.stopped = Some(error.to_string());
            first.spent = client.spent();
            return Ok(Told::Asked(Box::new(first)));
        }
        other => other?,
    };
    let candidates = whom()?.candidates;
    let mut asked = enrich(context, &client, question(&candidates, false)).await?;
    asked.closers = Some(closers);
    asked.changed = first.changed;
    Ok(Told::Asked(Box::new(asked)))
}

fn whom(
    context: &Context,
    recipe: Option<&Recipe>,
    source: &MinedSource,
    only: &[CandidateId],
    about: Enrich,
) -> Result<Whom, PipelineError> {
    let sources = std::slice::from_ref(source);
    let here: Vec<_> = only
        .iter()
        .filter(|id| id.repo.is(&source.repo))
        .cloned()
        .collect();
    if here.is_empty() && !only.is_empty() {
        return Ok(Whom::default());
    }
    let only = spelled(sources, &here);
    let all = |candidates| Whom {
        candidates,
        ..Whom::default()
    };
    Ok(match (about, recipe) {
        (Enrich::None, _) => Whom::default(),
        (_, None) => all(context.store.candidates(Some(&source.repo))?),
        (Enrich::All, Some(recipe)) => all(field(context, recipe, sources, &only)?.candidates),
        (Enrich::Survivors, Some(recipe)) => {
            let mut field = field(context, recipe, sources, &only)?;
            let selection = ask(context, recipe, &field, &BTreeMap::new())?;
            let on: BTreeSet<_> = selection.waiting.iter().chain(&selection.kept).collect();
            let looked_at = field.candidates.len();
            field.candidates.retain(|candidate| on.contains(&candidate.id));
            let settled: BTreeMap<_, _> = selection
                .decisions
                .iter()
                .filter(|decision| decision.verdict == Verdict::Drop)
                .map(|decision| (decision.candidate.clone(), decision.rule.clone()))
                .collect();
            Whom {
                // Where all are looked at, the repository's own facts are asked all the same.
                nobody: !only.is_empty() && settled.len() == looked_at,
                candidates: field.candidates,
                settled,
            }
        }
    })
}

/// A client on the machine's clock.
///
/// # Errors
/// When there is no token, or the address is none.
pub fn client(context: &Context, settings: Settings) -> Result<Client, PipelineError> {
    let client = Client::new(
        settings,
        Arc::new(SystemClock),
        Arc::clone(&context.events),
        context.cancel.clone(),
    );
    Ok(client.map_err(MineError::from)?)
}

/// Repositories that GitHub's search finds, and how many there are in all.
///
/// # Errors
/// When GitHub fails.
pub async fn search(
    context: &Context,
    settings: Settings,
    words: &str,
    most: usize,
) -> Result<(u64, Vec<RepositoryFacts>, crate::github::Spent), PipelineError> {
    let client = client(context, settings)?;
    let found = client
        .search(words, most, &is_context)
        .await
        .map_err(MineError::from)?;
    Ok((found.total, found.repositories, client.spent()))
}

/// Whether a file or folder of the root instructs coding agents.
pub(super) fn is_context(path: &str) -> bool {
    reader(&RepoPath::from(path)).is_some() || reader(&RepoPath::from(format!("{path}/x").as_str())).is_some()
}
