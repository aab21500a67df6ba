//! Whether a version's annotations agree with the rest of it: everything that follows from the answers is made again.

use std::collections::BTreeMap;

use super::child::{decisions, steps};
use super::judge::reasons;
use super::record::{ANNOTATIONS, AnnotationRow};
use super::summary::summary;
use crate::domain::ids::{CandidateId, InstanceId};
use crate::emit::assemble::{LOG, MANIFEST};
use crate::emit::check::Problem;
use crate::emit::manifest::{FunnelStep, Manifest};
use crate::emit::walk::{Trail, fresh};

/// Says in what annotations do not agree with the manifest, the log and themselves.
pub(in crate::emit) fn agree(
    manifest: &Manifest,
    trails: &BTreeMap<CandidateId, Trail>,
    rows: Option<&[AnnotationRow]>,
    problems: &mut Vec<Problem>,
) {
    let (annotation, rows) = match (&manifest.annotation, rows) {
        (None, None) => {
            if manifest.parent.is_some() {
                let what = "it names a parent, and nothing says how it was made of it";
                problems.push(Problem::at(MANIFEST, "parent", what));
            }
            return;
        }
        (Some(annotation), Some(rows)) => (annotation, rows),
        (None, Some(_)) => {
            problems.push(Problem::of(ANNOTATIONS, "the manifest knows of no annotation"));
            return;
        }
        (Some(_), None) => {
            problems.push(Problem::of(
                ANNOTATIONS,
                "the manifest has an annotation, and it is missing",
            ));
            return;
        }
    };
    let itself = (&manifest.dataset.name, &manifest.dataset.version);
    match &manifest.parent {
        None => problems.push(Problem::at(
            MANIFEST,
            "parent",
            "it is annotated and names no parent",
        )),
        Some(parent) if (&parent.name, &parent.version) == itself => {
            problems.push(Problem::at(MANIFEST, "parent", "it names itself"));
        }
        Some(_) => {}
    }
    for (index, row) in rows.iter().enumerate() {
        if row.reasons != reasons(&annotation.questions, row) {
            let what = format!(
                "the reasons of `{}` do not follow from its answers",
                row.instance_id
            );
            problems.push(Problem::line(ANNOTATIONS, index, what));
        }
        if index > 0 && rows[index - 1].instance_id >= row.instance_id {
            let what = "rows are not sorted by instance, or one is there twice";
            problems.push(Problem::line(ANNOTATIONS, index, what));
        }
    }
    if summary(&annotation.questions, rows, annotation.sample.clone()) != *annotation {
        let what = "it does not follow from the annotations' rows";
        problems.push(Problem::at(MANIFEST, "annotation", what));
    }
    let due = steps(annotation);
    let bare = |step: &FunnelStep| fresh(&step.step, step.kind, &step.reason, &step.source);
    let first = manifest.funnel.len().saturating_sub(due.len());
    let is: Vec<FunnelStep> = manifest.funnel[first..].iter().map(bare).collect();
    let Some(entrance) = due.first().filter(|_| is == due) else {
        let what = "it does not end with the steps of an annotation";
        problems.push(Problem::at(MANIFEST, "funnel", what));
        return;
    };
    let by_id: BTreeMap<&InstanceId, &AnnotationRow> =
        rows.iter().map(|row| (&row.instance_id, row)).collect();
    let mut met = 0;
    for (candidate, trail) in trails {
        let Some(said) = trail
            .decisions
            .get(&crate::domain::ids::RuleId(entrance.step.clone()))
        else {
            continue;
        };
        let row = by_id.get(&said.candidate.instance()).copied();
        met += usize::from(row.is_some());
        let same = decisions(candidate, annotation, row)
            .iter()
            .all(|due| trail.decisions.get(&due.rule) == Some(due));
        if !same || (row.is_none() && annotation.sample.is_none()) {
            let what = format!("what it says of `{candidate}` is not what its annotation says");
            problems.push(Problem::of(LOG, what));
        }
    }
    if met != rows.len() {
        let what = "a row is about no instance of the parent";
        problems.push(Problem::of(ANNOTATIONS, what));
    }
}
