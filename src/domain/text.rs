//! Text of strangers, for a terminal and for Markdown: a title, a path or a model's name must be no command to either.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character is a command to a terminal, or turns the order of what stands after it.
fn is_command(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text of several lines as a terminal may show it: what is a command stands as its number (`\u{1b}`), line ends and tabs
/// as themselves.
pub fn shown(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_command(c) && c != '\n' && c != '\t')
}

/// As [`shown`], for what must stay in one line: line ends and tabs, too, stand as `\n`, `\r` and `\t`.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_command)
}

/// Text of one line that stands for itself in Markdown, also in a cell of a table: neither markup nor HTML.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => out.extend(['\\', c]),
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_command(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// A JSON document in which DEL and the commands that stand in one character (U+0080 to U+009F), which JSON lets stand as
/// they are, are escaped as well.
pub fn json(document: &str) -> Cow<'_, str> {
    if !document.contains(|c: char| ('\u{7f}'..='\u{9f}').contains(&c)) {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len() + 16);
    for c in document.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// What a reader of JSON says, without the line: that is told by who knows where in a file the reader began.
pub fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(what) if error.column() > 0 => format!("{what} (column {})", error.column()),
        Some(what) => what.to_owned(),
        None => text,
    }
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_escaped(c) => out.push(c),
            '\n' | '\r' | '\t' => out.extend(c.escape_default()),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_wrong_with_json_is_told_without_a_line() {
        let said = |text: &str| without_line(&serde_json::from_str::<Vec<u8>>(text).unwrap_err());
        assert_eq!(said("\n[1,]"), "trailing comma (column 4)");
        assert_eq!(said(""), "EOF while parsing a value");
    }

    #[test]
    fn a_strangers_text_is_no_command() {
        let text = "a\u{1b}]0;t\u{7}\u{9b}31m\nb\t\u{202e}é";
        assert_eq!(shown(text), "a\\u{1b}]0;t\\u{7}\\u{9b}31m\nb\t\\u{202e}é");
        assert_eq!(line("a\r\n\tb"), "a\\r\\n\\tb");
        assert!(matches!(shown("plain é\n"), Cow::Borrowed(_)));
        assert_eq!(json("{\"a\": \"\u{7f}\u{9b}é\"}"), "{\"a\": \"\\u007f\\u009bé\"}");
        assert_eq!(
            markdown("<img src=x> &amp; a|b_c [x](y)\n\u{1b}"),
            "&lt;img src=x&gt; &amp;amp; a\\|b\\_c \\[x\\](y) \u{fffd}"
        );
    }

    proptest! {
        #[test]
        fn no_text_at_all_is_one(text in any::<String>()) {
            prop_assert!(!shown(&text).contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
            prop_assert!(!line(&text).contains(char::is_control));
            prop_assert!(!markdown(&text).contains(|c: char| c.is_control() || c == '<' || c == '>'));
            let document = serde_json::to_string(&text).unwrap();
            let escaped = json(&document);
            prop_assert!(!escaped.contains(char::is_control));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
