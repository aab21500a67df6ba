//! Documentation files: which are candidates by their names, what refers to them, and what becomes of each.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, MatchKind};
use bstr::ByteSlice;
use schemars::JsonSchema;
use serde::Serialize;

use super::policy::Mode;
use crate::domain::path::RepoPath;

/// What becomes of a file that the paper's rule would delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is gone.
    Removed,
    /// It is there, and empty: something needs it to exist.
    Stub,
    /// It stays: a licence.
    Licence,
    /// It stays: data of a package, which code may read.
    PackageData,
    /// It stays: what tests read.
    TestData,
    /// It stays: code or a setting in a documentation folder that something imports or names.
    Referenced,
}

/// Whether the paper's rule deletes a file: `docs/`, `doc/`, `.git/`; `README*`, `*.md`, `*.rst`, `CHANGELOG*`,
/// `CONTRIBUTING*` (Code-QA-Bench, section 3.2).
pub fn is_candidate(path: &RepoPath) -> bool {
    in_docs_folder(path).is_some() || has_documentation_name(path.file_name())
}

fn has_documentation_name(name: &[u8]) -> bool {
    name.starts_with(b"README")
        || name.ends_with(b".md")
        || name.ends_with(b".rst")
        || name.starts_with(b"CHANGELOG")
        || name.starts_with(b"CONTRIBUTING")
}

/// The index of the first folder of a path that is `docs`, `doc` or `.git`.
fn in_docs_folder(path: &RepoPath) -> Option<usize> {
    let count = path.components().count();
    path.components()
        .take(count.saturating_sub(1))
        .position(|part| matches!(part, b"docs" | b"doc" | b".git"))
}

fn is_licence(name: &[u8]) -> bool {
    let upper = name.to_ascii_uppercase();
    ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
        .iter()
        .any(|word| upper.starts_with(word.as_bytes()))
}

/// Names of which the text alone is documentation, wherever they are.
fn is_front_page(name: &[u8]) -> bool {
    [
        &b"README"[..],
        b"CHANGELOG",
        b"CONTRIBUTING",
        b"CHANGES",
        b"HISTORY",
        b"NEWS",
        b"AUTHORS",
        b"CODE_OF_CONDUCT",
    ]
    .iter()
    .any(|word| name.to_ascii_uppercase().starts_with(word))
}

fn is_prose(name: &[u8]) -> bool {
    [&b".md"[..], b".rst", b".txt", b".adoc", b".html"]
        .iter()
        .any(|end| name.ends_with(end))
        || is_front_page(name)
}

/// The candidates of a tree, and a search for what refers to them.
pub struct Candidates {
    paths: Vec<RepoPath>,
    patterns: Vec<Pattern>,
    search: Option<AhoCorasick>,
    packages: BTreeSet<Vec<u8>>,
    /// For each documentation folder, the Python files in it.
    modules: Vec<Vec<usize>>,
    mode: Mode,
}

/// What a word in another file may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// Candidate: its name, or its path from a documentation folder on.
    File(usize),
    /// Candidate in a documentation folder: its bare name, which counts only beside the folder's.
    Name(usize),
    /// `"docs"`: a documentation folder's name in quotes.
    Folder,
    /// `import docs`, `from docs`: the folder of this index, as a package's name.
    Import(usize),
}

/// The candidates that one file refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References(BTreeSet<usize>);

impl Candidates {
    /// Finds the candidates among all files of a tree.
    pub fn among<'paths>(paths: impl Iterator<Item = &'paths RepoPath> + Clone, mode: Mode) -> Self {
        let packages = paths
            .clone()
            .filter(|path| matches!(path.file_name(), b"__init__.py" | b"__init__.pyi"))
            .map(|path| parent(path.as_bytes()).to_vec())
            .collect();
        let paths: Vec<RepoPath> = paths.filter(|path| is_candidate(path)).cloned().collect();
        let mut words: Vec<Vec<u8>> = vec![];
        let mut patterns = vec![];
        for (index, path) in paths.iter().enumerate() {
            if let Some(folder) = in_docs_folder(path) {
                words.push(path.components().skip(folder).collect::<Vec<_>>().join(&b"/"[..]));
                patterns.push(Pattern::File(index));
                words.push(path.file_name().to_vec());
                patterns.push(Pattern::Name(index));
            } else {
                words.push(path.file_name().to_vec());
                patterns.push(Pattern::File(index));
            }
        }
        for folder in ["\"docs\"", "'docs'", "\"doc\"", "'doc'"] {
            words.push(folder.as_bytes().to_vec());
            patterns.push(Pattern::Folder);
        }
        let mut folders: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (index, path) in paths.iter().enumerate() {
            if let Some(folder) = in_docs_folder(path)
                && (path.has_extension("py") || path.has_extension("pyi"))
            {
                let name = path
                    .components()
                    .take(folder + 1)
                    .collect::<Vec<_>>()
                    .join(&b"."[..]);
                folders.entry(name).or_default().push(index);
            }
        }
        for (index, name) in folders.keys().enumerate() {
            for verb in [&b"import "[..], b"from "] {
                words.push([verb, name].concat());
                patterns.push(Pattern::Import(index));
            }
        }
        // Only names long enough to mean something; a tree's own index pages are named by everything.
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&words)
            .ok();
        Self {
            paths,
            patterns,
            search,
            packages,
            modules: folders.into_values().collect(),
            mode,
        }
    }

    /// The candidates, sorted by path as they came.
    pub fn paths(&self) -> &[RepoPath] {
        &self.paths
    }

    /// What a file that is no candidate refers to. For Python, `content` is the stripped text: what comments and
    /// docstrings say is no reference.
    pub fn references(&self, path: &RepoPath, content: &[u8]) -> References {
        let mut found = References::default();
        if is_listing(path) {
            return found;
        }
        let Some(search) = self.search.as_ref().filter(|_| !self.paths.is_empty()) else {
            return found;
        };
        let mut names = BTreeSet::new();
        let mut folder = false;
        for hit in search.find_overlapping_iter(content) {
            let bounded = bounds(content, hit.start(), hit.end());
            match self.patterns[hit.pattern().as_usize()] {
                Pattern::File(index) if bounded => {
                    found.0.insert(index);
                }
                Pattern::Name(index) if bounded => {
                    names.insert(index);
                }
                Pattern::Folder => folder = true,
                Pattern::Import(index) if is_imported(content, hit.start(), hit.end()) => {
                    found.0.extend(&self.modules[index]);
                }
                _ => {}
            }
        }
        if folder {
            found.0.extend(names);
        }
        found
    }

    /// What becomes of each candidate. `referrers[i]` says who refers to candidate `i`.
    pub fn fates(&self, referrers: &[Vec<&RepoPath>]) -> Vec<Fate> {
        self.paths
            .iter()
            .zip(referrers)
            .map(|(path, referrers)| self.fate(path, referrers))
            .collect()
    }

    fn fate(&self, path: &RepoPath, referrers: &[&RepoPath]) -> Fate {
        let name = path.file_name();
        if self.mode == Mode::Paper || path.components().any(|part| part == b".git") {
            return Fate::Removed;
        }
        if is_licence(name) {
            return Fate::Licence;
        }
        let is_python = path.has_extension("py") || path.has_extension("pyi");
        if is_front_page(name) && !is_python {
            return if referrers.is_empty() {
                Fate::Removed
            } else {
                Fate::Stub
            };
        }
        if self.in_package(path) || self.holds_a_package(path) {
            return Fate::PackageData;
        }
        if path.components().rev().skip(1).any(is_test_folder) {
            return Fate::TestData;
        }
        if in_docs_folder(path).is_some() {
            return if referrers.is_empty() {
                Fate::Removed
            } else {
                Fate::Referenced
            };
        }
        // Elsewhere: named by the build alone, it only has to exist; read by code, it has to say what it says.
        if referrers.is_empty() {
            Fate::Removed
        } else if referrers.iter().all(|referrer| is_build_file(referrer)) && is_prose(name) {
            Fate::Stub
        } else {
            Fate::Referenced
        }
    }

    /// Whether a file makes a documentation folder a package that has another in it, which stays.
    fn holds_a_package(&self, path: &RepoPath) -> bool {
        let folder = parent(path.as_bytes());
        matches!(path.file_name(), b"__init__.py" | b"__init__.pyi")
            && self
                .packages
                .iter()
                .any(|package| parent(package) == folder && package != folder)
    }

    /// Whether a file lies in a folder that Python can import as (a part of) a package.
    fn in_package(&self, path: &RepoPath) -> bool {
        let mut folder = parent(path.as_bytes());
        loop {
            if self.packages.contains(folder) && !is_docs_root(folder) {
                return !folder.is_empty();
            }
            if folder.is_empty() {
                return false;
            }
            folder = parent(folder);
        }
    }
}

impl References {
    /// The indices of the candidates, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }
}

/// A top-level documentation folder with a stray `__init__.py` is no package.
fn is_docs_root(folder: &[u8]) -> bool {
    matches!(folder, b"docs" | b"doc")
}

fn parent(path: &[u8]) -> &[u8] {
    path.rfind_byte(b'/').map_or(&[], |at| &path[..at])
}

fn is_test_folder(part: &[u8]) -> bool {
    matches!(
        part,
        b"test" | b"tests" | b"testing" | b"testdata" | b"test_data" | b"fixtures"
    ) || part.starts_with(b"test_")
        || part.starts_with(b"test-")
        || part.ends_with(b"_tests")
}

/// Whether a file tells a build what to pack.
pub fn is_build_file(path: &RepoPath) -> bool {
    matches!(
        path.file_name(),
        b"setup.py"
            | b"setup.cfg"
            | b"pyproject.toml"
            | b"MANIFEST.in"
            | b"meson.build"
            | b"CMakeLists.txt"
            | b"Cargo.toml"
            | b"conanfile.py"
            | b"hatch.toml"
            | b"flit.ini"
    )
}

/// A list of what a build once packed names everything and needs nothing.
fn is_listing(path: &RepoPath) -> bool {
    path.components()
        .any(|part| part.ends_with(b".egg-info") || part.ends_with(b".dist-info"))
        || matches!(path.file_name(), b"PKG-INFO" | b"RECORD")
}

/// Whether `import NAME` is a statement's beginning, and `NAME` not the beginning of another name.
fn is_imported(content: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| content.get(at));
    let after = content.get(end);
    before.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b':'))
        && after.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'.' | b',' | b';' | b'#'))
}

/// Whether a word stands on its own in a text.
fn bounds(content: &[u8], start: usize, end: usize) -> bool {
    let inner = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let before = start.checked_sub(1).and_then(|at| content.get(at));
    let after = content.get(end);
    // `README.md` inside `README.mdx` or `MYREADME.md` is another name; a sentence's full stop is none.
    !(inner(before) || inner(after) || after == Some(&b'.') && inner(content.get(end + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(files: &[(&str, &str)], mode: Mode) -> Vec<(String, Fate)> {
        let paths: Vec<RepoPath> = files.iter().map(|(path, _)| RepoPath::from(*path)).collect();
        let candidates = Candidates::among(paths.iter(), mode);
        let mut referrers = vec![vec![]; candidates.paths().len()];
        for (path, (_, content)) in paths.iter().zip(files) {
            if !is_candidate(path) {
                for index in candidates.references(path, content.as_bytes()).iter() {
                    referrers[index].push(path);
                }
            }
        }
        let fates = candidates.fates(&referrers);
        candidates
            .paths()
            .iter()
            .map(ToString::to_string)
            .zip(fates)
            .collect()
    }

    #[test]
    fn safe_mode_keeps_what_is_needed() {
        let files = [
            ("README.md", ""),
            ("CHANGES.rst", ""),
            ("LICENSE.rst", ""),
            ("docs/index.rst", ""),
            ("docs/requirements.txt", ""),
            ("docs/conf.py", ""),
            ("pkg/__init__.py", ""),
            ("pkg/data/descr.rst", ""),
            ("pkg/README.rst", ""),
            ("pkg/doc/__init__.py", ""),
            ("pkg/doc/constants.py", ""),
            ("tests/input/a.md", ""),
            ("pyproject.toml", "readme = \"README.md\"\n"),
            ("tox.ini", "deps = -r docs/requirements.txt\n"),
        ];
        let found = fates(&files, Mode::Safe);
        let of = |path: &str| found.iter().find(|(name, _)| name == path).unwrap().1;
        assert_eq!(of("README.md"), Fate::Stub);
        assert_eq!(of("CHANGES.rst"), Fate::Removed);
        assert_eq!(of("LICENSE.rst"), Fate::Licence);
        assert_eq!(of("docs/index.rst"), Fate::Removed);
        assert_eq!(of("docs/requirements.txt"), Fate::Referenced);
        assert_eq!(of("docs/conf.py"), Fate::Removed);
        assert_eq!(of("pkg/data/descr.rst"), Fate::PackageData);
        assert_eq!(of("pkg/README.rst"), Fate::Removed);
        assert_eq!(of("pkg/doc/constants.py"), Fate::PackageData);
        assert_eq!(of("tests/input/a.md"), Fate::TestData);
        assert!(
            fates(&files, Mode::Paper)
                .iter()
                .all(|(_, fate)| *fate == Fate::Removed)
        );
    }

    #[test]
    fn modules_in_a_documentation_folder_stay_where_something_imports_them() {
        for (text, stays) in [
            ("from docs.util import V\n", true),
            ("    import docs.util as u", true),
            ("from docs import util", true),
            ("import docs_util\nfrom docstring import x\n# refrom docs", false),
        ] {
            let files = [
                ("docs/__init__.py", ""),
                ("docs/util.py", ""),
                ("docs/a.rst", ""),
                ("pkg/a.py", text),
            ];
            let found = fates(&files, Mode::Safe);
            let expected = if stays { Fate::Referenced } else { Fate::Removed };
            assert_eq!(found[0], ("docs/__init__.py".to_owned(), expected), "{text}");
            assert_eq!(found[1], ("docs/util.py".to_owned(), expected), "{text}");
            assert_eq!(found[2].1, Fate::Removed, "{text}");
        }
    }

    #[test]
    fn a_documentation_folder_stays_a_package_for_the_one_inside() {
        let files = [
            ("docs/__init__.py", ""),
            ("docs/a.py", ""),
            ("docs/x/__init__.py", ""),
            ("docs/x/y.py", ""),
            ("doc/__init__.py", ""),
        ];
        let found = fates(&files, Mode::Safe);
        let expected = [
            Fate::PackageData,
            Fate::Removed,
            Fate::PackageData,
            Fate::PackageData,
            Fate::Removed,
        ];
        assert_eq!(found.iter().map(|(_, fate)| *fate).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_name_counts_only_on_its_own() {
        let paths = [RepoPath::from("README.md"), RepoPath::from("docs/a.txt")];
        let candidates = Candidates::among(paths.iter(), Mode::Safe);
        let refers = |text: &str| {
            candidates
                .references(&"a.py".into(), text.as_bytes())
                .iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(refers("open('README.md')"), [0]);
        assert_eq!(refers("MYREADME.md README.mdx README.md.in"), [] as [usize; 0]);
        assert_eq!(refers("see README.md."), [0]);
        assert_eq!(refers("open('docs/a.txt')"), [1]);
        assert_eq!(refers("join('docs', 'a.txt')"), [1]);
        assert_eq!(refers("open('a.txt')"), [] as [usize; 0]);
    }
}
