//! Which comments stay, and why.

use super::policy::{Keep, Policy, Remove};
use super::syntax;
use super::text::cookie_in;

/// Why a comment stays.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum KeptComment {
    /// `#!` on line 1.
    Shebang,
    /// The file's codec, on line 1 or 2.
    CodingCookie,
    /// In a field of an f-string: it is part of the literal.
    InString,
    /// `# /// script` (PEP 723).
    ScriptMetadata,
    /// `# type: int` (PEP 484).
    TypeComment,
    /// `# cython: …`, `# distutils: …`.
    CythonDirective,
    /// Asked for.
    TypeIgnore,
    /// Asked for.
    Noqa,
    /// Asked for.
    Pylint,
    /// Asked for.
    Pragma,
    /// Asked for.
    Formatter,
    /// Asked for.
    Licence,
}

/// Where a comment stands, as far as that decides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'text> {
    /// The line it is on, without its end.
    pub(super) line: &'text str,
    /// Its first byte's offset in the text; 0 is the very start.
    pub(super) offset: usize,
    /// Whether that line is one that may hold the cookie.
    pub(super) cookie_line: bool,
}

/// What stays of a comment: a range of it and the reason; `None` when nothing does. `comment` starts with `#`.
pub(super) fn kept(
    comment: &str,
    place: Place<'_>,
    policy: &Policy,
) -> Option<(std::ops::Range<usize>, KeptComment)> {
    let whole = 0..comment.len();
    if place.offset == 0 && comment.starts_with("#!") {
        return Some((whole, KeptComment::Shebang));
    }
    if place.cookie_line && cookie_in(place.line.as_bytes()).is_some() {
        return Some((whole, KeptComment::CodingCookie));
    }
    // Directives may share a comment with prose: `# why  # noqa: E501  # and so on`. Only their own part stays.
    let mut found: Option<(std::ops::Range<usize>, KeptComment)> = None;
    let mut from = 0;
    while from < comment.len() {
        let next = memchr::memmem::find(&comment.as_bytes()[from + 1..], b"#")
            .map_or(comment.len(), |at| from + 1 + at);
        let part = &comment[from..next];
        match (directive(part, policy), &mut found) {
            (Some(_), Some((range, _))) => range.end = next,
            (Some(why), none) => *none = Some((from..next, why)),
            (None, Some(_)) => break,
            (None, None) => {}
        }
        from = next;
    }
    found.map(|(range, why)| {
        let end = range.start + comment[range.clone()].trim_end_matches([' ', '\t', '\x0c']).len();
        // The comment's own end stays as it is when nothing follows that goes.
        (
            range.start..if range.end == comment.len() {
                range.end
            } else {
                end
            },
            why,
        )
    })
}

/// What one part of a comment, from a `#` on, says to a tool.
fn directive(part: &str, policy: &Policy) -> Option<KeptComment> {
    let body = part[1..].trim_start_matches([' ', '\t']);
    let first = body.as_bytes().first()?;
    match first {
        b't' => {
            let rest = body.strip_prefix("type:")?.trim_start_matches([' ', '\t']);
            if let Some(after) = rest.strip_prefix("ignore")
                && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            {
                return policy.keeps(Keep::TypeIgnore).then_some(KeptComment::TypeIgnore);
            }
            (!policy.removes(Remove::TypeComments) && is_type(rest)).then_some(KeptComment::TypeComment)
        }
        b'c' | b'd' => {
            let tool = body.split(':').next()?.trim_end();
            (matches!(tool, "cython" | "distutils")
                && body.contains(':')
                && !policy.removes(Remove::CythonDirectives))
            .then_some(KeptComment::CythonDirective)
        }
        _ => None,
    }
    .or_else(|| {
        if policy.keep.is_empty() {
            None
        } else {
            asked(body, policy)
        }
    })
}

fn asked(body: &str, policy: &Policy) -> Option<KeptComment> {
    const TOOLS: &[(&str, Keep, KeptComment)] = &[
        ("pyright:", Keep::TypeIgnore, KeptComment::TypeIgnore),
        ("mypy:", Keep::TypeIgnore, KeptComment::TypeIgnore),
        ("noqa", Keep::Noqa, KeptComment::Noqa),
        ("flake8:", Keep::Noqa, KeptComment::Noqa),
        ("flake8[", Keep::Noqa, KeptComment::Noqa),
        ("ruff:", Keep::Noqa, KeptComment::Noqa),
        ("nosec", Keep::Noqa, KeptComment::Noqa),
        ("pylint:", Keep::Pylint, KeptComment::Pylint),
        ("pragma", Keep::Pragma, KeptComment::Pragma),
        ("fmt:", Keep::Formatter, KeptComment::Formatter),
        ("yapf:", Keep::Formatter, KeptComment::Formatter),
        ("isort:", Keep::Formatter, KeptComment::Formatter),
        ("isort:skip", Keep::Formatter, KeptComment::Formatter),
    ];
    TOOLS
        .iter()
        .find(|(word, keep, _)| {
            policy.keeps(*keep)
                && body
                    .get(..word.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(word))
                && (!word.ends_with(char::is_alphanumeric)
                    || !body[word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
        .map(|(_, _, why)| *why)
}

/// Whether the text after `# type:` is an annotation and no prose: an expression, or a signature.
fn is_type(text: &str) -> bool {
    let text = text.trim();
    if text.len() > 2000 {
        return false;
    }
    match text.split_once("->") {
        Some((parameters, result)) => {
            let parameters = parameters.trim().trim_start_matches('(').trim_end_matches(')');
            let parameters: String = parameters.chars().filter(|c| *c != '*').collect();
            let parameters = parameters.trim().trim_end_matches(',');
            (parameters.is_empty() || syntax::is_expression(parameters))
                && syntax::is_expression(result.trim())
        }
        None => !text.is_empty() && syntax::is_expression(text),
    }
}

/// How many bytes the PEP 723 block has that starts at the start of `text`, line ends inside it included; `None` when
/// there is none. `# /// script`, lines that start with `#`, `# ///`.
pub(super) fn script_block(text: &str) -> Option<usize> {
    let opening = text.strip_prefix("# /// ")?;
    let kind = opening.split(['\n', '\r']).next()?.trim_end();
    let valid = !kind.is_empty()
        && kind
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let mut end = None;
    let mut at = 0;
    for (number, line) in text.split_inclusive(['\n', '\r']).enumerate() {
        let bare = line.trim_end_matches(['\n', '\r']);
        if number > 0 && bare.trim_end() == "# ///" {
            end = Some(at + bare.len());
        }
        if !(bare.starts_with("# ")
            || bare == "#"
            || (bare.is_empty() && line == "\n" && text[..at].ends_with('\r')))
        {
            break;
        }
        at += line.len();
    }
    end.filter(|_| valid)
}

/// Whether a comment line speaks of copyright or a licence.
pub(super) fn is_licence(comment: &str) -> bool {
    const WORDS: &[&str] = &[
        "copyright",
        "license",
        "licence",
        "spdx-",
        "all rights reserved",
        "(c) ",
        "©",
    ];
    let lower = comment.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(comment: &str, policy: &Policy) -> Option<(String, KeptComment)> {
        let place = Place {
            line: comment,
            offset: 9,
            cookie_line: false,
        };
        kept(comment, place, policy).map(|(range, why)| (comment[range].to_owned(), why))
    }

    #[test]
    fn annotations_stay_and_prose_about_types_goes() {
        let policy = Policy::default();
        for text in [
            "# type: int",
            "#type: (int, *str) -> None",
            "# type: () -> List[int]",
            "# type: List['A']",
        ] {
            assert_eq!(
                keep(text, &policy),
                Some((text.to_owned(), KeptComment::TypeComment)),
                "{text}"
            );
        }
        for text in [
            "# type: the kind of thing",
            "# type: ignore",
            "# type: ignore[attr]",
            "# types: int",
            "# int",
        ] {
            assert_eq!(keep(text, &policy), None, "{text}");
        }
    }

    #[test]
    fn only_the_part_for_the_tool_stays() {
        let keep_all = [Keep::Noqa, Keep::TypeIgnore, Keep::Pragma].into_iter().collect();
        let policy = Policy {
            keep: keep_all,
            ..Policy::default()
        };
        let said = |text| keep(text, &policy).map(|(kept, _)| kept);
        assert_eq!(
            said("# why  # noqa: E501  # and so on").as_deref(),
            Some("# noqa: E501")
        );
        assert_eq!(
            said("# type: ignore # NOQA").as_deref(),
            Some("# type: ignore # NOQA")
        );
        assert_eq!(said("#pragma: no cover").as_deref(), Some("#pragma: no cover"));
        assert_eq!(said("# noqaX"), None);
        assert_eq!(said("# type: int  # why").as_deref(), Some("# type: int"));
    }

    #[test]
    fn a_script_block_ends_at_its_last_closing_line() {
        let block = "# /// script\n# dependencies = []\n#\n# ///\n";
        assert_eq!(script_block(block), Some(block.len() - 1));
        assert_eq!(script_block("# /// script\nimport os\n# ///\n"), None);
        assert_eq!(script_block("# /// two words\n# ///\n"), None);
        assert_eq!(
            script_block("# /// script\r\n# a\r\n# ///\r\nx"),
            Some("# /// script\r\n# a\r\n# ///".len())
        );
    }
}
