//! What a forge said: the place of each reply, by what it was asked of.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::{Store, StoreError};
use crate::domain::ids::BlobId;

/// A reply's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What was asked: `pull:owner/name#N`, `issue:owner/name#N`, `repository:owner/name`.
    pub name: String,
    /// When that changed last, by the forge's own word.
    pub updated_at: Option<String>,
    /// What REST calls this state.
    pub etag: Option<String>,
    /// Where the reply is.
    pub reply: BlobId,
}

type Row = (String, Option<String>, Option<String>, String);

impl Store {
    /// Keeps replies, each in the place of an older one of the same name, in one transaction.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be written; then none is kept.
    pub fn put_replies(&self, replies: Vec<Reply>) -> Result<(), StoreError> {
        self.replace_replies(vec![], replies)
    }

    /// Forgets replies by their names (what they are of is asked again) and keeps others, in one transaction.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be written; then nothing is changed.
    pub fn replace_replies(&self, forget: Vec<String>, replies: Vec<Reply>) -> Result<(), StoreError> {
        self.transact(move |transaction| {
            let mut delete = transaction.prepare_cached("DELETE FROM forge WHERE name = ?1")?;
            for name in &forget {
                delete.execute([name])?;
            }
            let mut insert = transaction.prepare_cached(
                "INSERT INTO forge (name, updated_at, etag, reply) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at, etag = excluded.etag,
                 reply = excluded.reply",
            )?;
            for reply in &replies {
                insert.execute(params![
                    reply.name,
                    reply.updated_at,
                    reply.etag,
                    reply.reply.as_str()
                ])?;
            }
            Ok(())
        })
    }

    /// The place of one reply.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn reply(&self, name: &str) -> Result<Option<Reply>, StoreError> {
        let key = name.to_owned();
        let row: Option<Row> = self.transact(move |transaction| {
            if !is_there(transaction)? {
                return Ok(None);
            }
            let query = "SELECT name, updated_at, etag, reply FROM forge WHERE name = ?1";
            transaction
                .query_row(query, [key], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })
                .optional()
        })?;
        Ok(row.and_then(reply))
    }

    /// The places of all replies whose name begins so, by name.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn replies(&self, prefix: &str) -> Result<Vec<Reply>, StoreError> {
        let (from, to) = (prefix.to_owned(), format!("{prefix}\u{10ffff}"));
        let rows: Vec<Row> = self.transact(move |transaction| {
            if !is_there(transaction)? {
                return Ok(vec![]);
            }
            let mut query = transaction.prepare_cached(
                "SELECT name, updated_at, etag, reply FROM forge WHERE name >= ?1 AND name < ?2 ORDER BY name",
            )?;
            let rows = query.query_map(params![from, to], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            rows.collect()
        })?;
        Ok(rows.into_iter().filter_map(reply).collect())
    }
}

/// Whether the ledger has the table: one of an older version that is only read has not.
fn is_there(transaction: &Transaction<'_>) -> rusqlite::Result<bool> {
    let query = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'forge'";
    transaction.query_row(query, [], |row| row.get(0))
}

/// A row; one whose address is none counts for nothing: it is asked again.
fn reply((name, updated_at, etag, address): Row) -> Option<Reply> {
    Some(Reply {
        name,
        updated_at,
        etag,
        reply: address.parse().ok()?,
    })
}
