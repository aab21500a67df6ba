//! One of conda's match specifications in pip's language.
//!
//! Source: conda's documentation, "Package match specifications": `channel::name version build`, where `=1.2` is any 1.2,
//! `==1.2` and a bare 1.2 are that version, `,` is and, `|` is or; the same in brackets, `name[version='>=1']`.

use super::names::distribution;

/// What a specification asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// A requirement of the index.
    Requirement(String),
    /// An interpreter (`3.11`; empty: any).
    Python(String),
    /// What is no distribution, by its name.
    Other(String),
}

/// Reads a specification; `None` when it is none.
pub(super) fn read(text: &str) -> Option<Asked> {
    let text = text.split(" #").next().unwrap_or(text).trim();
    let text = text.rsplit("::").next().unwrap_or(text).trim();
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
    let end = text.find(|sign| !is_part(sign)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let name = name.to_ascii_lowercase();
    if name.is_empty() || !rest.is_empty() && !rest.starts_with([' ', '=', '<', '>', '!', '~', '[']) {
        return None;
    }
    let rest = in_brackets(rest).unwrap_or(rest);
    if name == "python" {
        return Some(Asked::Python(one_python(rest)));
    }
    let Some(known) = distribution(&name) else {
        return Some(Asked::Other(name));
    };
    let requirement = format!("{known}{}", version(rest));
    Some(if super::super::requirement::is_requirement(&requirement) {
        Asked::Requirement(requirement)
    } else {
        Asked::Other(name)
    })
}

/// The version that `[version='>=1', build=…]` has.
fn in_brackets(rest: &str) -> Option<&str> {
    let inner = rest.trim().strip_prefix('[')?;
    let (_, value) = inner.split_once("version").unwrap_or(("", ""));
    let value = value.trim_start_matches([' ', '=']);
    Some(match value.chars().next() {
        Some(quote @ ('\'' | '"')) => value[1..].split(quote).next().unwrap_or(""),
        _ => value.split([',', ']']).next().unwrap_or(""),
    })
}

/// The one version of Python that is asked for.
fn one_python(rest: &str) -> String {
    let plain = rest.trim().trim_start_matches('=').trim();
    let is_one = plain.starts_with(|sign: char| sign.is_ascii_digit()) && !plain.contains([',', '|']);
    let word = plain.split([' ', '=', '*']).next().unwrap_or("");
    if is_one {
        word.trim_end_matches('.').to_owned()
    } else {
        String::new()
    }
}

/// A version condition in PEP 440's language; empty where it has no equal there.
fn version(rest: &str) -> String {
    let rest = rest.trim();
    if rest.contains('|') {
        return String::new();
    }
    // What stands alone after the condition is a build.
    let joins = |sign: char| ",<>=!~".contains(sign);
    let mut condition = String::new();
    for word in rest.split_ascii_whitespace() {
        let goes_on = condition.is_empty() || condition.ends_with(joins) || word.starts_with(',');
        if !goes_on {
            break;
        }
        condition.push_str(word);
    }
    let parts: Option<Vec<String>> = condition
        .split(',')
        .filter(|part| !part.is_empty())
        .map(part)
        .collect();
    let parts = parts.unwrap_or_default();
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(",")
}

/// One condition; `None` where it has no equal.
fn part(text: &str) -> Option<String> {
    let end = text.find(|sign| !"<>=!~".contains(sign)).unwrap_or(text.len());
    let (operator, version) = text.split_at(end);
    // `=1.2=py38_0`: a build comes with one version.
    let (version, has_build) = version
        .split_once('=')
        .map_or((version, false), |(version, _)| (version, true));
    let stem = version.trim_end_matches('*').trim_end_matches('.');
    let any_below = stem != version;
    if stem.is_empty() && any_below {
        return Some(String::new());
    }
    if !is_version(stem) {
        return None;
    }
    Some(match operator {
        // A pre-release has none below it.
        "=" if !has_build && stem.bytes().all(|sign| !sign.is_ascii_alphabetic()) => format!("=={stem}.*"),
        "" | "=" | "==" if any_below => format!("=={stem}.*"),
        "" | "=" | "==" => format!("=={stem}"),
        "!=" if any_below => format!("!={stem}.*"),
        ">" | "<" | ">=" | "<=" | "!=" => format!("{operator}{stem}"),
        "~=" if stem.contains('.') => format!("~={stem}"),
        "~=" => format!(">={stem}"),
        _ => return None,
    })
}

/// Whether a text is a version that PEP 440 knows, too, as far as conda's have them: `1.2`, `1.2rc1`, `1.2.post1`.
fn is_version(text: &str) -> bool {
    let end = text
        .find(|sign: char| !sign.is_ascii_digit() && sign != '.')
        .unwrap_or(text.len());
    let (release, rest) = text.split_at(end);
    let release = release.strip_suffix('.').unwrap_or(release);
    let numbers = release.split('.').all(|part| !part.is_empty() && part.len() < 10);
    let kinds = ["rc", "dev", "post", "a", "b"];
    let known = rest.is_empty()
        || kinds.iter().any(|kind| {
            rest.strip_prefix(kind).is_some_and(|number| {
                (1..10).contains(&number.len()) && number.bytes().all(|sign| sign.is_ascii_digit())
            })
        });
    numbers && known
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_specification_has_an_equal() {
        let cases = [
            ("numpy", "numpy"),
            ("NumPy=1.19", "numpy==1.19.*"),
            ("numpy=1.19.2=py38h54aff64_0", "numpy==1.19.2"),
            ("numpy==1.19", "numpy==1.19"),
            ("numpy 1.19", "numpy==1.19"),
            ("numpy 1.19.* py38_0", "numpy==1.19.*"),
            ("numpy >= 1.19, <2", "numpy>=1.19,<2"),
            ("numpy>=1.19.*", "numpy>=1.19"),
            ("numpy=*", "numpy"),
            ("fsspec!=2021.7.0", "fsspec!=2021.7.0"),
            ("conda-forge::matplotlib-base=3.5", "matplotlib==3.5.*"),
            ("conda-forge/label/rc::dask", "dask[complete]"),
            ("zarr[version='>=2,<3', build=py_0]", "zarr>=2,<3"),
            ("zarr[channel=x]", "zarr"),
            ("pint=0.9|0.10", "pint"),
            ("pandas=1.3.0rc1", "pandas==1.3.0rc1"),
            ("strange=2021a", "strange"),
            ("lxml  # for pydap", "lxml"),
        ];
        for (conda, pip) in cases {
            let asked = Some(Asked::Requirement(pip.to_owned()));
            assert_eq!(read(conda), asked, "{conda}");
        }
        for (conda, python) in [
            ("python=3.11", "3.11"),
            ("python 3.8.*", "3.8"),
            ("python==3.9.7", "3.9.7"),
            ("python", ""),
            ("python>=3.8", ""),
            ("python=3.7|3.8", ""),
        ] {
            assert_eq!(read(conda), Some(Asked::Python(python.to_owned())), "{conda}");
        }
        assert_eq!(read("conda-forge::gdal>=3"), Some(Asked::Other("gdal".into())));
        for wrong in ["", "{{ name }}", "a(b)", "-x", "$NAME"] {
            assert!(
                !matches!(read(wrong), Some(Asked::Requirement(_))),
                "{wrong}: {:?}",
                read(wrong)
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_made_of_any_text_is_a_requirement(text in "([a-z]{1,3}|::|\\[|\\]|version|'|\"|[=<>!~|,*. #é]|[0-9]){0,16}") {
            if let Some(Asked::Requirement(line)) = read(&text) {
                prop_assert!(super::super::super::requirement::parts(&line).is_some(), "{line}");
            }
        }
    }
}
