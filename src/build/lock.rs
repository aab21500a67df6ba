//! Locks: every third-party distribution with its version and hashes, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// One locked distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The exact version.
    pub version: String,
    /// Hashes of every file the index has of it (`sha256:…`): wheels for any platform, and the source.
    pub hashes: BTreeSet<String>,
}

/// A lock: distributions by normalised name (PEP 503). It holds no index, no host, no path, no date and no
/// command line, so equal versions give equal bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    /// The distributions, by normalised name.
    pub pins: BTreeMap<String, Pin>,
}

/// A resolver's answer that cannot be a lock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// A distribution that is not from an index: a repository or a file somewhere, which nothing pins.
    #[error("lock `{line}`: it comes from an address and not from an index")]
    Address {
        /// The line.
        line: String,
    },
    /// A distribution without a hash.
    #[error("lock `{name}`: the index gives no hash for it")]
    Unhashed {
        /// The distribution.
        name: String,
    },
    /// A line that is none of a lock's.
    #[error("read the line `{line}` of a lock")]
    Line {
        /// The line.
        line: String,
    },
}

impl Lock {
    /// Reads what a resolver wrote in the requirements format (`uv pip compile --generate-hashes`). The repository's
    /// own packages (local paths) are left out: they are installed from the work tree.
    ///
    /// # Errors
    /// [`LockError`] for an entry that cannot be pinned by version and hash.
    pub fn read(text: &str) -> Result<Self, LockError> {
        let mut lock = Self::default();
        for line in logical_lines(text) {
            if is_local(&line) {
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let first = words.next().unwrap_or_default();
            let bad = || LockError::Line { line: line.clone() };
            let Some((name, version)) = first.split_once("==") else {
                let address = line.contains("://") || line.contains(" @ ");
                return Err(if address {
                    LockError::Address { line }
                } else {
                    bad()
                });
            };
            // `name[extra]==1`: extras say what else is installed, and that is in the lock itself.
            let name = name.split('[').next().unwrap_or(name);
            if !is_name(name) || version.is_empty() || version.contains(['*', ',', ';']) {
                return Err(bad());
            }
            let hashes = words
                .map(|word| word.strip_prefix("--hash=").map(str::to_owned).ok_or_else(bad))
                .collect::<Result<BTreeSet<_>, _>>()?;
            if hashes.is_empty() {
                return Err(LockError::Unhashed {
                    name: name.to_owned(),
                });
            }
            lock.pins.insert(
                normalise(name),
                Pin {
                    version: version.to_owned(),
                    hashes,
                },
            );
        }
        Ok(lock)
    }

    /// The lock's bytes: pip's requirements format, sorted.
    pub fn to_text(&self) -> String {
        self.text_of(|_| true)
    }

    /// The part of the lock with these distributions.
    pub fn part(&self, names: &BTreeSet<&str>) -> String {
        self.text_of(|name| names.contains(name))
    }

    fn text_of(&self, wanted: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        for (name, pin) in self.pins.iter().filter(|(name, _)| wanted(name)) {
            let _ = write!(text, "{name}=={}", pin.version);
            for hash in &pin.hashes {
                let _ = write!(text, " \\\n    --hash={hash}");
            }
            text.push('\n');
        }
        text
    }
}

/// Which distributions have no wheel for this interpreter and machine, and must be built from source, with the moment
/// their source was uploaded (where the index says it): read from the resolver's `pylock.toml` (PEP 751), which lists
/// a distribution's usable files.
///
/// # Errors
/// A sentence when the text is not TOML.
pub fn source_only(pylock: &str) -> Result<BTreeMap<String, Option<Timestamp>>, String> {
    let table: toml::Table = pylock
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let packages = table.get("packages").and_then(toml::Value::as_array);
    Ok(packages
        .into_iter()
        .flatten()
        .filter_map(|package| {
            let wheels = package.get("wheels").and_then(toml::Value::as_array);
            let source = package.get("sdist")?;
            let uploaded = source.get("upload-time").and_then(toml::Value::as_datetime);
            let uploaded = uploaded.and_then(|moment| moment.to_string().parse().ok());
            let name = package.get("name").and_then(toml::Value::as_str)?;
            wheels
                .is_none_or(Vec::is_empty)
                .then(|| (normalise(name), uploaded))
        })
        .collect())
}

/// The moment whose build tools build a source: the first of the month of `date`, or the source's own upload when
/// that was later. A day in the same month gives the same moment, so that candidates share what is built.
pub fn tools_as_of(date: Timestamp, uploaded: Option<Timestamp>) -> Timestamp {
    let day = TimeZone::UTC.to_datetime(date).date().first_of_month();
    let month = TimeZone::UTC.to_timestamp(day.into()).unwrap_or(date);
    // An index takes what is uploaded before the moment, so the moment is one second after the upload.
    let own = uploaded.and_then(|moment| moment.checked_add(SignedDuration::from_secs(1)).ok());
    own.map_or(month, |own| month.max(own.min(date)))
}

/// A distribution's name in its one spelling (PEP 503): lower case, runs of `-`, `_`, `.` as one `-`.
pub fn normalise(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            c => normal.push(c.to_ascii_lowercase()),
        }
    }
    normal
}

/// Whether a text can be a distribution's name (PEP 508).
pub(super) fn is_name(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    text.bytes().all(inner)
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && text
            .bytes()
            .next_back()
            .is_some_and(|b| b.is_ascii_alphanumeric())
}

fn is_local(line: &str) -> bool {
    let line = line.strip_prefix("-e ").unwrap_or(line);
    line.starts_with(['.', '/']) || line.starts_with("file:") || line.contains(" @ file:")
}

/// Lines with continuations joined, without comments and empty lines.
pub(super) fn logical_lines(text: &str) -> Vec<String> {
    numbered_lines(text).into_iter().map(|(_, line)| line).collect()
}

/// As [`logical_lines`], each with the number of the line it begins in, from 1.
pub(super) fn numbered_lines(text: &str) -> Vec<(u32, String)> {
    let mut lines = Vec::new();
    let mut pending = String::new();
    let mut begun = 1;
    for (number, line) in (1..).zip(text.lines()) {
        if pending.is_empty() {
            begun = number;
        }
        let line = line.trim_end_matches('\r');
        // A comment line ends a continuation, as in pip.
        let comment = line.trim_start().starts_with('#');
        if let (Some(begin), false) = (line.strip_suffix('\\'), comment) {
            pending.push_str(begin);
            pending.push(' ');
            continue;
        }
        if !comment {
            pending.push_str(line);
        }
        let whole = std::mem::take(&mut pending);
        let end = whole
            .match_indices('#')
            .find(|(at, _)| whole[..*at].ends_with([' ', '\t']));
        let whole = whole[..end.map_or(whole.len(), |(at, _)| at)].trim();
        if !whole.is_empty() {
            lines.push((begun, whole.to_owned()));
        }
    }
    if !pending.trim().is_empty() {
        lines.push((begun, pending.trim().to_owned()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_uv_writes_becomes_a_sorted_lock_without_the_repository_itself() {
        let text = "# This file was autogenerated by uv via the following command:\n\
                    #    uv pip compile /home/me/x.in\n\
                    --hash-free-noise\n";
        assert!(matches!(Lock::read(text), Err(LockError::Line { .. })));
        let text = "zope.interface==5.0 \\\n    --hash=sha256:bb \\\n    --hash=sha256:aa\n    # via -r x.in\n\
                    -e file:///testbed\n\
                    ./plugins/a\n\
                    requests @ file:///testbed\n\
                    Coverage[toml]==7.4.2 \\\n    --hash=sha256:cc\n";
        let lock = Lock::read(text).unwrap();
        insta::assert_snapshot!(lock.to_text(), @r"
        coverage==7.4.2 \
            --hash=sha256:cc
        zope-interface==5.0 \
            --hash=sha256:aa \
            --hash=sha256:bb
        ");
    }

    #[test]
    fn what_cannot_be_pinned_is_named() {
        let git = "astroid @ git+https://example.org/astroid@0123 \n";
        assert!(matches!(Lock::read(git), Err(LockError::Address { .. })));
        assert_eq!(
            Lock::read("six==1.16.0\n"),
            Err(LockError::Unhashed { name: "six".into() })
        );
        for wrong in ["six", "six==", "six==1.* --hash=sha256:a", "six==1 --pre", "=="] {
            assert!(
                matches!(Lock::read(wrong), Err(LockError::Line { .. })),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_distribution_without_a_usable_wheel_is_built_from_source() {
        let pylock = r#"
            lock-version = "1.0"
            [[packages]]
            name = "flasgger"
            version = "0.9.7.1"
            sdist = { url = "https://example.org/flasgger-0.9.7.1.tar.gz", upload-time = 2023-07-13T13:05:29Z, hashes = { sha256 = "aa" } }
            [[packages]]
            name = "six"
            version = "1.16.0"
            sdist = { url = "https://example.org/six-1.16.0.tar.gz", hashes = { sha256 = "bb" } }
            wheels = [{ url = "https://example.org/six-1.16.0-py2.py3-none-any.whl", hashes = { sha256 = "cc" } }]
            [[packages]]
            name = "requests"
            directory = { path = ".", editable = true }
        "#;
        let uploaded = "2023-07-13T13:05:29Z".parse().ok();
        assert_eq!(
            source_only(pylock).unwrap(),
            BTreeMap::from([("flasgger".to_owned(), uploaded)])
        );
        assert!(source_only("packages = [").is_err());
    }

    #[test]
    fn a_part_of_a_lock_is_taken_by_name() {
        let lock = Lock::read("a==1 --hash=sha256:a\nb==2 --hash=sha256:b\n").unwrap();
        assert_eq!(
            lock.part(&BTreeSet::from(["b", "c"])),
            "b==2 \\\n    --hash=sha256:b\n"
        );
    }

    #[test]
    fn tools_are_those_of_the_month_unless_the_source_is_younger() {
        let moment = |text: &str| text.parse::<Timestamp>().unwrap();
        let date = moment("2024-02-23T00:49:42Z");
        assert_eq!(tools_as_of(date, None), moment("2024-02-01T00:00:00Z"));
        assert_eq!(
            tools_as_of(date, Some(moment("2023-05-01T00:00:00Z"))),
            moment("2024-02-01T00:00:00Z")
        );
        assert_eq!(
            tools_as_of(date, Some(moment("2024-02-10T00:00:00Z"))),
            moment("2024-02-10T00:00:01Z")
        );
        assert_eq!(tools_as_of(date, Some(date)), date);
    }

    proptest! {
        #[test]
        fn a_lock_survives_its_text(
            pins in proptest::collection::btree_map(
                "[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,4}){0,2}",
                ("[0-9]{1,2}(\\.[0-9]{1,2}){0,3}(rc1|\\.post2|)", proptest::collection::btree_set("sha256:[0-9a-f]{8}", 1..4)),
                0..8,
            )
        ) {
            let pins = pins.into_iter().map(|(name, (version, hashes))| (name, Pin { version, hashes })).collect();
            let lock = Lock { pins };
            prop_assert_eq!(Lock::read(&lock.to_text()).unwrap(), lock);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "(.|\n|\\\\\n){0,60}") {
            let _ = Lock::read(&text);
            let _ = source_only(&text);
        }

        #[test]
        fn a_normal_name_is_normal(name in "[A-Za-z0-9._-]{1,12}") {
            let once = normalise(&name);
            prop_assert_eq!(normalise(&once), once);
        }
    }
}
