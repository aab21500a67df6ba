//! Which section of a document a line is in.

use super::names;
use crate::domain::path::RepoPath;

/// The headings of a document that a line (from 1) stands under, outermost first: by the file's kind reStructuredText's,
/// Markdown's, or of a Python file its docstring's and the names of what is defined around the line. Others have none:
/// their `#` are comments.
pub(super) fn path(file: &RepoPath, text: &str, line: usize) -> Vec<String> {
    let name = String::from_utf8_lossy(file.file_name()).to_lowercase();
    // A byte order mark is no part of a title.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match name.rsplit_once('.').map_or("", |(_, suffix)| suffix) {
        "md" | "markdown" | "mdx" | "myst" | "qmd" | "rmd" => markdown(text, line),
        "rst" | "rest" | "inc" | "" => rst(text, line),
        "txt" if !is_list(&name) => rst(text, line),
        "py" => python(text, line),
        _ => vec![],
    }
}

/// Whether a text file's name says that it lists things for a program: requirements, words for a spelling checker.
pub(super) fn is_list(name: &str) -> bool {
    ["requirement", "constraint", "wordlist", "word_list", "cmakelists"]
        .iter()
        .any(|word| name.contains(word))
        || matches!(
            name,
            "robots.txt" | "deps.txt" | "dependencies.txt" | "spelling.txt" | "llms.txt"
        )
}

/// The headings that are open, each with its level.
#[derive(Default)]
struct Open(Vec<(usize, String)>);

impl Open {
    fn add(&mut self, level: usize, title: &str) {
        self.0.retain(|(outer, _)| *outer < level);
        self.0.push((level, title.to_owned()));
    }

    fn titles(self) -> Vec<String> {
        self.0.into_iter().map(|(_, title)| title).collect()
    }
}

/// The headings of reStructuredText.
pub(super) fn rst(text: &str, line: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut styles: Vec<(char, bool)> = vec![];
    let mut level_of = |style: (char, bool)| {
        let known = styles.iter().position(|known| *known == style);
        known.unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        })
    };
    let mut open = Open::default();
    let mut at = 0;
    while at < lines.len() && at < line {
        let words = lines[at];
        let next = lines.get(at + 1).copied().unwrap_or_default();
        if let Some(mark) = adornment(words)
            && !next.is_empty()
            && lines
                .get(at + 2)
                .is_some_and(|below| adornment(below) == Some(mark))
        {
            open.add(level_of((mark, true)), next.trim());
            at += 2;
        } else if is_title(&lines, at)
            && let Some(mark) = adornment(next)
        {
            open.add(level_of((mark, false)), words);
            at += 1;
        }
        at += 1;
    }
    open.titles()
}

fn markdown(text: &str, line: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut open = Open::default();
    let mut fence = false;
    let mut at = 0;
    while at < lines.len() && at < line {
        let words = lines[at];
        let start = words.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            fence = !fence && adornment(start).is_none_or(|mark| mark == '`' || mark == '~');
        } else if fence {
        } else if let Some((level, title)) = atx(words) {
            open.add(level, title);
        } else if is_title(&lines, at)
            && let Some(mark) = adornment(lines.get(at + 1).copied().unwrap_or_default())
            && let Some(level) = ['=', '-'].iter().position(|known| *known == mark)
        {
            open.add(level + 1, words);
            at += 1;
        }
        at += 1;
    }
    open.titles()
}

/// The titles of a file's docstring, as far as the line; below it the first one, and what is defined around the line.
fn python(text: &str, line: usize) -> Vec<String> {
    let mut titles = vec![];
    if let Some(docstring) = names::docstring(text) {
        let first = docstring.start;
        let is_inside = docstring.contains(&line.saturating_sub(1));
        let words = names::words(text, &docstring);
        titles = rst(&words, if is_inside { line - first } else { usize::MAX });
        if !is_inside {
            titles.truncate(usize::from(line > first));
        }
    }
    titles.extend(names::around(text, line));
    titles
}

/// Whether a line may be a title above its adornment.
fn is_title(lines: &[&str], at: usize) -> bool {
    let words = lines[at];
    let below = lines.get(at + 1).copied().unwrap_or_default();
    !words.is_empty()
        && !words.starts_with([' ', '\t'])
        && adornment(words).is_none()
        && below.len() >= words.chars().count().min(4)
        && (at == 0 || lines[at - 1].is_empty())
}

fn adornment(words: &str) -> Option<char> {
    let mark = words.chars().next().filter(char::is_ascii_punctuation)?;
    (words.len() >= 3 && words.chars().all(|c| c == mark)).then_some(mark)
}

fn atx(words: &str) -> Option<(usize, &str)> {
    let level = words.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &words[level..];
    ((1..=6).contains(&level) && rest.starts_with(' '))
        .then(|| (level, rest.trim().trim_end_matches('#').trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_under_its_headings() {
        let rst = |line| {
            let text =
                "=====\nTitle\n=====\n\nPart\n----\n\ntext\n\nDeep\n~~~~\n\nmore\n\nOther\n-----\nend\n";
            path(&RepoPath::from("a.rst"), text, line)
        };
        assert_eq!(rst(8), ["Title", "Part"]);
        assert_eq!(rst(13), ["Title", "Part", "Deep"]);
        assert_eq!(rst(17), ["Title", "Other"]);
        assert!(rst(0).is_empty());
        let markdown = |line| {
            let text = "---\nkey: x\n---\n# A\n## B\n```\n# no\n```\nx\n# C\ny\n\nD\n---\nz\n";
            path(&RepoPath::from("a.md"), text, line)
        };
        assert_eq!(markdown(9), ["A", "B"]);
        assert_eq!(markdown(11), ["C"]);
        assert_eq!(markdown(15), ["C", "D"]);
        assert_eq!(path(&RepoPath::from("a.md"), "\u{feff}# E\n", 1), ["E"]);
    }

    #[test]
    fn a_comment_is_no_heading() {
        let text = "# Set all up\n\"\"\"\nHeat\n====\n\nof a map\n\"\"\"\nimport a\n\n# Draw the figure\nclass Map:\n    def draw(self):\n        # now\n        pass\nx = 1\n";
        let python = |line| path(&RepoPath::from("examples/heat.py"), text, line);
        assert!(python(1).is_empty());
        assert_eq!(python(6), ["Heat"]);
        assert_eq!(python(10), ["Heat"]);
        assert_eq!(python(13), ["Heat", "Map", "draw"]);
        assert_eq!(python(15), ["Heat"]);
        assert!(path(&RepoPath::from("a.py"), "# One\nx = 1\ny = 2\n", 3).is_empty());
        for name in [
            "requirements.txt",
            "docs-requirements.txt",
            "style.css",
            "mkdocs.yml",
        ] {
            assert!(path(&RepoPath::from(name), "# One\n\nTwo\n---\nx\n", 5).is_empty());
        }
    }
}
