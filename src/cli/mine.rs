//! `quarry mine --mirror PATH|URL`, `--repo OWNER/NAME`, `--search QUERY`.

use std::fmt::Write as _;

use serde::Serialize;

use super::args::MineArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::github;
use super::session::Session;
use crate::domain::forge::RepositoryFacts;
use crate::github::Spent;
use crate::mine::run::Summary;
use crate::pipeline::enrich::{self, Told};
use crate::pipeline::source;
use crate::recipe;

#[derive(Serialize)]
struct Mined {
    #[serde(flatten)]
    summary: Summary,
    /// What was asked of GitHub, or what asking would cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    github: Option<Told>,
}

#[derive(Serialize)]
struct Searched {
    total: u64,
    repositories: Vec<RepositoryFacts>,
    spent: Spent,
}

pub(super) async fn run(args: &MineArgs, session: &Session) -> Result<ExitCode, CliError> {
    if let Some(words) = &args.search {
        return search(words, args, session).await;
    }
    let Some(place) = github::place(&args.source, &args.github)? else {
        let hint = "give `--mirror PATH`, `--mirror URL`, `--repo OWNER/NAME`, or `--sample`".to_owned();
        return Err(CliError::usage("find a mirror to mine", vec![hint]));
    };
    let loaded = match &args.recipe {
        Some(file) => Some(recipe::load(file.as_std_path())?),
        None => None,
    };
    let recipe = loaded.as_ref().map(|loaded| &loaded.recipe);
    let asking = github::asking(&args.github, &args.source, recipe, session)?;
    // What only counts what asking would cost makes no workspace.
    let looking = if args.github.dry_run {
        session.looking()?
    } else {
        (session.clone(), None)
    };
    let (context, _lock) = looking.0.open()?;
    let (source, mut summary) = source::mine(&context, place, args.source.repo.clone(), args.again).await?;
    let mut text = render(&summary);
    let told = match &asking {
        Some(asking) if !summary.stopped => Some(enrich::tell(&context, recipe, &source, &[], asking).await?),
        _ => None,
    };
    if let Some(told) = &told {
        text.push_str(&github::render(told));
        // A spent budget is a stop, too.
        summary.stopped = matches!(told, Told::Asked(asked) if asked.stopped.is_some());
    }
    let stopped = summary.stopped;
    session.printer.result(
        &Mined {
            summary,
            github: told,
        },
        &text,
    )?;
    Ok(if stopped {
        ExitCode::Interrupted
    } else {
        ExitCode::Success
    })
}

async fn search(words: &str, args: &MineArgs, session: &Session) -> Result<ExitCode, CliError> {
    let settings = github::settings(&args.github, session)?;
    let (context, _lock) = session.open()?;
    let (total, repositories, spent) =
        enrich::search(&context, settings, words, usize::from(args.limit)).await?;
    let text = github::table(total, &repositories, &spent);
    session.printer.result(
        &Searched {
            total,
            repositories,
            spent,
        },
        &text,
    )?;
    Ok(ExitCode::Success)
}

fn render(summary: &Summary) -> String {
    let mut text = format!(
        "{}: {} pull-request heads, {} known before\n",
        summary.repo, summary.heads, summary.known
    );
    for (road, count) in &summary.candidates {
        let _ = writeln!(text, "  {count:>6} merged ({road})");
    }
    for (rule, count) in &summary.decisions {
        let _ = writeln!(text, "  {count:>6} {rule}");
    }
    if summary.stopped {
        text.push_str("interrupted; run the same command again to go on\n");
    }
    text
}
