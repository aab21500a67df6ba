//! A folder as a source, another as a sink, or the same one in place.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::{Content, Sink, Source, StripError};
use crate::domain::patch::EntryKind;
use crate::domain::path::RepoPath;
use crate::git::is_clean_work_tree;
use crate::strip::context::reader;
use crate::strip::docs_files::is_candidate;
use crate::strip::report::Skipped;
use crate::strip::tree::{Entry, Language, language};

/// A folder, read without following any link in it.
#[derive(Debug, Clone)]
pub struct FolderSource {
    root: PathBuf,
}

impl FolderSource {
    /// A folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

fn below(root: &Path, path: &RepoPath) -> PathBuf {
    root.join(OsStr::from_bytes(path.as_bytes()))
}

impl Source for FolderSource {
    type Reader = ();

    fn entries(&self) -> Result<(Vec<Entry>, Vec<Skipped>), StripError> {
        let mut entries = vec![];
        let mut skipped = vec![];
        let mut folders = vec![Vec::new()];
        while let Some(prefix) = folders.pop() {
            let folder = self.root.join(OsStr::from_bytes(&prefix));
            let listing = match fs::read_dir(&folder) {
                Ok(listing) => listing,
                Err(source) if prefix.is_empty() => return Err(StripError::Read { path: folder, source }),
                Err(error) => {
                    skipped.push(Skipped {
                        path: RepoPath::from(prefix.as_slice()),
                        reason: error.to_string(),
                        refused: true,
                    });
                    continue;
                }
            };
            for item in listing {
                let item = item.map_err(|source| StripError::Read {
                    path: folder.clone(),
                    source,
                })?;
                let name = item.file_name();
                // The history is no part of a variant, nor is another repository's.
                if name == ".git" {
                    continue;
                }
                let mut path = prefix.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(name.as_bytes());
                let named = RepoPath::from(path.as_slice());
                let entry = |kind, executable| Entry {
                    path: named.clone(),
                    kind,
                    executable,
                };
                match item.metadata() {
                    Ok(found) if found.is_dir() && item.path().join(".git").symlink_metadata().is_ok() => {
                        entries.push(entry(EntryKind::Submodule, false));
                    }
                    Ok(found) if found.is_dir() => folders.push(path),
                    Ok(found) if found.is_file() => {
                        entries.push(entry(EntryKind::File, found.permissions().mode() & 0o100 != 0));
                    }
                    Ok(found) if found.is_symlink() => entries.push(entry(EntryKind::Symlink, false)),
                    Ok(_) => skipped.push(Skipped {
                        path: named,
                        reason: "no regular file".into(),
                        refused: false,
                    }),
                    Err(error) => skipped.push(Skipped {
                        path: named,
                        reason: error.to_string(),
                        refused: true,
                    }),
                }
            }
        }
        entries.sort();
        Ok((entries, skipped))
    }

    fn reader(&self) -> Result<Self::Reader, StripError> {
        Ok(())
    }

    fn read(&self, (): &mut Self::Reader, entry: &Entry) -> Result<Vec<u8>, String> {
        let path = below(&self.root, &entry.path);
        match entry.kind {
            EntryKind::Symlink => {
                fs::read_link(path).map(|target| target.into_os_string().as_bytes().to_vec())
            }
            _ => fs::read(path),
        }
        .map_err(|error| error.to_string())
    }
}

/// A new folder.
#[derive(Debug)]
pub struct FolderSink {
    root: PathBuf,
}

impl FolderSink {
    /// A folder that is not there yet, or empty.
    ///
    /// # Errors
    /// When there is something in it, or it cannot be made.
    pub fn new(root: impl Into<PathBuf>) -> Result<Self, StripError> {
        let root = root.into();
        let refused = |source| StripError::Write {
            path: root.clone(),
            source,
        };
        fs::create_dir_all(&root).map_err(refused)?;
        if fs::read_dir(&root).map_err(refused)?.next().is_some() {
            return Err(StripError::NotEmpty { path: root });
        }
        Ok(Self { root })
    }
}

impl Sink for FolderSink {
    fn put(&self, entry: &Entry, content: Content) -> Result<Option<Content>, StripError> {
        let path = below(&self.root, &entry.path);
        let write = |bytes: &[u8]| -> std::io::Result<()> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            match entry.kind {
                EntryKind::Symlink => symlink(OsStr::from_bytes(bytes), &path),
                EntryKind::Submodule => fs::create_dir(&path),
                EntryKind::File => {
                    let mode = if entry.executable { 0o755 } else { 0o644 };
                    let mut file = OpenOptions::new()
                        .write(true)
                        .create_new(true)
                        .mode(mode)
                        .open(&path)?;
                    file.write_all(bytes)?;
                    file.set_permissions(fs::Permissions::from_mode(mode))
                }
            }
        };
        match &content {
            Content::Same(bytes) | Content::New(bytes) => write(bytes),
            Content::Gone | Content::Unread => Ok(()),
        }
        .map_err(|source| StripError::Write {
            path: path.clone(),
            source,
        })?;
        Ok(None)
    }
}

/// The source folder itself: only what changes is written, each file all at once.
#[derive(Debug)]
pub struct InPlaceSink {
    root: PathBuf,
}

impl InPlaceSink {
    /// The folder that the source reads.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

impl Sink for InPlaceSink {
    fn put(&self, entry: &Entry, content: Content) -> Result<Option<Content>, StripError> {
        let path = below(&self.root, &entry.path);
        match content {
            Content::Same(_) | Content::Unread => Ok(()),
            Content::New(bytes) => replace(&path, &bytes),
            Content::Gone => fs::remove_file(&path).map(|()| {
                // Folders that are empty now go, too; the first that is not ends it.
                let mut folder = path.parent();
                while let Some(empty) =
                    folder.filter(|folder| *folder != self.root && fs::remove_dir(folder).is_ok())
                {
                    folder = empty.parent();
                }
            }),
        }
        .map_err(|source| StripError::Write { path, source })?;
        Ok(None)
    }
}

/// Gives a file other bytes, all at once: whoever is killed leaves the old ones or the new ones.
///
/// # Errors
/// What the system said.
pub fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let permissions = fs::metadata(path)?.permissions();
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(permissions)?;
    file.persist(path)?;
    Ok(())
}

/// Whether a tree can be got back after it was stripped in place: a work tree of git without changes.
///
/// # Errors
/// [`StripError::Dirty`] or [`StripError::NoWorkTree`] that says what stands against it.
pub fn is_restorable(root: &Path) -> Result<(), StripError> {
    let dirty = |why: &str| StripError::Dirty {
        path: root.to_owned(),
        why: why.to_owned(),
    };
    // An ignored file is in no commit, so one that stripping could change or remove is lost for good. Links go with what
    // they lead to.
    let precious = |path: &[u8]| {
        let path = RepoPath::from(path);
        let is_link = || {
            below(root, &path)
                .symlink_metadata()
                .is_ok_and(|found| found.is_symlink())
        };
        language(&path) != Language::Other || is_candidate(&path) || reader(&path).is_some() || is_link()
    };
    match is_clean_work_tree(root, &precious) {
        Ok(true) => Ok(()),
        Ok(false) => Err(dirty(
            "it has files that no commit holds as they are: changed, new or ignored",
        )),
        Err(_) => Err(StripError::NoWorkTree {
            path: root.to_owned(),
        }),
    }
}
