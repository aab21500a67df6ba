//! `quarry completions SHELL`.

use clap::CommandFactory as _;

use super::args::{Cli, CompletionsArgs};
use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;

pub(super) fn run(args: &CompletionsArgs, session: &Session) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "quarry", &mut script);
    session.printer.raw(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::Success)
}
