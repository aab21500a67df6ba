//! Lines of an entry that say who is thanked for it, and nothing else.

use std::sync::LazyLock;

use regex::Regex;

use crate::mine::pattern::compiled;

/// Small words of a credit, and of names.
const SMALL: &[&str] = &[
    "and", "by", "da", "de", "del", "den", "der", "di", "du", "el", "et", "la", "le", "of", "to", "van",
    "von", "with",
];

/// For each of an entry's lines whether it is but a credit: whoever adds a name there (to thank a second one, say) need not
/// have written the entry.
pub(super) fn credits(lines: &[&str]) -> Vec<bool> {
    let mut goes_on = false;
    let one = |line: &&str| {
        let line = line.trim();
        let more = goes_on && !line.is_empty() && is_names(line);
        let begin = begin(line);
        goes_on = (more || begin.is_some()) && !line.ends_with('.');
        more || begin == Some(0)
    };
    lines.iter().map(one).collect()
}

/// A line without the credit that ends it.
pub(super) fn uncredited(line: &str) -> &str {
    begin(line).map_or(line, |start| line[..start].trim_end())
}

/// Where the credit begins that a line ends with.
fn begin(line: &str) -> Option<usize> {
    static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"(?x) (?: ^ | [^\w\s,] \s+ ) (?P<credit> \(?
                (?: [Bb]y
                  | (?i: thanks (?:\s+to)? | thank\s+you
                       | (?: contributed | implemented | original\s+patch | patch(?:es)? | reported | written ) \s+ by
                       | (?: courtesy | patch(?:es)? ) \s+ of ) ) ) \b",
        )
    });
    BEGIN
        .captures_iter(line)
        .filter_map(|found| found.name("credit"))
        .find(|credit| is_names(&line[credit.end()..]))
        .map(|credit| credit.start())
}

/// Whether a text is nothing but names of people, links and numbers. A link may begin on the line before, or end on the next.
fn is_names(text: &str) -> bool {
    static LINKS: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"(?x) ^[^`<>]*<https?:[^`>]*>`_{1,2}
                 | `[^`<]*<[^`>]*>`_{0,2} | :[\w:+-]+:`[^`]*` | `[^`]*`_{1,2}
                 | \[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?
                 | <[^>]*> | https?://\S+ | @[\w-]+ | `[^`<]*(?:<[^`>]*)?$",
        )
    });
    let rest = LINKS.replace_all(text, " ");
    let mut words = rest
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.all(|word| {
        let is_lower = word.chars().next().is_some_and(char::is_lowercase);
        !is_lower || SMALL.contains(&word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let one = |is_credit: bool| if is_credit { 'c' } else { '-' };
        credits(&lines).into_iter().map(one).collect()
    }

    #[test]
    fn lines_of_names_after_a_by_are_credits() {
        for (text, found) in [
            ("Add a thing.\nBy `Ada Lines <https://host/ada>`_.", "-c"),
            (
                "Add a thing.\nBy `Ada Lines <https://host/ada>`_ and `Bob van\nRows <https://host/bob>`_.",
                "-cc",
            ),
            (
                "Add a thing. By `Ada Lines <https://host/ada>`_ and\n`bob <https://host/bob>`_.",
                "-c",
            ),
            (
                "Add a thing.\nBy `ada <https://host/ada>`_ and `bob\nrows <https://host/bob>`_.",
                "-cc",
            ),
            ("Add a thing.\nThanks to :user:`ada` and @bob (#12).", "-c"),
            ("Add a thing.\n(Patch by Ada de Lines)", "-c"),
            ("Add a thing.\nBy Ada.\nSee :ref:`things`.", "-c-"),
            ("By default, `things <https://host/things>`_ are added.", "-"),
            ("Things are\nby `ada <https://host/ada>`_ sorted anew", "--"),
            ("Thanks to a cache this is fast.", "-"),
        ] {
            assert_eq!(told(text), found, "{text}");
        }
    }

    #[test]
    fn a_line_is_told_without_the_credit_that_ends_it() {
        for (line, words) in [
            ("Add a thing. Thanks @ada.", "Add a thing."),
            ("Add a thing (#12). (Patch by Ada de Lines)", "Add a thing (#12)."),
            ("By Ada.", ""),
            (
                "Things are sorted by `ada <https://host/ada>`_",
                "Things are sorted by `ada <https://host/ada>`_",
            ),
            (
                "Add a thing. Thanks to a cache.",
                "Add a thing. Thanks to a cache.",
            ),
        ] {
            assert_eq!(uncredited(line), words, "{line}");
        }
    }
}
