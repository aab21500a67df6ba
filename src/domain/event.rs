//! Events: the only thing a running stage tells whoever watches. Bars, JSON lines and records are made of them.

use serde::Serialize;

use super::attempt::{AttemptOutcome, Stage};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A stage begins; `total` units of work are known, or not yet (0).
    StageStarted {
        /// Which stage or sub-step (`mine`, `filter`, `build`, `verify`, `emit`).
        stage: &'static str,
        /// What the units are (`pull requests`).
        unit: &'static str,
        /// How many.
        total: u64,
    },
    /// More of the stage's units are done.
    Advanced {
        /// Which stage.
        stage: &'static str,
        /// How many more.
        by: u64,
    },
    /// One candidate's try at a stage ended.
    Attempted {
        /// Whom it was for.
        candidate: String,
        /// Which stage.
        stage: Stage,
        /// How it ended.
        outcome: AttemptOutcome,
        /// Why, in a stable word.
        reason: String,
    },
    /// A stage ended; `note` sums it up in a line.
    StageFinished {
        /// Which stage.
        stage: &'static str,
        /// The summary.
        note: String,
    },
    /// Something a person should know that is no error.
    Warning {
        /// What.
        message: String,
    },
}

/// Where events go. Implementations must be cheap and must not fail.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);
}

/// Drops every event.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl EventSink for Silent {
    fn emit(&self, _event: Event) {}
}
