//! Where a line of words names a commit.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::references::{Kind, Reference, forms, groups};

/// Forms whose group is a hash wherever they stand.
const HASHES: [&str; 4] = [
    r"(?i)[a-z0-9_.-]/commits?/([0-9a-f]{7,40})\b",
    r"(?i)(?::(?:gh[-_]?)?(?:commit|sha):|\{(?:gh[-_]?)?(?:commit|sha)\})`(?:[^`<\n]*<)?([0-9a-f]{7,40})>?`",
    r"(?i)(?:\[`?([0-9a-f]{7,40})`?\]\(|`([0-9a-f]{7,40}) <)[^\s)>]*/commits?/[0-9a-f]",
    r"#diff-([0-9a-f]{32,64})",
];
/// Forms whose group is a hash when it is no word, number or version.
const MAYBE: [&str; 3] = [
    r"(?i)\b(?:commit|changeset|revision)s?:? `{0,2}([0-9a-f]{7,40})\b",
    r"(?i)/compare/([0-9a-f]{7,40})\b",
    r"(?i)/compare/[^\s)>]*?\.{2,3}([0-9a-f]{7,40})\b",
];

struct Forms {
    hashes: Vec<Regex>,
    maybe: Vec<Regex>,
}

impl Forms {
    fn new() -> Option<Self> {
        Some(Self {
            hashes: forms(&HASHES)?,
            maybe: forms(&MAYBE)?,
        })
    }
}

/// Every hash of a commit that a line names, in no order; two may overlap.
pub(super) fn commits(line: &str) -> Vec<Reference> {
    static FORMS: LazyLock<Option<Forms>> = LazyLock::new(Forms::new);
    let Some(forms) = &*FORMS else { return vec![] };
    let mut found: Vec<Range<usize>> = vec![];
    for form in &forms.hashes {
        found.extend(groups(form, line));
    }
    for form in &forms.maybe {
        found.extend(groups(form, line).filter(|place| is_hash(&line[place.clone()])));
    }
    let commit = |place| Reference {
        place,
        kind: Kind::Commit,
    };
    found.into_iter().map(commit).collect()
}

/// Whether a word may be a commit's hash: whole, or with a digit and a letter.
fn is_hash(word: &str) -> bool {
    let is_hex = matches!(word.len(), 7..=40) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mixed =
        word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_hex && (is_mixed || word.len() == 40)
}

/// Whether what stands between backticks is code no more, as it is the text of a link to a commit, an issue or a pull
/// request, or the hash behind `commit`.
pub(super) fn is_reference(line: &str, span: &Range<usize>) -> bool {
    let (before, after) = (&line[..span.start], &line[span.end..]);
    let target = after.strip_prefix("](").filter(|_| before.ends_with('['));
    if let Some(target) = target {
        let address = target.split([')', ' ']).next().unwrap_or_default();
        return ["/commit/", "/issues/", "/pull/"]
            .into_iter()
            .any(|part| address.contains(part));
    }
    let is_told = before.to_lowercase().ends_with("commit ");
    is_told && is_hash(line[span.clone()].trim_matches('`'))
}
