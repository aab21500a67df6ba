//! `quarry filter RECIPE [--input FILE]`: the rules alone, on the ledger or on an existing dataset.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use serde::Serialize;

use super::args::FilterArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::run::load;
use super::session::Session;
use crate::domain::count::count;
use crate::emit::docs::Characteristics;
use crate::emit::docs::characteristics::table;
use crate::filter::Funnel;
use crate::filter::run::{Input, Output, filter_dataset};
use crate::mine::split::Splitter;
use crate::pipeline::PipelineError;
use crate::pipeline::documented::documented;
use crate::pipeline::select::{ask, field};
use crate::pipeline::source::{sources_of, spelled};
use crate::recipe::window::Window;

pub(super) fn run(args: &FilterArgs, session: &Session) -> Result<ExitCode, CliError> {
    match &args.input {
        Some(input) => dataset(args, input, session),
        None => ledger(args, session),
    }
}

#[derive(Serialize)]
struct Filtered {
    dataset: String,
    funnel: Funnel,
    /// Candidates that every rule kept, or that every rule on git kept while they are not verified.
    kept: Vec<String>,
    /// How large they are, by repository and of all, when documentation tells them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    characteristics: BTreeMap<String, Characteristics>,
}

fn ledger(args: &FilterArgs, session: &Session) -> Result<ExitCode, CliError> {
    let loaded = load(&args.recipe, &args.work)?;
    let (context, _lock) = session.open()?;
    let sources = sources_of(&context, &loaded.recipe)?;
    let only = spelled(&sources, &args.work.only);
    let field = field(&context, &loaded.recipe, &sources, &only)?;
    let selection = ask(&context, &loaded.recipe, &field, &BTreeMap::new())?;
    let told = documented(&context, &loaded.recipe, &sources, &field, &selection.waiting)?;
    let kept: Vec<_> = selection.waiting.iter().map(ToString::to_string).collect();
    let mut text = selection.funnel.text();
    let _ = writeln!(
        text,
        "\n{} of {} {} on to verification",
        kept.len(),
        count(field.candidates.len() as u64, "candidate"),
        if field.candidates.len() == 1 { "goes" } else { "go" }
    );
    if !told.characteristics.is_empty() {
        let _ = write!(text, "\n{}", table(&told.characteristics));
    }
    let filtered = Filtered {
        dataset: loaded.recipe.dataset.name.clone(),
        funnel: selection.funnel,
        kept,
        characteristics: told.characteristics,
    };
    session.printer.result(&filtered, &text)?;
    Ok(ExitCode::Success)
}

fn dataset(args: &FilterArgs, input: &camino::Utf8Path, session: &Session) -> Result<ExitCode, CliError> {
    let work = &args.work;
    if work.since.is_some() || work.before.is_some() || !work.only.is_empty() {
        let hint = "rows do not say when they were merged: drop the option, or filter the ledger (without `--input`)";
        return Err(CliError::usage(
            "apply `--since`, `--before` or `--only` to `--input`",
            vec![hint.to_owned()],
        ));
    }
    let loaded = load(&args.recipe, work)?;
    if Window::of(&loaded.recipe.source).is_some() {
        session
            .printer
            .note("warning: the recipe's `merged_since` and `merged_before` say nothing of a dataset's rows");
    }
    let splitter = Splitter::new(&loaded.recipe.split).map_err(PipelineError::from)?;
    let (context, _lock) = session.open()?;
    let input = if input == "-" {
        Input::Stream("standard input".to_owned(), Box::new(io::stdin()))
    } else {
        Input::File(input.to_owned())
    };
    let mut stdout = io::stdout().lock();
    let output = match &args.out {
        Some(file) => Output::File(file.clone()),
        // Standard output holds one thing: the funnel as JSON, or the rows.
        None if session.printer.json => Output::Nowhere,
        None => Output::Stream(&mut stdout),
    };
    let done = filter_dataset(&context, &loaded, input, output, &|file| splitter.part_of(file))
        .map_err(PipelineError::from)?;
    drop(stdout);
    let text = format!("{}selection log: {}\n", done.funnel.text(), done.selection_log);
    if session.printer.json || args.out.is_some() {
        session.printer.result(&done, &text)?;
    } else {
        session.printer.note(text.trim_end());
    }
    Ok(ExitCode::Success)
}
