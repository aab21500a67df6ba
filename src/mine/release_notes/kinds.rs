//! From the words of a heading, a badge or a fragment's type to a kind of change.

use std::sync::LazyLock;

use regex::Regex;

use super::model::Kind;
use crate::mine::pattern::compiled;

/// What words in a heading say, the telling ones first: "Improved documentation" is about documentation, "Features
/// removed" about a removal, "Deprecations (removal in the next release)" about deprecations.
const WORDS: &[(Kind, &[&str])] = &[
    (Kind::Deprecation, &["deprecat"]),
    (Kind::Removal, &["remov"]),
    (
        Kind::Breaking,
        &["breaking", "incompatib", "backward", "api change", "major change"],
    ),
    (Kind::Security, &["security", "vulnerabilit"]),
    (
        Kind::Fix,
        &[
            "bug",
            "fix",
            "false positive",
            "false negative",
            "regression",
            "crash",
            "correct",
        ],
    ),
    (Kind::Documentation, &["documentation", "docs"]),
    (Kind::NewCheck, &["new check", "new message"]),
    (Kind::Extension, &["extension"]),
    (
        Kind::Internal,
        &[
            "internal",
            "trivial",
            "miscellan",
            "contributor",
            "testing",
            "test suite",
            "maintenance",
            "refactor",
            "housekeeping",
            "infrastructure",
            "development",
            "under the hood",
        ],
    ),
    (
        Kind::Dependencies,
        &["dependenc", "packag", "vendor", "requirement"],
    ),
    (
        Kind::Feature,
        &[
            "feature",
            "new function",
            "new method",
            "what's new",
            "whats new",
            "new in ",
        ],
    ),
    (Kind::Enhancement, &["enhanc", "improv", "efficiency"]),
    (Kind::Performance, &["performance", "optimi", "speed", "faster"]),
];

/// Headings and types that are one word, and mean it only when they stand alone.
const ALONE: &[(Kind, &[&str])] = &[
    (
        Kind::Feature,
        &["feat", "new", "added", "add", "additions", "addition", "features"],
    ),
    (Kind::Enhancement, &["enh", "imp", "better"]),
    (Kind::Performance, &["perf"]),
    (Kind::Fix, &["patch", "hotfix", "hotfixes"]),
    (Kind::Removal, &["drop", "dropped"]),
    (Kind::Breaking, &["break", "breaks", "api", "incompat"]),
    (
        Kind::Change,
        &[
            "change",
            "changes",
            "changed",
            "updates",
            "updated",
            "other changes",
            "defaults",
        ],
    ),
    (Kind::Documentation, &["doc"]),
    (Kind::Dependencies, &["deps", "dep", "build", "packaging"]),
    (
        Kind::Internal,
        &[
            "misc",
            "chore",
            "ci",
            "test",
            "tests",
            "tst",
            "maint",
            "mnt",
            "sty",
            "cln",
            "typ",
            "style",
            "contrib",
            "build and ci",
            "int",
            "dev",
        ],
    ),
];

/// What a heading, or a fragment's type, says of the entries below it; `None` when it does not tell.
pub(super) fn of_title(title: &str) -> Option<Kind> {
    let title = title
        .to_lowercase()
        .replace(['_', '-', '*', '`'], " ")
        .replace('\u{2019}', "'");
    // "Non-feature changes" are changes of which it is known only what they are not.
    let mut words = title.split_whitespace();
    let mut said = vec![];
    while let Some(word) = words.next() {
        if word.trim_start_matches('(') == "non" {
            words.next();
        } else {
            said.push(word);
        }
    }
    let title = said.join(" ");
    let title = title.trim_matches(|c: char| !c.is_alphanumeric());
    let alone = ALONE.iter().find(|(_, words)| words.contains(&title));
    let among = || {
        WORDS
            .iter()
            .find(|(_, words)| words.iter().any(|word| title.contains(word)))
    };
    let change = || (title.ends_with("changes") && !title.starts_with("other")).then_some(Kind::Change);
    alone.or_else(among).map(|(kind, _)| *kind).or_else(change)
}

/// What the badges say that a text begins with: `|Feature|`, `|MajorFeature|`; of several, the one that comes first in
/// [`Kind`]'s order. And the text without them.
pub(super) fn badges(text: &str) -> (Option<Kind>, &str) {
    static BADGE: LazyLock<Regex> = LazyLock::new(|| compiled(r"^\s*\|([A-Za-z][A-Za-z _-]*)\|(?:\s|$)"));
    let mut rest = text;
    let mut found: Option<Kind> = None;
    while let Some(badge) = BADGE.captures(rest) {
        let kind = of_title(&spaced(&badge[1]));
        found = match (found, kind) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        rest = &rest[badge[0].len()..];
    }
    (found, rest)
}

/// `MajorFeature` → `Major Feature`.
fn spaced(name: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        out.push(c);
        before = c;
    }
    out
}

/// What a conventional commit's prefix says (`feat: …`, `fix(parser)!: …`), one of `NumPy`'s (`ENH: …`), a word (`New: …`),
/// and `[Feature] …`, `**New**: …`.
pub(super) fn prefix(text: &str) -> Option<Kind> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"(?i)^\s*(?:(?:\*\*)?\[(?P<square>[a-z -]{2,20})\]|\*\*(?P<bold>[a-z -]{2,20}):?\*\*:?|(?P<plain>feat|(?:new )?features?|new|added|add|enh|enhancements?|enhanced|improvements?|improved|changed?|fix|fixed|bug|bugfix|perf|performance|docs?|documentation|removed?|removal|deprecated|deprecations?|breaking(?: change)?|security|maint|mnt|tst|sty|cln|typ|refactor|chore|ci|build|tests?|style|deps)(?:\([^)]*\))?!?:)",
        )
    });
    let found = FORM.captures(text)?;
    let word = ["square", "bold", "plain"]
        .iter()
        .find_map(|name| found.name(name))?;
    of_title(word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_real_projects_tell_their_kind() {
        let cases = [
            ("New Features", "feature"),
            ("Features and Improvements", "feature"),
            ("Features & Improvements", "feature"),
            ("Features added", "feature"),
            ("New features added", "feature"),
            ("New functions/methods", "feature"),
            ("Added", "feature"),
            ("Improvements in existing functionality", "enhancement"),
            ("Minor Improvements", "enhancement"),
            ("Enhancements", "enhancement"),
            ("New Checks", "new-check"),
            ("New checkers", "new-check"),
            ("Extensions", "extension"),
            ("Improved Documentation", "documentation"),
            ("Features removed", "removal"),
            ("Removed checkers", "removal"),
            ("Deprecations (removal in next major release)", "deprecation"),
            ("Deprecations and Removals", "deprecation"),
            ("Removals and backward incompatible breaking changes", "removal"),
            ("Incompatible changes", "breaking"),
            ("API Changes", "breaking"),
            ("Bug fixes after rc1", "fix"),
            ("False Positives Fixed", "fix"),
            ("Trivial/Internal Changes", "internal"),
            ("Packaging updates and notes for downstreams", "dependencies"),
            ("Behavioural Changes", "change"),
            ("false_negative", "fix"),
            ("new_check", "new-check"),
            ("Non-feature changes", "change"),
            ("Non-breaking changes", "change"),
        ];
        for (title, kind) in cases {
            assert_eq!(of_title(title).map(Kind::name), Some(kind), "{title}");
        }
        for title in [
            "astropy.coordinates",
            "Other updates",
            "Announcements",
            "Modernization of scatterplots",
            "Non-feature",
        ] {
            assert_eq!(of_title(title), None, "{title}");
        }
    }

    #[test]
    fn badges_and_prefixes_tell() {
        assert_eq!(
            badges("|API| |Feature| In plots"),
            (Some(Kind::Feature), "In plots")
        );
        assert_eq!(badges("|MajorFeature| x").0, Some(Kind::Feature));
        assert_eq!(badges("|Efficiency| x").0, Some(Kind::Enhancement));
        assert_eq!(badges("|x| + |y|"), (None, "+ |y|"));
        assert_eq!(badges("plain"), (None, "plain"));
        assert_eq!(prefix("feat(cli)!: more"), Some(Kind::Feature));
        assert_eq!(prefix("**Fix**: less"), Some(Kind::Fix));
        assert_eq!(prefix("ENH: a thing"), Some(Kind::Enhancement));
        assert_eq!(prefix("New: a thing"), Some(Kind::Feature));
        assert_eq!(prefix("MAINT: a thing"), Some(Kind::Internal));
        assert_eq!(prefix("Deprecated: a thing"), Some(Kind::Deprecation));
        assert_eq!(prefix("newer: a thing"), None);
        assert_eq!(prefix("fixed a thing"), None);
    }
}
