//! Rows of published datasets as something that rules can look at.
//!
//! - **In:** a row with SWE-bench's field names, as a line of JSON.
//! - **Out:** the facts of that row; the line itself stays as it is.
//! - **Always:** what the row does not say is unknown. `patch` and `test_patch` are the dataset's own split: what is in
//!   `test_patch` is test; what is in `patch` is put into parts by the recipe's split, as for a mined candidate. What a
//!   dataset left out of both (documentation, for one) is not known from it.
//!
//! | module | knows |
//! |---|---|
//! | [`line`](mod@line) | where the fields stand in a line |
//! | `stops` | where quotes and backslashes stand, quickly |
//! | [`diff`] | the files of a patch |
//! | [`row`] | the facts of a row |
//! | [`log`] | a row's decisions as lines of a selection log |

pub mod diff;
pub mod line;
pub mod log;
pub mod row;
mod stops;

pub use line::{BadLine, Field, Fields, scan};
pub use row::{BadRow, Needs, Row};
