//! What a room is asked for and what it answers: plain values, no input or output.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a job sees the work tree in a closed room.
pub const TESTBED: &str = "/testbed";

/// Where a job sees everything Quarry lends it (environments, runner, channel) in a closed room.
pub const LENT: &str = "/quarry";

/// One folder or file of the host that a job may see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mount {
    /// Its path on the host, absolute.
    pub host: PathBuf,
    /// Its path as a job in a closed room sees it, absolute. The open room ignores it: see
    /// [`Room::path`](super::Room::path).
    pub inside: PathBuf,
    /// Whether the job may write to it.
    pub writable: bool,
}

impl Mount {
    /// A read-only mount.
    pub fn read_only(host: impl Into<PathBuf>, inside: impl Into<PathBuf>) -> Self {
        Self {
            host: host.into(),
            inside: inside.into(),
            writable: false,
        }
    }

    /// A writable mount.
    pub fn writable(host: impl Into<PathBuf>, inside: impl Into<PathBuf>) -> Self {
        Self {
            host: host.into(),
            inside: inside.into(),
            writable: true,
        }
    }
}

/// The host path behind `inside`, by the deepest mount that holds it.
pub(super) fn host_path(mounts: &[Mount], inside: &Path) -> Option<PathBuf> {
    let deepest = mounts
        .iter()
        .filter(|mount| inside.starts_with(&mount.inside))
        .max_by_key(|mount| mount.inside.components().count())?;
    let rest = inside.strip_prefix(&deepest.inside).ok()?;
    Some(if rest.as_os_str().is_empty() {
        deepest.host.clone()
    } else {
        deepest.host.join(rest)
    })
}

/// One program to run in a room. Every path in `argv`, `env` and `cwd` is as the job sees it
/// ([`Room::path`](super::Room::path) turns an inside path into that).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The program (an absolute path, or a name looked up in `env`'s `PATH`) and its arguments.
    pub argv: Vec<String>,
    /// The whole environment: nothing is inherited. `HOME`, and in the open room `TMPDIR`, are the room's own
    /// and cannot be set here.
    pub env: BTreeMap<String, String>,
    /// The working folder.
    pub cwd: PathBuf,
    /// What of the host the job sees, beside the system's own read-only folders.
    pub mounts: Vec<Mount>,
    /// Whether the job may use the network: installs may, test runs may not. The open room cannot refuse it.
    pub network: bool,
    /// What is written to the job's standard input before that is closed.
    pub stdin: Vec<u8>,
    /// How standard output and standard error are kept.
    pub output: OutputMode,
    /// When the job is stopped.
    pub limits: Limits,
    /// A file on the host that the job appends to (mount it writable): its growth counts as a sign of life,
    /// and its bytes are in the result.
    pub channel: Option<PathBuf>,
}

impl Job {
    /// A job with no mounts, no network, an empty environment and default limits.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            cwd: cwd.into(),
            mounts: Vec::new(),
            network: false,
            stdin: Vec::new(),
            output: OutputMode::Merged,
            limits: Limits::default(),
            channel: None,
        }
    }
}

/// How a job's two output streams are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputMode {
    /// Both in [`JobResult::stdout`], in the order they were written: a log.
    #[default]
    Merged,
    /// Apart.
    Split,
}

/// When a job is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest run.
    pub wall: Duration,
    /// Longest time with neither output nor growth of the channel; `None` is no such limit.
    pub silence: Option<Duration>,
    /// Most memory of the whole process tree, in bytes.
    pub memory_bytes: u64,
    /// Most processes and threads at once.
    pub processes: u64,
    /// Most that may be printed, in bytes, both streams together.
    pub output_bytes: u64,
    /// Largest file that may be written, in bytes.
    pub file_bytes: u64,
    /// Size of the private `/tmp` and of the home folder, in bytes each (closed rooms).
    pub tmp_bytes: u64,
}

impl Default for Limits {
    /// 15 minutes, 5 of silence, 4 GiB, 512 processes, 64 MiB of output, 2 GiB a file, 1 GiB of `/tmp`.
    fn default() -> Self {
        Self {
            wall: Duration::from_mins(15),
            silence: Some(Duration::from_mins(5)),
            memory_bytes: 4 << 30,
            processes: 512,
            output_bytes: 64 << 20,
            file_bytes: 2 << 30,
            tmp_bytes: 1 << 30,
        }
    }
}

/// Why a job is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// It ended by itself with this code.
    Exited(i32),
    /// A signal that Quarry did not send ended it.
    Signaled(i32),
    /// It ran longer than [`Limits::wall`].
    WallClock,
    /// It was silent longer than [`Limits::silence`].
    Silence,
    /// It printed more than [`Limits::output_bytes`].
    OutputLimit,
    /// Its processes needed more than [`Limits::memory_bytes`].
    MemoryLimit,
    /// It reached [`Limits::processes`].
    ProcessLimit,
    /// The disk under one of its writable mounts is all but full.
    DiskLimit,
    /// The caller cancelled it.
    Cancelled,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "by itself, with code {code}"),
            Self::Signaled(signal) => write!(f, "by signal {signal}"),
            Self::WallClock => f.write_str("at the limit of time"),
            Self::Silence => f.write_str("at the limit of silence"),
            Self::OutputLimit => f.write_str("at the limit of output"),
            Self::MemoryLimit => f.write_str("at the limit of memory"),
            Self::ProcessLimit => f.write_str("at the limit of processes"),
            Self::DiskLimit => f.write_str("because the disk is all but full"),
            Self::Cancelled => f.write_str("because it was cancelled"),
        }
    }
}

impl End {
    /// Whether the job ended by itself with code 0.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

/// What a job printed: the whole, or its beginning and its end when it was more than the cap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes that are not in `head`.
    pub tail: Vec<u8>,
    /// How many bytes there were in all.
    pub total: u64,
}

impl Captured {
    /// Bytes kept of the beginning and of the end, each.
    pub const KEPT: usize = 512 << 10;

    /// The bytes, with a line that counts what was left out.
    pub fn bytes(&self) -> Vec<u8> {
        let kept = self.head.len() + self.tail.len();
        let mut whole = Vec::with_capacity(kept + 64);
        whole.extend_from_slice(&self.head);
        if self.total > kept as u64 {
            whole
                .extend_from_slice(format!("\n… {} bytes left out …\n", self.total - kept as u64).as_bytes());
        }
        whole.extend_from_slice(&self.tail);
        whole
    }

    /// The bytes as text, with what is not UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let room = Self::KEPT.saturating_sub(self.head.len()).min(chunk.len());
        self.head.extend_from_slice(&chunk[..room]);
        self.tail.extend_from_slice(&chunk[room..]);
        // Twice the cap before cutting: each byte is moved at most once on average.
        if self.tail.len() > 2 * Self::KEPT {
            self.trim();
        }
    }

    pub(super) fn trim(&mut self) {
        let surplus = self.tail.len().saturating_sub(Self::KEPT);
        self.tail.drain(..surplus);
    }
}

/// How a job went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobResult {
    /// Why it is over.
    pub end: End,
    /// How long it ran.
    pub wall: Duration,
    /// The most memory its processes held at once, in bytes, where that could be measured.
    pub peak_memory: Option<u64>,
    /// Standard output, and standard error too when merged.
    pub stdout: Captured,
    /// Standard error, when kept apart.
    pub stderr: Captured,
    /// The channel's bytes, when the job has one.
    pub channel: Vec<u8>,
}

/// A built interpreter with its packages, as a job in one kind of room sees it: what building hands to verifying.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolchain {
    /// What of the host must be mounted for it (interpreter prefix, environment).
    pub mounts: Vec<Mount>,
    /// The interpreter to call.
    pub python: PathBuf,
    /// Folders for `PATH`, before the system's.
    pub path_dirs: Vec<PathBuf>,
    /// More environment variables.
    pub env: BTreeMap<String, String>,
}

/// A built environment as test runs need it, whoever built it.
pub trait Furnishing: Send + Sync {
    /// The toolchain for a job whose work tree is the host's folder `tree` (at [`TESTBED`] in a closed room).
    ///
    /// # Errors
    /// When the machine cannot make it ready.
    fn toolchain(&self, tree: &Path) -> Result<Toolchain, FurnishError>;

    /// Lays what installing the project left in its work tree over another copy of that tree.
    ///
    /// # Errors
    /// When a file cannot be written.
    fn lay_products(&self, tree: &Path) -> Result<(), FurnishError>;
}

/// The machine could not make an environment ready for a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FurnishError {
    /// What failed.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_deepest_mount_gives_the_host_path() {
        let mounts = [
            Mount::read_only("/a", "/quarry"),
            Mount::writable("/b/tree", "/quarry/tree"),
        ];
        assert_eq!(host_path(&mounts, Path::new("/quarry/x")), Some("/a/x".into()));
        assert_eq!(
            host_path(&mounts, Path::new("/quarry/tree")),
            Some("/b/tree".into())
        );
        assert_eq!(
            host_path(&mounts, Path::new("/quarry/tree/t.py")),
            Some("/b/tree/t.py".into())
        );
        assert_eq!(host_path(&mounts, Path::new("/quarryx")), None);
    }

    proptest! {
        #[test]
        fn what_is_captured_is_a_beginning_and_an_end(sizes in proptest::collection::vec(0_usize..60_000, 0..8)) {
            let mut captured = Captured::default();
            let mut whole = Vec::new();
            for (index, size) in sizes.into_iter().enumerate() {
                let chunk = [&b"one line\n"[..], b"or another\n"][index % 2].repeat(size);
                captured.push(&chunk);
                whole.extend_from_slice(&chunk);
            }
            captured.trim();
            prop_assert_eq!(captured.total, whole.len() as u64);
            prop_assert!(whole.starts_with(&captured.head));
            prop_assert!(whole.ends_with(&captured.tail));
            prop_assert!(captured.head.len() <= Captured::KEPT && captured.tail.len() <= Captured::KEPT);
            if whole.len() <= 2 * Captured::KEPT {
                prop_assert_eq!(captured.bytes(), whole);
            }
        }
    }
}
