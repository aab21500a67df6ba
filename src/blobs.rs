//! The blob store: diffs, logs, locks and results as content-addressed zstd files. Never in SQLite.
//!
//! - **In:** bytes. **Out:** their address, and the bytes again.
//! - **Always:** a blob appears whole or not at all (written aside, then renamed); the same bytes are kept once;
//!   what is read is checked against its address.

use std::fs;
use std::io::{ErrorKind, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use crate::domain::ids::BlobId;

/// Fast enough to disappear beside a diff, small enough for thousands of them.
const LEVEL: i32 = 1;

/// A blob that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The file system refused.
    #[error("{action} the blob `{path}`: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The blob's file.
        path: Utf8PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// It is not there.
    #[error("find the blob `{id}` in `{folder}`")]
    Missing {
        /// The address.
        id: BlobId,
        /// The blob store's folder.
        folder: Utf8PathBuf,
    },
    /// Its bytes are not those of its address.
    #[error("read the blob `{path}`: its content does not match its address")]
    Damaged {
        /// The blob's file.
        path: Utf8PathBuf,
    },
}

impl BlobError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Io { source, .. } if source.kind() == ErrorKind::StorageFull => {
                vec!["free some disk space and run the same command again; nothing recorded is lost".into()]
            }
            Self::Io { .. } => vec!["check that the workspace's folder exists and is writable".into()],
            Self::Missing { .. } => {
                vec![
                    "it was removed by hand: a pull request's diff comes back with `quarry mine --again`"
                        .into(),
                    "what a build or a run left is made anew only in another workspace".into(),
                ]
            }
            Self::Damaged { path } => vec![
                format!("remove `{path}`; a pull request's diff comes back with `quarry mine --again`"),
                "what a build or a run left is made anew only in another workspace".into(),
            ],
        }
    }
}

impl crate::domain::advice::Advises for BlobError {
    fn advice(&self) -> Vec<String> {
        self.hints()
    }
}

/// A folder of blobs; cheap to clone, safe to use from many threads and processes at once.
#[derive(Debug, Clone)]
pub struct Blobs {
    folder: Utf8PathBuf,
}

impl Blobs {
    /// The blobs below `folder`, which is made when the first one is written.
    pub fn new(folder: impl Into<Utf8PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    fn path(&self, id: &BlobId) -> Utf8PathBuf {
        let (shard, rest) = id.as_str().split_at(2);
        self.folder.join(shard).join(format!("{rest}.zst"))
    }

    /// Keeps these bytes and gives their address. Bytes that are there already cost one look.
    ///
    /// # Errors
    /// [`BlobError::Io`] when the folder cannot be written.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        let id = BlobId::of(bytes);
        let path = self.path(&id);
        if path.exists() {
            return Ok(id);
        }
        let fail = |source| BlobError::Io {
            action: "write",
            path: path.clone(),
            source,
        };
        let packed = zstd::bulk::compress(bytes, LEVEL).map_err(fail)?;
        let folder = path.parent().unwrap_or(&self.folder);
        let mut aside = match new_aside(folder) {
            Ok(aside) => aside,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(folder).map_err(fail)?;
                new_aside(folder).map_err(fail)?
            }
            Err(error) => return Err(fail(error)),
        };
        aside.write_all(&packed).map_err(fail)?;
        aside.persist(&path).map_err(|error| fail(error.error))?;
        Ok(id)
    }

    /// The bytes at an address.
    ///
    /// # Errors
    /// [`BlobError::Missing`] when there are none, [`BlobError::Damaged`] when they are not those that were put.
    pub fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let path = self.path(id);
        let packed = fs::read(&path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => BlobError::Missing {
                id: id.clone(),
                folder: self.folder.clone(),
            },
            _ => BlobError::Io {
                action: "read",
                path: path.clone(),
                source,
            },
        })?;
        let bytes = zstd::stream::decode_all(packed.as_slice())
            .map_err(|_| BlobError::Damaged { path: path.clone() })?;
        if BlobId::of(&bytes) == *id {
            Ok(bytes)
        } else {
            Err(BlobError::Damaged { path })
        }
    }

    /// Every address that begins with these hex digits (at least two), in order.
    ///
    /// # Errors
    /// [`BlobError::Io`] when the folder cannot be read.
    pub fn find(&self, prefix: &str) -> Result<Vec<BlobId>, BlobError> {
        let Some((shard, rest)) = prefix.split_at_checked(2) else {
            return Ok(vec![]);
        };
        let folder = self.folder.join(shard);
        let fail = |source| BlobError::Io {
            action: "list",
            path: folder.clone(),
            source,
        };
        let entries = match folder.read_dir_utf8() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
            entries => entries.map_err(fail)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name().strip_suffix(".zst").unwrap_or_default();
            if name.starts_with(rest)
                && let Ok(id) = format!("{shard}{name}").parse()
            {
                found.push(id);
            }
        }
        found.sort();
        Ok(found)
    }

    /// Whether the address is taken.
    pub fn contains(&self, id: &BlobId) -> bool {
        self.path(id).exists()
    }

    /// Where the blobs are.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }
}

fn new_aside(folder: &Utf8Path) -> std::io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(".aside-").tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(Utf8PathBuf::from_path_buf(folder.path().join("blobs")).unwrap());
        let bytes = b"a diff \xff with any bytes\r\n".as_slice();
        let id = blobs.put(bytes).unwrap();
        assert_eq!(blobs.put(bytes).unwrap(), id);
        assert_eq!(blobs.get(&id).unwrap(), bytes);
        assert!(blobs.contains(&id));
        for prefix in [&id.as_str()[..2], &id.as_str()[..5], id.as_str()] {
            assert_eq!(blobs.find(prefix).unwrap(), std::slice::from_ref(&id));
        }
        for other in ["", "a", "zz", "ffff00"] {
            assert_eq!(blobs.find(other).unwrap(), [], "{other}");
        }
        let missing = blobs.get(&BlobId::of(b"never put")).unwrap_err();
        assert!(matches!(missing, BlobError::Missing { .. }), "{missing}");

        let path = blobs.path(&id);
        fs::write(&path, zstd::bulk::compress(b"something else", 1).unwrap()).unwrap();
        assert!(matches!(blobs.get(&id).unwrap_err(), BlobError::Damaged { .. }));
        fs::write(&path, b"not zstd").unwrap();
        assert!(matches!(blobs.get(&id).unwrap_err(), BlobError::Damaged { .. }));
    }
}
