//! The shell of mining: from a mirror, or an address to clone, to candidates and decisions in the ledger.

pub mod enrich;
mod error;
pub mod landings;
mod mirror;
mod reader;
mod refs;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

pub use error::MineError;
pub use mirror::{Batch, Read, Reading, read_mirror};
pub use refs::Refs;

use super::plan::{Known, Page};
use super::sides::Limits;
use crate::domain::address::shown;
use crate::domain::candidate::Candidate;
use crate::domain::event::Event;
use crate::domain::ids::RepoName;
use crate::git::transport::{self, Transfer};
use crate::git::{mirror_repo_name, name};
use crate::workspace::Context;

const STAGE: &str = "mine";

/// What to mine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The path of a bare mirror, or an address to clone.
    pub source: String,
    /// The repository, where the source does not tell it.
    pub repo: Option<RepoName>,
    /// Read every pull request again, also those that are known.
    pub again: bool,
    /// What makes a diff too long.
    pub limits: Limits,
}

/// What was mined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The repository.
    pub repo: RepoName,
    /// The mirror's folder.
    pub mirror: Utf8PathBuf,
    /// The refs that were read.
    #[serde(skip)]
    pub refs: Refs,
    /// Pull-request heads in the mirror.
    pub heads: usize,
    /// Those that earlier readings had decided.
    pub known: usize,
    /// Candidates that this reading found, by the road they landed on.
    pub candidates: BTreeMap<String, usize>,
    /// Pull requests that make no candidate, by rule, of this reading.
    pub decisions: BTreeMap<String, usize>,
    /// Whether it was stopped before its end; the next one goes on.
    pub stopped: bool,
}

impl Summary {
    /// How many candidates this reading found.
    pub fn found(&self) -> usize {
        self.candidates.values().sum()
    }
}

/// Mines a repository into the ledger. What is known already is not read again; a killed run loses at most one batch.
///
/// # Errors
/// When the source cannot be read or the ledger cannot be written.
pub async fn run(context: &Context, settings: &Settings) -> Result<Summary, MineError> {
    let (context, settings) = (context.clone(), settings.clone());
    let repo = settings
        .repo
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mined = tokio::task::spawn_blocking(move || mine(&context, &settings)).await;
    mined.unwrap_or(Err(MineError::Worker { repo }))
}

/// [`run`], for a caller that may block.
///
/// # Errors
/// As [`run`].
pub fn mine(context: &Context, settings: &Settings) -> Result<Summary, MineError> {
    let stop = || context.cancel.is_cancelled();
    let (mirror, repo, mut stopped) = mirror(context, settings)?;
    let cursor = format!("{STAGE}:{repo}/");
    let mut pages = context.store.cursors(&cursor)?;
    pages.sort_by_key(|(name, _)| name[cursor.len()..].parse::<u64>().unwrap_or_default());
    let mut number = pages
        .last()
        .map_or(0, |(name, _)| name[cursor.len()..].parse().unwrap_or(0));
    let known = if settings.again {
        Known::default()
    } else {
        known(&repo, pages)?
    };
    let reading = Reading {
        mirror: mirror.as_std_path(),
        repo: &repo,
        limits: settings.limits,
        jobs: context.jobs,
        known: &known,
        keep: &|diff| context.blobs.put(diff).map(|_| ()).map_err(Into::into),
        stop: &stop,
    };
    let (mut candidates, mut decisions) = (BTreeMap::new(), BTreeMap::new());
    let read = read_mirror(
        &reading,
        &mut |total| {
            context.events.emit(Event::StageStarted {
                stage: STAGE,
                unit: "pull requests",
                total: total as u64,
            });
        },
        &mut |batch| {
            let by = batch.page.heads.len() as u64;
            for candidate in &batch.candidates {
                *candidates.entry(road(candidate)).or_default() += 1;
            }
            for decision in &batch.decisions {
                *decisions.entry(decision.rule.to_string()).or_default() += 1;
            }
            number += 1;
            let page = serde_json::to_value(&batch.page).map_err(|source| MineError::Page {
                repo: repo.to_string(),
                source,
            })?;
            context.store.put_mined(
                batch.candidates,
                batch.decisions,
                Some((format!("{cursor}{number}"), page)),
            )?;
            context.events.emit(Event::Advanced { stage: STAGE, by });
            Ok(())
        },
    )?;
    stopped |= read.stopped;
    let summary = Summary {
        repo,
        mirror,
        refs: read.refs,
        heads: read.heads,
        known: read.known,
        candidates,
        decisions,
        stopped,
    };
    context.events.emit(Event::StageFinished {
        stage: STAGE,
        note: note(&summary),
    });
    Ok(summary)
}

/// The mirror's folder (cloned or fetched first, where the source is an address), its repository, and whether that was
/// stopped before its end.
///
/// # Errors
/// When there is no such mirror, it cannot be fetched, or its place does not tell its repository.
pub fn mirror(context: &Context, settings: &Settings) -> Result<(Utf8PathBuf, RepoName, bool), MineError> {
    let url = transport::url(&settings.source)?;
    let (mirror, repo) = place(context, settings, url.as_deref())?;
    let stopped = match &url {
        Some(url) => fetch(context, url, &mirror)? == Transfer::Stopped,
        None => false,
    };
    Ok((mirror, repo, stopped))
}

fn road(candidate: &Candidate) -> String {
    serde_json::to_value(candidate.merge.kind)
        .ok()
        .and_then(|kind| kind.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn note(summary: &Summary) -> String {
    let dropped: usize = summary.decisions.values().sum();
    let (found, known) = (summary.found(), summary.known);
    let stopped = if summary.stopped {
        "; stopped, the same command goes on"
    } else {
        ""
    };
    format!(
        "{}: {found} merged, {dropped} not, {known} known before{stopped}",
        summary.repo
    )
}

/// The mirror's folder and its repository, which keeps the spelling that it was first mined under.
fn place(
    context: &Context,
    settings: &Settings,
    url: Option<&str>,
) -> Result<(Utf8PathBuf, RepoName), MineError> {
    let source = &settings.source;
    let no_name = || MineError::NoName {
        mirror: shown(source),
    };
    if let Some(url) = url {
        let repo = settings
            .repo
            .clone()
            .or_else(|| name::name_in_url(&shown(url)))
            .ok_or_else(no_name)?;
        let repo = context.store.spelled(&repo)?;
        return Ok((
            context.workspace.mirrors().join(format!("{}.git", repo.flat())),
            repo,
        ));
    }
    let mirror = Utf8Path::new(source).to_owned();
    if !mirror.exists() {
        return Err(MineError::NoMirror {
            mirror: shown(source),
        });
    }
    let repo = settings
        .repo
        .clone()
        .or_else(|| mirror_repo_name(mirror.as_std_path()))
        .ok_or_else(no_name)?;
    Ok((mirror, context.store.spelled(&repo)?))
}

fn fetch(context: &Context, url: &str, mirror: &Utf8Path) -> Result<Transfer, MineError> {
    const STAGE: &str = "fetch";
    context.events.emit(Event::StageStarted {
        stage: STAGE,
        unit: "refs",
        total: 0,
    });
    let told = |_: &str| {};
    let done = transport::mirror(url, mirror.as_std_path(), &told, &|| {
        context.cancel.is_cancelled()
    })?;
    context.events.emit(Event::StageFinished {
        stage: STAGE,
        note: shown(url),
    });
    Ok(done)
}

fn known(repo: &RepoName, pages: Vec<(String, serde_json::Value)>) -> Result<Known, MineError> {
    let pages = pages.into_iter().map(|(_, page)| {
        // A page of another version has another shape: it counts for nothing.
        if page["version"] == super::verdicts::VERSION {
            serde_json::from_value(page)
        } else {
            Ok(Page::default())
        }
    });
    let pages: Result<Vec<Page>, _> = pages.collect();
    pages.map(Known::new).map_err(|source| MineError::Page {
        repo: repo.to_string(),
        source,
    })
}

#[cfg(test)]
mod story;
#[cfg(test)]
mod tests;
