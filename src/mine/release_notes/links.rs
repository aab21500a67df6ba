//! Addresses that a document gives apart from the words that lead there: `[#1]: https://…`, `.. _PR 1: https://…`.
//!
//! They are no words of their own. Where an entry's words lead to one (`[x][label]`, `[label][]`, `[label]`; `` `label`_ ``,
//! `label_`), it names what that address does.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::model::Format;
use super::pieces::{Mark, Piece};
use crate::mine::pattern::compiled;

/// The addresses of a document, by their labels.
#[derive(Debug, Default)]
pub(super) struct Links {
    by_label: BTreeMap<String, String>,
}

impl Links {
    /// Gathers a document's; of several with one label the first counts.
    pub(super) fn of(pieces: &[Piece<'_>]) -> Self {
        let mut links = Self::default();
        for piece in pieces.iter().filter(|piece| piece.mark == Mark::Target) {
            if let Some((label, address)) = piece.text.split_once('\n') {
                let known = links.by_label.entry(normal(label));
                known.or_insert_with(|| address.to_owned());
            }
        }
        links
    }

    /// A text with the addresses that its words lead to in their places.
    pub(super) fn in_place(&self, text: &str, format: Format) -> String {
        if self.by_label.is_empty() {
            return text.to_owned();
        }
        if format == Format::Rst {
            self.in_rst(text)
        } else {
            self.in_markdown(text)
        }
    }

    fn address(&self, label: &str) -> Option<&str> {
        self.by_label.get(&normal(label)).map(String::as_str)
    }

    fn in_markdown(&self, text: &str) -> String {
        static FORM: LazyLock<Regex> =
            LazyLock::new(|| compiled(r"\[(?P<words>[^\[\]]+)\](?:\[(?P<label>[^\[\]]*)\])?"));
        let place = |found: &Captures<'_>| {
            let whole = &found[0];
            let words = &found["words"];
            let label = found.name("label").map_or("", |label| label.as_str());
            let label = if label.trim().is_empty() { words } else { label };
            let end = found.get(0).map_or(0, |whole| whole.end());
            // What its address follows needs none.
            let is_whole = text[end..].starts_with('(');
            match self.address(label).filter(|_| !is_whole) {
                Some(address) => format!("[{words}]({address})"),
                None => whole.to_owned(),
            }
        };
        FORM.replace_all(text, place).into_owned()
    }

    fn in_rst(&self, text: &str) -> String {
        static FORM: LazyLock<Regex> = LazyLock::new(|| {
            compiled(
                r"``[^`]*``|`(?P<quoted>[^`<>]+)`_\b|\b(?P<word>[A-Za-z0-9](?:[\w.+:-]*[A-Za-z0-9])?)_\b",
            )
        });
        let place = |found: &Captures<'_>| {
            let label = found.name("quoted").or_else(|| found.name("word"));
            match label.and_then(|label| Some((label.as_str(), self.address(label.as_str())?))) {
                Some((label, address)) => format!("`{label} <{address}>`_"),
                None => found[0].to_owned(),
            }
        };
        FORM.replace_all(text, place).into_owned()
    }
}

/// Labels are alike whatever their case and their spaces.
fn normal(label: &str) -> String {
    label
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// The label and the address of a line of Markdown that is nothing but that: `[label]: <address> "title"`.
pub(super) fn of_markdown(words: &str) -> Option<(&str, &str)> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r#"(?x) ^ \[ (?P<label>[^\[\]]+) \] : \s*
                <? (?P<address> (?: [a-z][a-z+.-]*:// | mailto: | \.{0,2}/ | \#[^\d\s] ) [^\s<>]* ) >?
                (?: \s+ (?: "[^"]*" | '[^']*' | \([^()]*\) ) )? $"#,
        )
    });
    let found = FORM.captures(words.trim())?;
    let label = found.name("label")?.as_str();
    // A footnote is words.
    (!label.starts_with('^')).then_some((label, found.name("address")?.as_str()))
}

/// The label and the address of what follows `.. ` in reStructuredText: `_label: address`, `` _`label`: address ``.
pub(super) fn of_rst(rest: &str) -> Option<(&str, &str)> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"^_(?:`(?P<quoted>[^`]+)`|(?P<plain>[^`_:](?:[^:]|:\S)*?)):\s+(?P<address>[a-z][a-z+.-]*://\S+)$",
        )
    });
    let found = FORM.captures(rest.trim())?;
    let label = found.name("quoted").or_else(|| found.name("plain"))?;
    Some((label.as_str(), found.name("address")?.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mine::release_notes::{markdown, rst};

    #[test]
    fn lines_that_give_an_address_are_told_from_words() {
        for (line, told) in [
            (
                "[#10]: https://host/o/n/pull/10",
                Some(("#10", "https://host/o/n/pull/10")),
            ),
            (
                "[a b]: <https://host/a> \"A title\"",
                Some(("a b", "https://host/a")),
            ),
            ("[old]: ../old.md", Some(("old", "../old.md"))),
            ("[new]: #unreleased", Some(("new", "#unreleased"))),
            ("[#11]: Mended by #12", None),
            ("[#11]: #12", None),
            ("[#11]: https://host/o/n/pull/11 is mended", None),
            ("[^1]: https://host/note", None),
            ("[x](https://host)", None),
        ] {
            assert_eq!(of_markdown(line), told, "{line}");
        }
        for (rest, told) in [
            ("_#20: https://host/20", Some(("#20", "https://host/20"))),
            ("_PR 22: https://host/22", Some(("PR 22", "https://host/22"))),
            ("_`a: b`: https://host/a", Some(("a: b", "https://host/a"))),
            ("_here:", None),
            ("__: https://host/a", None),
            ("_here: there_", None),
        ] {
            assert_eq!(of_rst(rest), told, "{rest}");
        }
    }

    #[test]
    fn words_lead_to_the_addresses_of_their_document() {
        let text = "[18]: https://host/18\n[a]: https://host/a\n";
        let links = Links::of(&markdown::pieces(text));
        for (text, placed) in [
            ("[18][] [x][18]", "[18](https://host/18) [x](https://host/18)"),
            ("[A] [b] [a](b)", "[A](https://host/a) [b] [a](b)"),
        ] {
            assert_eq!(links.in_place(text, Format::Markdown), placed, "{text}");
        }
        let text = ".. _PR 22: https://host/22\n.. _x:\n   https://host/x\n";
        let links = Links::of(&rst::pieces(text));
        for (text, placed) in [
            (
                "(`PR 22`_, x_)",
                "(`PR 22 <https://host/22>`_, `x <https://host/x>`_)",
            ),
            ("``x_`` `y`_ a_x_", "``x_`` `y`_ a_x_"),
        ] {
            assert_eq!(links.in_place(text, Format::Rst), placed, "{text}");
        }
    }
}
