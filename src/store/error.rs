//! What can go wrong with the ledger.

use camino::Utf8PathBuf;

/// A ledger that cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite refused.
    #[error("use the ledger `{path}`: {source}")]
    Sqlite {
        /// The ledger's file.
        path: Utf8PathBuf,
        /// SQLite's own word.
        source: rusqlite::Error,
    },
    /// Its schema is newer than this program.
    #[error("open the ledger `{path}`: it has schema version {found}, this quarry knows up to {known}")]
    Newer {
        /// The ledger's file.
        path: Utf8PathBuf,
        /// Its version.
        found: u32,
        /// The newest version this program knows.
        known: u32,
    },
    /// A row is not what this program writes.
    #[error("read `{what}` from the ledger `{path}`: {source}")]
    Row {
        /// The ledger's file.
        path: Utf8PathBuf,
        /// Which row.
        what: String,
        /// Why it cannot be read.
        source: serde_json::Error,
    },
    /// The ledger's thread is gone.
    #[error("reach the ledger `{path}`: its thread has ended")]
    Gone {
        /// The ledger's file.
        path: Utf8PathBuf,
    },
}

impl StoreError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Sqlite { source, .. } => match source.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DiskFull) => {
                    vec!["free some disk space and run the same command again; nothing recorded is lost".into()]
                }
                Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => vec![
                    "the file is damaged or is no ledger; move it away and run again: mirrors and blobs are reused"
                        .into(),
                ],
                Some(rusqlite::ErrorCode::DatabaseBusy) => {
                    vec!["another program holds the file; close it and run again".into()]
                }
                _ => vec!["check that the workspace's folder exists and is writable".into()],
            },
            Self::Newer { .. } => {
                vec!["use the quarry that wrote it, or a newer one, or another `--workspace`".into()]
            }
            Self::Row { .. } => vec!["the row was edited by hand or by another program".into()],
            Self::Gone { .. } => vec!["run the same command again".into()],
        }
    }
}

impl crate::domain::advice::Advises for StoreError {
    fn advice(&self) -> Vec<String> {
        self.hints()
    }
}
