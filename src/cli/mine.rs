//! `quarry mine --mirror PATH|URL`.

use std::fmt::Write as _;

use super::args::{MineArgs, SourceArgs};
use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::mine::run::Summary;
use crate::pipeline::source::{self, Place};

pub(super) async fn run(args: &MineArgs, session: &Session) -> Result<ExitCode, CliError> {
    let Some(place) = place(&args.source) else {
        let hint = "give `--mirror PATH`, `--mirror URL`, or `--sample`".to_owned();
        return Err(CliError::usage("find a mirror to mine", vec![hint]));
    };
    let (context, _lock) = session.open()?;
    let (_, summary) = source::mine(&context, place, args.source.repo.clone(), args.again).await?;
    session.printer.result(&summary, &render(&summary))?;
    Ok(if summary.stopped {
        ExitCode::Interrupted
    } else {
        ExitCode::Success
    })
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

/// Where the command line says pull requests come from.
pub(super) fn place(args: &SourceArgs) -> Option<Place> {
    if args.sample {
        return Some(Place::Sample);
    }
    args.mirror.clone().map(Place::Mirror)
}
