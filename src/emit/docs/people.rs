//! Where a line of words names an account of the forge.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::references::{Kind, Reference, forms, goes_on, groups, is_word};

const ACCOUNT: &str =
    r"(?::(?:(?:gh|github)[-_]?)?user:|\{(?:(?:gh|github)[-_]?)?user\})`(?:[^`<\n]*<)?([^`>\n]+)>?`";
/// A page of an account; nothing that may be a part of its address stands before a host without a scheme.
const PROFILE: &str = r"(?:https?://(?:www\.)?|(?:^|[^A-Za-z0-9_./@-])(?:www\.)?)(?i:github\.com)/(?:sponsors/)?([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)";
/// Accounts in addresses that are no account's page: an interface's, a search's, a letter's.
const ADDRESSES: [&str; 4] = [
    r"(?i:api\.github\.com)/users/([A-Za-z0-9-]+)",
    r"(?i:author|assignee|involves|mentions|commenter|review-requested|reviewed-by)%3[Aa](?:%40)?([A-Za-z0-9-]+)",
    r"(?i:github|gitlab)\.[a-z]+/[^\s)>]*[?&+](?:q=)?(?:author|assignee|involves|mentions|commenter|review-requested|reviewed-by)[:=]@?([A-Za-z0-9-]+)",
    r"((?:[0-9]+\+)?[A-Za-z0-9-]+)@users\.noreply\.github\.com",
];
/// A number of an issue or a pull request before a name.
const NUMBERED: &str = r"(?:#[0-9]+[\])`_]*|\]\[#?[0-9]+\]|(?:issues?|pulls?|merge_requests|discussions)/[0-9]+[^\s,;]*|[:}]`#?[0-9]+`|(?:GH|gh|PR)[- ]?[0-9]+)\)?[,;:]? $";
/// Nothing but names until a line or a cell of a table ends.
const NAMES: &str = r"^((?:(?:,? (?:and|&)|,|;| ?[/+])? ?@[A-Za-z0-9-]+)*)[.)\]]{0,2}\s*(?:\||$)";
const MENTION: &str = r"@([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)";

/// Pages of the forge that are nobody's.
const PAGES: &[&str] = &[
    "about",
    "apps",
    "collections",
    "enterprise",
    "explore",
    "features",
    "issues",
    "login",
    "marketplace",
    "notifications",
    "orgs",
    "pricing",
    "pulls",
    "search",
    "security",
    "settings",
    "site",
    "sponsors",
    "topics",
    "trending",
];
/// What stands behind an `@` and is nobody: decorators, and words of markup and chats.
const NOBODY: &[&str] = &[
    "abstractmethod",
    "author",
    "brief",
    "cache",
    "channel",
    "charset",
    "classmethod",
    "contextmanager",
    "counter-style",
    "dataclass",
    "decorator",
    "everyone",
    "example",
    "final",
    "fixture",
    "font-face",
    "font-feature-values",
    "font-palette-values",
    "here",
    "import",
    "keyframes",
    "latest",
    "layer",
    "main",
    "master",
    "media",
    "note",
    "overload",
    "override",
    "page",
    "param",
    "property",
    "return",
    "returns",
    "see",
    "starting-style",
    "staticmethod",
    "supports",
    "throws",
    "todo",
    "type",
    "view-transition",
    "wraps",
];
/// Words before a team's name.
const TEAM_LEADS: &[&str] = &["cc", "thanks", "thanks to", "thank you"];
/// Words before a person's name.
const LEADS: &[&str] = &[
    "author",
    "authors",
    "contributor",
    "contributors",
    "credit",
    "credit to",
    "credits",
    "credits to",
    "kudos to",
    "maintainer",
    "maintainers",
    "props to",
    "reviewer",
    "reviewers",
    "by",
    "thanks",
    "thanks to",
    "thank you",
    "cc",
    "from",
    "and",
    "via",
];

/// What a line tells of where a name behind an `@` may be code's.
const MARKS: &[&str] = &[
    "annotation",
    "directive",
    "event",
    "fixture",
    "hook",
    "listener",
    "macro",
    "marker",
    "tag",
];

struct Forms {
    addresses: Vec<Regex>,
    numbered: Regex,
    names: Regex,
    account: Regex,
    profile: Regex,
    mention: Regex,
}

impl Forms {
    fn new() -> Option<Self> {
        Some(Self {
            addresses: forms(&ADDRESSES)?,
            numbered: Regex::new(NUMBERED).ok()?,
            names: Regex::new(NAMES).ok()?,
            account: Regex::new(ACCOUNT).ok()?,
            profile: Regex::new(PROFILE).ok()?,
            mention: Regex::new(MENTION).ok()?,
        })
    }
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(Forms::new);

/// The account whose page an address is.
pub(super) fn profile_of(address: &str) -> Option<&str> {
    let forms = FORMS.as_ref()?;
    groups(&forms.profile, address)
        .find(|place| is_profile(address, place))
        .map(|place| &address[place])
}

/// Every account that a line names, in no order; two may overlap. The line's first character is the diff's mark. Names
/// that code has are nobody's.
pub(super) fn people(line: &str, code: &BTreeSet<&str>) -> Vec<Reference> {
    let Some(forms) = &*FORMS else { return vec![] };
    let mut found: Vec<Range<usize>> = groups(&forms.account, line).collect();
    found.extend(groups(&forms.profile, line).filter(|place| is_profile(line, place)));
    for form in &forms.addresses {
        found.extend(groups(form, line));
    }
    found.extend(mentions(forms, line, code));
    let person = |place| Reference {
        place,
        kind: Kind::Person,
    };
    found.into_iter().map(person).collect()
}

/// Whether the page of this name is somebody's.
fn is_profile(line: &str, place: &Range<usize>) -> bool {
    let rest = &line[place.end..];
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    !PAGES.contains(&line[place.clone()].to_lowercase().as_str()) && !rest.starts_with('-') && is_end(rest)
}

/// Whether a name ends before this text.
fn is_end(rest: &str) -> bool {
    !rest.starts_with(is_word)
        && !rest.starts_with(['(', '='])
        && !rest.starts_with("//")
        && !goes_on(rest, &['.', '/', '@'])
}

/// Names behind an `@` where a person is named, and no decorator, address, package or rule of a style sheet.
fn mentions(forms: &Forms, line: &str, code: &BTreeSet<&str>) -> Vec<Range<usize>> {
    let (mut found, mut labels): (Vec<Range<usize>>, Vec<Range<usize>>) = (vec![], vec![]);
    if line.to_lowercase().contains("decorat") {
        return found;
    }
    let mut has_teams = false;
    for mut place in groups(&forms.mention, line) {
        let (name, before) = (&line[place.clone()], &line[..place.start - 1]);
        if NOBODY.contains(&name) || code.contains(name) {
            continue;
        }
        let in_list = found
            .last()
            .is_some_and(|last| is_separator(&line[last.end..place.start - 1]));
        has_teams = is_led(before, TEAM_LEADS) || (in_list && has_teams);
        if has_teams {
            place.end += team(&line[place.end..]);
        }
        let after = &line[place.end..];
        if is_end(after)
            && (in_list
                || is_link(before, after)
                || is_person(before, name, after)
                || is_credited(forms, before, after))
        {
            labels.extend(label(name, after).map(|label| place.end + label.start..place.end + label.end));
            found.push(place);
        }
    }
    found.extend(labels);
    found
}

/// Where the label stands, in what follows a name, of a link whose text is the name (`[@ada][ada]`).
fn label(name: &str, after: &str) -> Option<Range<usize>> {
    let label = after.strip_prefix("][")?;
    let label = label.strip_prefix('@').unwrap_or(label);
    let start = after.len() - label.len();
    let is_name = label.strip_prefix(name)?.starts_with(']');
    is_name.then(|| start..start + name.len())
}

/// Whether somebody is named for what was told: behind the number of its pull request, or with nobody but others until
/// the end.
fn is_credited(forms: &Forms, before: &str, after: &str) -> bool {
    let rest = after.trim_start();
    if forms.numbered.is_match(before)
        && (rest.is_empty() || rest.starts_with([')', ']', ',', ';', '&', '.']) || rest.starts_with("and "))
    {
        return true;
    }
    let lowered = before.to_lowercase();
    let Some(others) = forms.names.captures(after).and_then(|found| found.get(1)) else {
        return false;
    };
    let ends = [". ", "! ", " - ", " -- ", " – ", " — "];
    !MARKS.iter().any(|mark| lowered.contains(*mark))
        && !before.ends_with(".. ")
        && (ends.iter().any(|end| before.ends_with(*end)) || (before.ends_with(' ') && !others.is_empty()))
}

/// Whether a text stands between two names of a list.
fn is_separator(between: &str) -> bool {
    let between = own(between).unwrap_or(between).trim();
    matches!(
        between,
        "," | ";" | "/" | "&" | "+" | "and" | "or" | ", and" | ", or" | ", &"
    )
}

/// What follows the mark of what is somebody's.
fn own(after: &str) -> Option<&str> {
    ["'s", "’s"].iter().find_map(|mark| after.strip_prefix(*mark))
}

/// Whether one of these words leads to what follows a text.
fn is_led(before: &str, leads: &[&str]) -> bool {
    let lowered = before.trim_end_matches([' ', ':', ',', '*']).to_lowercase();
    before.ends_with([' ', ':', '*'])
        && leads.iter().any(|lead| {
            lowered
                .strip_suffix(*lead)
                .is_some_and(|rest| !rest.ends_with(is_word))
        })
}

/// How far a team's name reaches behind its organisation's.
fn team(after: &str) -> usize {
    let Some(name) = after.strip_prefix('/') else {
        return 0;
    };
    let length = name
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .unwrap_or(name.len());
    if length > 0 { length + 1 } else { 0 }
}

/// Whether a name is a link of reStructuredText, or the link's target.
fn is_link(before: &str, after: &str) -> bool {
    let is_text = before.ends_with('`') && (after.starts_with("`_") || after.starts_with(" <"));
    let is_target = before.ends_with(".. _") || before.ends_with(".. _`");
    is_text || (is_target && after.trim_start_matches('`').starts_with(':'))
}

/// Whether a person is named: behind a word that leads to one, in brackets, at a line's or an item's begin, or by a name
/// that nothing else has.
fn is_person(before: &str, name: &str, after: &str) -> bool {
    if is_led(before, LEADS) {
        return true;
    }
    let text = before.get(1..).unwrap_or_default();
    if text.ends_with(|c: char| is_word(c) || ".-+/@=:`\"'".contains(c)) {
        return false;
    }
    if let Some(outer) = text.strip_suffix(['(', '[']) {
        return !outer.ends_with(is_word);
    }
    let lead = text.trim_start();
    let begins = lead.is_empty() || matches!(lead, "- " | "* " | "+ ");
    // No identifier has a hyphen, and nothing is a decorator's own.
    let has_hyphen = name.contains('-') && name.contains(|c: char| c.is_ascii_alphabetic());
    has_hyphen || own(after).is_some() || (begins && after.starts_with([',', ':', ';']))
}
