//! Paths that real projects have, and the part each belongs to.

use proptest::prelude::*;

use super::{Cut, Splitter, section};
use crate::domain::diff::file_changes;
use crate::domain::patch::Part;
use crate::domain::path::RepoPath;
use crate::recipe::model::{Split, SplitMode};

fn defaults() -> Splitter {
    Splitter::new(&Split::default()).unwrap()
}

fn swebench() -> Splitter {
    Splitter::new(&Split {
        mode: SplitMode::Swebench,
        ..Split::default()
    })
    .unwrap()
}

fn check(part: Part, paths: &[&str]) {
    for path in paths {
        assert_eq!(defaults().part(&(*path).into()), Some(part), "{path}");
    }
}

#[test]
fn source_is_source_whatever_it_sounds_like() {
    check(
        Part::Gold,
        &[
            "src/_pytest/python.py",
            "src/_pytest/assertion/rewrite.py",
            "django/test/client.py",
            "django/test/utils.py",
            "lib/matplotlib/testing/compare.py",
            "numpy/testing/_private/utils.py",
            "src/flask/testing.py",
            "astropy/utils/latest.py",
            "contest/models.py",
            "src/contest/latest.py",
            "attestation/tester.py",
            "sklearn/utils/_testing.py",
            "pylint/testutils/lint_module_test_case.py",
            "src/requests/utils.py",
            "requests.py",
            "setup.py",
            "setuptools/command/test.py",
            "django/core/management/commands/test.py",
            "botocore/docs/method.py",
            "sphinx/ext/doctest.py",
            "src/testing/helpers.py",
            "protest/a.py",
            "pkg/templates/page.html",
            "cookie/templates/README_body.md",
            "pkg/data/table.json",
            "news/models.py",
            "django/contrib/admin/static/x.js",
            "Lib/unittest/case.py",
            "pkg/__init__.pyi",
            "src/module.c",
            "changes/api.py",
            "pkg/history.py",
            "src/pip/_internal/commands/install.py",
            "src/security.py",
            "pkg/releases/data.txt",
        ],
    );
}

#[test]
fn tests_and_their_data_are_tests() {
    check(
        Part::Test,
        &[
            "tests/test_requests.py",
            "tests/static/config.toml",
            "test_requests.py",
            "pandas/tests/io/data/a.csv",
            "astropy/modeling/tests/__init__.py",
            "conftest.py",
            "src/pkg/conftest.py",
            "doc/en/conftest.py",
            "testing/test_config.py",
            "testing/example_scripts/README.rst",
            "pylint/test/functional/a.py",
            "pylint/test/unittest_lint.py",
            "pylint/test/input/x.txt",
            "Lib/test/test_os.py",
            "Tests/images/a.png",
            "flask/testsuite/basic.py",
            "pkg/foo_test.py",
            "app/tests.py",
            "integration_tests/run.py",
            "unit-tests/a.c",
            "test/units/a.py",
            "tests/functional/m/message.txt",
            "tests/CHANGES.rst",
            "tests/docs/index.rst",
            "src/test/java/A.java",
            "web/app.spec.ts",
            "pkg/x_test.go",
            "tests/requirements.txt",
            "test.py",
            "examples/tutorial/tests/test_auth.py",
            "tests/.coveragerc",
            "src/pkg/testdata/a.bin",
        ],
    );
}

#[test]
fn documentation_is_documentation() {
    check(
        Part::Docs,
        &[
            "docs/api.rst",
            "doc/source/conf.py",
            "docs/conf.py",
            "docs/_static/a.png",
            "docs_src/tutorial/first.py",
            "README.rst",
            "README",
            "CONTRIBUTING.md",
            "guide.md",
            "src/pkg/README.md",
            "packages/a/docs/index.md",
            "doc/data/messages/b/bad-name/good.py",
            "doc/en/example/assertion/failure_demo.py",
            "examples/first.py",
            "docs/testing.rst",
            "docs/requirements.txt",
            "pkg/guide.rst",
            "doc/whatsnew.py",
            "doc/3.11.rst",
            "doc/guide.feature.rst",
        ],
    );
}

#[test]
fn the_rest_is_other() {
    check(
        Part::Other,
        &[
            ".github/workflows/tests.yml",
            ".pre-commit-config.yaml",
            ".travis.yml",
            "tox.ini",
            "pyproject.toml",
            "setup.cfg",
            "requirements.txt",
            "requirements/tests.txt",
            "dev-requirements.txt",
            "test-requirements.txt",
            "uv.lock",
            "poetry.lock",
            "pkg/yarn.lock",
            "CHANGES",
            "CHANGES.rst",
            "HISTORY.md",
            "changelog/123.bugfix.rst",
            "docs/changelog.rst",
            "doc/en/changelog.rst",
            "doc/whatsnew/fragments/8.bugfix",
            "doc/5934.feature.rst",
            "docs/+one.bugfix.md",
            "docs/releases/4.2.txt",
            "doc/source/whatsnew/v1.0.rst",
            "news/12.feature.md",
            "airflow-core/newsfragments/1.rst",
            "AUTHORS",
            "AUTHORS.rst",
            "LICENSE",
            "MANIFEST.in",
            "Makefile",
            "noxfile.py",
            "scripts/release.py",
            "codecov.yml",
            "ChangeLog",
            "doc/users/next_whats_new/a.rst",
            "news/.gitignore",
            ".gitignore",
            "src/pkg/CHANGELOG.md",
        ],
    );
}

#[test]
fn the_recipe_has_the_first_word() {
    let list = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    let splitter = Splitter::new(&Split {
        mode: SplitMode::Paths,
        test: list(&["src/pkg/testing/**"]),
        docs: list(&["*.py"]),
        gold: list(&["tests/helpers/*.py", "pyproject.toml"]),
        other: list(&["**/generated/**"]),
    })
    .unwrap();
    for (path, part) in [
        ("src/pkg/testing/a/b.py", Part::Test),
        ("src/pkg/b.py", Part::Gold),
        ("b.py", Part::Docs),
        ("tests/helpers/a.py", Part::Gold),
        ("tests/helpers/a/b.py", Part::Test),
        ("pyproject.toml", Part::Gold),
        ("src/generated/x.py", Part::Other),
    ] {
        assert_eq!(splitter.part(&path.into()), Some(part), "{path}");
    }
    let error = Splitter::new(&Split {
        docs: list(&["a{b"]),
        ..Split::default()
    })
    .unwrap_err();
    assert!(error.to_string().contains("`a{b` in `split.docs`"), "{error}");
    assert!(!error.hints().is_empty());
}

#[test]
fn the_published_rule_reads_words() {
    for (path, part) in [
        ("src/_pytest/python.py", Some(Part::Gold)),
        ("testing/test_config.py", Some(Part::Test)),
        ("django/test/client.py", Some(Part::Test)),
        ("lib/latest.py", Some(Part::Gold)),
        ("tests/data.json", Some(Part::Test)),
        ("docs/a.rst", None),
        ("setup.cfg", None),
        ("a b_Test.txt", Some(Part::Test)),
        ("conftest.py", Some(Part::Gold)),
    ] {
        assert_eq!(swebench().part(&path.into()), part, "{path}");
    }
    let renamed =
        file_changes(b"diff --git a/tests/a.py b/src/a.py\nrename from tests/a.py\nrename to src/a.py\n");
    assert_eq!(swebench().part_of(&renamed[0]), Some(Part::Test));
    assert_eq!(defaults().part_of(&renamed[0]), Some(Part::Gold));
}

/// A row of the published data: the joined patches, and the file sets of each.
type Row = (String, Vec<RepoPath>, Vec<RepoPath>);

fn paths(patch: &str) -> Vec<RepoPath> {
    file_changes(patch.as_bytes())
        .into_iter()
        .map(|file| file.path)
        .collect()
}

/// The published rows where the environment names the file; rows of the same form, made here, where it does not.
#[expect(
    clippy::disallowed_methods,
    reason = "a test may be told by the environment where the published data is"
)]
fn rows() -> Vec<Row> {
    let text = |path: &str| {
        format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n")
    };
    let made = |gold: &[&str], test: &[&str]| {
        let join = |list: &[&str]| list.iter().map(|path| text(path)).collect::<String>();
        (join(test) + &join(gold), paths(&join(gold)), paths(&join(test)))
    };
    let Some(file) = std::env::var_os("QUARRY_LITE") else {
        return vec![
            made(
                &["src/_pytest/python.py", "lib/matplotlib/axes.py"],
                &["testing/python/collect.py"],
            ),
            made(
                &["django/db/models/fields.py"],
                &["tests/model_fields/tests.py", "tests/a.json"],
            ),
        ];
    };
    let published = std::fs::read_to_string(file).unwrap();
    let field = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
    published
        .lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let (solution, judge) = (field(&row, "patch"), field(&row, "test_patch"));
            (judge.clone() + &solution, paths(&solution), paths(&judge))
        })
        .collect()
}

#[test]
fn the_published_file_sets_come_out() {
    let rows = rows();
    let mut wrong = vec![];
    for (joined, gold, test) in &rows {
        let cut = swebench().cut(joined.as_bytes(), &file_changes(joined.as_bytes()));
        let got = |part: &[u8]| {
            file_changes(part)
                .into_iter()
                .map(|file| file.path)
                .collect::<Vec<_>>()
        };
        if (got(&cut.gold), got(&cut.test)) != (gold.clone(), test.clone()) || !cut.docs.is_empty() {
            wrong.push(gold.clone());
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} rows differ: {wrong:?}",
        wrong.len(),
        rows.len()
    );
}

fn one_section(path: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n"
    )
}

proptest! {
    #[test]
    fn a_cut_loses_nothing_and_adds_nothing(
        names in proptest::collection::vec("(src|tests|docs|x)/[a-c](\\.py|\\.rst|\\.txt)", 0..8),
    ) {
        let diff: String = names.iter().map(|name| one_section(name)).collect();
        let files = file_changes(diff.as_bytes());
        let cut: Cut = defaults().cut(diff.as_bytes(), &files);
        let mut sections: Vec<&[u8]> = files.iter().map(|file| section(diff.as_bytes(), file)).collect();
        let parts: Vec<Vec<_>> = Part::ALL.iter().map(|part| file_changes(cut.part(*part))).collect();
        let mut again: Vec<&[u8]> = vec![];
        for (part, files) in Part::ALL.iter().zip(&parts) {
            again.extend(files.iter().map(|file| section(cut.part(*part), file)));
        }
        sections.sort_unstable();
        again.sort_unstable();
        prop_assert_eq!(sections, again);
    }

    #[test]
    fn any_path_has_a_part(bytes in proptest::collection::vec(any::<u8>(), 1..40)) {
        let path = RepoPath::from(bytes.as_slice());
        prop_assert!(defaults().part(&path).is_some());
        swebench().part(&path);
    }
}
