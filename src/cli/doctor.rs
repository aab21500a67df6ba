//! `quarry doctor`: what this machine has for the job.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use tokio::process::Command;

use super::args::DoctorArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::machine::Machine;
use super::run::base_image;
use super::session::Session;
use crate::build::run::base_image as look_into;
use crate::sandbox::{self, ProbeState, Room, RoomKind};

/// One line of the answer.
#[derive(Serialize)]
struct Line {
    what: String,
    /// `good`, `less` (it works, with something less) or `bad`.
    state: &'static str,
    found: String,
    hints: Vec<String>,
}

impl Line {
    fn good(what: &str, found: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            state: "good",
            found: found.into(),
            hints: vec![],
        }
    }

    fn bad(what: &str, found: impl Into<String>, hint: &str) -> Self {
        Self {
            what: what.into(),
            state: "bad",
            found: found.into(),
            hints: vec![hint.into()],
        }
    }
}

pub(super) async fn run(args: &DoctorArgs, session: &Session) -> Result<ExitCode, CliError> {
    let machine = Machine::read();
    let mut lines = vec![
        program(&machine, "git", "install git (Debian: apt-get install git)").await,
        program(
            &machine,
            "uv",
            "install uv (pip install uv), or run scripts/setup and add target/tools/bin to PATH",
        )
        .await,
    ];
    lines.extend(interpreters(&machine));
    let scratch = tempfile::tempdir().map_err(|error| {
        CliError::machine(
            format!("make a temporary folder: {error}"),
            vec!["check TMPDIR".into()],
        )
    })?;
    lines.extend(
        sandbox::probe(scratch.path(), &machine.docker_settings())
            .into_iter()
            .map(|line| Line {
                what: line.what.to_owned(),
                state: match line.state {
                    ProbeState::Good => "good",
                    ProbeState::Less => "less",
                    ProbeState::Bad => "bad",
                },
                found: line.found,
                hints: line.hints,
            }),
    );
    if let Some(image) = &args.base_image {
        lines.push(in_image(image, &machine, scratch.path())?);
    }
    session.printer.result(&lines, &render(&lines))?;
    let sound = lines.iter().all(|line| line.state != "bad");
    Ok(if sound {
        ExitCode::Success
    } else {
        ExitCode::Unsound
    })
}

/// What containers would begin from.
fn in_image(text: &str, machine: &Machine, scratch: &Path) -> Result<Line, CliError> {
    const WHAT: &str = "base image";
    let mut docker = machine.docker_settings();
    docker.base_image = base_image(text, &docker)?;
    let room = Room::open(RoomKind::Docker, &docker, scratch);
    let failed = |message: String, hints| Line {
        hints,
        ..Line::bad(WHAT, format!("failed to {message}"), "")
    };
    let room = match room {
        Ok(room) => room,
        Err(error) => return Ok(failed(error.to_string(), error.hints())),
    };
    let found = look_into(&room, &machine.build_settings());
    Ok(match found {
        Ok(None) => Line::good(WHAT, "this machine's own programs"),
        Ok(Some(found)) if found.is_empty() => Line::bad(
            WHAT,
            "uv runs in it, and no Python 3",
            "add one to the image, or install one below your home: those in system folders are hidden by the image's",
        ),
        Ok(Some(found)) => {
            let versions: BTreeSet<_> = found.iter().map(|python| python.version.clone()).collect();
            let whose = if found.iter().any(|python| python.image.is_some()) {
                "its own"
            } else {
                "this machine's"
            };
            Line::good(
                WHAT,
                format!("uv runs in it, and so does {whose} Python {}", joined(versions)),
            )
        }
        Err(error) => failed(error.to_string(), error.hints()),
    })
}

fn render(lines: &[Line]) -> String {
    let width = lines.iter().map(|line| line.what.len()).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{:<4}  {:<width$}  {}", line.state, line.what, line.found);
        for hint in &line.hints {
            let _ = writeln!(text, "      {:<width$}  hint: {hint}", "");
        }
    }
    text
}

async fn version_of(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().await.ok()?;
    // Old interpreters print their version on standard error.
    let text = if output.stdout.is_empty() {
        output.stderr
    } else {
        output.stdout
    };
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&text).trim().to_owned())
}

async fn program(machine: &Machine, name: &str, hint: &str) -> Line {
    let Some(path) = machine.program(name) else {
        return Line::bad(name, "not on PATH", hint);
    };
    match version_of(&path).await {
        Some(version) => Line::good(name, version),
        None => Line::bad(name, format!("`{}` does not run", path.display()), hint),
    }
}

fn interpreters(machine: &Machine) -> Vec<Line> {
    let search = machine.build_settings().search;
    let found: BTreeSet<_> = search
        .interpreters()
        .into_iter()
        .map(|python| python.version)
        .collect();
    let mut lines = vec![if found.is_empty() {
        Line::bad(
            "interpreters",
            "no Python 3 found",
            "install Python 3, by pyenv or `uv python install 3.11`",
        )
    } else {
        Line::good("interpreters", joined(found))
    }];
    let older = search.older();
    if !older.is_empty() {
        let use_of = "for `quarry strip --verify-with` alone: environments begin at Python 3.6";
        lines.push(Line::good("Python 2", format!("{} ({use_of})", joined(older))));
    }
    lines
}

fn joined(versions: impl IntoIterator<Item = impl ToString>) -> String {
    let versions: Vec<_> = versions.into_iter().map(|version| version.to_string()).collect();
    versions.join(", ")
}
