//! Cloning and fetching by the git program: into a bare mirror with every branch, tag and pull-request head.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::error::GitError;
use super::mirror::Mirror;
use super::program::{Settings, git, in_dir, last_words, succeed};

const REFSPECS: &[&str] = &[
    "+refs/heads/*:refs/heads/*",
    "+refs/tags/*:refs/tags/*",
    "+refs/pull/*/head:refs/pull/*/head",
];
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How a transfer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// Everything is here.
    Done,
    /// The caller asked to stop. What arrived whole is kept; the next call goes on.
    Stopped,
}

/// Whether a text is an address to clone from, not a path: `https://…`, `ssh://…`, `file://…`, `git@host:owner/name`.
pub fn is_url(text: &str) -> bool {
    let scp = text.split_once(':').is_some_and(|(host, rest)| {
        host.contains('@') && !host.contains('/') && !rest.starts_with('/') && !rest.is_empty()
    });
    scp || text.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty() && ["https", "http", "ssh", "git", "file"].contains(&scheme)
    })
}

/// Makes `into` a bare mirror of `url`, or brings the one that is there up to date: all branches, tags and pull-request
/// heads; what the other side removed is removed. A call that was cut off, even by a kill, is taken up by the next one:
/// the folder is a repository from the start, and refs move only once their objects are here. Nothing is asked on a
/// terminal and no credential helper runs. `progress` gets git's own words; `stop` is asked again and again.
///
/// # Errors
/// When git cannot run, the folder cannot be written, or the other side refuses.
pub fn mirror(
    url: &str,
    into: &Path,
    progress: &(dyn Fn(&str) + Sync),
    stop: &dyn Fn() -> bool,
) -> Result<Transfer, GitError> {
    prepare(url, into)?;
    let mut command = in_dir(git(Settings::Network), into);
    command.args([
        "fetch",
        "--prune",
        "--no-tags",
        "--force",
        "--no-write-fetch-head",
        "--progress",
        "--no-auto-gc",
    ]);
    command.arg("--").arg("origin").args(REFSPECS);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let spawn = |source| GitError::Spawn {
        command: "fetch".to_owned(),
        source,
    };
    let mut child = command.spawn().map_err(spawn)?;
    let stderr = child.stderr.take();
    let (stopped, words) = std::thread::scope(|scope| {
        let words = scope.spawn(|| stderr.map(|pipe| listen(pipe, progress)).unwrap_or_default());
        let stopped = wait(&mut child, stop);
        (stopped, words.join().unwrap_or_default())
    });
    if stopped.map_err(spawn)? {
        return Ok(Transfer::Stopped);
    }
    let status = child.wait().map_err(spawn)?;
    if !status.success() {
        return Err(GitError::Transfer {
            url: url.to_owned(),
            detail: last_words(&words),
        });
    }
    follow_default_branch(into)?;
    Ok(Transfer::Done)
}

/// A bare repository whose `origin` is `url`. Packs that a killed transfer left half-written are removed.
fn prepare(url: &str, into: &Path) -> Result<(), GitError> {
    let refused = |source| GitError::Write {
        path: into.to_owned(),
        source,
    };
    fs::create_dir_all(into).map_err(refused)?;
    let known = Mirror::open(into).is_ok();
    if !known
        && fs::read_dir(into)
            .map_err(refused)?
            .any(|entry| !is_of_init(entry))
    {
        return Err(GitError::NotEmpty {
            path: into.to_owned(),
        });
    }
    let mut init = git(Settings::Isolated);
    init.args([
        "init",
        "--bare",
        "--quiet",
        "--initial-branch=main",
        "--template=",
    ])
    .arg(into);
    succeed(init, "init", b"")?;
    for (name, value) in [
        ("remote.origin.url", url),
        ("gc.auto", "0"),
        ("fetch.fsckObjects", "false"),
    ] {
        let mut set = in_dir(git(Settings::Isolated), into);
        set.args(["config", name, value]);
        succeed(set, "config", b"")?;
    }
    let packs = into.join("objects/pack");
    for entry in fs::read_dir(&packs).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("tmp_") {
            let _ = fs::remove_file(entry.path());
        }
    }
    // A killed git leaves its locks; the workspace's own lock says that nobody else works here.
    for lock in ["config.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock"] {
        let _ = fs::remove_file(into.join(lock));
    }
    Ok(())
}

/// What a killed `git init` leaves behind.
fn is_of_init(entry: std::io::Result<fs::DirEntry>) -> bool {
    entry.is_ok_and(|entry| {
        let name = entry.file_name();
        [
            "HEAD",
            "HEAD.lock",
            "config",
            "config.lock",
            "objects",
            "refs",
            "branches",
            "hooks",
            "info",
            "description",
        ]
        .iter()
        .any(|known| name == *known)
    })
}

fn listen(pipe: impl Read, progress: &(dyn Fn(&str) + Sync)) -> Vec<u8> {
    let mut kept = vec![];
    let mut reader = BufReader::new(pipe);
    let mut line = vec![];
    loop {
        line.clear();
        // Git ends its progress lines with a carriage return.
        match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return kept,
            Ok(_) => {}
        }
        for piece in line.split(|byte| *byte == b'\r' || *byte == b'\n') {
            let text = String::from_utf8_lossy(piece);
            let text = text.trim();
            if !text.is_empty() {
                progress(text);
            }
            if !text.is_empty() && !text.contains('%') {
                kept.extend_from_slice(text.as_bytes());
                kept.push(b'\n');
            }
        }
    }
}

/// Waits for the child, or ends it when asked to stop; whether it was stopped.
fn wait(child: &mut Child, stop: &dyn Fn() -> bool) -> std::io::Result<bool> {
    loop {
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        if stop() {
            child.kill()?;
            child.wait()?;
            return Ok(true);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Points `HEAD` at the other side's default branch, where that can be told.
fn follow_default_branch(into: &Path) -> Result<(), GitError> {
    let mut ask = in_dir(git(Settings::Network), into);
    ask.args(["ls-remote", "--symref", "origin", "HEAD"]);
    let answer = succeed(ask, "ls-remote", b"")?;
    let answer = String::from_utf8_lossy(&answer);
    let branch = answer
        .lines()
        .find_map(|line| line.strip_prefix("ref: ")?.split_once('\t').map(|(name, _)| name));
    if let Some(branch) = branch.filter(|name| name.starts_with("refs/heads/")) {
        let mut set = in_dir(git(Settings::Isolated), into);
        set.args(["symbolic-ref", "HEAD", branch]);
        succeed(set, "symbolic-ref", b"")?;
    }
    Ok(())
}
