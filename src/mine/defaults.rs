//! The default split by path: components and file names, never substrings.
//!
//! The first answer holds: `conftest.py`; release notes; then the outermost folder that tells; then the file's name.
//! Names are compared without case.

use crate::domain::patch::Part;
use crate::domain::path::RepoPath;

/// Folders that hold tests wherever they are.
const TEST_FOLDERS: &[&str] = &[
    "tests",
    "__tests__",
    "testsuite",
    "test_suite",
    "testsuites",
    "unittests",
    "testdata",
    "test_data",
    "test-data",
    "test_files",
    "test-files",
    "e2e",
];
/// Folders that hold tests at the top (or right below a `src` or `lib`); deeper they are a package of test helpers,
/// which is source (`django/test/`, `lib/matplotlib/testing/`).
const TOP_TEST_FOLDERS: &[&str] = &["test", "testing", "spec", "specs", "t"];
/// What lies below a deeper `test` only where that holds tests (`pylint/test/functional/`), not helpers.
const INNER_TEST_FOLDERS: &[&str] = &[
    "unit",
    "units",
    "functional",
    "integration",
    "acceptance",
    "regression",
    "data",
    "input",
    "messages",
    "regrtest_data",
    "fixtures",
    "resources",
];
/// Folders of documentation at the top.
const DOCS_FOLDERS: &[&str] = &[
    "doc",
    "docs",
    "documentation",
    "docs_src",
    "docs-src",
    "doc_src",
    "docsrc",
    "apidocs",
    "examples",
    "example",
];
/// Those of them that may hold whole projects, with tests of their own.
const EXAMPLE_FOLDERS: &[&str] = &["examples", "example"];
/// Folders, at the top, of what keeps a project going and is not shipped.
const CARE_FOLDERS: &[&str] = &[
    "ci",
    "script",
    "scripts",
    "tools",
    "dev",
    "bench",
    "benchmark",
    "benchmarks",
    "asv_bench",
    "requirements",
    "docker",
    "packaging",
    "debian",
    "changelog",
    "changelogs",
    "changes",
    "news",
    "releases",
];
/// Folders of release notes and their fragments, at the top or within documentation …
const NOTE_FOLDERS: &[&str] = &[
    "changelog",
    "changelogs",
    "changes",
    "news",
    "release",
    "releases",
    "release_notes",
    "release-notes",
    "releasenotes",
    "whatsnew",
    "whats_new",
    "next_whats_new",
    "next_api_changes",
    "upcoming_changes",
    "history",
];
/// … and anywhere.
const FRAGMENT_FOLDERS: &[&str] = &[
    "newsfragments",
    "newsfragment",
    "changelog.d",
    "changes.d",
    "news.d",
    ".changeset",
    ".changes",
];
/// File names, without their endings, of changelogs.
const NOTE_NAMES: &[&str] = &[
    "change",
    "changes",
    "changelog",
    "changelogs",
    "change_log",
    "change-log",
    "history",
    "news",
    "releases",
    "release_notes",
    "release-notes",
    "releasenotes",
    "release_history",
    "whatsnew",
    "whats_new",
    "whats-new",
];
/// Kinds in the names of fragments of release notes that stand among documents, not in a folder of theirs.
const FRAGMENT_KINDS: &[&str] = &[
    "breaking",
    "bugfix",
    "deprecation",
    "doc",
    "feature",
    "improvement",
    "misc",
    "removal",
    "security",
];
/// Files, without their endings, about a project and its people.
const CARE_NAMES: &[&str] = &[
    "license",
    "licence",
    "copying",
    "notice",
    "authors",
    "contributors",
    "maintainers",
    "credits",
    "thanks",
    "codeowners",
    "citation",
    "makefile",
    "dockerfile",
    "manifest",
    "pipfile",
    "procfile",
    "vagrantfile",
    "jenkinsfile",
    "tox",
    "noxfile",
    "fabfile",
    "dodo",
    "codecov",
    "appveyor",
    "azure-pipelines",
    "pyproject",
    "setup.cfg",
    "pytest",
    "mypy",
    "package-lock",
    "environment",
    "constraints",
];
/// Files, without their endings, that are documentation wherever they are.
const DOCS_NAMES: &[&str] = &[
    "readme",
    "contributing",
    "code_of_conduct",
    "security",
    "support",
    "governance",
    "install",
    "installation",
    "faq",
];
/// Endings of prose.
const PROSE: &[&str] = &[
    "rst", "md", "markdown", "adoc", "asciidoc", "textile", "mdx", "ipynb",
];
/// Endings of programs.
const CODE: &[&str] = &[
    "py", "pyi", "pyx", "pxd", "c", "h", "cc", "cpp", "cxx", "hpp", "rs", "go", "java", "kt", "js", "jsx",
    "mjs", "ts", "tsx", "rb", "php", "cs", "swift", "scala", "sh", "pl", "f", "f90", "lua",
];
/// Endings, at the top, of settings and lists.
const SETTINGS: &[&str] = &[
    "toml", "yml", "yaml", "cfg", "ini", "json", "txt", "in", "lock", "cff", "bat", "sh", "nix",
];

/// The part a path belongs to by default.
pub(super) fn part(path: &RepoPath) -> Part {
    let words = Words::of(path);
    if words.name == "conftest.py" {
        return Part::Test;
    }
    if let Some(part) = words
        .folders
        .iter()
        .enumerate()
        .find_map(|(depth, _)| words.folder_part(depth))
    {
        // A changelog inside a tests folder is a test's data; one among the documentation is still a changelog.
        return if part == Part::Docs && words.is_release_note() {
            Part::Other
        } else {
            part
        };
    }
    words.file_part()
}

/// Whether a path is a changelog, or a fragment of one.
pub(super) fn is_release_note(path: &RepoPath) -> bool {
    let words = Words::of(path);
    part(path) == Part::Other && words.is_release_note()
}

/// A path in lower case, taken apart.
struct Words {
    folders: Vec<String>,
    name: String,
}

impl Words {
    fn of(path: &RepoPath) -> Self {
        let mut folders: Vec<String> = path
            .components()
            .map(|part| String::from_utf8_lossy(part).to_ascii_lowercase())
            .collect();
        let name = folders.pop().unwrap_or_default();
        Self { folders, name }
    }

    fn is_at_top(&self) -> bool {
        self.folders.is_empty()
    }

    /// The file name up to its last dot, and what follows it.
    fn stem(&self) -> (&str, &str) {
        self.name
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .unwrap_or((&self.name, ""))
    }

    /// What the folder at this depth says, if it tells.
    fn folder_part(&self, depth: usize) -> Option<Part> {
        let folder = self.folders[depth].as_str();
        let at_top =
            depth == 0 || (depth == 1 && ["src", "lib", "python"].contains(&self.folders[0].as_str()));
        let inner = self.folders.get(depth + 1).map(String::as_str);
        let is_test = TEST_FOLDERS.contains(&folder)
            || is_compound_of_tests(folder)
            || (at_top && TOP_TEST_FOLDERS.contains(&folder) && !(depth == 1 && folder == "testing"))
            || (folder == "test" && inner.is_some_and(|inner| INNER_TEST_FOLDERS.contains(&inner)));
        if is_test {
            return Some(Part::Test);
        }
        let code = CODE.contains(&self.stem().1);
        if FRAGMENT_FOLDERS.contains(&folder) && !code {
            return Some(Part::Other);
        }
        if depth == 0
            && (folder.starts_with('.') || (CARE_FOLDERS.contains(&folder) && !self.is_packaged_code()))
        {
            return Some(Part::Other);
        }
        let example = EXAMPLE_FOLDERS.contains(&folder);
        if example
            && self.folders[depth + 1..]
                .iter()
                .any(|inner| TEST_FOLDERS.contains(&inner.as_str()))
        {
            return Some(Part::Test);
        }
        if DOCS_FOLDERS.contains(&folder) && (depth == 0 || (!code && !example)) {
            return Some(Part::Docs);
        }
        None
    }

    /// A program in a folder that release notes or documents also use is a package (`news/models.py`).
    fn is_packaged_code(&self) -> bool {
        CODE.contains(&self.stem().1) && NOTE_FOLDERS.contains(&self.folders[0].as_str())
    }

    fn file_part(&self) -> Part {
        let (stem, ending) = self.stem();
        if is_test_name(stem, ending, self.is_at_top()) {
            return Part::Test;
        }
        if self.is_release_note() {
            return Part::Other;
        }
        if DOCS_NAMES.contains(&stem) && !CODE.contains(&ending) {
            return Part::Docs;
        }
        if self.name.starts_with('.') || is_lock(&self.name, stem, ending) {
            return Part::Other;
        }
        let named_care = CARE_NAMES.contains(&stem) || CARE_NAMES.contains(&self.name.as_str());
        let top_program = matches!(
            self.name.as_str(),
            "noxfile.py" | "fabfile.py" | "dodo.py" | "tasks.py"
        );
        if self.is_at_top() && (top_program || (named_care && !CODE.contains(&ending))) {
            return Part::Other;
        }
        if PROSE.contains(&ending) && !self.is_template() {
            return Part::Docs;
        }
        if self.is_at_top() && (ending.is_empty() || SETTINGS.contains(&ending)) {
            return Part::Other;
        }
        Part::Gold
    }

    /// Prose that a program reads is source.
    fn is_template(&self) -> bool {
        self.folders.iter().any(|folder| {
            [
                "template",
                "templates",
                "data",
                "resources",
                "static",
                "prompts",
                "_data",
            ]
            .contains(&folder.as_str())
        })
    }

    fn is_release_note(&self) -> bool {
        let (stem, ending) = self.stem();
        if CODE.contains(&ending) {
            return false;
        }
        let in_docs = self
            .folders
            .first()
            .is_none_or(|first| DOCS_FOLDERS.contains(&first.as_str()));
        let prose = ending.is_empty()
            || PROSE.contains(&ending)
            || ending == "txt"
            || ending == "yml"
            || ending == "yaml";
        let folders = self.folders.iter().map(String::as_str);
        folders.clone().any(|folder| FRAGMENT_FOLDERS.contains(&folder))
            || (NOTE_NAMES.contains(&stem) && prose)
            || (in_docs && is_fragment_name(stem, ending))
            || self
                .folders
                .first()
                .is_some_and(|first| NOTE_FOLDERS.contains(&first.as_str()))
            || (in_docs && folders.clone().any(|folder| NOTE_FOLDERS.contains(&folder)))
    }
}

/// `12.feature.rst`, `+one.bugfix.md`: a number or a name of its own, and a kind.
fn is_fragment_name(stem: &str, ending: &str) -> bool {
    let Some((name, kind)) = stem.split_once('.') else {
        return false;
    };
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let is_own = name.len() > 1 && name.starts_with('+');
    (is_number || is_own) && FRAGMENT_KINDS.contains(&kind) && (ending == "rst" || ending == "md")
}

/// `integration_tests`, `unit-tests`, `tests_extra`: a name with `tests` for its first or last word.
fn is_compound_of_tests(folder: &str) -> bool {
    let mut words = folder.split(['_', '-', '.']);
    words.next() == Some("tests") || words.next_back() == Some("tests")
}

fn is_test_name(stem: &str, ending: &str, at_top: bool) -> bool {
    if !CODE.contains(&ending) {
        return false;
    }
    let dotted = stem
        .rsplit_once('.')
        .is_some_and(|(_, last)| last == "test" || last == "spec");
    stem.starts_with("test_")
        || stem.starts_with("tests_")
        || stem.starts_with("unittest_")
        || ["_test", "_tests", "-test", "_spec"]
            .iter()
            .any(|tail| stem.ends_with(tail))
        || stem == "tests"
        || (stem == "test" && at_top)
        || dotted
}

fn is_lock(name: &str, stem: &str, ending: &str) -> bool {
    ending == "lock"
        || name == "package-lock.json"
        || name == "pnpm-lock.yaml"
        || (ending == "txt"
            && stem
                .split(['-', '_', '.'])
                .any(|word| word == "requirements" || word == "constraints"))
}
