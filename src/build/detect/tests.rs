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
