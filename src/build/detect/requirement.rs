//! A requirement's parts, as far as detection needs them: its name, its extras, and where it points.

use std::collections::BTreeSet;

use crate::build::lock::{is_name, normalise};

/// The parts of a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    /// Its normalised name (PEP 503).
    pub(super) name: String,
    /// Its extras, as written.
    pub(super) extras: BTreeSet<String>,
    /// Whether it names an address and no version.
    pub(super) address: bool,
}

/// Takes a requirement (PEP 508, or an address with `#egg=`) apart; `None` when it has no name.
pub(super) fn parts(text: &str) -> Option<Parts> {
    let text = text.trim();
    if text.contains("://") && !text.split("://").next()?.contains('@') {
        let (_, egg) = text.split_once("egg=")?;
        let egg = egg.split(['&', ' ', ';']).next()?;
        // Old pip took `name-version` and `name-branch` here.
        let version = egg
            .rfind('-')
            .filter(|at| egg[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let egg = version.map_or(egg, |at| &egg[..at]);
        let egg = ["-master", "-main", "-dev"]
            .iter()
            .find_map(|end| egg.strip_suffix(end))
            .unwrap_or(egg);
        let (name, extras) = name_and_extras(egg)?;
        return Some(Parts {
            name,
            extras,
            address: true,
        });
    }
    let end = text
        .find([' ', '=', '<', '>', '!', '~', ';', '@', '('])
        .unwrap_or(text.len());
    // An extra's list may have blanks: `a[b, c]`.
    let end = match text.find('[') {
        Some(open) if open <= end || text[end..open].trim().is_empty() => {
            text.find(']').map_or(end, |close| close + 1)
        }
        _ => end,
    };
    let (name, extras) = name_and_extras(&text[..end])?;
    let rest = text[end..].trim_start();
    Some(Parts {
        name,
        extras,
        address: rest.starts_with('@') && rest.contains("://"),
    })
}

fn name_and_extras(text: &str) -> Option<(String, BTreeSet<String>)> {
    let (name, extras) = text.split_once('[').unwrap_or((text, ""));
    let name = name.trim();
    let extras = extras.trim_end_matches(']').split(',').map(str::trim);
    let extras = extras.filter(|extra| is_name(extra)).map(str::to_owned).collect();
    is_name(name).then(|| (normalise(name), extras))
}

/// `.[a,b]`: the project itself, with these extras, as an install line.
pub(super) fn project_line<'a>(extras: impl IntoIterator<Item = &'a str>) -> String {
    let extras: BTreeSet<&str> = extras.into_iter().filter(|extra| is_name(extra)).collect();
    if extras.is_empty() {
        return "-e .".to_owned();
    }
    let extras: Vec<_> = extras.into_iter().collect();
    format!("-e .[{}]", extras.join(","))
}

/// Whether a text is one requirement that a resolver would read, by its shape.
pub(super) fn is_requirement(text: &str) -> bool {
    let plain = !text.contains(['$', '{', '}', '\n', '`', '*']) || text.contains(".*");
    plain && !text.starts_with(['-', '.', '/']) && parts(text).is_some()
}

/// A constraint in Poetry's language (`^1.2`, `~1.2`, `1.2.*`, `>=1,<2`, `*`) in PEP 440's; `None` when it is no
/// constraint, or one with alternatives that no single specifier has.
///
/// Source: Poetry's documentation, "Dependency specification": a caret allows what leaves the first number that is not
/// zero; a tilde what leaves the minor number, where one is given; a bare version is an exact one.
pub(super) fn from_poetry(text: &str) -> Option<String> {
    let mut out = Vec::new();
    for part in split_constraints(text) {
        if part.is_empty() || part == "*" {
            continue;
        }
        if let Some(version) = part.strip_prefix('^') {
            let numbers = numbers(version)?;
            let keep = numbers.iter().position(|n| *n != 0).unwrap_or(numbers.len() - 1);
            out.push(format!(">={}", version.trim()));
            out.push(format!("<{}", next(&numbers, keep)));
        } else if let Some(version) = part.strip_prefix("~=") {
            out.push(format!("~={}", version.trim()));
        } else if let Some(version) = part.strip_prefix('~') {
            let numbers = numbers(version)?;
            out.push(format!(">={}", version.trim()));
            out.push(format!("<{}", next(&numbers, usize::from(numbers.len() > 1))));
        } else if part.starts_with(['>', '<', '!', '=']) {
            let end = part.find(|c: char| !"<>!=".contains(c))?;
            let (operator, version) = part.split_at(end);
            numbers(version.trim().trim_end_matches(".*"))?;
            let operator = if operator == "=" { "==" } else { operator };
            out.push(format!("{operator}{}", version.trim()));
        } else {
            numbers(part.trim_end_matches(".*"))?;
            out.push(format!("=={part}"));
        }
    }
    Some(out.join(","))
}

/// `>=1,<2` and `>=1 <2` in parts; `||` and `|` have no equal and give a part that is no constraint.
fn split_constraints(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in text
        .split([',', ' '])
        .map(str::trim)
        .filter(|word| !word.is_empty())
    {
        match parts.last_mut() {
            // `>= 1`: the sign and its version.
            Some(last) if last.chars().all(|c| "<>=!~^".contains(c)) => last.push_str(word),
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

/// The numbers a version starts with.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let version = version.trim().trim_start_matches('v');
    let end = version
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(version.len());
    let (release, rest) = version.split_at(end);
    let known = rest.trim_start_matches(['-', '_', '+']);
    let known = known.is_empty()
        || ["a", "b", "c", "rc", "dev", "post"]
            .iter()
            .any(|pre| known.starts_with(pre));
    let numbers: Option<Vec<u64>> = release
        .trim_end_matches('.')
        .split('.')
        .map(|part| part.parse().ok())
        .collect();
    numbers.filter(|_| known)
}

/// The first version beyond those that leave the number at `keep` as it is.
fn next(numbers: &[u64], keep: usize) -> String {
    let head = numbers.iter().take(keep + 1).enumerate();
    let head = head.map(|(at, number)| number.saturating_add(u64::from(at == keep)).to_string());
    head.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_requirement_is_taken_apart() {
        let name = |text: &str| {
            parts(text).map(|parts| {
                (
                    parts.name,
                    parts.extras.into_iter().collect::<Vec<_>>(),
                    parts.address,
                )
            })
        };
        let plain = |name: &str| Some((name.to_owned(), vec![], false));
        assert_eq!(name("PyTest_Cov>=2 ; python_version<'3'"), plain("pytest-cov"));
        assert_eq!(name("a (>=1)"), plain("a"));
        assert_eq!(
            name("uvicorn[standard, x]~=1"),
            Some(("uvicorn".into(), vec!["standard".into(), "x".into()], false))
        );
        assert_eq!(
            name("a @ https://example.org/a.whl"),
            Some(("a".into(), vec![], true))
        );
        assert_eq!(
            name("git+https://example.org/a#egg=B_c[d]"),
            Some(("b-c".into(), vec!["d".into()], true))
        );
        assert_eq!(
            name("https://example.org/tarball#egg=a-b-master-2.0"),
            Some(("a-b".into(), vec![], true))
        );
        assert_eq!(name("git+https://example.org/a"), None);
        assert_eq!(name("./a"), None);
    }

    #[test]
    fn poetrys_constraints_have_equals() {
        let cases = [
            ("^1.2.3", ">=1.2.3,<2"),
            ("^1", ">=1,<2"),
            ("^0.2.3", ">=0.2.3,<0.3"),
            ("^0.0.3", ">=0.0.3,<0.0.4"),
            ("^0.0", ">=0.0,<0.1"),
            ("^0", ">=0,<1"),
            ("^7.0.0rc1", ">=7.0.0rc1,<8"),
            ("~1.2.3", ">=1.2.3,<1.3"),
            ("~1.2", ">=1.2,<1.3"),
            ("~1", ">=1,<2"),
            ("~=1.4", "~=1.4"),
            ("1.2.*", "==1.2.*"),
            ("1.2", "==1.2"),
            ("=1.2", "==1.2"),
            (">= 1.2, < 2", ">=1.2,<2"),
            (">=3.6.1 <4.0", ">=3.6.1,<4.0"),
            ("*", ""),
        ];
        for (poetry, pep) in cases {
            assert_eq!(from_poetry(poetry).as_deref(), Some(pep), "{poetry}");
        }
        for wrong in ["^1 || ^2", "latest", "^", "~x"] {
            assert_eq!(from_poetry(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_the_readers_panic(text in "([\\^~<>=!|*@;,\\[\\]. a-z0-9é:/#-]){0,24}") {
            let _ = parts(&text);
            let _ = is_requirement(&text);
            let _ = from_poetry(&text);
        }

        #[test]
        fn a_caret_allows_its_own_version_and_not_the_next_major(major in 1_u64..50, minor in 0_u64..50) {
            prop_assert_eq!(from_poetry(&format!("^{major}.{minor}")), Some(format!(">={major}.{minor},<{}", major + 1)));
        }
    }
}
