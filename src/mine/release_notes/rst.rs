//! reStructuredText, and plain text of its kind, as lines that are understood. Lenient: what docutils would warn of is
//! read as it was meant.

use std::borrow::Cow;
use std::collections::HashMap;

use super::links;
use super::pieces::{Mark, Piece, after_bullet, bold_line, indented, number};

/// Directives whose body is code, or the like.
const LITERAL: &[&str] = &[
    "code",
    "code-block",
    "sourcecode",
    "literalinclude",
    "parsed-literal",
    "math",
    "doctest",
    "testcode",
    "testoutput",
    "prompt",
    "ipython",
    "ipython3",
    "productionlist",
    "plot",
    "csv-table",
    "jinja",
];
/// Directives that nobody reads as words.
const HIDDEN: &[&str] = &[
    "toctree",
    "contents",
    "highlight",
    "currentmodule",
    "module",
    "meta",
    "image",
    "figure",
    "include",
    "index",
    "role",
    "default-role",
    "raw",
    "towncrier-draft-entries",
    "sectnum",
    "class",
    "title",
    "replace",
    "unicode",
];

/// Reads a document.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut reader = Reader {
        lines: text.lines().map(indented).collect(),
        out: vec![],
        styles: HashMap::new(),
        literal: None,
    };
    let mut at = 0;
    while at < reader.lines.len() {
        at = reader.step(at);
    }
    reader.out
}

struct Reader<'t> {
    lines: Vec<(usize, &'t str)>,
    out: Vec<Piece<'t>>,
    /// The level of each way to adorn a heading, in the order of their first use.
    styles: HashMap<(char, bool), usize>,
    /// Below a paragraph that ends with `::`, lines deeper than this column are code.
    literal: Option<usize>,
}

impl<'t> Reader<'t> {
    /// Reads what begins at a line; the line that reading goes on at.
    fn step(&mut self, at: usize) -> usize {
        let (indent, words) = self.lines[at];
        if words.is_empty() {
            self.out.push(Piece::blank(at));
            return at + 1;
        }
        if let Some(column) = self.literal {
            let ended = indent <= column;
            if !ended {
                self.push(at, indent, Mark::Literal, words);
                return at + 1;
            }
            // The block begins after a blank line; until then the paragraph goes on.
            if self.after_blank() {
                self.literal = None;
            }
        }
        if let Some(next) = self.heading(at) {
            return next;
        }
        if words == ".." || words.starts_with(".. ") {
            return self.explicit(at);
        }
        if adornment(words).is_some() && words.len() >= 4 {
            self.out.push(Piece::blank(at));
            return at + 1;
        }
        if indent == 0
            && self.after_blank()
            && let Some(title) = bold_line(words)
        {
            self.push(at, indent, Mark::Bold, title);
            return at + 1;
        }
        if let Some((name, value)) = field(words).filter(|_| indent == 0) {
            self.out.push(Piece {
                line: number(at),
                indent,
                mark: Mark::Field,
                text: Cow::Owned(format!("{name}\n{value}")),
            });
            return at + 1;
        }
        if words.starts_with(">>> ") {
            self.push(at, indent, Mark::Literal, words);
            return at + 1;
        }
        let (mark, text) = after_bullet(words).map_or((Mark::Text, words), |text| (Mark::Item, text));
        self.push(at, indent, mark, text);
        if words.ends_with("::") {
            self.literal = Some(indent);
        }
        at + 1
    }

    fn push(&mut self, at: usize, indent: usize, mark: Mark, text: &'t str) {
        self.out.push(Piece::new(at, indent, mark, text));
    }

    fn after_blank(&self) -> bool {
        self.out
            .last()
            .is_none_or(|last| !matches!(last.mark, Mark::Text | Mark::Item | Mark::Literal))
    }

    fn words(&self, at: usize) -> Option<&'t str> {
        self.lines.get(at).map(|(_, words)| *words)
    }

    /// A title with a line below it, or lines below and above.
    fn heading(&mut self, at: usize) -> Option<usize> {
        let (indent, words) = self.lines[at];
        let next = self.words(at + 1)?;
        if let Some(mark) = adornment(words) {
            let below = self.words(at + 2)?;
            let is_title = indent == 0 && !next.is_empty() && adornment(next).is_none();
            if is_title && adornment(below) == Some(mark) && words.len() >= 3 {
                self.title(at + 1, next, (mark, true));
                return Some(at + 3);
            }
            return None;
        }
        let mark = adornment(next)?;
        let long =
            next.len() >= words.chars().count().min(4) && (next.len() >= 3 || next.len() >= words.len());
        let below_is_title = indent == 0 && self.lines[at + 1].0 == 0 && self.after_blank() && long;
        // A list of one item above a line is no title.
        if !below_is_title || after_bullet(words).is_some() || words.starts_with(".. ") {
            return None;
        }
        self.title(at, words, (mark, false));
        Some(at + 2)
    }

    fn title(&mut self, at: usize, words: &'t str, style: (char, bool)) {
        let known = self.styles.len() + 1;
        let level = *self.styles.entry(style).or_insert(known);
        self.literal = None;
        self.push(at, 0, Mark::Heading(level), words);
    }

    /// `..`: a comment, a target, a substitution, a footnote, or a directive.
    fn explicit(&mut self, at: usize) -> usize {
        let (indent, words) = self.lines[at];
        let rest = words.strip_prefix("..").unwrap_or_default().trim_start();
        let end = self.block_end(at, indent);
        self.push(at, indent, Mark::Break, "");
        if rest.starts_with('_') || rest.starts_with('|') {
            // A target's or a substitution's own text is one line; what is deeper still belongs to it.
            let deeper = self.lines[at + 1..end.max(at + 1)]
                .iter()
                .map(|(_, words)| *words);
            let whole: Vec<&str> = std::iter::once(rest).chain(deeper).collect();
            if let Some(target) = links::of_rst(&whole.join(" ")) {
                self.out.push(Piece::target(at, target));
            }
            return end.max(at + 1);
        }
        if rest.starts_with('[') {
            // A footnote is words.
            self.push(at, indent + 3, Mark::Text, rest);
            return at + 1;
        }
        let Some((name, argument)) = directive(rest) else {
            // A comment. An empty one that a blank line follows ends there.
            let empty = rest.is_empty() && self.words(at + 1).is_none_or(str::is_empty);
            return if empty { at + 1 } else { end };
        };
        if name == "rubric" {
            self.push(at, 0, Mark::Bold, argument);
            return at + 1;
        }
        if HIDDEN.contains(&name) {
            return end;
        }
        let mut next = at + 1;
        if LITERAL.contains(&name) {
            while next < end {
                let (indent, words) = self.lines[next];
                if words.is_empty() {
                    self.out.push(Piece::blank(next));
                } else {
                    self.push(next, indent, Mark::Literal, words);
                }
                next += 1;
            }
            return end;
        }
        if !argument.is_empty() {
            self.push(at, indent + 3, Mark::Text, argument);
        }
        // Its options; the body is read as if it stood by itself.
        while next < end && field(self.lines[next].1).is_some() {
            next += 1;
        }
        next
    }

    /// Where what is deeper than a column ends.
    fn block_end(&self, at: usize, column: usize) -> usize {
        let mut end = at + 1;
        for place in at + 1..self.lines.len() {
            let (indent, words) = self.lines[place];
            if words.is_empty() {
                continue;
            }
            if indent <= column {
                break;
            }
            end = place + 1;
        }
        end
    }
}

/// The mark that a line consists of.
fn adornment(words: &str) -> Option<char> {
    let mark = words.chars().next().filter(char::is_ascii_punctuation)?;
    (words.len() >= 2 && words.chars().all(|c| c == mark)).then_some(mark)
}

/// `name:: argument`.
fn directive(rest: &str) -> Option<(&str, &str)> {
    let (name, argument) = rest.split_once("::")?;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then(|| (name, argument.trim()))
}

/// `:name: value`; a role, whose value is in backticks, is none.
fn field(words: &str) -> Option<(&str, &str)> {
    let (name, value) = words.strip_prefix(':')?.split_once(':')?;
    let is_field = !name.is_empty() && !value.starts_with('`') && !name.contains('`');
    is_field.then(|| (name, value.trim()))
}
