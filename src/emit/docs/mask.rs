//! Issues, pull requests and people in a statement, made unreadable: what leads to the solution on the forge goes, and
//! nothing else. Every digit becomes `0`, every letter of an account `x`: the length stays. The log brings all back.
//!
//! Heads of files and hunks are never looked at; numbers count only in the forms that references have.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One stretch that was masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Masked {
    /// Where it begins, in bytes of the statement.
    pub at: u64,
    /// What stood there.
    pub text: String,
}

/// Numbers: addresses, roles, `owner/name#1`, `GH-1`, `#1`. Group 1 of each alternative is what is masked.
const NUMBERS: &str = r"(?x)
    https?://[A-Za-z0-9.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/(?:-/)?(?:issues?|pulls?|merge_requests|discussions)/([0-9]+)
  | (?: :(?:pull|pulls|pr|prs|issue|issues|gh|ghpull|ghissue|gh-pr|gh-issue|bug|pull-request): | \{(?:pull|pr|issue|gh|bug)\} )`[^`\n]*?(\#?[0-9]+(?:[,;\ ]+\#?[0-9]+)*)>?`
  | (?:^|[^\w&/\#])\#([0-9]{1,7})(?:[^\w]|$)
  | [A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9_.-]+\#([0-9]+)
  | \b(?:GH|gh)-?([0-9]{2,})\b
  | \b(?:PR|pull\ request|issue)s?\ ?\#?([0-9]{2,})\b";

/// Accounts: addresses of them, roles, `by @name`. Code's own `@name` is not looked at.
const PEOPLE: &str = r"(?x)
    https?://(?:www\.)?github\.com/([A-Za-z0-9-]+)/?(?:[^\w/.-]|$)
  | :(?:user|ghuser|github-user):`(?:[^`<\n]*<)?([^`>\n]+)>?`
  | \b(?i:by|thanks|thanks\ to|thank\ you|cc|from|and)\ @([A-Za-z0-9-]+)
  | @[A-Za-z0-9-]+,\ @([A-Za-z0-9-]+)";

/// Masks a statement; the log says what stood where, in order.
pub fn mask(statement: &str) -> (String, Vec<Masked>) {
    static FORMS: LazyLock<Option<[Regex; 2]>> =
        LazyLock::new(|| Some([Regex::new(NUMBERS).ok()?, Regex::new(PEOPLE).ok()?]));
    let mut bytes = statement.as_bytes().to_vec();
    let mut log = vec![];
    let Some(forms) = &*FORMS else {
        return (statement.to_owned(), log);
    };
    let mut at = 0;
    for line in statement.split_inclusive('\n') {
        // Only lines of hunks are words.
        if line.starts_with(['+', '-', ' ']) && !line.starts_with("+++ ") && !line.starts_with("--- ") {
            for (form, letters) in forms.iter().zip([false, true]) {
                hide(form, letters, line, at, &mut bytes, &mut log);
            }
        }
        at += line.len();
    }
    log.sort_by_key(|masked| masked.at);
    (String::from_utf8(bytes).unwrap_or_default(), log)
}

fn hide(form: &Regex, letters: bool, line: &str, at: usize, bytes: &mut [u8], log: &mut Vec<Masked>) {
    let mut from = 0;
    while let Some(found) = form.captures_at(line, from) {
        let Some(whole) = found.get(0) else { break };
        let Some(part) = found.iter().skip(1).flatten().next() else {
            break;
        };
        // The character after a number may be the one before the next, and a name the one that another follows.
        from = if letters {
            part.start().saturating_sub(1)
        } else {
            part.end()
        }
        .max(whole.start() + 1);
        while !line.is_char_boundary(from) {
            from += 1;
        }
        let (start, end) = (at + part.start(), at + part.end());
        let hidden: Vec<u8> = bytes[start..end]
            .iter()
            .map(|byte| match byte {
                b'0'..=b'9' => b'0',
                b'a'..=b'z' | b'A'..=b'Z' if letters => b'x',
                other => *other,
            })
            .collect();
        if hidden != bytes[start..end] && part.as_str().is_ascii() {
            log.push(Masked {
                at: start as u64,
                text: part.as_str().to_owned(),
            });
            bytes[start..end].copy_from_slice(&hidden);
        }
        if from >= line.len() {
            break;
        }
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
        ] {
            let (found, log) = mask(line);
            assert_eq!(found, masked);
            assert_eq!(unmask(&found, &log).as_deref(), Some(line));
        }
    }

    proptest! {
        #[test]
        fn the_log_brings_all_back(text in r"([+ @é#-]{0,2}(#1|:pr:`12`|by @ab|GH-12|,|é|https://github.com/a/b/pull/3| |x){0,6}\n?){0,5}") {
            let (masked, log) = mask(&text);
            prop_assert_eq!(masked.len(), text.len());
            prop_assert_eq!(unmask(&masked, &log), Some(text));
        }
    }
}
