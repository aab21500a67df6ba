//! The second judge with every interpreter here, and what a command line cannot mean.

use std::fs;
use std::process::Command;

use crate::program::QUARRY;

fn strip(arguments: &[&str]) -> Command {
    let mut command = Command::new(QUARRY);
    command.arg("strip").args(arguments);
    command
}

#[test]
fn every_interpreter_judges_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.py");
    let text = "# c\nclass A:\n    'd'\n    x = 1\n    def f(self):\n        'doc'\n        return 2\n";
    fs::write(&file, text).unwrap();
    let variables = std::env::vars().collect();
    let mut pythons: Vec<_> = (quarry::build::SearchPaths::of(&variables)
        .interpreters()
        .into_iter())
    .map(|python| python.executable)
    .collect();
    assert!(!pythons.is_empty());
    pythons.dedup();
    for python in pythons {
        let output = strip(&["--verify-with"])
            .arg(&python)
            .arg(&file)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", python.display());
        let expected = "class A:\n    x = 1\n    def f(self):\n        return 2\n";
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            expected,
            "{}",
            python.display()
        );
    }
    let nobody = strip(&["--verify-with", "no-such-python"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(nobody.status.code(), Some(5), "a single file is judged, too");
}

#[test]
fn what_cannot_be_meant_is_refused_and_the_source_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.py");
    fs::write(&file, "x = 1  # c\n").unwrap();
    let at = file.to_str().unwrap();
    let cases: [&[&str]; 5] = [
        &[at, "--out", at],
        &[at, "--format", "tar"],
        &["-", "--in-place"],
        &[
            folder.path().to_str().unwrap(),
            "--in-place",
            "--force",
            "--format",
            "tar",
        ],
        &[at, "--format", "tree", "--out", "q"],
    ];
    for case in cases {
        assert_eq!(strip(case).output().unwrap().status.code(), Some(2), "{case:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "x = 1  # c\n", "{case:?}");
    }
}
