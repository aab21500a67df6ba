use proptest::prelude::*;
use serde_json::{Value, json};

use super::published::parse;
use super::recipe::next;
use super::row::take;
use super::{ImportError, Named, import};
use crate::emit::assemble::{Files, INSTANCES, MANIFEST, PUBLISHED};
use crate::emit::check::check;
use crate::emit::export::{Format, Version, export};
use crate::emit::sums;
use crate::recipe;

fn named() -> Named {
    Named {
        name: "published".into(),
        version: "1.0.0".into(),
        file: "rows.jsonl".into(),
        sha256: "0".repeat(64),
        tool_version: "0.1.0".into(),
    }
}

fn patch(path: &str) -> String {
    format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n")
}

fn row(repo: &str, number: u32) -> Value {
    json!({
        "repo": repo,
        "instance_id": format!("{}-{number}", repo.replace('/', "__")),
        "base_commit": "d16bfe05a744909de4b27f5875fe0d4ed41ce607",
        "patch": patch("src/a.py"),
        "test_patch": patch("tests/test_a.py"),
        "problem_statement": "It breaks",
        "hints_text": "",
        "created_at": "2024-01-31 10:00:00",
        "version": "2.31",
        "FAIL_TO_PASS": "[\"t::b\", \"t::a\", \"t::b\"]",
        "PASS_TO_PASS": ["t::c"],
        "difficulty": 0.1,
    })
}

fn lines(rows: &[Value]) -> String {
    rows.iter()
        .fold(String::new(), |text, row| text + &row.to_string() + "\n")
}

fn made(text: &str) -> Files {
    let (files, _) = import(&named(), text.as_bytes(), "line").unwrap().unwrap();
    files
}

fn refused(text: &str) -> ImportError {
    import(&named(), text.as_bytes(), "line").unwrap().unwrap_err()
}

fn problems(files: &Files) -> Vec<String> {
    let found = check(files, Some(("published", "1.0.0"))).problems;
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn what_was_published_is_a_sound_version_and_comes_back_as_it_was() {
    let rows = [row("b/z", 7), row("b/z", 3), row("a/y", 12)];
    let files = made(&lines(&rows));
    assert_eq!(problems(&files), [""; 0]);
    let version = Version::read(&files).unwrap();
    let ids: Vec<_> = version
        .instances
        .iter()
        .map(|row| row.instance_id.as_str())
        .collect();
    assert_eq!(ids, ["a__y-12", "b__z-3", "b__z-7"]);
    let first = &version.instances[0];
    assert_eq!(first.fail_to_pass, ["t::a".into(), "t::b".into()]);
    assert_eq!(first.created_at.to_string(), "2024-01-31T10:00:00Z");
    assert_eq!((&first.environment, first.runs_after), (&None, 0));
    let import = version.manifest.import.as_ref().unwrap();
    assert_eq!((import.rows, import.repeated_tests), (3, 3));
    assert_eq!(import.other_columns, ["difficulty"]);

    let exported = export(&version, Format::Swebench).unwrap();
    let text = String::from_utf8(exported.files["published.jsonl"].clone()).unwrap();
    let back: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(back, rows);
    // A list is the same as lines, and nobody's image can be made.
    let list = serde_json::to_string_pretty(&rows).unwrap();
    let same = made(&list);
    assert_eq!(same[INSTANCES], files[INSTANCES]);
    assert_eq!(export(&version, Format::Harbor).unwrap().left_out.len(), 3);
    let card = &export(&version, Format::Hf).unwrap().files["README.md"];
    let card = String::from_utf8_lossy(card);
    assert!(
        card.contains("| b/z | 2 |") && !card.contains("were run several times"),
        "{card}"
    );
}

#[test]
fn the_recipe_that_verifies_again_is_one_and_the_next_version() {
    let files = made(&lines(&[row("a/y", 1), row("b/z", 2)]));
    let text = String::from_utf8(files["reverify.toml"].clone()).unwrap();
    let loaded = recipe::parse("reverify.toml", &text).unwrap();
    assert_eq!(loaded.recipe.dataset.version, "1.0.1");
    assert!(
        text.contains(
            "(repo.full == 'a/y' && pr.number in [1]) ||\n(repo.full == 'b/z' && pr.number in [2])"
        )
    );
    assert_eq!(
        (next("1.9.9").as_str(), next("0.1.0").as_str()),
        ("1.9.10", "0.1.1")
    );
}

#[test]
fn rows_that_are_sound_and_no_tasks_are_named_and_counted() {
    let with = |number: u32, column: &str, value: Value| {
        let mut row = row("a/y", number);
        row[column] = value;
        row
    };
    let rows = [
        row("a/y", 1),
        with(1, "version", "3".into()),
        with(2, "patch", "just words".into()),
        with(3, "patch", "".into()),
        with(4, "FAIL_TO_PASS", json!([])),
        with(5, "test_patch", patch("t.py").replace("+y\n", "").into()),
    ];
    let files = made(&lines(&rows));
    assert_eq!(problems(&files), [""; 0]);
    let manifest = Version::read(&files).unwrap().manifest;
    let import = manifest.import.unwrap();
    let told: Vec<_> = import
        .left_out
        .iter()
        .map(|one| format!("{} {}: {}", one.row, one.rule, one.why))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    2 mine-import-duplicate: row 1 has its id already
    3 mine-import-patch: its `patch` is no patch: line 1 stands before the first file
    4 mine-import-no-gold: its `patch` is empty
    5 mine-import-no-fail-to-pass: its `FAIL_TO_PASS` is empty: no test tells a solution from the base
    6 mine-import-patch: its `test_patch` is no patch: its last hunk is shorter than it announces
    ");
    assert_eq!((manifest.counts.pull_requests, manifest.counts.instances), (5, 1));
    let only_bad = refused(&lines(&rows[2..4]));
    assert!(
        matches!(only_bad, ImportError::Nothing { rows: 2, row: 1, .. }),
        "{only_bad}"
    );
    assert!(matches!(refused(" \n"), ImportError::Empty { .. }));
}

#[test]
fn every_faulty_row_is_told_with_its_line() {
    let mut rows = vec![row("a/y", 1); 7];
    rows[0]["instance_id"] = "c__z-1".into();
    rows[1]["instance_id"] = "a__y-01".into();
    rows[2]["base_commit"] = "main".into();
    rows[3]["PASS_TO_PASS"] = "t::a, t::b".into();
    rows[4].as_object_mut().unwrap().remove("test_patch");
    rows[5]["created_at"] = "yesterday".into();
    let text = lines(&rows) + "{\"repo\": 1, \"repo\": 2}\n[]\n";
    let error = refused(&text);
    insta::assert_snapshot!(error.to_string().replace("; ", "\n"), @r"
    import `rows.jsonl`: line 8: the column `repo` is there twice (column 22)
    line 9: invalid type: sequence, expected a row: a JSON object of columns
    line 1: its `instance_id` must be `a__y-N`, as its `repo` says, and is `c__z-1`
    line 2: its `instance_id` must be `a__y-N`, as its `repo` says, and is `a__y-01`
    line 3: its `base_commit` must be a commit of 40 hex digits
    line 4: its `PASS_TO_PASS` must be a list of test ids, or a text that holds a JSON list
    line 5: it has no `test_patch`
    line 6: its `created_at` must be a moment such as `2023-01-31T12:00:00Z`, or a day
    ");
    assert_eq!(error.hints().len(), 2);
    let mut bad = named();
    bad.name = "Not a Name".into();
    let error = import(&bad, lines(&[row("a/y", 1)]).as_bytes(), "line")
        .unwrap()
        .unwrap_err();
    assert!(matches!(error, ImportError::Name { .. }), "{error}");
}

/// The sums made right again, so that only the content is at fault.
fn tampered(files: &Files, file: &str, from: &str, to: &str) -> Vec<String> {
    let mut files = files.clone();
    let text = String::from_utf8(files[file].clone()).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    files.insert(file.into(), text.replacen(from, to, 1).into_bytes());
    files.insert(sums::NAME.into(), sums::write(&files).into_bytes());
    problems(&files)
}

#[test]
fn an_import_that_does_not_agree_with_itself_is_not_sound() {
    let files = made(&lines(&[row("a/y", 1), row("a/y", 2)]));
    for (file, from, to, what) in [
        (
            INSTANCES,
            "It breaks",
            "It works",
            "not what `published.jsonl` says",
        ),
        (
            PUBLISHED,
            "It breaks",
            "It works",
            "not what `published.jsonl` says",
        ),
        (PUBLISHED, "a__y-2", "a__y-3", "not those that the log tells of"),
        (
            MANIFEST,
            "\"rows\": 2",
            "\"rows\": 3",
            "it has 3 rows, and 2 are instances or left out",
        ),
        (
            "reverify.toml",
            "in [1, 2]",
            "in [1]",
            "not the recipe of these instances",
        ),
        (
            MANIFEST,
            "\"format\": \"swebench\",\n    \"file\": \"rows.jsonl\"",
            "\"format\": \"swebench\",\n    \"file\": \"other.jsonl\"",
            "recipe.text",
        ),
    ] {
        let found = tampered(&files, file, from, to);
        assert!(
            found.iter().any(|problem| problem.contains(what)),
            "{file} {to}: {found:?}"
        );
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(text in "[\\[\\]{}\",:\\\\a-z0-9 \n\u{feff}]{0,80}") {
        let (rows, faults) = parse(text.as_bytes(), "line");
        for row in &rows {
            let _ = take(&row.columns);
        }
        // Every line of text is a row or a fault.
        let starts_a_list = text.trim_start_matches('\u{feff}').trim_start().starts_with('[');
        let given = text.strip_prefix('\u{feff}').unwrap_or(&text).split('\n').filter(|line| !line.trim_ascii().is_empty()).count();
        prop_assert!(starts_a_list || rows.len() + faults.len() == given);
    }

    #[test]
    fn values_stay_as_they_are_written(number in any::<f64>().prop_filter("finite", |n| n.is_finite()), text in any::<String>()) {
        let line = format!("{{\"a\":{number:e},\"b\":{}}}", Value::from(text));
        let (rows, faults) = parse(line.as_bytes(), "line");
        prop_assert!(faults.is_empty(), "{:?}", faults);
        prop_assert_eq!(serde_json::to_string(&rows[0].columns).unwrap(), line);
    }
}
