//! Versions in their order: as PEP 440 has it, read so leniently that semantic versions, tags and days have a place, too.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::versions::{extends, is_day, of_heading};
use crate::mine::pattern::compiled;

/// A version's place. Its parts are compared in this order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    epoch: u64,
    /// Without the zeros at its end.
    numbers: Vec<u64>,
    pre: Pre,
    /// None is before the first.
    post: Option<u64>,
    dev: Dev,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pre {
    /// A development version of what has no other mark is before every pre-release.
    Dev,
    Alpha(u64),
    Beta(u64),
    Candidate(u64),
    Final,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dev {
    Number(u64),
    None,
}

impl Order {
    fn of(version: &str) -> Option<Self> {
        static FORM: LazyLock<Regex> = LazyLock::new(|| {
            compiled(r"^[^0-9]*(?:(?P<epoch>[0-9]+)!)?(?P<numbers>[0-9]+(?:\.[0-9]+)*)(?P<rest>.*)$")
        });
        static MARK: LazyLock<Regex> = LazyLock::new(|| {
            compiled(
                r"(?i)^[-._]?(?P<word>alpha|beta|preview|pre|rc|post|rev|dev|canary|snapshot|nightly|final|a|b|c|r)[-._]?(?P<number>[0-9]*)",
            )
        });
        let day = is_day(version).then(|| version.replace(['-', '/'], "."));
        let found = FORM.captures(day.as_deref().unwrap_or(version))?;
        let mut numbers = found["numbers"]
            .split('.')
            .map(|part| part.parse().ok())
            .collect::<Option<Vec<u64>>>()?;
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        let (mut pre, mut post, mut dev) = (None, None, Dev::None);
        let mut rest = &found["rest"];
        while let Some(mark) = MARK.captures(rest) {
            let number = mark["number"].parse().unwrap_or_default();
            match mark["word"].to_ascii_lowercase().as_str() {
                "a" | "alpha" => pre = Some(Pre::Alpha(number)),
                "b" | "beta" => pre = Some(Pre::Beta(number)),
                "c" | "rc" | "pre" | "preview" => pre = Some(Pre::Candidate(number)),
                "post" | "rev" | "r" => post = Some(number),
                "final" => {}
                _ => dev = Dev::Number(number),
            }
            rest = &rest[mark[0].len()..];
        }
        let bare = if dev != Dev::None && post.is_none() {
            Pre::Dev
        } else {
            Pre::Final
        };
        Some(Self {
            epoch: found
                .name("epoch")
                .map_or(Some(0), |epoch| epoch.as_str().parse().ok())?,
            numbers,
            pre: pre.unwrap_or(bare),
            post,
            dev,
        })
    }
}

/// The version that a tag names. A number alone is one, too: no heading is read here, in which it may be anything.
pub fn version_of(tag: &str) -> Option<String> {
    static SINGLE: LazyLock<Regex> = LazyLock::new(|| {
        compiled(r"(?i)^(?:[a-z][a-z0-9_.-]*[-_/])?v?(?P<number>[0-9]+(?:[-._]?(?:a|b|rc)[0-9]+)?)$")
    });
    of_heading(tag)
        .map(|title| title.version)
        .or_else(|| SINGLE.captures(tag).map(|found| found["number"].to_owned()))
}

/// Whether it is what notes call what has no version yet.
pub fn is_unreleased(version: &str) -> bool {
    version.trim().eq_ignore_ascii_case("unreleased")
}

/// Versions, each once, the newest first; what is not released yet is newer than every one.
pub fn newest_first<'v>(versions: impl IntoIterator<Item = &'v str>) -> Vec<&'v str> {
    let placed = versions.into_iter().map(|version| {
        let order = Order::of(version);
        (order.is_none(), order, version)
    });
    let placed: BTreeSet<(bool, Option<Order>, &str)> = placed.collect();
    placed.into_iter().rev().map(|(_, _, version)| version).collect()
}

/// Whether the notes' version is a tag's, or comes after it; what is not released yet comes after every one, and it alone
/// after `unreleased`. `None` when the tag names no version.
pub fn is_since(told: Option<&str>, tag: &str) -> Option<bool> {
    if is_unreleased(tag) {
        return Some(told.is_none_or(is_unreleased));
    }
    let bound = Order::of(&version_of(tag)?)?;
    Some(told.and_then(Order::of).is_none_or(|told| told >= bound))
}

/// Whether the notes' version is the one that a tag names, or of its series: `5.1` of `5`.
pub fn is_of(told: &str, tag: &str) -> bool {
    let Some(version) = version_of(tag) else {
        return false;
    };
    let Some(bound) = Order::of(&version) else {
        return false;
    };
    let is_series = bound.pre == Pre::Final && bound.post.is_none() && bound.dev == Dev::None;
    Order::of(told) == Some(bound) || is_series && extends(told, &version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_the_order_of_their_releases() {
        let rising = [
            "0.9",
            "1.0.dev1",
            "1.0a1.dev2",
            "1.0a1",
            "1.0.0-beta.2",
            "1.0b10",
            "1.0.0-rc.1",
            "1.0rc2",
            "1.0",
            "1.0.post1",
            "1.0.1",
            "1.9",
            "1.10",
            "2024-01-31",
            "2024-02-01",
            "2024.2.1.post1",
            "2024.10.1",
            "1!0.1",
        ];
        for pair in rising.windows(2) {
            assert!(Order::of(pair[0]) < Order::of(pair[1]), "{pair:?}");
        }
        for (one, other) in [
            ("1.0.0-rc.1", "v1.0rc1"),
            ("1.0.0", "1"),
            ("1.0.final", "1.0"),
            ("1.0-alpha", "1.0a0"),
            ("2024-02-01", "2024.2.1"),
            ("1.2+local.7", "1.2"),
        ] {
            assert_eq!(Order::of(one), Order::of(other), "{one} {other}");
        }
        assert_eq!(Order::of("unreleased"), None);
    }

    #[test]
    fn a_versions_own_release_is_since_it_and_so_is_all_that_follows() {
        for (told, tag, since) in [
            (Some("8.0.0rc1"), "8.0.0rc1", Some(true)),
            (Some("8.0.0rc2"), "8.0.0rc1", Some(true)),
            (Some("8.0.0"), "v8.0.0-rc.1", Some(true)),
            (Some("7.4.4"), "8.0.0rc1", Some(false)),
            (Some("8.0.0rc1"), "8.0.0", Some(false)),
            (Some("2.10"), "v2.9.0", Some(true)),
            (Some("2.9"), "lint-2.9.0", Some(true)),
            (Some("2.8"), "lint-2.9.0", Some(false)),
            (Some("3.0"), "1!0.1", Some(false)),
            (Some("unreleased"), "2.9.0", Some(true)),
            (None, "2.9.0", Some(true)),
            (Some("2024-02-01"), "2024-01-15", Some(true)),
            (Some("5.0.0"), "5", Some(true)),
            (Some("4.9"), "v5", Some(false)),
            (Some("5.1"), "lint-5", Some(true)),
            (Some("5.0b1"), "5", Some(false)),
            (Some("5.0b2"), "5b1", Some(true)),
            (Some("1.0"), "nightly", None),
            (Some("unreleased"), "unreleased", Some(true)),
            (None, "Unreleased", Some(true)),
            (Some("5.0"), "unreleased", Some(false)),
        ] {
            assert_eq!(is_since(told, tag), since, "{told:?} {tag}");
        }
        for (told, tag, is) in [
            ("2.30.0", "v2.30", true),
            ("1.0.0-rc.1", "v1.0.0rc1", true),
            ("1.0.0", "1.0.0rc1", false),
            ("unreleased", "nightly", false),
            ("5.0.0", "5", true),
            ("5.1", "v5", true),
            ("15.1", "5", false),
            ("5.1", "5.0", false),
            ("5.1", "5rc1", false),
        ] {
            assert_eq!(is_of(told, tag), is, "{told} {tag}");
        }
        assert_eq!(
            newest_first(["1.9", "unreleased", "1.10", "1.10rc1", "1.9"]),
            ["unreleased", "1.10", "1.10rc1", "1.9"]
        );
    }
}
