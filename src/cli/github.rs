//! What the command line says of GitHub: tokens, address, budget; and what came of asking, for a reader.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::args::{AskAbout, GithubArgs, SourceArgs};
use super::error::CliError;
use super::machine::Machine;
use super::session::Session;
use crate::domain::address::shown;
use crate::domain::forge::RepositoryFacts;
use crate::domain::ids::{CandidateId, RuleId};
use crate::github::address::{GITHUB, clone_base};
use crate::github::{Budget, Settings, Spent};
use crate::mine::release_notes::run::outside::AskedClosers;
use crate::mine::run::MineError;
use crate::mine::run::enrich::{Asked, Estimate};
use crate::pipeline::PipelineError;
use crate::pipeline::enrich::{Asking, Told};
use crate::pipeline::source::Place;
use crate::recipe::model::{Enrich, Recipe};

/// Where the command line says pull requests come from: the sample, a mirror, or a repository of GitHub that git clones.
pub(super) fn place(source: &SourceArgs, github: &GithubArgs) -> Result<Option<Place>, CliError> {
    if source.sample {
        return Ok(Some(Place::Sample));
    }
    Ok(match (&source.mirror, &source.repo) {
        (Some(mirror), _) => Some(Place::Mirror(mirror.clone())),
        (None, Some(repo)) => {
            let base =
                clone_base(api(github)).map_err(|error| PipelineError::from(MineError::from(error)))?;
            Some(Place::Mirror(format!("{base}/{repo}.git")))
        }
        (None, None) => None,
    })
}

fn api(args: &GithubArgs) -> &str {
    args.github_api.as_deref().unwrap_or(GITHUB)
}

/// How GitHub is asked; `None` when it is not: about the sample, and about a mirror where `--enrich` says nothing.
pub(super) fn asking(
    args: &GithubArgs,
    source: &SourceArgs,
    recipe: Option<&Recipe>,
    session: &Session,
) -> Result<Option<Asking>, CliError> {
    let by_name = source.mirror.is_none() && source.repo.is_some();
    let said = args.enrich.map(|about| match about {
        AskAbout::Survivors => Enrich::Survivors,
        AskAbout::All => Enrich::All,
        AskAbout::None => Enrich::None,
    });
    if said.is_none() && !by_name {
        if args.refresh || args.dry_run || args.budget.is_some() {
            let hint = "say whom GitHub is asked about: `--enrich survivors`, `--enrich all`".to_owned();
            return Err(CliError::usage("ask GitHub about nobody", vec![hint]));
        }
        return Ok(None);
    }
    if source.sample {
        let hint = "the sample is on no forge: drop `--enrich`".to_owned();
        return Err(CliError::usage("ask GitHub about the sample", vec![hint]));
    }
    let by_recipe = recipe.map(|recipe| recipe.source.enrich).unwrap_or_default();
    Ok(Some(Asking {
        about: said.unwrap_or(by_recipe),
        refresh: args.refresh,
        dry_run: args.dry_run,
        github: settings(args, session)?,
    }))
}

/// The client's settings; an address that is none is told here, before anything is mined.
pub(super) fn settings(args: &GithubArgs, session: &Session) -> Result<Settings, CliError> {
    let api = api(args);
    clone_base(api).map_err(|error| PipelineError::from(MineError::from(error)))?;
    let address = shown(api);
    let host = address
        .split_once("://")
        .map_or(address.as_str(), |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or(host);
    let host = if api == GITHUB { "github.com" } else { host };
    let mut settings = Settings::new(if args.dry_run {
        // Nothing is asked: nobody needs a token.
        vec![]
    } else {
        Machine::read().github_tokens(host)
    });
    api.clone_into(&mut settings.api);
    if let Some(budget) = &args.budget {
        settings.budget = match budget.parse() {
            Ok(points) => Budget {
                points: Some(points),
                ..Budget::default()
            },
            Err(_) => budget_file(budget, session)?,
        };
    }
    Ok(settings)
}

fn budget_file(name: &str, session: &Session) -> Result<Budget, CliError> {
    let file = session.here.join(name);
    let hint = || {
        vec!["give a number of points, or a TOML file with `points`, `requests` and `reserve`, for example `points = 500`".into()]
    };
    let text = std::fs::read_to_string(&file)
        .map_err(|error| CliError::input(format!("read the budget `{name}`: {error}"), hint()))?;
    toml::from_str(&text).map_err(|error| {
        CliError::input(
            format!("read the budget `{name}`: {}", error.to_string().trim()),
            hint(),
        )
    })
}

/// What came of asking, for a reader.
pub(super) fn render(told: &Told) -> String {
    match told {
        Told::WouldCost(estimate) => would_cost(estimate),
        Told::Asked(asked) => self::asked(asked),
        Told::Settled(rules) => settled(rules),
    }
}

fn settled(rules: &BTreeMap<CandidateId, RuleId>) -> String {
    let mut text = "GitHub is not asked: what git tells decides\n".to_owned();
    for (id, rule) in rules {
        let _ = writeln!(text, "  {id}: dropped by `{rule}`");
    }
    text
}

fn would_cost(estimate: &Estimate) -> String {
    let range = |(least, most): (u64, u64)| {
        if least == most {
            most.to_string()
        } else {
            format!("{least} to {most}")
        }
    };
    let mut text = String::new();
    if estimate.issues_in_notes > 0 {
        let _ = writeln!(
            text,
            "release notes name {} issues of which git does not tell who closed them",
            estimate.issues_in_notes
        );
    }
    let _ = writeln!(
        text,
        "asking GitHub about {} pull requests and the issues they close ({} named in git, {} if each closes another):\n  \
         {} requests, {} points; a token has 5000 points an hour",
        estimate.pulls,
        estimate.issues_named,
        estimate.issues_most,
        range(estimate.requests),
        range(estimate.points)
    );
    let _ = writeln!(
        text,
        "  certain of that: {} requests, {} points; on top come pages of comments beyond an issue's first 100, of releases \
         beyond the newest 100, and look-ups of numbers that are gone",
        estimate.requests.0, estimate.points.0
    );
    if estimate.issues_begun > 0 {
        let _ = writeln!(
            text,
            "  of {} issues that are half read at most {} more pages of comments: at most as many requests and points",
            estimate.issues_begun, estimate.comment_pages
        );
    }
    text
}

fn asked(asked: &Asked) -> String {
    let mut text = String::new();
    if let Some(facts) = &asked.repository {
        let _ = writeln!(text, "on GitHub: {}", one_line(facts));
        let _ = writeln!(text, "  {:>6} releases", asked.releases);
    }
    if let Some(closers) = &asked.closers {
        text.push_str(&self::closers(closers));
    }
    if asked.wanted > 0 {
        let _ = writeln!(
            text,
            "  {:>6} pull requests to be known, {} asked now, {} not shown by GitHub",
            asked.wanted, asked.pulls, asked.missing
        );
    }
    for (fate, count) in &asked.fates {
        let _ = writeln!(text, "  {count:>6} closed: {fate}");
    }
    if let Some(changed) = asked.changed {
        let _ = writeln!(text, "  {changed:>6} had changed since they were asked");
    }
    text.push_str(&cost(&asked.spent, asked.pulls));
    if let Some(why) = &asked.stopped {
        let _ = writeln!(text, "stopped: failed to {why}; the same command goes on");
    }
    text
}

/// Who closed what release notes name.
pub(super) fn closers(asked: &AskedClosers) -> String {
    let mut text = format!(
        "  {:>6} issues in release notes of which git does not tell who closed them, {} asked now\n",
        asked.open, asked.asked
    );
    for (fate, count) in &asked.fates {
        let _ = writeln!(text, "  {count:>6} of them: {fate}");
    }
    text
}

/// What it cost, and what that makes for 1,000 pull requests.
pub(super) fn cost(spent: &Spent, pulls: usize) -> String {
    let mut text = format!("cost: {} requests, {} points", spent.requests, spent.points);
    if pulls > 0 {
        let each = |count: u64| (count as f64 * 1000.0 / pulls as f64).round();
        let _ = write!(
            text,
            "; for 1,000 pull requests {} requests, {} points",
            each(spent.requests),
            each(spent.points)
        );
    }
    if spent.repeated > 0 {
        let _ = write!(text, "; {} sent again", spent.repeated);
    }
    if spent.waited_seconds > 0 {
        let _ = write!(text, "; waited {} s for limits", spent.waited_seconds);
    }
    text.push('\n');
    text
}

fn one_line(facts: &RepositoryFacts) -> String {
    let context = if facts.context_files.is_empty() {
        "no context files".to_owned()
    } else {
        facts.context_files.join(" ")
    };
    let archived = if facts.archived { ", archived" } else { "" };
    format!(
        "{}, {} stars, {}, {}{archived}, {} pull requests, {} issues, {context}",
        facts.repo,
        facts.stars,
        facts.language.as_deref().unwrap_or("no language"),
        facts.licence.as_deref().unwrap_or("no licence"),
        facts.pull_requests,
        facts.issues
    )
}

/// Repositories as a table.
pub(super) fn table(total: u64, found: &[RepositoryFacts], spent: &Spent) -> String {
    let width = found
        .iter()
        .map(|facts| facts.repo.to_string().len())
        .max()
        .unwrap_or_default()
        .max(10);
    let mut text = format!(
        "{:width$} {:>7} {:>7} {:>7}  {:12} {:14} context files\n",
        "repository", "stars", "pulls", "merged", "language", "licence"
    );
    for facts in found {
        let _ = writeln!(
            text,
            "{:width$} {:>7} {:>7} {:>7}  {:12} {:14} {}{}",
            facts.repo.to_string(),
            facts.stars,
            facts.pull_requests,
            facts.merged,
            facts.language.as_deref().unwrap_or("-"),
            facts.licence.as_deref().unwrap_or("-"),
            facts.context_files.join(" "),
            if facts.archived { " (archived)" } else { "" }
        );
    }
    let _ = writeln!(text, "{} of {total} repositories", found.len());
    text.push_str(&cost(spent, 0));
    text
}
