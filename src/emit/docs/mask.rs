//! Issues, pull requests, commits and people in a statement, made unreadable: what leads to the solution on the forge
//! goes, and nothing else. Every digit and every letter of a commit's hash becomes `0`, every letter of an account `x`:
//! the length stays. The log brings all back.
//!
//! Heads of files and hunks are never looked at, nor is code but what is a link's text or a commit's hash; numbers count
//! only in the forms that references have, names only where a person is named.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code::{spans, words};
use super::commits::{commits, is_reference};
use super::decorators::names;
use super::links::Labels;
use super::people::people;
use super::references::{Kind, Reference, numbers};

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
    let all = words(statement);
    let code_names = names(statement, &all);
    let mut labels = Labels::default();
    for words in &all {
        labels.take(words.line);
    }
    for words in all {
        let mut code = spans(words.line, words.markup);
        code.retain(|span| !is_reference(words.line, span));
        let mut found = numbers(words.line);
        found.extend(commits(words.line));
        found.extend(labels.find(words.line));
        found.extend(people(words.line, &code_names));
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
        .map(|byte| match (byte, one.kind) {
            (b'0'..=b'9', _) | (b'a'..=b'f' | b'A'..=b'F', Kind::Commit) => b'0',
            (b'a'..=b'z' | b'A'..=b'Z', Kind::Person) => b'x',
            (other, _) => other,
        })
        .collect();
    if (text.is_ascii() || one.kind != Kind::Person) && hidden != text.as_bytes() {
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
    fn links_and_their_targets_are_masked_alike() {
        for (line, masked) in [
            ("+see `gh-48`_ and gh-48_.", "+see `gh-00`_ and gh-00_."),
            ("+.. _gh-48: https://x.org/48", "+.. _gh-00: https://x.org/48"),
            ("+see `PR 49`_ or `issue 50`_", "+see `PR 00`_ or `issue 00`_"),
            ("+.. _PR 49: x", "+.. _PR 00: x"),
            ("+.. _`issue 50`: x", "+.. _`issue 00`: x"),
            (
                "+see [PR 49][one], [issue 50](x)",
                "+see [PR 00][one], [issue 00](x)",
            ),
            ("+#53_ and #54__, no #55_a", "+#00_ and #00__, no #55_a"),
            ("+.. _#53: x", "+.. _#00: x"),
            ("+.. _`#49`: x", "+.. _`#00`: x"),
            ("+`@gina`_ and `@gil <x>`_", "+`@xxxx`_ and `@xxx <x>`_"),
            ("+.. _@gina: x", "+.. _@xxxx: x"),
        ] {
            assert_eq!(mask(line).0, masked);
        }
    }

    #[test]
    fn lists_and_ranges_are_masked_whole() {
        for (line, masked) in [
            ("+PRs #3/#4, bugs #1/#2/#5", "+PRs #0/#0, bugs #0/#0/#0"),
            ("+issues 12-14, 6 & 7", "+issues 00-00, 0 & 0"),
            ("+PRs 3, 4 and 5", "+PRs 0, 0 and 0"),
            ("+issues 6 & 7, or 12–14", "+issues 0 & 0, or 00–00"),
            (
                "+pull requests 5 or 6; Issues: 1, 2, and 3",
                "+pull requests 0 or 0; Issues: 0, 0, and 0",
            ),
            ("+tickets 1–3", "+tickets 0–0"),
            (
                "+it issues 2 or 3 requests, 3 issues, bugs 1.5",
                "+it issues 2 or 3 requests, 3 issues, bugs 1.5",
            ),
            ("+a/#3 and a#3/#4", "+a/#3 and a#3/#4"),
        ] {
            assert_eq!(mask(line).0, masked);
        }
    }

    #[test]
    fn roles_addresses_and_words_name_numbers() {
        for (line, masked) in [
            ("+`GH 181 <x>`_ and GH 7, gh 12", "+`GH 000 <x>`_ and GH 0, gh 00"),
            (
                "+:github:`12` {gh-issue}`3` {ghpr}`4`",
                "+:github:`00` {gh-issue}`0` {ghpr}`0`",
            ),
            ("+:github:`a/b2` :gh:`see <12>`", "+:github:`a/b2` :gh:`see <00>`"),
            ("+at github.com/o/r/pull/154.", "+at github.com/o/r/pull/000."),
            (
                "+https://GitHub.com/Owner/Repo/Pull/194",
                "+https://GitHub.com/Owner/Repo/Pull/000",
            ),
            (
                "+https://api.github.com/repos/o/r/issues/156",
                "+https://api.github.com/repos/o/r/issues/000",
            ),
            (
                "+https://x.org/a/b/-/issues/1 https://x.org/a/b/c/-/issues/2",
                "+https://x.org/a/b/-/issues/0 https://x.org/a/b/c/-/issues/0",
            ),
            (
                "+[it](../../pull/12), [it](issues/12.md)",
                "+[it](../../pull/00), [it](issues/12.md)",
            ),
            (
                "+https://github.com/o/r/pull/3#issuecomment-99",
                "+https://github.com/o/r/pull/0#issuecomment-00",
            ),
            (
                "+issue no. 352 and issue number 353",
                "+issue no. 000 and issue number 000",
            ),
            ("+Issue: 369", "+Issue: 000"),
            ("+**Issue:** 369, 370", "+**Issue:** 000, 000"),
            ("+(issue: 369 by Ada)", "+(issue: 000 by Ada)"),
            ("+PR-356, PR:357 (bug-12).", "+PR-000, PR:000 (bug-00)."),
            (
                "+bug: 12 files, bug-12.md, docs/bug-12, a-bug-12, bug-12-a",
                "+bug: 12 files, bug-12.md, docs/bug-12, a-bug-12, bug-12-a",
            ),
            ("+#363#364#365 and a#3#4", "+#000#000#000 and a#3#4"),
        ] {
            let (found, log) = mask(line);
            assert_eq!(found, masked);
            assert_eq!(unmask(&found, &log).as_deref(), Some(line));
        }
    }

    #[test]
    fn commits_are_masked() {
        for (line, masked) in [
            (
                "+https://github.com/o/r/pull/12/commits/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
                "+https://github.com/o/r/pull/00/commits/0000000000000000000000000000000000000000",
            ),
            (
                "+([abc1234](https://github.com/o/r/commit/abc1234de))",
                "+([0000000](https://github.com/o/r/commit/000000000))",
            ),
            (
                "+https://github.com/o/r/compare/v1.0...abc1234, in commit abc1234.",
                "+https://github.com/o/r/compare/v1.0...0000000, in commit 0000000.",
            ),
            (
                "+https://github.com/o/r/compare/20230101...20230201, commit defaced, abc1234",
                "+https://github.com/o/r/compare/20230101...20230201, commit defaced, abc1234",
            ),
            ("+:commit:`abc1234`", "+:commit:`0000000`"),
        ] {
            let (found, log) = mask(line);
            assert_eq!(found, masked);
            assert_eq!(unmask(&found, &log).as_deref(), Some(line));
        }
    }

    #[test]
    fn labels_of_links_are_masked_as_their_targets() {
        let head = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n";
        for (text, masked) in [
            ("+- A ([#308][308], [12][12])", "+- A ([#000][000], [00][00])"),
            (
                "+a[12][12], [Part 1][1], [it][308]",
                "+a[12][12], [Part 1][1], [it][308]",
            ),
            (
                "+[it][308] and [308]\n+[308]: https://github.com/o/r/pull/308\n+[12]: https://x.org",
                "+[it][000] and [000]\n+[000]: https://github.com/o/r/pull/000\n+[12]: https://x.org",
            ),
            (
                "+by [Ada L][ada]\n+[ada]: https://github.com/ada",
                "+by [Ada L][xxx]\n+[xxx]: https://github.com/xxx",
            ),
            (
                "+[`#12`](https://github.com/o/r/pull/12), `#12`, commit `abc1234`",
                "+[`#00`](https://github.com/o/r/pull/00), `#12`, commit `0000000`",
            ),
        ] {
            assert_eq!(mask(&format!("{head}{text}")).0, format!("{head}{masked}"));
        }
    }

    #[test]
    fn what_is_counted_stays() {
        for line in [
            "+step #1, the #1 reason",
            "+see section #2 and Chapter #3",
            "+line #10 or row #7; rows #1, #2 and #3",
            "+test #12 failed",
            "+worker #3 waits, thread #1234 does not",
            "+key #1: a",
        ] {
            assert_eq!(mask(line).0, line);
        }
        for (line, masked) in [
            ("+Add the missing option #456", "+Add the missing option #000"),
            ("+Repair the test #345 by Ada", "+Repair the test #000 by Ada"),
            ("+Drop step #1 (#22)", "+Drop step #1 (#00)"),
            ("+the #12 repair", "+the #00 repair"),
        ] {
            assert_eq!(mask(line).0, masked);
        }
    }

    #[test]
    fn people_are_masked_and_decorators_are_not() {
        for (line, masked) in [
            (
                "+@ann-b-c, @zoe's, @Bob1: and @eve",
                "+@xxx-x-x, @xxx's, @xxx0: and @xxx",
            ),
            ("+  - @Bob1: the rest", "+  - @xxx0: the rest"),
            ("+as @ann-b said, it is @zoe's", "+as @xxx-x said, it is @xxx's"),
            ("+cc @carl/team, @dan/core-x", "+cc @xxxx/xxxx, @xxx/xxxx-x"),
            (
                "+by @scope/pkg, use @angular/core",
                "+by @scope/pkg, use @angular/core",
            ),
            ("+@app.route(\"/\")", "+@app.route(\"/\")"),
            ("+    @pytest.mark.x", "+    @pytest.mark.x"),
            ("+@property", "+@property"),
            ("+@timer", "+@timer"),
            (
                "+the @timer of it, @media print, @font-face {",
                "+the @timer of it, @media print, @font-face {",
            ),
            (
                "+a@b-c.org, user@my-host, x@2024-01-01 @2024-01-01",
                "+a@b-c.org, user@my-host, x@2024-01-01 @2024-01-01",
            ),
            (
                "+<a @click-outside=\"x\">, a[@data], \"@my-scope\"",
                "+<a @click-outside=\"x\">, a[@data], \"@my-scope\"",
            ),
        ] {
            assert_eq!(mask(line).0, masked);
        }
    }

    #[test]
    fn credits_name_people() {
        for (line, masked) in [
            ("+A (#313, @authora)", "+A (#000, @xxxxxxx)"),
            ("+A ([#508][508], @lister)", "+A ([#000][000], @xxxxxx)"),
            ("+A (:pr:`12`, @ann and @bo)", "+A (:pr:`00`, @xxx and @xx)"),
            ("+A. @janedoe, @johndoe", "+A. @xxxxxxx, @xxxxxxx"),
            ("+1. @janedoe, @johndoe", "+1. @xxxxxxx, @xxxxxxx"),
            ("+| A | @ann, @bo |", "+| A | @xxx, @xx |"),
            ("+A - @ann.", "+A - @xxx."),
            ("+Credits: @a", "+Credits: @x"),
            ("+**Author:** @a, by **@bo**", "+**Author:** @x, by **@xx**"),
            ("+[@lister][lister]", "+[@xxxxxx][xxxxxx]"),
            ("+:gh-user:`ann`", "+:gh-user:`xxx`"),
            (
                "+https://github.com/o/r/pulls?q=author%3Ajanedoe",
                "+https://github.com/o/r/pulls?q=author%3Axxxxxxx",
            ),
            (
                "+https://github.com/o/r/commits?author=ann",
                "+https://github.com/o/r/commits?author=xxx",
            ),
            (
                "+at github.com/ann, GitHub.com/a/b",
                "+at github.com/xxx, GitHub.com/a/b",
            ),
            (
                "+7+ann@users.noreply.github.com",
                "+0+xxx@users.noreply.github.com",
            ),
            (
                "+#12, @timer works, the hooks @one, @two",
                "+#00, @timer works, the hooks @one, @two",
            ),
        ] {
            let (found, log) = mask(line);
            assert_eq!(found, masked);
            assert_eq!(unmask(&found, &log).as_deref(), Some(line));
        }
    }

    #[test]
    fn names_of_code_are_nobody() {
        let head = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n+a hook by @hookimpl, by @ann\n";
        let masked = head.replace("by @hookimpl, by @ann", "by @xxxxxxxx, by @xxx");
        assert_eq!(mask(head).0, masked);
        let masked = head.replace("by @ann", "by @xxx");
        for code in [
            "```py\n+@hookimpl\n+```\n",
            "`@pluggy.hookimpl(x)`",
            "{func}`a.hookimpl`",
        ] {
            assert_eq!(mask(&format!("{head}+{code}")).0, format!("{masked}+{code}"));
        }
    }

    #[test]
    fn colours_and_code_in_a_line_stay() {
        for line in [
            "+grey is #123456, or #333333 (#000)",
            "+#fff, #123, #456",
            "+colours #111, #222 and #333",
            "+#111 or #abc",
            "+a blue (#123456)",
            "+:code:`#12` and :py:samp:`PR 34`",
            "+<code>#12</code> and <PRE class=\"x\">@ann-b</pre>",
            "+``a`` {code}`#12`",
        ] {
            assert_eq!(mask(line).0, line);
        }
        for (line, masked) in [
            (
                "+Fixes #123456, #123457 (#123458)",
                "+Fixes #000000, #000000 (#000000)",
            ),
            ("+Add one (#123456, #123457)", "+Add one (#000000, #000000)"),
            ("+* #123456: one", "+* #000000: one"),
            (
                "+#123, #456 and <code>#7</code> #8",
                "+#000, #000 and <code>#7</code> #0",
            ),
        ] {
            assert_eq!(mask(line).0, masked);
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
        fn the_log_brings_all_back(text in r"([+ @é#-]{0,2}(#1|:pr:`12`|by @ab|GH-12|,|é|issues 12, 13|\(@c-d\)|```|https://github.com/a/b/pull/3| |x|#53_|`|issues 6–7|/#8|\.\. _|: |'s, @b-c|cc @c/t|</?code>|<pre>|:code:| #123456|#abc| ?- |    |\[#12\]\[12\]|\[12\]: |commit abc1234|author%3Aab|PR-12|, and @é){0,6}\n?){0,5}") {
            let (masked, log) = mask(&text);
            prop_assert_eq!(masked.len(), text.len());
            prop_assert_eq!(unmask(&masked, &log), Some(text));
        }
    }
}
