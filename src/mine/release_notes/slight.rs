//! Which pull requests change nothing but release notes and version numbers: who writes down what others did, and who
//! releases it.

use std::sync::LazyLock;

use regex::Regex;

use crate::domain::diff::file_changes;
use crate::domain::path::RepoPath;
use crate::mine::pattern::compiled;

/// Names of files that may hold nothing but a version, and of files in which a version is one line among others.
const NAMES: &[&str] = &[
    ".bumpversion.cfg",
    "__init__.py",
    "cargo.toml",
    "citation.cff",
    "conf.py",
    "meta.yaml",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
];
/// Words in the names of files that exist for a version's sake.
const OF_VERSION: &[&str] = &["version", "about", "pkginfo", "tbump"];
/// Words of a line that tells a version.
const WORDS: &[&str] = &["version", "release", "build", "copyright"];

/// Whether a file may change for its version's sake alone, by its path.
pub(super) fn may_hold_version(path: &RepoPath) -> bool {
    let name = String::from_utf8_lossy(path.file_name()).to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || is_of_version(path)
}

fn is_of_version(path: &RepoPath) -> bool {
    let name = String::from_utf8_lossy(path.file_name()).to_ascii_lowercase();
    OF_VERSION.iter().any(|word| name.contains(word))
}

/// Whether a diff changes nothing but release notes and versions: in other files the lines that went and those that came
/// are the same but for their numbers, and speak of a version. Who changes a version may mend on the way what is neither
/// source nor tests nor documentation (`is_aside`): a release's own tools.
pub(super) fn only_releases(
    diff: &[u8],
    is_notes: &dyn Fn(&RepoPath) -> bool,
    is_aside: &dyn Fn(&RepoPath) -> bool,
) -> bool {
    let (mut versions, mut asides) = (0, 0);
    for file in file_changes(diff) {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let section = diff.get(place(file.start)..place(file.end)).unwrap_or_default();
        if is_notes(&file.path) {
            continue;
        }
        if !file.binary && changes_version(section, is_of_version(&file.path)) {
            versions += 1;
        } else if is_aside(&file.path) {
            asides += 1;
        } else {
            return false;
        }
    }
    asides == 0 || versions > 0
}

fn changes_version(section: &[u8], named_for_it: bool) -> bool {
    let mut in_hunks = false;
    let (mut gone, mut new): (Vec<String>, Vec<String>) = (vec![], vec![]);
    for line in section.split(|byte| *byte == b'\n') {
        let rest = || String::from_utf8_lossy(&line[1..]).into_owned();
        if line.starts_with(b"@@ ") {
            in_hunks = true;
        } else if in_hunks && line.starts_with(b"-") {
            gone.push(rest());
        } else if in_hunks && line.starts_with(b"+") {
            new.push(rest());
        }
    }
    let speaks = |line: &String| {
        let line = line.to_ascii_lowercase();
        named_for_it || WORDS.iter().any(|word| line.contains(word))
    };
    !gone.is_empty() && gone.iter().all(speaks) && without_numbers(&gone) == without_numbers(&new)
}

/// Lines with every number, and every word that stands in a version, replaced.
fn without_numbers(lines: &[String]) -> Vec<String> {
    static FORM: LazyLock<Regex> =
        LazyLock::new(|| compiled(r"(?i)\b(?:v?[0-9][0-9a-z_.+-]*|none|final|alpha|beta|dev|rc)\b"));
    let plain = |line: &String| FORM.replace_all(line, "0").into_owned();
    lines.iter().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(path: &str, lines: &str) -> String {
        let count = |mark: char| lines.lines().filter(|line| line.starts_with(mark)).count();
        let (gone, new) = (count('-'), count('+'));
        format!(
            "diff --git a/{path} b/{path}\nindex 1111111..2222222 100644\n--- a/{path}\n+++ b/{path}\n@@ -1,{gone} +1,{new} @@\n{lines}"
        )
    }

    #[test]
    fn a_release_changes_notes_and_versions_and_nothing_else() {
        let notes = diff("HISTORY.md", "+- A thing.\n");
        let is_notes = |path: &RepoPath| path.file_name() == b"HISTORY.md";
        let is_aside = |path: &RepoPath| path.file_name() == b"Makefile";
        for (path, lines, only) in [
            (
                "src/requests/__version__.py",
                "-__version__ = \"2.32.4\"\n-__build__ = 0x023204\n+__version__ = \"2.33.0\"\n+__build__ = 0x023300\n",
                true,
            ),
            (
                "pkg/__init__.py",
                "-__version__ = \"1.0.dev0\"\n+__version__ = \"1.0\"\n",
                true,
            ),
            ("setup.py", "-    version=\"1.0\",\n+    version=\"1.1\",\n", true),
            ("pylint/__pkginfo__.py", "-dev = None\n+dev = 1\n", true),
            ("setup.py", "-    timeout=5,\n+    timeout=10,\n", false),
            ("pkg/__init__.py", "+from .lines import read\n", false),
            ("src/version.py", "-def version():\n+def version(short):\n", false),
        ] {
            let whole = format!("{notes}{}", diff(path, lines));
            assert_eq!(
                only_releases(whole.as_bytes(), &is_notes, &is_aside),
                only,
                "{path} {lines}"
            );
            assert!(may_hold_version(&RepoPath::from(path)));
        }
        assert!(only_releases(notes.as_bytes(), &is_notes, &is_aside));
        let tools = format!("{notes}{}", diff("Makefile", "-publish: build\n+publish:\n"));
        assert!(!only_releases(tools.as_bytes(), &is_notes, &is_aside));
        let release = tools + &diff("setup.py", "-    version=\"1.0\",\n+    version=\"1.1\",\n");
        assert!(only_releases(release.as_bytes(), &is_notes, &is_aside));
        assert!(!may_hold_version(&RepoPath::from("src/requests/api.py")));
    }
}
