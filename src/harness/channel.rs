//! The runner's channel: bytes → what one run told.
//!
//! Each line is a seal, a space and a JSON object (`data/runner/quarry_run.py` writes them). A line with a wrong seal
//! is somebody else's and counts as forged; a hole in the sequence means that lines were lost; a last line without its
//! end was being written when the run died.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::seal;
use crate::domain::ids::TestId;
use crate::domain::outcome::{RunOutcome, TestStatus};
use crate::domain::strength::Watched;

/// One event of the channel.
#[derive(Debug, Deserialize)]
#[serde(tag = "e", rename_all = "kebab-case")]
enum Told {
    Hello {
        runner: String,
        version: String,
        python: String,
    },
    Missing {
        runner: String,
        message: String,
    },
    Collected {
        ids: Vec<TestId>,
    },
    Shuffled {
        seed: String,
    },
    Addressed {
        ids: Vec<TestId>,
    },
    CollectError {
        node: String,
        message: String,
    },
    CollectSkip {
        node: String,
        message: String,
    },
    Start {
        id: TestId,
    },
    Phase {
        id: TestId,
        phase: Phase,
        outcome: Word,
        #[serde(default)]
        seconds: f64,
        #[serde(default)]
        message: String,
    },
    Subtest {
        id: TestId,
        outcome: Word,
        #[serde(default)]
        message: String,
    },
    Crash {
        id: TestId,
        #[serde(default)]
        message: String,
    },
    InternalError {
        message: String,
    },
    Interrupted {
        message: String,
    },
    Lines {
        path: String,
        code: BTreeSet<u32>,
        ran: BTreeSet<u32>,
        branches: BTreeSet<(u32, u32)>,
        taken: BTreeSet<(u32, u32)>,
    },
    Finish {
        status: i32,
    },
}

/// A line's place in the sequence.
#[derive(Deserialize)]
struct Place {
    n: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Setup,
    Call,
    Teardown,
}

/// What a phase came to. A word we do not know is a plugin's own and says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Passed,
    Failed,
    Skipped,
    Xfailed,
    Xpassed,
    Rerun,
    #[serde(other)]
    Other,
}

/// What the channel of one run told. Whether the run is complete is for `faults` to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Channel {
    /// The runner, its version and Python's, once it was up.
    pub hello: Option<Hello>,
    /// Why there is no runner in the environment.
    pub missing: Option<String>,
    /// Outcomes, collection errors and skips.
    pub outcome: RunOutcome,
    /// Every test that was collected.
    pub collected: BTreeSet<TestId>,
    /// What the ids that the run was asked for selected, when it was asked for some.
    pub addressed: Option<BTreeSet<TestId>>,
    /// What the random order was made of, when the tests were put into one.
    pub order: Option<String>,
    /// Why a test is not a plain pass (capped by the runner).
    pub messages: BTreeMap<TestId, String>,
    /// Seconds over all phases and tries of a test.
    pub seconds: BTreeMap<TestId, f64>,
    /// How often a plugin ran a test again before its outcome stood.
    pub reruns: BTreeMap<TestId, u32>,
    /// Tests that had started and not ended, oldest first.
    pub running: Vec<TestId>,
    /// Tests whose worker process died under them, with what was said.
    pub crashed: BTreeMap<TestId, String>,
    /// The runner's own failure.
    pub internal_error: Option<String>,
    /// What a traced run saw of each file that it watched.
    pub lines: BTreeMap<String, Watched>,
    /// Who broke the run off (`pytest.exit`, `KeyboardInterrupt`).
    pub interrupted: Option<String>,
    /// The runner's exit status, when it came to its end.
    pub finish: Option<i32>,
    /// Lines that carry no valid seal.
    pub forged: u64,
    /// Whether the last line was cut off.
    pub torn: bool,
    /// Whether sealed lines are missing, doubled or out of order.
    pub damaged: bool,
}

/// What a runner says of itself when it is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// `pytest`, `unittest` or `script`.
    pub runner: String,
    /// Its version.
    pub version: String,
    /// Python's version.
    pub python: String,
}

impl Channel {
    /// Collected tests that came to no outcome.
    pub fn unfinished(&self) -> impl Iterator<Item = &TestId> {
        self.collected
            .iter()
            .filter(|id| !self.outcome.tests.contains_key(*id))
    }
}

/// What is known of a test while its run goes on.
#[derive(Debug, Default)]
struct Progress {
    setup: Option<Word>,
    call: Option<Word>,
    teardown: Option<Word>,
    subtest_failed: bool,
    /// The worst outcome of earlier rounds under the same id.
    earlier: Option<TestStatus>,
}

impl Progress {
    /// The outcome of this round, once it has one.
    fn round(&self) -> Option<TestStatus> {
        use Word::{Failed, Passed, Skipped, Xfailed, Xpassed};
        if self.setup == Some(Failed) {
            return Some(TestStatus::Errored);
        }
        if self.call == Some(Failed) || self.subtest_failed {
            return Some(TestStatus::Failed);
        }
        if self.teardown == Some(Failed) {
            return Some(TestStatus::Errored);
        }
        match (self.setup, self.call) {
            (Some(Skipped), _) | (_, Some(Skipped)) => Some(TestStatus::Skipped),
            (Some(Xfailed), _) | (_, Some(Xfailed)) => Some(TestStatus::Xfailed),
            (_, Some(Xpassed)) => Some(TestStatus::Xpassed),
            (_, Some(Passed)) => Some(TestStatus::Passed),
            _ => None,
        }
    }

    fn status(&self) -> Option<TestStatus> {
        worse(self.earlier, self.round())
    }

    /// Begins another round under the same id.
    fn next_round(&mut self) {
        *self = Self {
            earlier: self.status(),
            ..Self::default()
        };
    }

    /// Forgets this round: a plugin runs the test again, and the last try stands.
    fn rerun(&mut self) {
        *self = Self {
            earlier: self.earlier,
            ..Self::default()
        };
    }
}

/// Two rounds under one id: the worse one stands.
fn worse(one: Option<TestStatus>, other: Option<TestStatus>) -> Option<TestStatus> {
    const WORST_FIRST: [TestStatus; 6] = [
        TestStatus::Failed,
        TestStatus::Errored,
        TestStatus::Skipped,
        TestStatus::Xfailed,
        TestStatus::Xpassed,
        TestStatus::Passed,
    ];
    WORST_FIRST
        .into_iter()
        .find(|status| [one, other].contains(&Some(*status)))
}

/// Reads a channel. Any bytes are fine: what does not carry the seal of `secret` is counted and left out.
pub fn read(bytes: &[u8], secret: &[u8]) -> Channel {
    let mut reader = Reader::default();
    let mut rest = bytes;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        reader.line(&rest[..end], secret);
        rest = &rest[end + 1..];
    }
    reader.channel.torn = !rest.is_empty();
    reader.close()
}

#[derive(Default)]
struct Reader {
    channel: Channel,
    next: u64,
    progress: BTreeMap<TestId, Progress>,
}

impl Reader {
    fn line(&mut self, line: &[u8], secret: &[u8]) {
        let Some(body) = unsealed(line, secret) else {
            self.channel.forged += 1;
            return;
        };
        let (Ok(place), Ok(told)) = (
            serde_json::from_slice::<Place>(body),
            serde_json::from_slice::<Told>(body),
        ) else {
            self.channel.damaged = true;
            return;
        };
        if place.n != self.next {
            self.channel.damaged = true;
        }
        self.next = place.n + 1;
        self.take(told);
    }

    fn take(&mut self, told: Told) {
        let channel = &mut self.channel;
        match told {
            Told::Hello {
                runner,
                version,
                python,
            } => {
                channel.hello = Some(Hello {
                    runner,
                    version,
                    python,
                });
            }
            Told::Missing { runner, message } => channel.missing = Some(format!("{runner}: {message}")),
            Told::Collected { ids } => channel.collected.extend(ids),
            Told::Addressed { ids } => channel.addressed.get_or_insert_default().extend(ids),
            Told::Shuffled { seed } => channel.order = Some(seed),
            Told::CollectError { node, message } => {
                channel.outcome.collection_errors.insert(node, message);
            }
            Told::CollectSkip { node, message } => {
                channel.outcome.collection_skips.insert(node, message);
            }
            Told::Start { id } => {
                let progress = self.progress.entry(id.clone()).or_default();
                progress.next_round();
                channel.running.retain(|other| *other != id);
                channel.running.push(id);
            }
            Told::Phase {
                id,
                phase,
                outcome,
                seconds,
                message,
            } => {
                self.phase(&id, phase, outcome);
                let channel = &mut self.channel;
                *channel.seconds.entry(id.clone()).or_default() += seconds;
                note(channel, id, message);
            }
            Told::Subtest { id, outcome, message } => {
                self.progress.entry(id.clone()).or_default().subtest_failed |= outcome == Word::Failed;
                note(channel, id, message);
            }
            Told::Crash { id, message } => {
                channel.running.retain(|other| *other != id);
                channel.crashed.insert(id, message);
            }
            Told::InternalError { message } => channel.internal_error = Some(message),
            Told::Interrupted { message } => channel.interrupted = Some(message),
            Told::Lines {
                path,
                code,
                ran,
                branches,
                taken,
            } => {
                let watched = Watched {
                    code,
                    ran,
                    branches,
                    taken,
                };
                channel.lines.insert(path, watched);
            }
            Told::Finish { status } => channel.finish = Some(status),
        }
    }

    fn phase(&mut self, id: &TestId, phase: Phase, outcome: Word) {
        let progress = self.progress.entry(id.clone()).or_default();
        match (outcome, phase) {
            (Word::Rerun, _) => {
                progress.rerun();
                *self.channel.reruns.entry(id.clone()).or_default() += 1;
            }
            (Word::Other, _) => {}
            (_, Phase::Setup) => progress.setup = Some(outcome),
            // Of two words on one step the failure stands.
            (_, Phase::Call) if progress.call != Some(Word::Failed) => progress.call = Some(outcome),
            (_, Phase::Call) => {}
            (_, Phase::Teardown) => progress.teardown = Some(outcome),
        }
        // pytest ends a test with its teardown; the others tell one phase only.
        let one_phase = self
            .channel
            .hello
            .as_ref()
            .is_some_and(|hello| hello.runner != "pytest");
        if phase == Phase::Teardown || one_phase {
            self.channel.running.retain(|other| other != id);
        }
    }

    fn close(mut self) -> Channel {
        for (id, progress) in self.progress {
            if let Some(status) = progress.status() {
                self.channel.outcome.tests.insert(id, status);
            }
        }
        self.channel
    }
}

fn note(channel: &mut Channel, id: TestId, message: String) {
    if !message.is_empty() {
        channel.messages.entry(id).or_insert(message);
    }
}

/// The JSON object of a line that carries its valid seal.
fn unsealed<'a>(line: &'a [u8], secret: &[u8]) -> Option<&'a [u8]> {
    let (digits, rest) = line.split_at_checked(seal::DIGITS)?;
    let body = rest.strip_prefix(b" ")?;
    (seal::seal(secret, body).as_bytes() == digits).then_some(body)
}

#[cfg(test)]
mod tests;
