//! An oracle's strength, in attempts of their own: what was verified stays as it is.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::job::{Run, Side, Which, blocking};
use super::once::{Trees, prepare};
use super::{Subject, Verifier, VerifyRequest, adapter, tries};
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::event::Event;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::TestId;
use crate::domain::outcome::TestStatus;
use crate::domain::strength::{Ablation, LineCoverage, Strength};
use crate::harness::{Bench, Fault, Log, Place, TRACER, Wishes, by_id, infra, is_machines};
use crate::verify::error::VerifyError;
use crate::verify::gold::{changed_lines, cover, without_each};

/// What is known of an oracle's strength.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// What was measured; `None` when the recipe asks for nothing.
    pub strength: Option<Strength>,
    /// Whether nothing is left to measure.
    pub complete: bool,
    /// The outside's faults that stand after all tries, by their words.
    pub infra: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Coverage,
    Ablation,
}

/// What the ledger says of one measure.
enum Known {
    /// Its result, or the word of what kept it from having one.
    Settled(Result<Value, Attempt>),
    /// It may be tried, after so many tries.
    Open(u32, Option<Attempt>),
}

impl Verifier {
    /// What the ledger knows of an oracle's strength. Nothing is run.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn known_strength(&self, subject: &Subject, tests: &[TestId]) -> Result<Measured, VerifyError> {
        let mut measured = start(subject);
        for measure in asked(subject, tests) {
            match self.known(subject, measure, tests)? {
                Known::Settled(settled) => measured.take(measure, settled),
                Known::Open(..) => measured.complete = false,
            }
        }
        Ok(measured)
    }

    /// Measures how strong an oracle with these FAIL_TO_PASS tests is, as the settings ask: from the ledger where it is
    /// there, else by running them. Faults cost the measure, never the oracle.
    ///
    /// # Errors
    /// Errors of ours or the caller's.
    pub async fn strength(&self, request: &VerifyRequest, tests: &[TestId]) -> Result<Measured, VerifyError> {
        let mut measured = start(&request.subject);
        for measure in asked(&request.subject, tests) {
            match self.settle(request, measure, tests).await? {
                Some(settled) => measured.take(measure, settled),
                None => measured.complete = false,
            }
        }
        Ok(measured)
    }

    fn measure_key(&self, subject: &Subject, measure: Measure, tests: &[TestId]) -> String {
        let verified = self.input_key(subject);
        match measure {
            Measure::Coverage => KeyHasher::new("coverage", 1).part("tracer", TRACER.1.as_bytes()),
            Measure::Ablation => KeyHasher::new("ablation", 1).json("most", &subject.settings.ablation),
        }
        .part("verified", verified.as_bytes())
        .json("tests", &tests)
        .finish()
    }

    fn known(&self, subject: &Subject, measure: Measure, tests: &[TestId]) -> Result<Known, VerifyError> {
        let key = self.measure_key(subject, measure, tests);
        let store = &self.context.store;
        let mut mine = store
            .attempts(Some(Stage::Strength), Some(&subject.candidate))
            .map_err(adapter)?;
        mine.retain(|attempt| attempt.input_key == key);
        let used = tries(&mine);
        Ok(match mine.pop() {
            Some(Attempt {
                result: Some(value), ..
            }) => Known::Settled(Ok(value)),
            Some(last) if last.outcome == AttemptOutcome::Project => Known::Settled(Err(last)),
            Some(last) if used >= subject.settings.infra_tries.max(1) => Known::Settled(Err(last)),
            last => Known::Open(used, last),
        })
    }

    /// One measure, to its end; `None` when it was stopped.
    async fn settle(
        &self,
        request: &VerifyRequest,
        measure: Measure,
        tests: &[TestId],
    ) -> Result<Option<Result<Value, Attempt>>, VerifyError> {
        let (used, mut last) = match self.known(&request.subject, measure, tests)? {
            Known::Settled(Err(attempt)) if request.again && attempt.outcome == AttemptOutcome::Infra => {
                (0, Some(attempt))
            }
            Known::Settled(settled) => return Ok(Some(settled)),
            Known::Open(used, last) => (used, last),
        };
        for _ in used..request.subject.settings.infra_tries.max(1) {
            if self.context.cancel.is_cancelled() {
                return Ok(None);
            }
            let mut text = Log::default();
            let result = match measure {
                Measure::Coverage => json(self.coverage(request, tests, &mut text).await),
                Measure::Ablation => json(self.ablation(request, tests, &mut text).await),
            };
            if self.harness.is_killed() {
                return Ok(None);
            }
            let attempt = self.record_measure(request, measure, tests, result, &text)?;
            match attempt {
                Attempt {
                    result: Some(value), ..
                } => return Ok(Some(Ok(value))),
                attempt if attempt.outcome == AttemptOutcome::Project => return Ok(Some(Err(attempt))),
                attempt => last = Some(attempt),
            }
        }
        Ok(last.map(Err))
    }

    fn record_measure(
        &self,
        request: &VerifyRequest,
        measure: Measure,
        tests: &[TestId],
        result: Result<Value, Fault>,
        text: &Log,
    ) -> Result<Attempt, VerifyError> {
        let (outcome, reason, detail, result) = match result {
            Ok(value) => (AttemptOutcome::Done, "ok", String::new(), Some(value)),
            Err(fault) => (fault.outcome, fault.reason, fault.detail, None),
        };
        let attempt = Attempt {
            candidate: request.subject.candidate.clone(),
            stage: Stage::Strength,
            input_key: self.measure_key(&request.subject, measure, tests),
            outcome,
            reason: reason.to_owned(),
            detail,
            log: Some(self.context.blobs.put(text.bytes()).map_err(adapter)?),
            result,
        };
        self.context.events.emit(Event::Attempted {
            candidate: request.subject.candidate.to_string(),
            stage: Stage::Strength,
            outcome: attempt.outcome,
            reason: attempt.reason.clone(),
        });
        self.context
            .store
            .append_attempt(attempt.clone())
            .map_err(adapter)?;
        Ok(attempt)
    }

    /// The run by id, with gold's Python files watched.
    async fn coverage(
        &self,
        request: &VerifyRequest,
        tests: &[TestId],
        log: &mut Log,
    ) -> Result<LineCoverage, Fault> {
        let changed = changed_lines(&request.subject.patches.gold);
        let watched: Vec<String> = changed
            .keys()
            .filter_map(|path| path.to_str().map(str::to_owned))
            .collect();
        if watched.is_empty() {
            return Ok(LineCoverage::default());
        }
        let (place, trees) = self.trees(request.clone()).await?;
        let trees = trees?;
        let bench = bench(request, &place);
        let run = Run {
            side: Side::After,
            which: Which::Traced,
            tree: &trees.after,
            args: &by_id(bench.settings),
            wishes: Wishes {
                trace: watched,
                ..alone(tests)
            },
        };
        let channel = self.complete(&bench, &run, log).await?;
        Ok(LineCoverage {
            not_passed: not_passed(tests, &channel.outcome.tests),
            ..cover(&changed, &channel.lines)
        })
    }
}

impl Verifier {
    /// A try's own folder and what is in it: the trees, or why a patch of the request makes none.
    async fn trees(&self, request: VerifyRequest) -> Result<(Place, Result<Trees, Fault>), Fault> {
        let place = self.harness.place()?;
        let folder = place.path().to_owned();
        let trees = blocking(move || prepare(&request, &folder)).await;
        Ok((place, trees))
    }

    /// A run by id for each of gold's hunks, on gold without it.
    async fn ablation(
        &self,
        request: &VerifyRequest,
        tests: &[TestId],
        log: &mut Log,
    ) -> Result<Ablation, Fault> {
        let all = without_each(&request.subject.patches.gold);
        let most = usize::try_from(request.subject.settings.ablation).unwrap_or(usize::MAX);
        let mut found = Ablation {
            hunks: u32::try_from(all.len()).unwrap_or(u32::MAX),
            ..Ablation::default()
        };
        for left in all.into_iter().take(most) {
            if self.context.cancel.is_cancelled() {
                return Err(infra("cancelled", "it was stopped between two hunks"));
            }
            found.tried += 1;
            log.line(&format!("\nwithout {} {}", left.hunk.path, left.hunk.head));
            let mut partial = request.clone();
            partial.subject.patches.gold = left.rest;
            let (place, trees) = self.trees(partial).await?;
            let trees = match trees {
                Ok(trees) => trees,
                Err(fault) if fault.outcome == AttemptOutcome::Project => {
                    found.inseparable.push(left.hunk);
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            let bench = bench(request, &place);
            let run = Run {
                side: Side::After,
                which: Which::Without(found.tried),
                tree: &trees.after,
                args: &by_id(bench.settings),
                wishes: alone(tests),
            };
            match self.complete(&bench, &run, log).await {
                Ok(channel) if not_passed(tests, &channel.outcome.tests).is_empty() => {
                    found.unnoticed.push(left.hunk);
                }
                Ok(_) => {}
                // Nothing could be run: that is noticed.
                Err(fault) if fault.outcome == AttemptOutcome::Project => {}
                Err(fault) if self.harness.is_killed() || is_machines(fault.outcome, fault.reason) => {
                    return Err(fault);
                }
                Err(fault) => {
                    log.line(&fault.detail);
                    found.undecided.push(left.hunk);
                }
            }
        }
        Ok(found)
    }
}

impl Measured {
    fn take(&mut self, measure: Measure, settled: Result<Value, Attempt>) {
        let strength = self.strength.get_or_insert_default();
        match (settled, measure) {
            (Ok(value), Measure::Coverage) => strength.coverage = serde_json::from_value(value).ok(),
            (Ok(value), Measure::Ablation) => strength.ablation = serde_json::from_value(value).ok(),
            (Err(attempt), _) if attempt.outcome == AttemptOutcome::Infra => {
                self.infra.push(attempt.reason);
            }
            (Err(_), _) => {}
        }
    }
}

fn start(subject: &Subject) -> Measured {
    let asks = subject.settings.coverage || subject.settings.ablation > 0;
    Measured {
        strength: asks.then(Strength::default),
        complete: true,
        infra: vec![],
    }
}

fn asked(subject: &Subject, tests: &[TestId]) -> impl Iterator<Item = Measure> {
    let (settings, any) = (&subject.settings, !tests.is_empty());
    let coverage = (any && settings.coverage).then_some(Measure::Coverage);
    let ablation = (any && settings.ablation > 0).then_some(Measure::Ablation);
    coverage.into_iter().chain(ablation)
}

fn bench<'a>(request: &'a VerifyRequest, place: &'a Place) -> Bench<'a> {
    Bench {
        environment: request.environment.as_ref(),
        settings: &request.subject.settings,
        place: place.path(),
    }
}

/// FAIL_TO_PASS by id, and nothing else.
fn alone(tests: &[TestId]) -> Wishes {
    Wishes {
        ids: tests.to_vec(),
        only: tests.to_vec(),
        ..Wishes::default()
    }
}

fn not_passed(tests: &[TestId], ran: &BTreeMap<TestId, TestStatus>) -> Vec<TestId> {
    tests
        .iter()
        .filter(|test| !ran.get(*test).is_some_and(|status| status.is_pass()))
        .cloned()
        .collect()
}

fn json<T: Serialize>(result: Result<T, Fault>) -> Result<Value, Fault> {
    result.and_then(|value| serde_json::to_value(value).map_err(|error| infra("internal", error.to_string())))
}
