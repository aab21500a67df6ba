//! A sheet as a page: no network, from disk as well, what is chosen is kept in the browser, and the download is the sheet.

use std::collections::BTreeMap;

use minijinja::{Environment, context};
use serde::Serialize;

use super::error::AnnotateError;
use super::questions::{Answer, Question};
use super::record::AnnotationRow;
use super::sheet::{Asked, Table, link};
use crate::domain::ids::{InstanceId, TestId};
use crate::emit::instance::{Instance, PatchField};

const TEMPLATE: &str = include_str!("../../../data/report/annotation.html");
const STYLE: &str = include_str!("../../../data/report/page.css");

#[derive(Serialize)]
struct Item<'a> {
    id: &'a InstanceId,
    repo: String,
    number: u32,
    title: &'a str,
    link: String,
    statement: &'a str,
    tests: &'a [TestId],
    test_patch: String,
    patch: String,
    questions: Vec<Asking<'a>>,
}

#[derive(Serialize)]
struct Asking<'a> {
    id: &'a str,
    text: &'a str,
    answers: &'a [Answer],
    said: Vec<Said<'a>>,
}

#[derive(Serialize)]
struct Said<'a> {
    annotator: &'a str,
    answer: &'a str,
    remarks: &'a str,
}

/// What a page is of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Which version it is about, as its rows say.
    pub mark: &'a str,
    /// Whose it is.
    pub annotator: &'a str,
    /// The name of the file that it gives.
    pub file: &'a str,
    /// The sheet's cells.
    pub table: &'a Table,
    /// The questions.
    pub questions: &'a [Question],
    /// The instances, in the table's order.
    pub rows: &'a [&'a Instance],
    /// What is to be answered of each.
    pub due: &'a BTreeMap<InstanceId, Asked>,
    /// What annotators said, where this is about deciding.
    pub annotations: &'a [AnnotationRow],
}

/// The page.
///
/// # Errors
/// Never in practice: the template is this program's own.
pub fn html(page: Page<'_>) -> Result<String, AnnotateError> {
    let mut environment = Environment::new();
    environment.add_template("annotation.html", TEMPLATE)?;
    let sheet = serde_json::json!({
        "key": format!("quarry annotation {} {}", page.mark, page.annotator),
        "file": page.file,
        "header": page.table.header,
        "rows": page.table.rows,
    });
    let items: Vec<Item<'_>> = page.rows.iter().map(|row| item(page, row)).collect();
    Ok(environment.get_template("annotation.html")?.render(context! {
        css => STYLE,
        title => format!("What {} says", page.annotator),
        of => page.mark,
        file => page.file,
        items => items,
        // No text of a task ends the script that holds it.
        sheet => sheet.to_string().replace('<', "\\u003c"),
    })?)
}

fn item<'a>(page: Page<'a>, row: &'a Instance) -> Item<'a> {
    let patch = |field| {
        let bytes = row.patch_bytes(field).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let asked = page.due.get(&row.instance_id);
    let said = page
        .annotations
        .iter()
        .find(|said| said.instance_id == row.instance_id);
    let questions = page
        .questions
        .iter()
        .filter(|question| asked.is_some_and(|asked| asked.questions.contains(&question.id)));
    Item {
        id: &row.instance_id,
        repo: row.repo.to_string(),
        number: row.pull_number,
        title: row.title.as_deref().unwrap_or_default(),
        link: link(row),
        statement: row.problem_statement.as_deref().unwrap_or_default(),
        tests: &row.fail_to_pass,
        test_patch: patch(PatchField::TestPatch),
        patch: patch(PatchField::Patch),
        questions: questions
            .map(|question| Asking {
                id: &question.id,
                text: &question.text,
                answers: &question.answers,
                said: said.map_or_else(Vec::new, |row| answers(question, row)),
            })
            .collect(),
    }
}

fn answers<'a>(question: &Question, row: &'a AnnotationRow) -> Vec<Said<'a>> {
    row.answers
        .iter()
        .filter_map(|(annotator, answers)| {
            Some(Said {
                annotator,
                answer: answers.get(&question.id)?,
                remarks: row.remarks.get(annotator).map_or("", String::as_str),
            })
        })
        .collect()
}
