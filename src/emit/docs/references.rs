//! Where a line of words names an issue or a pull request.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A stretch of a line that is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// Where it stands, in bytes of the line.
    pub(super) place: Range<usize>,
    /// What stands there.
    pub(super) kind: Kind,
}

/// What a reference leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An issue or a pull request, by its number.
    Number,
    /// Somebody, by an account's name.
    Person,
    /// A commit, by its hash.
    Commit,
}

/// Forms whose group is a reference wherever they stand. A name of reStructuredText may begin behind `.. _`, and end
/// before `_`.
const NUMBERS: [&str; 7] = [
    ADDRESS,
    r"(?i)\]\([./]*(?:[a-z0-9_.-]+/){0,2}(?:issues?|pulls?|merge_requests|discussions)/([0-9]+)[/#?) ]",
    r"#(?:issuecomment|discussioncomment|pullrequestreview|commitcomment)-([0-9]+)",
    r"#discussion[-_]r([0-9]+)",
    r"(?i)(?::(?:gh|github|gitlab)(?:[-_]?(?:pull|pr|issue|bug|mr)s?)?:|\{(?:(?:gh|github|gitlab)(?:[-_]?(?:pull|pr|issue|bug|mr)s?)?|(?:pull|pr|issue)s)\})`(?:[^`\n]*?[^`\nA-Za-z0-9_.-])?([0-9]+(?:[,; ]+#?[0-9]+)*)>?`",
    r"(?::(?:pull|pulls|pr|prs|issue|issues|gh|ghpull|ghissue|gh-pr|gh-issue|bug|pull-request):|\{(?:pull|pr|issue|gh|bug)\})`[^`\n]*?(#?[0-9]+(?:[,; ]+#?[0-9]+)*)>?`",
    r"(?:\b|\.\. _)(?:GH|gh)(?:[-#]([0-9]+)|([0-9]{2,}))(?:\b|__?(?:[^A-Za-z0-9_]|$))",
];
/// A page of a forge; a host without a scheme has a point, and an interface's address more parts.
const ADDRESS: &str = r"(?i)(?:https?://[a-z0-9.-]+(?::[0-9]+)?|\b(?:[a-z0-9-]+\.)+[a-z]{2,})/(?:[a-z0-9_.-]+/){2,6}?(?:issues?|pulls?|merge_requests|discussions)/([0-9]+)";
/// Numbers behind a word: what follows them may make them something else.
const WORDS: [&str; 5] = [
    r"(?i)\b(?:PR|pull[ -]request|merge[ -]request|issue|ticket|bug)s?:? (?:no|nr|num|number)s?\.? ?([0-9]{2,})\b",
    r"\b(?:GH ([0-9]+)|gh ([0-9]{2,}))\b",
    r"(?i)(?:\b|\.\. _)(?:PR|pull[ -]request|merge[ -]request|issue|ticket|bug) ?#?([0-9]{2,})\b",
    r"(?i)\b(?:PRs|pull[ -]requests|merge[ -]requests|issues|tickets|bugs):? ?(#[0-9]+|[0-9]{2,})\b",
    r"(?i)\b(?:PRs|pull[ -]requests|merge[ -]requests|issues|tickets|bugs):? ?(#?[0-9]+(?:(?:, ?(?:(?:and|or|&) )?| (?:and|or|to|through|&|\+|-|–) |/|-|–|&)#?[0-9]+)+)\b",
];
/// Numbers that a mark joins with a word. Whatever stands before the word is no part of it.
const JOINED: &str = r#"(?i)(?:^.|[\s(\[,;*_`'"])(?:PR|pull[ -]request|merge[ -]request|issue|ticket|bug)(?:-|:)([0-9]{2,})(?:\b|__?(?:[^A-Za-z0-9_]|$))"#;
/// Numbers behind a word and a colon.
const TOLD: &str = r"(?i)\b(?:PR|pull[ -]request|merge[ -]request|issue|ticket|bug)(?:\*\*)?:(?:\*\*)? ([0-9]{2,}(?:(?:, ?| and | & )[0-9]{2,})*)\b";
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
/// What has a number of its own (`step #1`).
const COUNTERS: &[&str] = &[
    "appendix",
    "argument",
    "block",
    "case",
    "cell",
    "chapter",
    "column",
    "core",
    "cpu",
    "device",
    "epoch",
    "example",
    "exercise",
    "figure",
    "frame",
    "gpu",
    "index",
    "item",
    "iteration",
    "key",
    "layer",
    "level",
    "line",
    "listing",
    "method",
    "node",
    "note",
    "option",
    "page",
    "parameter",
    "part",
    "phase",
    "player",
    "point",
    "process",
    "question",
    "reason",
    "round",
    "row",
    "rule",
    "scenario",
    "section",
    "slot",
    "stage",
    "step",
    "table",
    "test",
    "thread",
    "tip",
    "week",
    "worker",
];
/// Those of which there may be hundreds.
const LARGE: &[&str] = &[
    "key", "line", "node", "page", "process", "row", "thread", "worker",
];
/// Words that lead from a number to who or what brought it.
const CREDITS: &[&str] = &["by", "from", "thanks", "via"];
/// Endings of pages that have anchors.
const PAGE_ENDINGS: &[&str] = &[".html", ".htm", ".md", ".rst", ".txt", ".py", ".ipynb", ".php"];

/// Forms as expressions; `None` where one is none.
pub(super) fn forms(texts: &[&str]) -> Option<Vec<Regex>> {
    texts.iter().map(|text| Regex::new(text).ok()).collect()
}

struct Forms {
    numbers: Vec<Regex>,
    words: Vec<Regex>,
    address: Regex,
    joined: Regex,
    told: Regex,
    hash: Regex,
    foreign: Regex,
}

impl Forms {
    fn new() -> Option<Self> {
        Some(Self {
            numbers: forms(&NUMBERS)?,
            words: forms(&WORDS)?,
            address: Regex::new(ADDRESS).ok()?,
            joined: Regex::new(JOINED).ok()?,
            told: Regex::new(TOLD).ok()?,
            hash: Regex::new(HASH).ok()?,
            foreign: Regex::new(FOREIGN).ok()?,
        })
    }
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(Forms::new);

/// The number of the issue or the pull request whose page an address is.
pub(super) fn number_of(address: &str) -> Option<&str> {
    let forms = FORMS.as_ref()?;
    groups(&forms.address, address)
        .next()
        .map(|place| &address[place])
}

/// Every number of a line that is a reference, in no order; two may overlap.
pub(super) fn numbers(line: &str) -> Vec<Reference> {
    let Some(forms) = &*FORMS else { return vec![] };
    let mut found: Vec<Range<usize>> = vec![];
    for form in &forms.numbers {
        found.extend(groups(form, line));
    }
    for form in &forms.words {
        found.extend(groups(form, line).filter(|place| !is_amount(&line[place.end..])));
    }
    found.extend(groups(&forms.joined, line).filter(|place| is_apart(&line[place.end..])));
    found.extend(groups(&forms.told, line).filter(|place| is_told(&line[place.end..])));
    found.extend(groups(&forms.hash, line).filter(|place| is_number(line, place)));
    found.extend(groups(&forms.foreign, line).filter(|place| is_foreign(line, place)));
    let number = |place| Reference {
        place,
        kind: Kind::Number,
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

/// Whether a number that is joined with a word is no part of a file's name, a date or a fraction.
fn is_apart(rest: &str) -> bool {
    !goes_on(rest, &['.', '-', '/']) && !is_amount(rest)
}

/// Whether a number ends here that a word and a colon tell: `issue: 12`, and not `issue: 12 files`.
fn is_told(rest: &str) -> bool {
    let text = rest.trim_start();
    let next = text.split(|c: char| !is_word(c)).next().unwrap_or_default();
    is_apart(rest) && (matches!(next, "" | "and" | "or") || CREDITS.contains(&next)) && !text.starts_with('%')
}

/// Whether a number is one of a thing that is counted (`step #1`, `rows #1 and #2`), or the first (`the #1 reason`). At a
/// text's end a long one is rather the pull request of what is told.
fn is_counted(before: &str, digits: &str, after: &str) -> bool {
    let next = after
        .strip_prefix(' ')
        .and_then(|rest| rest.split(|c: char| !is_word(c)).next())
        .unwrap_or_default();
    let has_more = !next.is_empty() && !CREDITS.contains(&next.to_lowercase().as_str());
    let mut lead = before;
    while let Some(start) = last_number(lead) {
        lead = &lead[..start];
    }
    let Some(lead) = lead.strip_suffix(' ') else {
        return false;
    };
    let lowered = lead.to_lowercase();
    let word = lowered
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let singular = word.strip_suffix('s').unwrap_or(word);
    let is_one_of = |words: &[&str]| words.contains(&word) || words.contains(&singular);
    is_one_of(COUNTERS) && (digits.len() <= 2 || (has_more && is_one_of(LARGE)))
        || (digits == "1" && has_more && matches!(word, "the" | "our" | "your"))
}

/// Where `#12` begins that stands before the last item of a list.
fn last_number(text: &str) -> Option<usize> {
    let lead = without_separator(text);
    let start = lead.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_item = lead.len() < text.len() && start.len() < lead.len();
    is_item.then(|| start.strip_suffix('#').map(str::len)).flatten()
}

/// Whether `#12` is a number of this repository: no anchor, no colour, no constant, no footnote, no part of a count.
fn is_number(line: &str, place: &Range<usize>) -> bool {
    let (digits, before, after) = (&line[place.clone()], &line[..place.start - 1], &line[place.end..]);
    let previous = before.chars().next_back();
    let is_target = before.ends_with(".. _");
    let is_joined = joins(before) && !ends_in_number(before.strip_suffix('/').unwrap_or(before));
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
    !is_quoted
        && !is_footnote
        && !before.ends_with("](")
        && !is_colour(before, digits, after)
        && !is_counted(before, digits, after)
}

/// Whether what follows a text goes on with its last word.
fn joins(before: &str) -> bool {
    before.ends_with(|c: char| is_word(c) || matches!(c, '&' | '/' | '#' | '<'))
}

/// Whether a text ends in `#12` or in a list such as `#11/#12` or `#11#12`.
fn ends_in_number(text: &str) -> bool {
    let lead = text.trim_end_matches(|c: char| c.is_ascii_digit());
    lead.len() < text.len()
        && lead
            .strip_suffix('#')
            .is_some_and(|lead| !joins(lead) || ends_in_number(lead.strip_suffix('/').unwrap_or(lead)))
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
