//! `quarry explain OWNER/NAME#N`.

use super::args::ExplainArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::pipeline::explain::explain;
use crate::pipeline::named::find;
use crate::recipe;

pub(super) fn run(args: &ExplainArgs, session: &Session) -> Result<ExitCode, CliError> {
    let context = session.open_read_only()?;
    let loaded = args
        .recipe
        .as_ref()
        .map(|file| recipe::load(file.as_std_path()))
        .transpose()?;
    let id = &find(&context, &args.candidate)?;
    let explained = explain(&context, id, loaded.as_ref().map(|loaded| &loaded.recipe))?;
    if explained.story.is_empty() {
        let hints = vec![format!(
            "no head of this number was mined; `quarry status` lists what was, `quarry mine` reads {}",
            id.repo
        )];
        return Err(CliError::input(format!("find `{id}` in the ledger"), hints));
    }
    session.printer.result(&explained, &explained.text())?;
    Ok(ExitCode::Success)
}
