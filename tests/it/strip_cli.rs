//! `quarry strip` as a command: what it writes where, what it refuses, and the hints it gives.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::program::QUARRY;

fn strip(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(QUARRY)
        .args(arguments)
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// A refusal: its exit code, and a word that its message and one that its hint has.
fn refused(output: &Output, code: i32, message: &str, hint: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    let (error, hints) = said
        .split_once("hint: ")
        .unwrap_or_else(|| panic!("no hint: {said}"));
    assert!(error.contains(message), "{said}");
    assert!(hints.contains(hint), "{said}");
}

#[test]
fn one_file_has_totals_and_a_report_like_a_tree() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    fs::write(folder.join("a.py"), "'''doc'''\nx = 1  # c\n").unwrap();
    let done = strip(
        folder,
        &["--json", "strip", "a.py", "--out", "b.py", "--report", "r.json"],
    );
    assert_eq!(document(&done)["totals"]["comments"], 1);
    assert_eq!(fs::read(folder.join("b.py")).unwrap(), b"x = 1\n");
    let report: Value = serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
    assert_eq!(report["files"][0]["path"], "a.py");
    assert_eq!(report["totals"]["removed"]["docstring"], 1);
    let done = strip(folder, &["--json", "strip", "a.py", "--in-place", "--force"]);
    assert_eq!(document(&done)["totals"]["stripped"], 1);
    let done = strip(folder, &["strip", "a.py", "--out", "c.py", "--report", "-"]);
    assert_eq!(document(&done)["totals"]["unchanged"], 1);
}

#[test]
fn standard_output_takes_one_document() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/a.py"), "x = 1  # c\n").unwrap();
    for arguments in [
        &["--json", "strip", "src/a.py"][..],
        &["--json", "strip", "-"],
        &["strip", "src/a.py", "--report", "-"],
        &["--json", "strip", "src", "--format", "tar"],
        &["strip", "src", "--format", "tar", "--out", "-", "--report", "-"],
    ] {
        refused(&strip(folder, arguments), 2, "to standard output", "--out FILE");
    }
    let done = strip(
        folder,
        &["--json", "strip", "src", "--format", "tar", "--out", "a.tar"],
    );
    assert_eq!(document(&done)["totals"]["comments"], 1);
}

#[test]
fn a_report_is_written_over_nothing_that_is_read_or_made() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/a.py"), "x = 1  # c\n").unwrap();
    for report in ["src/a.py", "src/new.json", "dst/a.py", "src/../dst/r"] {
        fs::create_dir_all(folder.join("dst")).unwrap();
        let done = strip(folder, &["strip", "src", "--out", "dst", "--report", report]);
        refused(&done, 2, "it lies in", "beside");
    }
    let done = strip(
        folder,
        &["strip", "src/a.py", "--out", "b.py", "--report", "src/a.py"],
    );
    refused(&done, 2, "it lies in", "beside");
    assert_eq!(fs::read(folder.join("src/a.py")).unwrap(), b"x = 1  # c\n");
}

#[test]
fn a_refusal_says_what_to_do() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/a.py"), "x = 1  # c\n").unwrap();
    refused(
        &strip(folder, &["strip"]),
        2,
        "tell what to strip",
        "--commit SHA --mirror PATH",
    );
    refused(
        &strip(folder, &["strip", "nope"]),
        3,
        "read `nope`",
        "check the path",
    );
    refused(
        &strip(folder, &["strip", "nope.py"]),
        3,
        "read `nope.py`",
        "check the path",
    );
    let done = strip(folder, &["strip", "src", "--in-place"]);
    refused(&done, 3, "no work tree", "--out DST");
    let done = strip(folder, &["strip", "src/a.py", "--out", "none/b.py"]);
    refused(&done, 3, "write `none/b.py`", "can be written");

    let done = strip(
        folder,
        &["strip", "src", "--out", "dst", "--verify-with", "no-such-python"],
    );
    assert_eq!(done.status.code(), Some(5), "{done:?}");
    assert!(!folder.join("dst").exists());

    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "commit",
            "-q",
            "-m",
            "start",
        ],
    ] {
        let done = Command::new("git")
            .current_dir(folder.join("src"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    let of = |commit: &str| {
        strip(
            folder,
            &["strip", "--commit", commit, "--mirror", "src", "--out", "out"],
        )
    };
    refused(&of(""), 3, "find ``", "name a commit");
    refused(&of("HEAD^{tree}"), 3, "it is a tree", "name a commit");
    let done = strip(
        folder,
        &[
            "strip", "--commit", "HEAD", "--mirror", "src", "--format", "tree", "--out", "x",
        ],
    );
    refused(&done, 2, "write a git tree to a path", "leave --out out");
}

#[test]
fn a_variant_that_strips_nothing_prints_no_noughts() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/claude.md"), "be kind\n").unwrap();
    fs::write(folder.join("src/a.py"), "x = 1  # c\n").unwrap();
    let table = |variant: &str| {
        let done = strip(folder, &["strip", "src", "--variant", variant, "--out", variant]);
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    insta::assert_snapshot!(table("full"), @"full                     every file as it is");
    insta::assert_snapshot!(table("no-context"), @r"
    no-context               every file as it is, without those that instruct coding agents
    agent file removed       claude.md (Claude Code)
    ");
    assert!(!folder.join("no-context/claude.md").exists());
    assert!(folder.join("full/claude.md").exists());
}
