//! From a version to sheets and back.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::child::{Name, child};
use super::judge::{decide, everything, judge};
use super::questions::{Question, default_questions};
use super::record::{ANNOTATIONS, AnnotationRow, Drawn};
use super::sheet::{self, Asked, Sheet, Table};
use super::{form, summary};
use crate::domain::ids::InstanceId;
use crate::emit::assemble::{Files, assemble, select};
use crate::emit::check::check;
use crate::emit::export::{Format, Version, export};
use crate::emit::instance::Instance;
use crate::emit::{fixture, sums};

/// The fixture's version: two instances, `…-2` and `…-12`.
fn parent() -> Files {
    let mut input = fixture::input();
    for candidate in &mut input.candidates {
        candidate.title = Some("=HYPERLINK(\"x\")".into());
    }
    let selection = select(&input).unwrap();
    assemble(&input, &selection).unwrap()
}

struct Case {
    files: Files,
    version: Version,
    questions: Vec<Question>,
    due: BTreeMap<InstanceId, Asked>,
}

const MARK: &str = "sample 0.1.0 x";

fn case() -> Case {
    let files = parent();
    let version = Version::read(&files).unwrap();
    let questions = default_questions().unwrap();
    let due = everything(version.instances.iter().map(|row| &row.instance_id), &questions);
    Case {
        files,
        version,
        questions,
        due,
    }
}

impl Case {
    fn table(&self, annotator: &str, due: &BTreeMap<InstanceId, Asked>) -> Table {
        let rows: Vec<&Instance> = self
            .version
            .instances
            .iter()
            .filter(|row| due.contains_key(&row.instance_id))
            .collect();
        sheet::table(MARK, annotator, &self.questions, &rows, due)
    }

    /// The table with answers, by row and question.
    fn fill(&self, mut table: Table, answers: &[&[&str]]) -> Table {
        for (row, answers) in table.rows.iter_mut().zip(answers) {
            for (question, answer) in self.questions.iter().zip(*answers) {
                let place = table.header.iter().position(|name| *name == question.id).unwrap();
                (*answer).clone_into(&mut row[place]);
            }
        }
        table
    }

    fn sheet(&self, annotator: &str, answers: &[&[&str]]) -> Sheet {
        let table = self.fill(self.table(annotator, &self.due), answers);
        self.read(&table.csv()).unwrap()
    }

    fn read(&self, bytes: &[u8]) -> Result<Sheet, super::AnnotateError> {
        sheet::read("s.csv", bytes, MARK, &self.questions, &self.due)
    }
}

#[test]
fn a_sheet_is_for_spreadsheets_and_comes_back_from_them() {
    let case = case();
    let table = case.fill(
        case.table("ada", &case.due),
        &[&["0", "1", "NO"], &["3", "2", "yes"]],
    );
    let mut table = table;
    let remarks = table.header.len() - 1;
    "'-1 for me".clone_into(&mut table.rows[0][remarks]);
    let bytes = table.csv();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(
        text.starts_with("\u{feff}instance_id,annotator,version,"),
        "{text}"
    );
    assert!(
        text.contains("\"'=HYPERLINK(\"\"x\"\")\""),
        "no cell is a formula: {text}"
    );
    let sheet = case.read(&bytes).unwrap();
    assert_eq!(sheet.annotator, "ada");
    assert_eq!(
        sheet.rows[&InstanceId::from("quarry-bench__pantry-2")].remarks,
        "-1 for me"
    );
    let answers: Vec<Vec<&str>> = sheet
        .rows
        .values()
        .map(|filled| filled.answers.values().map(String::as_str).collect())
        .collect();
    // By id, and by question: other-problem, task-clarity, test-accuracy.
    assert_eq!(answers, [["yes", "3", "2"], ["no", "0", "1"]]);

    // What spreadsheets make of it: another delimiter, rows and columns in another order, and more of them.
    let mut turned = table.clone();
    for row in std::iter::once(&mut turned.header).chain(&mut turned.rows) {
        row.insert(0, "mine".to_owned());
        row.reverse();
    }
    turned.rows.reverse();
    turned.rows.push(vec![String::new(); turned.header.len()]);
    for delimiter in [b';', b'\t', b','] {
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(vec![]);
        for row in std::iter::once(&turned.header).chain(&turned.rows) {
            writer.write_record(row).unwrap();
        }
        assert_eq!(case.read(&writer.into_inner().unwrap()).unwrap(), sheet);
    }
}

#[test]
fn every_fault_of_a_sheet_is_told_with_its_line() {
    let case = case();
    let good = case.fill(
        case.table("ada", &case.due),
        &[&["0", "1", "no"], &["3", "2", "yes"]],
    );
    let fault = |change: &dyn Fn(&mut Table)| {
        let mut table = good.clone();
        change(&mut table);
        // Statements of one line: rows are lines.
        let place = table.header.iter().position(|name| name == "statement");
        if let Some(place) = place {
            table.rows.iter_mut().for_each(|row| row[place].clear());
        }
        let error = case.read(&table.csv()).unwrap_err();
        assert!(!error.hints().is_empty());
        error.to_string().replace("read the sheet `s.csv`: ", "")
    };
    let clarity = good
        .header
        .iter()
        .position(|name| name == "task-clarity")
        .unwrap();
    for (said, change) in [
        (
            "line 3: `4` is no answer to `task-clarity`",
            &(|table: &mut Table| "4".clone_into(&mut table.rows[1][clarity])) as &dyn Fn(&mut Table),
        ),
        (
            "line 2: `task-clarity` of `quarry-bench__pantry-2` is not answered",
            &|table| table.rows[0][clarity].clear(),
        ),
        (
            "line 2: nothing was asked about `a__b-1`; it has no row of `quarry-bench__pantry-2`",
            &|table| "a__b-1".clone_into(&mut table.rows[0][0]),
        ),
        (
            "line 4: `quarry-bench__pantry-2` is there twice, before on line 2",
            &|table| table.rows.push(table.rows[0].clone()),
        ),
        (
            "line 3: the annotator is `ben`, on the lines before `ada`",
            &|table| "ben".clone_into(&mut table.rows[1][1]),
        ),
        (
            "line 2: it is about `sample 0.1.0 y`, not `sample 0.1.0 x`; it has no row of `quarry-bench__pantry-2`",
            &|table| "sample 0.1.0 y".clone_into(&mut table.rows[0][2]),
        ),
        ("it has no row of `quarry-bench__pantry-12`", &|table| {
            drop(table.rows.pop());
        }),
        ("line 1: there is no column `task-clarity`", &|table| {
            "clarity".clone_into(&mut table.header[clarity]);
        }),
    ] {
        assert_eq!(fault(change), said);
    }
    let mut bytes = good.csv();
    bytes.push(0xe9);
    assert!(
        case.read(&bytes)
            .unwrap_err()
            .to_string()
            .ends_with("it is not UTF-8")
    );
    assert!(
        case.read(b"")
            .unwrap_err()
            .to_string()
            .ends_with("`s.csv`: it is empty")
    );
}

#[test]
fn what_is_disputed_is_decided_and_the_version_of_what_stays_is_sound() {
    let case = case();
    let ada = case.sheet("ada", &[&["0", "0", "no"], &["3", "2", "no"]]);
    let ben = case.sheet("ben", &[&["1", "2", "no"], &["2", "3", "no"]]);
    let twice = judge(&case.questions, &[ada.clone(), ada.clone()]).unwrap_err();
    assert!(
        twice.to_string().ends_with("it is of `ada`, as `s.csv` is"),
        "{twice}"
    );

    let mut judged = judge(&case.questions, &[ben, ada]).unwrap();
    let id = InstanceId::from("quarry-bench__pantry-2");
    assert_eq!(judged.disputed.keys().collect::<Vec<_>>(), [&id]);
    // 0 and 1 both leave the task in: that is no dispute.
    assert_eq!(
        judged.disputed[&id].questions,
        ["test-accuracy".to_owned()].into()
    );
    let table = case.table("adjudication", &judged.disputed);
    let shown =
        |name: &str| table.rows[0][table.header.iter().position(|head| head == name).unwrap()].clone();
    assert_eq!(
        (
            shown("test-accuracy: ada"),
            shown("test-accuracy: ben"),
            shown("test-accuracy")
        ),
        ("0".to_owned(), "2".to_owned(), String::new())
    );
    let decided = |answers: &[&str]| {
        let table = case.fill(table.clone(), &[answers]);
        sheet::read("d.csv", &table.csv(), MARK, &case.questions, &judged.disputed)
    };
    let more = decided(&["0", "1"]).unwrap_err().to_string();
    assert!(
        more.ends_with("`task-clarity` of `quarry-bench__pantry-2` was not disputed"),
        "{more}"
    );
    let decided = decided(&["", "1"]).unwrap();
    decide(&case.questions, &mut judged, &decided);

    let annotation = summary(&case.questions, &judged.rows, None);
    assert_eq!(
        (annotation.kept, annotation.dropped, annotation.adjudicated),
        (1, 1, 1)
    );
    insta::assert_snapshot!(annotation.text(), @r"
    agreement
      task-clarity: ada and ben agree on 0 of 2 (0.00 %), kappa 0.0000 (no bounds can be told), linear 0.3333 (no bounds can be told), of whether it goes 1.0000 (no bounds can be told)
      test-accuracy: ada and ben agree on 0 of 2 (0.00 %), kappa -0.3333 (no bounds can be told), linear 0.0000 (no bounds can be told), of whether it goes 0.0000 (no bounds can be told)
      other-problem: ada and ben agree on 2 of 2 (100.00 %), kappa –, of whether it goes –
      stays or goes: ada and ben agree on 1 of 2 (50.00 %), kappa 0.0000 (no bounds can be told)

    2 looked at, 1 decided, 1 stay, 1 go
          1  unclear-task
          1  inaccurate-tests
          0  other-problem
    of these for exactly
          1  unclear-task + inaccurate-tests
    ");
    let name = Name {
        name: "sample-verified".into(),
        version: "0.1.0".into(),
    };
    let files = child(&case.files, &name, "0.1.0", annotation.clone(), &judged.rows).unwrap();
    assert_eq!(check(&files, Some(("sample-verified", "0.1.0"))).problems, []);
    let version = Version::read(&files).unwrap();
    assert_eq!(version.instances.len(), 1);
    let last = version.manifest.funnel.last().unwrap();
    assert_eq!(
        (last.step.as_str(), last.entered, last.dropped, last.out),
        ("annotation", 2, 1, 1)
    );
    let card = export(&version, Format::Hf).unwrap().files["README.md"].clone();
    let card = String::from_utf8(card).unwrap();
    assert!(
        card.contains("the part of sample 0.1.0") && card.contains("2 looked at, 1 decided, 1 stay, 1 go"),
        "{card}"
    );
    let parent = version.manifest.parent.unwrap();
    assert_eq!(
        (parent.name.as_str(), parent.version.as_str()),
        ("sample", "0.1.0")
    );
    assert_eq!(parent.sha256, sheet::sums_hash(&case.files));
    let own = Name {
        name: "sample".into(),
        ..name
    };
    let own = child(&case.files, &own, "0.1.0", annotation, &judged.rows).unwrap();
    let problems = check(&own, None).problems;
    assert!(
        problems
            .iter()
            .any(|problem| problem.to_string().contains("it names itself")),
        "{problems:?}"
    );

    // Somebody who writes another answer into the result is noticed, in more than one way.
    let mut forged = files.clone();
    let rows = String::from_utf8(forged[ANNOTATIONS].clone()).unwrap();
    forged.insert(
        ANNOTATIONS.into(),
        rows.replacen("\"test-accuracy\":\"3\"", "\"test-accuracy\":\"0\"", 1)
            .into_bytes(),
    );
    forged.remove(sums::NAME);
    forged.insert(sums::NAME.into(), sums::write(&forged).into_bytes());
    let problems: Vec<String> = check(&forged, None)
        .problems
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(problems.len() >= 3, "{problems:?}");
}

#[test]
fn what_was_not_drawn_goes_with_that_reason() {
    let mut case = case();
    case.due.pop_first();
    let row = case.due.first_key_value().unwrap().0.clone();
    let ada = case.sheet("ada", &[&["0", "0", "no"]]);
    let judged = judge(&case.questions, &[ada]).unwrap();
    let drawn = Drawn {
        population: 2,
        size: 1,
        confidence: None,
        margin: None,
        stratify: None,
        seed: "7".into(),
        strata: vec![],
    };
    let annotation = summary(&case.questions, &judged.rows, Some(drawn));
    let name = Name {
        name: "sample-verified".into(),
        version: "0.1.0".into(),
    };
    let files = child(&case.files, &name, "0.1.0", annotation, &judged.rows).unwrap();
    assert_eq!(check(&files, None).problems, []);
    let version = Version::read(&files).unwrap();
    assert_eq!(
        version
            .instances
            .iter()
            .map(|row| &row.instance_id)
            .collect::<Vec<_>>(),
        [&row]
    );
    let steps: Vec<(&str, u64, u64)> = version
        .manifest
        .funnel
        .iter()
        .rev()
        .take(2)
        .map(|step| (step.step.as_str(), step.entered, step.dropped))
        .collect();
    assert_eq!(steps, [("annotation", 1, 0), ("annotation-sample", 2, 1)]);
}

#[test]
fn reasons_are_counted_with_their_overlaps_as_the_paper_does() {
    // Doc2Feat-Bench, section 2.2.3: of 238 looked at 106 go for unclear tasks (77) or inaccurate tests (73), 44 of them for
    // both, and 18 for other problems; 114 stay.
    let questions = default_questions().unwrap();
    let row = |place: usize, clarity: &str, tests: &str, other: &str| {
        let said: BTreeMap<String, String> = questions
            .iter()
            .zip([clarity, tests, other])
            .map(|(question, answer)| (question.id.clone(), answer.to_owned()))
            .collect();
        let id = InstanceId::from(format!("a__b-{place:03}").as_str());
        let mut row = AnnotationRow::new(id);
        row.answers = [("ada".to_owned(), said.clone()), ("ben".to_owned(), said)].into();
        row.reasons = super::judge::reasons(&questions, &row);
        row
    };
    let groups = [
        (114, ["0", "1", "no"]),
        (33, ["2", "0", "no"]),
        (29, ["1", "3", "no"]),
        (44, ["3", "2", "no"]),
        (18, ["0", "0", "yes"]),
    ];
    let rows: Vec<AnnotationRow> = groups
        .iter()
        .flat_map(|(count, answers)| std::iter::repeat_n(answers, *count))
        .enumerate()
        .map(|(place, [clarity, tests, other])| row(place, clarity, tests, other))
        .collect();
    let annotation = summary(&questions, &rows, None);
    assert_eq!(
        (annotation.annotated, annotation.kept, annotation.dropped),
        (238, 114, 124)
    );
    let told = annotation.text();
    let (_, told) = told.split_once("\n\n").unwrap();
    insta::assert_snapshot!(told, @r"
    238 looked at, 0 decided, 114 stay, 124 go
         77  unclear-task
         73  inaccurate-tests
         18  other-problem
    of these for exactly
         29  inaccurate-tests
         18  other-problem
         33  unclear-task
         44  unclear-task + inaccurate-tests
    ");
}

#[test]
fn the_form_takes_nothing_from_outside_and_holds_its_sheet() {
    let mut case = case();
    case.version.instances[0].title = Some("</script><script>alert(1)</script>".into());
    let rows: Vec<&Instance> = case.version.instances.iter().collect();
    let table = case.table("ada", &case.due);
    let page = form::html(form::Page {
        mark: MARK,
        annotator: "ada",
        file: "ada.csv",
        table: &table,
        questions: &case.questions,
        rows: &rows,
        due: &case.due,
        annotations: &[],
    })
    .unwrap();
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
    assert_eq!(page.matches("<fieldset data-question=").count(), 6);
    assert_eq!(page.matches("type=\"radio\"").count(), 2 * 10);
    for outside in [" src=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let (_, rest) = page.split_once("id=\"sheet\">").unwrap();
    let sheet: serde_json::Value = serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap();
    assert_eq!(sheet["header"], serde_json::json!(table.header));
    assert_eq!(sheet["rows"], serde_json::json!(table.rows));
}

static CASE: LazyLock<Case> = LazyLock::new(case);

proptest! {
    #[test]
    fn any_sheet_is_read_or_refused(text in r#"(instance_id|annotator|version|task-clarity|test-accuracy|other-problem|quarry-bench__pantry-2|sample 0.1.0 x|[,;"\n\t]|0|no|é){0,40}"#) {
        if let Err(error) = CASE.read(text.as_bytes()) {
            prop_assert!(!error.hints().is_empty());
        }
    }
}
