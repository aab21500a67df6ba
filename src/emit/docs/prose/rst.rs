//! What a reader reads of reStructuredText.

use super::html::Html;
use super::wording::{is_template, without_layout};
use crate::emit::docs::code::{self, Markup, Side};

/// Directives of which nothing is read: neither what stands behind them nor what stands below.
const MUTE: &[&str] = &[
    "bibliography",
    "codeauthor",
    "contents",
    "include",
    "index",
    "meta",
    "sectionauthor",
    "tabularcolumns",
    "tags",
    "toctree",
];
/// Directives behind which a path, a name or a setting stands; what stands below them is text.
const SILENT: &[&str] = &[
    "argparse",
    "automodule",
    "autosummary",
    "click",
    "command-output",
    "container",
    "cssclass",
    "currentmodule",
    "default-domain",
    "default-role",
    "figure",
    "grid",
    "hlist",
    "ifconfig",
    "image",
    "inheritance-diagram",
    "minigallery",
    "module",
    "only",
    "program",
    "program-output",
    "role",
    "rst-class",
    "tab-set",
    "video",
    "youtube",
];

/// Other directives whose options are about their looks.
const LAYOUT: &[&str] = &[
    "button-link",
    "button-ref",
    "card",
    "csv-table",
    "dropdown",
    "flat-table",
    "grid-item",
    "grid-item-card",
    "list-table",
    "tab-item",
    "table",
];
/// Options about looks, names and links of whatever directive.
const LAYOUT_OPTIONS: &[&str] = &[
    "align",
    "canonical",
    "class",
    "collapsible",
    "color",
    "figclass",
    "figwidth",
    "header-rows",
    "height",
    "hidden",
    "icon",
    "label",
    "link",
    "link-type",
    "module",
    "name",
    "no-contents-entry",
    "no-index",
    "no-index-entry",
    "no-typesetting",
    "nocontentsentry",
    "noindex",
    "noindexentry",
    "open",
    "scale",
    "single-line-parameter-list",
    "stub-columns",
    "sync",
    "target",
    "width",
    "widths",
];
/// Options of whatever directive for which words are given.
const WORD_OPTIONS: &[&str] = &[
    "alt",
    "caption",
    "description",
    "header",
    "summary",
    "synopsis",
    "title",
];
/// Directives behind which versions stand, and how many.
const VERSIONED: &[(&str, usize)] = &[
    ("deprecated", 1),
    ("deprecated-removed", 2),
    ("versionadded", 1),
    ("versionchanged", 1),
    ("versionremoved", 1),
];

/// What of a directive is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// What stands behind it, and below.
    All,
    /// What stands below it.
    Below,
    /// What stands below it, as it stands.
    Code,
    /// What stands between the tags below it.
    Html,
    /// Nothing.
    Nothing,
}

impl Reading {
    /// By a directive's name and what stands behind it.
    pub(super) fn of(name: &str, argument: &str) -> Self {
        // A domain's name says nothing here (`py:module`).
        let name = name.rsplit(':').next().unwrap_or_default();
        match name {
            "raw" if argument.contains("html") => Self::Html,
            "raw" => Self::Nothing,
            _ if MUTE.contains(&name) => Self::Nothing,
            // A formula may stand behind its directive.
            _ if code::CODE.contains(&name) && name != "math" => Self::Code,
            _ if SILENT.contains(&name) => Self::Below,
            // What others of the sort of `autofunction` show is written elsewhere, but they name what there is.
            _ => Self::All,
        }
    }
}

/// What is read of the words behind a directive that is read: not the versions that it tells of.
pub(super) fn behind<'w>(name: &str, argument: &'w str) -> &'w str {
    let versions = VERSIONED
        .iter()
        .find(|(versioned, _)| *versioned == name)
        .map_or(0, |(_, count)| *count);
    (0..versions).fold(argument, |rest, _| {
        rest.split_once(char::is_whitespace)
            .map_or("", |(_, words)| words.trim_start())
    })
}

/// Whether a directive's options are known to be about its looks, or about what is written elsewhere.
pub(super) fn is_of_layout(name: &str) -> bool {
    let name = name.rsplit(':').next().unwrap_or_default();
    name.starts_with("auto")
        || [MUTE, SILENT, LAYOUT, code::CODE]
            .iter()
            .any(|names| names.contains(&name))
}

/// What is read of a line that gives a directive's option: the words that are given, or the line where the directive tells
/// something by it (`:type: int`).
pub(super) fn told<'w>(line: &'w str, name: &str, value: &'w str, is_of_layout: bool) -> Option<&'w str> {
    let name = name.split_whitespace().next().unwrap_or_default();
    if WORD_OPTIONS.contains(&name) {
        Some(value)
    } else {
        (!is_of_layout && !LAYOUT_OPTIONS.contains(&name)).then_some(line)
    }
}

/// What ends lines that are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// A line that is not further in.
    Indent,
    /// The same, or a blank line.
    Blank,
    /// The same, or a blank line that comes next.
    BlankNext,
}

/// A directive whose options may follow.
struct Options {
    /// How far the directive is indented.
    outer: usize,
    is_of_layout: bool,
    /// How far the last option is indented.
    last: Option<usize>,
    /// Whether the last option is read.
    is_told: bool,
}

/// Reads reStructuredText line by line.
#[derive(Default)]
pub(super) struct Rst {
    side: Side,
    /// Lines further in than this are left out.
    left_out: Option<(usize, End)>,
    options: Option<Options>,
    /// How far a directive is indented below which HTML stands.
    html: Option<(usize, Html)>,
    /// Whether the text has begun: fields before it are about the file.
    has_begun: bool,
}

impl Rst {
    /// What is read in the next line.
    pub(super) fn read(&mut self, line: &str) -> String {
        let body = line.trim_end();
        let words = body.trim_start();
        let indent = body.len() - words.len();
        if words.is_empty() {
            self.options = None;
            self.left_out = self.left_out.filter(|(_, end)| *end == End::Indent);
            self.side.takes(Markup::Rst, body);
            return String::new();
        }
        if let Some(said) = self.option(words, indent) {
            return said;
        }
        if let Some((outer, end)) = self.left_out {
            if indent > outer {
                let end = if end == End::BlankNext { End::Indent } else { end };
                self.left_out = Some((outer, end));
                return String::new();
            }
            self.left_out = None;
        }
        if self.html.as_ref().is_some_and(|(outer, _)| indent <= *outer) {
            self.html = None;
        }
        if self.side.takes(Markup::Rst, body) {
            return match &mut self.html {
                Some((_, html)) => html.read(body, &[]),
                None => body.to_owned(),
            };
        }
        if words == ".." || words.starts_with(".. ") {
            return self.explicit(words[2..].trim_start(), indent);
        }
        if (!self.has_begun && is_field(words)) || words.starts_with("__ ") || is_template(words) {
            return String::new();
        }
        self.has_begun = true;
        without_layout(&without_targets(body)).to_owned()
    }

    /// What is read of a line that is an option of the directive above it, or goes on with one; `None` for another line.
    fn option(&mut self, words: &str, indent: usize) -> Option<String> {
        let open = self.options.as_mut()?;
        if open.last.is_some_and(|last| indent > last) {
            return Some(if open.is_told {
                without_targets(words)
            } else {
                String::new()
            });
        }
        let is_option = indent > open.outer && is_field(words);
        let field = words.strip_prefix(':').and_then(|rest| rest.split_once(':'));
        let Some((name, value)) = field.filter(|_| is_option) else {
            self.options = None;
            return None;
        };
        let told = told(words, name, value, open.is_of_layout);
        open.last = Some(indent);
        open.is_told = told.is_some();
        Some(told.map(without_targets).unwrap_or_default())
    }

    /// Takes what stands behind `..`; says what of it is read.
    fn explicit(&mut self, rest: &str, indent: usize) -> String {
        if rest.is_empty() {
            self.left_out = Some((indent, End::BlankNext));
            return String::new();
        }
        if rest.starts_with('_') {
            self.left_out = Some((indent, End::Blank));
            return String::new();
        }
        // A footnote or a citation.
        if let Some((label, note)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && !label.is_empty()
        {
            self.has_begun = true;
            return without_targets(note);
        }
        let substitution = rest.strip_prefix('|').and_then(|rest| rest.split_once('|'));
        let Some((name, argument)) = directive(substitution.map_or(rest, |(_, rest)| rest.trim_start()))
        else {
            self.left_out = Some((indent, End::Indent));
            return String::new();
        };
        self.has_begun = true;
        self.options = Some(Options {
            outer: indent,
            is_of_layout: is_of_layout(name),
            last: None,
            is_told: false,
        });
        let reading = match (substitution, name) {
            (None, _) => Reading::of(name, argument),
            (Some(_), "replace") => Reading::All,
            (Some(_), _) => Reading::Below,
        };
        match reading {
            Reading::All => return without_targets(behind(name, argument)),
            Reading::Nothing => self.left_out = Some((indent, End::Indent)),
            Reading::Html => self.html = Some((indent, Html::default())),
            Reading::Below | Reading::Code => {}
        }
        String::new()
    }
}

/// A directive's name, and what stands behind it.
fn directive(rest: &str) -> Option<(&str, &str)> {
    let (name, argument) = rest.split_once("::")?;
    let name = name.strip_suffix(' ').unwrap_or(name);
    let is_name = name.starts_with(char::is_alphanumeric)
        && name.chars().all(|c| c.is_alphanumeric() || "-_.:+".contains(c));
    let is_directive = is_name && (argument.is_empty() || argument.starts_with(char::is_whitespace));
    is_directive.then(|| (name, argument.trim()))
}

/// Whether a line begins a field (`:name: value`).
pub(super) fn is_field(words: &str) -> bool {
    let name = words.strip_prefix(':').and_then(|rest| rest.split_once(':'));
    name.is_some_and(|(name, value)| {
        !name.is_empty()
            && !name.starts_with(char::is_whitespace)
            && !name.contains('`')
            && (value.is_empty() || value.starts_with(char::is_whitespace))
    })
}

/// A line without where its links and roles lead: `` `words <target>`_ `` is read as its words.
fn without_targets(line: &str) -> String {
    let mut said = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(" <") {
        let (before, target) = rest.split_at(at);
        said.push_str(before);
        let after = target[2..].split_once('>').filter(|(path, after)| {
            !path.contains('<') && after.starts_with('`') && !after.starts_with("``")
        });
        rest = if let Some((_, after)) = after {
            after
        } else {
            said.push_str(" <");
            &target[2..]
        };
    }
    said.push_str(rest);
    said
}
