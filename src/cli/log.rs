//! `quarry log OWNER/NAME#N`, `quarry log ADDRESS`.

use clap::Args;
use serde::Serialize;

use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::ids::{BlobId, CandidateId};
use crate::pipeline::explain::{LogOf, log};

/// `quarry log`.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// The pull request or the commit whose last log is meant, or a log's address (at least 4 of its digits)
    #[arg(value_name = "OWNER/NAME#N|OWNER/NAME@SHA|ADDRESS")]
    pub target: String,
    /// The attempt of this number, as `quarry explain` counts them
    #[arg(long, value_name = "N", conflicts_with = "stage")]
    pub attempt: Option<usize>,
    /// The last attempt at this stage
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    pub stage: Option<Stage>,
}

fn stage(text: &str) -> Result<Stage, String> {
    let known = Stage::ALL.into_iter().find(|stage| stage.name() == text);
    known.ok_or_else(|| {
        let names: Vec<_> = Stage::ALL.iter().map(|stage| stage.name()).collect();
        format!("the stages are {}", names.join(", "))
    })
}

#[derive(Serialize)]
struct Answer {
    log: BlobId,
    candidate: Option<CandidateId>,
    stage: Option<Stage>,
    outcome: Option<AttemptOutcome>,
    reason: Option<String>,
    /// Bytes that are no UTF-8 are replaced.
    text: String,
}

pub(super) fn run(args: &LogArgs, session: &Session) -> Result<ExitCode, CliError> {
    let of = of(args)?;
    let context = session.open_read_only()?;
    let found = log(&context, &of)?;
    if !session.printer.json {
        session.printer.bytes(&found.bytes)?;
        return Ok(ExitCode::Success);
    }
    let attempt = found.attempt.as_ref();
    let answer = Answer {
        log: found.log,
        candidate: attempt.map(|attempt| attempt.candidate.clone()),
        stage: attempt.map(|attempt| attempt.stage),
        outcome: attempt.map(|attempt| attempt.outcome),
        reason: attempt.map(|attempt| attempt.reason.clone()),
        text: String::from_utf8_lossy(&found.bytes).into_owned(),
    };
    session.printer.result(&answer, "")?;
    Ok(ExitCode::Success)
}

fn of(args: &LogArgs) -> Result<LogOf, CliError> {
    let target = &args.target;
    if !target.contains(['#', '@', '/']) {
        if args.attempt.is_some() || args.stage.is_some() {
            return Err(CliError::usage(
                format!("read `--attempt` or `--stage` beside the address `{target}`"),
                vec!["they choose among a pull request's attempts: write OWNER/NAME#N".to_owned()],
            ));
        }
        return Ok(LogOf::Address(target.clone()));
    }
    let candidate = target.parse().map_err(|error| {
        CliError::usage(
            format!("read `{target}`: {error}"),
            vec!["write OWNER/NAME#N, OWNER/NAME@SHA, or a log's address".to_owned()],
        )
    })?;
    Ok(LogOf::Attempt {
        candidate,
        number: args.attempt,
        stage: args.stage,
    })
}
