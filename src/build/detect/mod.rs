//! What a repository asks for: a tree's files → ranked proposals of how to install and test it.
//!
//! - **In:** which files the tree has at the base commit, and what is in them; the base commit's date; the interpreters
//!   at hand.
//! - **Out:** [`Detected`]: interpreters in the order to try them, one to eight [`Proposal`]s, facts and notes; each
//!   with the line of the file that it comes from.
//! - **Always:** nothing is run and nothing else is read; the same tree gives the same proposals; no repository is known
//!   by its name; what a proposal installs can be followed by the builder; no file, however wrong, stops it.
//!
//! The order is that of evidence: what the project's automation really runs its tests with, then tox and nox, then the
//! Makefile, then sets of requirements that are named after tests, then requirement files, then the project alone.
//!
//! | module | what it knows |
//! |---|---|
//! | [`proposal`] | the words |
//! | `search` | the order of it all |
//! | `interpreters` | which Pythons, in which order |
//! | `package`, `pyproject` | the project's extras, groups and scripts |
//! | `pipfile` | pipenv's file |
//! | `conda` | conda's environment files and commands |
//! | `setup_cfg`, `setup_py`, `tox`, `nox`, `hatch`, `makefile` | the files of these names |
//! | `workflows`, `travis` | GitHub's workflows, Travis's and Azure's files |
//! | `source` | Python that configures things, parsed and never run |
//! | `sets` | groups, extras and files that are named after tests |
//! | `plan`, `follow` | what is done to test, and where it leads |
//! | `shell`, `conditions` | a shell's text: its commands, and which of them run |
//! | `command`, `installers` | what a command installs or runs |
//! | `runners`, `options` | what runs the tests, and which of its options stay |
//! | `needs` | what pytest itself is asked for |
//! | `install`, `requirement`, `compose` | install lines that can be followed, and the proposal they make |
//! | `home` | which repositories a packaging file names |

mod command;
mod compose;
mod conda;
mod conditions;
mod follow;
mod hatch;
mod home;
mod install;
mod installers;
mod interpreters;
mod makefile;
mod needs;
mod nox;
mod options;
mod package;
mod pipfile;
mod plan;
pub mod proposal;
mod pyproject;
mod requirement;
mod runners;
mod search;
mod sets;
mod setup_cfg;
mod setup_py;
mod shell;
mod source;
mod tox;
mod travis;
mod workflows;

#[cfg(test)]
mod tests;

pub use home::repositories;
pub use proposal::{Choice, Detected, FactKind, Found, MOST, Origin, Proposal, Tree};
pub use search::detect;
