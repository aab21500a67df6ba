//! Where a line of words names an issue or a pull request.

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

/// Forms whose group is a reference wherever they stand. A name of reStructuredText may begin behind `.. _`, and end
/// before `_`.
const NUMBERS: [&str; 3] = [
    r"https?://[A-Za-z0-9.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/(?:-/)?(?:issues?|pulls?|merge_requests|discussions)/([0-9]+)",
    r"(?::(?:pull|pulls|pr|prs|issue|issues|gh|ghpull|ghissue|gh-pr|gh-issue|bug|pull-request):|\{(?:pull|pr|issue|gh|bug)\})`[^`\n]*?(#?[0-9]+(?:[,; ]+#?[0-9]+)*)>?`",
    r"(?:\b|\.\. _)(?:GH|gh)(?:[-#]([0-9]+)|([0-9]{2,}))(?:\b|__?(?:[^A-Za-z0-9_]|$))",
];
/// Numbers behind a word: what follows them may make them something else.
const WORDS: [&str; 3] = [
    r"(?i)(?:\b|\.\. _)(?:PR|pull[ -]request|merge[ -]request|issue|ticket|bug) ?#?([0-9]{2,})\b",
    r"(?i)\b(?:PRs|pull[ -]requests|merge[ -]requests|issues|tickets|bugs):? ?(#[0-9]+|[0-9]{2,})\b",
    r"(?i)\b(?:PRs|pull[ -]requests|merge[ -]requests|issues|tickets|bugs):? ?(#?[0-9]+(?:(?:, ?(?:(?:and|or|&) )?| (?:and|or|to|through|&|\+|-|–) |/|-|–|&)#?[0-9]+)+)\b",
];
const HASH: &str = r"#([0-9]{1,7})";
/// A number of another repository.
const FOREIGN: &str = r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9_.-]+#([0-9]+)";

/// What is counted where a word is no noun (`it issues 12 requests`).
const COUNTED: &[&str] = &[
    "calls",
    "commands",
    "different",
    "errors",
    "http",
    "messages",
    "ms",
    "queries",
    "requests",
    "seconds",
    "separate",
    "sql",
    "statements",
    "times",
    "tokens",
    "warnings",
];
/// Words before a number that has as many digits as a colour.
const NAMES: &[&str] = &[
    "bug", "bugs", "close", "closed", "closes", "fix", "fixed", "fixes", "gh", "issue", "issues", "pr",
    "prs", "ref", "refs", "request", "requests", "resolve", "resolved", "resolves", "see", "ticket",
    "tickets",
];
/// Words of lines that tell of colours.
const HUES: &[&str] = &[
    "black", "blue", "brown", "color", "colors", "colour", "colours", "cyan", "gray", "green", "grey",
    "magenta", "orange", "pink", "purple", "red", "white", "yellow",
];
/// Words before a colour.
const COLOURS: &[&str] = &[
    "color",
    "colors",
    "colour",
    "colours",
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
    words: Vec<Regex>,
    hash: Regex,
    foreign: Regex,
}

impl Forms {
    fn new() -> Option<Self> {
        let form = |text: &&str| Regex::new(text).ok();
        Some(Self {
            numbers: NUMBERS.iter().map(form).collect::<Option<_>>()?,
            words: WORDS.iter().map(form).collect::<Option<_>>()?,
            hash: Regex::new(HASH).ok()?,
            foreign: Regex::new(FOREIGN).ok()?,
        })
    }
}

/// Every number of a line that is a reference, in no order; two may overlap.
pub(super) fn numbers(line: &str) -> Vec<Reference> {
    static FORMS: LazyLock<Option<Forms>> = LazyLock::new(Forms::new);
    let Some(forms) = &*FORMS else { return vec![] };
    let mut found: Vec<Range<usize>> = vec![];
    for form in &forms.numbers {
        found.extend(groups(form, line));
    }
    for form in &forms.words {
        found.extend(groups(form, line).filter(|place| !is_amount(&line[place.end..])));
    }
    found.extend(groups(&forms.hash, line).filter(|place| is_number(line, place)));
    found.extend(groups(&forms.foreign, line).filter(|place| is_foreign(line, place)));
    let number = |place| Reference {
        place,
        is_person: false,
    };
    found.into_iter().map(number).collect()
}

/// The places of the first group of each match that has one.
pub(super) fn groups<'l>(form: &'l Regex, line: &'l str) -> impl Iterator<Item = Range<usize>> + 'l {
    form.captures_iter(line)
        .filter_map(|found| found.iter().skip(1).flatten().next().map(|part| part.range()))
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text goes on with a mark and a word's character behind it.
pub(super) fn goes_on(rest: &str, marks: &[char]) -> bool {
    let mut chars = rest.chars();
    chars.next().is_some_and(|c| marks.contains(&c)) && chars.next().is_some_and(is_word)
}

/// Whether a number goes on behind its point, or says how many of something there are.
fn is_amount(rest: &str) -> bool {
    let is_decimal = rest
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let next = rest
        .strip_prefix(' ')
        .and_then(|rest| rest.split(|c: char| !c.is_alphanumeric()).next());
    is_decimal || next.is_some_and(|next| COUNTED.contains(&next.to_lowercase().as_str()))
}

/// Whether `#12` is a number of this repository: no anchor, no colour, no constant, no footnote.
fn is_number(line: &str, place: &Range<usize>) -> bool {
    let (digits, before, after) = (&line[place.clone()], &line[..place.start - 1], &line[place.end..]);
    let previous = before.chars().next_back();
    let is_target = before.ends_with(".. _");
    let is_joined = joins(before) && before.strip_suffix('/').is_none_or(|lead| !ends_in_number(lead));
    // A reference of reStructuredText ends with its mark.
    let end = after
        .strip_prefix("__")
        .or_else(|| after.strip_prefix('_'))
        .unwrap_or(after);
    if (is_joined && !is_target)
        || end.starts_with(is_word)
        || goes_on(after, &['-'])
        || digits.starts_with('0')
    {
        return false;
    }
    let is_quoted = previous.is_some_and(|c| (c == '"' || c == '\'') && after.starts_with(c));
    let is_footnote = before.ends_with('[') && (after.starts_with("]_") || before.ends_with(".. ["));
    !is_quoted && !is_footnote && !before.ends_with("](") && !is_colour(before, digits, after)
}

/// Whether what follows a text goes on with its last word.
fn joins(before: &str) -> bool {
    before.ends_with(|c: char| is_word(c) || matches!(c, '&' | '/' | '#' | '<'))
}

/// Whether a text ends in `#12` or in a list such as `#11/#12`.
fn ends_in_number(text: &str) -> bool {
    let lead = text.trim_end_matches(|c: char| c.is_ascii_digit());
    lead.len() < text.len()
        && lead
            .strip_suffix('#')
            .is_some_and(|lead| !joins(lead) || lead.strip_suffix('/').is_some_and(ends_in_number))
}

fn is_colour(before: &str, digits: &str, after: &str) -> bool {
    if !matches!(digits.len(), 3 | 4 | 6) {
        return false;
    }
    // A list of colours may begin before it, and go on behind it.
    let mut lead = before;
    while let Some((start, is_hex)) = last_colour(lead) {
        if is_hex {
            return true;
        }
        lead = &lead[..start];
    }
    if next_is_hex(after) {
        return true;
    }
    let name = lead.trim_end_matches([' ', ':', '=']);
    let lowered = name.to_lowercase();
    if name.len() < lead.len() && COLOURS.iter().any(|word| lowered.ends_with(*word)) {
        return true;
    }
    let mut words = lowered.rsplit(|c: char| !c.is_alphanumeric());
    let last = words.next().unwrap_or_default();
    let is_link = lead.ends_with(".. _")
        || lead.ends_with(".. _`")
        || (lead.ends_with('`') && after.starts_with("`_"))
        || after.starts_with('_');
    // An entry of release notes may begin with its number.
    let entry = lead.get(1..).unwrap_or_default().trim_start();
    let is_entry = after.starts_with(':') && matches!(entry, "" | "- " | "* ");
    let may_be_named = last == "in" || lead.ends_with(['(', '[']);
    let tells_colours = words.any(|word| HUES.contains(&word));
    let is_named = NAMES.contains(&last) || is_link || is_entry || (may_be_named && !tells_colours);
    digits.len() == 6 && !is_named
}

/// What stands between items of a list.
fn without_separator(text: &str) -> &str {
    let text = text.trim_end();
    let text = ["and", "or", "to", ",", "/", "&"]
        .iter()
        .find_map(|separator| text.strip_suffix(*separator))
        .unwrap_or(text);
    text.trim_end_matches([' ', ','])
}

/// Where the colour, or what may be one, begins that ends a list, and whether it has letters.
fn last_colour(text: &str) -> Option<(usize, bool)> {
    let text = without_separator(text);
    let lead = text.trim_end_matches(|c: char| c.is_ascii_hexdigit());
    let digits = &text[lead.len()..];
    let start = lead.strip_suffix('#')?.len();
    let is_hex = digits.bytes().any(|byte| byte.is_ascii_alphabetic());
    matches!(digits.len(), 3 | 4 | 6 | 8).then_some((start, is_hex))
}

/// Whether a list goes on with a colour that has letters.
fn next_is_hex(text: &str) -> bool {
    let text = text.trim_start_matches([' ', ',', '/', '&']);
    let text = ["and ", "or ", "to "]
        .iter()
        .find_map(|separator| text.strip_prefix(*separator))
        .unwrap_or(text);
    let Some(rest) = text.strip_prefix('#') else {
        return false;
    };
    let length = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
    let is_end = !rest[length..].starts_with(is_word) && !goes_on(&rest[length..], &['-']);
    is_end && matches!(length, 3 | 4 | 6 | 8) && rest[..length].bytes().any(|byte| byte.is_ascii_alphabetic())
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
