//! The small applier against the git program.

use std::fs;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::{apply, same_changes};

/// Runs the git program in a folder of its own; its output, or `None` when it fails (`diff` fails by saying 1).
fn git(dir: &std::path::Path, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    use std::io::Write as _;
    let mut child = Command::new("git")
        .args(["-c", "core.autocrlf=false"])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.success() || arguments.contains(&"--no-index")).then_some(output.stdout)
}

fn diff(old: &[u8], new: &[u8]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    for (side, content) in [("a", old), ("b", new)] {
        fs::create_dir(dir.path().join(side)).unwrap();
        fs::write(dir.path().join(side).join("f"), content).unwrap();
    }
    git(
        dir.path(),
        &["diff", "--no-index", "--no-prefix", "--text", "a/f", "b/f"],
        b"",
    )
    .unwrap()
}

fn by_git(patch: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), content).unwrap();
    git(dir.path(), &["apply", "--whitespace=nowarn", "-"], patch)?;
    fs::read(dir.path().join("f")).ok()
}

/// A text of few different lines, so that hunks find themselves at many places.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![Just("a"), Just("b"), Just(""), Just("c\r"), Just("- x")];
    (proptest::collection::vec(line, 0..30), any::<bool>()).prop_map(|(lines, ends)| {
        let mut text = lines.join("\n");
        if ends && !text.is_empty() {
            text.push('\n');
        }
        text.into_bytes()
    })
}

/// A text with some lines taken out or put in.
fn edited(text: &[u8], edits: &[(usize, Option<&'static str>)]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    for (at, edit) in edits {
        let at = at % (lines.len() + 1);
        match edit {
            Some(line) => lines.insert(at, line.as_bytes()),
            None if at < lines.len() => {
                lines.remove(at);
            }
            None => {}
        }
    }
    lines.concat()
}

fn edits() -> impl Strategy<Value = Vec<(usize, Option<&'static str>)>> {
    let edit = prop_oneof![
        Just(None),
        Just(Some("a\n")),
        Just(Some("new\n")),
        Just(Some("b\n"))
    ];
    proptest::collection::vec((0_usize..40, edit), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_applies_what_git_applies_to_what_git_makes_of_it(old in text(), change in edits(), drift in edits()) {
        let patch = diff(&old, &edited(&old, &change));
        if patch.is_empty() {
            return Ok(());
        }
        let base = edited(&old, &drift);
        let ours = apply(&patch, &base);
        // Git takes a last line without an end for one with: that much more strict we are.
        if ours.is_none() && patch.windows(2).any(|two| two == b"\n\\") {
            return Ok(());
        }
        // Git will not create or delete the file here: both sides hold a line, or say nothing.
        if base.is_empty() || ours.as_ref().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        prop_assert_eq!(ours, by_git(&patch, &base), "{}", String::from_utf8_lossy(&patch));
    }

    #[test]
    fn a_diff_turns_its_old_side_into_its_new_one(old in text(), new in text()) {
        let patch = diff(&old, &new);
        prop_assume!(!patch.is_empty());
        prop_assert_eq!(apply(&patch, &old), Some(new));
    }

    #[test]
    fn any_bytes_are_read_without_a_fault(section in "(@@ -[0-3](,[0-3])? \\+[0-3](,[0-3])? @@|[-+ \\\\][ab]?|diff|\n){0,20}") {
        apply(section.as_bytes(), b"a\nb\na\n");
        prop_assert!(same_changes(section.as_bytes(), section.as_bytes()));
    }
}

#[test]
fn the_same_change_elsewhere_is_the_same_change() {
    let section = |at: u32, context: &str, added: &str| {
        format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -{at},2 +{at},2 @@ def f():\n {context}\n-old\n+{added}\n").into_bytes()
    };
    assert!(same_changes(&section(1, "x", "new"), &section(9, "y", "new")));
    assert!(!same_changes(&section(1, "x", "new"), &section(1, "x", "other")));
    assert!(!same_changes(&section(1, "x", "new"), b"Binary files differ\n"));
}
