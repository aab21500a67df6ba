//! How many lines of text a change of documentation adds: what there is to read in its statement.
//!
//! Text is in documents (reStructuredText, Markdown, plain text), in the cells of notebooks, and in pages of galleries that
//! are written as Python files. Settings, requirements, style sheets, pictures and outputs of cells hold none; what only
//! moved, or is only gone, adds none.

use std::collections::BTreeMap;

use super::render::DocsFile;
use super::{headings, names, notebook};
use crate::domain::charset::Charset;
use crate::domain::path::RepoPath;

/// Documents without an ending.
const PLAIN: &[&str] = &["readme", "install", "usage", "tutorial", "manual", "faq"];
/// Python files that tell a documentation's builder what to do.
const SETTINGS: &[&str] = &["conf.py", "setup.py", "noxfile.py", "conftest.py", "__init__.py"];

/// What of a file has to be known to count its lines of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Nothing: it holds no text.
    Nothing,
    /// Its section of the diff.
    Section,
    /// The section, and its bytes before and after.
    Sides,
}

/// What has to be known of this file.
pub fn reads(path: &RepoPath) -> Reads {
    let name = String::from_utf8_lossy(path.file_name()).to_lowercase();
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    match suffix {
        "rst" | "rest" | "inc" | "md" | "markdown" | "mdx" | "myst" | "qmd" | "rmd" | "adoc" | "asciidoc"
        | "org" | "textile" | "rdoc" => Reads::Section,
        "txt" if !headings::is_list(&name) && !is_in_list_folder(path) => Reads::Section,
        "" if PLAIN.contains(&name.as_str()) => Reads::Section,
        "ipynb" => Reads::Sides,
        "py" if !SETTINGS.contains(&name.as_str()) => Reads::Sides,
        _ => Reads::Nothing,
    }
}

fn is_in_list_folder(path: &RepoPath) -> bool {
    path.components()
        .rev()
        .skip(1)
        .any(|folder| folder == b"requirements" || folder == b"constraints")
}

/// The lines of text that a change of documentation adds.
pub fn text_lines(files: &[DocsFile]) -> u64 {
    let (mut added, mut removed) = (vec![], BTreeMap::<String, usize>::new());
    for file in files {
        let change = change(file);
        added.extend(change.added);
        for line in change.removed {
            *removed.entry(line).or_default() += 1;
        }
    }
    let is_new = |line: &String| match removed.get_mut(line) {
        // It stood somewhere else before.
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    added.retain(is_new);
    added.len() as u64
}

/// Whether a statement shows a changed line with words, whatever it is of.
pub fn says_something(statement: &str) -> bool {
    let mut in_head = false;
    statement.lines().any(|line| {
        if line.starts_with("diff --git ") {
            in_head = true;
        } else if line.starts_with("@@ ") {
            in_head = false;
        }
        !in_head && line.starts_with(['+', '-']) && line.chars().any(char::is_alphanumeric)
    })
}

/// Lines with words, without blanks around them.
#[derive(Default)]
struct Change {
    added: Vec<String>,
    removed: Vec<String>,
}

fn change(file: &DocsFile) -> Change {
    let whole = file.after.as_deref().or(file.before.as_deref());
    let charset = Charset::of(whole.unwrap_or(&file.section));
    match reads(&file.path) {
        Reads::Nothing => Change::default(),
        Reads::Section => lines(&charset.decode(&file.section), |_| true, |_| true),
        Reads::Sides if file.path.has_extension("ipynb") => {
            let (before, after) = (file.before.as_deref(), file.after.as_deref());
            let cells = notebook::diff(&file.path.to_string(), before, after).unwrap_or_default();
            lines(&cells, |_| true, |_| true)
        }
        Reads::Sides => {
            let page = |bytes: &Option<Vec<u8>>| {
                let text = bytes.as_deref().map(|bytes| charset.decode(bytes));
                text.map(|text| page(&text)).unwrap_or_default()
            };
            let (before, after) = (page(&file.before), page(&file.after));
            let holds = |page: &[bool], line: usize| page.get(line).copied().unwrap_or_default();
            lines(
                &charset.decode(&file.section),
                |line| holds(&before, line),
                |line| holds(&after, line),
            )
        }
    }
}

/// The lines that a diff of one file removes and adds and that have words, of those whose place (from 0) on their side is
/// one of text.
fn lines(diff: &str, is_old_text: impl Fn(usize) -> bool, is_new_text: impl Fn(usize) -> bool) -> Change {
    let mut change = Change::default();
    let mut in_hunk = false;
    let (mut old, mut new) = (0, 0);
    for line in diff.lines() {
        if line.starts_with("diff --git ") {
            in_hunk = false;
        } else if line.starts_with("@@ ") {
            in_hunk = true;
            (old, new) = (start(line, '-'), start(line, '+'));
        } else if in_hunk {
            let mark = line.chars().next().unwrap_or(' ');
            let words = line.get(1..).unwrap_or_default().trim();
            let is_told = words.chars().any(char::is_alphanumeric) && !notebook::is_label(words);
            if is_told && mark == '+' && is_new_text(new) {
                change.added.push(words.to_owned());
            }
            if is_told && mark == '-' && is_old_text(old) {
                change.removed.push(words.to_owned());
            }
            old += usize::from(mark == '-' || mark == ' ');
            new += usize::from(mark == '+' || mark == ' ');
        }
    }
    change
}

/// The place, from 0, of a hunk's first line on a side.
fn start(head: &str, mark: char) -> usize {
    let digits = head.split(mark).nth(1).unwrap_or_default();
    let digits = digits
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    digits.parse::<usize>().unwrap_or_default().saturating_sub(1)
}

/// Which lines of a Python file are a gallery page's text: its docstring, when that begins with a title, and comments below
/// a line that begins a block (`# %%`, a row of `#`).
fn page(text: &str) -> Vec<bool> {
    let Some(docstring) = names::docstring(text) else {
        return vec![];
    };
    if headings::rst(&names::words(text, &docstring), usize::MAX).is_empty() {
        return vec![];
    }
    let mut in_block = false;
    let lines = text.lines().enumerate().map(|(place, line)| {
        let is_row = line.len() >= 20 && line.bytes().all(|byte| byte == b'#');
        let begins = is_row || line.starts_with("# %%") || line.starts_with("#%%");
        let is_text = in_block && line.starts_with('#') && !begins;
        in_block = begins || is_text;
        is_text || docstring.contains(&place)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, before: Option<&str>, after: Option<&str>) -> DocsFile {
        let hunks = notebook::hunks(before.unwrap_or_default(), after.unwrap_or_default());
        DocsFile {
            path: RepoPath::from(path),
            section: format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{hunks}")
                .into_bytes(),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec()),
        }
    }

    fn count(path: &str, before: &str, after: &str) -> u64 {
        text_lines(&[file(path, Some(before), Some(after))])
    }

    #[test]
    fn documents_hold_text_and_settings_hold_none() {
        for (path, lines) in [
            ("docs/a.rst", 2),
            ("docs/a.md", 2),
            ("docs/a.txt", 2),
            ("README", 2),
            ("docs/requirements.txt", 0),
            ("docs/requirements/dev.txt", 0),
            ("docs/spelling_wordlist.txt", 0),
            ("docs/conf.py", 0),
            ("docs/style.css", 0),
            ("docs/mkdocs.yml", 0),
            ("examples/pylintrc", 0),
            ("docs/exts/make.py", 0),
        ] {
            assert_eq!(count(path, "old\nmore\n", "\"\"\"new\nand\n"), lines, "{path}");
        }
        let picture = DocsFile {
            section: b"diff --git a/d/a.png b/d/a.png\nindex 0..1\nGIT binary patch\nliteral 3\nKcmZ\n"
                .to_vec(),
            ..file("d/a.png", None, None)
        };
        assert_eq!(text_lines(&[picture]), 0);
    }

    #[test]
    fn what_is_gone_or_only_moved_adds_nothing() {
        assert_eq!(count("a.rst", "one\ntwo\n\n===\n", "two\n\n----\n\n"), 0);
        let (gone, new) = (file("a.md", Some("one\ntwo\n"), None), "two\n  one\nthree\none\n");
        assert_eq!(text_lines(&[gone, file("b.md", None, Some(new))]), 2);
        let renamed = DocsFile {
            section: b"diff --git a/a.md b/b.md\nsimilarity index 100%\nrename from a.md\nrename to b.md\n"
                .to_vec(),
            ..file("b.md", Some("one\n"), Some("one\n"))
        };
        assert_eq!(text_lines(&[renamed]), 0);
        let latin = DocsFile {
            section: b"diff --git a/a.md b/a.md\n@@ -0,0 +1 @@\n+\xe9\xe8\n".to_vec(),
            ..file("a.md", None, None)
        };
        assert_eq!(text_lines(&[latin]), 1);
    }

    #[test]
    fn notebooks_count_by_their_cells_and_galleries_by_their_pages() {
        let cells = |text: &str, output: u8| {
            format!(
                r#"{{"cells":[{{"cell_type":"markdown","source":["a\n","{text}"]}},{{"cell_type":"code","source":"x","outputs":[{output}]}}],"nbformat":4}}"#
            )
        };
        assert_eq!(count("a.ipynb", &cells("b", 1), &cells("b", 2)), 0);
        assert_eq!(count("a.ipynb", &cells("b", 1), &cells("c", 1)), 1);
        assert_eq!(text_lines(&[file("a.ipynb", None, Some(&cells("b", 1)))]), 3);
        let page = |said: &str, done: &str, told: &str| {
            format!("\"\"\"\nHeat\n====\n{said}\n\"\"\"\n{done}\n# %%\n# {told}\n\n# no\n")
        };
        let old = page("a", "x = 1", "b");
        assert_eq!(count("examples/a.py", &old, &page("a", "x = 2", "b")), 0);
        assert_eq!(count("examples/a.py", &old, &page("c", "x = 1", "d")), 2);
    }
}
