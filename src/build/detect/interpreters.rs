//! Which interpreters are worth trying, and in which order.
//!
//! The newest that the project says it supports comes first, if it was released before the base commit's date: a test of
//! what a new version brought is skipped below it, and a skipped test proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::proposal::{Choice, Origin, Tree};
use crate::build::python::PythonVersion;
use crate::domain::settings::Place;
use crate::recipe::python::PythonSpec;

/// Days of the final releases (`X.Y.0`). Source: the release schedules, PEP 494, 537, 569, 596, 619, 664, 693, 719, 745
/// and 790. Python before 3.6 is not here: no present resolver makes environments for it.
const RELEASES: &[(u32, &str)] = &[
    (6, "2016-12-23"),
    (7, "2018-06-27"),
    (8, "2019-10-14"),
    (9, "2020-10-05"),
    (10, "2021-10-04"),
    (11, "2022-10-24"),
    (12, "2023-10-02"),
    (13, "2024-10-07"),
    (14, "2025-10-07"),
    (15, "2026-10-01"),
];

/// A minor version of Python 3: `11` is 3.11.
pub(super) type Minor = u32;

/// What the tree says of interpreters.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// Versions that are named, by whom.
    pub(super) named: BTreeMap<Minor, Vec<Origin>>,
    /// Conditions on the version (`>=3.7,<4`), and where they stand.
    pub(super) conditions: Vec<(String, Place)>,
    /// Where a Python 2 is first named, and which.
    pub(super) old: Option<(String, Place)>,
}

impl Said {
    /// Notes that a version is named. Text that is no version of Python 3 is passed over.
    pub(super) fn name(&mut self, version: &str, place: &Place, why: &str) {
        let Some(minor) = minor_of(version) else {
            let version = version.trim();
            if self.old.is_none() && (version.starts_with("2.") || version.starts_with("py2")) {
                self.old = Some((version.to_owned(), place.clone()));
            }
            return;
        };
        let origin = Origin {
            what: format!("python 3.{minor}"),
            place: Some(place.clone()),
            why: why.to_owned(),
        };
        let known = self.named.entry(minor).or_default();
        if !known.contains(&origin) {
            known.push(origin);
        }
    }

    /// Takes in what pyenv and others read (`.python-version`).
    pub(super) fn file(&mut self, tree: &Tree<'_>) {
        let text = tree.text(".python-version").unwrap_or_default();
        for (number, line) in (1..).zip(text.lines()) {
            self.name(
                line,
                &Place::new(".python-version", number),
                "the project is worked on with it",
            );
        }
    }

    /// Notes a condition; one that cannot be read is passed over.
    pub(super) fn condition(&mut self, text: &str, place: &Place) {
        if request(text).is_some() {
            self.conditions.push((text.trim().to_owned(), place.clone()));
        }
    }
}

/// `3.11`, `3.11.4`, `3.11-dev`, `python3.11`, `py311`, `311`, `>=3.11`'s 11; `None` for anything else (`3.x`, `pypy3.9`).
pub(super) fn minor_of(text: &str) -> Option<Minor> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("python3.").or_else(|| text.strip_prefix("3.")) {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (minor, tail) = rest.split_at(end);
        let known = tail.is_empty() || tail.starts_with(['.', '-', 'a', 'b', 'r', 't']);
        return minor.parse().ok().filter(|minor| known && *minor < 100);
    }
    let digits = text
        .strip_prefix("py")
        .or_else(|| text.strip_prefix("cp"))
        .unwrap_or(text);
    let minor = digits
        .strip_prefix('3')
        .filter(|rest| (1..=2).contains(&rest.len()))?;
    minor.parse().ok().filter(|_| text.starts_with(['p', 'c']))
}

/// Conditions in PEP 440's or Poetry's language, as this crate reads them.
fn request(text: &str) -> Option<PythonSpec> {
    let pep = super::requirement::from_poetry(text)?;
    // `~=3.7` is `>=3.7,<4`; `~=3.7.1` is `>=3.7.1,<3.8`.
    let parts: Vec<String> = pep
        .split(',')
        .filter(|part| !part.is_empty())
        .map(|part| match part.strip_prefix("~=") {
            Some(version) if version.matches('.').count() < 2 => format!(">={version},<4"),
            Some(version) => {
                super::requirement::from_poetry(&format!("~{version}")).unwrap_or_else(|| part.to_owned())
            }
            None => part.to_owned(),
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    parts.join(",").parse().ok()
}

/// The interpreters at hand that are worth trying, best first, and notes about those that are not.
pub(super) fn rank(said: &Said, date: Timestamp, at_hand: &[PythonVersion]) -> (Vec<Choice>, Vec<String>) {
    let mut newest: BTreeMap<Minor, &PythonVersion> = BTreeMap::new();
    for version in at_hand
        .iter()
        .filter(|version| version.release[0] == 3 && version.is_final())
    {
        let best = newest.entry(version.release[1]).or_insert(version);
        *best = (*best).max(version);
    }
    let mut notes = Vec::new();
    let mut good = BTreeSet::new();
    // Before the oldest that environments are made for, it is the nearest.
    let oldest = RELEASES.first().map(|(minor, _)| *minor);
    let nearest = oldest.filter(|minor| !was_released(*minor, date) && newest.contains_key(minor));
    for (minor, version) in &newest {
        let Some((_, day)) = RELEASES.iter().find(|(known, _)| known == minor) else {
            continue;
        };
        if !was_released(*minor, date) && nearest != Some(*minor) {
            notes.push(format!(
                "python 3.{minor} is not tried: it was released on {day}, after the base commit"
            ));
            continue;
        }
        let against = said
            .conditions
            .iter()
            .find(|(text, _)| request(text).is_some_and(|request| !request.accepts(version.release)));
        match against {
            Some((text, place)) => notes.push(format!(
                "python 3.{minor} is not tried: `{text}` ({place}) excludes it"
            )),
            None => {
                good.insert(*minor);
            }
        }
    }
    for (minor, by) in said
        .named
        .iter()
        .rev()
        .filter(|(minor, _)| !newest.contains_key(minor))
    {
        if was_released(*minor, date) {
            let place = by.iter().find_map(|origin| origin.place.as_ref());
            let place = place.map_or(String::new(), |place| format!(" ({place})"));
            notes.push(format!(
                "python 3.{minor} is named{place} and is not on this machine"
            ));
        }
    }
    if let Some((version, place)) = said
        .old
        .as_ref()
        .filter(|_| said.named.is_empty() || nearest.is_some())
    {
        // `py27` is 2.7.
        let version = match version.strip_prefix("py2") {
            Some(minor) => format!("2.{}", minor.trim_start_matches('.')),
            None => version.clone(),
        };
        notes.push(format!(
            "python {version} is named ({place}) and is not tried: environments are made for Python 3.6 and later"
        ));
    }
    let highest = said
        .named
        .keys()
        .copied()
        .filter(|minor| good.contains(minor))
        .max();
    let rank = |minor: &Minor| {
        (
            said.named.contains_key(minor),
            highest.is_none_or(|highest| *minor <= highest),
            *minor,
        )
    };
    let mut order: Vec<Minor> = good.into_iter().collect();
    order.sort_by_key(|minor| std::cmp::Reverse(rank(minor)));
    let choices = order.into_iter().map(|minor| Choice {
        python: format!("3.{minor}"),
        because: reasons(said, minor, nearest == Some(minor)),
    });
    (choices.collect(), notes)
}

fn was_released(minor: Minor, date: Timestamp) -> bool {
    let day = RELEASES
        .iter()
        .find(|(known, _)| *known == minor)
        .map(|(_, day)| *day);
    day.and_then(|day| format!("{day}T00:00:00Z").parse::<Timestamp>().ok())
        .is_some_and(|released| released < date)
}

fn reasons(said: &Said, minor: Minor, nearest: bool) -> Vec<Origin> {
    if nearest {
        let mut reasons = said.named.get(&minor).cloned().unwrap_or_default();
        let why = "it came after the base commit; of those that environments are made for it is the nearest";
        reasons.insert(
            0,
            Origin {
                what: format!("python 3.{minor}"),
                place: None,
                why: why.to_owned(),
            },
        );
        return reasons;
    }
    if let Some(named) = said.named.get(&minor) {
        return named.clone();
    }
    let what = format!("python 3.{minor}");
    let allowed = said.conditions.iter().map(|(text, place)| Origin {
        what: what.clone(),
        place: Some(place.clone()),
        why: format!("`{text}` allows it, and nothing names it"),
    });
    let mut reasons: Vec<_> = allowed.collect();
    if reasons.is_empty() {
        reasons.push(Origin {
            what,
            place: None,
            why: "nothing names it and nothing excludes it; it was released before the base commit"
                .to_owned(),
        });
    }
    reasons
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order(named: &[&str], conditions: &[&str], date: &str, at_hand: &[&str]) -> Vec<String> {
        let mut said = Said::default();
        for version in named {
            said.name(version, &Place::file("ci.yml"), "the matrix names it");
        }
        for text in conditions {
            said.condition(text, &Place::file("pyproject.toml"));
        }
        let at_hand: Vec<_> = at_hand.iter().map(|version| version.parse().unwrap()).collect();
        let (choices, _) = rank(&said, date.parse().unwrap(), &at_hand);
        choices.into_iter().map(|choice| choice.python).collect()
    }

    const HERE: [&str; 9] = [
        "2.7.18",
        "3.6.15",
        "3.8.1",
        "3.9.2",
        "3.10.13",
        "3.11.7",
        "3.12.1",
        "3.13.0",
        "3.14.0rc1",
    ];

    #[test]
    fn the_newest_named_that_was_out_comes_first() {
        let named = ["3.8", "3.10", "3.11", "3.12"];
        assert_eq!(
            order(&named, &[">=3.8"], "2023-02-23T00:00:00Z", &HERE),
            ["3.11", "3.10", "3.8", "3.9"]
        );
        assert_eq!(
            order(&named, &[">=3.8"], "2024-12-01T00:00:00Z", &HERE)[..2],
            ["3.12", "3.11"]
        );
        assert_eq!(
            order(&named, &[">=3.8"], "2024-12-01T00:00:00Z", &HERE)
                .last()
                .unwrap(),
            "3.13"
        );
        assert_eq!(
            order(&[], &["^3.9"], "2022-01-01T00:00:00Z", &HERE),
            ["3.10", "3.9"]
        );
        assert_eq!(order(&[], &["~=3.9.1"], "2022-01-01T00:00:00Z", &HERE), ["3.9"]);
        assert_eq!(
            order(&[], &[], "2021-01-01T00:00:00Z", &HERE),
            ["3.9", "3.8", "3.6"]
        );
        assert_eq!(
            order(&["2.7", "3.3"], &[], "2014-01-01T00:00:00Z", &HERE),
            ["3.6"],
            "the nearest to a day before the oldest"
        );
        assert_eq!(
            order(&[], &[], "2014-01-01T00:00:00Z", &HERE[2..]),
            Vec::<String>::new(),
            "what is years away is none"
        );
        assert_eq!(
            order(&["2.7"], &["<3"], "2021-01-01T00:00:00Z", &HERE),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_old_tree_is_told_what_it_is_tried_with() {
        let mut said = Said::default();
        said.name("py27", &Place::new("tox.ini", 3), "tox names it");
        let here: Vec<PythonVersion> = HERE.iter().map(|version| version.parse().unwrap()).collect();
        let (choices, notes) = rank(&said, "2013-05-01T00:00:00Z".parse().unwrap(), &here);
        assert!(choices[0].because[0].why.contains("after the base commit"));
        assert!(
            notes.contains(
                &"python 2.7 is named (tox.ini:3) and is not tried: environments are made for Python 3.6 and later"
                    .to_owned()
            ),
            "{notes:?}"
        );
    }

    #[test]
    fn a_minor_is_read_off_many_spellings() {
        for (text, minor) in [
            ("3.11", Some(11)),
            ("3.11.4", Some(11)),
            ("3.12-dev", Some(12)),
            ("3.13t", Some(13)),
            ("python3.7", Some(7)),
            ("py310", Some(10)),
            ("py36", Some(6)),
            ("3.x", None),
            ("pypy3.9", None),
            ("pypy39", None),
            ("2.7", None),
            ("36", None),
            ("py3", None),
            ("3", None),
        ] {
            assert_eq!(minor_of(text), minor, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_the_readers_panic(text in "([<>=~^!.,*| 0-9a-z-]){0,16}") {
            let mut said = Said::default();
            said.name(&text, &Place::file("f"), "");
            said.condition(&text, &Place::file("f"));
            let _ = rank(&said, Timestamp::UNIX_EPOCH, &[]);
        }
    }
}
