//! A pull request's whole story, and any log by its attempt or its address. Reads only.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;

use super::error::PipelineError;
use super::named::{Named, find};
use super::search::{finished, own_key};
use super::told;
use super::tried::{self, Search};
use crate::domain::attempt::{Attempt, Stage};
use crate::domain::count::count;
use crate::domain::ids::{BlobId, CandidateId};
use crate::domain::notes::Note;
use crate::filter::explain::Story;
use crate::mine::split::Splitter;
use crate::recipe::model::Recipe;
use crate::store::MINE_SCOPE;
use crate::workspace::Context;

/// Everything the ledger knows of one pull request.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// What was found, decided, tried, and what tests said.
    #[serde(flatten)]
    pub story: Story,
    /// What release notes tell of it, as they were read last for a recipe that asks.
    pub notes: Vec<Note>,
    /// How environments were searched for, where no recipe says how to install it: one for each group that it was in.
    pub environments: Vec<EnvironmentStory>,
}

/// How the environment of one group was searched for.
#[derive(Debug, Serialize)]
pub struct EnvironmentStory {
    /// The group's key: candidates whose trees ask for the same have the same.
    pub group: String,
    /// How many candidates are in it.
    pub members: usize,
    /// Whose tree was searched for on behalf of the group, and what that came to; `None` while it did not come to an end.
    pub shared: Option<SearchStory>,
    /// The search for this candidate alone, where what the group has did not do.
    pub own: Option<SearchStory>,
}

/// A search.
#[derive(Debug, Serialize)]
pub struct SearchStory {
    /// Whose tree it looked at.
    pub of: CandidateId,
    /// What was tried and what was chosen.
    pub search: Search,
}

/// Puts a pull request's story together; with a recipe, split by it and told what its rules said.
///
/// # Errors
/// When the ledger cannot be read, or the recipe's split is none.
pub fn explain(
    context: &Context,
    id: &CandidateId,
    recipe: Option<&Recipe>,
) -> Result<Explained, PipelineError> {
    let id = &find(context, &Named::Pull(id.clone()))?;
    let split = recipe.map(|recipe| recipe.split.clone()).unwrap_or_default();
    let splitter = Splitter::new(&split)?;
    let store = &context.store;
    let candidate = context.candidate(id)?;
    let files = candidate.iter().flat_map(|candidate| &candidate.files);
    let parts = files.map(|file| splitter.part_of(file)).collect();
    let mut decisions = store.decisions(None, Some(id))?;
    if let Some(recipe) = recipe {
        decisions.retain(|(scope, _)| *scope == recipe.dataset.name || scope == MINE_SCOPE);
    }
    let attempts = store.attempts(None, Some(id))?;
    let mut environments = Vec::new();
    for asked in attempts.iter().filter(|attempt| attempt.stage == Stage::Ask) {
        environments.push(environment(context, id, &asked.input_key)?);
    }
    let told = told::kept(context, &id.repo)?;
    let mut told = told.map(|(_, told)| told.notes).unwrap_or_default();
    Ok(Explained {
        notes: told.remove(id).unwrap_or_default(),
        story: Story::new(id.clone(), candidate, parts, decisions, attempts),
        environments,
    })
}

fn environment(context: &Context, id: &CandidateId, group: &str) -> Result<EnvironmentStory, PipelineError> {
    let store = &context.store;
    let members: BTreeSet<_> = store
        .attempts_by_key(Stage::Ask, group)?
        .into_iter()
        .map(|attempt| attempt.candidate)
        .collect();
    let search = |key: &str| -> Result<Option<SearchStory>, PipelineError> {
        let found = store.attempts_by_key(Stage::Detect, key)?;
        Ok(found.into_iter().find_map(finished).map(|found| SearchStory {
            of: found.of,
            search: found.search,
        }))
    };
    Ok(EnvironmentStory {
        group: group.to_owned(),
        members: members.len(),
        shared: search(group)?,
        own: search(&own_key(group, id))?,
    })
}

impl Explained {
    /// The story for a reader.
    pub fn text(&self) -> String {
        let mut between = String::new();
        if !self.notes.is_empty() {
            between.push_str("\nrelease notes\n");
        }
        for note in &self.notes {
            write(&mut between, note);
        }
        for environment in &self.environments {
            environment.write(&mut between);
        }
        self.story.text(&between)
    }
}

/// An entry: version, kind, what shows that it is about this one, section, and its words.
fn write(text: &mut String, note: &Note) {
    let version = if note.version.is_empty() {
        "no version"
    } else {
        &note.version
    };
    let _ = writeln!(
        text,
        "  {version}  {} ({}), under {}",
        note.kind.name(),
        note.evidence,
        note.section
    );
    for line in note.text.lines() {
        let _ = writeln!(text, "      {line}");
    }
}

impl EnvironmentStory {
    fn write(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\nenvironment, shared by the {} of group {}",
            count(self.members as u64, "candidate"),
            &self.group[..self.group.len().min(12)]
        );
        match &self.shared {
            Some(shared) => {
                let _ = writeln!(text, "  searched for {}, the newest of them then", shared.of);
                indented(text, &tried::text(&shared.search));
            }
            None => text.push_str("  not searched for to an end yet\n"),
        }
        if let Some(own) = &self.own {
            text.push_str("  no test passed in that one here: searched for this candidate alone\n");
            indented(text, &tried::text(&own.search));
        }
    }
}

fn indented(text: &mut String, block: &str) {
    for line in block.lines() {
        let _ = writeln!(text, "  {line}");
    }
}

/// Which log is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogOf {
    /// The one at an address, or at the only address that begins so.
    Address(String),
    /// A pull request's attempt: the one of this number (from 1, as its story counts them), or the last one of this
    /// stage, or of any, that left a log.
    Attempt {
        /// The pull request, or the commit.
        candidate: Named,
        /// The attempt's number.
        number: Option<usize>,
        /// The attempt's stage.
        stage: Option<Stage>,
    },
}

/// A log's bytes, and whose they are.
#[derive(Debug)]
pub struct LogFound {
    /// Its address.
    pub log: BlobId,
    /// The attempt that left it, where it was asked for by that.
    pub attempt: Option<Attempt>,
    /// Its text, as it was written.
    pub bytes: Vec<u8>,
}

/// Reads a log. Diffs and locks have addresses of the same kind, and are read in the same way.
///
/// # Errors
/// [`PipelineError::NoLog`] when nothing is there, or more than one.
pub fn log(context: &Context, of: &LogOf) -> Result<LogFound, PipelineError> {
    let (log, attempt) = match of {
        LogOf::Address(text) => (by_address(context, text)?, None),
        LogOf::Attempt {
            candidate,
            number,
            stage,
        } => {
            let attempt = by_attempt(context, candidate, *number, *stage)?;
            let log = attempt.log.clone().ok_or_else(|| PipelineError::NoLog {
                what: format!("attempt {} of {candidate}", number.unwrap_or_default()),
                hint: "it left none: nothing had to be built or run for it".to_owned(),
            })?;
            (log, Some(attempt))
        }
    };
    let bytes = context.blobs.get(&log)?;
    Ok(LogFound { log, attempt, bytes })
}

/// An abbreviation shorter than this says too little.
const SHORTEST: usize = 4;

fn by_address(context: &Context, text: &str) -> Result<BlobId, PipelineError> {
    let none = |hint: String| PipelineError::NoLog {
        what: text.to_owned(),
        hint,
    };
    let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hex || !(SHORTEST..=64).contains(&text.len()) {
        return Err(none(format!(
            "write a log's address, at least {SHORTEST} of its hex digits, or OWNER/NAME#N"
        )));
    }
    let mut found = context.blobs.find(text)?;
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(none(
            "`quarry explain OWNER/NAME#N` shows the address of each of its logs".to_owned(),
        )),
        (Some(_), more) => Err(none(format!(
            "{} addresses begin so: write more of its digits",
            more + 1
        ))),
    }
}

fn by_attempt(
    context: &Context,
    candidate: &Named,
    number: Option<usize>,
    stage: Option<Stage>,
) -> Result<Attempt, PipelineError> {
    let candidate = &find(context, candidate)?;
    let store = &context.store;
    let attempts = store.attempts(None, Some(candidate))?;
    let all = attempts.len();
    let is_known =
        store.candidate(candidate)?.is_some() || !store.decisions(None, Some(candidate))?.is_empty();
    let hint = match (all, is_known) {
        (0, false) => format!(
            "no head of this number was mined; `quarry status` lists what was, `quarry mine` reads {}",
            candidate.repo
        ),
        (0, true) => format!("nothing was tried for it; `quarry explain '{candidate}'` says why"),
        _ => format!("`quarry explain '{candidate}'` lists its attempts"),
    };
    let found = match number {
        Some(number) => number
            .checked_sub(1)
            .and_then(|index| attempts.into_iter().nth(index)),
        None => attempts
            .into_iter()
            .rfind(|attempt| attempt.log.is_some() && stage.is_none_or(|stage| attempt.stage == stage)),
    };
    found.ok_or_else(|| PipelineError::NoLog {
        what: match (number, stage) {
            (Some(number), _) => format!("attempt {number} of {candidate}, which has {all}"),
            (None, Some(stage)) => format!("the stage {} of {candidate}", stage.name()),
            (None, None) => candidate.to_string(),
        },
        hint,
    })
}
