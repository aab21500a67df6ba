//! Cloning and fetching by the git program: into a bare mirror with every branch, tag and pull-request head.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::error::GitError;
use super::mirror::Mirror;
use super::program::{Settings, git, in_dir, last_words, succeed};
use super::secret::hide;
use crate::domain::address::{parts, shown};

/// Refs in one transfer. What a transfer brought stays, so that a killed clone goes on after the last one.
const BATCH: usize = 1000;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How a transfer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// Everything is here.
    Done,
    /// The caller asked to stop. What arrived whole is kept; the next call goes on.
    Stopped,
}

/// The schemes of addresses that git is asked to clone from.
pub(super) const SCHEMES: &[&str] = &["https", "http", "ssh", "git", "file"];

/// The address to clone from that a text is: `https://…`, `ssh://…`, `file://…`, `git@host:owner/name`; its scheme in small
/// letters, the only ones that git knows. `None` for a path.
///
/// # Errors
/// [`GitError::Scheme`] for an address of another kind.
pub fn url(text: &str) -> Result<Option<String>, GitError> {
    if let Some((scheme, rest)) = parts(text) {
        return match rest {
            "" => Ok(None),
            rest if SCHEMES.contains(&scheme.as_str()) => Ok(Some(format!("{scheme}://{rest}"))),
            _ => Err(GitError::Scheme {
                url: shown(text),
                scheme,
            }),
        };
    }
    let is_scp = text.split_once(':').is_some_and(|(host, rest)| {
        host.contains('@') && !host.contains('/') && !rest.starts_with('/') && !rest.is_empty()
    });
    Ok(is_scp.then(|| text.to_owned()))
}

/// Makes `into` a bare mirror of `url`, or brings the one that is there up to date: all branches, tags and pull-request
/// heads; branches and tags that the other side removed are removed. Only what is new is asked for, a thousand refs at a
/// time; a call that was cut off, even by a kill, is taken up by the next one after the last thousand that came whole.
/// Nothing is asked on a terminal and none of the user's credential helpers runs. A user and a password in `url` are used,
/// and neither kept in the mirror, told in an error, nor to be seen among a program's arguments. `progress` gets git's own
/// words; `stop` is asked again and again.
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
    let remote = remote_refs(url, into)?;
    let local = local_refs(into)?;
    let missing = |name: &&String| local.get(*name) != remote.refs.get(*name);
    let (branches, pulls): (Vec<&String>, Vec<&String>) = remote
        .refs
        .keys()
        .filter(missing)
        .partition(|name| !name.starts_with("refs/pull/"));
    for batch in branches.chunks(BATCH).chain(pulls.chunks(BATCH)) {
        if stop() || fetch(url, into, batch, progress, stop)? == Transfer::Stopped {
            return Ok(Transfer::Stopped);
        }
    }
    remove(
        into,
        local
            .keys()
            .filter(|name| !name.starts_with("refs/pull/") && !remote.refs.contains_key(*name)),
    )?;
    if let Some(branch) = remote.head {
        let mut set = in_dir(git(Settings::Isolated), into);
        set.args(["symbolic-ref", "HEAD", &branch]);
        succeed(set, "symbolic-ref", b"")?;
    }
    Ok(Transfer::Done)
}

fn fetch(
    url: &str,
    into: &Path,
    names: &[&String],
    progress: &(dyn Fn(&str) + Sync),
    stop: &dyn Fn() -> bool,
) -> Result<Transfer, GitError> {
    let mut command = in_dir(git(Settings::Network), into);
    let address = hide(&mut command, url);
    command.args([
        "fetch",
        "--no-tags",
        "--force",
        "--no-write-fetch-head",
        "--no-auto-gc",
        "--progress",
        "--",
        &address,
    ]);
    command.args(names.iter().map(|name| format!("+{name}:{name}")));
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
    if child.wait().map_err(spawn)?.success() {
        return Ok(Transfer::Done);
    }
    Err(GitError::Transfer {
        url: shown(url),
        detail: shown(&last_words(&words)),
    })
}

/// What the other side has.
struct Remote {
    refs: BTreeMap<String, String>,
    head: Option<String>,
}

fn remote_refs(url: &str, into: &Path) -> Result<Remote, GitError> {
    let mut command = in_dir(git(Settings::Network), into);
    let address = hide(&mut command, url);
    command.args([
        "ls-remote",
        "--symref",
        "--",
        &address,
        "HEAD",
        "refs/heads/*",
        "refs/tags/*",
        "refs/pull/*/head",
    ]);
    let text = succeed(command, "ls-remote", b"").map_err(|error| match error {
        GitError::Program { detail, .. } => GitError::Transfer {
            url: shown(url),
            detail: shown(&detail),
        },
        other => other,
    })?;
    let text = String::from_utf8_lossy(&text);
    let mut remote = Remote {
        refs: BTreeMap::new(),
        head: None,
    };
    for line in text.lines() {
        let Some((object, name)) = line.split_once('\t') else {
            continue;
        };
        if let Some(branch) = object.strip_prefix("ref: ") {
            remote.head = Some(branch.to_owned()).filter(|_| branch.starts_with("refs/heads/"));
        } else if is_wanted(name) {
            remote.refs.insert(name.to_owned(), object.to_owned());
        }
    }
    Ok(remote)
}

fn is_wanted(name: &str) -> bool {
    let pull = name
        .strip_prefix("refs/pull/")
        .and_then(|rest| rest.strip_suffix("/head"));
    let pull =
        pull.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    (pull || name.starts_with("refs/heads/") || name.starts_with("refs/tags/")) && !name.ends_with("^{}")
}

fn local_refs(into: &Path) -> Result<BTreeMap<String, String>, GitError> {
    let mut command = in_dir(git(Settings::Isolated), into);
    command.args(["for-each-ref", "--format=%(objectname) %(refname)"]);
    let text = succeed(command, "for-each-ref", b"")?;
    let text = String::from_utf8_lossy(&text);
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Ok(pairs
        .map(|(object, name)| (name.to_owned(), object.to_owned()))
        .filter(|(name, _)| is_wanted(name))
        .collect())
}

fn remove<'a>(into: &Path, names: impl Iterator<Item = &'a String>) -> Result<(), GitError> {
    let orders: Vec<String> = names.map(|name| format!("delete {name}\n")).collect();
    if orders.is_empty() {
        return Ok(());
    }
    let mut command = in_dir(git(Settings::Isolated), into);
    command.args(["update-ref", "--stdin"]);
    succeed(command, "update-ref", orders.concat().as_bytes()).map(|_| ())
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
    clear_leftovers(into);
    let mut init = git(Settings::Isolated);
    init.args(["init", "--bare", "--quiet", "--template="])
        .arg(into)
        .env("GIT_DEFAULT_HASH", "sha1");
    succeed(init, "init", b"")?;
    let origin = shown(url);
    for (name, value) in [("remote.origin.url", origin.as_str()), ("gc.auto", "0")] {
        let mut set = in_dir(git(Settings::Isolated), into);
        set.args(["config", name, value]);
        succeed(set, "config", b"")?;
    }
    Ok(())
}

/// Removes what a killed git leaves: half-written packs, and locks. Nobody else works here: the workspace is locked.
fn clear_leftovers(into: &Path) {
    let mut folders = vec![into.join("refs"), into.join("objects/pack")];
    for lock in ["config.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock"] {
        let _ = fs::remove_file(into.join(lock));
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else if name.starts_with("tmp_") || name.ends_with(".lock") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
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
                progress(&shown(text));
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

#[cfg(test)]
mod tests;
