//! `quarry doctor`: what this machine has for the job.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use tokio::process::Command;

use super::error::CliError;
use super::exit_code::ExitCode;
use super::machine::Machine;
use super::session::Session;
use crate::sandbox::{self, ProbeState};

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

pub(super) async fn run(session: &Session) -> Result<ExitCode, CliError> {
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
    session.printer.result(&lines, &render(&lines))?;
    let sound = lines.iter().all(|line| line.state != "bad");
    Ok(if sound {
        ExitCode::Success
    } else {
        ExitCode::Unsound
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
