//! Where a line of words names an issue, a pull request or a person.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A stretch of a line that is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// Where it stands, in bytes of the line.
    pub(super) place: Range<usize>,
    /// Whether it is an account's name, not a number.
    pub(super) is_person: bool,
}

/// Forms whose group is a reference wherever they stand.
const NUMBERS: [&str; 4] = [
    r"https?://[A-Za-z0-9.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/(?:-/)?(?:issues?|pulls?|merge_requests|discussions)/([0-9]+)",
    r"(?::(?:pull|pulls|pr|prs|issue|issues|gh|ghpull|ghissue|gh-pr|gh-issue|bug|pull-request):|\{(?:pull|pr|issue|gh|bug)\})`[^`\n]*?(#?[0-9]+(?:[,; ]+#?[0-9]+)*)>?`",
    r"\b(?:GH|gh)(?:[-#]([0-9]+)|([0-9]{2,}))\b",
    r"(?i)\b(?:PRs|pull requests|merge requests|issues|tickets|bugs) ?(#?[0-9]{2,}(?:(?:, ?(?:and |or )?| (?:and|or|&) |/)#?[0-9]{2,})*)\b",
];
/// One number behind a word: what follows it may make it something else.
const WORD: &str = r"(?i)\b(?:PR|pull request|merge request|issue|ticket|bug) ?#?([0-9]{2,})\b";
const HASH: &str = r"#([0-9]{1,7})";
/// A number of another repository.
const FOREIGN: &str = r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9_.-]+#([0-9]+)";
const ACCOUNT: &str =
    r"(?::(?:user|ghuser|github-user):|\{(?:user|ghuser|github-user)\})`(?:[^`<\n]*<)?([^`>\n]+)>?`";
const PROFILE: &str =
    r"https?://(?:www\.)?github\.com/(?:sponsors/)?([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)";
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
    "cache",
    "channel",
    "classmethod",
    "contextmanager",
    "dataclass",
    "decorator",
    "everyone",
    "final",
    "fixture",
    "here",
    "import",
    "media",
    "overload",
    "override",
    "param",
    "property",
    "return",
    "returns",
    "staticmethod",
    "wraps",
];
/// Words before a person's name.
const LEADS: &[&str] = &[
    "by",
    "thanks",
    "thanks to",
    "thank you",
    "cc",
    "from",
    "and",
    "via",
];
/// Words before a colour.
const COLOURS: &[&str] = &[
    "color",
    "colour",
    "background",
    "foreground",
    "fill",
    "stroke",
    "hex",
    "solid",
];
/// Endings of pages that have anchors.
const PAGE_ENDINGS: &[&str] = &[".html", ".htm", ".md", ".rst", ".txt", ".py", ".ipynb", ".php"];

struct Forms {
    numbers: Vec<Regex>,
    word: Regex,
    hash: Regex,
    foreign: Regex,
    account: Regex,
    profile: Regex,
    mention: Regex,
}

impl Forms {
    fn new() -> Option<Self> {
        let form = |text: &str| Regex::new(text).ok();
        Some(Self {
            numbers: NUMBERS.iter().map(|text| form(text)).collect::<Option<_>>()?,
            word: form(WORD)?,
            hash: form(HASH)?,
            foreign: form(FOREIGN)?,
            account: form(ACCOUNT)?,
            profile: form(PROFILE)?,
            mention: form(MENTION)?,
        })
    }
}

/// Every reference of a line, in no order; two may overlap.
pub(super) fn references(line: &str) -> Vec<Reference> {
    static FORMS: LazyLock<Option<Forms>> = LazyLock::new(Forms::new);
    let Some(forms) = &*FORMS else { return vec![] };
    let mut found: Vec<Range<usize>> = vec![];
    for form in &forms.numbers {
        found.extend(groups(form, line));
    }
    found.extend(groups(&forms.word, line).filter(|place| !is_decimal(&line[place.end..])));
    found.extend(groups(&forms.hash, line).filter(|place| is_number(line, place)));
    found.extend(groups(&forms.foreign, line).filter(|place| is_foreign(line, place)));
    let mut people: Vec<Range<usize>> = groups(&forms.account, line).collect();
    people.extend(groups(&forms.profile, line).filter(|place| {
        let rest = &line[place.end..];
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        !PAGES.contains(&&line[place.clone()]) && !rest.starts_with('-') && is_end(rest)
    }));
    people.extend(mentions(&forms.mention, line));
    let all = |places: Vec<Range<usize>>, is_person| {
        places
            .into_iter()
            .map(move |place| Reference { place, is_person })
    };
    all(found, false).chain(all(people, true)).collect()
}

/// The places of the first group of each match that has one.
fn groups<'l>(form: &'l Regex, line: &'l str) -> impl Iterator<Item = Range<usize>> + 'l {
    form.captures_iter(line)
        .filter_map(|found| found.iter().skip(1).flatten().next().map(|part| part.range()))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text goes on with a mark and a word's character behind it.
fn goes_on(rest: &str, marks: &[char]) -> bool {
    let mut chars = rest.chars();
    chars.next().is_some_and(|c| marks.contains(&c)) && chars.next().is_some_and(is_word)
}

/// Whether a number goes on behind its point.
fn is_decimal(rest: &str) -> bool {
    rest.strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a name ends before this text.
fn is_end(rest: &str) -> bool {
    !rest.starts_with(is_word) && !rest.starts_with('(') && !goes_on(rest, &['.', '/', '@'])
}

/// Whether `#12` is a number of this repository: no anchor, no colour, no constant, no footnote.
fn is_number(line: &str, place: &Range<usize>) -> bool {
    let (before, after) = (&line[..place.start - 1], &line[place.end..]);
    let previous = before.chars().next_back();
    let is_target = before.ends_with(".. _");
    let joined = previous.is_some_and(|c| is_word(c) || matches!(c, '&' | '/' | '#' | '<'));
    if (joined && !is_target) || after.starts_with(is_word) || goes_on(after, &['-']) {
        return false;
    }
    let is_quoted = previous.is_some_and(|c| (c == '"' || c == '\'') && after.starts_with(c));
    let is_footnote = before.ends_with('[') && (after.starts_with("]_") || before.ends_with(".. ["));
    !is_quoted && !is_footnote && !before.ends_with("](") && !is_colour(before, place.len())
}

fn is_colour(before: &str, digits: usize) -> bool {
    let lead = before.trim_end_matches([' ', ':', '=']);
    let lowered = lead.to_lowercase();
    let is_named = lead.len() < before.len() && COLOURS.iter().any(|word| lowered.ends_with(*word));
    is_named && matches!(digits, 3 | 4 | 6)
}

/// Whether `owner/name#12` is another repository's number, and no anchor of a page.
fn is_foreign(line: &str, place: &Range<usize>) -> bool {
    let (before, after) = (&line[..place.start - 1], &line[place.end..]);
    let token = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_page = token.contains("://")
        || token.contains("](")
        || PAGE_ENDINGS.iter().any(|ending| token.ends_with(*ending));
    !is_page && !after.starts_with(is_word) && !goes_on(after, &['-'])
}

/// Names behind an `@` where a person is named: behind a word that leads to one, in brackets, and in a list that one of
/// these begins.
fn mentions(form: &Regex, line: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = vec![];
    if line.to_lowercase().contains("decorat") {
        return found;
    }
    for place in groups(form, line) {
        let before = &line[..place.start - 1];
        if NOBODY.contains(&&line[place.clone()]) || !is_end(&line[place.end..]) {
            continue;
        }
        let in_list = found.last().is_some_and(|last| {
            let between = line[last.end..place.start - 1].trim();
            matches!(between, "," | ";" | "/" | "&" | "and" | "or" | ", and" | ", &")
        });
        let lowered = before.trim_end_matches([' ', ':']).to_lowercase();
        let is_led = before.ends_with([' ', ':'])
            && LEADS.iter().any(|lead| {
                lowered
                    .strip_suffix(*lead)
                    .is_some_and(|rest| !rest.ends_with(is_word))
            });
        if in_list || is_led || before.ends_with(['(', '[']) {
            found.push(place);
        }
    }
    found
}
