//! The ledger: what was found, decided, tried and kept, in one SQLite file.
//!
//! - **In:** candidates, decisions, attempts, instances, cursors, a forge's replies, each as a whole transaction.
//! - **Out:** the same, in a fixed order.
//! - **Always:** one thread owns the connection; `decisions` and `attempts` are append-only (triggers refuse anything
//!   else); a decision or candidate put twice stays one; a ledger newer than this program is refused; WAL, so that a
//!   process killed at any moment leaves the last whole transaction.

#![expect(
    clippy::disallowed_types,
    reason = "the store is the one owner of connections"
)]

mod error;
mod forge;
mod migrate;
mod tables;
mod thread;

pub use error::StoreError;
pub use forge::Reply;
pub use migrate::LEDGER_VERSION;
pub use thread::Store;

/// The scope under which mining records its own decisions (rule ids that start with `mine-`).
pub const MINE_SCOPE: &str = "mine";

#[cfg(test)]
mod tests;
