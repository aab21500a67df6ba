//! What building and verifying came to for one candidate.

use crate::build;
use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::candidate::Candidate;
use crate::domain::environment::{Environment, Setup};
use crate::domain::ids::{BlobId, CandidateId};
use crate::emit::{Ended, Verified};
use crate::verify::run::{Measured, VerifyOutcome};

/// What building and verifying say of one candidate.
#[derive(Debug, Clone)]
pub struct Proof {
    /// Whom it is about.
    pub candidate: CandidateId,
    /// How the stages ended that it met.
    pub ended: Vec<Ended>,
    /// The key of its environment, if it has one.
    pub environment: Option<String>,
    /// Its oracle, if it has one.
    pub verified: Option<Verified>,
    /// The log of its verification, if there was one.
    pub log: Option<BlobId>,
}

impl Proof {
    pub(super) fn of(candidate: &Candidate) -> Self {
        Self {
            candidate: candidate.id.clone(),
            ended: vec![],
            environment: None,
            verified: None,
            log: None,
        }
    }

    pub(super) fn without_environment(mut self, outcome: AttemptOutcome, reason: &str) -> Self {
        self.end(Stage::Build, outcome, reason.to_owned());
        self
    }

    /// Whether the environment itself may be what failed: it was not built for this commit, or no test passed in it.
    pub(super) fn is_hollow(&self) -> bool {
        if let Some(verified) = &self.verified {
            return !verified.oracle.shows_a_pass();
        }
        self.ended.iter().any(|ended| {
            let of_environment =
                ended.stage == Stage::Build || ENVIRONMENT_WORDS.contains(&ended.reason.as_str());
            ended.outcome == AttemptOutcome::Project && of_environment
        })
    }

    /// Whether the outside kept a stage from its end.
    pub(super) fn is_broken_off(&self) -> bool {
        let mut ended = self.ended.iter();
        ended.any(|ended| ended.outcome == AttemptOutcome::Infra && ended.stage != Stage::Strength)
    }

    /// Whether its oracle judges by more tests than another's, if that has one.
    pub(super) fn shows_more_than(&self, other: &Self) -> bool {
        let judges = |proof: &Self| {
            let oracle = proof.verified.as_ref().map(|verified| &verified.oracle);
            oracle.map(|oracle| (oracle.fail_to_pass.len(), oracle.pass_to_pass.len()))
        };
        judges(self) > judges(other)
    }

    fn end(&mut self, stage: Stage, outcome: AttemptOutcome, reason: String) {
        self.ended.push(Ended {
            candidate: self.candidate.clone(),
            stage,
            outcome,
            reason,
        });
    }

    pub(super) fn built(mut self, built: Result<&Environment, build::Failure>) -> Self {
        match built {
            Ok(environment) => {
                self.environment = Some(environment.key.clone());
                self.end(Stage::Build, AttemptOutcome::Done, OK.to_owned());
            }
            Err(failure) => self.end(Stage::Build, failure.outcome, failure.reason),
        }
        self
    }

    /// With how verification ended, and what was measured of its oracle; `None` when it was stopped.
    pub(super) fn judged(
        mut self,
        outcome: VerifyOutcome,
        measured: Measured,
        environment: Environment,
        setup: Setup,
    ) -> Option<Self> {
        match outcome {
            VerifyOutcome::Verified(verified) => {
                self.end(Stage::Verify, AttemptOutcome::Done, OK.to_owned());
                // Told, and no more: the oracle stands without it.
                for reason in measured.infra {
                    self.end(Stage::Strength, AttemptOutcome::Infra, reason);
                }
                self.log = verified.log;
                let candidate = self.candidate.clone();
                self.verified = Some(Verified {
                    candidate,
                    oracle: verified.oracle,
                    strength: measured.strength,
                    environment,
                    setup,
                });
            }
            VerifyOutcome::Failed(failure) => {
                self.log = failure.log;
                self.end(Stage::Verify, failure.outcome, failure.reason);
            }
            VerifyOutcome::Cancelled => return None,
        }
        Some(self)
    }
}

/// Words of a verification that speak of its environment.
const ENVIRONMENT_WORDS: [&str; 2] = ["no-tests", "no-runner"];
const OK: &str = "ok";
