//! People's judgement of a version's instances: what they are asked, what they said, how well they agree, what stays.
//!
//! - **In:** a version's files, the questions (a TOML file; [`questions::default_questions`] are Doc2Feat-Bench's), the
//!   instances that were drawn by `quarry sample` (or all), a filled sheet of each annotator, and one with what was decided
//!   where they do not agree.
//! - **Out:** a sheet for each annotator, as CSV and as an HTML form that works from disk; the agreement; a sheet of what is
//!   disputed; and a version of what stays, which names its parent and holds every answer.
//! - **Always:** every sheet answers every question of every instance once, or each place where it does not is told by its
//!   line; an instance goes only when everybody's own answers drop it, or when that was decided; nobody's answer is lost;
//!   the result is a sound version whose log says of each instance of the parent why it stays or goes.
//!
//! | file | knows |
//! |---|---|
//! | [`questions`] | the questions and their answers |
//! | [`sheet`] | a sheet's columns; writing and reading it |
//! | [`form`] | the same sheet as a page |
//! | [`judge`](mod@judge) | filled sheets → what stays, what is disputed |
//! | [`agreement`] | kappa |
//! | [`record`] | what of it a version holds |
//! | [`summary`](mod@summary) | agreement, reasons and their overlaps |
//! | [`child`](mod@child) | the version of what stays |
//! | [`check`] | whether a version's annotations agree with it |
//!
//! Rules: Doc2Feat-Bench (arXiv 2507.18130), section 2.2.

pub mod agreement;
pub mod check;
pub mod child;
pub mod error;
pub mod form;
pub mod judge;
pub mod questions;
pub mod record;
pub mod sheet;
pub mod summary;

#[cfg(test)]
mod tests;

pub use child::child;
pub use error::{AnnotateError, Fault};
pub use judge::judge;
pub use questions::Question;
pub use record::{Annotation, AnnotationRow, Parent};
pub use summary::summary;
