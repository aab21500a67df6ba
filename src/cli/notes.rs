//! `quarry notes --mirror PATH|URL`, `--repo OWNER/NAME`: release notes as entries, with the pull requests that they tell of.

use std::fmt::Write as _;
use std::path::Path;

use camino::Utf8PathBuf;
use clap::Args;
use serde::Serialize;

use super::args::{GithubArgs, SourceArgs, repository};
use super::error::CliError;
use super::exit_code::ExitCode;
use super::github;
use super::run::stopped;
use super::session::Session;
use crate::domain::ids::RepoName;
use crate::domain::notes::Kind;
use crate::git::Mirror;
use crate::git::transport::{self, Transfer};
use crate::mine::release_notes::order::{is_of, is_since, is_unreleased, newest_first, version_of};
use crate::mine::release_notes::resolve::Resolved;
use crate::mine::release_notes::run::{Notes, Settings, notes};
use crate::mine::release_notes::summary::{Summary, summary};
use crate::pipeline::PipelineError;
use crate::pipeline::notes::{self as noted, Told};
use crate::pipeline::source::Place;
use crate::recipe;
use crate::recipe::model::Enrich;

/// What the names of tags begin with.
const TAGS: &str = "refs/tags/";

/// `quarry notes`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Release notes are found by their paths and contents: changelogs and \"what's new\" pages in reStructuredText and
Markdown, and towncrier's fragments, also those that a release took up and deleted. The folder and the types of fragments
are also read from towncrier's configuration. Every item is an entry, with or without a reference. Its pull requests are
those that it names; else the one whose commits added its fragment; else the one that closed the issue that it names; else
the one whose commits wrote its lines first, before they were moved or reworded. What landed after an entry's version, or
in an older one, is not taken, and neither is who only wrote down what others did. `--json` has everything that was found,
and why.

With `--repo` alone, or with `--enrich all`, GitHub is asked for the texts of its releases, which are read as notes, too,
and for who closed the issues that entries name and git does not resolve (their timelines). What was asked is kept in
the workspace, and is used there from then on.

Examples:
  quarry notes --mirror mirrors/pylint.git
  quarry notes --mirror mirrors/xarray.git --since v2024.01.0 --features
  quarry notes --mirror mirrors/flask.git --repo pallets/flask --json
  quarry notes --mirror https://example.org/pallets/flask.git
  quarry notes --mirror mirrors/flask.git --repo pallets/flask --enrich all --dry-run
  quarry notes --repo pallets/flask")]
pub struct NotesArgs {
    /// A git mirror with `refs/pull/*`: a folder, or a URL that git clones
    #[arg(long, value_name = "PATH|URL")]
    pub mirror: Option<String>,
    /// A repository of GitHub: git clones it, and GitHub is asked; with `--mirror`, its name, where the mirror does not tell it
    #[arg(long, value_name = "OWNER/NAME", value_parser = repository)]
    pub repo: Option<RepoName>,
    /// Only this version and those after it; `unreleased`: only what has no version yet
    #[arg(long, value_name = "TAG")]
    pub since: Option<String>,
    /// Only features, enhancements, new checks and extensions
    #[arg(long)]
    pub features: bool,
    /// Only the counts
    #[arg(long)]
    pub summary: bool,
    /// Read the notes as this recipe's `[notes]` says
    #[arg(long, value_name = "RECIPE")]
    pub recipe: Option<Utf8PathBuf>,
    /// What GitHub is asked.
    #[command(flatten)]
    pub github: GithubArgs,
}

pub(super) async fn run(args: &NotesArgs, session: &Session) -> Result<ExitCode, CliError> {
    let recipe = args
        .recipe
        .as_ref()
        .map(|file| recipe::load(file.as_std_path()))
        .transpose()?;
    let source = SourceArgs {
        mirror: args.mirror.clone(),
        repo: args.repo.clone(),
        sample: false,
    };
    let Some(Place::Mirror(place)) = github::place(&source, &args.github)? else {
        let hint = "give `--mirror PATH`, `--mirror URL` or `--repo OWNER/NAME`".to_owned();
        return Err(CliError::usage("find release notes to read", vec![hint]));
    };
    let mut settings = Settings {
        mirror: session.here.join(&place).into_std_path_buf(),
        repo: args.repo.clone(),
        notes: recipe.map(|loaded| loaded.recipe.notes).unwrap_or_default(),
        jobs: session.jobs,
        ..Settings::default()
    };
    let asking =
        github::asking(&args.github, &source, None, session)?.filter(|asking| asking.about != Enrich::None);
    let mut mirror = settings.mirror.clone();
    let is_folder = transport::url(&place).map_err(PipelineError::from)?.is_none();
    let (mut found, told) = if asking.is_none() && is_folder {
        (here(&settings, session)?, None)
    } else {
        let (context, _lock) = session.open()?;
        if !is_folder {
            if noted::mirror(&context, &place, &mut settings)? == Transfer::Stopped {
                return Ok(stopped(session));
            }
            mirror.clone_from(&settings.mirror);
        }
        match &asking {
            Some(asking) => {
                let (found, told) = noted::ask(&context, settings, asking).await?;
                (found, Some(told))
            }
            None => (noted::known(&context, settings)?, None),
        }
    };
    let warnings = warnings(&found);
    for warning in &warnings {
        session.printer.note(&format!("warning: {warning}"));
    }
    if let Some(tag) = &args.since {
        if is_since(None, tag).is_none() {
            let hint = "give a version: `v2.31.0`, `2.31`, `5`, `pylint-3.0.0`".to_owned();
            return Err(CliError::usage(
                format!("read `{tag}` of `--since` as a version"),
                vec![hint],
            ));
        }
        if !is_known(tag, &found, &mirror) {
            return Err(unknown(tag, &found));
        }
        found
            .entries
            .retain(|resolved| is_since(resolved.entry.version.as_deref(), tag) == Some(true));
    }
    if args.features {
        found.entries.retain(|resolved| resolved.entry.kind.is_feature());
    }
    if args.since.is_some() || args.features {
        found.summary = summary(&found.entries);
    }
    if args.summary {
        found.entries.clear();
    }
    let mut text = text(&found);
    let mut is_paused = false;
    if let Some(told) = &told {
        text.push_str(&asked(told));
        is_paused = matches!(told, Told::Asked { stopped: Some(_), .. });
    }
    session.printer.result(
        &Read {
            notes: found,
            github: told,
            warnings,
        },
        &text,
    )?;
    Ok(if is_paused {
        ExitCode::Interrupted
    } else {
        ExitCode::Success
    })
}

/// What may not be as it was meant: a pattern of the recipe's that matches no file, and that there is nothing to read.
fn warnings(found: &Notes) -> Vec<String> {
    let idle = found
        .unmatched
        .iter()
        .map(|glob| format!("no file matches `{glob}` in the recipe's `notes.files`"));
    let nothing = found.entries.is_empty().then(|| {
        format!(
            "no release notes found in {}; name their files in a recipe (`files` under `[notes]`) and give it with `--recipe`",
            found.repo
        )
    });
    idle.chain(nothing).collect()
}

/// Whether a version is one that the notes tell of, or that the mirror has a tag of, by its name or by its version.
fn is_known(tag: &str, found: &Notes, mirror: &Path) -> bool {
    let versions = found
        .entries
        .iter()
        .filter_map(|resolved| resolved.entry.version.as_deref());
    let is_tag = |mirror: &Mirror| {
        let tags = mirror.refs(TAGS).unwrap_or_default();
        let mut versions = tags
            .iter()
            .filter_map(|tip| version_of(tip.name.strip_prefix(TAGS)?));
        versions.any(|version| is_of(&version, tag))
    };
    is_unreleased(tag)
        || versions.into_iter().any(|version| is_of(version, tag))
        || Mirror::open(mirror).is_ok_and(|mirror| mirror.resolve(tag).is_ok() || is_tag(&mirror))
}

fn unknown(tag: &str, found: &Notes) -> CliError {
    const SHOWN: usize = 8;
    let entries = found.entries.iter();
    let versions = newest_first(entries.filter_map(|resolved| resolved.entry.version.as_deref()));
    let hint = match versions.as_slice() {
        [] => "the notes tell of no version".to_owned(),
        some if some.len() > SHOWN => {
            format!("the notes tell of {} and older ones", some[..SHOWN].join(", "))
        }
        some => format!("the notes tell of {}", some.join(", ")),
    };
    CliError::input(
        format!("find the version `{tag}` of `--since` in {}", found.repo),
        vec![hint],
    )
}

/// The notes of a mirror, with what the workspace here, if there is one, knows from GitHub.
fn here(settings: &Settings, session: &Session) -> Result<Notes, CliError> {
    Ok(if session.workspace.ledger().exists() {
        noted::known(&session.open_read_only()?, settings.clone())?
    } else {
        notes(settings).map_err(PipelineError::from)?
    })
}

/// What asking came to, for a reader.
fn asked(told: &Told) -> String {
    match told {
        Told::WouldCost {
            issues,
            requests,
            points,
        } => format!(
            "asking GitHub who closed {issues} issues that git does not resolve: {requests} requests, {points} points at \
             least; a token has 5000 points an hour\n"
        ),
        Told::Asked {
            closers,
            spent,
            stopped,
        } => {
            let mut text = closers.as_ref().map(github::closers).unwrap_or_default();
            text.push_str(&github::cost(spent, 0));
            if let Some(why) = stopped {
                let _ = writeln!(text, "stopped: failed to {why}; the same command goes on");
            }
            text
        }
    }
}

#[derive(Serialize)]
struct Read {
    #[serde(flatten)]
    notes: Notes,
    /// What was asked of GitHub, or what asking would cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    github: Option<Told>,
    /// What may not be as it was meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn text(notes: &Notes) -> String {
    let mut text = String::new();
    for resolved in &notes.entries {
        line(&mut text, resolved);
    }
    if !notes.entries.is_empty() {
        text.push('\n');
    }
    counts(&mut text, notes, &notes.summary);
    text
}

/// version, date, kind, pull requests, references, section: words.
fn line(text: &mut String, resolved: &Resolved) {
    let entry = &resolved.entry;
    let pulls: Vec<String> = resolved
        .chosen()
        .map(|found| {
            let best = found.evidence.first().map_or("", |evidence| evidence.name());
            let undone = if found.undone { ", reverted" } else { "" };
            format!("#{} ({best}{undone})", found.number)
        })
        .collect();
    let pulls = if pulls.is_empty() {
        resolved.outcome.name().to_owned()
    } else {
        pulls.join(", ")
    };
    let references: Vec<String> = entry
        .references
        .iter()
        .map(|found| format!("{}#{}", found.repo.as_deref().unwrap_or_default(), found.number))
        .collect();
    let words = entry.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words: String = words.chars().take(72).collect();
    let section = entry.section.join(" > ");
    let section: String = section.chars().take(28).collect();
    let _ = writeln!(
        text,
        "{:<10} {:<10}  {:<13}  {:<28}  {pulls:<18}  [{}]  {words}",
        entry.version.as_deref().unwrap_or("-"),
        entry.date.as_deref().unwrap_or("-"),
        entry.kind.name(),
        section,
        references.join(" "),
    );
}

fn counts(text: &mut String, notes: &Notes, summary: &Summary) {
    let features = &summary.features;
    let _ = writeln!(
        text,
        "{}: {} versions in {} files, {} entries ({} with a reference, {} resolved to a merged pull request)",
        notes.repo,
        summary.versions,
        summary.files,
        summary.entries,
        summary.with_reference,
        summary.resolved,
    );
    let _ = writeln!(
        text,
        "  features: {} entries, {} with a reference, {} resolved to {} merged pull requests ({} of them by a choice among equals)",
        features.entries,
        features.with_reference,
        features.resolved,
        features.pull_requests,
        features.ambiguous,
    );
    if notes.releases + notes.closers > 0 {
        let _ = writeln!(
            text,
            "  from GitHub: {} texts of releases, and who closed {} issues",
            notes.releases, notes.closers
        );
    }
    let outcomes: Vec<String> = features
        .outcomes
        .iter()
        .map(|(outcome, count)| format!("{count} {}", outcome.name()))
        .collect();
    if !outcomes.is_empty() {
        let _ = writeln!(text, "  how their search ended: {}", outcomes.join(", "));
    }
    let kinds: Vec<String> = Kind::ALL
        .iter()
        .filter_map(|kind| Some(format!("{} {}", summary.kinds.get(kind)?, kind.name())))
        .collect();
    let _ = writeln!(text, "  kinds: {}", kinds.join(", "));
}
