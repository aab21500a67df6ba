//! The git program, run so that neither the user's settings nor the caller's environment bend what it does.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::error::GitError;

/// Variables that point git at another repository, another index or another behaviour.
const REMOVED: &[&str] = &[
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_ATTR_SOURCE",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DEFAULT_HASH",
    "GIT_DIFF_OPTS",
    "GIT_EXTERNAL_DIFF",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_TEMPLATE_DIR",
    "GIT_EXEC_PATH",
    "GIT_PROXY_COMMAND",
    "GIT_TRACE",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_SETUP",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
];

/// Which of the user's settings a command may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settings {
    /// None: what the command writes depends on its input alone.
    Isolated,
    /// Those for the network (proxies, certificates, `insteadOf`); credentials still are not asked for.
    Network,
}

/// A git command with a clean environment; the caller adds arguments and streams.
pub(super) fn git(settings: Settings) -> Command {
    let mut command = Command::new("git");
    for name in REMOVED {
        command.env_remove(name);
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_FLUSH", "0")
        // Mirrors made by another account (a mounted cache, a container's volume) are read all the same.
        .args([
            "-c",
            "safe.directory=*",
            "-c",
            "credential.helper=",
            "-c",
            "core.askPass=",
        ])
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "gc.auto=0",
        ]);
    match settings {
        Settings::Isolated => {
            command
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_SYSTEM", "/dev/null")
                .args(["-c", "core.attributesFile=/dev/null"]);
        }
        Settings::Network => {
            command
                .env_remove("GIT_ASKPASS")
                .env_remove("SSH_ASKPASS")
                .args(["-c", "core.sshCommand=ssh -oBatchMode=yes"]);
        }
    }
    command
}

/// Runs a prepared command to its end, feeding it `input`; a non-zero exit is not an error here.
pub(super) fn output(mut command: Command, name: &str, input: &[u8]) -> Result<Output, GitError> {
    let spawn = |source| GitError::Spawn {
        command: name.to_owned(),
        source,
    };
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(spawn)?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A child that ends without reading all of its input says why by its exit code.
            let _ = stdin.map(|mut pipe| pipe.write_all(input));
        });
        child.wait_with_output()
    })
    .map_err(spawn)
}

/// Runs a prepared command to its end and demands success.
pub(super) fn succeed(command: Command, name: &str, input: &[u8]) -> Result<Vec<u8>, GitError> {
    let output = output(command, name, input)?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(GitError::Program {
            command: name.to_owned(),
            detail: last_words(&output.stderr),
        })
    }
}

/// The end of what a command wrote to its standard error: at most 2,000 bytes, whole lines. `ssh` ends its own with a
/// carriage return as well.
pub(super) fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr).replace("\r\n", "\n");
    let text = text.trim();
    let mut start = text.len().saturating_sub(2000);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    if start > 0 {
        start += text[start..].find('\n').map_or(0, |at| at + 1);
    }
    if text.is_empty() {
        "it ended with an error and said nothing".to_owned()
    } else {
        text[start..].to_owned()
    }
}

/// The git program's version, as it says it (`git version 2.47.3`).
///
/// # Errors
/// When there is no git program on `PATH`.
pub fn version() -> Result<String, GitError> {
    let mut command = git(Settings::Isolated);
    command.arg("--version");
    Ok(String::from_utf8_lossy(&succeed(command, "--version", b"")?)
        .trim()
        .to_owned())
}

/// Sets the repository a command works in.
pub(super) fn in_dir(mut command: Command, git_dir: impl AsRef<Path>) -> Command {
    let mut argument = std::ffi::OsString::from("--git-dir=");
    argument.push::<&OsStr>(git_dir.as_ref().as_os_str());
    command.arg(argument);
    command
}
