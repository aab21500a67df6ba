//! A repository at a commit → an environment: an interpreter and locked dependencies of its day.
//!
//! - **In:** a candidate's base commit and its exported tree, the recipe's matching `[[environment]]` entry, and the
//!   machine's settings (where interpreters and uv are, how an index is reached).
//! - **Out:** a [`Built`] environment (what a manifest says of it, what a job needs of it), or whose fault
//!   it is that there is none; each try is in the ledger with its log.
//! - **Always:** dependencies are those an index had before the base commit's committer date, locked with hashes; a
//!   lock names no index, host, path or date, so equal versions are equal bytes; code of the project or its
//!   dependencies runs in the room only; a layer is on disk whole or not at all; what installing leaves in the work
//!   tree is known by name, and a changed tracked file is the project's fault; settings for builds reach builds only.
//!
//! A distribution is unpacked once (its bytecode with it); a lock's layer is links to the unpacked distributions.
//! An environment is two layers. The **dependencies** are shared by every candidate with the same key (interpreter and
//! lock). A candidate's **own** layer is a small virtual environment: the project installed editable, and one `.pth`
//! file that leads to the shared layer.
//!
//! | module | what it knows |
//! |---|---|
//! | [`mod@detect`] | what a repository asks for, where no recipe says it |
//! | [`after`] | the packaging files of a pull request, in the place of the base commit's |
//! | [`spec`] | what install lines and the repository's requirement files ask for |
//! | [`python`] | which interpreter a recipe means |
//! | [`lock`] | what a lock is, and what of the resolver's answer belongs in it |
//! | [`project`] | what packaging files say without running them |
//! | [`key`] | what a build and an environment depend on |
//! | [`index`] | which of the user's settings reach builds, and how they stay out of everything else |
//! | [`group`] | which candidates ask for the same |
//! | [`faults`] | whose fault a failed step is, from its log |
//! | [`repair`] | what a failure is missing, and what is tried about it |
//! | [`record`] | which files are a distribution's own |
//! | [`scripts`] | console scripts and the interpreters they name |
//! | [`products`] | what an install did to a work tree |
//! | [`run`] | the shell |

pub mod after;
pub mod detect;
pub mod error;
pub mod faults;
pub mod group;
pub mod index;
pub mod key;
pub mod lock;
pub mod products;
pub mod project;
pub mod python;
pub mod record;
pub mod repair;
pub mod run;
pub mod scripts;
pub mod spec;

pub use error::BuildError;
pub use run::{BuildOutcome, BuildRequest, BuildSettings, Builder, Built, Failure, SearchPaths};
