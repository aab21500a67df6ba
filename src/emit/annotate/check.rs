//! Whether a version's annotations agree with the rest of it: everything that follows from the answers is made again.

use std::collections::BTreeMap;

use super::child::{decisions, steps};
use super::judge::reasons;
use super::record::{ANNOTATIONS, AnnotationRow, Drawn, Parent};
use super::summary::summary;
use crate::domain::ids::{CandidateId, InstanceId, RepoName};
use crate::emit::assemble::{LOG, MANIFEST};
use crate::emit::check::Problem;
use crate::emit::manifest::{FunnelStep, Manifest};
use crate::emit::sample::{Draw, Wanted, sample};
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
    let (mut met, mut asked) = (0, vec![]);
    for (candidate, trail) in trails {
        let Some(said) = trail
            .decisions
            .get(&crate::domain::ids::RuleId(entrance.step.clone()))
        else {
            continue;
        };
        let row = by_id.get(&said.candidate.instance()).copied();
        met += usize::from(row.is_some());
        asked.push((said.candidate.instance(), candidate.repo.clone()));
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
    if let (Some(drawn), Some(parent)) = (&annotation.sample, &manifest.parent)
        && let Some(what) = other_sample(drawn, parent, &asked, rows)
    {
        problems.push(Problem::at(MANIFEST, "annotation.sample", what));
    }
}

/// In what the sample is not the one that is drawn by what is said of it.
fn other_sample(
    drawn: &Drawn,
    parent: &Parent,
    instances: &[(InstanceId, RepoName)],
    rows: &[AnnotationRow],
) -> Option<&'static str> {
    let (confidence, margin, stratify) = match (drawn.confidence, drawn.margin, drawn.stratify) {
        (Some(confidence), Some(margin), Some(stratify)) => (confidence, margin, stratify),
        (None, None, None) => return None,
        _ => return Some("it says only in part what it was drawn by"),
    };
    let draw = Draw {
        wanted: Wanted { confidence, margin },
        stratify,
        seed: drawn.seed.clone(),
        parent: parent.clone(),
    };
    let strata: Vec<(InstanceId, String)> = instances
        .iter()
        .map(|(id, repo)| (id.clone(), stratify.stratum(repo)))
        .collect();
    let again = sample(&strata, &draw);
    let looked_at = rows.iter().map(|row| &row.instance_id);
    let same = Drawn::from(&again) == *drawn && again.instances.iter().eq(looked_at);
    (!same).then_some("it is not what is drawn by its seed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::sample::{Level, Stratify};

    #[test]
    fn a_sample_that_is_not_what_is_drawn_is_no_sample() {
        let parent = Parent {
            name: "sample".into(),
            version: "0.1.0".into(),
            sha256: "ab".into(),
        };
        let draw = Draw {
            wanted: Wanted {
                confidence: Level::nearest(0.9).unwrap(),
                margin: Level::nearest(0.3).unwrap(),
            },
            stratify: Stratify::Repo,
            seed: "7".into(),
            parent: parent.clone(),
        };
        let repo: RepoName = "a/b".parse().unwrap();
        let instances: Vec<(InstanceId, RepoName)> = (0..20)
            .map(|number| (InstanceId(format!("a__b-{number}")), repo.clone()))
            .collect();
        let named = instances.iter().map(|(id, repo)| (id.clone(), repo.to_string()));
        let drawn = sample(&named.collect::<Vec<_>>(), &draw);
        let rows: Vec<AnnotationRow> = drawn.instances.iter().cloned().map(AnnotationRow::new).collect();
        assert!(rows.len() > 2 && rows.len() < 20, "{}", rows.len());
        let said = Drawn::from(&drawn);
        let fault = |said: &Drawn, rows: &[AnnotationRow]| other_sample(said, &parent, &instances, rows);
        assert_eq!(fault(&said, &rows), None);
        assert!(fault(&said, &rows[1..]).is_some(), "one was not looked at");
        let other = Drawn {
            seed: "8".into(),
            ..said.clone()
        };
        assert!(fault(&other, &rows).is_some());
        let part = Drawn {
            margin: None,
            ..said.clone()
        };
        assert!(fault(&part, &rows).is_some());
        let older = Drawn {
            confidence: None,
            margin: None,
            stratify: None,
            ..said
        };
        assert_eq!(
            fault(&older, &rows[1..]),
            None,
            "it does not say how it was drawn"
        );
    }
}
