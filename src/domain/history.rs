//! A repository's history as plain values: what git's bulk readers give and mining reads.

use super::ids::CommitSha;
use super::path::RepoPath;

/// Somebody as a commit names them. Never published with the address.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Person {
    /// The name as written.
    pub name: String,
    /// The mail address as written.
    pub email: String,
}

/// One commit. Texts that are not UTF-8 are read with replacement characters: they are never written back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRecord {
    /// Its object name.
    pub sha: CommitSha,
    /// Its tree's object name.
    pub tree: CommitSha,
    /// Its parents, the first one first.
    pub parents: Vec<CommitSha>,
    /// Who wrote it.
    pub author: Person,
    /// When it was written, in seconds since 1970.
    pub authored_at: i64,
    /// Who put it there.
    pub committer: Person,
    /// When it was put there, in seconds since 1970.
    pub committed_at: i64,
    /// The whole message.
    pub message: String,
}

impl CommitRecord {
    /// The message's first line.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default().trim_end()
    }
}

/// One entry that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeChange {
    /// The path (the new one of a rename).
    pub path: RepoPath,
    /// The path before a rename.
    pub old_path: Option<RepoPath>,
    /// The entry's mode before; 0 when it was not there.
    pub old_mode: u32,
    /// The entry's mode after; 0 when it is gone.
    pub new_mode: u32,
    /// The object before; zeros when it was not there.
    pub old: CommitSha,
    /// The object after; zeros when it is gone.
    pub new: CommitSha,
}

/// The text of a diff, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffText {
    /// Its bytes.
    Whole(Vec<u8>),
    /// It is longer than the limit; this many bytes.
    TooLarge(u64),
}
