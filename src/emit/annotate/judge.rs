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
    /// What is to be decided: of each instance on which annotators do not agree whether it stays, the questions whose answers
    /// differ in that.
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
        let mut row = AnnotationRow::new(id.clone());
        for (annotator, filled) in rows {
            row.answers.insert(annotator.to_owned(), filled.answers.clone());
            if !filled.remarks.is_empty() {
                row.remarks.insert(annotator.to_owned(), filled.remarks.clone());
            }
        }
        if goes(questions, &row).is_none() {
            let disputed: BTreeSet<String> = questions
                .iter()
                .filter(|question| drops(question, &row).is_none())
                .map(|question| question.id.clone())
                .collect();
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

/// Whether the instance goes by each annotator's own answers; `None` where they do not agree on that.
fn goes(questions: &[Question], row: &AnnotationRow) -> Option<bool> {
    let mut fates = row.answers.values().map(|answers| {
        let against =
            |question: &Question| answers.get(&question.id).is_some_and(|said| question.drops(said));
        questions.iter().any(against)
    });
    let first = fates.next()?;
    fates.all(|one| one == first).then_some(first)
}

/// The reasons for which a row's instance goes, in the questions' order: those that all give, or that were decided. Where all
/// let it go and no reason is everybody's, it is every reason that somebody gives.
pub fn reasons(questions: &[Question], row: &AnnotationRow) -> Vec<String> {
    let those = |holds: &dyn Fn(&Question) -> bool| -> Vec<String> {
        let named = questions.iter().filter(|question| holds(question));
        named.map(|question| question.reason.clone()).collect()
    };
    let common = those(&|question| drops(question, row) == Some(true));
    if !common.is_empty() || !row.adjudicated.is_empty() || goes(questions, row) != Some(true) {
        return common;
    }
    those(&|question| drops(question, row).is_none())
}

#[cfg(test)]
mod tests {
    use super::super::questions::default_questions;
    use super::super::sheet::Filled;
    use super::*;

    /// Each one's sheet about one instance: task-clarity, test-accuracy, other-problem.
    fn judged(all: &[(&str, [&str; 3])]) -> (Vec<String>, Vec<String>) {
        let questions = default_questions().unwrap();
        let id = InstanceId::from("a__b-1");
        let sheets: Vec<Sheet> = all
            .iter()
            .map(|(annotator, answers)| {
                let named = questions.iter().zip(answers);
                let filled = Filled {
                    answers: named
                        .map(|(question, answer)| (question.id.clone(), (*answer).to_owned()))
                        .collect(),
                    remarks: String::new(),
                };
                Sheet {
                    file: format!("{annotator}.csv"),
                    annotator: (*annotator).to_owned(),
                    rows: [(id.clone(), filled)].into(),
                }
            })
            .collect();
        let judged = judge(&questions, &sheets).unwrap();
        let disputed = judged.disputed.into_values().flat_map(|asked| asked.questions);
        (disputed.collect(), judged.rows[0].reasons.clone())
    }

    #[test]
    fn only_whether_an_instance_stays_is_to_be_decided() {
        // Both let it go, and one of them for one reason more: it goes for what both say.
        let (disputed, reasons) = judged(&[("ada", ["2", "0", "no"]), ("ben", ["2", "2", "no"])]);
        assert!(disputed.is_empty(), "{disputed:?}");
        assert_eq!(reasons, ["unclear-task"]);
        // Both let it go, each for another reason: it goes for both.
        let (disputed, reasons) = judged(&[("ada", ["0", "3", "no"]), ("ben", ["0", "0", "yes"])]);
        assert!(disputed.is_empty(), "{disputed:?}");
        assert_eq!(reasons, ["inaccurate-tests", "other-problem"]);
        // One lets it stay: what the others do not both say is to be decided, and so is what they both say.
        let (disputed, reasons) = judged(&[
            ("ada", ["2", "0", "no"]),
            ("ben", ["3", "2", "no"]),
            ("cy", ["1", "1", "no"]),
        ]);
        assert_eq!(disputed, ["task-clarity", "test-accuracy"]);
        assert!(reasons.is_empty(), "{reasons:?}");
    }

    #[test]
    fn what_was_decided_stands_whatever_all_said() {
        let questions = default_questions().unwrap();
        let said = |answers: [&str; 3]| -> BTreeMap<String, String> {
            let named = questions.iter().zip(answers);
            named
                .map(|(question, answer)| (question.id.clone(), answer.to_owned()))
                .collect()
        };
        let row = AnnotationRow {
            answers: [
                ("ada".to_owned(), said(["2", "0", "no"])),
                ("ben".to_owned(), said(["0", "2", "no"])),
            ]
            .into(),
            adjudicated: [
                ("task-clarity".to_owned(), "1".to_owned()),
                ("test-accuracy".to_owned(), "1".to_owned()),
            ]
            .into(),
            ..AnnotationRow::new(InstanceId::from("a__b-1"))
        };
        assert!(reasons(&questions, &row).is_empty());
    }
}
