//! What this machine grants a sandbox, line by line: `quarry doctor` shows it.

use std::path::Path;
use std::process::Command;

use super::docker::{Daemon, DockerSettings, apart};
use super::error::SandboxError;
use super::process::bubblewrap::Bubblewrap;
use super::process::{HostCgroup, Version, system};

/// One thing looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeLine {
    /// What was looked at.
    pub what: &'static str,
    /// How it stands.
    pub state: ProbeState,
    /// What was found.
    pub found: String,
    /// What a person can do about it.
    pub hints: Vec<String>,
}

/// How a thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProbeState {
    /// As it should be.
    Good,
    /// Quarry works, with something less.
    Less,
    /// The closed room cannot be had.
    Bad,
}

fn line(what: &'static str, state: ProbeState, found: impl Into<String>) -> ProbeLine {
    ProbeLine {
        what,
        state,
        found: found.into(),
        hints: Vec::new(),
    }
}

fn fault(what: &'static str, error: &SandboxError) -> ProbeLine {
    ProbeLine {
        hints: error.hints(),
        ..line(what, ProbeState::Bad, format!("failed to {error}"))
    }
}

/// Looks at everything the closed rooms are made of. `scratch` is a folder for small files. Runs a few programs,
/// some tens of milliseconds.
pub fn probe(scratch: &Path, docker: &DockerSettings) -> Vec<ProbeLine> {
    let mut lines = vec![bubblewrap()];
    match Bubblewrap::detect(scratch) {
        Ok(room) => {
            let (state, found) = match room.uid() {
                0 => (
                    ProbeState::Less,
                    "without a user namespace: jobs run as root, with no capabilities".to_owned(),
                ),
                uid => (
                    ProbeState::Good,
                    format!("jobs run as user {uid}, in namespaces of their own"),
                ),
            };
            lines.push(line("namespaces", state, found));
            lines.push(line("network", ProbeState::Good, "can be cut off"));
        }
        Err(error) => lines.push(fault("namespaces", &error)),
    }
    lines.push(groups());
    lines.push(match system::program("prlimit") {
        Ok(path) => line(
            "file size limit",
            ProbeState::Good,
            format!("by `{}`", path.display()),
        ),
        Err(_) => ProbeLine {
            hints: vec!["install `util-linux`".to_owned()],
            ..line(
                "file size limit",
                ProbeState::Less,
                "none: `prlimit` is not installed",
            )
        },
    });
    lines.push(daemon(docker));
    lines
}

/// Nobody needs a daemon who does not ask for its room.
fn daemon(settings: &DockerSettings) -> ProbeLine {
    const WHAT: &str = "container daemon";
    match apart(Daemon::find(settings)) {
        Ok(daemon) => {
            let rights = if daemon.rootless {
                ", without root's rights"
            } else {
                ""
            };
            let found = format!(
                "{} {}, API {}, at `{}`{rights}",
                daemon.name, daemon.version, daemon.api, daemon.address
            );
            line(WHAT, ProbeState::Good, found)
        }
        Err(error) => {
            let installed = ["dockerd", "docker", "podman"]
                .into_iter()
                .find(|name| system::program(name).is_ok());
            let (stands, mut hints) = match (&error, installed) {
                (SandboxError::NoDaemon { .. }, Some(name)) => (
                    format!("`{name}` is installed and no daemon of it answers here; "),
                    vec![match name {
                        "podman" => "start it: `systemctl --user start podman.socket`".to_owned(),
                        _ => "start it: `systemctl start docker`".to_owned(),
                    }],
                ),
                _ => (String::new(), vec![]),
            };
            // Of the error's own hints the first says how to install one.
            hints.extend(error.hints().into_iter().skip(hints.len()));
            ProbeLine {
                hints,
                ..line(
                    WHAT,
                    ProbeState::Less,
                    format!("no `--room docker`: {stands}failed to {error}"),
                )
            }
        }
    }
}

fn bubblewrap() -> ProbeLine {
    match system::program("bwrap") {
        Ok(path) => {
            let said = Command::new(&path)
                .arg("--version")
                .env_clear()
                .output()
                .map(|output| output.stdout);
            let version = String::from_utf8_lossy(&said.unwrap_or_default())
                .trim()
                .to_owned();
            line(
                "bubblewrap",
                ProbeState::Good,
                format!("{version} at `{}`", path.display()),
            )
        }
        Err(error) => fault("bubblewrap", &error),
    }
}

fn groups() -> ProbeLine {
    match HostCgroup::detect() {
        Some(groups) => {
            let version = match groups.version {
                Version::V1 => "version 1",
                Version::V2 => "version 2",
            };
            line(
                "memory and process limits",
                ProbeState::Good,
                format!("by control groups, {version}"),
            )
        }
        None => ProbeLine {
            hints: vec![
                "nothing has to be done; for limits kept by the kernel run Quarry in a scope of its own: \
                 `systemd-run --user --scope -p Delegate=yes quarry …`"
                    .to_owned(),
            ],
            ..line(
                "memory and process limits",
                ProbeState::Less,
                "by polling `/proc` every 50 ms: no control group can be made",
            )
        },
    }
}
