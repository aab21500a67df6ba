//! `quarry run RECIPE`, `quarry verify RECIPE`, `quarry emit RECIPE`: the pipeline, whole or in part.

use camino::Utf8Path;

use super::args::{EmitArgs, RunArgs, SandboxArgs, SandboxKind, VerifyArgs, WorkArgs};
use super::error::CliError;
use super::exit_code::ExitCode;
use super::github::{self, place};
use super::machine::Machine;
use super::session::Session;
use crate::domain::image::{BadImage, BaseImage};
use crate::pipeline::enrich::{self, Told};
use crate::pipeline::source::{self, MinedSource, sources_of};
use crate::pipeline::{self, Outcome, PipelineError, Settings};
use crate::recipe::{self, LoadedRecipe};
use crate::sandbox::{self, DockerSettings, RoomKind};
use crate::workspace::Context;

pub(super) async fn run(args: &RunArgs, session: &Session) -> Result<ExitCode, CliError> {
    let loaded = load(&args.recipe, &args.work)?;
    let asking = github::asking(&args.github, &args.source, Some(&loaded.recipe), session)?;
    // What only counts what asking would cost makes no workspace.
    let looking = if args.github.dry_run {
        session.looking()?
    } else {
        (session.clone(), None)
    };
    let (context, _lock) = looking.0.open()?;
    let sources = match place(&args.source, &args.github)? {
        Some(place) => {
            let (source, summary) = source::mine(&context, place, args.source.repo.clone(), false).await?;
            if summary.stopped {
                return Ok(stopped(session));
            }
            vec![source.admitted_by(&loaded.recipe)?]
        }
        None => sources_of(&context, &loaded.recipe)?,
    };
    if let Some(asking) = &asking {
        let only = &args.work.only;
        let is_looked_at =
            |source: &&MinedSource| only.is_empty() || only.iter().any(|id| id.repo.is(&source.repo));
        for source in sources.iter().filter(is_looked_at) {
            let told = enrich::tell(&context, Some(&loaded.recipe), source, only, asking).await?;
            if asking.dry_run {
                session.printer.result(&told, &github::render(&told))?;
                return Ok(ExitCode::Success);
            }
            session.printer.note(github::render(&told).trim_end());
            if matches!(&told, Told::Asked(asked) if asked.stopped.is_some()) {
                return Ok(stopped(session));
            }
        }
    }
    go(
        &context,
        session,
        &loaded,
        &sources,
        settings(session, &loaded, &args.work, &args.sandbox)?,
        true,
    )
    .await
}

pub(super) async fn verify(args: &VerifyArgs, session: &Session) -> Result<ExitCode, CliError> {
    let loaded = load(&args.recipe, &args.work)?;
    let (context, _lock) = session.open()?;
    let sources = sources_of(&context, &loaded.recipe)?;
    go(
        &context,
        session,
        &loaded,
        &sources,
        settings(session, &loaded, &args.work, &args.sandbox)?,
        false,
    )
    .await
}

pub(super) async fn emit(
    recipe: &Utf8Path,
    args: &EmitArgs,
    session: &Session,
) -> Result<ExitCode, CliError> {
    if !args.work.only.is_empty() {
        let hint =
            "a version holds every candidate that the recipe keeps; `--only` is for `run` and `verify`";
        return Err(CliError::usage(
            "emit only some candidates",
            vec![hint.to_owned()],
        ));
    }
    let loaded = load(recipe, &args.work)?;
    let (context, _lock) = session.open()?;
    let sources = sources_of(&context, &loaded.recipe)?;
    let settings = Settings {
        only_recorded: true,
        ..settings(session, &loaded, &args.work, &args.sandbox)?
    };
    go(&context, session, &loaded, &sources, settings, true).await
}

async fn go(
    context: &Context,
    session: &Session,
    loaded: &LoadedRecipe,
    sources: &[MinedSource],
    settings: Settings,
    emit: bool,
) -> Result<ExitCode, CliError> {
    match pipeline::run(context, loaded, sources, settings, emit).await? {
        Outcome::Done(report) => {
            session.printer.result(&report, &report.text())?;
            Ok(ExitCode::Success)
        }
        Outcome::Interrupted => Ok(stopped(session)),
    }
}

/// Says that a command was interrupted, as JSON where that is asked for, and gives its exit code.
pub(super) fn stopped(session: &Session) -> ExitCode {
    if session.printer.json {
        // A closed pipe is no reason to end in another way.
        let _ = session
            .printer
            .result(&serde_json::json!({ "interrupted": true }), "");
    }
    session
        .printer
        .note("interrupted; run the same command again to go on");
    ExitCode::Interrupted
}

/// The recipe, with what the command line says of its window.
pub(super) fn load(file: &Utf8Path, work: &WorkArgs) -> Result<LoadedRecipe, CliError> {
    let mut loaded = recipe::load(file.as_std_path())?;
    let source = &mut loaded.recipe.source;
    for (given, setting, flag) in [
        (&work.since, &mut source.merged_since, "--since"),
        (&work.before, &mut source.merged_before, "--before"),
    ] {
        if let Some(day) = given {
            if day.parse::<jiff::civil::Date>().is_err() {
                let hint = "write it as YYYY-MM-DD, for example 2023-01-01".to_owned();
                return Err(CliError::usage(
                    format!("read `{day}` of `{flag}` as a day"),
                    vec![hint],
                ));
            }
            *setting = Some(day.clone());
        }
    }
    // Days are written so that their order is that of their texts.
    if let (Some(since), Some(before)) = (&source.merged_since, &source.merged_before)
        && since >= before
    {
        let hint = "`--before` names the first day that is left out, so it must be later".to_owned();
        return Err(CliError::usage(
            format!("look at what was merged from {since} to before {before}"),
            vec![hint],
        ));
    }
    Ok(loaded)
}

fn settings(
    session: &Session,
    loaded: &LoadedRecipe,
    work: &WorkArgs,
    sandbox: &SandboxArgs,
) -> Result<Settings, CliError> {
    Ok(Settings {
        only: work.only.clone(),
        ..room_settings(session, loaded, sandbox)?
    })
}

/// Where to install and test, and with what.
pub(super) fn room_settings(
    session: &Session,
    loaded: &LoadedRecipe,
    sandbox: &SandboxArgs,
) -> Result<Settings, CliError> {
    let machine = Machine::read();
    machine.install_pythons(&sandbox.install_python)?;
    let room = &loaded.recipe.room;
    let mut docker = machine.docker_settings();
    docker.base_image = match &sandbox.base_image {
        Some(text) => base_image(text, &docker)?,
        None => room.base_image.clone(),
    };
    docker.network.clone_from(&room.network);
    docker.cpus = room.cpus;
    let folder = session.workspace.state();
    let build = machine
        .build_settings()
        .opened_by(room, &machine.variables, folder.as_std_path())
        .map_err(PipelineError::from)?;
    Ok(Settings {
        only: vec![],
        room: match sandbox.sandbox {
            SandboxKind::Process => RoomKind::Process,
            SandboxKind::Docker => RoomKind::Docker,
            SandboxKind::None => RoomKind::None,
        },
        docker,
        min_free_bytes: sandbox.min_free.saturating_mul(1 << 20),
        build,
        only_recorded: false,
    })
}

/// An image as the command line names it. The daemon is asked for the digest of one that has none.
pub(super) fn base_image(text: &str, docker: &DockerSettings) -> Result<BaseImage, CliError> {
    text.parse().map_err(|error: BadImage| {
        let mut hints = error.hints();
        if let (BadImage::NoDigest(name), Some(pinned)) = (&error, sandbox::pinned(docker, text)) {
            hints.insert(0, format!("today `{name}` is `{pinned}`"));
        }
        CliError::usage(error.to_string(), hints)
    })
}
