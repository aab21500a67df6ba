//! What must hold of gold and of the empty patch before a version is emitted.
//!
//! Verification's runs after gold are evaluations of the gold patch, its runs before gold are evaluations of the empty one:
//! the same tree, selection, environment and runner. So an oracle with a FAIL_TO_PASS test shows that gold resolves the
//! instance in each of these runs, and that the empty patch does so in none; no further run is needed. What is asked here
//! is whether an evaluation that was made since, for the same oracle and environment, saw anything else.

use std::collections::BTreeMap;

use super::error::PipelineError;
use super::proof::Proof;
use super::select::Field;
use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::hash::sha256_hex;
use crate::domain::ids::CandidateId;
use crate::evaluate::key::oracle_key;
use crate::evaluate::result::RunResult;
use crate::workspace::Context;

/// The instances among `kept` against which the ledger holds an evaluation, and what that saw.
///
/// # Errors
/// When the ledger or a diff cannot be read.
pub(super) fn against(
    context: &Context,
    field: &Field,
    proofs: &[Proof],
    kept: &[CandidateId],
) -> Result<Vec<String>, PipelineError> {
    let mut found = vec![];
    for id in kept {
        let verified = proofs
            .iter()
            .find(|proof| proof.candidate == *id)
            .and_then(|proof| proof.verified.as_ref());
        let candidate = field.candidates.iter().find(|candidate| candidate.id == *id);
        let (Some(verified), Some(candidate)) = (verified, candidate) else {
            continue;
        };
        // Of several runs under one key the last one stands.
        let mut seen: BTreeMap<String, RunResult> = BTreeMap::new();
        for attempt in context.store.attempts(Some(Stage::Evaluate), Some(id))? {
            if attempt.outcome != AttemptOutcome::Infra
                && let Some(result) = attempt.result
                && let Ok(result) = serde_json::from_value(result)
            {
                seen.insert(attempt.input_key, result);
            }
        }
        if seen.is_empty() {
            continue;
        }
        let oracle = &verified.oracle;
        let asked = oracle_key(
            &verified.environment.key,
            &oracle.fail_to_pass,
            &oracle.pass_to_pass,
        );
        let diff = context.blobs.get(&candidate.diff)?;
        let gold = sha256_hex(&field.splitter.cut(&diff, &candidate.files).gold);
        let nothing = sha256_hex(b"");
        for result in seen.values().filter(|result| result.oracle == asked) {
            if result.patch_sha256 == gold && !result.is_resolved() {
                found.push(format!(
                    "{id}: its gold patch was not resolved ({})",
                    result.ended
                ));
            }
            if result.patch_sha256 == nothing && result.is_resolved() {
                found.push(format!("{id}: the empty patch was resolved"));
            }
        }
    }
    found.dedup();
    Ok(found)
}
