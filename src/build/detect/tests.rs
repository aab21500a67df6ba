//! Small trees, and what is proposed for them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::*;
use crate::build::python::PythonVersion;
use crate::domain::path::RepoPath;

pub(super) const HERE: [&str; 8] = [
    "3.6.15", "3.7.17", "3.8.18", "3.9.18", "3.10.13", "3.11.7", "3.12.1", "3.13.0",
];

pub(super) fn of(files: &[(&str, &str)], date: &str) -> Detected {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let paths: BTreeSet<RepoPath> = files.keys().map(|path| RepoPath::from(*path)).collect();
    let read = |path: &str| files.get(path).map(|text| text.as_bytes().to_vec());
    let here: Vec<PythonVersion> = HERE.iter().map(|version| version.parse().unwrap()).collect();
    detect(
        Tree {
            paths: &paths,
            read: &read,
        },
        date.parse().unwrap(),
        &here,
    )
}

/// The proposals in short: name, install lines, arguments beyond the usual, variables.
pub(super) fn short(detected: &Detected) -> String {
    let mut text = String::new();
    for proposal in &detected.proposals {
        let environment = &proposal.environment;
        let _ = write!(text, "{}: {}", environment.name, environment.install.join(" | "));
        let usual = crate::recipe::model::Verification::default().args.len();
        if let Some(more) = proposal.args.get(usual..).filter(|more| !more.is_empty()) {
            let _ = write!(text, " ({})", more.join(" "));
        }
        for (name, value) in &environment.env {
            let _ = write!(text, " {name}={value}");
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_group_named_after_tests_comes_before_an_extra_and_a_file() {
    let detected = of(
        &[
            (
                "pyproject.toml",
                "[project]\nname = 'pantry'\nrequires-python = '>=3.10'\n[project.optional-dependencies]\ntest = ['pytest', 'pytest-cov']\n[dependency-groups]\ntests = ['pytest']\n[tool.pytest.ini_options]\naddopts = '-ra --cov -p pytester'\n",
            ),
            (
                "requirements-dev.txt",
                "pytest\n-r other.txt\nhttps://example.org/x.whl\n",
            ),
            ("other.txt", "trustme\n"),
            ("tests/test_a.py", "def test_a(mocker):\n    pass\n"),
        ],
        "2024-01-01T00:00:00Z",
    );
    insta::assert_snapshot!(short(&detected), @r"
    detected-3.12-set-tests: --group tests | pytest-cov | pytest-mock | -e . (-p pytester)
    detected-3.12-set-test: pytest-mock | -e .[test] (-p pytester)
    detected-3.11-set-tests: --group tests | pytest-cov | pytest-mock | -e . (-p pytester)
    detected-3.10-set-tests: --group tests | pytest-cov | pytest-mock | -e . (-p pytester)
    detected-3.12-file-requirements-dev.txt: pytest | -r other.txt | pytest-cov | pytest-mock | -e . (-p pytester)
    detected-3.12-bare: pytest | pytest-cov | pytest-mock | -e . (-p pytester)
    detected-3.11-set-test: pytest-mock | -e .[test] (-p pytester)
    detected-3.10-set-test: pytest-mock | -e .[test] (-p pytester)
    ");
}

#[test]
fn a_job_called_build_with_several_versions_says_what_is_supported() {
    let workflow = "jobs:\n  build:\n    strategy:\n      matrix:\n        python-version: ['3.9', '3.10']\n    steps:\n      - run: make ci\n  wheel-build:\n    steps:\n      - uses: actions/setup-python@v5\n        with: {python-version: '3.8'}\n      - run: python -m build\n";
    let detected = of(
        &[
            ("setup.py", "setup(name='a')\n"),
            (".github/workflows/ci.yml", workflow),
        ],
        "2024-06-01T00:00:00Z",
    );
    let order: Vec<_> = detected
        .interpreters
        .iter()
        .map(|choice| choice.python.as_str())
        .collect();
    assert_eq!(order[..2], ["3.10", "3.9"], "{order:?}");
}

#[test]
fn a_table_of_versions_is_no_list_of_requirements() {
    let pyproject = "[project]\nname = 'a'\n[tool.pdm.dev-dependencies]\npytest = '*'\ntest = ['nose']\n";
    let detected = of(&[("pyproject.toml", pyproject)], "2024-06-01T00:00:00Z");
    for proposal in &detected.proposals {
        assert!(
            !proposal.environment.install.iter().any(|line| line == "*"),
            "{proposal:?}"
        );
    }
}

/// What is said of a proposal's runner and arguments: `what (place): why`.
fn run(detected: &Detected, number: usize) -> String {
    let proposal = &detected.proposals[number];
    let lines = proposal
        .because
        .iter()
        .filter(|origin| origin.what.starts_with("runner ") || origin.what.starts_with("argument "));
    let mut text = proposal.args.join(" ");
    for origin in lines {
        let place = origin.place.as_ref().map_or("-".to_owned(), ToString::to_string);
        let _ = write!(text, "\n{} ({place}): {}", origin.what, origin.why);
    }
    text
}

const RUNTESTS: &str =
    "import argparse\nfrom django.test.utils import get_runner\nparser.add_argument('--parallel')\n";

#[test]
fn a_program_that_uses_unittest_is_run_as_it_is() {
    let files = [
        ("setup.py", "setup(name='pantry')\n"),
        ("tests/runtests.py", RUNTESTS),
        ("tests/basic/tests.py", "import unittest\n"),
    ];
    let date = "2021-06-01T00:00:00Z";
    let quiet = of(&files, date);
    insta::assert_snapshot!(run(&quiet, 0), @r"
    tests/runtests.py --parallel=1
    runner tests/runtests.py (tests/runtests.py): the tree has it for this, and nothing says otherwise
    argument --parallel=1 (tests/runtests.py): outcomes are told by one process
    ");
    assert!(
        !quiet.proposals[0]
            .environment
            .install
            .contains(&"pytest".to_owned())
    );
    let other = quiet
        .proposals
        .iter()
        .find(|proposal| proposal.environment.name.ends_with("-pytest"));
    assert!(other.unwrap().environment.install.contains(&"pytest".to_owned()));
    let tox = "[tox]\nenvlist = py3\n[testenv]\nchangedir = tests\ncommands =\n  {envpython} runtests.py --settings=test_sqlite -v2 {posargs:basic}\n";
    let told = of(&[&files[..], &[("tox.ini", tox)]].concat(), date);
    insta::assert_snapshot!(run(&told, 0), @r"
    tests/runtests.py --parallel=1 --settings=test_sqlite
    runner tests/runtests.py (tox.ini:6): it runs them there, and hands them to unittest
    argument --parallel=1 (tests/runtests.py): outcomes are told by one process
    argument --settings=test_sqlite (tox.ini:6): it says which tests the suite has, or what they need
    ");
    assert_eq!(
        told.notes
            .iter()
            .filter(|note| note.contains("basic"))
            .collect::<Vec<_>>(),
        ["tox.ini:6: `basic` is left out: what is run is chosen for each candidate"]
    );
    let fact = told
        .facts
        .iter()
        .find(|fact| fact.kind == FactKind::Runner)
        .unwrap();
    assert_eq!(fact.value, "tests/runtests.py");
}

#[test]
fn what_pytest_stands_in_for_is_said() {
    let job = |command: &str| {
        format!("jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: {command}\n")
    };
    let with = |command: &str, more: &[(&str, &str)]| {
        let workflow = job(command);
        let files = [
            ("setup.py", "setup(name='a')\n"),
            (".github/workflows/ci.yml", workflow.as_str()),
        ];
        of(&[&files[..], more].concat(), "2024-06-01T00:00:00Z")
    };
    let own = with(
        "bin/test --verbose",
        &[("bin/test", "#!/usr/bin/env python\nimport sympy\nsympy.test()\n")],
    );
    insta::assert_snapshot!(run(&own, 0), @r"
    -p no:cacheprovider -o addopts=
    runner pytest (.github/workflows/ci.yml:5): `bin/test` runs them there, and Quarry takes no outcomes from it: pytest is run in its place
    ");
    assert_eq!(
        own.facts
            .iter()
            .filter(|fact| fact.kind == FactKind::Runner)
            .count(),
        1
    );
    let pytest = with(
        "python runtests.py",
        &[("runtests.py", "import pytest\npytest.main(['-x'])\n")],
    );
    assert!(
        run(&pytest, 0).ends_with("runner pytest (.github/workflows/ci.yml:5): this is how it is run there")
    );
    let shell = with(
        "./scripts/test",
        &[(
            "scripts/test",
            "#!/bin/sh -e\ncoverage run -m pytest -k 'not e2e'\n",
        )],
    );
    insta::assert_snapshot!(run(&shell, 0), @r"
    -p no:cacheprovider -o addopts= -k not e2e
    runner pytest (scripts/test:2): this is how it is run there
    argument -k not e2e (scripts/test:2): it says which tests the suite has, or what they need
    ");
}

#[test]
fn options_of_a_command_stay_or_are_told() {
    let workflow = "jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: |\n          pytest -m 'not slow' -W error --import-mode=importlib --ignore=tests/e2e -p no:randomly tests/unit\n          pytest -m slow --ignore=tests/e2e -p no:randomly tests/slow\n";
    let files = [
        ("setup.py", "setup(name='a')\n"),
        (".github/workflows/ci.yml", workflow),
        ("tests/unit/test_a.py", ""),
        ("tests/slow/test_a.py", ""),
        ("tests/e2e/test_a.py", ""),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = ['-m', 'not net work', '--strict-markers', '--doctest-modules']\n",
        ),
    ];
    let detected = of(&files, "2024-06-01T00:00:00Z");
    let args = &detected.proposals[0].args[4..];
    assert_eq!(
        args,
        [
            "-m",
            "not net work",
            "--import-mode=importlib",
            "--ignore=tests/e2e",
            "-p",
            "no:randomly"
        ]
    );
    insta::assert_snapshot!(detected.notes.iter().filter(|note| !note.starts_with("python ")).cloned().collect::<Vec<_>>().join("\n"), @r"
    .github/workflows/ci.yml:6: `-W error` is left out: it does not say which tests there are
    .github/workflows/ci.yml:6: `-m not slow` is left out: pytest is run 2 times there, and not each time with it
    .github/workflows/ci.yml:6: `tests/unit` is all that is run there; what is run here is chosen for each candidate
    .github/workflows/ci.yml:7: `-m slow` is left out: pytest is run 2 times there, and not each time with it
    .github/workflows/ci.yml:7: `tests/slow` is all that is run there; what is run here is chosen for each candidate
    pyproject.toml:2: `--doctest-modules` of `addopts` is left out: it does not say which tests there are
    ");
}

#[test]
fn what_leads_back_to_itself_is_told_where_it_does() {
    let files = [
        ("setup.py", "setup(name='a')\n"),
        (
            "requirements-test.txt",
            "# tests\n-r base.txt\nhttps://example.org/x.whl\n",
        ),
        (
            "base.txt",
            "six \\\n  ==1.0\n\n-r more.txt\n-r requirements-test.txt\nhttps://example.org/y.whl\n",
        ),
        ("more.txt", "mock\nhttps://example.org/z.whl\n"),
    ];
    let detected = of(&files, "2024-06-01T00:00:00Z");
    let told: Vec<_> = detected
        .notes
        .iter()
        .filter(|note| note.contains(".txt"))
        .collect();
    insta::assert_snapshot!(told.iter().map(|note| note.as_str()).collect::<Vec<_>>().join("\n"), @r"
    base.txt:5: `-r requirements-test.txt` is left out: it leads back to itself
    base.txt:6: `https` is left out: it cannot be locked
    more.txt:2: `https` is left out: it cannot be locked
    requirements-test.txt:3: `https` is left out: it cannot be locked
    ");
    let places: Vec<_> = detected.proposals[0]
        .because
        .iter()
        .filter(|origin| origin.what.contains("six") || origin.what.contains("mock"))
        .map(|origin| origin.place.as_ref().unwrap().to_string())
        .collect();
    assert_eq!(places, ["base.txt:1", "more.txt:1"]);
}

#[test]
fn a_product_of_thousands_of_environments_is_bounded_and_told() {
    let list = format!("py{{36,39}}{}", "-{a,b,c,d,e,f,g,h}".repeat(9));
    let tox = format!(
        "[tox]\nenvlist = {list}\n[testenv]\ndeps = pytest\ncommands = pytest\n[testenv:{list}]\ndeps = six\n"
    );
    let detected = of(
        &[("setup.py", "setup(name='a')\n"), ("tox.ini", &tox)],
        "2021-06-01T00:00:00Z",
    );
    assert!(!detected.proposals.is_empty());
    assert!(
        detected.notes.contains(
            &"tox.ini:2: tox has 4096 and more environments: of those for one Python the first 48 are looked at".to_owned()
        ),
        "{:?}",
        detected.notes
    );
}
