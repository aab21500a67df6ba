//! Bars on a terminal, and plain lines where there is none.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::domain::attempt::AttemptOutcome;
use crate::domain::event::{Event, EventSink};
use crate::domain::text;

/// For a person: a bar a stage where standard error is a terminal (and bars are wanted), a line when a stage
/// ends, warnings, and every attempt when asked for.
pub struct Human {
    bars: MultiProgress,
    running: Mutex<BTreeMap<&'static str, ProgressBar>>,
    verbosity: i8,
}

impl Human {
    /// `bars`: whether to draw; `verbosity`: below 0 only warnings, 0 a line a stage, above 0 every attempt.
    pub fn new(bars: bool, verbosity: i8) -> Self {
        let target = if bars && verbosity >= 0 {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            bars: MultiProgress::with_draw_target(target),
            running: Mutex::new(BTreeMap::new()),
            verbosity,
        }
    }

    fn line(&self, text: &str) {
        // `suspend` keeps the line from being drawn into a bar.
        self.bars.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{}", text::line(text));
        });
    }
}

impl EventSink for Human {
    fn emit(&self, event: Event) {
        let Ok(mut running) = self.running.lock() else {
            return;
        };
        match event {
            Event::StageStarted { stage, unit, total } => {
                let bar = self.bars.add(if total == 0 {
                    ProgressBar::new_spinner()
                } else {
                    ProgressBar::new(total)
                });
                let template = if total == 0 {
                    "{spinner} {prefix:>7} {pos} {msg} [{elapsed}]"
                } else {
                    "{prefix:>9} {bar:30} {pos}/{len} {msg} [{elapsed}, {eta} left]"
                };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                bar.set_prefix(stage);
                bar.set_message(unit);
                if !self.bars.is_hidden() {
                    bar.enable_steady_tick(Duration::from_millis(200));
                }
                running.insert(stage, bar);
            }
            Event::Advanced { stage, by } => {
                if let Some(bar) = running.get(stage) {
                    bar.inc(by);
                }
            }
            Event::Attempted {
                candidate,
                stage,
                outcome,
                reason,
            } => {
                if self.verbosity > 0 || (outcome == AttemptOutcome::Infra && self.verbosity >= 0) {
                    self.line(&format!(
                        "{:>9} {candidate}: {} ({reason})",
                        stage.name(),
                        outcome.name()
                    ));
                }
            }
            Event::StageFinished { stage, note } => {
                if let Some(bar) = running.remove(stage) {
                    bar.finish_and_clear();
                }
                if self.verbosity >= 0 {
                    self.line(&format!("{stage:>9} {note}"));
                }
            }
            Event::Warning { message } => self.line(&format!("warning: {message}")),
        }
    }
}
