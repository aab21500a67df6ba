//! The pipeline's step: the variants that a recipe asks for, made once and recorded in the ledger.

use std::collections::BTreeSet;
use std::path::Path;

use super::variants::{VariantTree, input_key, variants};
use super::{StripError, Untouched};
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::event::Event;
use crate::domain::ids::{BlobId, CandidateId, CommitSha};
use crate::domain::variant::{DocstringNeed, UntouchedFile, VariantCounts, VariantRecord};
use crate::git::{Mirror, borrow};
use crate::strip::docs_files::Fate;
use crate::strip::report::{Report, word};
use crate::strip::{Policy, Variant};
use crate::workspace::Context;

/// Whose variants, and which.
#[derive(Debug, Clone)]
pub struct VariantRequest {
    /// The candidate.
    pub candidate: CandidateId,
    /// The commit whose tree they are of.
    pub commit: CommitSha,
    /// Which.
    pub wanted: BTreeSet<Variant>,
    /// How the code-only one is made.
    pub policy: Policy,
    /// Tries of a variant in all, earlier commands' included.
    pub tries: u32,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Varied {
    /// Every variant, in the order of [`Variant`].
    Made(Vec<VariantRecord>),
    /// The outside's fault: part of the tree could not be read. A stable word.
    Infra(&'static str),
}

/// A file of the commit is not in the mirror (a partial clone), or cannot be read.
const UNREADABLE: &str = "unreadable-file";

/// Makes the variants of one commit of `mirror`, those that the ledger does not know yet, and records them. Their trees
/// are kept in the workspace (`.quarry/variants/`); the mirror is only read.
///
/// # Errors
/// When the mirror, the workspace or the ledger cannot be used.
pub fn make_variants(
    context: &Context,
    mirror: &Path,
    request: &VariantRequest,
) -> Result<Varied, StripError> {
    let name = request.candidate.repo.to_string().replace('/', "+");
    let target = context.workspace.variants().join(format!("{name}.git"));
    borrow(mirror, target.as_std_path())?;
    let trees = Mirror::open(&target)?;
    let attempts = context
        .store
        .attempts(Some(Stage::Strip), Some(&request.candidate))
        .map_err(|error| adapter(&error, error.hints()))?;
    let mut records = vec![];
    for variant in &request.wanted {
        let key = input_key(request.commit, *variant, &request.policy);
        let mine: Vec<_> = attempts
            .iter()
            .filter(|attempt| attempt.input_key == key)
            .collect();
        let known = mine.iter().rev().find_map(|attempt| recorded(attempt));
        if let Some(known) = known.filter(|known| trees.has_tree(known.tree)) {
            records.push(known);
            continue;
        }
        let failed = mine
            .iter()
            .filter(|attempt| attempt.outcome == AttemptOutcome::Infra)
            .count();
        if failed >= usize::try_from(request.tries.max(1)).unwrap_or(usize::MAX) {
            return Ok(Varied::Infra(UNREADABLE));
        }
        let made = variants(
            mirror,
            target.as_std_path(),
            request.commit,
            &[*variant],
            &request.policy,
            context.jobs,
        )?;
        for made in made {
            let unreadable = unreadable(&made.report);
            let report = report(context, &made.report)?;
            let record = unreadable.is_none().then(|| record(&made, report.clone()));
            append(context, request, key.clone(), record.as_ref(), unreadable, report)?;
            match record {
                Some(record) => records.push(record),
                None => return Ok(Varied::Infra(UNREADABLE)),
            }
        }
    }
    Ok(Varied::Made(records))
}

fn recorded(attempt: &Attempt) -> Option<VariantRecord> {
    let result = attempt
        .result
        .clone()
        .filter(|_| attempt.outcome == AttemptOutcome::Done)?;
    serde_json::from_value(result).ok()
}

/// What is said of a file that could not be read, if there is one.
fn unreadable(report: &Report) -> Option<String> {
    report.files.iter().find_map(|file| match &file.untouched {
        Some(Untouched::Unreadable { message }) => Some(format!("read `{}`: {message}", file.path)),
        _ => None,
    })
}

fn report(context: &Context, report: &Report) -> Result<BlobId, StripError> {
    let text = report.document().map_err(|error| adapter(&error, vec![]))?;
    context
        .blobs
        .put(text.as_bytes())
        .map_err(|error| adapter(&error, error.hints()))
}

fn record(made: &VariantTree, report: BlobId) -> VariantRecord {
    let totals = &made.report.totals;
    let fates = |wanted| {
        let files = made.report.documentation.iter();
        files.filter(|file| file.fate == wanted).count() as u64
    };
    let mut untouched = vec![];
    let mut needs = vec![];
    for file in &made.report.files {
        untouched.extend(file.untouched.as_ref().map(|why| UntouchedFile {
            path: file.path.clone(),
            reason: why.name().to_owned(),
        }));
        needs.extend(file.needs.iter().map(|need| DocstringNeed {
            path: file.path.clone(),
            line: need.line,
            kind: word(&need.kind),
        }));
    }
    needs.sort();
    needs.dedup();
    VariantRecord {
        variant: made.variant,
        tree: made.tree,
        counts: VariantCounts {
            entries: made.entries,
            files: totals.files,
            stripped: totals.stripped,
            unchanged: totals.unchanged,
            untouched: untouched.len() as u64,
            bytes_before: totals.bytes_before,
            bytes_after: totals.bytes_after,
            comments: totals.comments,
            docstrings: totals.removed.values().sum(),
            passes: totals.passes,
            documentation_removed: fates(Fate::Removed),
            documentation_emptied: fates(Fate::Stub),
            context_removed: made.report.context.len() as u64,
        },
        untouched,
        needs,
        report,
    }
}

fn append(
    context: &Context,
    request: &VariantRequest,
    input_key: String,
    record: Option<&VariantRecord>,
    unreadable: Option<String>,
    report: BlobId,
) -> Result<(), StripError> {
    let (outcome, reason) = match record {
        Some(_) => (AttemptOutcome::Done, "ok"),
        None => (AttemptOutcome::Infra, UNREADABLE),
    };
    context.events.emit(Event::Attempted {
        candidate: request.candidate.to_string(),
        stage: Stage::Strip,
        outcome,
        reason: reason.to_owned(),
    });
    context
        .store
        .append_attempt(Attempt {
            candidate: request.candidate.clone(),
            stage: Stage::Strip,
            input_key,
            outcome,
            reason: reason.to_owned(),
            detail: unreadable.unwrap_or_default(),
            log: Some(report),
            result: record.and_then(|record| serde_json::to_value(record).ok()),
        })
        .map_err(|error| adapter(&error, error.hints()))
}

fn adapter(error: &impl std::fmt::Display, hints: Vec<String>) -> StripError {
    StripError::Adapter {
        message: error.to_string(),
        hints,
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;
    use crate::git::fixture::{Fixture, files};
    use crate::workspace::Workspace;

    #[test]
    fn what_is_recorded_is_not_made_again_and_a_file_that_is_missing_is_the_outsides_fault() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(Utf8Path::from_path(temp.path()).unwrap());
        let (context, _lock) = Context::open(&workspace).unwrap();
        let mut fixture = Fixture::new();
        let text = "def f():\n    '''>>> f()'''\n";
        let tree = files(&[("a.py", text), ("b.py", "print "), ("c/d.py", "z = 3  # c\n")]);
        let commit = fixture.commit(&[], &tree, "start");
        let request = VariantRequest {
            candidate: "a/b#1".parse().unwrap(),
            commit,
            wanted: [Variant::CodeOnly].into(),
            policy: Policy::default(),
            tries: 2,
        };
        let attempts = || context.store.attempts(Some(Stage::Strip), None).unwrap();
        let Varied::Made(records) = make_variants(&context, fixture.path(), &request).unwrap() else {
            panic!("everything can be read")
        };
        let one = &records[0];
        assert_eq!(
            (one.counts.files, one.counts.stripped, one.counts.passes),
            (3, 2, 1)
        );
        assert_eq!((one.needs[0].line, one.needs[0].kind.as_str()), (2, "doctest"));
        assert_eq!(one.untouched, []);
        let again = make_variants(&context, fixture.path(), &request).unwrap();
        assert_eq!((again, attempts().len()), (Varied::Made(records), 1));

        // A partial clone: one blob is not there.
        let lost = fixture.blob(text.as_bytes()).to_string();
        std::fs::remove_file(fixture.path().join("objects").join(&lost[..2]).join(&lost[2..])).unwrap();
        let other = VariantRequest {
            policy: Policy {
                keep_lines: true,
                ..Policy::default()
            },
            ..request
        };
        for tries in [2, 3, 3] {
            let varied = make_variants(&context, fixture.path(), &other).unwrap();
            assert_eq!(varied, Varied::Infra(UNREADABLE));
            assert_eq!(attempts().len(), tries);
        }
        assert!(attempts()[2].detail.starts_with("read `a.py`: "));
    }
}
