//! Filled sheets → what stays, what goes, and what is disputed.

use std::collections::{BTreeMap, BTreeSet};

use super::error::AnnotateError;
use super::questions::Question;
use super::record::AnnotationRow;
use super::sheet::{Asked, Sheet};
use crate::domain::ids::InstanceId;

/// What sheets come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// A row for each instance that was asked about; reasons of disputed ones are not known yet.
    pub rows: Vec<AnnotationRow>,
    /// What is to be decided, by instance: questions on which annotators do not agree whether the instance stays.
    pub disputed: BTreeMap<InstanceId, Asked>,
}

/// What every annotator is asked: every question of each of these.
pub fn everything<'a>(
    instances: impl IntoIterator<Item = &'a InstanceId>,
    questions: &[Question],
) -> BTreeMap<InstanceId, Asked> {
    let asked = Asked {
        questions: questions.iter().map(|question| question.id.clone()).collect(),
        said: BTreeMap::new(),
    };
    instances
        .into_iter()
        .map(|id| (id.clone(), asked.clone()))
        .collect()
}

/// Puts sheets together; every one answers everything.
///
/// # Errors
/// [`AnnotateError::Twice`] when two sheets are of one annotator.
pub fn judge(questions: &[Question], sheets: &[Sheet]) -> Result<Judged, AnnotateError> {
    let mut of: BTreeMap<&str, &Sheet> = BTreeMap::new();
    for sheet in sheets {
        if let Some(other) = of.insert(&sheet.annotator, sheet) {
            return Err(AnnotateError::Twice {
                file: sheet.file.clone(),
                other: other.file.clone(),
                annotator: sheet.annotator.clone(),
            });
        }
    }
    let mut judged = Judged::default();
    let instances: BTreeSet<&InstanceId> = sheets.iter().flat_map(|sheet| sheet.rows.keys()).collect();
    for id in instances {
        let rows = of
            .iter()
            .filter_map(|(annotator, sheet)| Some((*annotator, sheet.rows.get(id)?)));
        let mut row = AnnotationRow {
            instance_id: id.clone(),
            answers: BTreeMap::new(),
            remarks: BTreeMap::new(),
            adjudicated: BTreeMap::new(),
            adjudication_remarks: String::new(),
            reasons: vec![],
        };
        for (annotator, filled) in rows {
            row.answers.insert(annotator.to_owned(), filled.answers.clone());
            if !filled.remarks.is_empty() {
                row.remarks.insert(annotator.to_owned(), filled.remarks.clone());
            }
        }
        let disputed: BTreeSet<String> = questions
            .iter()
            .filter(|question| drops(question, &row).is_none())
            .map(|question| question.id.clone())
            .collect();
        if !disputed.is_empty() {
            judged.disputed.insert(
                id.clone(),
                Asked {
                    said: said(questions, &row),
                    questions: disputed,
                },
            );
        }
        row.reasons = reasons(questions, &row);
        judged.rows.push(row);
    }
    Ok(judged)
}

/// Every answer to every question of a row.
fn said(questions: &[Question], row: &AnnotationRow) -> BTreeMap<String, BTreeMap<String, String>> {
    questions
        .iter()
        .map(|question| {
            let answers = row.answers.iter().filter_map(|(annotator, answers)| {
                Some((annotator.clone(), answers.get(&question.id)?.clone()))
            });
            (question.id.clone(), answers.collect())
        })
        .collect()
}

/// Takes what was decided.
pub fn decide(questions: &[Question], judged: &mut Judged, decided: &Sheet) {
    for row in &mut judged.rows {
        if let Some(filled) = decided.rows.get(&row.instance_id) {
            row.adjudicated.clone_from(&filled.answers);
            row.adjudication_remarks.clone_from(&filled.remarks);
            row.reasons = reasons(questions, row);
        }
    }
    judged.disputed.clear();
}

/// Whether a question's answers speak against the instance; `None` where annotators do not agree and nobody decided.
pub fn drops(question: &Question, row: &AnnotationRow) -> Option<bool> {
    if let Some(decided) = row.adjudicated.get(&question.id) {
        return Some(question.drops(decided));
    }
    let mut against = row
        .answers
        .values()
        .filter_map(|answers| answers.get(&question.id))
        .map(|answer| question.drops(answer));
    let first = against.next()?;
    against.all(|one| one == first).then_some(first)
}

/// The reasons for which a row's instance goes, in the questions' order.
pub fn reasons(questions: &[Question], row: &AnnotationRow) -> Vec<String> {
    questions
        .iter()
        .filter(|question| drops(question, row) == Some(true))
        .map(|question| question.reason.clone())
        .collect()
}
