//! A workspace's folders, its lock, and the [`Context`] that every stage's shell gets.
//!
//! `ROOT/.quarry/` holds the state: `ledger.db`, `blobs/`, `mirrors/`, `envs/`, `variants/`, `selections/`,
//! `evaluations/`, `scratch/`.
//! `ROOT/manifests/` holds what was emitted.

pub mod forge;
pub mod gc;
pub mod tree;

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use tokio_util::sync::CancellationToken;

use crate::blobs::Blobs;
use crate::clock::{Clock, SystemClock};
use crate::domain::event::{EventSink, Silent};
use crate::store::{Store, StoreError};

/// The folder that makes a folder a workspace.
pub const STATE_FOLDER: &str = ".quarry";

/// What every stage's shell gets: the workspace's state and the ways to tell, to wait and to stop.
#[derive(Clone)]
pub struct Context {
    /// Where things are.
    pub workspace: Workspace,
    /// The ledger.
    pub store: Store,
    /// Diffs, logs, locks.
    pub blobs: Blobs,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who watches.
    pub events: Arc<dyn EventSink>,
    /// Cancelled when the user asks to stop: finish what runs, begin nothing new.
    pub cancel: CancellationToken,
    /// How many things to do at once.
    pub jobs: usize,
}

impl Context {
    /// Opens a workspace for writing: folders, lock, ledger; it is made when it is not there. Nobody watches, nothing asks
    /// to stop, and one thing is done at once: a caller that wants it otherwise sets the fields.
    ///
    /// # Errors
    /// [`WorkspaceError`] when the workspace cannot be written, or another process holds it.
    pub fn open(workspace: &Workspace) -> Result<(Self, WorkspaceLock), WorkspaceError> {
        let lock = workspace.lock()?;
        let store = Store::open(&workspace.ledger())?;
        Ok((Self::of(workspace, store), lock))
    }

    /// Opens a workspace for reading, beside whatever writes in it; otherwise as [`Context::open`].
    ///
    /// # Errors
    /// [`WorkspaceError`] when there is no workspace, or its ledger cannot be read.
    pub fn open_read_only(workspace: &Workspace) -> Result<Self, WorkspaceError> {
        let ledger = workspace.ledger();
        if !ledger.exists() {
            return Err(WorkspaceError::None {
                root: workspace.root().to_owned(),
            });
        }
        Ok(Self::of(workspace, Store::open_read_only(&ledger)?))
    }

    fn of(workspace: &Workspace, store: Store) -> Self {
        Self {
            workspace: workspace.clone(),
            store,
            blobs: Blobs::new(workspace.state().join("blobs")),
            clock: Arc::new(SystemClock),
            events: Arc::new(Silent),
            cancel: CancellationToken::new(),
            jobs: 1,
        }
    }
}

/// A workspace that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The file system refused.
    #[error("use the workspace `{path}`: {source}")]
    Io {
        /// The file or folder.
        path: Utf8PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// Another process writes in it.
    #[error("lock the workspace `{root}`: process {holder} is working in it")]
    Busy {
        /// The workspace.
        root: Utf8PathBuf,
        /// The other process's id, as it wrote it.
        holder: String,
    },
    /// There is none.
    #[error("find a workspace at `{root}` or above it")]
    None {
        /// Where the search began.
        root: Utf8PathBuf,
    },
    /// Its ledger cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WorkspaceError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Io { source, .. }
                if matches!(source.kind(), ErrorKind::NotADirectory | ErrorKind::AlreadyExists) =>
            {
                vec!["a file is where a folder must be: name another folder, or move the file away".into()]
            }
            Self::Io { .. } => vec!["check that the folder exists and is writable".into()],
            Self::Busy { .. } => {
                vec!["wait for it, stop it with Ctrl-C, or use another `--workspace`".into()]
            }
            Self::None { .. } => {
                vec!["make one with `quarry init`, or name one with `--workspace DIR`".into()]
            }
            Self::Store(error) => error.hints(),
        }
    }
}

/// The folders of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: Utf8PathBuf,
}

impl Workspace {
    /// The workspace at this folder, whether it is there yet or not.
    pub fn at(root: impl Into<Utf8PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The nearest workspace at `start` or above it; `None` when there is none.
    pub fn find(start: &Utf8Path) -> Option<Self> {
        start
            .ancestors()
            .find(|folder| folder.join(STATE_FOLDER).is_dir())
            .map(Self::at)
    }

    /// The folder that holds `.quarry/` and `manifests/`.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// `.quarry/`.
    pub fn state(&self) -> Utf8PathBuf {
        self.root.join(STATE_FOLDER)
    }

    /// The ledger's file.
    pub fn ledger(&self) -> Utf8PathBuf {
        self.state().join("ledger.db")
    }

    /// Mirrors that quarry cloned itself.
    pub fn mirrors(&self) -> Utf8PathBuf {
        self.state().join("mirrors")
    }

    /// Built environments, by key.
    pub fn envs(&self) -> Utf8PathBuf {
        self.state().join("envs")
    }

    /// Repositories that hold the trees of variants, and borrow the rest from the mirrors.
    pub fn variants(&self) -> Utf8PathBuf {
        self.state().join("variants")
    }

    /// When images of instances were last used here: an empty file each, by its name.
    pub fn images(&self) -> Utf8PathBuf {
        self.state().join("images")
    }

    /// Selection logs of filtered datasets, by recipe.
    pub fn selections(&self) -> Utf8PathBuf {
        self.state().join("selections")
    }

    /// Reports of evaluations, by dataset and model.
    pub fn evaluations(&self) -> Utf8PathBuf {
        self.state().join("evaluations")
    }

    /// Work trees of running work; emptied at the start of every writing command.
    pub fn scratch(&self) -> Utf8PathBuf {
        self.state().join("scratch")
    }

    /// Emitted manifests, by dataset and version.
    pub fn manifests(&self) -> Utf8PathBuf {
        self.root.join("manifests")
    }

    /// Makes the folders, takes the workspace's lock, and empties the scratch folder of killed runs.
    /// The lock goes with the returned value, also when the process is killed.
    ///
    /// # Errors
    /// [`WorkspaceError`] when the folders cannot be made or another process holds the lock.
    pub fn lock(&self) -> Result<WorkspaceLock, WorkspaceError> {
        let io = |path: &Utf8Path| {
            let path = path.to_owned();
            move |source| WorkspaceError::Io { path, source }
        };
        let state = self.state();
        fs::create_dir_all(&state).map_err(io(&state))?;
        let ignore = state.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(io(&ignore))?;
        }
        let path = state.join("lock");
        let mut file = File::options()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(io(&path))?;
        let take = || rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok();
        if !in_a_while(take) {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim().to_owned();
            return Err(WorkspaceError::Busy {
                root: self.root.clone(),
                holder,
            });
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(io(&path))?;
        let scratch = self.scratch();
        let mut emptied = Ok(());
        in_a_while(|| {
            emptied = fs::remove_dir_all(&scratch);
            emptied.is_ok() || !scratch.exists()
        });
        if scratch.exists() {
            emptied.map_err(io(&scratch))?;
        }
        for folder in [scratch, self.envs(), self.mirrors()] {
            fs::create_dir_all(&folder).map_err(io(&folder))?;
        }
        Ok(WorkspaceLock { _file: file })
    }
}

/// Tries for about two seconds. What a killed run left may still be ending: a process that it was just starting holds
/// its lock, a sandbox still writes into its scratch folder.
fn in_a_while(mut done: impl FnMut() -> bool) -> bool {
    for _ in 0..40 {
        if done() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    done()
}

/// Held while a command writes in a workspace.
#[derive(Debug)]
pub struct WorkspaceLock {
    _file: File,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_is_told_who_holds_the_workspace_and_scratch_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let workspace = Workspace::at(&root);
        assert_eq!(Workspace::find(&root), None);
        let lock = workspace.lock().unwrap();
        fs::write(workspace.scratch().join("left"), "over").unwrap();
        let busy = workspace.lock().unwrap_err();
        assert!(
            busy.to_string().contains(&std::process::id().to_string()),
            "{busy}"
        );
        drop(lock);
        let lock = workspace.lock().unwrap();
        assert!(!workspace.scratch().join("left").exists());
        // The remains of a killed run let go a moment later.
        let remains = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            drop(lock);
        });
        let _lock = workspace.lock().unwrap();
        remains.join().unwrap();
        let below = root.join("a/b");
        fs::create_dir_all(&below).unwrap();
        assert_eq!(Workspace::find(&below), Some(workspace));
    }
}
