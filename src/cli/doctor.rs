//! `quarry doctor`: what this machine has for the job.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use serde::Serialize;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::args::DoctorArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::machine::Machine;
use super::run::base_image;
use super::session::Session;
use crate::build::run::base_image as look_into;
use crate::clock::SystemClock;
use crate::domain::event::Silent;
use crate::github::rest::RateLimit;
use crate::github::{Client, GithubError, Settings};
use crate::sandbox::{self, ProbeState, Room, RoomKind};

/// How long anybody else is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
const GITHUB_HOST: &str = "github.com";

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
    lines.extend(tokens(&machine, args.github_api.as_deref()).await);
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

/// GitHub's tokens: where they are from and how many, never what they are; with an API's address, what is left of each.
async fn tokens(machine: &Machine, api: Option<&str>) -> Vec<Line> {
    const WHAT: &str = "GitHub tokens";
    let host = api
        .and_then(|api| api.split_once("://"))
        .map_or(GITHUB_HOST, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or(host);
    let host = if host == "api.github.com" {
        GITHUB_HOST
    } else {
        host
    };
    let sources = machine.github_token_sources();
    let mut found: Vec<String> = sources
        .iter()
        .map(|(name, count)| format!("{count} in {name}"))
        .collect();
    if found.is_empty() && gh_has_one(machine, host).await {
        found.push("1 that `gh auth token` tells".to_owned());
    }
    if found.is_empty() {
        return vec![Line {
            what: WHAT.to_owned(),
            state: "less",
            found: "none: mirrors can be mined, GitHub cannot be asked".to_owned(),
            hints: vec![
                "set GITHUB_TOKEN (it needs no scope for what is public), or log in with `gh auth login`"
                    .to_owned(),
            ],
        }];
    }
    let mut lines = vec![Line::good(WHAT, found.join(", "))];
    let Some(api) = api else { return lines };
    let tokens = machine.github_tokens(host);
    let of = tokens.len();
    for (place, token) in (1..).zip(tokens) {
        let what = format!("token {place} of {of}");
        lines.push(match tokio::time::timeout(PATIENCE, left(api, token)).await {
            Ok(Ok(said)) => Line::good(&what, said),
            Ok(Err(error)) => Line {
                hints: error.hints(),
                ..Line::bad(&what, format!("failed to {error}"), "")
            },
            Err(_) => Line::bad(
                &what,
                format!("`{api}` does not answer"),
                "check the address and the network; mirrors can be mined without it",
            ),
        });
    }
    lines
}

/// What is left of a token's limits, for a reader.
async fn left(api: &str, token: SecretString) -> Result<String, GithubError> {
    let mut settings = Settings::new(vec![token]);
    api.clone_into(&mut settings.api);
    settings.timeout = PATIENCE;
    let client = Client::new(
        settings,
        Arc::new(SystemClock),
        Arc::new(Silent),
        CancellationToken::new(),
    )?;
    Ok(client.limits().await?.map_or_else(
        || "the server knows no limits".to_owned(),
        |limits| {
            let told = |name: &str, limit: RateLimit| {
                format!(
                    "{} of {} {name} left until {}",
                    limit.remaining, limit.limit, limit.resets_at
                )
            };
            format!(
                "{}, {}",
                told("points", limits.points),
                told("requests", limits.requests)
            )
        },
    ))
}

/// Whether `gh` knows a token of this host; one that waits for somebody to type is not waited for.
async fn gh_has_one(machine: &Machine, host: &str) -> bool {
    let Some(gh) = machine.program("gh") else {
        return false;
    };
    let mut command = Command::new(gh);
    command
        .args(["auth", "token", "--hostname", host])
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    matches!(output, Ok(Ok(output)) if output.status.success() && !output.stdout.trim_ascii().is_empty())
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
