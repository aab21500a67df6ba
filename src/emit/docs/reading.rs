//! How many lines of text a change of documentation adds: what there is to read in its statement.
//!
//! Text is in documents (reStructuredText, Markdown, plain text, HTML), in the cells of notebooks, and in pages of galleries
//! that are written as Python files. Settings, requirements, style sheets, pictures and outputs of cells hold none; nor do
//! comments, targets and tags, nor directives behind which nothing but paths and options of layout stands. A line that says
//! what was said there before adds none: what only moved, was wrapped anew, or got other quotes, roles, blanks, capitals or
//! marks at the ends of words; other signs are said (`<`, `-1`). A line that stays is added where it was not read before.

use std::collections::BTreeMap;

use super::notebook;
use super::prose::{self, Kind, wording};
use super::render::DocsFile;
use crate::domain::charset::Charset;
use crate::domain::path::RepoPath;

/// Whether a file may hold text, so that its bytes before and after a change have to be known.
pub fn holds_text(path: &RepoPath) -> bool {
    Kind::of(path).is_some()
}

/// The lines of text that a change of documentation adds.
pub fn text_lines(files: &[DocsFile]) -> u64 {
    let (mut added, mut removed) = (vec![], BTreeMap::<String, usize>::new());
    for file in files {
        let change = change(file);
        added.extend(change.added);
        for words in change.removed {
            *removed.entry(words).or_default() += 1;
        }
    }
    let is_new = |words: &String| match removed.get_mut(words) {
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

/// What is said in lines that say something.
#[derive(Default)]
struct Change {
    added: Vec<String>,
    removed: Vec<String>,
}

fn change(file: &DocsFile) -> Change {
    let Some(kind) = Kind::of(&file.path) else {
        return Change::default();
    };
    let (before, after) = (file.before.as_deref(), file.after.as_deref());
    if kind == Kind::Notebook {
        let Some(cells) = notebook::diff(&file.path.to_string(), before, after) else {
            return Change::default();
        };
        let side = |bytes: Option<&[u8]>| {
            bytes
                .and_then(notebook::cells)
                .map(|text| prose::read(kind, &text))
        };
        return lines(&cells, side(before).as_deref(), side(after).as_deref());
    }
    let charset = Charset::of(after.or(before).unwrap_or(&file.section));
    let side = |bytes: Option<&[u8]>| bytes.map(|bytes| prose::read(kind, &charset.decode(bytes)));
    lines(
        &charset.decode(&file.section),
        side(before).as_deref(),
        side(after).as_deref(),
    )
}

/// The lines that a diff of one file removes and adds, of those in which something is read: by what is read in each line
/// of a side, or, where that is not known, by the diff's own lines. A line that is on both sides is added when it is read
/// on the new one alone: it stands in a comment no more.
fn lines(diff: &str, old: Option<&[String]>, new: Option<&[String]>) -> Change {
    let (mut change, mut run) = (Change::default(), Change::default());
    let shown = |before: usize, after: usize| {
        let (old, new) = (old?, new?);
        let said = said(new, after);
        (!said.is_empty() && self::said(old, before).is_empty()).then_some(said)
    };
    let mut in_hunk = false;
    let (mut before, mut after) = (0, 0);
    for line in diff.lines() {
        if line.starts_with("diff --git ") {
            in_hunk = false;
        } else if line.starts_with("@@ ") {
            in_hunk = true;
            let (old_start, new_start) = (start(line, '-'), start(line, '+'));
            if old_start.checked_sub(before) == new_start.checked_sub(after) {
                let between = (before..old_start).zip(after..new_start);
                change
                    .added
                    .extend(between.filter_map(|(before, after)| shown(before, after)));
            }
            (before, after) = (old_start, new_start);
        } else if in_hunk {
            let text = line.get(1..).unwrap_or_default();
            match line.chars().next() {
                Some('+') => {
                    run.added.push(read(new, after, text));
                    after += 1;
                }
                Some('-') => {
                    run.removed.push(read(old, before, text));
                    before += 1;
                }
                // A remark on the line before.
                Some('\\') => {}
                _ => {
                    change.take(&mut run);
                    change.added.extend(shown(before, after));
                    (before, after) = (before + 1, after + 1);
                }
            }
            continue;
        }
        change.take(&mut run);
    }
    change.take(&mut run);
    let lines = old.map_or(0, <[String]>::len);
    change.added.extend(
        (before..lines)
            .zip(after..)
            .filter_map(|(before, after)| shown(before, after)),
    );
    change
}

/// What is read in a side's line; all of the diff's own line where the side is not known.
fn read(side: Option<&[String]>, place: usize, line: &str) -> String {
    match side {
        Some(side) => side.get(place).cloned().unwrap_or_default(),
        None => line.to_owned(),
    }
}

/// What is said in a side's line.
fn said(side: &[String], place: usize) -> String {
    side.get(place).map(|line| wording(line)).unwrap_or_default()
}

impl Change {
    /// Takes what is read in the lines of one place, unless they say the same as before.
    fn take(&mut self, run: &mut Self) {
        let run = std::mem::take(run);
        let (added, new) = with_wording(run.added);
        let (removed, gone) = with_wording(run.removed);
        // Emphasis may begin on one line and end on another.
        if wording(&added.join(" ")) != wording(&removed.join(" ")) {
            self.added.extend(new);
            self.removed.extend(gone);
        }
    }
}

/// The lines that say something, and what they say.
fn with_wording(lines: Vec<String>) -> (Vec<String>, Vec<String>) {
    let told = lines.into_iter().map(|line| {
        let said = wording(&line);
        (line, said)
    });
    told.filter(|(_, said)| !said.is_empty()).unzip()
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
            ("docs/a.html", 2),
            ("README", 2),
            ("docs/a.md.jinja", 2),
            ("docs/a.csv", 2),
            ("docs/a.1", 2),
            ("docs/_static/a.csv", 0),
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
    fn words_that_stood_there_are_nothing_new() {
        for (before, after, lines) in [
            ("One thing.\n", "one  `thing`\n", 0),
            ("one two\nthree\n", "one\ntwo three\n", 0),
            ("one two\nthree\n", "one\ntwo three four\n", 2),
            ("one two\n", "two one\n", 1),
            ("a_b\n", "a-b\n", 1),
            ("__a__\n", "**a**\n", 0),
            ("a\n\nb\n\nc\n", "A!\n\nx\n\nC\n", 1),
            ("Use `x > 3`.\n", "Use `x < 3`.\n", 1),
            ("Take *args.\n", "Take **args.\n", 1),
            ("It is -1.\n", "It is 1.\n", 1),
            ("| a | ✗ |\n", "| a | ✓ |\n", 1),
            (
                "**one two** [three four](a.md)\n",
                "**one\ntwo** [three\nfour](a.md)\n",
                0,
            ),
            ("- one\n- two\n", "1. one\n2. two\n", 0),
            ("# One\n", "## [One](a.md) {#one}\n", 0),
        ] {
            assert_eq!(count("a.md", before, after), lines, "{after}");
        }
    }

    #[test]
    fn what_is_around_a_hunk_says_whether_its_lines_are_read() {
        let comment = "..\n   a\n   b\n   c\n   d\n   e\n";
        assert_eq!(count("a.rst", comment, &[comment, "   more\n"].concat()), 0);
        assert_eq!(count("a.rst", comment, &[comment, "more\n"].concat()), 1);
        assert_eq!(count("a.rst", ".. one two\n", "one two\n"), 1);
        assert_eq!(count("a.rst", "one two\n", ".. one two\n"), 0);
        assert_eq!(count("a.md", "<!--\none\n-->\n", "one\n"), 1);
        assert_eq!(count("a.md", "one\n", "<!--\none\n-->\n"), 0);
        let hidden = |mark: &str| format!("a\n\n{mark}   one\n\n\n\n\n\n\n\n   two\n\nb\n");
        assert_eq!(count("a.rst", &hidden("..\n"), &hidden("")), 2);
        let option = |value: &str| format!(".. confval:: a\n   :type: {value}\n   :class: {value}\n");
        assert_eq!(count("a.rst", &option("int"), &option("float")), 1);
        let head = "---\na: b\nc: d\ne: f\ng: h\n";
        let document = |key: &str, words: &str| [head, key, "---\n\n\n\n\n", words].concat();
        assert_eq!(count("a.md", &document("", "x\n"), &document("i: j\n", "x\n")), 0);
        assert_eq!(count("a.md", &document("", "x\n"), &document("i: j\n", "y\n")), 1);
        let page = |words: &str| format!("<style>\na\nb\nc\nd\n{words}\n</style>\n<p>{words}</p>\n");
        assert_eq!(count("a.html", &page("x"), &page("y")), 1);
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
