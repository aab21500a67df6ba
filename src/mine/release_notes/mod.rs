//! Release notes: what a project says of its own changes, as entries with the pull requests that they tell of.
//!
//! - **In:** files of a tree (reStructuredText, Markdown, towncrier's fragments), texts of releases on a forge; the
//!   history of those files; what mining knows of pull requests.
//! - **Out:** entries (version, section, kind, words, references, place), each with its pull requests and why.
//! - **Always:** formats are told by paths and contents, never by a repository's name; no reference is lost: what names an
//!   issue or a pull request is in some entry; an entry that names none is an entry all the same.
//!
//! | module | what it knows |
//! |---|---|
//! | [`model`] | an entry |
//! | [`sources`], [`fragments`], `towncrier` | which files are release notes |
//! | [`order`] | which version comes after which |
//! | `pieces`, `rst`, `markdown` | what each line is |
//! | [`timeline`] | releases, and what each first held |
//! | [`brought`] | who brought a fragment's words, through other names and out of documents |
//! | [`orphans`] | whose fragments without a number are |
//! | [`resolve`], `choice` | which pull requests an entry tells of, and by which rule |
//! | [`writers`], `credits` | who wrote a line first, through moves and rewordings, and which lines only thank |
//! | `slight` | which pull requests change nothing but notes and versions, or collect notes |
//! | `undone` | which pull requests were reverted |
//! | [`summary`](mod@summary) | what it comes to |
//! | [`run`] | the shell |
//! | `outline`, `versions`, `kinds`, [`headings`], `references`, `links`, `words` | from lines to entries |

pub mod brought;
mod choice;
mod credits;
pub mod fragments;
pub mod headings;
mod kinds;
mod links;
mod markdown;
pub mod model;
pub mod order;
pub mod orphans;
mod outline;
mod pieces;
mod references;
pub mod resolve;
mod rst;
pub mod run;
mod slight;
pub mod sources;
pub mod summary;
pub mod timeline;
mod towncrier;
mod undone;
mod versions;
mod words;
pub mod writers;

pub use headings::Headings;
pub use model::{Entry, Format, Kind, Place, Reference, ReferenceKind};
pub use sources::{ReleaseBody, Source, read_document, read_fragment, read_release, source};

#[cfg(test)]
mod tests;
