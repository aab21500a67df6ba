//! Emit: verified candidates into a versioned manifest.
//!
//! - **In:** a recipe with its text, the sources as they were read, every candidate with its decisions, attempts and
//!   oracle, and for each that survived the parts of its diff ([`EmitInput`]).
//! - **Out:** `manifests/<dataset>/<version>/` with `manifest.json`, `instances.jsonl`, `variants.jsonl` (when asked for), `annotations.jsonl` (when people were asked), `selection-log.jsonl.zst`,
//!   `locks/<hash>.txt` and `SHA256SUMS`; beside the datasets `schema/v1.json`.
//! - **Always:** the same input, in whatever order, gives the same bytes; no clock, no float of ours and no path of the
//!   machine is in them; what is written validates against the schema and passes [`check`]; a version appears whole
//!   or not at all and is never overwritten.
//!
//! | module | what it knows |
//! |---|---|
//! | [`manifest`] [`instance`] [`entry`] | the shape of each file |
//! | [`mod@variants`] | the variants of the instances' trees |
//! | [`walk`] | a candidate's way through the steps, and the funnel |
//! | [`rows`] | a candidate and its oracle as an instance |
//! | [`assemble`](mod@assemble) | everything together, as files |
//! | [`canonical`] [`base64`] [`sums`] | the bytes |
//! | [`docs`] | tasks that are told by documentation |
//! | [`mod@sample`] [`annotate`] | which instances people look at; what they say of them |
//! | [`schema`] | `manifests/schema/v1.json` |
//! | [`check`] | whether a folder is a sound version |
//! | [`versions`] | a version's folder, written once |
//! | [`export`] | a version as the files of other tools |
//! | [`import`] | a published dataset's rows as a version |

mod agree;
pub mod annotate;
pub mod assemble;
pub use crate::domain::base64;
pub mod canonical;
pub mod check;
pub mod docs;
pub mod entry;
pub mod error;
pub mod export;
pub mod import;
pub mod input;
pub mod instance;
pub mod manifest;
mod patches;
pub mod rows;
pub mod run;
pub mod sample;
pub mod schema;
pub mod sums;
pub mod variants;
pub mod versions;
pub mod walk;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

pub use assemble::{Files, assemble};
pub use error::EmitError;
pub use input::{Change, EmitInput, Ended, Step, Verified};
pub use run::{Report, Request, RunError, run, verify};
pub use versions::Release;
