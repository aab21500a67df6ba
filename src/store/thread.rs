//! The one thread that owns the connection, and the handle everybody else holds.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::{Connection, OpenFlags, Transaction};

use super::StoreError;
use super::migrate::{LEDGER_VERSION, migrate};

#[expect(
    clippy::disallowed_types,
    reason = "the store is the one owner of connections"
)]
type Task = Box<dyn FnOnce(&mut Connection) + Send>;

/// A handle to the ledger; cheap to clone. Every method is one whole transaction on the ledger's thread.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    path: Utf8PathBuf,
    tasks: Option<mpsc::Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Closing the channel ends the thread; joining it lets the last commit reach the file.
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whether SQLite could not make the file that readers and writers share.
fn cannot_be_shared(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure)
    )
}

/// Whether a writer, perhaps one that was killed, has more than the ledger's file holds.
fn has_log(path: &Utf8Path) -> bool {
    std::fs::metadata(format!("{path}-wal")).is_ok_and(|log| log.len() > 0)
}

/// A path as the part of a `file:` address.
fn percent_encoded(path: &Utf8Path) -> String {
    let mut text = String::new();
    for byte in path.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

impl Store {
    /// Opens the ledger for writing, makes it if it is not there, and brings it to the newest schema.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be opened, is no ledger, or is newer than this program.
    #[expect(
        clippy::disallowed_types,
        reason = "the store is the one owner of connections"
    )]
    pub fn open(path: &Utf8Path) -> Result<Self, StoreError> {
        let wrap = |source| StoreError::Sqlite {
            path: path.to_owned(),
            source,
        };
        let mut connection = Connection::open(path).map_err(wrap)?;
        connection.busy_timeout(Duration::from_secs(10)).map_err(wrap)?;
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .map_err(wrap)?;
        // A killed process loses nothing in WAL mode with NORMAL; only a power cut may lose the last commits.
        connection
            .pragma_update(None, "synchronous", "NORMAL")
            .map_err(wrap)?;
        migrate(&mut connection, path)?;
        Ok(Self::start(path, connection))
    }

    /// Opens the ledger for reading only (`status`, `explain`): works beside a running writer.
    ///
    /// # Errors
    /// [`StoreError`] when there is no ledger, or it has not the schema of this program.
    #[expect(
        clippy::disallowed_types,
        reason = "the store is the one owner of connections"
    )]
    pub fn open_read_only(path: &Utf8Path) -> Result<Self, StoreError> {
        let wrap = |source| StoreError::Sqlite {
            path: path.to_owned(),
            source,
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = |connection: Connection| {
            connection.busy_timeout(Duration::from_secs(10))?;
            let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok((connection, found))
        };
        let shared = Connection::open_with_flags(path, flags).and_then(opened);
        let (connection, found) = match shared {
            // Beside a writer SQLite needs a file of its own, which a folder that cannot be written does not take. Where no
            // writer left anything behind, the ledger is whole without.
            Err(error) if cannot_be_shared(&error) && !has_log(path) => {
                let address = format!("file:{}?immutable=1", percent_encoded(path));
                Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
                    .and_then(opened)
                    .map_err(wrap)?
            }
            shared => shared.map_err(wrap)?,
        };
        if found > LEDGER_VERSION {
            return Err(StoreError::Newer {
                path: path.to_owned(),
                found,
                known: LEDGER_VERSION,
            });
        }
        Ok(Self::start(path, connection))
    }

    #[expect(
        clippy::disallowed_types,
        reason = "the store is the one owner of connections"
    )]
    fn start(path: &Utf8Path, mut connection: Connection) -> Self {
        let (tasks, inbox) = mpsc::channel::<Task>();
        let thread = std::thread::spawn(move || {
            while let Ok(task) = inbox.recv() {
                task(&mut connection);
            }
        });
        let inner = Inner {
            path: path.to_owned(),
            tasks: Some(tasks),
            thread: Some(thread),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The ledger's file.
    pub fn path(&self) -> &Utf8Path {
        &self.inner.path
    }

    /// Runs one closure as one transaction on the ledger's thread and waits for it.
    pub(super) fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = || StoreError::Gone {
            path: self.inner.path.clone(),
        };
        let (reply, answer) = mpsc::sync_channel(1);
        let task: Task = Box::new(move |connection| {
            let result = connection.transaction().and_then(|transaction| {
                let value = work(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
            let _ = reply.send(result);
        });
        let tasks = self.inner.tasks.as_ref().ok_or_else(gone)?;
        tasks.send(task).map_err(|_| gone())?;
        let result = answer.recv().map_err(|_| gone())?;
        result.map_err(|source| StoreError::Sqlite {
            path: self.inner.path.clone(),
            source,
        })
    }
}
