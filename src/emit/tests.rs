//! Emission as a whole: the same bytes in any order, sound by its own check, and a check that sees every fault.

use proptest::prelude::*;
use serde_json::Value;

use super::assemble::{Files, INSTANCES, LOG, MANIFEST, assemble, select};
use super::check::check;
use super::entry::LogEntry;
use super::error::EmitError;
use super::fixture::{change, decision, id, input, verified};
use super::input::EmitInput;
use super::instance::{Instance, PatchField};
use super::manifest::{Manifest, Source};
use super::{base64, canonical, rows, sums};
use crate::domain::decision::Verdict;
use crate::domain::ids::CommitSha;
use crate::domain::patch::Part;
use crate::recipe::model::ProblemStatement;

fn emit(input: &EmitInput) -> Result<Files, EmitError> {
    assemble(input, &select(input)?)
}

fn files() -> Files {
    emit(&input()).unwrap()
}

fn instances(files: &Files) -> Vec<Instance> {
    let lines = files[INSTANCES].split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn log(files: &Files) -> Vec<LogEntry> {
    let bytes = zstd::stream::decode_all(files[LOG].as_slice()).unwrap();
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn the_funnel_adds_up() {
    let manifest: Manifest = serde_json::from_slice(&files()[MANIFEST]).unwrap();
    let lines: Vec<_> = manifest
        .funnel
        .iter()
        .map(|step| {
            let counts = [step.entered, step.dropped, step.undecided, step.infra, step.out];
            format!("{:14} {counts:?}", step.step)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    mine           [8, 1, 0, 0, 7]
    changes-tests  [7, 1, 0, 0, 6]
    resolves-issue [6, 1, 2, 0, 5]
    verify         [5, 1, 0, 1, 3]
    fails-before   [3, 1, 0, 0, 2]
    ");
    assert_eq!(manifest.counts.instances, 2);
    assert_eq!(manifest.counts.infra, 1);
    assert_eq!(manifest.failures.len(), 2);
}

#[test]
fn a_file_that_the_split_leaves_out_is_in_no_patch() {
    let mut input = input();
    input.changes.get_mut(&id(2)).unwrap().parts[0] = None;
    let files = emit(&input).unwrap();
    assert_eq!(check(&files, None).problems, []);
    let row = &instances(&files)[0];
    assert_eq!((row.docs_patch.as_str(), row.splits[0].part), ("", None));
}

#[test]
fn a_window_is_a_step_of_its_own() {
    let mut input = input();
    input.recipe.source.merged_since = Some("2024-10-05".into());
    input.candidates[0].merged_at = "2024-10-05T00:00:00Z".parse().unwrap();
    let files = emit(&input).unwrap();
    assert_eq!(check(&files, None).problems, []);
    let manifest: Manifest = serde_json::from_slice(&files[MANIFEST]).unwrap();
    let step = &manifest.funnel[1];
    assert_eq!(
        (step.step.as_str(), step.entered, step.out),
        ("source.window", 7, 1)
    );
    assert_eq!(manifest.window.merged_since.as_deref(), Some("2024-10-05"));
    let ids: Vec<_> = instances(&files).into_iter().map(|row| row.pull_number).collect();
    assert_eq!(ids, [2]);
    let mut other = manifest;
    other.window.merged_before = Some("2024-10-05".into());
    let mut files = files;
    files.insert(MANIFEST.to_owned(), canonical::document(&other).unwrap());
    let problems = check(&files, None).problems;
    let told = |problem: &super::check::Problem| problem.what.contains("outside the manifest's window");
    assert!(problems.iter().any(told), "{problems:?}");
}

#[test]
fn a_fingerprint_is_of_the_refs_alone() {
    let (one, two) = (CommitSha::from_bytes([1; 20]), CommitSha::from_bytes([2; 20]));
    let print = Source::fingerprint([("refs/heads/main", one), ("refs/pull/2/head", two)]);
    assert_eq!(
        print,
        Source::fingerprint([("refs/pull/2/head", two), ("refs/heads/main", one)])
    );
    assert_ne!(
        print,
        Source::fingerprint([("refs/heads/main", two), ("refs/pull/2/head", one)])
    );
}

#[test]
fn what_is_emitted_passes_its_check() {
    let checked = check(&files(), Some(("sample", "0.1.0")));
    assert_eq!(checked.problems, []);
    assert_eq!((checked.instances, checked.files), (2, 5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_order_of_the_input_does_not_matter(seed in any::<u64>()) {
        let mut shuffled = input();
        let mut dice = seed;
        shuffle(&mut shuffled.candidates, &mut dice);
        shuffle(&mut shuffled.decisions, &mut dice);
        shuffle(&mut shuffled.ended, &mut dice);
        shuffle(&mut shuffled.verified, &mut dice);
        prop_assert!(emit(&shuffled).unwrap() == files());
    }

    #[test]
    fn patches_of_any_bytes_come_back(old in ".{0,20}", new in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut candidate = super::fixture::candidate(2);
        let mut change = change();
        // The second file's section is replaced by one with these bytes.
        let range = usize::try_from(candidate.files[1].start).unwrap()..usize::try_from(candidate.files[1].end).unwrap();
        let mut section = b"diff --git a/src/a.py b/src/a.py\n@@ -1 +1 @@\n-".to_vec();
        section.extend_from_slice(old.replace('\n', "").as_bytes());
        section.extend_from_slice(b"\n+");
        section.extend(new.iter().filter(|byte| **byte != b'\n'));
        section.push(b'\n');
        let grown = section.len() as u64;
        let by = grown.wrapping_sub(range.len() as u64);
        change.diff.splice(range, section.clone());
        for (index, file) in candidate.files.iter_mut().enumerate().skip(1) {
            file.end = file.end.wrapping_add(by);
            if index > 1 {
                file.start = file.start.wrapping_add(by);
            }
        }
        let row = rows::row(&candidate, &change, &verified(2), ProblemStatement::Issue, None).unwrap();
        let text = canonical::line(&row).unwrap();
        let read: Instance = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &row);
        let bytes = if read.base64_fields.contains(&PatchField::Patch) {
            base64::decode(&read.patch).unwrap()
        } else {
            read.patch.into_bytes()
        };
        prop_assert!(bytes.starts_with(&section));
    }
}

fn shuffle<T>(items: &mut [T], dice: &mut u64) {
    for index in (1..items.len()).rev() {
        *dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        items.swap(index, usize::try_from(*dice >> 33).unwrap() % (index + 1));
    }
}

#[test]
fn rows_carry_the_fields_in_the_published_order() {
    let files = files();
    let text = String::from_utf8(files[INSTANCES].clone()).unwrap();
    assert!(text.starts_with(
        r#"{"instance_id":"quarry-bench__pantry-2","repo":"quarry-bench/pantry","base_commit":"#
    ));
    let row = &instances(&files)[0];
    assert_eq!(row.base64_fields, [PatchField::Patch]);
    assert_eq!(
        row.problem_statement.as_deref(),
        Some("Read more\n\n- Read \"more\"\n")
    );
    assert_eq!(row.version.as_deref(), Some("0.1"));
    assert_eq!(row.created_at.to_string(), "2024-10-03T10:00:00Z");
    let value: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(value["hints_text"], Value::Null);
    assert_eq!(value["issue_references"][0]["found_in"], "commit-message");
    assert_eq!(value["FAIL_TO_PASS"][0], "tests/test_a.py::test_a[1 é]");
}

#[test]
fn the_log_holds_every_pull_request_once_and_in_order() {
    let files = files();
    let mut ids: Vec<_> = log(&files).iter().map(|entry| entry.candidate().number).collect();
    ids.dedup();
    assert_eq!(ids, [2, 3, 5, 8, 10, 12, 14, 20]);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let refuse = |change: &dyn Fn(&mut EmitInput)| {
        let mut wrong = input();
        change(&mut wrong);
        let error = emit(&wrong).unwrap_err();
        assert!(!error.hints().is_empty());
        error.to_string()
    };
    insta::assert_snapshot!([
        refuse(&|input| input.ended.retain(|ended| ended.candidate.number != 12)),
        refuse(&|input| input.decisions.push(decision(99, "changes-tests", Verdict::Keep, true))),
        refuse(&|input| input.candidates[0].id = "other/repo#2".parse().unwrap()),
        refuse(&|input| input.verified.retain(|verified| verified.candidate.number != 2)),
        refuse(&|input| input.changes.get_mut(&id(2)).unwrap().parts.push(Some(Part::Gold))),
        refuse(&|input| input.changes.get_mut(&id(2)).unwrap().diff.truncate(9)),
        refuse(&|input| input.verified[0].environment.interpreter = "3.12.1".into()),
        refuse(&|input| input.locks.clear()),
        refuse(&|input| input.verified[0].oracle.fail_to_pass.clear()),
    ].join("\n"), @r#"
    emit `sample`: `quarry-bench/pantry#12` still waits for step `verify` (waiting in all: 1)
    emit: a decision is about `quarry-bench/pantry#99`, which is no candidate of the recipe's sources
    emit: a candidate is about `other/repo#2`, which is no candidate of the recipe's sources
    emit `quarry-bench/pantry#2`: its oracle is missing
    emit `quarry-bench/pantry#2`: its diff and its list of files do not belong together
    emit `quarry-bench/pantry#2`: its diff and its list of files do not belong together
    emit: two different environments have the key `e0`
    emit: the lock `470f6ebdab7b05dc0f332fa082df4d33b58d5548d4812a3ea137093de14c52e6` has other bytes than its name says
    emit `quarry-bench/pantry#2`: no test fails before its gold patch and passes after it
    "#);
}

/// Changes a file and makes the sums fit again.
fn tamper(file: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>) -> String {
    let mut files = files();
    let bytes = files.remove(file).unwrap();
    files.insert(file.to_owned(), change(bytes));
    files.insert(sums::NAME.into(), sums::write(&files).into_bytes());
    let checked = check(&files, Some(("sample", "0.1.0")));
    checked
        .problems
        .first()
        .map_or("sound".to_owned(), ToString::to_string)
}

fn swap(old: &'static str, new: &'static str) -> impl Fn(Vec<u8>) -> Vec<u8> {
    move |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1).into_bytes()
    }
}

fn swap_log(old: &'static str, new: &'static str) -> impl Fn(Vec<u8>) -> Vec<u8> {
    move |packed| {
        let bytes = zstd::stream::decode_all(packed.as_slice()).unwrap();
        zstd::bulk::compress(&swap(old, new)(bytes), 1).unwrap()
    }
}

#[test]
fn the_check_sees_what_was_changed() {
    assert_eq!(tamper(LOG, &|bytes| bytes), "sound");
    insta::assert_snapshot!([
        tamper(INSTANCES, &swap(r#""FAIL_TO_PASS":["tests/test_a.py::test_a[1 é]"]"#, r#""FAIL_TO_PASS":[]"#)),
        tamper(INSTANCES, &swap(r#""base64_fields":["patch"]"#, r#""base64_fields":[]"#)),
        tamper(INSTANCES, &swap(r#""part":"docs""#, r#""part":"other""#)),
        tamper(INSTANCES, &swap(r"@@ -1 +1 @@\n-1\n+2", r"@@ -1 +1 @@\n-1\n+2\n+3")),
        tamper(INSTANCES, &swap(r"+++ b/docs/a.md", r"+++ b/docs/b.md")),
        tamper(MANIFEST, &|bytes| {
            // With a sum that fits, too.
            let text = swap(r#"version = \"0.1.0\""#, r#"version = \"0.3.0\""#)(bytes);
            let mut manifest: Manifest = serde_json::from_slice(&text).unwrap();
            manifest.recipe.sha256 = crate::domain::hash::sha256_hex(manifest.recipe.text.as_bytes());
            canonical::document(&manifest).unwrap()
        }),
        tamper(INSTANCES, &swap("3.11.7", "3.11.8")),
        tamper(INSTANCES, &swap(r#""runs_before":3"#, r#""runs_before": 3"#)),
        tamper(INSTANCES, &swap(r#""runs_before":3"#, r#""runs_before":"3""#)),
        tamper(INSTANCES, &|bytes| bytes.split(|byte| *byte == b'\n').next().unwrap().to_vec()),
        tamper(MANIFEST, &swap(r#""infra": 1"#, r#""infra": 0"#)),
        tamper(MANIFEST, &swap(r#""dropped": 1"#, r#""dropped": 2"#)),
        tamper(MANIFEST, &swap(r#""schema_version": 1"#, r#""schema_version": 2"#)),
        tamper(MANIFEST, &swap("name = ", "name: ")),
        tamper(MANIFEST, &swap(r#""version": "0.1.0""#, r#""version": "0.2.0""#)),
        tamper(LOG, &swap_log(r#""verdict":"drop","kept":false"#, r#""verdict":"drop","kept":true"#)),
        tamper(LOG, &swap_log("tests/test_a.py::test_c", "tests/test_a.py::test_a")),
        tamper(LOG, &|mut bytes| { bytes.truncate(40); bytes }),
    ].join("\n"), @r#"
    `instances.jsonl` at line 1: `quarry-bench__pantry-2`: its FAIL_TO_PASS is not what the log and the manifest say
    `instances.jsonl` at line 1: `quarry-bench__pantry-2`: patch has 0 files, and splits puts 2 into gold
    `instances.jsonl` at line 1: `quarry-bench__pantry-2`: docs_patch has 1 files, and splits puts 0 into docs
    `instances.jsonl` at line 1: `quarry-bench__pantry-2`: test_patch is no patch: line 7 is beyond the lines that its hunk announces
    `instances.jsonl` at line 1: `quarry-bench__pantry-2`: docs_patch is about `docs/b.md`, where splits has `docs/a.md`
    `manifest.json` at recipe.text: its dataset.version is `0.3.0`, the manifest's is `0.1.0`
    `instances.jsonl` at line 1: `quarry-bench__pantry-2`: its interpreter is not what the log and the manifest say
    `instances.jsonl` at line 1: it is not written in the canonical form
    `instances.jsonl` at line 1: /runs_before: "3" is not of type "integer"
    `instances.jsonl` at line 1: it is not written in the canonical form
    `manifest.json` at counts: they do not follow from the log
    `manifest.json` at funnel[0]: step `mine` does not add up to what the log says
    `manifest.json` at schema_version: it is 2, this quarry knows up to 1
    `manifest.json` at recipe.sha256: it is not the hash of the recipe's text
    `manifest.json` at dataset: it is of `sample` 0.2.0, its folder of `sample` 0.1.0
    `selection-log.jsonl.zst`: step `resolves-issue` says nothing of `quarry-bench/pantry#3`, which reached it
    `selection-log.jsonl.zst` at line 5: PASS_TO_PASS is not sorted or names a test twice
    `selection-log.jsonl.zst`: it is no sound zstd file: incomplete frame
    "#);
}

#[test]
fn the_check_sees_files_that_come_and_go() {
    let problems = |change: &dyn Fn(&mut Files)| {
        let mut files = files();
        change(&mut files);
        check(&files, None)
            .problems
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    };
    let lock = files()
        .keys()
        .find(|name| name.starts_with("locks/"))
        .cloned()
        .unwrap();
    assert_eq!(
        problems(&|files| drop(files.insert("more".into(), vec![]))),
        "`more`: `SHA256SUMS` does not list it"
    );
    assert!(problems(&|files| drop(files.remove(&lock))).starts_with(&format!("`{lock}`: it is missing")));
    assert_eq!(
        problems(&|files| drop(files.remove(sums::NAME))),
        "`SHA256SUMS`: it is missing"
    );
    assert_eq!(
        problems(&|files| drop(files.remove(INSTANCES))),
        "`instances.jsonl`: it is missing"
    );
}
