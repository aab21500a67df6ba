//! What a reader reads in each line of a document: its words, without what is there for a builder alone (comments, targets,
//! paths, options, tags). Samples of code are read as they stand.

mod html;
mod markdown;
mod rst;
mod wording;

use html::Html;
use markdown::Markdown;
use rst::Rst;
pub(super) use wording::wording;

use super::{headings, names, notebook};
use crate::domain::path::RepoPath;

/// Documents without an ending.
const PLAIN: &[&str] = &["readme", "install", "usage", "tutorial", "manual", "faq"];
/// Python files that tell a documentation's builder what to do.
const SETTINGS: &[&str] = &["conf.py", "setup.py", "noxfile.py", "conftest.py", "__init__.py"];
/// Sections of a manual, by which its pages' names end.
const MANUALS: &[&str] = &["1", "2", "3", "4", "5", "6", "7", "8"];
/// Folders of lists for programs.
const LIST_FOLDERS: &[&str] = &["requirements", "constraints"];
/// Folders whose tables are no part of a document.
const DATA_FOLDERS: &[&str] = &["_static", "data", "example", "examples"];
/// What a template of a document adds to its name.
const TEMPLATES: &[&str] = &[".jinja", ".jinja2", ".j2"];

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// reStructuredText, and text without a markup.
    Rst,
    /// Markdown.
    Markdown,
    /// A page of HTML, or a template of one.
    Html,
    /// Another markup: each line is read whole.
    Other,
    /// A notebook.
    Notebook,
    /// A Python file that may be a gallery's page.
    Gallery,
}

impl Kind {
    /// By a file's path; `None` for one that holds no text.
    pub(super) fn of(path: &RepoPath) -> Option<Self> {
        let name = String::from_utf8_lossy(path.file_name()).to_lowercase();
        // A template of a document is read as that.
        let name = TEMPLATES
            .iter()
            .find_map(|suffix| name.strip_suffix(*suffix))
            .unwrap_or(&name);
        let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
        Some(match suffix {
            "rst" | "rest" | "inc" => Self::Rst,
            "md" | "markdown" | "mdx" | "myst" | "qmd" | "rmd" => Self::Markdown,
            "html" | "htm" => Self::Html,
            "adoc" | "asciidoc" | "org" | "textile" | "rdoc" | "tex" | "pod" => Self::Other,
            _ if MANUALS.contains(&suffix) => Self::Other,
            "csv" if !is_in(path, DATA_FOLDERS) => Self::Other,
            "txt" if !headings::is_list(name) && !is_in(path, LIST_FOLDERS) => Self::Rst,
            "" if PLAIN.contains(&name) => Self::Rst,
            "ipynb" => Self::Notebook,
            "py" if !SETTINGS.contains(&name) => Self::Gallery,
            _ => return None,
        })
    }
}

fn is_in(path: &RepoPath, folders: &[&str]) -> bool {
    path.components()
        .rev()
        .skip(1)
        .any(|folder| folders.iter().any(|name| folder == name.as_bytes()))
}

/// What is read in each line of a document (of a notebook: of its cells, as a statement shows them). Lines behind the last
/// one of the answer hold nothing.
pub(super) fn read(kind: Kind, text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match kind {
        Kind::Rst => {
            let mut reader = Rst::default();
            text.lines().map(|line| reader.read(line)).collect()
        }
        Kind::Markdown => markdown::read(text),
        Kind::Html => {
            let mut reader = Html::page();
            text.lines().map(|line| reader.read(line, &[])).collect()
        }
        Kind::Other => text.lines().map(str::to_owned).collect(),
        Kind::Notebook => cells(text),
        Kind::Gallery => page(text),
    }
}

fn cells(text: &str) -> Vec<String> {
    let mut reader: Option<Markdown> = None;
    let lines = text.lines().map(|line| {
        let label = line.trim();
        if notebook::is_label(label) {
            let is_words = label == "[markdown cell]" || label == "[heading cell]";
            reader = is_words.then(Markdown::default);
            return String::new();
        }
        match &mut reader {
            Some(reader) => reader.read(line),
            None => line.to_owned(),
        }
    });
    lines.collect()
}

/// A gallery page's text: its docstring, when that begins with a title, and comments below a line that begins a block
/// (`# %%`, a row of `#`).
fn page(text: &str) -> Vec<String> {
    let Some(docstring) = names::docstring(text) else {
        return vec![];
    };
    let words = names::words(text, &docstring);
    if headings::rst(&words, usize::MAX).is_empty() {
        return vec![];
    }
    let words: Vec<&str> = words.lines().collect();
    let mut reader = Rst::default();
    let mut in_block = false;
    let lines = text.lines().enumerate().map(|(place, line)| {
        let is_row = line.len() >= 20 && line.bytes().all(|byte| byte == b'#');
        let begins = is_row || line.starts_with("# %%") || line.starts_with("#%%");
        let comment = line.strip_prefix('#').filter(|_| in_block && !begins);
        in_block = begins || comment.is_some();
        let said = if docstring.contains(&place) {
            words.get(place - docstring.start).copied().unwrap_or_default()
        } else {
            comment.map_or("", |comment| comment.strip_prefix(' ').unwrap_or(comment))
        };
        reader.read(said)
    });
    lines.collect()
}

#[cfg(test)]
mod tests;
