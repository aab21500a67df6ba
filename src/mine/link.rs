//! Issue references in titles, descriptions and messages.
//!
//! Forms: `#1`, `GH-1`, `owner/name#1`, and issue or pull-request addresses of a forge. A reference *closes* when a
//! word of close, fix or resolve stands before it, in any tense (SWE-bench, §2.1 and its collector's keyword list,
//! with what that list misses: a colon, `issue`, lists, `GH-1`, `owner/name#1`, addresses after the first).
//! What stands in code, fenced or inline, and in HTML comments says nothing.

use std::sync::LazyLock;

use regex::Regex;

use super::markup::blank_markup;
use super::pattern::compiled;
use crate::domain::candidate::{FoundIn, IssueReference};
use crate::domain::ids::RepoName;

/// One reference, at the place where the search stands. Named: `repo`, `number`.
const REFERENCE: &str = r"(?xi)
    (?: https?://(?:www\.)?[a-z0-9.-]+/(?P<url_repo>[a-z0-9_-]+/[a-z0-9_.-]+)/(?:-/)?(?:issues?|pulls?|merge_requests)/(?P<url>[1-9][0-9]*)
            (?: [/?\#] [^\s)\]>]* )?
      | (?P<repo>[a-z0-9][a-z0-9_-]*/[a-z0-9_.-]+)\#(?P<named>[1-9][0-9]*)
      | gh-(?P<gh>[1-9][0-9]*)
      | \#(?P<plain>[1-9][0-9]*)
    )
    (?P<target> \]\([^)\s]*\) )?";

/// A keyword and what may stand between it and its reference.
const KEYWORD: &str = r"(?xi)
    (?: clos(?:e[sd]?|ing) | fix(?:e[sd]|ing)? | resolv(?:e[sd]?|ing) )
    [*_]{0,3}
    (?: [\ \t]*:[\ \t]*\n?[\ \t]*(?:[-*+][\ \t]+)? | [\ \t]+\n?[\ \t]* | \n[\ \t]* )
    (?: (?:the[\ \t]+)? (?:github[\ \t]+|gh[\ \t]+)? (?:issue|bug|ticket|report|problem)s? [\ \t]*:?[\ \t]* )?
    [\[<*_]{0,3}$";

/// What joins the members of a list.
const JOINT: &str = r"(?xi) ^ [\])>*_]{0,4}
    (?: [\ \t]* (?: [,;&+/] (?:[\ \t]*(?:and|or|also)\b)? | \b(?:and|or)\b ) [\ \t]*\n?[\ \t]*
      | [\ \t]+
      | [\ \t]*\n[\ \t]*[-*+][\ \t]+ )
    (?: (?:issue|bug|ticket)s? [\ \t]+ )? [\[<*_]{0,3} $";

/// Every reference in a text, in order, one for each issue: where one closes, it is that one that is told.
/// References to `home` itself carry no repository. Bare `#1` and `GH-1` are of `home`.
pub fn references(text: &str, home: &RepoName, found_in: &FoundIn) -> Vec<IssueReference> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| compiled(REFERENCE));
    // Most messages hold none: the cheap look first.
    if !text.bytes().any(|byte| byte == b'#') && !has_word(text, "gh-") && !has_word(text, "://") {
        return vec![];
    }
    let text = &blank_markup(text, matches!(found_in, FoundIn::Body));
    let mut found: Vec<IssueReference> = vec![];
    let mut last: Option<(usize, bool)> = None;
    let mut at = 0;
    while let Some(captures) = FORM.captures_at(text, at) {
        let Some(whole) = captures.get(0) else { break };
        at = whole.start() + 1;
        while !text.is_char_boundary(at) {
            at += 1;
        }
        let number = ["url", "named", "gh", "plain"]
            .iter()
            .find_map(|name| captures.name(name));
        let Some(number) = number.and_then(|digits| digits.as_str().parse().ok()) else {
            continue;
        };
        // `[#1](address)` is one reference; its words end before the address.
        let end = captures
            .name("target")
            .map_or(whole.end(), |target| target.start());
        if !is_bounded(text, whole.start(), end) {
            continue;
        }
        at = whole.end();
        let keyword = keyword_before(&text[..whole.start()]);
        let closes = match (keyword, last) {
            (Some(_), _) => true,
            (None, Some((end, true))) => joins(&text[end..whole.start()]),
            _ => false,
        };
        last = Some((whole.end(), closes));
        let repo = captures
            .name("url_repo")
            .or_else(|| captures.name("repo"))
            .map(|name| name.as_str().to_owned());
        let repo = repo.filter(|name| !name.eq_ignore_ascii_case(&home.to_string()));
        let start = keyword.unwrap_or(whole.start());
        let reference = IssueReference {
            repo,
            number,
            closes,
            found_in: found_in.clone(),
            text: text[start..whole.end()]
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        };
        match found
            .iter_mut()
            .find(|old| old.number == number && old.repo == reference.repo)
        {
            Some(old) if reference.closes && !old.closes => *old = reference,
            Some(_) => {}
            None => found.push(reference),
        }
    }
    found
}

fn has_word(text: &str, word: &str) -> bool {
    text.as_bytes()
        .windows(word.len())
        .any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a reference stands by itself: not the tail of a word, a path, an entity or an escape, nor the head of one.
fn is_bounded(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let opens = before.is_none_or(|c| !c.is_alphanumeric() && !"_/&\\#.@=-".contains(c))
        || (text[start..].starts_with('#') && before == Some('/') && list_slash(&text[..start]));
    let closes = after
        .is_none_or(|c| !c.is_alphanumeric() && c != '_' && !(c == '-' && text[start..].starts_with('#')));
    opens && closes
}

/// Whether the `/` at the end of a text follows a reference (`#1/#2`), not a word.
fn list_slash(before: &str) -> bool {
    let digits = before
        .trim_end_matches('/')
        .trim_end_matches(|c: char| c.is_ascii_digit());
    digits.ends_with('#') && before.ends_with('/')
}

/// Where the closing keyword begins that ends just before a reference.
fn keyword_before(text: &str) -> Option<usize> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| compiled(KEYWORD));
    // The longest keyword with the longest gap is well below this.
    let mut from = text.len().saturating_sub(80);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let tail = &text[from..];
    let mut at = 0;
    while let Some(found) = FORM.find_at(tail, at) {
        let before = tail[..found.start()].chars().next_back();
        if before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-') {
            return Some(from + found.start());
        }
        at = found.start() + 1;
    }
    None
}

fn joins(between: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| compiled(JOINT));
    FORM.is_match(between)
}

#[cfg(test)]
mod tests;
