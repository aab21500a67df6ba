//! Issues and pull requests that an entry names, and the people it credits.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::model::{Reference, ReferenceKind};
use crate::mine::pattern::compiled;

/// One reference, or a piece of code to step over. In the order of the alternatives: addresses, roles of Sphinx and `MyST`,
/// code, `owner/name#1`, `GH-1`, `PR1`, `issue1`, `#1`.
const FORM: &str = r"(?x)
    (?: https?://(?:www\.)?[A-Za-z0-9.-]+/(?P<url_repo>[A-Za-z0-9_-]+/[A-Za-z0-9_.-]+)/(?:-/)?(?P<url_kind>issues?|pulls?|merge_requests)/(?P<url>[1-9][0-9]{0,8})
      | (?: :(?P<role>[A-Za-z][A-Za-z0-9_.:+-]*): | \{(?P<myst>[A-Za-z][A-Za-z0-9_.:+-]*)\} )`(?P<inner>[^`\n]*(?:\n[^`\n]+)?)`
      | (?P<code>``(?:[^`]|`[^`])*?``)
      | (?P<repo>[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9_.-]+)\#(?P<named>[1-9][0-9]{0,8})
      | (?P<gh_word>GH|gh|Gh)[-\ :]?\#?(?P<gh>[1-9][0-9]{0,8})
      | (?P<pr_word>PR|pr)[-:]?(?P<pr>[1-9][0-9]{1,8})
      | (?:[Ii]ssue\ ?(?P<issue>[1-9][0-9]{0,8}))
      | \#(?P<plain>[1-9][0-9]{0,8})
      | \b(?:[Cc]los(?:es|ed|e|ing)|[Ff]ix(?:es|ed)?|[Rr]efs?|[Rr]esolves?d?):?\ \#\ (?P<apart>[1-9][0-9]{0,8})
    )";

/// What stands right before a plain number and tells what it is.
const BEFORE_ISSUE: &str =
    r"(?i)(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|refs?|issues?|bugs?|tickets?)[\s:]*$";
const BEFORE_PULL: &str =
    r"(?i)(?:\bPRs?|pull[ -]requests?|\bby @[\w-]+(?:\[bot\])? in|merge request)[\s:]*$";
const BEFORE_OTHER: &str =
    r"(?i)(?:bitbucket|\bbb|sourceforge|\bsf|launchpad|\blp|trac|bpo|jira)[\s:(]*(?:issue |bug |PR )?$";

/// Every issue and pull request that a text names, in order, each once. `first` goes before them.
pub(super) fn references(text: &str, first: Option<Reference>) -> Vec<Reference> {
    static FORMS: LazyLock<[Regex; 4]> =
        LazyLock::new(|| [FORM, BEFORE_ISSUE, BEFORE_PULL, BEFORE_OTHER].map(compiled));
    let [form, issue, pull, other] = &*FORMS;
    let mut found: Vec<Reference> = first.into_iter().collect();
    for captures in form.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let before = tail(&text[..whole.start()], 40);
        let mut add = |repo: Option<String>, number: &str, kind: ReferenceKind| {
            if let Ok(number) = number.parse() {
                put(
                    &mut found,
                    Reference {
                        repo,
                        number,
                        kind,
                        text: whole.as_str().to_owned(),
                    },
                );
            }
        };
        if let Some(number) = captures.name("url") {
            let kind = if captures["url_kind"].starts_with("issue") {
                ReferenceKind::Issue
            } else {
                ReferenceKind::Pull
            };
            add(
                captures.name("url_repo").map(|repo| repo.as_str().to_owned()),
                number.as_str(),
                kind,
            );
        } else if let Some(role) = captures.name("role").or_else(|| captures.name("myst")) {
            if let Some(kind) = role_kind(role.as_str()) {
                for number in role_numbers(&captures) {
                    add(None, &number, kind);
                }
            }
        } else if let Some(number) = captures.name("named") {
            add(
                captures.name("repo").map(|repo| repo.as_str().to_owned()),
                number.as_str(),
                ReferenceKind::Unknown,
            );
        } else if is_bounded(text, whole.start(), whole.end()) && !is_colour(text, whole.start(), whole.end())
        {
            let kind = match () {
                () if captures.name("pr").is_some() || pull.is_match(before) => ReferenceKind::Pull,
                () if captures.name("issue").is_some()
                    || captures.name("apart").is_some()
                    || issue.is_match(before) =>
                {
                    ReferenceKind::Issue
                }
                () => ReferenceKind::Unknown,
            };
            let repo = other.find(before).map(|word| elsewhere(word.as_str()));
            if let Some(number) = ["gh", "pr", "issue", "plain", "apart"]
                .iter()
                .find_map(|name| captures.name(name))
            {
                add(repo, number.as_str(), kind);
            }
        }
    }
    found
}

/// Another tracker, by the word that names it.
fn elsewhere(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    word.split_whitespace().next().unwrap_or_default().to_owned()
}

/// Adds a reference; one that is there already learns what kind it is.
fn put(found: &mut Vec<Reference>, new: Reference) {
    let same =
        |old: &&mut Reference| old.number == new.number && (old.repo == new.repo || is_address(old, &new));
    match found.iter_mut().find(same) {
        Some(old) => {
            if old.kind == ReferenceKind::Unknown {
                old.kind = new.kind;
            }
            if old.repo.is_none() {
                old.repo = new.repo;
            }
        }
        None => found.push(new),
    }
}

/// `#1 <https://host/owner/name/issues/1>`: the address says whose number it is.
fn is_address(old: &Reference, new: &Reference) -> bool {
    old.repo.is_none() && new.text.starts_with("http")
}

fn role_kind(role: &str) -> Option<ReferenceKind> {
    match role.to_ascii_lowercase().as_str() {
        "pull" | "pr" | "pulls" | "prs" | "ghpull" | "gh-pr" | "pull-request" | "pullreq" | "merge"
        | "pr_num" => Some(ReferenceKind::Pull),
        "issue" | "issues" | "iss" | "ghissue" | "gh-issue" | "bug" | "github-issue" => {
            Some(ReferenceKind::Issue)
        }
        "gh" | "github" | "gh-ref" | "ghref" => Some(ReferenceKind::Unknown),
        _ => None,
    }
}

/// The numbers in a role: `12`, `12,34`, `#12`, `text <12>`.
fn role_numbers(captures: &Captures<'_>) -> Vec<String> {
    let inner = captures.name("inner").map_or("", |inner| inner.as_str());
    let target = inner
        .rsplit_once('<')
        .map_or(inner, |(_, target)| target.trim_end_matches('>'));
    let parts = target.split([',', ';', ' ', '\n']);
    let numbers = parts
        .map(|part| part.trim().trim_start_matches(['#', '!', '-']))
        .filter_map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            (!digits.is_empty() && digits.len() < 10 && !digits.starts_with('0')).then_some(digits)
        });
    numbers.collect()
}

/// Whether a number stands for itself: it is no part of a word, of a colour, of a footnote (`[#1]_`) or of an entity.
fn is_bounded(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let footnote = before == Some('[') && text[end..].starts_with("]_");
    before.is_none_or(|c| !c.is_alphanumeric() && !"_&/#".contains(c))
        && after.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        && !text[end..]
            .starts_with(|c: char| c == '.' && text[end + 1..].starts_with(|d: char| d.is_ascii_digit()))
        && !footnote
}

/// A number in quotes that is as long as a colour: `"#123456"`.
fn is_colour(text: &str, start: usize, end: usize) -> bool {
    let digits = text[start..end].strip_prefix('#').map_or(0, str::len);
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    [3, 6, 8].contains(&digits) && before.is_some_and(|c| c == '"' || c == '\'') && before == after
}

fn tail(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The people that an entry credits: by `@name`, by a linked name, by the role `user`, or after "Patch by".
pub(super) fn authors(text: &str) -> Vec<String> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"(?x)
            (?: \b(?i:by)\s+(?:and\s+)?@(?P<handle>[A-Za-z0-9-]+(?:\[bot\])?)
              | :user:`(?P<user>[^`<]+?)\s*(?:<[^`]*)?`
              | (?:\b[Bb]y|and|,)\s+`(?P<linked>[^`<]+?)\s*<[^`>]*>`_
              | \b(?i:patch(?:es)?|contributed|courtesy|implemented)\s+(?i:by|of)\s+(?P<named>\p{Lu}[\p{L}.'-]*(?:\s+\p{Lu}[\p{L}.'-]*){0,3}) )",
        )
    });
    let mut found: Vec<String> = vec![];
    for captures in FORM.captures_iter(text) {
        let name = ["handle", "user", "linked", "named"]
            .iter()
            .find_map(|name| captures.name(name));
        let name = name.map(|name| name.as_str().split_whitespace().collect::<Vec<_>>().join(" "));
        let name = name
            .map(|name| name.trim_end_matches(['.', ',']).to_owned())
            .unwrap_or_default();
        if !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        let one = |found: &Reference| {
            let kind = match found.kind {
                ReferenceKind::Issue => "i",
                ReferenceKind::Pull => "p",
                ReferenceKind::Unknown => "?",
            };
            format!(
                "{}{kind}{}",
                found.repo.as_deref().unwrap_or_default(),
                found.number
            )
        };
        references(text, None)
            .iter()
            .map(one)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn every_form_of_a_reference_is_read() {
        for (text, found) in [
            ("Widened types. (#7436)", "?7436"),
            ("lost (:issue:`10657`, :pull:`11067`).", "i10657 p11067"),
            ("(:pr:`2052,2081`)", "p2052 p2081"),
            (":issue:`text <12>` and :gh:`7`", "i12 ?7"),
            ("{issue}`2672` {pr}`3637`", "i2672 p3637"),
            ("Closes #246, #289\n\nRefs #3", "i246 ?289 i3"),
            ("(GH123), PR124, GH-4", "?123 p124 ?4"),
            ("PR12 and PR #13 and pull request #14", "p12 p13 p14"),
            ("`#14220 <https://github.com/o/n/issues/14220>`_: x", "o/ni14220"),
            ("([#3838](https://github.com/o/n/issues/3838))", "o/ni3838"),
            ("x by @someone in #12", "p12"),
            ("x by @someone in https://github.com/o/n/pull/12", "o/np12"),
            ("urllib3/urllib3#55", "urllib3/urllib3?55"),
            ("bitbucket #1: fix", "bitbucket?1"),
            ("[#1, #2]", "?1 ?2"),
            ("* #1873, #1876, #2278: Add", "?1873 ?1876 ?2278"),
            (
                "colour #333333a, &#123; [#1]_ ``#12`` bpo-39057 :pep:`3333` :ghsa:`68rp`",
                "",
            ),
            (r##"from "#123456" to '#333', "#12""##, "?12"),
            ("C#7, issue#8, fix issue604: x, Closes # 4366", "i604 i4366"),
        ] {
            assert_eq!(show(text), found, "{text}");
        }
    }

    #[test]
    fn people_are_read() {
        for (text, names) in [
            (
                "By `Jules Chéron <https://x>`_ and `Kai M <https://y>`_.",
                "Jules Chéron|Kai M",
            ),
            ("Patch by Jean-François B.", "Jean-François B"),
            ("x by @a-b in #1", "a-b"),
            ("-- by :user:`yastcher`.", "yastcher"),
            ("Calling by name", ""),
        ] {
            assert_eq!(authors(text).join("|"), names, "{text}");
        }
    }
}
