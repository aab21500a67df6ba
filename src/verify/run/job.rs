//! Which runs there are, on which side, and what they are called.

use std::fmt;
use std::path::Path;

use super::Verifier;
pub(super) use crate::harness::job::{blocking, disk};
use crate::harness::{self, Bench, Channel, Fault, Log, Wishes};
use crate::sandbox::JobResult;

/// The trees that tests run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Base and test patch.
    Before,
    /// Gold on top.
    After,
    /// The base tree as it is.
    Base,
}

impl Side {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Before => "before gold",
            Self::After => "after gold",
            Self::Base => "on the base tree",
        }
    }
}

/// Which of a side's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// In collection order, by number from 1.
    Ordered(u32),
    /// In collection order, in an A/A run's second half: by number, after those of the first.
    Again(u32),
    /// In the random order.
    Shuffled,
    /// Of what the oracle's ids select, FAIL_TO_PASS alone.
    ById,
    /// Of FAIL_TO_PASS by id, with gold's lines watched.
    Traced,
    /// Of FAIL_TO_PASS by id, on gold without one of its hunks, by number from 1.
    Without(u32),
}

impl Which {
    /// Each run in collection order has its own: what depends on the order of a set shows, and shows again. The others
    /// share the first one's, so that nothing but what they are made for differs.
    const fn hash_seed(self) -> u32 {
        match self {
            Self::Ordered(number) | Self::Again(number) => number,
            Self::Shuffled | Self::ById | Self::Traced | Self::Without(_) => 1,
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ordered(number) => write!(f, "run {number}"),
            Self::Again(number) => write!(f, "A/A run {number}"),
            Self::Shuffled => f.write_str("the run in random order"),
            Self::ById => f.write_str("the run by id"),
            Self::Traced => f.write_str("the traced run"),
            Self::Without(number) => write!(f, "the run without hunk {number}"),
        }
    }
}

/// What the first run after gold said of what could not be collected and of tests that failed, by a try's log: ids and
/// messages. Without such a run, what the first one before gold said.
pub fn said_at_last(log: &str) -> Vec<(String, String)> {
    let runs = [Side::After, Side::Before].map(|side| name(Which::Ordered(1), side));
    harness::log::said(log, &runs)
}

/// A run's name in logs.
fn name(which: Which, side: Side) -> String {
    format!("{which} {}", side.name())
}

/// One run, and the tree that it gets a copy of.
pub(super) struct Run<'a> {
    pub(super) side: Side,
    pub(super) which: Which,
    pub(super) tree: &'a Path,
    /// The runner's arguments.
    pub(super) args: &'a [String],
    pub(super) wishes: Wishes,
}

impl<'a> Run<'a> {
    fn named(&self) -> harness::Run<'a> {
        harness::Run {
            name: name(self.which, self.side),
            hash_seed: self.which.hash_seed(),
            traced: self.which == Which::Traced,
            tree: self.tree,
            args: self.args,
            wishes: self.wishes.clone(),
        }
    }
}

impl Verifier {
    /// A run that must come to its own end.
    pub(super) async fn complete(
        &self,
        bench: &Bench<'_>,
        run: &Run<'_>,
        log: &mut Log,
    ) -> Result<Channel, Fault> {
        self.harness.complete(bench, &run.named(), log).await
    }

    /// One run of the tests, in a fresh copy of its side's tree, however it ends.
    pub(super) async fn run_once(
        &self,
        bench: &Bench<'_>,
        run: &Run<'_>,
        log: &mut Log,
    ) -> Result<(JobResult, Channel), Fault> {
        self.harness.run_once(bench, &run.named(), log).await
    }
}
