//! Numbered migrations, each applied once in its own transaction; `PRAGMA user_version` holds the number.

use camino::Utf8Path;
use rusqlite::Connection;

use super::StoreError;

const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_ledger.sql"),
    include_str!("migrations/0002_attempts_by_key.sql"),
    include_str!("migrations/0003_forge.sql"),
];

/// The newest schema this program knows and writes.
#[expect(clippy::cast_possible_truncation, reason = "a handful of files")]
pub const LEDGER_VERSION: u32 = MIGRATIONS.len() as u32;

/// Brings a ledger to the newest schema, or refuses one from the future.
#[expect(
    clippy::disallowed_types,
    reason = "the store is the one owner of connections"
)]
pub(super) fn migrate(connection: &mut Connection, path: &Utf8Path) -> Result<(), StoreError> {
    let wrap = |source| StoreError::Sqlite {
        path: path.to_owned(),
        source,
    };
    let found: u32 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(wrap)?;
    if found > LEDGER_VERSION {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known: LEDGER_VERSION,
        });
    }
    for (number, sql) in (1_u32..).zip(MIGRATIONS).skip(found as usize) {
        let transaction = connection.transaction().map_err(wrap)?;
        transaction.execute_batch(sql).map_err(wrap)?;
        transaction
            .pragma_update(None, "user_version", number)
            .map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
    }
    Ok(())
}
