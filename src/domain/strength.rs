//! How strong an oracle is: what of the gold patch FAIL_TO_PASS runs, and what of it they miss when it is not there.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::TestId;
use super::path::RepoPath;

/// What was measured of an oracle. Neither measure changes the oracle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// Which of gold's lines FAIL_TO_PASS run; `null` when the recipe does not ask, or the run came to no end.
    pub coverage: Option<LineCoverage>,
    /// Which of gold's hunks FAIL_TO_PASS miss; `null` when the recipe does not ask, or it came to no end.
    pub ablation: Option<Ablation>,
}

/// Coverage of gold's lines by FAIL_TO_PASS alone: one run after gold, in which nothing else ran. Its lines are those
/// that gold adds or changes in Python files and that hold code, as the compiler says; lines that run when a module is
/// imported count as covered. Its branches are the ways from such a line to another one, where there is more than one;
/// an `except` that may not match is none. What runs in child processes is not seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineCoverage {
    /// Lines of gold that hold code.
    pub lines: u32,
    /// Of these, how many ran.
    pub covered: u32,
    /// Those that did not, by file, at most 200 of them.
    pub uncovered: Vec<FileLines>,
    /// Ways from a line of gold that decides (`if`, `for`, `while`, `match`) to what it may lead to.
    #[serde(default)]
    pub branches: u32,
    /// Of these, how many were taken.
    #[serde(default)]
    pub branches_taken: u32,
    /// Those that were not, at most 200 of them.
    #[serde(default)]
    pub not_taken: Vec<Branch>,
    /// FAIL_TO_PASS tests that did not pass in this run: watching lines may have slowed or changed them.
    pub not_passed: Vec<TestId>,
}

/// A way that a line of a file may lead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// The file, after gold.
    pub path: RepoPath,
    /// The line that decides, after gold, from 1.
    pub line: u32,
    /// The line that comes next; `null` when the function ends.
    pub to: Option<u32>,
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileLines {
    /// The file, after gold.
    pub path: RepoPath,
    /// Line numbers after gold, from 1, ascending.
    pub lines: Vec<u32>,
}

/// Hunk ablation: gold without one of its hunks, for each of them in turn, and one run of FAIL_TO_PASS. A hunk is
/// noticed when a test of FAIL_TO_PASS does not pass without it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ablation {
    /// Gold's hunks.
    pub hunks: u32,
    /// Of these, how many were left out in turn: the first, up to the recipe's bound.
    pub tried: u32,
    /// Hunks without which every test of FAIL_TO_PASS passes.
    pub unnoticed: Vec<Hunk>,
    /// Hunks that cannot be left out alone: the rest of gold does not apply.
    pub inseparable: Vec<Hunk>,
    /// Hunks without which the run came to no end (it hung, or died): most likely noticed.
    pub undecided: Vec<Hunk>,
}

/// A hunk by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hunk {
    /// The file, after gold (before it, for a deletion).
    pub path: RepoPath,
    /// The hunk's first line (`@@ -1,4 +1,5 @@ def f():`).
    pub head: String,
}

/// What a traced run saw of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// The lines that hold code.
    pub code: BTreeSet<u32>,
    /// The lines that ran.
    pub ran: BTreeSet<u32>,
    /// Deciding lines, each with a line that it may lead to; 0 for one that leaves the function.
    pub branches: BTreeSet<(u32, u32)>,
    /// Those that were taken.
    pub taken: BTreeSet<(u32, u32)>,
}
