//! What a commit's message says of pull requests: which one it lands, which title that had, and whether it carries
//! back or undoes another.
//!
//! Forges and merge bots write fixed forms (GitHub, Gitea, bors, homu, `GH-` squashes); people write the rest. Numbers
//! of other systems are not taken for pull requests: Bitbucket's `(pull request #12)` and `Merge pull request #12 in`.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern::compiled;
use crate::domain::candidate::{Relation, RelationKind};
use crate::domain::ids::CommitSha;

/// What a message says of pull requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// What it lands, by its own words.
    pub landing: Option<Landing>,
    /// The pull request's title, where the message gives it.
    pub title: Option<String>,
    /// Numbers in brackets before the last one: the changes that this one came from.
    pub origins: Vec<u32>,
}

/// The pull requests that a message says it lands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landing {
    /// `Merge pull request #1 from someone/branch`, `Merge #1 #2`, `Merge branch 'pr/1'`.
    Merge {
        /// The numbers, in order; more than one only in a merge bot's batch.
        numbers: Vec<u32>,
        /// `someone/branch`.
        source: Option<String>,
    },
    /// `Title (#1)`.
    Squash {
        /// The last number in brackets.
        number: u32,
        /// Whether nothing but a full stop or a tag (`[skip ci]`) follows it.
        ends: bool,
    },
}

impl Landing {
    /// The numbers it names.
    pub fn numbers(&self) -> &[u32] {
        match self {
            Self::Merge { numbers, .. } => numbers,
            Self::Squash { number, .. } => std::slice::from_ref(number),
        }
    }
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| compiled($pattern));
    };
}

pattern!(
    FORGE_MERGE,
    r"^Merged? (?:pull[ -]request|PR) #?([1-9]\d*)(?: from (\S+)|\b(?: in\b)?)"
);
pattern!(BOT_MERGE, r"^Merge((?: #[1-9]\d*)+)\s*(?:$|[:(-])");
pattern!(
    AUTO_MERGE,
    r"^(?:Auto merge|Rollup merge) of #([1-9]\d*)\b(?: - (\S+))?"
);
pattern!(
    BRANCH_MERGE,
    r"^Merge (?:remote-tracking )?(?:branch|commit|ref|tag)s? '(?:[\w.-]+/)*(?:pr|pull)[/-]([1-9]\d*)(?:/head|/merge)?'"
);
pattern!(
    BRACKETED,
    r"\((?:(?:PR|pr|Pull|pull) ?)?(?:#|GH-|gh-)([1-9]\d*)\)"
);
pattern!(TAIL, r"^[\s.]*(?:\[[^\]]*\][\s.]*)*$");
pattern!(
    QUOTED,
    r#"^(?i:re-?apply|re-?land|(?:partially |partial )?revert(?:s|ed|ing)?:?) ["'“](.*)["'”]"#
);
pattern!(BORS_TITLE, r"^([1-9]\d*): (.*?)(?: r=\S+)?(?: a=\S+)?$");

/// Reads a commit's message.
pub fn read(message: &str) -> Words {
    let subject = first_line(message);
    if !subject.contains('#') && !has_gh(subject) && !subject.starts_with("Merge") {
        return Words::default();
    }
    let body = message
        .get(message.find('\n').unwrap_or(message.len())..)
        .unwrap_or_default();
    if let Some((numbers, source)) = merge_numbers(subject) {
        let title = merge_title(body, &numbers);
        return Words {
            landing: Some(Landing::Merge { numbers, source }),
            title,
            origins: vec![],
        };
    }
    // What a revert quotes is the other's subject.
    let from = QUOTED
        .captures(subject)
        .and_then(|found| found.get(1))
        .map_or(0, |quoted| quoted.end());
    let found: Vec<_> = BRACKETED.captures_iter(&subject[from..]).collect();
    let number = |captures: &regex::Captures<'_>| captures[1].parse::<u32>().ok();
    let Some((last, before)) = found.split_last() else {
        return Words::default();
    };
    let (Some(landed), Some(place)) = (number(last), last.get(0)) else {
        return Words::default();
    };
    let ends = TAIL.is_match(&subject[from + place.end()..]);
    let title = subject[..from + place.start()].trim_end();
    Words {
        landing: Some(Landing::Squash { number: landed, ends }),
        title: (ends && !title.is_empty() && !title.starts_with("Merge ")).then(|| title.to_owned()),
        origins: before
            .iter()
            .filter_map(number)
            .filter(|origin| *origin != landed)
            .collect(),
    }
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default().trim_end()
}

fn has_gh(subject: &str) -> bool {
    subject.contains("GH-") || subject.contains("gh-")
}

fn merge_numbers(subject: &str) -> Option<(Vec<u32>, Option<String>)> {
    let parse = |digits: &str| digits.parse::<u32>().ok();
    if let Some(found) = FORGE_MERGE.captures(subject) {
        if found[0].ends_with(" in") {
            return None;
        }
        return Some((
            vec![parse(&found[1])?],
            found.get(2).map(|source| source.as_str().to_owned()),
        ));
    }
    if let Some(found) = BOT_MERGE.captures(subject) {
        let numbers: Vec<u32> = found[1]
            .split('#')
            .filter_map(|digits| parse(digits.trim()))
            .collect();
        return (!numbers.is_empty()).then_some((numbers, None));
    }
    if let Some(found) = AUTO_MERGE.captures(subject) {
        let source = found
            .get(2)
            .map(|source| source.as_str().trim_end_matches(',').to_owned());
        return Some((vec![parse(&found[1])?], source));
    }
    BRANCH_MERGE
        .captures(subject)
        .and_then(|found| Some((vec![parse(&found[1])?], None)))
}

/// The title in a merge's message: its first line of text; in a bot's batch, none is everyone's.
fn merge_title(body: &str, numbers: &[u32]) -> Option<String> {
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next()?;
    if let [number] = numbers {
        let named = lines.find_map(|line| {
            let found = BORS_TITLE.captures(line)?;
            (found[1].parse() == Ok(*number)).then(|| found[2].trim().to_owned())
        });
        return named.or_else(|| (!is_trailer(first)).then(|| first.to_owned()));
    }
    None
}

fn is_trailer(line: &str) -> bool {
    [
        "Conflicts:",
        "# Conflicts",
        "Signed-off-by:",
        "Co-authored-by:",
        "* ",
    ]
    .iter()
    .any(|head| line.starts_with(head))
}

pattern!(
    TARGET,
    r"^\s*(?:\[[^\]]*\]\s*)*?\[(?i:backport\b[^\]]*|(?:[\w-]+/)?v?\d+\.[\dx]+[\w.]*)\]"
);
pattern!(
    BACKPORT,
    r"(?i)\bback-?port(?:s|ed|ing)?(?: of)?(?: changes from)?(?: (?:pr|pull request))?[: ]+(?:[\w.-]+/[\w.-]+)?(?:#|https?://\S+/pull/)([1-9]\d*)"
);
pattern!(PATCHBACK, r"(?i)\[PR #([1-9]\d*)(?:/[0-9a-f]+)? backport\]");
pattern!(
    BACKPORT_BRANCH,
    r"(?i)back-?ports?(?:[/_-][a-z]+)*?[/_-](?:pr[/_-]?)?([1-9]\d*)[/_-](?:to|on|in|for)[/_-]|patchback/backports/.*/pr-([1-9]\d*)$"
);
pattern!(PICKED, r"(?m)^\s*\(cherry[ -]picked from commit ([0-9a-f]{40})\)");
pattern!(REVERTED_COMMIT, r"(?i)\bThis reverts commit ([0-9a-f]{40})\b");
pattern!(
    REVERTED_NUMBER,
    r"(?im)^\s*(?:This reverts (?:pull request|PR)|Reverts|Reverts? (?:pull request|PR)|Revert) (?:[\w.-]+/[\w.-]+)?#([1-9]\d*)\b"
);
pattern!(REVERT_BRANCH, r"(?:^|[/:])revert-([1-9]\d*)-");
pattern!(QUOTED_MERGE, r"Merge pull request #([1-9]\d*)");

/// What a pull request says it is to another: from its title, its branch's name and its messages. The first of each kind
/// with a number or a commit is told; one with neither only where nothing better is.
pub fn relations(
    title: Option<&str>,
    source: Option<&str>,
    origins: &[u32],
    messages: &[&str],
) -> Vec<Relation> {
    let title = title.unwrap_or_default();
    let source = source.unwrap_or_default();
    let mut found = vec![];
    found.extend(revert(title, source, messages));
    found.extend(backport(title, source, origins, messages));
    for message in messages {
        for picked in PICKED.captures_iter(message) {
            found.push(Relation {
                kind: RelationKind::CherryPickOf,
                number: None,
                commit: picked[1].parse().ok(),
                text: picked[0].trim().to_owned(),
            });
        }
    }
    found.sort();
    found.dedup();
    found
}

fn backport(title: &str, source: &str, origins: &[u32], messages: &[&str]) -> Option<Relation> {
    let relation = |number: Option<u32>, text: &str| {
        Some(Relation {
            kind: RelationKind::BackportOf,
            number,
            commit: None,
            text: text.trim().to_owned(),
        })
    };
    let by = |form: &Regex, text: &str| {
        let found = form.captures(text)?;
        let number = found.iter().skip(1).flatten().next()?.as_str().parse().ok()?;
        Some((number, found[0].to_owned()))
    };
    let named = by(&PATCHBACK, title)
        .or_else(|| by(&BACKPORT, title))
        .or_else(|| by(&BACKPORT_BRANCH, source))
        .or_else(|| messages.iter().find_map(|message| by(&BACKPORT, message)));
    if let Some((number, text)) = named {
        return relation(Some(number), &text);
    }
    let target = TARGET.find(title)?;
    relation(origins.last().copied(), target.as_str())
}

fn revert(title: &str, source: &str, messages: &[&str]) -> Option<Relation> {
    // A series that undoes one of its own steps is no revert: the title decides, or the only message there is.
    let subject = if title.is_empty() {
        messages.first().map_or("", |message| first_line(message))
    } else {
        title
    };
    let quoted = QUOTED.captures(subject);
    let lower = subject.to_ascii_lowercase();
    if lower.starts_with("re-apply")
        || lower.starts_with("reapply")
        || lower.starts_with("re-land")
        || lower.starts_with("reland")
    {
        return None;
    }
    let number =
        |form: &Regex, text: &str| form.captures(text).and_then(|found| found[1].parse::<u32>().ok());
    let named = number(&REVERTED_NUMBER, subject).or_else(|| number(&REVERT_BRANCH, source));
    if quoted.is_none() && named.is_none() {
        return None;
    }
    let inner = quoted
        .as_ref()
        .map_or("", |found| found.get(1).map_or("", |inner| inner.as_str()));
    let in_quotes = || {
        let last = BRACKETED
            .captures_iter(inner)
            .last()
            .and_then(|found| found[1].parse().ok());
        last.or_else(|| number(&QUOTED_MERGE, inner))
    };
    let in_messages = || {
        messages
            .iter()
            .find_map(|message| number(&REVERTED_NUMBER, message))
    };
    let commit: Option<CommitSha> = messages
        .iter()
        .find_map(|message| REVERTED_COMMIT.captures(message)?[1].parse().ok());
    let number = named.or_else(in_quotes).or_else(in_messages);
    Some(Relation {
        kind: RelationKind::Reverts,
        number,
        commit,
        text: subject.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests;
