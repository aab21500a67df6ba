//! The packaging files of a pull request, in the place of the base commit's.
//!
//! A pull request may bring a test that needs a distribution which it begins to ask for itself. What its packaging files
//! ask for is part of the environment, as it is of the image that a benchmark's harness builds; what its source does is
//! the task. So dependencies are resolved from a tree with the packaging files laid over it and nothing else, and the
//! project is installed from the base commit's tree all the same.

use std::collections::BTreeMap;

use crate::domain::hash::sha256_hex;
use crate::domain::path::RepoPath;

/// Files that say what a project needs and how it is tested, by their whole names.
const NAMES: &[&str] = &[
    ".travis.yml",
    "Makefile",
    "Pipfile",
    "Pipfile.lock",
    "azure-pipelines.yml",
    "hatch.toml",
    "noxfile.py",
    "pdm.lock",
    "poetry.lock",
    "pylock.toml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "tox.toml",
    "uv.lock",
];
/// Folders whose lists are of requirements, whatever they are called.
const FOLDERS: &[&str] = &["requirements", "reqs", "requires", "dependencies"];

/// Packaging files as a pull request leaves them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackagingAfter {
    files: BTreeMap<String, Option<Vec<u8>>>,
}

impl PackagingAfter {
    /// These files, each with its content, or with none where the pull request removes it. What is no packaging file is
    /// left out; `None` when nothing is left.
    pub fn new(files: impl IntoIterator<Item = (RepoPath, Option<Vec<u8>>)>) -> Option<Self> {
        let files = files.into_iter().filter(|(path, _)| is_packaging_file(path));
        let files: BTreeMap<String, Option<Vec<u8>>> = files
            .filter_map(|(path, content)| Some((path.to_str()?.to_owned(), content)))
            .collect();
        (!files.is_empty()).then_some(Self { files })
    }

    /// Every file and its content.
    pub fn files(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        let files = self.files.iter();
        files.map(|(path, content)| (path.as_str(), content.as_deref()))
    }

    /// The files' paths, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// What is in the place of a file: its content, or nothing where it is removed; `None` where the base commit's stands.
    pub fn get(&self, path: &str) -> Option<Option<&[u8]>> {
        self.files.get(path).map(Option::as_deref)
    }

    /// What a key needs of them.
    pub fn fingerprint(&self) -> BTreeMap<&str, Option<String>> {
        let hashed = |content: Option<&[u8]>| content.map(sha256_hex);
        self.files()
            .map(|(path, content)| (path, hashed(content)))
            .collect()
    }
}

/// Whether a file is one that detection reads, and that says nothing but what is needed, built with and run.
pub fn is_packaging_file(path: &RepoPath) -> bool {
    let Some(path) = path.to_str() else { return false };
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if NAMES.contains(&name) {
        return true;
    }
    let lower = name.to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
    if folder == ".github/workflows" {
        return ends(&[".yml", ".yaml"]);
    }
    let in_folder = folder.split('/').any(|part| FOLDERS.contains(&part));
    let named = ["requirement", "constraint", "reqs"]
        .iter()
        .any(|word| lower.contains(word));
    // conda's: `environment.yml`, `ci/requirements/py311.yml`.
    let of_conda = ends(&[".yml", ".yaml"]) && (in_folder || named || lower.starts_with("environment"));
    of_conda || ends(&[".txt", ".in", ".pip", ".lock"]) && (in_folder || named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packaging_files_are_told_from_source_and_tests() {
        for yes in [
            "pyproject.toml",
            "setup.cfg",
            "plugins/a/setup.py",
            "tox.ini",
            "uv.lock",
            "requirements.txt",
            "requirements/tests.in",
            "requirements/extras/test.txt",
            "dev-requirements.pip",
            "tests/requirements_py3.txt",
            "constraints.txt",
            ".github/workflows/tests.yaml",
        ] {
            assert!(is_packaging_file(&RepoPath::from(yes)), "{yes}");
        }
        for no in [
            "src/pkg/requirements.py",
            "requirements/build.sh",
            "tests/data/a.txt",
            "tests/conftest.py",
            "src/setup_tools.py",
            "docs/requirements.rst",
            ".github/dependabot.yml",
            "pytest.ini",
        ] {
            assert!(!is_packaging_file(&RepoPath::from(no)), "{no}");
        }
        assert!(!is_packaging_file(&RepoPath::from(
            &b"requirements/caf\xe9.txt"[..]
        )));
    }

    #[test]
    fn nothing_but_packaging_files_is_laid_over() {
        let file = |path: &str, content: &str| (RepoPath::from(path), Some(content.as_bytes().to_vec()));
        assert_eq!(PackagingAfter::new([file("src/a.py", "gold")]), None);
        let after = PackagingAfter::new([
            file("src/a.py", "gold"),
            file("tox.ini", "[tox]"),
            (RepoPath::from("requirements.txt"), None),
        ])
        .unwrap();
        assert_eq!(after.names().collect::<Vec<_>>(), ["requirements.txt", "tox.ini"]);
        assert_eq!(after.get("requirements.txt"), Some(None), "removed");
        assert_eq!(after.get("tox.ini"), Some(Some(&b"[tox]"[..])));
        assert_eq!(after.get("setup.py"), None, "as it was");
        let other = PackagingAfter::new([file("tox.ini", "[tox]\n")]).unwrap();
        assert_ne!(after.fingerprint(), other.fingerprint());
    }
}
