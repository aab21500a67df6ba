//! A commit of a mirror as a source, and a git tree as a sink: no checkout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Content, Sink, Source, StripError};
use crate::domain::ids::CommitSha;
use crate::domain::patch::EntryKind;
use crate::domain::path::RepoPath;
use crate::git::{Mirror, TreeFile, TreeObjects};
use crate::strip::report::Skipped;
use crate::strip::tree::Entry;

/// The files of a commit, read from a mirror's objects.
pub struct CommitSource {
    mirror: PathBuf,
    files: BTreeMap<RepoPath, TreeFile>,
}

impl CommitSource {
    /// A commit by its name in a mirror (a SHA, perhaps abbreviated; a branch; a tag).
    ///
    /// # Errors
    /// When there is no such mirror or commit.
    pub fn new(mirror: &Path, commit: &str) -> Result<Self, StripError> {
        let opened = Mirror::open(mirror)?;
        let commit = opened.resolve(commit)?;
        let files = opened
            .files(commit)?
            .into_iter()
            .map(|file| (file.path.clone(), file))
            .collect();
        Ok(Self {
            mirror: mirror.to_owned(),
            files,
        })
    }

    /// The objects of the source's entries, for a sink that names what did not change.
    pub fn objects(&self) -> BTreeMap<RepoPath, CommitSha> {
        self.files
            .iter()
            .map(|(path, file)| (path.clone(), file.object))
            .collect()
    }
}

impl Source for CommitSource {
    type Reader = Mirror;

    fn entries(&self) -> Result<(Vec<Entry>, Vec<Skipped>), StripError> {
        let entries = self
            .files
            .values()
            .map(|file| Entry {
                path: file.path.clone(),
                kind: file.entry,
                executable: file.executable,
            })
            .collect();
        Ok((entries, vec![]))
    }

    fn reader(&self) -> Result<Self::Reader, StripError> {
        Ok(Mirror::open(&self.mirror)?)
    }

    fn read(&self, reader: &mut Self::Reader, entry: &Entry) -> Result<Vec<u8>, String> {
        let file = self.files.get(&entry.path).ok_or("not in the commit")?;
        reader.blob(file.object).map_err(|error| error.to_string())
    }
}

/// A git tree, written into a mirror's objects by as many threads as strip.
pub struct TreeSink {
    folder: PathBuf,
    // A handle serves one thread at a time: there are as many as were needed at once.
    handles: Mutex<Vec<Mirror>>,
    objects: BTreeMap<RepoPath, CommitSha>,
    tree: Mutex<TreeObjects>,
}

impl TreeSink {
    /// A tree in this mirror, made from entries whose unchanged objects are known.
    ///
    /// # Errors
    /// When there is no such mirror.
    pub fn new(mirror: &Path, objects: BTreeMap<RepoPath, CommitSha>) -> Result<Self, StripError> {
        Ok(Self {
            folder: mirror.to_owned(),
            handles: Mutex::new(vec![Mirror::open(mirror)?]),
            objects,
            tree: Mutex::default(),
        })
    }

    /// How many files, links and submodules the tree has so far.
    pub fn entries(&self) -> u64 {
        locked(&self.tree).len() as u64
    }

    /// Writes the tree and gives its name.
    ///
    /// # Errors
    /// When the mirror cannot be written.
    pub fn finish(self) -> Result<CommitSha, StripError> {
        let mirror = self.handle()?;
        Ok(mirror.write_tree(&locked(&self.tree))?)
    }

    fn handle(&self) -> Result<Mirror, StripError> {
        let free = locked(&self.handles).pop();
        free.map_or_else(|| Ok(Mirror::open(&self.folder)?), Ok)
    }

    fn write(&self, bytes: &[u8]) -> Result<CommitSha, StripError> {
        let mirror = self.handle()?;
        let written = mirror.write_blob(bytes);
        locked(&self.handles).push(mirror);
        Ok(written?)
    }
}

/// What a lock guards, also after a panic of another thread: nothing here is left half done.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sink for TreeSink {
    fn put(&self, entry: &Entry, content: Content) -> Result<Option<Content>, StripError> {
        let object = match content {
            Content::Gone | Content::Unread => return Ok(None),
            Content::New(bytes) => self.write(&bytes)?,
            Content::Same(bytes) => match self.objects.get(&entry.path) {
                Some(object) => *object,
                None if entry.kind == EntryKind::Submodule => return Ok(None),
                None => self.write(&bytes)?,
            },
        };
        locked(&self.tree).insert(TreeFile {
            path: entry.path.clone(),
            entry: entry.kind,
            executable: entry.executable,
            object,
        });
        Ok(None)
    }
}
