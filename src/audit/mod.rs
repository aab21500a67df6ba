//! Audit: what a version is, why everything else is not in it, and in what two versions differ. Reads only.
//!
//! - **In:** a version's funnel and selection log, two versions' rows; values, from whoever reads them.
//! - **Out:** the funnel as a whole and by repository, every dropped pull request with its reason, those that one rule alone
//!   dropped with their distance to its threshold, and differences field by field and test by test.
//! - **Always:** nothing that the log holds is left out; the order does not depend on that of the input.
//!
//! | file | knows |
//! |---|---|
//! | [`funnel`] | steps, ends, and how they are told |
//! | [`distance`] | how far a value is from a rule's threshold |
//! | [`diff`](mod@diff) | two versions |
//! | [`page`] | the audit as one HTML page |

pub mod diff;
pub mod distance;
pub mod funnel;
pub mod page;
