//! The command line: one file a verb, each turning arguments into plain settings for a stage. No logic.
//!
//! The environment is read here and nowhere else ([`machine`]); standard output belongs to results
//! ([`printer`]); every way to end has a documented code ([`exit_code`]).

pub mod args;
pub mod build;
pub mod error;
pub mod evaluate;
pub mod exit_code;
pub mod machine;
pub mod printer;
pub mod session;

pub mod annotate;
pub mod audit;
mod check;
pub mod compare;
mod completions;
mod doctor;
mod emit;
mod explain;
pub mod export;
mod filter;
mod gc;
mod github;
mod images;
pub mod import;
mod init;
pub mod log;
mod mine;
pub mod notes;
mod output;
mod run;
pub mod sample;
mod status;
pub mod strip;
mod strip_one;
mod strip_policy;
mod usage;

use std::process::ExitCode as ProcessCode;

use args::{Cli, ImagesVerb, Verb};
use clap::Parser as _;
use error::CliError;
use exit_code::ExitCode;
use printer::Printer;
use session::Session;

use crate::domain::address;

/// Reads the command line, does what it says, and tells the shell how it ended.
pub fn main() -> ProcessCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return unread(&said),
    };
    let printer = Printer {
        json: cli.global.json,
        quiet: cli.global.quiet,
    };
    trace(cli.global.verbose);
    match start(&cli) {
        Ok(code) => code.into(),
        Err(error) => {
            printer.error(&error);
            error.exit.into()
        }
    }
}

/// Shows what clap says of the command line: help, the version, or what is wrong with it, with `--json` also as a document.
fn unread(said: &clap::Error) -> ProcessCode {
    if !said.use_stderr() {
        let _ = said.print();
        return ExitCode::Success.into();
    }
    let printer = Printer {
        json: usage::asks_for_json(std::env::args_os()),
        quiet: false,
    };
    let words = said.render().to_string();
    if address::shown(&words) == words {
        // In colours, where there are some.
        let _ = said.print();
    } else {
        printer.refused(&words);
    }
    let error = usage::refusal(&words);
    printer.document(&error);
    error.exit.into()
}

/// `-vv` and more shows what the program does inside; `QUARRY_LOG` narrows it.
fn trace(verbose: u8) {
    use tracing_subscriber::filter::{EnvFilter, LevelFilter};
    let level = match verbose {
        0 | 1 => LevelFilter::WARN,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let filter = EnvFilter::builder()
        .with_default_directive(level.into())
        .with_env_var("QUARRY_LOG")
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

fn start(cli: &Cli) -> Result<ExitCode, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::machine(format!("start the runtime's threads: {error}"), vec![]))?;
    runtime.block_on(async {
        let session = Session::new(&cli.global)?;
        session::listen(session.cancel.clone(), session.printer);
        let ended = match &cli.verb {
            Verb::Init(args) => init::run(args, &session),
            Verb::Check(args) => check::run(args, &session),
            Verb::Doctor(args) => doctor::run(args, &session).await,
            Verb::Run(args) => run::run(args, &session).await,
            Verb::Filter(args) => filter::run(args, &session),
            Verb::Mine(args) => mine::run(args, &session).await,
            Verb::Notes(args) => notes::run(args, &session).await,
            Verb::Build(args) => Box::pin(build::run(args, &session)).await,
            Verb::Verify(args) => run::verify(args, &session).await,
            Verb::Emit(args) => match (&args.recipe, &args.verify) {
                (_, Some(folder)) => emit::verify(folder, &session),
                (Some(recipe), None) => run::emit(recipe, args, &session).await,
                (None, None) => Err(CliError::usage("find a recipe to emit", vec![])),
            },
            Verb::Evaluate(args) => Box::pin(evaluate::run(args, &session)).await,
            Verb::Audit(args) => audit::run(args, &session),
            Verb::Diff(args) => audit::run_diff(args, &session),
            Verb::Compare(args) => compare::run(args, &session),
            Verb::Sample(args) => sample::run(args, &session),
            Verb::Annotate { what } => annotate::run(what, &session),
            Verb::Export(args) => export::run(args, &session),
            Verb::Import(args) => import::run(args, &session),
            Verb::Strip(args) => strip::run(args, &session),
            Verb::Images { what } => match what {
                ImagesVerb::Build(args) => images::build(args, &session).await,
                ImagesVerb::Check(args) => images::check(args, &session),
            },
            Verb::Gc(args) => gc::run(args, &session),
            Verb::Status => status::run(&session),
            Verb::Explain(args) => explain::run(args, &session),
            Verb::Log(args) => log::run(args, &session),
            Verb::Completions(args) => completions::run(args, &session),
        };
        if ended.is_err() {
            session.tidy();
        }
        ended
    })
}
