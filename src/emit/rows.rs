//! A candidate and its oracle as an instance.

use jiff::Timestamp;

use super::base64;
use super::docs::{self, DocsTask};
use super::error::EmitError;
use super::input::{Change, Verified};
use super::instance::{Instance, PatchField, Reference, SplitFile};
use crate::domain::candidate::{Candidate, FoundIn};
use crate::domain::patch::Part;
use crate::recipe::model::ProblemStatement;

/// The row of a candidate that met every step.
///
/// # Errors
/// [`EmitError::Section`] when the diff and the candidate's list of files do not belong together,
/// [`EmitError::NothingFails`] when the oracle has no FAIL_TO_PASS test, [`EmitError::NothingAsked`] when its
/// documentation's change shows no words.
pub fn row(
    candidate: &Candidate,
    change: &Change,
    verified: &Verified,
    statement: ProblemStatement,
    task: Option<&DocsTask>,
) -> Result<Instance, EmitError> {
    let section = || EmitError::Section {
        candidate: candidate.id.clone(),
    };
    if change.parts.len() != candidate.files.len() {
        return Err(section());
    }
    if verified.oracle.fail_to_pass.is_empty() {
        return Err(EmitError::NothingFails {
            candidate: candidate.id.clone(),
        });
    }
    if statement == ProblemStatement::Docs && task.is_some_and(|task| !docs::says_something(&task.statement))
    {
        return Err(EmitError::NothingAsked {
            candidate: candidate.id.clone(),
        });
    }
    let mut base64_fields = vec![];
    let mut patch = |field: PatchField, part: Part| {
        let bytes = cut(candidate, change, part).ok_or_else(section)?;
        Ok::<_, EmitError>(String::from_utf8(bytes).unwrap_or_else(|not_text| {
            base64_fields.push(field);
            base64::encode(not_text.as_bytes())
        }))
    };
    let [gold, test, docs, other] = PatchField::ALL.map(|(field, part)| patch(field, part));
    let (gold, test, docs_patch, other) = (gold?, test?, docs?, other?);
    let (oracle, environment) = (&verified.oracle, &verified.environment);
    Ok(Instance {
        instance_id: candidate.id.instance(),
        repo: candidate.id.repo.clone(),
        base_commit: candidate.base_commit,
        patch: gold,
        test_patch: test,
        problem_statement: problem_statement(candidate, statement, task),
        hints_text: candidate.forge.as_ref().and_then(|forge| forge.hints()),
        created_at: created_at(candidate),
        version: candidate.release.as_deref().and_then(major_minor),
        fail_to_pass: oracle.fail_to_pass.clone(),
        pass_to_pass: oracle.pass_to_pass.clone(),
        pass_to_fail: oracle.pass_to_fail.clone(),
        flaky: oracle.flaky.clone(),
        order_dependent: oracle.order_dependent.clone(),
        order_seed: oracle.order_seed.clone(),
        not_addressable: oracle.not_addressable.clone(),
        needs_network: oracle.needs_network.clone(),
        needs_clock: oracle.needs_clock.clone(),
        scope: oracle.scope,
        aa: oracle.aa.clone(),
        strength: verified.strength.clone(),
        before_gold: oracle.before_gold.clone(),
        runs_before: oracle.runs_before,
        runs_after: oracle.runs_after,
        pull_number: candidate.id.number,
        title: candidate.title.clone(),
        docs_patch,
        other_patch: other,
        base64_fields,
        splits: splits(candidate, change),
        merge_base: Some(candidate.merge_base),
        merge_commit: Some(candidate.merge.commit),
        merge_kind: Some(candidate.merge.kind),
        merge_branch: Some(candidate.merge.branch.clone()),
        merged_at: Some(candidate.merged_at),
        issue_references: references(candidate),
        interpreter: Some(environment.interpreter.clone()),
        environment: Some(environment.key.clone()),
        lock: Some(environment.lock.clone()),
        exclude_newer: Some(environment.exclude_newer),
        setup: verified.setup.clone(),
    })
}

/// The sections of one part, in the diff's order; `None` when one lies outside of the diff.
fn cut(candidate: &Candidate, change: &Change, part: Part) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    for (file, _) in candidate
        .files
        .iter()
        .zip(&change.parts)
        .filter(|(_, of)| **of == Some(part))
    {
        let range = usize::try_from(file.start).ok()?..usize::try_from(file.end).ok()?;
        bytes.extend_from_slice(change.diff.get(range)?);
    }
    Some(bytes)
}

fn splits(candidate: &Candidate, change: &Change) -> Vec<SplitFile> {
    let files = candidate.files.iter().zip(&change.parts);
    files
        .map(|(file, part)| SplitFile {
            path: file.path.clone(),
            old_path: file.old_path.clone(),
            change: file.change,
            part: *part,
        })
        .collect()
}

fn references(candidate: &Candidate) -> Vec<Reference> {
    let mut references: Vec<_> = candidate
        .references
        .iter()
        .map(|reference| {
            let (place, commit) = match &reference.found_in {
                FoundIn::Title => ("title", None),
                FoundIn::Body => ("body", None),
                FoundIn::MergeMessage => ("merge-message", None),
                FoundIn::CommitMessage(commit) => ("commit-message", Some(*commit)),
                FoundIn::Linked => ("linked", None),
            };
            Reference {
                repo: reference
                    .repo
                    .clone()
                    .unwrap_or_else(|| candidate.id.repo.to_string()),
                number: reference.number,
                closes: reference.closes,
                found_in: place.to_owned(),
                commit,
                text: reference.text.clone(),
            }
        })
        .collect();
    references.sort();
    references.dedup();
    references
}

/// When the pull request was opened; where nobody was asked, when its first commit was written.
fn created_at(candidate: &Candidate) -> Timestamp {
    let first = || Some(candidate.commits.first()?.authored_at);
    let opened = candidate.forge.as_ref().map(|forge| forge.pull.created_at);
    opened.or_else(first).unwrap_or(candidate.merged_at)
}

/// The issues' texts; or the title, an empty line, and a line for each commit's subject that says more.
fn problem_statement(
    candidate: &Candidate,
    from: ProblemStatement,
    task: Option<&DocsTask>,
) -> Option<String> {
    match from {
        ProblemStatement::Issue => {
            let texts = candidate.forge.as_ref()?.texts()?;
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        ProblemStatement::Docs => task.map(|task| task.statement.clone()),
        ProblemStatement::Message => {
            let subjects = candidate.commits.iter().map(|commit| commit.subject.as_str());
            let mut lines: Vec<&str> = candidate.title.as_deref().into_iter().chain(subjects).collect();
            let mut seen = std::collections::BTreeSet::new();
            lines.retain(|line| !line.is_empty() && !line.starts_with("Merge ") && seen.insert(*line));
            let (first, rest) = lines.split_first()?;
            let rest = rest
                .iter()
                .fold(String::new(), |text, line| text + "- " + line + "\n");
            Some(if rest.is_empty() {
                format!("{first}\n")
            } else {
                format!("{first}\n\n{rest}")
            })
        }
    }
}

/// `2.31` of `v2.31.0`, `release-2.31`, `2.31`: the first two numbers of a tag that has two.
fn major_minor(tag: &str) -> Option<String> {
    let start = tag.find(|c: char| c.is_ascii_digit())?;
    let (major, rest) = tag[start..].split_once('.')?;
    let minor: &str = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{candidate, change, verified};
    use super::*;
    use crate::domain::enriched::{KnownPull, enriched};
    use crate::domain::forge::{IssueFate, IssueId};

    #[test]
    fn what_the_forge_says_is_the_task_and_what_was_said_later_is_no_hint() {
        let pull = serde_json::json!({
            "facts": {
                "number": 2, "title": "Read all", "body": "", "author": null, "labels": [], "milestone": null,
                "state": "MERGED", "created_at": "2001-01-03T00:00:00Z", "updated_at": "2001-01-03T00:00:00Z",
                "merged_at": null, "last_edited_at": null, "merge_commit": null, "base_ref": "main", "base_sha": null,
                "head_ref": "x", "head_sha": null, "head_repository": null, "review": null, "locked": false,
                "changed_files": 1, "closes": [{"repo": "quarry-bench/pantry", "number": 9}], "hidden": 0
            },
            "references": []
        });
        let said = |body: &str, created_at: &str| serde_json::json!({"author": null, "body": body, "created_at": created_at, "last_edited_at": null, "minimized": false});
        let issue = serde_json::json!({
            "is": "issue", "id": {"repo": "quarry-bench/pantry", "number": 9}, "title": "It stops", "body": "Half way.",
            "author": "a", "labels": [], "closed": true, "locked": false, "created_at": "2001-01-01T00:00:00Z",
            "updated_at": "2001-01-01T00:00:00Z", "last_edited_at": null, "edits": [], "comments_total": 2,
            "comments": [said("Which half?", "2001-01-02T00:00:00Z"), said("See #2", "2001-01-03T00:00:00Z")]
        });
        let known: KnownPull = serde_json::from_value(pull).unwrap();
        let fate: IssueFate = serde_json::from_value(issue).unwrap();
        let told = |fate: Option<IssueFate>| {
            let candidate = enriched(candidate(2), known.clone(), None, &|id: &IssueId| {
                fate.clone()
                    .filter(|_| id.number == 9)
                    .or(Some(IssueFate::Absent))
                    .filter(|_| fate.is_some())
            });
            row(&candidate, &change(), &verified(2), ProblemStatement::Issue, None).unwrap()
        };
        let row = told(Some(fate));
        assert_eq!(row.problem_statement.as_deref(), Some("It stops\nHalf way."));
        assert_eq!(row.hints_text.as_deref(), Some("Which half?"));
        assert_eq!(row.created_at.to_string(), "2001-01-03T00:00:00Z");
        assert_eq!(row.title.as_deref(), Some("Read all"));
        assert!(
            row.issue_references
                .iter()
                .any(|reference| reference.found_in == "linked")
        );
        // An issue that nobody asked leaves the task unknown, not empty.
        let row = told(None);
        assert_eq!((row.problem_statement, row.hints_text), (None, None));
    }

    #[test]
    fn documentation_without_a_word_is_no_task() {
        let row = |statement: &str| {
            let task = super::DocsTask {
                statement: statement.to_owned(),
                hints: vec![],
            };
            let from = ProblemStatement::Docs;
            row(&candidate(2), &change(), &verified(2), from, Some(&task))
        };
        let head = "diff --git a/docs/a.ipynb b/docs/a.ipynb\n--- a/docs/a.ipynb\n+++ b/docs/a.ipynb\n";
        assert!(row(&format!("{head}@@ -1 +1 @@\n+New\n")).is_ok());
        for nothing in [
            "",
            "Binary file docs/a.png changes\n",
            "@@ -1 +1 @@ A\n kept\n-\n+\n",
        ] {
            let refused = row(&format!("{head}{nothing}")).unwrap_err();
            assert!(matches!(refused, EmitError::NothingAsked { .. }), "{nothing}");
        }
    }

    #[test]
    fn a_version_is_the_first_two_numbers_of_a_tag() {
        for (tag, version) in [
            ("v2.31.0", Some("2.31")),
            ("2.31", Some("2.31")),
            ("release-1.0rc2", Some("1.0")),
            ("rel-1", None),
            ("1-2.3", None),
            ("latest", None),
            ("3.", None),
        ] {
            assert_eq!(major_minor(tag).as_deref(), version, "{tag}");
        }
    }
}
