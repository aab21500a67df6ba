//! A small package whose environment is found, as a mirror with pull requests, and the run that finds it.

use std::path::Path;
use std::process::Command;

use super::index::Index;
use crate::program::{quarry, succeed};

/// A test module that unittest runs: one test passes, and this one is about `twice(2)`.
pub(super) fn module(about: &str) -> String {
    format!(
        "import unittest\nimport pantry\n\n\nclass T(unittest.TestCase):\n    def test_none(self):\n        \
         self.assertEqual(pantry.twice(0), 0)\n\n    def test_two(self):\n        {about}\n"
    )
}

/// What a command printed.
pub(super) fn printed(command: &mut Command) -> String {
    String::from_utf8(succeed(command).stdout).unwrap()
}

pub(super) const RECIPE: &str = r#"
[dataset]
name = "found"
version = "0.1.0"

[[rule]]
id = "fails-before"
keep = "size(oracle.fail_to_pass) >= 1"
reason = "a test"
source = "a test"

[verification]
runs = 1
"#;

/// A commit's files: path and text.
pub(super) type Files<'a> = &'a [(&'a str, &'a str)];

fn git(folder: &Path, date: &str, arguments: &[&str]) {
    succeed(
        Command::new("git")
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", date)
            .env("GIT_COMMITTER_DATE", date)
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(["-c", "init.defaultBranch=main"])
            .args(arguments),
    );
}

fn write(root: &Path, files: Files<'_>) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// A mirror with these changes, each a merged pull request, numbered from 1.
pub(super) fn mirror(root: &Path, base: Files<'_>, changes: &[Files<'_>]) {
    std::fs::create_dir_all(root).unwrap();
    let start = "2021-06-01T00:00:00Z";
    git(root, start, &["init", "-q"]);
    write(root, base);
    git(root, start, &["add", "-A"]);
    git(root, start, &["commit", "-qm", "Begin"]);
    for (number, change) in (1..).zip(changes) {
        let day = format!("2021-06-{:02}T00:00:00Z", 1 + number);
        let subject = format!("Merge pull request #{number} from t/change");
        let head = format!("refs/pull/{number}/head");
        git(root, &day, &["checkout", "-qb", "change"]);
        write(root, change);
        git(root, &day, &["commit", "-qam", "Double"]);
        git(root, &day, &["update-ref", &head, "HEAD"]);
        git(root, &day, &["checkout", "-q", "main"]);
        git(root, &day, &["merge", "-q", "--no-ff", "-m", &subject, "change"]);
        git(root, &day, &["branch", "-qD", "change"]);
    }
}

/// What the ledger says was tried, for a failing test.
pub(super) fn tried(workspace: &Path) -> String {
    let workspace = camino::Utf8Path::from_path(workspace).unwrap();
    let store = quarry::store::Store::open(&quarry::workspace::Workspace::at(workspace).ledger()).unwrap();
    let attempts = store.attempts(None, None).unwrap();
    let lines = attempts.iter().map(|attempt| format!("{attempt:?}\n"));
    lines.collect()
}

/// The package's files, and more.
pub(super) fn base<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut files = vec![
        ("pyproject.toml", super::PYPROJECT),
        ("tools/backend.py", super::BACKEND),
        ("package.txt", "name=pantry\nversion=1.0\n"),
        ("module.py", ""),
        ("src/pantry.py", "def twice(number):\n    return number\n"),
        ("Makefile", "test:\n\tpython -m unittest discover -s tests\n"),
    ];
    for (path, text) in more {
        files.retain(|(known, _)| known != path);
        files.push((path, text));
    }
    files
}

/// A run on the folder's `mirror`, by [`RECIPE`] with this version, against this index.
pub(super) fn run(workspace: &Path, index: &Index, version: &str) -> Command {
    let recipe = workspace.join("found.toml");
    std::fs::write(&recipe, RECIPE.replace("0.1.0", version)).unwrap();
    let mut command = quarry(workspace);
    command
        .env("UV_DEFAULT_INDEX", index.url())
        .arg("run")
        .arg(&recipe)
        .args(["--repo", "quarry-bench/pantry", "--mirror"])
        .arg(workspace.join("mirror"));
    command
}
