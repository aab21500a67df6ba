//! A commit of a mirror as a source, and a git tree as a sink: no checkout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// A git tree, written into a mirror's objects.
pub struct TreeSink {
    // A handle serves one thread at a time.
    mirror: std::sync::Mutex<Mirror>,
    objects: BTreeMap<RepoPath, CommitSha>,
    tree: TreeObjects,
}

impl TreeSink {
    /// A tree in this mirror, made from entries whose unchanged objects are known.
    ///
    /// # Errors
    /// When there is no such mirror.
    pub fn new(mirror: &Path, objects: BTreeMap<RepoPath, CommitSha>) -> Result<Self, StripError> {
        Ok(Self {
            mirror: Mirror::open(mirror)?.into(),
            objects,
            tree: TreeObjects::default(),
        })
    }

    /// How many files, links and submodules the tree has so far.
    pub fn entries(&self) -> u64 {
        self.tree.len() as u64
    }

    /// Writes the tree and gives its name.
    ///
    /// # Errors
    /// When the mirror cannot be written.
    pub fn finish(self) -> Result<CommitSha, StripError> {
        let mirror = self
            .mirror
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(mirror.write_tree(&self.tree)?)
    }
}

impl Sink for TreeSink {
    fn put(&self, _entry: &Entry, content: Content) -> Result<Option<Content>, StripError> {
        Ok(Some(content))
    }

    fn put_in_order(&mut self, entry: &Entry, content: Content) -> Result<(), StripError> {
        let mirror = self
            .mirror
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let object = match content {
            Content::Gone | Content::Unread => {
                self.tree.remove(&entry.path);
                return Ok(());
            }
            Content::New(bytes) => mirror.write_blob(&bytes)?,
            Content::Same(bytes) => match self.objects.get(&entry.path) {
                Some(object) => *object,
                None if entry.kind == EntryKind::Submodule => return Ok(()),
                None => mirror.write_blob(&bytes)?,
            },
        };
        self.tree.insert(TreeFile {
            path: entry.path.clone(),
            entry: entry.kind,
            executable: entry.executable,
            object,
        });
        Ok(())
    }
}
