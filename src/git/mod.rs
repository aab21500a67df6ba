//! Git, the adapter: the only folder that names `git2` or starts the git program.
//!
//! | module | what it knows |
//! |---|---|
//! | [`mirror`] | a bare mirror, opened for reading: refs, commits, trees, files |
//! | [`objects`] | objects by name; writing blobs and trees |
//! | [`mod@borrow`] | a repository of our own that reads a mirror's objects and keeps what is written |
//! | [`export`] | a commit's tree as files in a folder, bytes and modes exact |
//! | [`mod@fast_import`] | a bare mirror out of a `git fast-import` stream |
//! | [`mod@apply`] | laying a patch over a folder: all or nothing, byte exact |
//! | [`bulk`] | thousands of commits and diffs at once, by the git program |
//! | [`mod@edits`] | which commits wrote which lines of some files |
//! | [`mod@seal`] | a work tree's own repository: one root commit and nothing else |
//! | [`transport`] | cloning and fetching a mirror, by the git program |
//! | [`program`] | the git program with an environment that the user's settings cannot bend |
//! | [`name`] | which repository on a forge a mirror is of |
//! | [`error`] | what can go wrong, and what to do about it |
//!
//! What always holds: paths and contents are bytes from end to end; nothing is written outside the folder that the
//! caller named; a mirror is only ever read, except by a fetch into it.

pub mod apply;
pub mod borrow;
pub mod bulk;
pub mod edits;
pub mod error;
pub mod export;
pub mod fast_import;
mod lines;
pub mod mirror;
pub mod name;
pub mod objects;
pub mod program;
pub mod seal;
mod secret;
pub mod transport;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use apply::{ApplyError, apply};
pub use borrow::borrow;
pub use error::GitError;
pub use fast_import::fast_import;
pub use mirror::{Mirror, TreeFile};
pub use name::mirror_repo_name;
pub use objects::{TreeObjects, is_clean_work_tree};
pub use seal::{seal, strangers};
