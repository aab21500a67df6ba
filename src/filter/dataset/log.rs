//! A row's decisions as lines of a selection log.

use serde::Serialize;

use crate::domain::decision::Verdict;
use crate::domain::ids::RuleId;
use crate::filter::eval::{Judgement, Observed};

/// One decision about one row, as the log holds it.
#[derive(Serialize)]
struct Entry<'s, 'f> {
    /// The row's place in the input, from 1: its line in JSONL, its number in Parquet.
    row: u64,
    instance_id: Option<&'s str>,
    rule: &'s RuleId,
    verdict: Verdict,
    kept: bool,
    observed: &'s Observed<'s, 'f>,
    evidence: &'s str,
}

/// Appends a row's decisions to a log, a line each.
///
/// # Errors
/// When a value cannot be written as JSON; no fact has such a value.
pub fn append(
    log: &mut Vec<u8>,
    row: u64,
    instance: Option<&str>,
    judgements: &[Judgement<'_, '_>],
) -> serde_json::Result<()> {
    for judgement in judgements {
        let entry = Entry {
            row,
            instance_id: instance,
            rule: &judgement.rule.id,
            verdict: judgement.verdict,
            kept: judgement.kept,
            observed: &judgement.observed,
            evidence: &judgement.evidence(),
        };
        serde_json::to_writer(&mut *log, &entry)?;
        log.push(b'\n');
    }
    Ok(())
}
