//! `quarry completions SHELL`.

use clap::CommandFactory as _;

use super::args::{Cli, CompletionsArgs};
use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;

pub(super) fn run(args: &CompletionsArgs, session: &Session) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "quarry", &mut script);
    let script = String::from_utf8_lossy(&script);
    if session.printer.json {
        let json = serde_json::json!({"shell": args.shell.to_string(), "script": script});
        session.printer.result(&json, "")?;
    } else {
        session.printer.raw(&script)?;
    }
    Ok(ExitCode::Success)
}
