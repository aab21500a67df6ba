//! Headings that name a version, and dates.

use std::sync::LazyLock;

use regex::Regex;

use crate::mine::pattern::compiled;

/// A version that a heading names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VersionTitle {
    /// As written, without a leading `v`; `unreleased` for one without a number.
    pub(super) version: String,
    /// `YYYY-MM-DD` or `YYYY-MM`.
    pub(super) date: Option<String>,
    /// The name that stands before it (`pytest 8.0`), in lower case; empty where there is none.
    pub(super) lead: String,
    /// Whether the heading says nothing else.
    pub(super) is_bare: bool,
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| compiled($pattern));
    };
}

pattern!(
    NUMBER,
    r"(?i)(?:^|[^\w.])(?:v|rel-?|r)?\.?(?P<number>(?:\d+!)?\d+(?:\.\d+)+(?:\.x)?(?:[-._]?(?:alpha|beta|a|b|rc|c|dev|post|preview|pre|final|canary|snapshot|nightly)[-._]?\d*)*|\d+\.x)(?:$|[^\w.]|\.(?:\s|$))"
);
pattern!(
    SINGLE,
    r"(?i)^(?:version |release |v\.?)\s*(?P<number>\d+)(?:$|\s|[(:,-])"
);
pattern!(
    PENDING,
    r"(?i)^\W*(?:un-?released(?: changes| version)?|dev|devel|development(?: version)?|next(?: release| version)?|upcoming(?: release| version)?|not yet released|master|main|trunk|head)\W*$"
);
pattern!(
    LINK,
    r"\[([^\]]*)\]\([^)]*\)|`([^`<]*?)\s*<[^`>]*>`_{0,2}|\[([^\]]*)\]\[[^\]]*\]"
);
pattern!(
    ISO,
    r"\b((?:19|20)\d\d)[-/.](0?[1-9]|1[0-2])[-/.](0?[1-9]|[12]\d|3[01])\b"
);
pattern!(
    NAMED,
    r"(?i)\b(?:(?P<before>\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -])?(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,?[ -](?:(?P<after>\d{1,2})(?:st|nd|rd|th)?,?[ -])?(?P<year>(?:19|20)\d\d)\b"
);
pattern!(ASIDE, r"\([^)]*\)|\[[^\]]*\]");

/// Words that stand before a version in a heading and say nothing more.
const KNOWN: &[&str] = &[
    "version",
    "release",
    "released",
    "releases",
    "what",
    "what's",
    "whats",
    "new",
    "in",
    "changes",
    "changelog",
    "the",
    "notes",
    "for",
    "of",
    "series",
    "to",
    "unreleased",
    "history",
    "highlights",
    "summary",
    "and",
    "since",
];

/// Those of them that may stand beside a version that a heading is nothing but.
const BESIDE: &[&str] = &["version", "release", "released", "unreleased"];

/// Names before a number that are something else than the project's.
const OTHERS: &[&str] = &[
    "python", "pypy", "numpy", "pandas", "django", "node", "support", "drop", "dropped", "bump",
];

/// The version that a heading names, if that is what the heading is for. One that is nothing but a date names that day.
pub(super) fn of_heading(title: &str) -> Option<VersionTitle> {
    let title = LINK.replace_all(title, "$1$2$3");
    let title = title.replace(['*', '`', '\u{2019}', '"'], " ").trim().to_owned();
    if title.len() > 120 {
        return None;
    }
    if PENDING.is_match(&title) {
        return Some(VersionTitle {
            version: "unreleased".to_owned(),
            date: None,
            lead: String::new(),
            is_bare: false,
        });
    }
    let date = date(&title);
    // A date's numbers are no version.
    let bare = NAMED.replace_all(&ISO.replace_all(&title, " "), " ").into_owned();
    let Some(found) = NUMBER.captures(&bare).or_else(|| SINGLE.captures(&bare)) else {
        let nothing_else = words(&bare).all(|word| BESIDE.contains(&word.as_str()));
        return date.filter(|_| nothing_else).map(|date| of_day(&title, date));
    };
    let number = found.name("number")?;
    let whole = found.get(0)?;
    let (front, back) = (&bare[..whole.start()], &bare[number.end()..]);
    let before: Vec<String> = front
        .split_whitespace()
        .map(|word| {
            word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'')
                .to_lowercase()
        })
        .filter(|word| !word.is_empty() && !KNOWN.contains(&word.as_str()))
        .collect();
    if before.len() > 1 || before.iter().any(|word| OTHERS.contains(&word.as_str())) {
        return None;
    }
    let aside = ASIDE.replace_all(back, " ").into_owned();
    let after = words(&aside)
        .filter(|word| !KNOWN.contains(&word.as_str()))
        .count();
    if after > 3 || (after > 0 && !before.is_empty() && after > 2) {
        return None;
    }
    let lead = before.into_iter().next().unwrap_or_default();
    let is_bare = words(front)
        .filter(|word| !lead.contains(word.as_str()))
        .chain(words(&aside))
        .all(|word| BESIDE.contains(&word.as_str()));
    Some(VersionTitle {
        version: number.as_str().to_owned(),
        date,
        lead,
        is_bare,
    })
}

/// The words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// A version that is named for its day: as written, where that is in numbers with dots, as versions are.
fn of_day(title: &str, date: String) -> VersionTitle {
    let dotted = ISO.find(title).map(|found| found.as_str());
    let dotted = dotted.filter(|found| !found.contains(['-', '/']));
    VersionTitle {
        version: dotted.map_or_else(|| date.clone(), str::to_owned),
        date: Some(date),
        lead: String::new(),
        is_bare: true,
    }
}

/// Whether a version is a date: `2024-02-01`, `2024-02`.
pub(super) fn is_day(version: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| compiled(r"^(?:19|20)[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?$"));
    FORM.is_match(version)
}

/// The first date in a text: `2020-08-20`, `Aug 18, 2023`, `18 August 2023`, `September 2022`.
pub(super) fn date(text: &str) -> Option<String> {
    if let Some(found) = ISO.captures(text) {
        let part = |place: usize| found[place].parse::<u32>().unwrap_or_default();
        return Some(format!("{:04}-{:02}-{:02}", part(1), part(2), part(3)));
    }
    let found = NAMED.captures(text)?;
    let month = found["month"].to_lowercase();
    let month = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    .iter()
    .position(|name| *name == month)?
        + 1;
    let day = found.name("before").or_else(|| found.name("after"));
    let day = day.and_then(|day| day.as_str().parse::<u32>().ok());
    let year = &found["year"];
    Some(match day {
        Some(day @ 1..=31) => format!("{year}-{month:02}-{day:02}"),
        _ => format!("{year}-{month:02}"),
    })
}

/// A line right below a version's heading that is about its release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReleaseLine {
    /// The date, where it tells one.
    pub(super) date: Option<String>,
}

/// What a paragraph right below a version's heading says of its date: `Released 2024-01-01`, `Release date: TBA`.
pub(super) fn release_line(text: &str) -> Option<ReleaseLine> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"(?i)^\W*(?:(?:release[d]?(?: date| on)?|date)\b|un-?released\W*$|not yet released|in development\W*$|codename\b)",
        )
    });
    let short = text.len() < 80 && !text.contains('#') && !text.contains("](");
    (short && FORM.is_match(text)).then(|| ReleaseLine { date: date(text) })
}

/// Numbers of a version, without a pre-release's: `2.34.0rc1` → 2, 34, 0. A date's say nothing beside other versions'.
pub(super) fn numbers(version: &str) -> Vec<u64> {
    let mut found = vec![];
    if is_day(version) {
        return found;
    }
    let version = version.split_once('!').map_or(version, |(_, version)| version);
    for part in version.split(['.', '-', '_']) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        let Ok(number) = digits.parse() else { break };
        found.push(number);
        if digits.len() < part.len() {
            break;
        }
    }
    found
}

/// Whether one version's numbers begin with the other's: `4.0.7` is inside `4.0`.
pub(super) fn extends(inner: &str, outer: &str) -> bool {
    let (inner, outer) = (numbers(inner), numbers(outer));
    !outer.is_empty() && inner.starts_with(&outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(title: &str) -> String {
        of_heading(title).map_or("-".to_owned(), |found| {
            format!("{} {}", found.version, found.date.unwrap_or_default())
                .trim()
                .to_owned()
        })
    }

    #[test]
    fn headings_of_real_projects_name_versions() {
        for (title, version) in [
            ("2.34.2 (2026-05-14)", "2.34.2 2026-05-14"),
            ("Version 3.2.0", "3.2.0"),
            ("pytest 9.1.1 (2026-06-19)", "9.1.1 2026-06-19"),
            ("v2026.07.1 (unreleased)", "2026.07.1"),
            ("v2023.08.0 (Aug 18, 2023)", "2023.08.0 2023-08-18"),
            ("Release 9.1.0 (released Dec 31, 2025)", "9.1.0 2025-12-31"),
            ("Release 0.6.7 (Jun 05, 2010)", "0.6.7 2010-06-05"),
            ("What's new in Pylint 4.0.7?", "4.0.7"),
            ("What's New in Pylint 0.28.0?", "0.28.0"),
            ("v0.12.0 (September 2022)", "0.12.0 2022-09"),
            ("Release v2.28.2 (2026-08-18)", "2.28.2 2026-08-18"),
            ("[1.2.0] - 2021-03-01", "1.2.0 2021-03-01"),
            (
                "[1.2.0](https://host/compare/v1.1.0...v1.2.0) (2021-03-01)",
                "1.2.0 2021-03-01",
            ),
            ("`1.2.0 <https://host/1>`__ - 2021-03-01", "1.2.0 2021-03-01"),
            ("1.0.0rc1 (18 August 2023)", "1.0.0rc1 2023-08-18"),
            ("5.0 (unreleased)", "5.0"),
            ("Sphinx 1.3", "1.3"),
            ("Unreleased", "unreleased"),
            ("dev", "unreleased"),
            ("v20 (2020-01-02)", "20 2020-01-02"),
            ("1.x", "1.x"),
            ("1!2.0rc1", "1!2.0rc1"),
            ("v1.0.0-rc.1", "1.0.0-rc.1"),
            ("2020-01-02", "2020-01-02 2020-01-02"),
            ("Released January 2, 2020", "2020-01-02 2020-01-02"),
            ("2020.01.02", "2020.01.02 2020-01-02"),
            ("[2020/1/2]", "2020-01-02 2020-01-02"),
            ("March 2021", "2021-03 2021-03"),
        ] {
            assert_eq!(show(title), version, "{title}");
        }
        for title in [
            "Improvements to Python 3.9 support",
            "Python 3.9",
            "Bug fixes after rc1",
            "Features added",
            "Changes in the 3.2 parser of other things that matter",
            "Meeting of 2020-01-02",
            "2020",
            "Summary -- Release highlights",
        ] {
            assert_eq!(show(title), "-", "{title}");
        }
    }

    #[test]
    fn headings_that_say_more_than_a_version_are_told_from_those_that_do_not() {
        let told = |title: &str| of_heading(title).map(|found| (found.lead, found.is_bare));
        for (title, lead, is_bare) in [
            ("[1.0.1](https://host/compare/a...b) (2021-03-01)", "", true),
            ("pytest 3.0.1 (released 2016-08-23)", "pytest", true),
            ("Version 2.0", "", true),
            ("Changes since 1.9", "", false),
            ("2.0 compatibility", "", false),
        ] {
            assert_eq!(told(title), Some((lead.to_owned(), is_bare)), "{title}");
        }
    }

    #[test]
    fn lines_below_a_version_tell_its_date() {
        let told = |text| release_line(text).map(|line| line.date);
        assert_eq!(told("Released 2018-04-29"), Some(Some("2018-04-29".into())));
        assert_eq!(told("Release date: TBA"), Some(None));
        assert_eq!(told("Unreleased"), Some(None));
        assert_eq!(told("Released on the 3rd with #12"), None);
        assert_eq!(told("This release brings more"), None);
    }

    #[test]
    fn patch_releases_are_inside_their_series() {
        assert!(extends("4.0.7", "4.0"));
        assert!(!extends("4.10", "4.1"));
        assert!(!extends("4.0", "unreleased"));
        assert_eq!(numbers("2.34.0rc1"), [2, 34, 0]);
        assert_eq!(numbers("1!2.0"), [2, 0]);
        assert_eq!(numbers("2024-02-01"), Vec::<u64>::new());
    }
}
