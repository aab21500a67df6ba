//! The facts of one row.

use std::borrow::Cow;

use jiff::Timestamp;

use super::diff;
use super::line::{Field, Fields, text};
use crate::domain::ids::{CandidateId, RepoName};
use crate::domain::patch::{FileChange, Part};
use crate::filter::compile::Program;
use crate::filter::facts::FactSource;
use crate::filter::files::{FileSet, file_fact};
use crate::filter::value::{Datum, Seen};
use crate::recipe::language::{FactId, Scope};

/// The fields a program reads of rows: others are not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs([bool; Field::ALL.len()]);

impl Needs {
    /// What these rules read.
    pub fn of(program: &Program) -> Self {
        let part = |wanted: Part| {
            program
                .facts()
                .iter()
                .any(|fact| matches!(fact, FactId::Files(Scope::Part(part), _) if *part == wanted))
        };
        Self(Field::ALL.map(|field| match field {
            Field::InstanceId | Field::Repo => true,
            // A file of `patch` may be a test or documentation to the recipe's split.
            Field::Patch => part(Part::Gold) || part(Part::Test) || part(Part::Docs),
            Field::TestPatch => part(Part::Test),
            Field::DocsPatch => part(Part::Docs),
            Field::ProblemStatement => program.reads(FactId::IssuesTexts),
            Field::CreatedAt => program.reads(FactId::DatesCreated),
            Field::Version => program.reads(FactId::PrRelease),
            Field::FailToPass => program.reads(FactId::OracleFailToPass),
            Field::PassToPass => program.reads(FactId::OraclePassToPass),
        }))
    }

    /// A field's JSON, if it is needed and there.
    fn get<'a>(self, fields: &Fields<'a>, field: Field) -> Option<&'a str> {
        if self.0[field as usize] {
            fields.get(field)
        } else {
            None
        }
    }
}

/// A row with a field that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` must be {must}", field.name())]
pub struct BadRow {
    /// The field.
    pub field: Field,
    /// What it must be.
    pub must: &'static str,
}

/// A row, decoded as far as its rules need.
#[derive(Debug)]
pub struct Row<'a> {
    /// `instance_id`, if the row has one.
    pub instance: Option<Cow<'a, str>>,
    repo: Option<RepoName>,
    number: Option<u32>,
    files: Vec<FileChange>,
    parts: Vec<Option<Part>>,
    has_patch: bool,
    has_test_patch: bool,
    has_docs_patch: bool,
    texts: Option<Cow<'a, str>>,
    created: Option<Timestamp>,
    version: Option<Cow<'a, str>>,
    fail_to_pass: Option<Vec<String>>,
    pass_to_pass: Option<Vec<String>>,
}

impl<'a> Row<'a> {
    /// Decodes what `needs` asks for. `part_of` is the recipe's split.
    ///
    /// # Errors
    /// When a field that is needed is not of its type.
    pub fn new(
        fields: &Fields<'a>,
        needs: Needs,
        part_of: &impl Fn(&FileChange) -> Option<Part>,
    ) -> Result<Self, BadRow> {
        let string = |field| string(needs, fields, field);
        let instance = string(Field::InstanceId)?;
        let (mut repo, number) = instance.as_deref().map_or((None, None), split_instance);
        if let Some(named) = string(Field::Repo)? {
            repo = named.parse().ok().or(repo);
        }
        let mut row = Self {
            instance,
            repo,
            number,
            files: Vec::new(),
            parts: Vec::new(),
            has_patch: false,
            has_test_patch: false,
            has_docs_patch: false,
            texts: string(Field::ProblemStatement)?,
            created: created(string(Field::CreatedAt)?.as_deref())?,
            version: string(Field::Version)?,
            fail_to_pass: tests(needs, fields, Field::FailToPass)?,
            pass_to_pass: tests(needs, fields, Field::PassToPass)?,
        };
        row.has_patch = row.take_patch(string(Field::Patch)?.as_deref(), part_of);
        row.has_test_patch = row.take_patch(string(Field::TestPatch)?.as_deref(), &|_| Some(Part::Test));
        row.has_docs_patch = row.take_patch(string(Field::DocsPatch)?.as_deref(), &|_| Some(Part::Docs));
        Ok(row)
    }

    fn take_patch(&mut self, patch: Option<&str>, part_of: &impl Fn(&FileChange) -> Option<Part>) -> bool {
        let Some(patch) = patch else { return false };
        let files = diff::files(patch.as_bytes());
        self.parts.extend(files.iter().map(part_of));
        self.files.extend(files);
        true
    }

    /// The pull request that the row is made of, when its id and repository tell.
    pub fn candidate(&self) -> Option<CandidateId> {
        Some(CandidateId::pull(self.repo.clone()?, self.number?))
    }

    fn repo_fact(&self, read: impl Fn(&RepoName) -> Cow<'_, str>) -> Seen<'_> {
        Seen::known(self.repo.as_ref().map(|repo| Datum::Text(read(repo))))
    }
}

impl FactSource for Row<'_> {
    fn see(&self, fact: FactId) -> Seen<'_> {
        use FactId as F;
        match fact {
            F::Files(scope, fact) => {
                let known = match scope {
                    Scope::Part(Part::Gold) => self.has_patch,
                    Scope::Part(Part::Test) => self.has_patch && self.has_test_patch,
                    Scope::Part(Part::Docs) => self.has_patch && self.has_docs_patch,
                    Scope::Part(Part::Other) | Scope::Whole => false,
                };
                let set = FileSet {
                    files: &self.files,
                    parts: &self.parts,
                };
                Seen::known(known.then(|| file_fact(set, scope, fact)))
            }
            F::PrNumber => Seen::known(self.number.map(|number| Datum::Int(number.into()))),
            F::PrRelease => Seen::known(self.version.as_deref().map(Datum::text)),
            F::IssuesTexts => Seen::known(self.texts.as_deref().map(|text| {
                Datum::List(if text.is_empty() {
                    vec![]
                } else {
                    vec![Datum::text(text)]
                })
            })),
            F::RepoOwner => self.repo_fact(|repo| Cow::Borrowed(repo.owner())),
            F::RepoName => self.repo_fact(|repo| Cow::Borrowed(repo.name())),
            F::RepoFull => self.repo_fact(|repo| Cow::Owned(repo.to_string())),
            F::DatesCreated => Seen::known(self.created.map(Datum::Time)),
            F::OracleFailToPass => list(self.fail_to_pass.as_deref()),
            F::OraclePassToPass => list(self.pass_to_pass.as_deref()),
            _ => Seen::Unknown,
        }
    }
}

fn list(tests: Option<&[String]>) -> Seen<'_> {
    Seen::known(tests.map(|tests| Datum::texts(tests.iter().map(String::as_str))))
}

/// `owner__name-N` into its repository and number, as far as it is one.
fn split_instance(id: &str) -> (Option<RepoName>, Option<u32>) {
    let Some((flat, number)) = id.rsplit_once('-') else {
        return (None, None);
    };
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|number| digits && *number > 0);
    let repo = flat
        .split_once("__")
        .and_then(|(owner, name)| format!("{owner}/{name}").parse().ok());
    (repo, number)
}

fn string<'a>(needs: Needs, fields: &Fields<'a>, field: Field) -> Result<Option<Cow<'a, str>>, BadRow> {
    match needs.get(fields, field) {
        None => Ok(None),
        Some(json) => text(json).map(Some).ok_or(BadRow {
            field,
            must: "a text",
        }),
    }
}

fn created(text: Option<&str>) -> Result<Option<Timestamp>, BadRow> {
    let Some(text) = text else { return Ok(None) };
    // A moment without a zone is one in UTC.
    let utc = |text: &str| jiff::tz::TimeZone::UTC.to_timestamp(text.parse().ok()?).ok();
    let moment = text.parse().ok().or_else(|| utc(text));
    let must = "a moment such as `2023-01-31T12:00:00Z`, or a day";
    moment.map(Some).ok_or(BadRow {
        field: Field::CreatedAt,
        must,
    })
}

/// A list of test ids: a JSON list, or a text that holds one, as SWE-bench publishes it.
fn tests(needs: Needs, fields: &Fields<'_>, field: Field) -> Result<Option<Vec<String>>, BadRow> {
    let Some(json) = needs.get(fields, field) else {
        return Ok(None);
    };
    let held = text(json).unwrap_or(Cow::Borrowed(json));
    let must = "a list of test ids, or a text that holds a JSON list";
    serde_json::from_str(&held)
        .map(Some)
        .map_err(|_| BadRow { field, must })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::dataset::scan;
    use crate::filter::eval::Sight;
    use crate::filter::tests::recipe;

    #[expect(clippy::unnecessary_wraps, reason = "the shape of a split")]
    fn part_of(file: &FileChange) -> Option<Part> {
        let docs = file.path.has_extension("rst");
        let test = file.path.file_name().starts_with(b"test_");
        Some(if test {
            Part::Test
        } else if docs {
            Part::Docs
        } else {
            Part::Gold
        })
    }

    fn judge(keep: &str, row: &serde_json::Value) -> &'static str {
        let program = crate::filter::compile(&recipe(&[(keep, "drop")])).unwrap();
        let line = row.to_string();
        let fields = scan(line.as_bytes()).unwrap();
        let row = Row::new(&fields, Needs::of(&program), &part_of).unwrap();
        let sight = Sight::new(&program, &row);
        program.judge(&program.rules()[0], &sight).unwrap().verdict.name()
    }

    fn patch(paths: &[&str]) -> String {
        let hunk = "@@ -1 +1 @@\n-x\n+y\n";
        let section =
            |path: &&str| format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{hunk}");
        paths.iter().map(section).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_row_says_what_it_says_and_no_more() {
        let row = serde_json::json!({
            "instance_id": "psf__requests-6629", "repo": "psf/requests", "version": "2.31",
            "patch": patch(&["a.py", "docs/a.rst", "test_a.py"]), "test_patch": patch(&["tests/b.py", "tests/b.json"]),
            "problem_statement": "It breaks", "created_at": "2024-01-31 10:00:00",
            "FAIL_TO_PASS": "[\"t::a\"]", "PASS_TO_PASS": ["t::b", "t::c"],
        });
        for (keep, verdict) in [
            ("gold.paths == ['a.py']", "keep"),
            (
                "test.paths == ['test_a.py', 'tests/b.py', 'tests/b.json']",
                "keep",
            ),
            ("test.added == 3 && test.hunks == 3", "keep"),
            ("docs.files == 1", "undecided"),
            ("patch.files == 3", "undecided"),
            ("other.files == 0", "undecided"),
            (
                "pr.number == 6629 && repo.full == 'psf/requests' && pr.release == '2.31'",
                "keep",
            ),
            (
                "size(issues.resolved) > 0 || issues.texts.exists(text, text != '')",
                "keep",
            ),
            ("dates.created == timestamp('2024-01-31T10:00:00Z')", "keep"),
            (
                "oracle.fail_to_pass == ['t::a'] && size(oracle.pass_to_pass) == 2",
                "keep",
            ),
            ("size(oracle.pass_to_fail) == 0", "undecided"),
            ("pr.merged", "undecided"),
        ] {
            assert_eq!(judge(keep, &row), verdict, "{keep}");
        }
    }

    #[test]
    fn what_is_absent_or_null_is_unknown_and_what_is_empty_is_empty() {
        let row = serde_json::json!({"instance_id": "odd", "patch": null, "problem_statement": ""});
        for (keep, verdict) in [
            ("gold.files == 0", "undecided"),
            ("pr.number == 1", "undecided"),
            ("size(issues.texts) == 0", "keep"),
            ("size(oracle.fail_to_pass) == 0", "undecided"),
        ] {
            assert_eq!(judge(keep, &row), verdict, "{keep}");
        }
        let row = serde_json::json!({"patch": "", "docs_patch": patch(&["a.md"])});
        assert_eq!(judge("gold.files == 0 && docs.files == 1", &row), "keep");
    }

    #[test]
    fn a_needed_field_of_another_type_is_an_error_and_others_are_not_looked_at() {
        let program = crate::filter::compile(&recipe(&[("size(oracle.fail_to_pass) > 0", "drop")])).unwrap();
        let read =
            |line: &str| Row::new(&scan(line.as_bytes()).unwrap(), Needs::of(&program), &part_of).map(|_| ());
        assert_eq!(read(r#"{"patch": 1, "FAIL_TO_PASS": []}"#), Ok(()));
        let error = read(r#"{"FAIL_TO_PASS": "a, b"}"#).unwrap_err();
        insta::assert_snapshot!(error, @"`FAIL_TO_PASS` must be a list of test ids, or a text that holds a JSON list");
        assert!(read(r#"{"instance_id": 5}"#).is_err());
    }
}
