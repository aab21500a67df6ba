//! `docs.jsonl`: what documentation tells of each instance, for recipes whose statement is documentation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hints::Hint;
use super::marks::{Mark, marks};
use super::mask::{Masked, mask, unmask};
use crate::domain::ids::InstanceId;
use crate::emit::assemble::{DOCS, INSTANCES, Selection};
use crate::emit::check::Problem;
use crate::emit::error::EmitError;
use crate::emit::input::EmitInput;
use crate::emit::instance::{Instance, PatchField};
use crate::emit::manifest::Manifest;

/// A task that documentation tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocsTask {
    /// The documentation's diff, as [`super::render()`] shows it.
    pub statement: String,
    /// Names that the tests need and the statement does not tell.
    pub hints: Vec<Hint>,
}

/// One instance's task as documentation tells it. The row in `instances.jsonl` has the whole statement; masking and hints
/// are for an evaluation that wants them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocsRow {
    /// The instance.
    pub instance_id: InstanceId,
    /// The statement without references to issues, pull requests, commits and people.
    pub masked_statement: String,
    /// What was masked, in order: with it the statement is whole again.
    pub masked: Vec<Masked>,
    /// Names that the tests need and the statement does not tell.
    pub hints: Vec<Hint>,
    /// Directives of the statement that say since when something is there; left out where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// The rows of those that are kept, in their order.
///
/// # Errors
/// [`EmitError::Missing`] when somebody kept has no task.
pub fn rows(input: &EmitInput, selection: &Selection) -> Result<Vec<DocsRow>, EmitError> {
    let row = |id: &crate::domain::ids::CandidateId| {
        let task = input.tasks.get(id).ok_or_else(|| EmitError::Missing {
            candidate: id.clone(),
            what: "statement",
        })?;
        let (masked_statement, masked) = mask(&task.statement);
        Ok(DocsRow {
            instance_id: id.instance(),
            masked_statement,
            masked,
            hints: task.hints.clone(),
            marks: marks(&task.statement),
        })
    };
    selection.kept.iter().map(row).collect()
}

/// Says in what the documentation's rows do not agree with the instances, and these with the patch that tells them.
pub(in crate::emit) fn agree(
    manifest: &Manifest,
    instances: &[Instance],
    rows: Option<&[DocsRow]>,
    problems: &mut Vec<Problem>,
) {
    let Some(rows) = rows else {
        if is_told_by_documentation(manifest) {
            let what = "it is missing, and the recipe's statements are documentation";
            problems.push(Problem::of(DOCS, what));
        }
        return;
    };
    for (index, instance) in instances.iter().enumerate() {
        if !shows_its_patch(instance) {
            let what = format!(
                "`{}`: its docs_patch changes other lines than its statement tells",
                instance.instance_id
            );
            problems.push(Problem::line(INSTANCES, index, what));
        }
    }
    let statements: BTreeMap<_, _> = instances
        .iter()
        .map(|instance| (&instance.instance_id, instance.problem_statement.as_deref()))
        .collect();
    if rows.len() != instances.len() {
        let what = format!("it has {} rows for {} instances", rows.len(), instances.len());
        problems.push(Problem::of(DOCS, what));
    }
    let is_masked_alike = masks_alike(manifest);
    for (index, row) in rows.iter().enumerate() {
        let Some(statement) = statements.get(&row.instance_id) else {
            problems.push(Problem::line(
                DOCS,
                index,
                format!("`{}` is no instance", row.instance_id),
            ));
            continue;
        };
        if row.marks != statement.map(marks).unwrap_or_default() {
            problems.push(Problem::line(
                DOCS,
                index,
                "its marks are not those of the instance's statement",
            ));
        }
        if unmask(&row.masked_statement, &row.masked).as_deref() != *statement {
            problems.push(Problem::line(
                DOCS,
                index,
                "it does not unmask to the instance's statement",
            ));
        } else if is_masked_alike && statement.is_some_and(|statement| mask(statement).1 != row.masked) {
            problems.push(Problem::line(
                DOCS,
                index,
                "it is not masked as the instance's statement is to be",
            ));
        }
    }
}

/// Whether the recipe of a version asks for documentation as statements.
fn is_told_by_documentation(manifest: &Manifest) -> bool {
    let Ok(recipe) = manifest.recipe.text.parse::<toml::Table>() else {
        return false;
    };
    let said = recipe
        .get("emission")
        .and_then(|emission| emission.get("problem_statement"));
    said.and_then(toml::Value::as_str) == Some("docs")
}

/// Whether this program masks as the one did that wrote the version: what is masked has grown from release to release. A
/// part of another version keeps that one's masks, whoever wrote it.
fn masks_alike(manifest: &Manifest) -> bool {
    let is_of_this_release = manifest.tool.version == env!("CARGO_PKG_VERSION");
    is_of_this_release && manifest.parent.is_none() && !manifest.characteristics.is_empty()
}

/// Whether a statement tells just the lines that the documentation's patch takes and adds, file by file: it is that patch,
/// with more around. Notebooks are told by their cells; a patch that is not UTF-8 is told in another encoding.
fn shows_its_patch(instance: &Instance) -> bool {
    match &instance.problem_statement {
        Some(statement) if !instance.base64_fields.contains(&PatchField::DocsPatch) => {
            changes(statement) == changes(&instance.docs_patch)
        }
        _ => true,
    }
}

/// The head of each file of a diff and the lines that it takes and adds; without notebooks.
fn changes(diff: &str) -> Vec<(&str, Vec<&str>)> {
    let mut files: Vec<(&str, Vec<&str>)> = vec![];
    let mut in_hunk = false;
    for line in diff.split('\n') {
        if line.starts_with("diff --git ") {
            in_hunk = false;
            files.push((line, vec![]));
        } else if line.starts_with("@@ ") {
            in_hunk = true;
        } else if in_hunk
            && line.starts_with(['+', '-'])
            && let Some((_, lines)) = files.last_mut()
        {
            lines.push(line);
        }
    }
    let is_notebook = |head: &str| {
        head.trim_end_matches('"')
            .to_ascii_lowercase()
            .ends_with(".ipynb")
    };
    files.retain(|(head, _)| !is_notebook(head));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::assemble::{Files, MANIFEST, assemble, select};
    use crate::emit::check::check;
    use crate::emit::docs::characteristics::Hundredths;
    use crate::emit::{canonical, fixture, sums};
    use crate::recipe::model::ProblemStatement;

    fn sum_up(files: &mut Files) {
        files.remove(sums::NAME);
        let sums = sums::write(files);
        files.insert(sums::NAME.to_owned(), sums.into_bytes());
    }

    /// Gives every change this documentation; it stands first.
    fn document(input: &mut EmitInput, docs: &str) {
        for candidate in &mut input.candidates {
            let grown = docs.len() as u64 - candidate.files[0].end;
            candidate.files[0].end += grown;
            for file in &mut candidate.files[1..] {
                file.start += grown;
                file.end += grown;
            }
        }
        for change in input.changes.values_mut() {
            let old = fixture::sections()[0].2.len();
            change.diff = [docs.as_bytes(), &change.diff[old..]].concat();
        }
    }

    #[test]
    fn a_version_told_by_documentation_is_sound_and_a_changed_mask_is_noticed() {
        let mut input = fixture::input();
        input.recipe.emission.problem_statement = ProblemStatement::Docs;
        input
            .recipe_text
            .push_str("\n[emission]\nproblem_statement = \"docs\"\n");
        input.tool_version = env!("CARGO_PKG_VERSION").to_owned();
        let docs = "diff --git a/docs/a.md b/docs/a.md\n--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1,2 @@\n-old\n\
            +More, see (#12)\n+.. versionadded:: 0.2\n";
        document(&mut input, docs);
        let selection = select(&input).unwrap();
        assert!(assemble(&input, &selection).is_err(), "a task is missing");
        for id in &selection.kept {
            let task = DocsTask {
                statement: docs.to_owned(),
                hints: vec![],
            };
            input.tasks.insert(id.clone(), task);
        }
        let mut files = assemble(&input, &selection).unwrap();
        assert_eq!(check(&files, None).problems, []);
        let text = String::from_utf8(files[DOCS].clone()).unwrap();
        assert!(text.contains("+More, see (#00)"), "{text}");
        assert!(
            text.contains(r#""directive":"versionadded","version":"0.2""#),
            "{text}"
        );
        let mut manifest: Manifest = serde_json::from_slice(&files[MANIFEST]).unwrap();
        let all = manifest.characteristics[""].clone();
        assert_eq!((all.tasks, all.mean_words), (2, Hundredths(1900)));
        let mut with = |characteristics| {
            manifest.characteristics = characteristics;
            let mut other = files.clone();
            other.insert(MANIFEST.to_owned(), canonical::document(&manifest).unwrap());
            sum_up(&mut other);
            check(&other, None).problems
        };
        assert_eq!(with(BTreeMap::new()), [], "earlier versions told nothing");
        let problems = with(BTreeMap::from([(String::new(), all)]));
        assert!(
            problems.len() == 1 && problems[0].place == "characteristics",
            "{problems:?}"
        );

        let with = |name: &str, bytes: Option<Vec<u8>>| {
            let mut other = files.clone();
            match bytes {
                Some(bytes) => other.insert(name.to_owned(), bytes),
                None => other.remove(name),
            };
            sum_up(&mut other);
            let problems = check(&other, None).problems;
            let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
            told.join("; ")
        };
        assert!(with(DOCS, None).contains("`docs.jsonl`: it is missing"));
        let read = |line: &str| serde_json::from_str::<DocsRow>(line).unwrap();
        let mut rows: Vec<DocsRow> = text.lines().map(read).collect();
        rows[0].masked_statement = docs.to_owned();
        rows[0].masked.clear();
        let said = with(DOCS, Some(canonical::lines(&rows).unwrap()));
        assert!(said.contains("at line 1: it is not masked"), "{said}");
        let lines = String::from_utf8(files[INSTANCES].clone()).unwrap();
        let read = |line: &str| serde_json::from_str::<Instance>(line).unwrap();
        let mut rows: Vec<Instance> = lines.lines().map(read).collect();
        rows[1].docs_patch = rows[1].docs_patch.replace("-old", "-odd");
        let said = with(INSTANCES, Some(canonical::lines(&rows).unwrap()));
        assert!(said.contains("docs_patch changes other lines"), "{said}");

        files.insert(DOCS.to_owned(), text.replacen("\"12\"", "\"13\"", 1).into_bytes());
        sum_up(&mut files);
        let problems = check(&files, None).problems;
        assert!(
            problems.iter().any(|problem| problem.what.contains("unmask")),
            "{problems:?}"
        );
    }
}
