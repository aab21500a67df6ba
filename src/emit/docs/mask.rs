//! Issues, pull requests and people in a statement, made unreadable: what leads to the solution on the forge goes, and
//! nothing else. Every digit becomes `0`, every letter of an account `x`: the length stays. The log brings all back.
//!
//! Heads of files and hunks are never looked at, nor is code; numbers count only in the forms that
//! references have, names only where a person is named.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code::{spans, words};
use super::references::{Reference, references};

/// One stretch that was masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Masked {
    /// Where it begins, in bytes of the statement.
    pub at: u64,
    /// What stood there.
    pub text: String,
}

/// Masks a statement; the log says what stood where, in order.
pub fn mask(statement: &str) -> (String, Vec<Masked>) {
    let mut bytes = statement.as_bytes().to_vec();
    let mut log = vec![];
    for words in words(statement) {
        let code = spans(words.line, words.markup);
        let mut found = references(words.line);
        found.retain(|one| {
            !code
                .iter()
                .any(|span| span.start < one.place.end && one.place.start < span.end)
        });
        // Of two forms that hold one number the longer one is taken.
        found.sort_by_key(|one| (one.place.start, Reverse(one.place.end)));
        let mut free = 0;
        for one in found {
            if one.place.start >= free {
                free = one.place.end;
                hide(&one, words.line, words.at, &mut bytes, &mut log);
            }
        }
    }
    (String::from_utf8(bytes).unwrap_or_default(), log)
}

fn hide(one: &Reference, line: &str, at: usize, bytes: &mut [u8], log: &mut Vec<Masked>) {
    let text = &line[one.place.clone()];
    let hidden: Vec<u8> = text
        .bytes()
        .map(|byte| match byte {
            b'0'..=b'9' => b'0',
            b'a'..=b'z' | b'A'..=b'Z' if one.is_person => b'x',
            other => other,
        })
        .collect();
    if text.is_ascii() && hidden != text.as_bytes() {
        let start = at + one.place.start;
        log.push(Masked {
            at: start as u64,
            text: text.to_owned(),
        });
        bytes[start..start + hidden.len()].copy_from_slice(&hidden);
    }
}

/// Brings back what was masked; `None` when the log is of another statement.
pub fn unmask(masked: &str, log: &[Masked]) -> Option<String> {
    let mut bytes = masked.as_bytes().to_vec();
    for part in log {
        let start = usize::try_from(part.at).ok()?;
        bytes
            .get_mut(start..start + part.text.len())?
            .copy_from_slice(part.text.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn references_go_and_nothing_else() {
        for (line, masked) in [
            ("+x (:pull:`12`, :issue:`3,45`)", "+x (:pull:`00`, :issue:`0,00`)"),
            ("+{pr}`3637` {issue}`1`", "+{pr}`0000` {issue}`0`"),
            ("+Fixes #1, Refs #22 (#333)", "+Fixes #0, Refs #00 (#000)"),
            (
                "+https://github.com/a-b/c/pull/44/files",
                "+https://github.com/a-b/c/pull/00/files",
            ),
            (
                "+By `Ada <https://github.com/ada-l>`_",
                "+By `Ada <https://github.com/xxx-x>`_",
            ),
            ("+thanks @bob-2, @eve!", "+thanks @xxx-0, @xxx!"),
            ("+a-b/c#7 and GH-123, PR 55", "+a-b/c#0 and GH-000, PR 00"),
            ("@@ -112,12 +120,12 @@ See #12", "@@ -112,12 +120,12 @@ See #12"),
            ("+++ b/doc/#12.rst", "+++ b/doc/#12.rst"),
            (
                "+version 3.12, 12 apples, x = 12, @property, #fff, &#12;",
                "+version 3.12, 12 apples, x = 12, @property, #fff, &#12;",
            ),
            ("+https://github.com/a/b", "+https://github.com/a/b"),
            (
                "+Issue 12, issues 13, 14 and 15; PRs #16/#17.",
                "+Issue 00, issues 00, 00 and 00; PRs #00/#00.",
            ),
            (
                "+(@carol), [@dan](https://github.com/dan), https://github.com/frank.",
                "+(@xxxxx), [@xxx](https://github.com/xxx), https://github.com/xxxxx.",
            ),
            (
                "+Thanks to @ann, @bo and @cy-d's",
                "+Thanks to @xxx, @xx and @xx-x's",
            ),
            ("+see `#78`_", "+see `#00`_"),
            (
                "+.. _#78: https://github.com/a/b/issues/78",
                "+.. _#00: https://github.com/a/b/issues/00",
            ),
            (
                "+.. [#1] and [#12]_ [a](#12-b) a.html#3 https://x.org/a#4 d/a.rst#5",
                "+.. [#1] and [#12]_ [a](#12-b) a.html#3 https://x.org/a#4 d/a.rst#5",
            ),
            (
                "+x = \"#123456\", '#333', color: #121212; GH#7",
                "+x = \"#123456\", '#333', color: #121212; GH#0",
            ),
            (
                "+by @pytest.fixture, (@property) and @Ann_1, from @scope/pkg",
                "+by @pytest.fixture, (@property) and @Ann_1, from @scope/pkg",
            ),
            ("+``#12`` and :issue:`3`", "+``#12`` and :issue:`0`"),
        ] {
            let (found, log) = mask(line);
            assert_eq!(found, masked);
            assert_eq!(unmask(&found, &log).as_deref(), Some(line));
        }
    }

    #[test]
    fn code_stays() {
        let statement = "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1 +1,6 @@ See #12\n #12\n+```py\n+return \"#12\"  # see #13\n+```\n\
            +So `#14`, but {pr}`15` (#16)\n";
        let (masked, log) = mask(statement);
        let changed: Vec<&str> = log.iter().map(|masked| masked.text.as_str()).collect();
        assert_eq!(changed, ["12", "15", "16"]);
        assert!(masked.contains("@@ See #12\n #00\n+```py\n+return \"#12\"  # see #13\n"));
        assert_eq!(unmask(&masked, &log).as_deref(), Some(statement));
    }

    proptest! {
        #[test]
        fn the_log_brings_all_back(text in r"([+ @é#-]{0,2}(#1|:pr:`12`|by @ab|GH-12|,|é|issues 12, 13|\(@c-d\)|```|https://github.com/a/b/pull/3| |x){0,6}\n?){0,5}") {
            let (masked, log) = mask(&text);
            prop_assert_eq!(masked.len(), text.len());
            prop_assert_eq!(unmask(&masked, &log), Some(text));
        }
    }
}
