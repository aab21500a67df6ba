//! Lines of a document, each with what it is: what the readers of the two formats have in common.

use std::borrow::Cow;

/// One line, as a reader understood it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    /// From 1.
    pub(super) line: u32,
    /// The column that it begins at; tabs go to the next multiple of eight.
    pub(super) indent: usize,
    /// What it is.
    pub(super) mark: Mark,
    /// Its words, without what marks it.
    pub(super) text: Cow<'t, str>,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A heading; 1 is the outermost level.
    Heading(usize),
    /// Bold words alone on a line: a heading below the real ones.
    Bold,
    /// The begin of a list's item.
    Item,
    /// Words.
    Text,
    /// A line of code or the like: words, but never the begin of anything.
    Literal,
    /// `:Name: value`; the text is both, joined by a line end.
    Field,
    /// No words: the address that a label stands for; the text is both, joined by a line end.
    Target,
    /// Nothing.
    Blank,
    /// Nothing, and the end of every list that does not begin left of it.
    Break,
}

impl<'t> Piece<'t> {
    pub(super) fn new(line: usize, indent: usize, mark: Mark, text: &'t str) -> Self {
        Self {
            line: number(line),
            indent,
            mark,
            text: Cow::Borrowed(text),
        }
    }

    /// The address that a label stands for.
    pub(super) fn target(line: usize, (label, address): (&str, &str)) -> Self {
        Self {
            line: number(line),
            indent: 0,
            mark: Mark::Target,
            text: Cow::Owned(format!("{label}\n{address}")),
        }
    }

    pub(super) fn blank(line: usize) -> Self {
        Self::new(line, 0, Mark::Blank, "")
    }
}

/// A line's number from 1, of its place from 0.
pub(super) fn number(place: usize) -> u32 {
    u32::try_from(place + 1).unwrap_or(u32::MAX)
}

/// The column that a line's words begin at, and the words.
pub(super) fn indented(line: &str) -> (usize, &str) {
    let mut column = 0;
    for (at, c) in line.char_indices() {
        match c {
            ' ' => column += 1,
            '\t' => column = (column / 8 + 1) * 8,
            _ => return (column, line[at..].trim_end()),
        }
    }
    (column, "")
}

/// What follows a list's mark (`-`, `*`, `+`, `•`, `1.`, `1)`, `(1)`, `#.`) at the begin of a line.
pub(super) fn after_bullet(words: &str) -> Option<&str> {
    let rest = match words.chars().next()? {
        mark @ ('-' | '*' | '+' | '•' | '‣' | '–') => &words[mark.len_utf8()..],
        '#' => words.strip_prefix("#.")?,
        c if c.is_ascii_digit() || c == '(' => {
            let inner = words.strip_prefix('(').unwrap_or(words);
            let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 || digits > 3 {
                return None;
            }
            let rest = &inner[digits..];
            if c == '(' {
                rest.strip_prefix(')')?
            } else {
                rest.strip_prefix(['.', ')'])?
            }
        }
        _ => return None,
    };
    let text = rest.trim_start();
    (rest.len() > text.len() && !text.is_empty()).then_some(text)
}

/// The words of a line that is nothing but bold words, perhaps with a colon.
pub(super) fn bold_line(words: &str) -> Option<&str> {
    let words = words.trim_end_matches(':');
    let inner = words
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"))
        .or_else(|| words.strip_prefix("__").and_then(|rest| rest.strip_suffix("__")))?;
    let inner = inner.trim().trim_end_matches(':');
    (!inner.is_empty() && !inner.contains("**") && inner.len() <= 80).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_marks_are_told_from_words() {
        for (words, text) in [
            ("- a", Some("a")),
            ("*   b", Some("b")),
            ("1. c", Some("c")),
            ("(2) d", Some("d")),
            ("#. e", Some("e")),
            ("#12 f", None),
            ("*emphasis* g", None),
            ("-option", None),
            ("- ", None),
            ("2020. h", None),
            ("11620: i", None),
        ] {
            assert_eq!(after_bullet(words), text, "{words}");
        }
        assert_eq!(bold_line("**Bugfixes:**"), Some("Bugfixes"));
        assert_eq!(bold_line("**a** and **b**"), None);
        assert_eq!(indented("\t - x "), (9, "- x"));
    }
}
