//! What of a prediction's files is the oracle's, and what else of them has a say in how tests run.
//!
//! The oracle's are: every file of the test patch; every module that holds a test by which predictions are judged; the
//! `conftest.py` files in the folders of such modules and above them; and everything below a folder named `test`, `tests`
//! or `testing` that holds such a module. So are `sitecustomize.py`, `usercustomize.py` and `pytest.ini` anywhere: nothing
//! but an interpreter's start or a test run reads them. And so are modules at the root that have the name of a runner's own,
//! unless the project is such a runner. What gold itself touches is not, but for the test patch's files.
//!
//! Edits of these are reported and undone before tests run. Edits of other files that set up a runner, or that look like
//! a plugin, are reported and stay: a solution may need them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::diff::file_changes;
use crate::domain::ids::TestId;
use crate::domain::patch::FileChange;
use crate::domain::path::RepoPath;
use crate::domain::runner_files::{CONFTEST, CUSTOMIZE, PYTEST_INI, RUNNERS, is_one_of, is_test_folder};

/// What an edited file is to the oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EditKind {
    /// A file of the test patch, a module that judges, or data beside them.
    OracleFile,
    /// A `conftest.py`.
    Conftest,
    /// `sitecustomize.py` or `usercustomize.py`.
    Customize,
    /// A file that sets up a runner: `pytest.ini`, `tox.ini`, `setup.cfg`, `pyproject.toml`.
    RunnerConfiguration,
    /// A module at the root that would stand in for one of a runner's.
    Shadow,
    /// A file that names plugins or holds a runner's hooks.
    Plugin,
}

/// An edit of such a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edit {
    /// The file.
    pub path: RepoPath,
    /// What it is.
    pub kind: EditKind,
    /// Whether the edit was undone before the tests ran.
    pub undone: bool,
}

/// What is the oracle's.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Files, whoever touches them.
    files: BTreeSet<RepoPath>,
    /// Folders, with a `/` at their end.
    folders: BTreeSet<Vec<u8>>,
    /// Folders whose `conftest.py` judged modules read; the root is empty.
    above: BTreeSet<Vec<u8>>,
    /// What gold touches.
    gold: BTreeSet<RepoPath>,
    /// Those of the runners' modules that the tree itself holds.
    own_runners: BTreeSet<&'static str>,
}

impl Guard {
    /// The guard of an instance: the test patch's and gold's files, the tests that judge, and all files of the tree on which
    /// the test patch lies.
    pub fn new<'a>(
        test: &[FileChange],
        gold: &[FileChange],
        judged: impl IntoIterator<Item = &'a TestId>,
        tree: &BTreeSet<RepoPath>,
    ) -> Self {
        let mut guard = Self {
            files: paths(test).cloned().collect(),
            gold: paths(gold).cloned().collect(),
            own_runners: tree.iter().filter_map(runner_module).collect(),
            ..Self::default()
        };
        // What holds many tests is looked for once.
        let mut holders: BTreeSet<&str> = BTreeSet::new();
        for test in judged {
            let id = test.as_str();
            let holder = id.split_once("::").or_else(|| id.rsplit_once('.'));
            holders.extend(holder.map(|(holder, _)| holder));
        }
        let modules: BTreeSet<RepoPath> = holders
            .into_iter()
            .filter_map(|holder| module(holder, tree))
            .collect();
        guard.files.extend(modules);
        for file in guard.files.clone() {
            let path = file.as_bytes();
            let mut end = 0;
            guard.above.insert(vec![]);
            while let Some(length) = memchr::memchr(b'/', &path[end..]) {
                let name = &path[end..end + length];
                end += length + 1;
                guard.above.insert(path[..end].to_vec());
                if is_test_folder(name) {
                    guard.folders.insert(path[..end].to_vec());
                    break;
                }
            }
            while let Some(length) = memchr::memchr(b'/', &path[end..]) {
                end += length + 1;
                guard.above.insert(path[..end].to_vec());
            }
        }
        guard
    }

    /// The files that are put back whether a prediction touches them or not.
    pub fn files(&self) -> impl Iterator<Item = &RepoPath> {
        self.files.iter()
    }

    /// What of a prediction is to be reported, by path.
    pub fn edits(&self, patch: &[u8]) -> Vec<Edit> {
        let mut edits = BTreeSet::new();
        for file in file_changes(patch) {
            for path in paths(std::slice::from_ref(&file)) {
                if let Some((kind, undone)) = self.kind(path) {
                    edits.insert(Edit {
                        path: path.clone(),
                        kind,
                        undone,
                    });
                } else if is_plugin(&file, patch) {
                    edits.insert(Edit {
                        path: path.clone(),
                        kind: EditKind::Plugin,
                        undone: false,
                    });
                }
            }
        }
        edits.into_iter().collect()
    }

    /// What a file is, and whether an edit of it is undone.
    fn kind(&self, path: &RepoPath) -> Option<(EditKind, bool)> {
        let bytes = path.as_bytes();
        let folder = &bytes[..bytes.len() - path.file_name().len()];
        let is_golds = self.gold.contains(path) && !self.files.contains(path);
        let is_below = self.folders.iter().any(|folder| bytes.starts_with(folder));
        match path.file_name() {
            name if name == CONFTEST.as_bytes() => {
                let reads = is_below || self.above.contains(folder) || self.files.contains(path);
                Some((EditKind::Conftest, reads && !is_golds))
            }
            name if is_one_of(name, &CUSTOMIZE) => Some((EditKind::Customize, !is_golds)),
            name if is_one_of(name, &PYTEST_INI) => Some((EditKind::RunnerConfiguration, !is_golds)),
            _ if self.files.contains(path) || is_below => Some((EditKind::OracleFile, !is_golds)),
            _ if runner_module(path).is_some_and(|module| !self.own_runners.contains(module)) => {
                Some((EditKind::Shadow, !is_golds))
            }
            b"tox.ini" | b"setup.cfg" | b"pyproject.toml" => Some((EditKind::RunnerConfiguration, false)),
            _ => None,
        }
    }
}

/// The runners' module that a file at the root of a tree, or below it, would be.
fn runner_module(path: &RepoPath) -> Option<&'static str> {
    let path = path.to_str()?;
    let (top, is_file) = match path.split_once('/') {
        Some((folder, _)) => (folder, false),
        None => (path, true),
    };
    RUNNERS.into_iter().find(|name| {
        let rest = top.strip_prefix(name);
        rest.is_some_and(|rest| {
            if is_file {
                matches!(rest, ".py" | ".so" | ".pyc")
            } else {
                rest.is_empty()
            }
        })
    })
}

/// A changed file's path, and the one that it had.
fn paths(files: &[FileChange]) -> impl Iterator<Item = &RepoPath> {
    files
        .iter()
        .flat_map(|file| std::iter::once(&file.path).chain(&file.old_path))
}

/// The file of a holder of tests: a path, as pytest's ids begin with, or a class's or a module's dotted name.
fn module(holder: &str, tree: &BTreeSet<RepoPath>) -> Option<RepoPath> {
    let path = RepoPath::from(holder);
    if tree.contains(&path) {
        return Some(path);
    }
    let mut name = holder;
    loop {
        let path = format!("{}.py", name.replace('.', "/"));
        let whole = RepoPath::from(path.as_str());
        if tree.contains(&whole) {
            return Some(whole);
        }
        // A script's tests are named from the script's folder.
        let inside = format!("/{path}");
        let mut found = tree
            .iter()
            .filter(|file| file.as_bytes().ends_with(inside.as_bytes()));
        if name.contains('.')
            && let (Some(only), None) = (found.next(), found.next())
        {
            return Some(only.clone());
        }
        name = name.rsplit_once('.')?.0;
    }
}

/// Whether what the patch adds to the file names plugins of pytest, or is one's hook.
fn is_plugin(file: &FileChange, patch: &[u8]) -> bool {
    let place = |place: u64| usize::try_from(place).unwrap_or(patch.len()).min(patch.len());
    let section = &patch[place(file.start)..place(file.end)];
    let is_entry_points = file.path.file_name() == b"entry_points.txt" || file.path.has_extension("pth");
    is_entry_points
        || section.split(|byte| *byte == b'\n').any(|line| {
            let is_added = line.starts_with(b"+") && !line.starts_with(b"+++");
            let names = |word: &[u8]| memchr::memmem::find(line, word).is_some();
            is_added
                && (names(b"pytest_plugins")
                    || names(b"pytest11")
                    || names(b"def pytest_runtest")
                    || names(b"def pytest_configure")
                    || names(b"def pytest_collection"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(paths: &[&str]) -> Vec<u8> {
        let one = |path: &&str| {
            format!(
                "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
            )
        };
        paths.iter().map(one).collect::<String>().into_bytes()
    }

    fn guard(test: &[&str], gold: &[&str], judged: &[&str], tree: &[&str]) -> Guard {
        let judged: Vec<TestId> = judged.iter().map(|id| TestId::from(*id)).collect();
        Guard::new(
            &file_changes(&diff(test)),
            &file_changes(&diff(gold)),
            &judged,
            &tree.iter().map(|path| RepoPath::from(*path)).collect(),
        )
    }

    fn edits(guard: &Guard, paths: &[&str]) -> Vec<String> {
        let edits = guard.edits(&diff(paths));
        edits
            .iter()
            .map(|edit| format!("{} {:?} {}", edit.path, edit.kind, edit.undone))
            .collect()
    }

    #[test]
    fn a_runners_module_at_the_root_is_put_back_unless_the_project_is_that_runner() {
        let paths = [
            "pytest.py",
            "unittest/__init__.py",
            "src/pytest.py",
            "pytest_more.py",
            "py",
        ];
        let plain = guard(&["tests/test_a.py"], &[], &[], &["tests/test_a.py"]);
        assert_eq!(
            edits(&plain, &paths),
            ["pytest.py Shadow true", "unittest/__init__.py Shadow true"]
        );
        let own = guard(
            &["tests/test_a.py"],
            &[],
            &[],
            &["tests/test_a.py", "pytest.py", "_pytest/main.py"],
        );
        assert_eq!(
            edits(&own, &["pytest.py", "_pytest/new.py", "pluggy.py"]),
            ["pluggy.py Shadow true"]
        );
    }

    #[test]
    fn what_judges_is_put_back_and_what_a_solution_may_need_stays() {
        let guard = guard(
            &["tests/test_a.py"],
            &["src/a.py", "tests/helper.py", "conftest.py"],
            &["tests/test_a.py::t", "pkg/sub/test_b.py::t"],
            &["tests/test_a.py", "pkg/sub/test_b.py", "src/a.py"],
        );
        let found = edits(
            &guard,
            &[
                "src/a.py",
                "tests/test_a.py",
                "tests/data/x.json",
                "tests/helper.py",
                "conftest.py",
                "pkg/conftest.py",
                "pkg/sub/test_b.py",
                "pkg/sub/b.py",
                "other/conftest.py",
                "src/sitecustomize.py",
                "pytest.ini",
                "setup.cfg",
            ],
        );
        insta::assert_snapshot!(found.join("\n"), @r"
        conftest.py Conftest false
        other/conftest.py Conftest false
        pkg/conftest.py Conftest true
        pkg/sub/test_b.py OracleFile true
        pytest.ini RunnerConfiguration true
        setup.cfg RunnerConfiguration false
        src/sitecustomize.py Customize true
        tests/data/x.json OracleFile true
        tests/helper.py OracleFile false
        tests/test_a.py OracleFile true
        ");
    }

    #[test]
    fn modules_are_found_by_dotted_names_too() {
        let tree = ["tests/app/test_x.py", "lib/tests/test_y.py"];
        let guard = guard(&[], &[], &["app.test_x.C.t", "lib.tests.test_y.C.t"], &tree);
        let files: Vec<String> = guard.files().map(ToString::to_string).collect();
        assert_eq!(files, ["lib/tests/test_y.py", "tests/app/test_x.py"]);
    }

    #[test]
    fn plugins_are_seen_by_what_they_add() {
        let guard = guard(&["tests/test_a.py"], &[], &[], &[]);
        let patch = "diff --git a/src/p.py b/src/p.py\nnew file mode 100644\n--- /dev/null\n+++ b/src/p.py\n@@ -0,0 +1 @@\n\
                     +def pytest_runtest_makereport(item, call): pass\n";
        let found = guard.edits(patch.as_bytes());
        assert_eq!((found[0].kind, found[0].undone), (EditKind::Plugin, false));
    }
}
