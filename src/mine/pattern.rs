//! Fixed expressions.

use regex::Regex;

/// Compiles an expression that is part of this program.
#[expect(
    clippy::unwrap_used,
    reason = "a fixed expression: the tests compile every one"
)]
pub(super) fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}
