//! Names that a statement has as decorators or as code: behind an `@` they are nobody's accounts.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::code::{Words, spans};
use super::references::{groups, is_word};

/// Roles and directives that tell of code by its name.
const TOLD: &str = r"(?:[:{](?:func|deco|decorator|meth|class|attr|obj|any|data|fixture)[:}]`~?@?|\.\. (?:[a-z]+:)?(?:auto)?(?:decorator|function|fixture|method)::\s+@?)(?:[A-Za-z0-9_]+\.)*([A-Za-z0-9_]+)";

/// The names that a statement with these lines of words has in code.
pub(super) fn names<'s>(statement: &'s str, words: &[Words<'s>]) -> BTreeSet<&'s str> {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TOLD).ok());
    let starts: BTreeSet<usize> = words.iter().map(|words| words.at).collect();
    let mut found = BTreeSet::new();
    let mut end = 0;
    for line in statement.split_inclusive('\n') {
        if !starts.contains(&end)
            && let Some(code) = line.strip_prefix(['+', '-', ' '])
        {
            found.extend(decorator(code));
        }
        end += line.len();
    }
    for words in words {
        let line = words.line;
        let code = spans(line, words.markup).into_iter();
        found.extend(code.filter_map(|span| name(line[span].trim_matches('`'))));
        if let Some(form) = &*FORM {
            found.extend(groups(form, line).map(|place| &line[place]));
        }
    }
    found
}

/// The decorator that a line of code is; a session's prompt may stand before it.
fn decorator(code: &str) -> Option<&str> {
    let name = code.trim_start_matches([' ', '\t', '>', '.']).strip_prefix('@')?;
    let length = name.find(|c: char| !is_word(c)).unwrap_or(name.len());
    (length > 0).then(|| &name[..length])
}

/// The last part of the name that a stretch of code is (`@a.b(c)`).
fn name(code: &str) -> Option<&str> {
    let code = code.strip_prefix('@').unwrap_or(code);
    let code = code.split('(').next().unwrap_or(code);
    let is_name = code.chars().all(|c| is_word(c) || c == '.');
    code.rsplit('.').next().filter(|last| is_name && !last.is_empty())
}
