//! What a reader reads of reStructuredText.

use super::html::Html;
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

/// Reads reStructuredText line by line.
#[derive(Default)]
pub(super) struct Rst {
    side: Side,
    /// Lines further in than this are left out.
    left_out: Option<(usize, End)>,
    /// How far a directive is indented whose options may follow, and the last of these.
    options: Option<(usize, Option<usize>)>,
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
        if let Some((outer, end)) = self.left_out {
            if indent > outer {
                let end = if end == End::BlankNext { End::Indent } else { end };
                self.left_out = Some((outer, end));
                return String::new();
            }
            self.left_out = None;
        }
        if self.is_option(words, indent) {
            return String::new();
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
        if (!self.has_begun && is_field(words)) || words.starts_with("__ ") {
            return String::new();
        }
        self.has_begun = true;
        without_targets(body)
    }

    /// Whether a line is an option of the directive above it, or goes on with one.
    fn is_option(&mut self, words: &str, indent: usize) -> bool {
        let Some((outer, last)) = self.options else {
            return false;
        };
        if last.is_some_and(|last| indent > last) {
            return true;
        }
        let is_option = indent > outer && is_field(words);
        self.options = is_option.then_some((outer, Some(indent)));
        is_option
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
        self.options = Some((indent, None));
        let reading = match (substitution, name) {
            (None, _) => Reading::of(name, argument),
            (Some(_), "replace") => Reading::All,
            (Some(_), _) => Reading::Below,
        };
        match reading {
            Reading::All => return without_targets(argument),
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
