//! `variants.jsonl`: the variants of each instance's tree, by the names of their trees.
//!
//! A row says what a variant is, not where its files are: the tree's name is git's own hash of its content, so whoever
//! makes the same variant of `base_commit` with the manifest's policy can hold the result against it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::assemble::{MANIFEST, Selection, VARIANTS};
use super::check::{Problem, Version};
use super::error::EmitError;
use super::input::EmitInput;
use super::manifest::{StepKind, Variants};
use crate::domain::attempt::Stage;
use crate::domain::ids::{BlobId, CommitSha, InstanceId};
use crate::domain::variant::{DocstringNeed, UntouchedFile, Variant, VariantCounts, VariantRecord};
use crate::recipe::model::Recipe;

/// One variant of one instance's tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantRow {
    /// The instance.
    pub instance_id: InstanceId,
    /// Which variant.
    pub variant: Variant,
    /// The commit whose tree it is of: the instance's `base_commit`.
    pub base_commit: CommitSha,
    /// The name of the variant's tree, as git names trees: 40 hex digits.
    pub tree: CommitSha,
    /// How many of what.
    pub counts: VariantCounts,
    /// Files that should have been stripped and stand there as they were, by path.
    pub untouched: Vec<UntouchedFile>,
    /// Code that reads docstrings or source, and may behave otherwise in this variant; by path and line.
    pub needs: Vec<DocstringNeed>,
    /// SHA-256 of the full report, as `quarry strip --commit … --report` writes it.
    pub report: BlobId,
}

/// What a manifest says of a recipe's variants.
pub fn entry(recipe: &Recipe) -> Option<Variants> {
    let wanted: BTreeSet<_> = recipe.variants.iter().copied().collect();
    (!wanted.is_empty()).then(|| Variants {
        wanted: wanted.into_iter().collect(),
        policy: recipe.strip.clone(),
    })
}

/// The rows of those that are kept, by instance and variant.
///
/// # Errors
/// [`EmitError::Missing`] when somebody kept lacks a variant that the recipe asks for.
pub fn rows(input: &EmitInput, selection: &Selection) -> Result<Vec<VariantRow>, EmitError> {
    let wanted: BTreeSet<_> = input.recipe.variants.iter().copied().collect();
    let commits: BTreeMap<_, _> = input
        .candidates
        .iter()
        .map(|candidate| (&candidate.id, candidate.base_commit))
        .collect();
    let mut rows = vec![];
    for id in &selection.kept {
        let missing = |what| EmitError::Missing {
            candidate: id.clone(),
            what,
        };
        let commit = *commits.get(id).ok_or_else(|| missing("record"))?;
        let made = input.variants.get(id).map(Vec::as_slice).unwrap_or_default();
        for variant in &wanted {
            let made = made.iter().find(|made| made.variant == *variant);
            let made = made.ok_or_else(|| missing(noun(*variant)))?.clone();
            rows.push(row(id.instance(), commit, made));
        }
    }
    Ok(rows)
}

const fn noun(variant: Variant) -> &'static str {
    match variant {
        Variant::Full => "full variant",
        Variant::CodeOnly => "code-only variant",
        Variant::NoContext => "context-free variant",
    }
}

fn row(instance_id: InstanceId, base_commit: CommitSha, made: VariantRecord) -> VariantRow {
    VariantRow {
        instance_id,
        variant: made.variant,
        base_commit,
        tree: made.tree,
        counts: made.counts,
        untouched: made.untouched,
        needs: made.needs,
        report: made.report,
    }
}

/// Says in what the variants do not agree with the rest of a version.
pub(super) fn agree(version: &Version, problems: &mut Vec<Problem>) {
    let manifest = &version.manifest;
    let has_step = manifest
        .funnel
        .iter()
        .any(|step| step.kind == StepKind::Stage && step.step == Stage::Strip.name());
    if has_step != manifest.variants.is_some() {
        let what = "a version has the step `strip` when it has variants, and only then";
        problems.push(Problem::at(MANIFEST, "funnel", what));
    }
    let (entry, rows) = match (&manifest.variants, &version.variants) {
        (None, None) => return,
        (Some(entry), Some(rows)) => (entry, rows),
        (None, Some(_)) => {
            problems.push(Problem::of(VARIANTS, "the manifest names no variants"));
            return;
        }
        (Some(_), None) => {
            problems.push(Problem::of(
                VARIANTS,
                "the manifest names variants, and it is missing",
            ));
            return;
        }
    };
    if entry.wanted.is_empty() || entry.wanted.windows(2).any(|pair| pair[0] >= pair[1]) {
        let what = "it is empty, not sorted or names a variant twice";
        problems.push(Problem::at(MANIFEST, "variants.wanted", what));
    }
    let due = version.instances.iter().flat_map(|instance| {
        let wanted = entry.wanted.iter();
        wanted.map(|variant| (&instance.instance_id, instance.base_commit, *variant))
    });
    let is = rows
        .iter()
        .map(|row| (&row.instance_id, row.base_commit, row.variant));
    let (due, is): (Vec<_>, Vec<_>) = (due.collect(), is.collect());
    if due != is {
        let same = due.iter().zip(&is).take_while(|(due, is)| due == is).count();
        let what = "the rows are not each instance's variants at its base commit, in order";
        problems.push(Problem::line(VARIANTS, same, what));
    }
    for (index, row) in rows.iter().enumerate() {
        if let Some(what) = fault(row) {
            problems.push(Problem::line(VARIANTS, index, what));
        }
    }
}

/// What is wrong with a row in itself.
fn fault(row: &VariantRow) -> Option<&'static str> {
    let counts = &row.counts;
    let changed = counts.stripped + counts.documentation_removed + counts.documentation_emptied;
    if counts.stripped + counts.unchanged + counts.untouched != counts.files {
        Some("counts: stripped, unchanged and untouched are not files in all")
    } else if counts.untouched != row.untouched.len() as u64 {
        Some("counts: untouched is not how many files `untouched` names")
    } else if row.untouched.windows(2).any(|pair| pair[0].path >= pair[1].path) {
        Some("untouched is not sorted or names a file twice")
    } else if row.needs.windows(2).any(|pair| pair[0] >= pair[1]) {
        Some("needs is not sorted or names a place twice")
    } else if row.variant != Variant::CodeOnly && (changed > 0 || !row.needs.is_empty()) {
        Some("something was stripped from a variant that strips nothing")
    } else if row.variant != Variant::NoContext && counts.context_removed > 0 {
        Some("files for coding agents are gone from a variant that keeps them")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attempt::AttemptOutcome;
    use crate::emit::assemble::{Files, assemble, select};
    use crate::emit::check::check;
    use crate::emit::fixture::{id, input};
    use crate::emit::{Ended, Step, sums};

    fn record(variant: Variant, needs: &[(&str, u32)]) -> VariantRecord {
        let need = |(path, line): &(&str, u32)| DocstringNeed {
            path: (*path).into(),
            line: *line,
            kind: "doctest".into(),
        };
        VariantRecord {
            variant,
            tree: CommitSha::from_bytes([7; 20]),
            counts: VariantCounts::default(),
            untouched: vec![],
            needs: needs.iter().map(need).collect(),
            report: BlobId::of(b"report"),
        }
    }

    /// The fixture's two instances with two variants each.
    fn varied() -> EmitInput {
        let mut input = input();
        input.recipe.variants = vec![Variant::CodeOnly, Variant::Full, Variant::Full];
        input.steps.push(Step::Stage(Stage::Strip));
        for number in [2, 12] {
            input.ended.push(Ended {
                candidate: id(number),
                stage: Stage::Strip,
                outcome: AttemptOutcome::Done,
                reason: "ok".into(),
            });
            let mut stripped = record(Variant::CodeOnly, &[("src/a.py", 3), ("src/a.py", 9)]);
            stripped.counts.files = 3;
            stripped.counts.stripped = 2;
            stripped.counts.unchanged = 1;
            input
                .variants
                .insert(id(number), vec![record(Variant::Full, &[]), stripped]);
        }
        input
    }

    fn files() -> Files {
        let input = varied();
        assemble(&input, &select(&input).unwrap()).unwrap()
    }

    /// What the check says first after a change of a file's text.
    fn tamper(file: &str, old: &str, new: &str) -> String {
        let mut files = files();
        let text = String::from_utf8(files.remove(file).unwrap()).unwrap();
        assert!(text.contains(old), "{old}");
        files.insert(file.to_owned(), text.replacen(old, new, 1).into_bytes());
        files.insert(sums::NAME.into(), sums::write(&files).into_bytes());
        let problems = check(&files, None).problems;
        problems.first().map_or("sound".to_owned(), ToString::to_string)
    }

    #[test]
    fn each_instance_has_a_row_for_each_variant() {
        let files = files();
        assert_eq!(check(&files, None).problems, []);
        let text = String::from_utf8(files[VARIANTS].clone()).unwrap();
        let rows: Vec<VariantRow> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let said: Vec<_> = rows
            .iter()
            .map(|row| (row.instance_id.to_string(), row.variant.name()))
            .collect();
        let (two, twelve) = (
            "quarry-bench__pantry-2".to_owned(),
            "quarry-bench__pantry-12".to_owned(),
        );
        assert_eq!(
            said,
            [
                (two.clone(), "full"),
                (two, "code-only"),
                (twelve.clone(), "full"),
                (twelve, "code-only")
            ]
        );
        assert_eq!(rows[1].needs.len(), 2);
    }

    #[test]
    fn without_variants_there_is_no_trace_of_them() {
        let input = input();
        let files = assemble(&input, &select(&input).unwrap()).unwrap();
        assert!(!files.contains_key(VARIANTS));
        assert!(!String::from_utf8_lossy(&files[MANIFEST]).contains("variants"));
    }

    #[test]
    fn a_variant_that_is_missing_is_named() {
        let mut input = varied();
        input.variants.get_mut(&id(12)).unwrap().pop();
        let error = assemble(&input, &select(&input).unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "emit `quarry-bench/pantry#12`: its code-only variant is missing"
        );
        input.ended.pop();
        let error = select(&input).unwrap_err();
        assert!(
            error.to_string().contains("still waits for step `strip`"),
            "{error}"
        );
    }

    #[test]
    fn the_check_sees_what_was_changed() {
        insta::assert_snapshot!([
            tamper(VARIANTS, r#""variant":"code-only""#, r#""variant":"no-context""#),
            tamper(VARIANTS, r#""base_commit":"01"#, r#""base_commit":"02"#),
            tamper(VARIANTS, r#""stripped":2"#, r#""stripped":3"#),
            tamper(VARIANTS, r#""untouched":[]"#, r#""untouched":[{"path":"a.py","reason":"nul"}]"#),
            tamper(VARIANTS, r#""line":9"#, r#""line":3"#),
            tamper(VARIANTS, r#""context_removed":0"#, r#""context_removed":1"#),
            tamper(VARIANTS, r#""documentation_emptied":0"#, r#""documentation_emptied":1"#),
            tamper(VARIANTS, r#""tree":"07"#, r#""tree":"7"#),
            tamper(MANIFEST, "\"full\",\n", "\"code-only\",\n"),
            tamper(MANIFEST, r#""step": "strip""#, r#""step": "stripped""#),
        ].join("\n"), @r#"
    `variants.jsonl` at line 2: the rows are not each instance's variants at its base commit, in order
    `variants.jsonl` at line 1: the rows are not each instance's variants at its base commit, in order
    `variants.jsonl` at line 2: counts: stripped, unchanged and untouched are not files in all
    `variants.jsonl` at line 1: counts: untouched is not how many files `untouched` names
    `variants.jsonl` at line 2: needs is not sorted or names a place twice
    `variants.jsonl` at line 1: files for coding agents are gone from a variant that keeps them
    `variants.jsonl` at line 1: something was stripped from a variant that strips nothing
    `variants.jsonl` at line 1: `707070707070707070707070707070707070707` is not a commit of 40 hex digits at line 1 column 162
    `manifest.json` at variants.wanted: it is empty, not sorted or names a variant twice
    `selection-log.jsonl.zst`: step `stripped` says nothing of `quarry-bench/pantry#2`, which reached it
    "#);
        let mut files = files();
        files.remove(VARIANTS);
        files.insert(sums::NAME.into(), sums::write(&files).into_bytes());
        let problems: Vec<_> = check(&files, None)
            .problems
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            problems,
            ["`variants.jsonl`: the manifest names variants, and it is missing"]
        );
    }
}
