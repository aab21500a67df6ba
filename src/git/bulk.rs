//! Reading thousands of commits and diffs at once, by the git program.
//!
//! Measured on pylint's first-parent history (8,383 diffs, one core): libgit2 14 s, `git diff-tree --stdin` 3.2 s. So
//! what is read in bulk is read here; single objects are read with libgit2 in [`super::mirror`].

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use super::error::GitError;
use super::lines::{Piece, Pieces};
use super::program::{Settings, git, in_dir, last_words, succeed};
use crate::domain::history::{CommitRecord, DiffText, Person, TreeChange};
use crate::domain::ids::CommitSha;
use crate::domain::path::{RepoPath, unquote_prefix};

const FIELDS: &str = "--format=%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x00";
/// Attributes are read from nowhere: what a mirror's trees say today must not change yesterday's diffs.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Every commit that the roots reach, each after its parents; among those in the order of committer dates.
///
/// # Errors
/// When git cannot run, or an object is missing.
pub fn history(git_dir: &Path, roots: &[CommitSha]) -> Result<Vec<CommitRecord>, GitError> {
    let mut command = in_dir(git(Settings::Isolated), git_dir);
    command.args(["rev-list", "--stdin", "--date-order", "--encoding=UTF-8", FIELDS]);
    let roots = lines(roots.iter());
    let text = succeed(command, "rev-list", roots.as_bytes())?;
    let broken = || GitError::Program {
        command: "rev-list".to_owned(),
        detail: "its output is cut short".to_owned(),
    };
    let mut commits = vec![];
    let mut rest = text.as_slice();
    while let Some(record) = rest.strip_prefix(b"commit ") {
        let (commit, tail) = one_commit(record).ok_or_else(broken)?;
        commits.push(commit);
        rest = tail;
    }
    if !rest.is_empty() {
        return Err(broken());
    }
    commits.reverse();
    Ok(commits)
}

/// Each on a line of its own.
fn lines(items: impl Iterator<Item = impl std::fmt::Display>) -> String {
    items.fold(String::new(), |mut text, item| {
        let _ = writeln!(text, "{item}");
        text
    })
}

fn one_commit(record: &[u8]) -> Option<(CommitRecord, &[u8])> {
    let (sha, mut rest) = record.split_at_checked(41)?;
    let mut field = || {
        let end = memchr::memchr(0, rest)?;
        let (field, tail) = rest.split_at(end);
        rest = &tail[1..];
        Some(String::from_utf8_lossy(field))
    };
    let commit = CommitRecord {
        sha: object(&sha[..40])?,
        tree: field()?.parse().ok()?,
        parents: field()?
            .split_ascii_whitespace()
            .filter_map(|parent| parent.parse().ok())
            .collect(),
        author: Person {
            name: field()?.into_owned(),
            email: field()?.into_owned(),
        },
        authored_at: field()?.parse().unwrap_or_default(),
        committer: Person {
            name: field()?.into_owned(),
            email: field()?.into_owned(),
        },
        committed_at: field()?.parse().unwrap_or_default(),
        message: field()?.into_owned(),
    };
    Some((commit, rest.strip_prefix(b"\n")?))
}

fn object(hex: &[u8]) -> Option<CommitSha> {
    std::str::from_utf8(hex).ok()?.parse().ok()
}

/// Two trees to compare, by their own object names or by their commits' trees.
pub type TreePair = (CommitSha, CommitSha);

/// How much of a difference is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Which entries differ; renames are a deletion and an addition.
    Entries,
    /// Also the diff, with renames (from half alike), binary patches and whole object names, up to `limit` bytes.
    Diff {
        /// In bytes.
        limit: usize,
    },
}

/// What differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeDiff {
    /// The entries, in git's order.
    pub changes: Vec<TreeChange>,
    /// The diff; empty where only entries were asked for.
    pub text: DiffText,
}

/// Compares pairs of trees, in order, and gives each result (or why there is none: an object is missing) to `each` with
/// the pair's index. One process does them all.
///
/// # Errors
/// When git cannot run at all.
pub fn diffs(
    git_dir: &Path,
    pairs: &[TreePair],
    depth: Depth,
    mut each: impl FnMut(usize, Result<TreeDiff, String>),
) -> Result<(), GitError> {
    let mut next = 0;
    let mut barren = 0;
    while next < pairs.len() {
        let (answered, fault) = some_diffs(git_dir, pairs, next, depth, &mut each)?;
        let Some(detail) = fault else { return Ok(()) };
        barren = if answered == 0 { barren + 1 } else { 0 };
        if barren > 3 {
            return Err(GitError::Program {
                command: "diff-tree".to_owned(),
                detail,
            });
        }
        // Git died of the pair after the last whole answer: that one has no diff, the others go on.
        next += answered;
        if next < pairs.len() {
            each(next, Err(detail));
            next += 1;
        }
    }
    Ok(())
}

fn command(git_dir: &Path, depth: Depth) -> Command {
    let mut command = in_dir(git(Settings::Isolated), git_dir);
    command
        .arg("-c")
        .arg(format!("attr.tree={EMPTY_TREE}"))
        .args([
            "-c",
            "core.quotePath=true",
            "-c",
            "diff.suppressBlankEmpty=false",
            "-c",
            "diff.orderFile=",
        ])
        .args([
            "-c",
            "core.bigFileThreshold=512m",
            "-c",
            "core.precomposeUnicode=false",
        ])
        .args([
            "diff-tree",
            "--stdin",
            "-r",
            "--no-abbrev",
            "--raw",
            "--no-relative",
            "--ignore-submodules=none",
        ]);
    if let Depth::Diff { .. } = depth {
        command
            .args([
                "-p",
                "--binary",
                "--full-index",
                "-M50%",
                "-l1000",
                "-U3",
                "--inter-hunk-context=0",
            ])
            .args([
                "--diff-algorithm=myers",
                "--indent-heuristic",
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
            ])
            .args(["--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"]);
    } else {
        command.arg("--no-renames");
    }
    command
}

/// Compares pairs from `first` on until git ends: how many were answered whole, and git's last words if it died.
fn some_diffs(
    git_dir: &Path,
    pairs: &[TreePair],
    first: usize,
    depth: Depth,
    each: &mut impl FnMut(usize, Result<TreeDiff, String>),
) -> Result<(usize, Option<String>), GitError> {
    let spawn = |source| GitError::Spawn {
        command: "diff-tree".to_owned(),
        source,
    };
    let mut child = command(git_dir, depth)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(spawn)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(|| stdin.map(|pipe| ask(pipe, &pairs[first..])));
        let words = scope.spawn(|| {
            let mut text = vec![];
            let _ = stderr.map(|mut pipe| pipe.read_to_end(&mut text));
            text
        });
        let mut answers = Answers {
            open: None,
            done: 0,
            depth,
        };
        if let Some(stdout) = stdout {
            let mut pieces = Pieces::new(stdout);
            while let Some(piece) = pieces.next().map_err(spawn)? {
                if let Some(whole) = answers.take(&piece) {
                    each(first + answers.done - 1, Ok(whole));
                }
            }
        }
        let status = child.wait().map_err(spawn)?;
        let words = words.join().unwrap_or_default();
        if !status.success() {
            return Ok((answers.done, Some(last_words(&words))));
        }
        if let Some(whole) = answers.close() {
            each(first + answers.done - 1, Ok(whole));
        }
        let short = first + answers.done < pairs.len();
        Ok((
            answers.done,
            short.then(|| "git left pairs unanswered".to_owned()),
        ))
    })
}

fn ask(mut pipe: ChildStdin, pairs: &[TreePair]) {
    for block in pairs.chunks(256) {
        let text = lines(block.iter().map(|(old, new)| format!("{old} {new}")));
        // When git has died, its exit code tells.
        if pipe.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// Answers as they come in.
struct Answers {
    open: Option<Open>,
    done: usize,
    depth: Depth,
}

#[derive(Default)]
struct Open {
    changes: Vec<TreeChange>,
    text: Vec<u8>,
    length: u64,
    in_text: bool,
}

impl Answers {
    /// Takes a piece; gives the answer that it ends.
    fn take(&mut self, piece: &Piece<'_>) -> Option<TreeDiff> {
        if piece.starts && is_head(piece.bytes) {
            let whole = self.close();
            self.open = Some(Open::default());
            return whole;
        }
        let open = self.open.as_mut()?;
        if piece.starts && !open.in_text {
            if piece.bytes.starts_with(b":") {
                open.changes.extend(entry(piece.bytes));
                return None;
            }
            open.in_text = piece.bytes.starts_with(b"diff --git ");
        }
        let limit = match self.depth {
            Depth::Diff { limit } => limit,
            Depth::Entries => 0,
        };
        if open.in_text {
            open.length += piece.bytes.len() as u64;
            if open.length <= limit as u64 {
                open.text.extend_from_slice(piece.bytes);
            } else {
                open.text = vec![];
            }
        }
        None
    }

    fn close(&mut self) -> Option<TreeDiff> {
        let open = self.open.take()?;
        self.done += 1;
        let whole = open.length == open.text.len() as u64;
        let text = if whole {
            DiffText::Whole(open.text)
        } else {
            DiffText::TooLarge(open.length)
        };
        Some(TreeDiff {
            changes: open.changes,
            text,
        })
    }
}

/// `<40 hex> <40 hex>`: no line of a diff has this form (those of binary patches have no blanks).
fn is_head(line: &[u8]) -> bool {
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte))
    };
    line.len() == 82 && line[81] == b'\n' && line[40] == b' ' && hex(&line[..40]) && hex(&line[41..81])
}

/// `:100644 100755 <old> <new> M\tpath`, or `R086\told\tnew`.
fn entry(line: &[u8]) -> Option<TreeChange> {
    let line = line.strip_prefix(b":")?;
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let tab = memchr::memchr(b'\t', line)?;
    let head = std::str::from_utf8(&line[..tab]).ok()?;
    let mut words = head.split(' ');
    let mut mode = || u32::from_str_radix(words.next()?, 8).ok();
    let (old_mode, new_mode) = (mode()?, mode()?);
    let (old, new, status) = (
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
        words.next()?,
    );
    let (first, rest) = name(&line[tab + 1..]);
    let (path, old_path) = match rest {
        Some(rest) if status.starts_with(['R', 'C']) => (name(rest).0, Some(first)),
        _ => (first, None),
    };
    Some(TreeChange {
        path,
        old_path,
        old_mode,
        new_mode,
        old,
        new,
    })
}

/// A name as git quotes it, and what stands behind the tab after it.
fn name(text: &[u8]) -> (RepoPath, Option<&[u8]>) {
    let (name, length) = unquote_prefix(text).unwrap_or_else(|| {
        let length = memchr::memchr(b'\t', text).unwrap_or(text.len());
        (text[..length].to_vec(), length)
    });
    (RepoPath::from(name.as_slice()), text.get(length + 1..))
}

/// The contents of objects, in order; `None` for one that is missing, no file, or longer than `limit` bytes.
///
/// # Errors
/// When git cannot run.
pub fn contents(
    git_dir: &Path,
    objects: &[CommitSha],
    limit: usize,
) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    if objects.is_empty() {
        return Ok(vec![]);
    }
    let spawn = |source| GitError::Spawn {
        command: "cat-file".to_owned(),
        source,
    };
    let mut command = in_dir(git(Settings::Isolated), git_dir);
    command.args(["cat-file", "--batch", "--buffer"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(spawn)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            let text = lines(objects.iter());
            stdin.map(|mut pipe| pipe.write_all(text.as_bytes()))
        });
        let mut found = Vec::with_capacity(objects.len());
        if let Some(stdout) = stdout {
            let mut stdout = BufReader::with_capacity(1 << 16, stdout);
            while found.len() < objects.len() {
                found.push(one_content(&mut stdout, limit)?);
            }
        }
        Ok(found)
    });
    child.wait().map_err(spawn)?;
    found.map_err(spawn)
}

/// `<id> blob <length>\n<bytes>\n`, or `<id> missing\n`.
fn one_content(stream: &mut impl BufRead, limit: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut head = String::new();
    if stream.read_line(&mut head)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let mut words = head.trim_end().split(' ').skip(1);
    let (kind, length) = (
        words.next().unwrap_or_default(),
        words.next().and_then(|length| length.parse::<u64>().ok()),
    );
    let Some(length) = length else { return Ok(None) };
    let mut body = stream.take(length + 1);
    if kind == "blob" && length <= limit as u64 {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
        body.read_to_end(&mut bytes)?;
        bytes.pop();
        return Ok(Some(bytes));
    }
    std::io::copy(&mut body, &mut std::io::sink())?;
    Ok(None)
}
