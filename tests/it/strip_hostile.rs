//! What the system refuses to read, and what is too large to look into, gets a status; the rest is stripped all the same.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::program::QUARRY;

/// A user that owns nothing here.
const NOBODY: u32 = 65534;

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn report(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn status<'report>(report: &'report Value, path: &str) -> &'report Value {
    let files = report["files"].as_array().unwrap();
    files.iter().find(|file| file["path"] == path).unwrap()
}

/// Strips a folder in which what is named is closed, as somebody to whom it is, to where the arguments say.
fn strip_closed(temp: &Path, closed: &[&str], arguments: &[&str]) -> Output {
    let source = temp.join("source");
    fs::create_dir_all(source.join("closed")).unwrap();
    for name in ["open.py", "secret.py", "closed/inner.py"] {
        fs::write(source.join(name), "x = 1  # c\n").unwrap();
    }
    for name in closed {
        allow(&source.join(name), 0o000);
    }
    let results = temp.join("results");
    fs::create_dir(&results).unwrap();
    for folder in [temp, &results, &source] {
        allow(folder, 0o777);
    }
    // Nothing is closed to root, so that root asks as somebody else, by a copy that somebody else may run.
    let program = temp.join("quarry");
    let is_root = fs::metadata(temp).unwrap().uid() == 0;
    let mut command = if is_root {
        fs::copy(QUARRY, &program).unwrap();
        allow(&program, 0o755);
        let mut command = Command::new(&program);
        command.uid(NOBODY).gid(NOBODY);
        command
    } else {
        Command::new(QUARRY)
    };
    let said = command
        .current_dir(&results)
        .args(["strip", "../source", "--report", "report.json"])
        .args(arguments)
        .output()
        .unwrap();
    allow(&source.join("closed"), 0o755);
    said
}

/// The exit code and what was said on standard error.
fn end(output: &Output) -> (Option<i32>, String) {
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn in_place_what_cannot_be_read_is_said_to_stay() {
    let temp = tempfile::tempdir().unwrap();
    let closed = ["secret.py", "closed"];
    let (code, said) = end(&strip_closed(temp.path(), &closed, &["--in-place", "--force"]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`secret.py` is left as it was"), "{said}");
    assert!(said.contains("`closed` is left as it was"), "{said}");
    assert!(!said.contains("not in the result"), "{said}");
    let source = temp.path().join("source");
    assert_eq!(fs::read(source.join("open.py")).unwrap(), b"x = 1\n");
    assert_eq!(fs::read(source.join("closed/inner.py")).unwrap(), b"x = 1  # c\n");
}

#[test]
fn a_file_that_cannot_be_read_is_told_and_the_rest_is_stripped() {
    let temp = tempfile::tempdir().unwrap();
    let (code, said) = end(&strip_closed(temp.path(), &["secret.py"], &["--out", "out"]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`secret.py` is not in the result"), "{said}");
    let results = temp.path().join("results");
    assert_eq!(fs::read(results.join("out/open.py")).unwrap(), b"x = 1\n");
    assert_eq!(fs::read(results.join("out/closed/inner.py")).unwrap(), b"x = 1\n");
    assert!(!results.join("out/secret.py").exists());
    let report = report(&results.join("report.json"));
    assert_eq!(status(&report, "secret.py")["untouched"]["reason"], "unreadable");
}

#[test]
fn a_folder_that_cannot_be_entered_is_told_and_the_exit_code_says_so() {
    let temp = tempfile::tempdir().unwrap();
    let (code, said) = end(&strip_closed(temp.path(), &["closed"], &["--out", "out"]));
    assert_eq!(code, Some(1), "{said}");
    let results = temp.path().join("results");
    assert_eq!(fs::read(results.join("out/secret.py")).unwrap(), b"x = 1\n");
    assert!(!results.join("out/closed").exists());
    let report = report(&results.join("report.json"));
    let skipped = &report["skipped"][0];
    assert_eq!(skipped["path"], "closed");
    assert_eq!(skipped["refused"], true);
    assert!(
        skipped["reason"].as_str().unwrap().contains("denied"),
        "{skipped}"
    );
}

#[test]
fn a_line_of_a_hundred_megabytes_is_left_as_it_is() {
    let temp = tempfile::tempdir().unwrap();
    let source = temp.path().join("source");
    fs::create_dir(&source).unwrap();
    let line = [b"x = '".as_slice(), &vec![b'a'; 100 << 20], b"'  # c\n"].concat();
    fs::write(source.join("line.py"), &line).unwrap();
    fs::write(source.join("a.py"), "x = 1  # c\n").unwrap();
    let target = temp.path().join("out");
    let said = Command::new(QUARRY)
        .args(["--quiet", "strip"])
        .arg(&source)
        .arg("--out")
        .arg(&target)
        .arg("--report")
        .arg(temp.path().join("report.json"))
        .output()
        .unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(fs::read(target.join("line.py")).unwrap() == line);
    assert_eq!(fs::read(target.join("a.py")).unwrap(), b"x = 1\n");
    let report = report(&temp.path().join("report.json"));
    assert_eq!(status(&report, "line.py")["untouched"]["reason"], "too-large");
}
