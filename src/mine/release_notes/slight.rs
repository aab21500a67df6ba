//! Which pull requests change nothing but release notes and version numbers: who writes down what others did, and who
//! releases it. A release may tidy documentation on the way; a change of documentation with an entry of its own is none.

use std::sync::LazyLock;

use regex::Regex;

use super::versions::{of_heading, release_line};
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

/// Who touches as many entries as this does not tell of a change of its own.
const SEVERAL: usize = 3;

/// What a file is, for telling who only releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Release notes.
    Notes,
    /// A file for one entry.
    Fragment,
    /// Documentation.
    Docs,
    /// Neither source nor tests nor documentation: a release's own tools, say.
    Aside,
    /// Source, or a test.
    Change,
}

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
/// source nor tests nor documentation; who gives a version its date, or touches several entries (`told` is how many it is
/// the writer of), documentation, too.
pub(super) fn only_releases(diff: &[u8], role: &dyn Fn(&RepoPath) -> Role, told: usize) -> bool {
    let (mut versions, mut asides, mut docs, mut touched) = (0, 0, 0, 0);
    let mut is_dated = false;
    for file in file_changes(diff) {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let section = diff.get(place(file.start)..place(file.end)).unwrap_or_default();
        match role(&file.path) {
            Role::Notes => {
                let (gone, new) = changed_lines(section);
                touched += gone.iter().filter(|line| is_item(line)).count();
                is_dated |= new.iter().any(|line| tells_date(line));
            }
            Role::Fragment => touched += 1,
            _ if !file.binary && changes_version(section, is_of_version(&file.path)) => versions += 1,
            Role::Docs => docs += 1,
            Role::Aside => asides += 1,
            Role::Change => return false,
        }
    }
    let is_of_many = is_dated || told >= SEVERAL || touched >= SEVERAL;
    is_of_many || (docs == 0 && (asides == 0 || versions > 0))
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    ["- ", "* ", "+ ", "• "]
        .iter()
        .any(|mark| line.trim_start().starts_with(mark))
}

/// Whether a line of the notes is a heading that dates a version, or a line below one that does.
fn tells_date(line: &str) -> bool {
    let line = line.trim_end();
    let title = || of_heading(line).and_then(|title| title.date);
    let below = || release_line(line).and_then(|below| below.date);
    !line.starts_with(char::is_whitespace) && !is_item(line) && title().or_else(below).is_some()
}

/// The lines of a file's hunks that went, and those that came.
fn changed_lines(section: &[u8]) -> (Vec<String>, Vec<String>) {
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
    (gone, new)
}

fn changes_version(section: &[u8], named_for_it: bool) -> bool {
    let (gone, new) = changed_lines(section);
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

    fn role(path: &RepoPath) -> Role {
        match path.to_str().unwrap_or_default() {
            "HISTORY.md" => Role::Notes,
            "Makefile" => Role::Aside,
            path if path.starts_with("news/") => Role::Fragment,
            path if path.starts_with("docs/") => Role::Docs,
            _ => Role::Change,
        }
    }

    #[test]
    fn a_release_changes_notes_and_versions_and_nothing_else() {
        let notes = diff("HISTORY.md", "+- A thing.\n");
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
            assert_eq!(only_releases(whole.as_bytes(), &role, 1), only, "{path} {lines}");
            assert!(may_hold_version(&RepoPath::from(path)));
        }
        assert!(only_releases(notes.as_bytes(), &role, 1));
        let tools = format!("{notes}{}", diff("Makefile", "-publish: build\n+publish:\n"));
        assert!(!only_releases(tools.as_bytes(), &role, 1));
        let release = tools + &diff("setup.py", "-    version=\"1.0\",\n+    version=\"1.1\",\n");
        assert!(only_releases(release.as_bytes(), &role, 1));
        assert!(!may_hold_version(&RepoPath::from("src/requests/api.py")));
    }

    #[test]
    fn a_release_may_tidy_documentation_where_it_is_plain_that_it_is_one() {
        let page = diff("docs/guide.md", "+A label.\n");
        let notes = |lines: &str| diff("HISTORY.md", lines);
        let own = notes("+- A guide tells how to do things.\n");
        let dated = notes("-1.2.0 (unreleased)\n+1.2.0 (Jun 10, 2025)\n");
        let below = notes("-Release date: TBA\n+Release date: 2025-06-10\n");
        let in_words = notes("+- It is as in 1.1.0 (Jun 1, 2025).\n+  1.1.0 (Jun 1, 2025)\n");
        let begun = notes("+1.2.0 (unreleased)\n+- A guide tells how to do things.\n");
        let tidied = notes("-- One.\n-* Two.\n-  + Three.\n+- One, two, three.\n");
        let source = diff("src/a.py", "+a = 1\n");
        let deleted = |path: &str| {
            format!(
                "diff --git a/{path} b/{path}\ndeleted file mode 100644\nindex 1111111..0000000\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-Word.\n"
            )
        };
        let taken: String = ["news/1.md", "news/2.md", "news/3.md"].map(deleted).concat();
        let brought = diff("news/4.md", "+A guide tells how to do things.\n");
        for (change, told, only) in [
            (&own, 1, false),
            (&brought, 1, false),
            (&own, 3, true),
            (&dated, 1, true),
            (&below, 1, true),
            (&in_words, 1, false),
            (&begun, 1, false),
            (&tidied, 1, true),
            (&taken, 1, true),
        ] {
            let whole = format!("{change}{page}");
            assert_eq!(only_releases(whole.as_bytes(), &role, told), only, "{change}");
            let with_source = format!("{whole}{source}");
            assert!(!only_releases(with_source.as_bytes(), &role, told), "{change}");
        }
    }
}
