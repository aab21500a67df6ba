//! A small input with every end that a pull request can have.

use std::collections::BTreeMap;

use serde_json::json;

use super::input::{Change, EmitInput, Ended, Step, Verified};
use super::manifest::Source;
use crate::domain::attempt::{AttemptOutcome, Stage};
use crate::domain::candidate::{
    Candidate, CommitNote, DiffSource, FoundIn, IssueReference, Merge, MergeEvidence, MergeKind,
};
use crate::domain::decision::{Decision, Verdict};
use crate::domain::environment::{Constraint, Environment, Setup};
use crate::domain::ids::{BlobId, CandidateId, CommitSha};
use crate::domain::oracle::{FlakyTest, Oracle, OrderDependentTest};
use crate::domain::outcome::TestStatus;
use crate::domain::patch::{ChangeKind, EntryKind, FileChange, Part};
use crate::recipe::model::{self as recipe, Dataset, Emission, ProblemStatement, Recipe};

pub(crate) const LOCK: &[u8] = b"pytest==8.3.3 --hash=sha256:00\n";

pub(crate) fn id(number: u32) -> CandidateId {
    format!("quarry-bench/pantry#{number}").parse().unwrap()
}

fn commit(byte: u8) -> CommitSha {
    CommitSha::from_bytes([byte; 20])
}

/// Sections of a diff with the part that each goes into.
pub(crate) fn sections() -> Vec<(&'static str, Part, Vec<u8>)> {
    let section = |path: &str, old: &[u8], new: &[u8]| {
        let mut text =
            format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n").into_bytes();
        for (sign, line) in [(b'-', old), (b'+', new)] {
            text.push(sign);
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        text
    };
    vec![
        ("docs/a.md", Part::Docs, section("docs/a.md", b"old", b"new")),
        (
            "src/a.py",
            Part::Gold,
            section("src/a.py", b"caf\xe9", b"caf\xe9s\r"),
        ),
        (
            "tests/test_a.py",
            Part::Test,
            section("tests/test_a.py", b"1", b"2"),
        ),
        ("src/b.py", Part::Gold, section("src/b.py", b"1", b"2")),
    ]
}

pub(crate) fn candidate(number: u32) -> Candidate {
    let mut at = 0;
    let files = sections()
        .into_iter()
        .map(|(path, _, bytes)| {
            let start = at;
            at += bytes.len() as u64;
            FileChange {
                path: path.into(),
                old_path: None,
                change: ChangeKind::Modified,
                entry: EntryKind::File,
                binary: false,
                mode_changed: false,
                added: 1,
                removed: 1,
                hunks: 1,
                start,
                end: at,
            }
        })
        .collect();
    let byte = u8::try_from(number).unwrap();
    Candidate {
        id: id(number),
        head: commit(byte),
        merge: Merge {
            commit: commit(byte + 100),
            branch: "main".into(),
            kind: MergeKind::Squash,
            evidence: vec![MergeEvidence::SquashSubject],
            relations: vec![],
        },
        base_commit: commit(1),
        merge_base: commit(1),
        diff_source: DiffSource::Head,
        applies: true,
        title: Some("Read more".into()),
        body: None,
        author: None,
        labels: None,
        commits: vec![CommitNote {
            sha: commit(byte),
            subject: "Read \"more\"".into(),
            author: "Ada".into(),
            authored_at: "2024-10-03T10:00:00Z".parse().unwrap(),
        }],
        commit_count: 1,
        merged_at: "2024-10-04T09:00:00Z".parse().unwrap(),
        base_date: "2024-10-03T08:00:00Z".parse().unwrap(),
        references: vec![IssueReference {
            repo: None,
            number: 1,
            closes: true,
            found_in: FoundIn::CommitMessage(commit(byte)),
            text: "fixes #1".into(),
        }],
        release: Some("v0.1.0".into()),
        files,
        diff: BlobId::of(&change().diff),
        forge: None,
    }
}

pub(crate) fn change() -> Change {
    let sections = sections();
    Change {
        diff: sections.iter().flat_map(|(_, _, bytes)| bytes.clone()).collect(),
        parts: sections.iter().map(|(_, part, _)| Some(*part)).collect(),
    }
}

pub(crate) fn decision(number: u32, rule: &str, verdict: Verdict, kept: bool) -> Decision {
    Decision {
        candidate: id(number),
        rule: rule.into(),
        verdict,
        kept,
        observed: json!({"gold.files": 2, "docs.files": 1}),
        evidence: "because".into(),
        input_key: "0".into(),
    }
}

pub(crate) fn verified(number: u32) -> Verified {
    Verified {
        candidate: id(number),
        oracle: Oracle {
            fail_to_pass: vec!["tests/test_a.py::test_a[1 é]".into()],
            pass_to_pass: vec!["tests/test_a.py::test_b".into(), "tests/test_a.py::test_c".into()],
            flaky: vec![FlakyTest::new("tests/test_a.py::test_d".into(), (0, 3), (2, 3))],
            before_gold: vec![TestStatus::CollectionError],
            order_dependent: vec![OrderDependentTest {
                test: "tests/test_a.py::test_e".into(),
                before: TestStatus::Failed,
                before_shuffled: Some(TestStatus::Failed),
                after: TestStatus::Passed,
                after_shuffled: Some(TestStatus::Failed),
                after_alone: None,
            }],
            order_seed: Some("5eed".into()),
            runs_before: 3,
            runs_after: 3,
            ..Oracle::default()
        },
        strength: None,
        environment: Environment {
            key: "e0".into(),
            name: "pantry".into(),
            interpreter: "3.11.7".into(),
            exclude_newer: "2024-10-03T08:00:00Z".parse().unwrap(),
            lock: BlobId::of(LOCK),
            resolver: "uv 0.9.1".into(),
            constraints: vec![Constraint {
                requirement: "werkzeug<3".into(),
                reason: "a broken pair".into(),
            }],
            newer: vec![],
            left_out: vec![],
            requirements_after: None,
        },
        setup: Setup {
            install: vec!["-e .[test]".into()],
            runner: "pytest".into(),
            args: vec!["-q".into()],
            variables: [("TZ".into(), "UTC".into())].into(),
        },
    }
}

/// Pull requests 2 (kept), 3 (dropped), 5 (undecided and dropped), 8 (infra), 10 (a project outcome), 12 (kept,
/// with an undecided rule), 14 (dropped by its oracle), 20 (never merged).
pub(crate) fn input() -> EmitInput {
    let (keep, drop, undecided) = (Verdict::Keep, Verdict::Drop, Verdict::Undecided);
    let rule = |id: &str| Step::Rule {
        id: id.into(),
        reason: format!("{id}!"),
        source: "a paper".into(),
    };
    let found = [2, 3, 5, 8, 10, 12, 14];
    let mut decisions = vec![
        decision(20, "mine-merged", drop, false),
        decision(3, "changes-tests", drop, false),
        decision(5, "changes-tests", keep, true),
        decision(5, "resolves-issue", undecided, false),
        decision(12, "resolves-issue", undecided, true),
        decision(14, "fails-before", drop, false),
    ];
    decisions.extend([2, 8, 10, 12, 14].map(|number| decision(number, "changes-tests", keep, true)));
    decisions.extend([2, 8, 10, 14].map(|number| decision(number, "resolves-issue", keep, true)));
    decisions.extend([2, 12].map(|number| decision(number, "fails-before", keep, true)));
    let ended = |number, outcome, reason: &str| Ended {
        candidate: id(number),
        stage: Stage::Verify,
        outcome,
        reason: reason.into(),
    };
    let mut judged = verified(14);
    judged.oracle = Oracle {
        runs_before: 3,
        runs_after: 3,
        ..Oracle::default()
    };
    EmitInput {
        recipe: Recipe {
            dataset: Dataset {
                name: "sample".into(),
                version: "0.1.0".into(),
                description: "Small".into(),
            },
            source: recipe::Source::default(),
            split: recipe::Split::default(),
            notes: crate::recipe::notes::NotesRecipe::default(),
            rules: vec![],
            environment: vec![],
            detection: recipe::Detection::default(),
            room: crate::recipe::room::RoomRecipe::default(),
            verification: recipe::Verification::default(),
            emission: Emission {
                problem_statement: ProblemStatement::Message,
            },
            variants: vec![],
            strip: crate::recipe::variants::Policy::default(),
        },
        recipe_text: "[dataset]\nname = \"sample\"\nversion = \"0.1.0\"\n".into(),
        tool_version: "0.1.0".into(),
        sources: vec![Source {
            repo: "quarry-bench/pantry".parse().unwrap(),
            branch: "main".into(),
            commit: commit(9),
            refs_sha256: BlobId::of(b"refs").to_string(),
            license: Some("Apache-2.0".to_owned()),
        }],
        steps: vec![
            rule("changes-tests"),
            rule("resolves-issue"),
            Step::Stage(Stage::Verify),
            rule("fails-before"),
        ],
        candidates: found.map(candidate).to_vec(),
        decisions,
        ended: vec![
            ended(2, AttemptOutcome::Done, "ok"),
            ended(8, AttemptOutcome::Infra, "time-out"),
            ended(10, AttemptOutcome::Project, "does-not-install"),
            ended(12, AttemptOutcome::Done, "ok"),
            ended(14, AttemptOutcome::Done, "ok"),
        ],
        verified: vec![verified(2), verified(12), judged],
        changes: [2, 12].map(|number| (id(number), change())).into_iter().collect(),
        variants: BTreeMap::new(),
        tasks: BTreeMap::new(),
        locks: BTreeMap::from([(BlobId::of(LOCK), LOCK.to_vec())]),
    }
}
