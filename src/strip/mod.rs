//! The strip stage: a source tree in, its code-only (or context-free) variant out.
//!
//! Python files lose their docstrings and comments by byte-range cuts on the original: whatever is not cut keeps its
//! bytes, its line ends and its codec.
//!
//! | module | what it knows |
//! |---|---|
//! | [`policy`] | the settings of a variant: what goes, what stays, how it is proven |
//! | [`python`] | one Python file: bytes in, bytes and findings out |
//! | `text` | codecs, the cookie, line ends |
//! | `syntax` | the parser, behind the only file that names it |
//! | `depth` | what nests too deeply to be parsed |
//! | `strings` | statements that are strings, and which of them go |
//! | [`as_code`] | docstrings that the program reads |
//! | [`comments`] | which comments stay |
//! | `edit` | the cuts |
//! | `check` | the proof that the result is the same program |
//! | [`notebook`] | a Jupyter notebook: code cells stripped, markdown cells emptied |
//! | [`cython`] | Cython: comments and docstrings, by tokens |
//! | [`docs_files`] | documentation files, and what refers to them |
//! | [`context`] | files that instruct coding agents, in one table |
//! | [`tree`] | a tree's entries, and what each is to this stage |
//! | [`report`] | what is said about a run |
//! | [`run`] | the shell: folders, commits, tar archives, a second judge |
//!
//! What always holds: a file that is not proven to be the same program (apart from docstrings and inserted `pass`) is
//! left as it was and reported; stripping twice is stripping once; no input ends the process.

pub mod as_code;
mod check;
pub mod comments;
pub mod context;
pub mod cython;
mod depth;
pub mod docs_files;
mod edit;
pub mod notebook;
pub mod python;
pub mod report;
pub mod run;
mod strings;
mod syntax;
mod text;
pub mod tree;

pub use crate::recipe::variants as policy;
pub use comments::KeptComment;
pub use policy::{Check, DocstringsAsCode, Keep, Mode, Policy, Remove, Variant};
pub use report::Report;
pub use strings::StringKind;
