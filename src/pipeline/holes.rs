//! A commit that a mirror does not hold whole, or that no file system can: its candidate's matter, not the whole run's.

use super::error::PipelineError;
use super::proof::Proof;
use super::prove::Prover;
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::candidate::Candidate;
use crate::domain::hash::KeyHasher;
use crate::git::GitError;

/// What keeps one commit's tree from being written.
#[derive(Debug, Clone)]
pub(super) struct Hole {
    outcome: AttemptOutcome,
    reason: &'static str,
}

impl Hole {
    /// The hole that an error speaks of, if it is one. A mirror can be fetched again, so what it lacks is the outside's
    /// fault; a name that no client would check out stays one.
    fn of(error: &GitError) -> Option<Self> {
        let (outcome, reason) = match error {
            GitError::Commit { .. } | GitError::File { .. } => (AttemptOutcome::Infra, "mirror-incomplete"),
            GitError::UnsafePath { .. } => (AttemptOutcome::Project, "unsafe-path"),
            _ => return None,
        };
        Some(Self { outcome, reason })
    }

    pub(super) fn proof(&self, candidate: &Candidate) -> Proof {
        Proof::of(candidate).without_environment(self.outcome, self.reason)
    }
}

impl Prover<'_> {
    /// The answer, or the hole that kept this candidate from one: recorded once, with what git said.
    ///
    /// # Errors
    /// Any other error.
    pub(super) fn or_hole<T>(
        &self,
        candidate: &Candidate,
        answer: Result<T, PipelineError>,
    ) -> Result<Result<T, Hole>, PipelineError> {
        let error = match answer {
            Err(PipelineError::Git(error)) => error,
            Err(error) => return Err(error),
            Ok(answer) => return Ok(Ok(answer)),
        };
        let Some(hole) = Hole::of(&error) else {
            return Err(error.into());
        };
        let detail = format!("failed to {error}");
        let key = KeyHasher::new("hole", 1)
            .json("base", &candidate.base_commit)
            .part("said", detail.as_bytes())
            .finish();
        let store = &self.context.store;
        let known = store.attempts(Some(Stage::Build), Some(&candidate.id))?;
        if !known.iter().any(|attempt| attempt.input_key == key) {
            store.append_attempt(Attempt {
                candidate: candidate.id.clone(),
                stage: Stage::Build,
                input_key: key,
                outcome: hole.outcome,
                reason: hole.reason.to_owned(),
                detail,
                log: None,
                result: None,
            })?;
        }
        Ok(Err(hole))
    }
}
