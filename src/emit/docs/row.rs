//! `docs.jsonl`: what documentation tells of each instance, for recipes whose statement is documentation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hints::Hint;
use super::marks::{Mark, marks};
use super::mask::{Masked, mask, unmask};
use crate::domain::ids::InstanceId;
use crate::emit::assemble::{DOCS, Selection};
use crate::emit::check::Problem;
use crate::emit::error::EmitError;
use crate::emit::input::EmitInput;
use crate::emit::instance::Instance;

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

/// Says in what the documentation's rows do not agree with the instances.
pub(in crate::emit) fn agree(instances: &[Instance], rows: Option<&[DocsRow]>, problems: &mut Vec<Problem>) {
    let Some(rows) = rows else { return };
    let statements: BTreeMap<_, _> = instances
        .iter()
        .map(|instance| (&instance.instance_id, instance.problem_statement.as_deref()))
        .collect();
    if rows.len() != instances.len() {
        let what = format!("it has {} rows for {} instances", rows.len(), instances.len());
        problems.push(Problem::of(DOCS, what));
    }
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::assemble::{Files, MANIFEST, assemble, select};
    use crate::emit::check::check;
    use crate::emit::docs::characteristics::Hundredths;
    use crate::emit::manifest::Manifest;
    use crate::emit::{canonical, fixture, sums};
    use crate::recipe::model::ProblemStatement;

    fn sum_up(files: &mut Files) {
        files.remove(sums::NAME);
        let sums = sums::write(files);
        files.insert(sums::NAME.to_owned(), sums.into_bytes());
    }

    #[test]
    fn a_version_told_by_documentation_is_sound_and_a_changed_mask_is_noticed() {
        let mut input = fixture::input();
        input.recipe.emission.problem_statement = ProblemStatement::Docs;
        let selection = select(&input).unwrap();
        assert!(assemble(&input, &selection).is_err(), "a task is missing");
        for id in &selection.kept {
            let task = DocsTask {
                statement: "+More, see :pull:`12`\n+.. versionadded:: 0.2\n".to_owned(),
                hints: vec![],
            };
            input.tasks.insert(id.clone(), task);
        }
        let mut files = assemble(&input, &selection).unwrap();
        assert_eq!(check(&files, None).problems, []);
        let text = String::from_utf8(files[DOCS].clone()).unwrap();
        assert!(text.contains("+More, see :pull:`00`"), "{text}");
        assert!(
            text.contains(r#""directive":"versionadded","version":"0.2""#),
            "{text}"
        );
        let mut manifest: Manifest = serde_json::from_slice(&files[MANIFEST]).unwrap();
        let all = manifest.characteristics[""].clone();
        assert_eq!((all.tasks, all.mean_words), (2, Hundredths(600)));
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

        files.insert(DOCS.to_owned(), text.replacen("\"12\"", "\"13\"", 1).into_bytes());
        sum_up(&mut files);
        let problems = check(&files, None).problems;
        assert!(
            problems.iter().any(|problem| problem.what.contains("unmask")),
            "{problems:?}"
        );
    }
}
