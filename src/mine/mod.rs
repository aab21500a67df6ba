//! Mining: a mirror's merged pull requests as candidates, with no API.
//!
//! - **In:** a bare mirror with `refs/pull/*/head` (or an address to clone), what earlier readings decided.
//! - **Out:** for every pull request ever seen either a candidate or a decision with its reason, and a page that says so.
//! - **Always:** no pull request is mined twice; a claim is believed on proof (the head itself, the same change, the same
//!   files from the same hands), never on a number alone; diffs are bytes; the same mirror gives the same candidates,
//!   killed or not.
//!
//! | module | what it knows |
//! |---|---|
//! | [`graph`], [`trunk`], [`roots`] | the commits, the branches, who stands on what |
//! | [`subjects`], [`link`] | what messages say: landings, backports, reverts; issue references |
//! | [`merges`], [`ancestry`], [`identity`], [`mapping`] | which commit landed which pull request |
//! | [`sides`], [`patch`] | which diff is the pull request's, and whether it applies |
//! | [`split`] | gold, test, docs, other |
//! | [`release`], [`assemble`], [`verdicts`] | what a candidate holds, and why others are none |
//! | [`plan`] | what is left to do |
//! | [`run`] | the shell |

pub mod ancestry;
pub mod assemble;
mod defaults;
pub mod graph;
pub mod identity;
pub mod link;
pub mod mapping;
mod markup;
pub mod merges;
pub mod patch;
mod pattern;
pub mod plan;
pub mod release;
pub mod release_notes;
pub mod roots;
pub mod run;
pub mod sides;
pub mod source;
pub mod split;
pub mod subjects;
pub mod trunk;
pub mod verdicts;
