//! Generative names: `py{310,311}-{a,b}`, ranges among them.

use crate::build::detect::interpreters::{Minor, minor_of};

/// How many names a list of generative names may stand for; what is beyond is not looked at.
pub(super) const NAMES: usize = 4096;

/// How many choices one name may be made of.
const DEEPEST: usize = 32;

/// `py311`, `3.11`, `py3.11`: 11.
pub(super) fn factor_version(factor: &str) -> Option<Minor> {
    minor_of(factor).or_else(|| minor_of(&factor.replace('.', "")))
}

/// `py27`, `pypy3`, `jython`: no Python 3 of the usual kind.
pub(super) fn is_other_python(factor: &str) -> bool {
    let old = factor
        .strip_prefix("py2")
        .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    old || factor.starts_with("pypy") || factor.starts_with("jython")
}

/// A list of generative names: `py{310,311}-{a,b}, lint`.
pub(super) fn expand(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in split_outside(text) {
        let mut open = vec![part];
        while let Some(name) = open.pop().filter(|_| names.len() < NAMES) {
            let span = name
                .find('{')
                .and_then(|start| Some((start, start + name[start..].find('}')?)));
            match span {
                Some((start, end)) if name[start..].matches('{').count() <= DEEPEST => {
                    let choices: Vec<_> = name[start + 1..end].split(',').map(str::trim).collect();
                    open.extend(
                        choices
                            .into_iter()
                            .rev()
                            .flat_map(range)
                            .map(|choice| format!("{}{choice}{}", &name[..start], &name[end + 1..])),
                    );
                }
                _ => names.push(name.trim_matches('-').to_owned()),
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// `310-312` in braces is a range.
fn range(choice: &str) -> Vec<String> {
    let ends = choice
        .split_once('-')
        .and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)));
    match ends {
        Some((from, to)) if from <= to && to - from < 32 => {
            (from..=to).rev().map(|number| number.to_string()).collect()
        }
        _ => vec![choice.to_owned()],
    }
}

/// Splits at commas and blanks that are not in braces.
pub(super) fn split_outside(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_u32;
    for sign in text.chars() {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (sign, parts.last_mut()) {
            (',' | ' ' | '\t' | '\n', _) if depth == 0 => parts.push(String::new()),
            (' ', _) => {}
            (sign, Some(last)) => last.push(sign),
            _ => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_multiplied_and_bounded() {
        assert_eq!(
            expand("py{310,311}-{a,b}, lint"),
            ["py310-a", "py310-b", "py311-a", "py311-b", "lint"]
        );
        assert_eq!(expand("py{310-312}{,-x}").len(), 6);
        let product = format!("py{{36-39}}{}", "-{0-9}".repeat(12));
        let names = expand(&product);
        assert_eq!(names.len(), NAMES);
        assert!(names.iter().all(|name| !name.contains('{')));
    }

    #[test]
    fn factors_name_versions() {
        assert_eq!(factor_version("py311"), Some(11));
        assert_eq!(factor_version("3.9"), Some(9));
        assert_eq!(factor_version("django32"), None);
        assert!(is_other_python("pypy3") && is_other_python("py27") && !is_other_python("py36"));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(text in "([{}, a-c0-9-]){0,40}") {
            prop_assert!(expand(&text).len() <= NAMES);
        }
    }
}
