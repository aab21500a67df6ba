//! The search for an environment, end to end: what a tree asks for is built, what fails is repaired, the repair is told.

use std::path::Path;
use std::process::Command;

use super::index::{Index, metadata};
use crate::program::{quarry, succeed};
use crate::python::python;

const RECIPE: &str = r#"
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
type Files<'a> = &'a [(&'a str, &'a str)];

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

/// A mirror with one merged pull request.
fn mirror(root: &Path, base: Files<'_>, change: Files<'_>) {
    std::fs::create_dir_all(root).unwrap();
    git(root, "2021-06-01T00:00:00Z", &["init", "-q"]);
    write(root, base);
    git(root, "2021-06-01T00:00:00Z", &["add", "-A"]);
    git(root, "2021-06-01T00:00:00Z", &["commit", "-qm", "Begin"]);
    git(root, "2021-06-02T00:00:00Z", &["checkout", "-qb", "change"]);
    write(root, change);
    git(root, "2021-06-02T00:00:00Z", &["commit", "-qam", "Double"]);
    git(
        root,
        "2021-06-02T00:00:00Z",
        &["update-ref", "refs/pull/1/head", "HEAD"],
    );
    git(root, "2021-06-03T00:00:00Z", &["checkout", "-q", "main"]);
    let subject = "Merge pull request #1 from t/change";
    git(
        root,
        "2021-06-03T00:00:00Z",
        &["merge", "-q", "--no-ff", "-m", subject, "change"],
    );
}

/// `late` 2 came after the base commit, which asks for it. `larder` takes a name from `shelf` that `shelf` 2 no longer has; nothing in its metadata says so.
fn stock(index: &Index) {
    let python = python();
    for (version, moment, source) in [
        (
            "1.4",
            "2020-01-01T00:00:00Z",
            "def quote(text):\n    return text\n",
        ),
        (
            "2.0",
            "2021-01-01T00:00:00Z",
            "def escape(text):\n    return text\n",
        ),
    ] {
        index.wheel(&python, "shelf", version, moment, &[("shelf.py", source)]);
    }
    for (version, moment) in [("1.0", "2020-01-04T00:00:00Z"), ("2.0", "2022-01-01T00:00:00Z")] {
        index.wheel(&python, "late", version, moment, &[("late.py", "")]);
    }
    index.wheel(
        &python,
        "larder",
        "0.3",
        "2020-01-02T00:00:00Z",
        &[
            ("larder.py", "from shelf import quote\n"),
            (
                "larder-0.3.dist-info/METADATA",
                &metadata("larder", "0.3", &["shelf"]),
            ),
        ],
    );
    index.wheel(
        &python,
        "pyyaml",
        "5.4",
        "2020-01-03T00:00:00Z",
        &[("yaml.py", "")],
    );
}

/// What the ledger says was tried, for a failing test.
fn tried(workspace: &Path) -> String {
    let workspace = camino::Utf8Path::from_path(workspace).unwrap();
    let store = quarry::store::Store::open(&quarry::workspace::Workspace::at(workspace).ledger()).unwrap();
    let attempts = store.attempts(None, None).unwrap();
    let lines = attempts.iter().map(|attempt| format!("{attempt:?}\n"));
    lines.collect()
}

#[test]
fn what_a_build_and_its_first_run_lack_is_repaired_and_the_reasons_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open();
    stock(&index);
    let base = [
        ("pyproject.toml", super::PYPROJECT),
        ("tools/backend.py", super::BACKEND),
        (
            "package.txt",
            "name=pantry\nversion=1.0\nrequires=larder\nrequires=late==2.0\n",
        ),
        ("module.py", ""),
        ("src/pantry.py", "def twice(number):\n    return number\n"),
        ("Makefile", "test:\n\tpython -m unittest discover -s tests\n"),
        (
            "tests/test_pantry.py",
            "import unittest\nimport larder, yaml, pantry\n\n\nclass T(unittest.TestCase):\n    def test_none(self):\n        \
             self.assertEqual(pantry.twice(0), 0)\n\n    def test_two(self):\n        self.assertTrue(pantry.twice(2))\n",
        ),
    ];
    let test = base[6]
        .1
        .replace("assertTrue(pantry.twice(2))", "assertEqual(pantry.twice(2), 4)");
    let change = [
        ("src/pantry.py", "def twice(number):\n    return 2 * number\n"),
        ("tests/test_pantry.py", test.as_str()),
    ];
    let mirror_path = folder.path().join("mirror");
    mirror(&mirror_path, &base, &change);
    let recipe = folder.path().join("found.toml");
    std::fs::write(&recipe, RECIPE).unwrap();
    let mut command = quarry(folder.path());
    command
        .env("UV_DEFAULT_INDEX", index.url())
        .arg("run")
        .arg(&recipe)
        .args(["--repo", "quarry-bench/pantry", "--mirror"])
        .arg(&mirror_path);
    let done = succeed(command.arg("-v"));
    let told = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    let version = folder.path().join("manifests/found/0.1.0");
    assert!(version.exists(), "{told}\n{}", tried(folder.path()));
    let manifest = std::fs::read_to_string(version.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let environment = &manifest["environments"][0];
    let constraint = &environment["constraints"][0];
    assert_eq!(constraint["requirement"], "shelf<2", "{environment}");
    let reason = constraint["reason"].as_str().unwrap();
    assert!(
        reason.contains("cannot import name 'quote' from 'shelf'"),
        "{reason}"
    );
    let newer = &environment["newer"][0];
    assert_eq!(newer["distribution"], "late", "{environment}");
    assert_eq!(newer["until"], "2022-01-01T01:00:00Z", "{environment}");
    let instances = std::fs::read_to_string(version.join("instances.jsonl")).unwrap();
    let instance: serde_json::Value = serde_json::from_str(instances.lines().next().unwrap()).unwrap();
    assert_eq!(instances.lines().count(), 1);
    assert_eq!(
        instance["FAIL_TO_PASS"].as_array().unwrap().len(),
        1,
        "{instance}"
    );
    assert_eq!(
        instance["PASS_TO_PASS"].as_array().unwrap().len(),
        1,
        "{instance}"
    );
}
