//! A task that is told by documentation: what a change says to users is the input, what it does is the solution.
//!
//! - **In:** the documentation's part of a diff with its files before and after; the source's and the tests' files.
//! - **Out:** [`render`](mod@render): the statement, a diff whose hunks say which section they are in and hold the
//!   paragraph that they change, notebooks by their cells; [`reading`]: how much text there is to read in it;
//!   [`mask`](mod@mask): the same without references to issues, pull requests, commits and people, and the log that
//!   brings them back; [`hints`](mod@hints): names that tests need and documentation does not tell;
//!   [`marks`](mod@marks): directives that say since when something is there;
//!   [`characteristics`](mod@characteristics): how large the tasks of a set are.
//! - **Always:** a statement depends on bytes of the repository alone; masking changes nothing but what its log names.
//!
//! Rules: Doc2Feat-Bench (arXiv 2507.18130), sections 2.1.2 (input), 2.1.5 (hints and masking), 3 (characteristics).

pub mod characteristics;
mod code;
mod commits;
mod decorators;
mod headings;
pub mod hints;
mod links;
pub mod marks;
pub mod mask;
mod names;
mod notebook;
mod people;
mod prose;
pub mod reading;
mod references;
pub mod render;
pub mod row;

pub use characteristics::{Characteristics, characteristics};
pub use hints::{Hint, SourcePair, hints};
pub use marks::{Mark, marks};
pub use mask::{Masked, mask, unmask};
pub use reading::{holds_text, says_something, text_lines};
pub use render::{DocsFile, render};
pub use row::{DocsRow, DocsTask};
