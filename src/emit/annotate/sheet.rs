//! A sheet: one row an instance, one column a question. Written for spreadsheets (CSV as RFC 4180 has it, with a byte order
//! mark), read from whatever they make of it: `,`, `;` or tabs, any order of rows and columns, more columns.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::error::{AnnotateError, Fault};
use super::questions::Question;
use crate::domain::hash::sha256_hex;
use crate::domain::ids::InstanceId;
use crate::emit::assemble::Files;
use crate::emit::export::Version;
use crate::emit::instance::Instance;
use crate::emit::sums;

/// Columns that every sheet has before the questions'.
pub const FIXED: [&str; 8] = [
    "instance_id",
    "annotator",
    "version",
    "repo",
    "title",
    "pull_request",
    "statement",
    "tests",
];
/// The last column: what an annotator wants to say.
pub const REMARKS: &str = "remarks";
/// How many characters of a statement a sheet shows: spreadsheets take 32,767 in a cell, and show far fewer. The form
/// shows all.
const EXCERPT: usize = 1500;
/// How many tests a sheet names.
const TESTS: usize = 10;
/// How many missing instances a message names.
const NAMED: usize = 3;

/// Which version sheets are about, as it stands in their rows: name, version, and the beginning of the hash of its
/// `SHA256SUMS`.
pub fn mark(version: &Version, files: &Files) -> String {
    let dataset = &version.manifest.dataset;
    format!("{} {} {}", dataset.name, dataset.version, &sums_hash(files)[..12])
}

/// SHA-256 of a version's `SHA256SUMS`.
pub fn sums_hash(files: &Files) -> String {
    sha256_hex(files.get(sums::NAME).map(Vec::as_slice).unwrap_or_default())
}

/// A sheet's cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The columns' names.
    pub header: Vec<String>,
    /// The rows, a cell a column.
    pub rows: Vec<Vec<String>>,
}

/// What is to be answered: questions by instance, and what annotators said of each where they disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Ids of the questions to be answered.
    pub questions: BTreeSet<String>,
    /// Answers so far, by question and annotator; empty in an annotator's sheet.
    pub said: BTreeMap<String, BTreeMap<String, String>>,
}

/// The pull request's page.
pub fn link(row: &Instance) -> String {
    format!("https://github.com/{}/pull/{}", row.repo, row.pull_number)
}

/// The empty sheet of `annotator` on these instances.
pub fn table(
    mark: &str,
    annotator: &str,
    questions: &[Question],
    rows: &[&Instance],
    due: &BTreeMap<InstanceId, Asked>,
) -> Table {
    let sayers: BTreeSet<&String> = due
        .values()
        .flat_map(|asked| asked.said.values().flat_map(BTreeMap::keys))
        .collect();
    let mut header: Vec<String> = FIXED.map(str::to_owned).to_vec();
    for question in questions {
        header.extend(sayers.iter().map(|sayer| format!("{}: {sayer}", question.id)));
        header.push(question.id.clone());
    }
    header.push(REMARKS.to_owned());
    let rows = rows.iter().map(|row| {
        let mut cells = vec![
            row.instance_id.to_string(),
            annotator.to_owned(),
            mark.to_owned(),
            row.repo.to_string(),
            row.title.clone().unwrap_or_default(),
            link(row),
            excerpt(row.problem_statement.as_deref().unwrap_or_default()),
            tests(row),
        ];
        let asked = due.get(&row.instance_id);
        for question in questions {
            let said = asked.and_then(|asked| asked.said.get(&question.id));
            cells.extend(sayers.iter().map(|sayer| {
                let answer = said.and_then(|said| said.get(*sayer));
                answer.cloned().unwrap_or_default()
            }));
            cells.push(String::new());
        }
        cells.push(String::new());
        cells.iter().map(|cell| tame(cell)).collect()
    });
    Table {
        rows: rows.collect(),
        header,
    }
}

fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(EXCERPT).collect();
    if shown.len() < text.len() {
        shown.push_str(" … (more in the form)");
    }
    shown
}

fn tests(row: &Instance) -> String {
    let names: Vec<&str> = row
        .fail_to_pass
        .iter()
        .take(TESTS)
        .map(crate::domain::ids::TestId::as_str)
        .collect();
    let more = row.fail_to_pass.len().saturating_sub(TESTS);
    let mut text = names.join("\n");
    if more > 0 {
        let _ = write!(text, "\nand {more} more");
    }
    text
}

/// A cell that no spreadsheet takes for a formula (OWASP, "CSV injection"): what begins like one begins with `'`.
fn tame(cell: &str) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{cell}")
    } else {
        cell.to_owned()
    }
}

/// A cell as it was before [`tame`].
fn wild(cell: &str) -> &str {
    let rest = cell.strip_prefix('\'');
    rest.filter(|rest| tame(rest) == cell).unwrap_or(cell)
}

impl Table {
    /// The bytes of the file.
    pub fn csv(&self) -> Vec<u8> {
        let mut bytes = "\u{feff}".as_bytes().to_vec();
        let mut writer = csv::WriterBuilder::new()
            .terminator(csv::Terminator::CRLF)
            .from_writer(&mut bytes);
        for row in std::iter::once(&self.header).chain(&self.rows) {
            // Memory takes every write.
            let _ = writer.write_record(row);
        }
        let _ = writer.flush();
        drop(writer);
        bytes
    }
}

/// What an annotator filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The file.
    pub file: String,
    /// Whose it is.
    pub annotator: String,
    /// By instance.
    pub rows: BTreeMap<InstanceId, Filled>,
}

/// One row of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    /// Answers by question, as the question writes them.
    pub answers: BTreeMap<String, String>,
    /// What else was said.
    pub remarks: String,
}

/// Reads a filled sheet and holds it against what was asked.
///
/// # Errors
/// [`AnnotateError::Text`] with the line of everything that is missing, unknown, doubled or outside of the scale.
pub fn read(
    file: &str,
    bytes: &[u8],
    mark: &str,
    questions: &[Question],
    due: &BTreeMap<InstanceId, Asked>,
) -> Result<Sheet, AnnotateError> {
    let one = |line, what: String, hint: &str| {
        let fault = Fault {
            line,
            what,
            hint: hint.to_owned(),
        };
        AnnotateError::text("sheet", file, fault)
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        one(
            Some(line),
            "it is not UTF-8".to_owned(),
            "save it as `CSV UTF-8`, which spreadsheets offer beside plain CSV",
        )
    })?;
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes());
    let mut records = reader.records();
    let Some(Ok(header)) = records.next() else {
        return Err(one(
            None,
            "it is empty".to_owned(),
            "give a sheet that `quarry annotate export` wrote, filled in",
        ));
    };
    let columns = Columns::of(&header, questions).map_err(|name| {
        one(
            Some(1),
            format!("there is no column `{name}`"),
            "give the sheet with the header that `quarry annotate export` wrote, and the same `--questions` as then",
        )
    })?;
    let mut filled = Reading {
        sheet: Sheet {
            file: file.to_owned(),
            ..Sheet::default()
        },
        faults: vec![],
        seen: BTreeMap::new(),
        mark,
        questions,
        due,
    };
    let lines = Lines::of_text(text);
    let mut line = 1;
    for record in records {
        let Ok(record) = record else { continue };
        line = record.position().map_or(line, |place| lines.of(place.byte()));
        if record.iter().any(|cell| !cell.trim().is_empty()) {
            filled.row(&columns, &record, line);
        }
    }
    filled.missing();
    if filled.faults.is_empty() {
        Ok(filled.sheet)
    } else {
        Err(AnnotateError::Text {
            what: "sheet",
            file: file.to_owned(),
            faults: filled.faults,
        })
    }
}

/// The delimiter that follows the first column's name; `,` where that is not to be found.
fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |delimiter: char| first.matches(delimiter).count();
    [',', ';', '\t']
        .into_iter()
        .rev()
        .max_by_key(|delimiter| count(*delimiter))
        .and_then(|delimiter| u8::try_from(delimiter).ok())
        .unwrap_or(b',')
}

/// Where lines end. The reader's own count is one too low after `\r\n`, whose second half it takes with the next row.
struct Lines<'t> {
    text: &'t [u8],
    ends: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of_text(text: &'t str) -> Self {
        Self {
            text: text.as_bytes(),
            ends: text.match_indices('\n').map(|(end, _)| end).collect(),
        }
    }

    /// The line, from 1, of the row that is read from this place on.
    fn of(&self, byte: u64) -> usize {
        let start = usize::try_from(byte).unwrap_or(usize::MAX);
        let rest = self.text.get(start..).unwrap_or_default();
        let blank = rest.iter().take_while(|byte| b"\r\n".contains(byte)).count();
        1 + self.ends.partition_point(|end| *end < start + blank)
    }
}

struct Columns {
    id: usize,
    annotator: usize,
    version: usize,
    remarks: Option<usize>,
    questions: Vec<usize>,
}

impl Columns {
    /// The columns' places, or the name of the first that is missing.
    fn of(header: &csv::StringRecord, questions: &[Question]) -> Result<Self, String> {
        let place = |name: &str| header.iter().position(|cell| cell.trim() == name);
        let must = |name: &str| place(name).ok_or_else(|| name.to_owned());
        Ok(Self {
            id: must("instance_id")?,
            annotator: must("annotator")?,
            version: must("version")?,
            remarks: place(REMARKS),
            questions: questions
                .iter()
                .map(|question| must(&question.id))
                .collect::<Result<_, _>>()?,
        })
    }
}

struct Reading<'a> {
    sheet: Sheet,
    faults: Vec<Fault>,
    /// The line of each instance.
    seen: BTreeMap<InstanceId, usize>,
    mark: &'a str,
    questions: &'a [Question],
    due: &'a BTreeMap<InstanceId, Asked>,
}

impl Reading<'_> {
    fn fault(&mut self, line: usize, what: String, hint: impl Into<String>) {
        self.faults.push(Fault {
            line: Some(line),
            what,
            hint: hint.into(),
        });
    }

    fn row(&mut self, columns: &Columns, record: &csv::StringRecord, line: usize) {
        let cell = |place: usize| record.get(place).unwrap_or_default().trim();
        let (id, annotator) = (InstanceId::from(cell(columns.id)), cell(columns.annotator));
        if cell(columns.version) != self.mark {
            let what = format!("it is about `{}`, not `{}`", cell(columns.version), self.mark);
            self.fault(
                line,
                what,
                "export sheets of this very version again, or give the version that these are of",
            );
            return;
        }
        let Some(asked) = self.due.get(&id) else {
            let hint =
                "remove the row; where the sheets are of a sample, give the same `--sample` as at export";
            self.fault(line, format!("nothing was asked about `{id}`"), hint);
            return;
        };
        if let Some(before) = self.seen.insert(id.clone(), line) {
            let what = format!("`{id}` is there twice, before on line {before}");
            self.fault(line, what, "leave one of the two rows");
            return;
        }
        if self.sheet.annotator.is_empty() {
            annotator.clone_into(&mut self.sheet.annotator);
        }
        if annotator.is_empty() || annotator != self.sheet.annotator {
            let what = format!(
                "the annotator is `{annotator}`, on the lines before `{}`",
                self.sheet.annotator
            );
            self.fault(
                line,
                what,
                "one sheet is of one annotator, who is named on every row",
            );
            return;
        }
        let mut filled = Filled {
            remarks: wild(columns.remarks.map(cell).unwrap_or_default()).to_owned(),
            ..Filled::default()
        };
        for (question, place) in self.questions.iter().zip(&columns.questions) {
            let said = cell(*place);
            let due = asked.questions.contains(&question.id);
            let known = question
                .answers
                .iter()
                .find(|answer| answer.value.eq_ignore_ascii_case(said));
            match (due, said, known) {
                (true, _, Some(answer)) => {
                    filled.answers.insert(question.id.clone(), answer.value.clone());
                }
                (false, "", _) => {}
                (false, ..) => {
                    let what = format!("`{}` of `{id}` was not disputed", question.id);
                    self.fault(
                        line,
                        what,
                        "leave that cell empty: what annotators agree on is not decided again",
                    );
                }
                (true, "", None) => {
                    let what = format!("`{}` of `{id}` is not answered", question.id);
                    self.fault(line, what, scale(question));
                }
                (true, said, None) => {
                    let what = format!("`{said}` is no answer to `{}`", question.id);
                    self.fault(line, what, scale(question));
                }
            }
        }
        self.sheet.rows.insert(id, filled);
    }

    fn missing(&mut self) {
        let missing: Vec<&InstanceId> = self
            .due
            .keys()
            .filter(|id| !self.seen.contains_key(*id))
            .collect();
        if missing.is_empty() {
            return;
        }
        let named: Vec<String> = missing.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
        let more = missing.len() - named.len();
        let what = format!(
            "it has no row of {}{}",
            named.join(", "),
            if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            }
        );
        self.faults.push(Fault {
            line: None,
            what,
            hint: "every instance that was asked about has a row; where the sheets are of a sample, give the same `--sample` as at export".to_owned(),
        });
    }
}

fn scale(question: &Question) -> String {
    let values: Vec<String> = question
        .answers
        .iter()
        .map(|answer| format!("`{}`", answer.value))
        .collect();
    format!("answer `{}` with {}", question.id, values.join(", "))
}
