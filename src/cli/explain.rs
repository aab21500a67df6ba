//! `quarry explain OWNER/NAME#N`.

use super::args::ExplainArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::filter::explain::Story;
use crate::mine::split::Splitter;
use crate::pipeline::PipelineError;
use crate::recipe;
use crate::recipe::model::Split;

pub(super) fn run(args: &ExplainArgs, session: &Session) -> Result<ExitCode, CliError> {
    let context = session.open_read_only()?;
    let recipe = args
        .recipe
        .as_ref()
        .map(|file| recipe::load(file.as_std_path()))
        .transpose()?;
    let split = recipe
        .as_ref()
        .map_or_else(Split::default, |loaded| loaded.recipe.split.clone());
    let splitter = Splitter::new(&split).map_err(PipelineError::from)?;
    let id = &args.candidate;
    let candidate = context.store.candidate(id)?;
    let files = candidate.iter().flat_map(|candidate| &candidate.files);
    let parts = files.map(|file| splitter.part_of(file)).collect();
    let mut decisions = context.store.decisions(None, Some(id))?;
    if let Some(loaded) = &recipe {
        let dataset = &loaded.recipe.dataset.name;
        decisions.retain(|(scope, _)| scope == dataset || scope == crate::store::MINE_SCOPE);
    }
    let story = Story::new(
        id.clone(),
        candidate,
        parts,
        decisions,
        context.store.attempts(None, Some(id))?,
    );
    if story.is_empty() {
        let hints = vec![format!(
            "no head of this number was mined; `quarry status` lists what was, `quarry mine` reads {}",
            id.repo
        )];
        return Err(CliError::input(format!("find `{id}` in the ledger"), hints));
    }
    session.printer.result(&story, &story.text())?;
    Ok(ExitCode::Success)
}
