//! The words of an entry, and which of them are code: a number in code names no issue.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::links::Links;
use super::model::{Format, Reference};
use super::pieces::{Mark, Piece};
use super::references::references;
use crate::mine::pattern::compiled;

/// Words with the lines that they stand on.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Each with whether it is a line of code.
    lines: Vec<(String, bool)>,
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Words {
    pub(super) fn push(&mut self, line: u32, text: String, is_code: bool) {
        if self.lines.is_empty() {
            self.first = line;
        }
        self.last = line;
        self.lines.push((text, is_code));
    }

    pub(super) fn gap(&mut self) {
        self.lines.push((String::new(), false));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a paragraph.
    pub(super) fn append(&mut self, other: Self) {
        if self.is_empty() {
            self.first = other.first;
        } else {
            self.gap();
        }
        self.last = other.last;
        self.lines.extend(other.lines);
    }

    pub(super) fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|(text, _)| text.as_str()).collect();
        lines.join("\n").trim().to_owned()
    }

    /// The issues and pull requests that they name; what code holds is none.
    pub(super) fn references(&self, format: Format, links: &Links) -> Vec<Reference> {
        references(&self.spoken(format, links), None)
    }

    /// The text without code, and with the addresses that its words lead to.
    pub(super) fn spoken(&self, format: Format, links: &Links) -> String {
        let line = |(text, is_code): &(String, bool)| if *is_code { String::new() } else { text.clone() };
        let said: Vec<String> = self.lines.iter().map(line).collect();
        let spoken = spoken(said.join("\n").trim(), format != Format::Rst);
        links.in_place(&spoken, format)
    }
}

/// A whole text without the lines that a reader took for code, and without code inside of lines.
pub(super) fn spoken_text(text: &str, pieces: &[Piece<'_>], is_markdown: bool) -> String {
    let code: BTreeSet<u32> = pieces
        .iter()
        .filter(|piece| piece.mark == Mark::Literal)
        .map(|piece| piece.line)
        .collect();
    let lines: Vec<&str> = (1..)
        .zip(text.lines())
        .map(|(number, line)| if code.contains(&number) { "" } else { line })
        .collect();
    spoken(&lines.join("\n"), is_markdown)
}

/// A text without the code inside of its lines. Literals of reStructuredText are stepped over where references are read; a
/// single backtick is code in Markdown alone.
pub(super) fn spoken(text: &str, is_markdown: bool) -> String {
    static MARKED: LazyLock<Regex> =
        LazyLock::new(|| compiled(r"(?is)<(?:code|pre)(?:\s[^>]*)?>.*?</(?:code|pre)>"));
    let text = MARKED.replace_all(text, " ").into_owned();
    if is_markdown { without_spans(&text) } else { text }
}

/// Markdown without its code spans. What a role stands before is no code (`` {issue}`12` ``), nor is a link in
/// reStructuredText's way, nor backticks that nothing closes in their paragraph.
fn without_spans(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let (before, ticked) = rest.split_at(start);
        out.push_str(before);
        let length = ticked.len() - ticked.trim_start_matches('`').len();
        let (ticks, body) = ticked.split_at(length);
        let Some(end) = closing(body, length) else {
            out.push_str(ticks);
            rest = body;
            continue;
        };
        let (span, after) = (&body[..end], &body[end + length..]);
        if before.ends_with(['}', ':']) && length == 1 || span.contains("<http") || after.starts_with('_') {
            out.push_str(ticks);
            out.push_str(span);
            out.push_str(ticks);
        } else {
            out.push(' ');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Where the run of just as many backticks begins that ends a span.
fn closing(body: &str, length: usize) -> Option<usize> {
    let paragraph = body.find("\n\n").map_or(body, |end| &body[..end]);
    let mut at = 0;
    while let Some(found) = paragraph[at..].find('`') {
        let start = at + found;
        let tail = &paragraph[start..];
        let run = tail.len() - tail.trim_start_matches('`').len();
        if run == length {
            return Some(start);
        }
        at = start + run;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_lines_of_markdown_is_no_words() {
        for (text, left) in [
            ("a `#3` b", "a   b"),
            ("``x `#3` y`` #4", "  #4"),
            ("{issue}`12` :pr:`13`", "{issue}`12` :pr:`13`"),
            (
                "`#7 <https://host/o/n/issues/7>`__",
                "`#7 <https://host/o/n/issues/7>`__",
            ),
            ("one ` alone #5\n\nand ` more", "one ` alone #5\n\nand ` more"),
            ("[`#6`](https://host/o/n/pull/6)", "[ ](https://host/o/n/pull/6)"),
            ("<code class='x'>#8</code> #9", "  #9"),
        ] {
            assert_eq!(spoken(text, true), left, "{text}");
        }
        assert_eq!(spoken("`#3` <pre>#4</pre>", false), "`#3`  ");
    }
}
