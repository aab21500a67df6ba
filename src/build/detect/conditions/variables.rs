//! A shell's variables: what a text sets and what is set around it, filled into its words.

use std::collections::{BTreeMap, BTreeSet};

use super::super::command::assignment;
use super::super::shell::Command;

/// What is known of each variable.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// A name's value; none where it may be one or another.
    values: BTreeMap<String, Option<String>>,
}

/// The variables that a command sets for what follows in the same shell; `None` for any other command.
pub(super) fn sets(words: &[String]) -> Option<Vec<(&str, &str)>> {
    let set: Vec<_> = words.iter().map_while(|word| assignment(word)).collect();
    (!set.is_empty() && set.len() == words.len()).then_some(set)
}

/// The same, and what it hands on to programs.
fn sets_or_exports(words: &[String]) -> Vec<(&str, &str)> {
    let rest = match words.split_first() {
        Some((first, rest)) if first == "export" => rest,
        _ => return sets(words).unwrap_or_default(),
    };
    rest.iter().filter_map(|word| assignment(word)).collect()
}

impl Variables {
    /// What is set before the text's first command. A name that the text itself sets somewhere is empty until then.
    pub(super) fn new(commands: &[Command], environment: &BTreeMap<String, String>) -> Self {
        let begins = ["then", "else", "do", "{"];
        let own: BTreeSet<&str> = commands
            .iter()
            .flat_map(|command| {
                let keyword = command
                    .words
                    .first()
                    .is_some_and(|word| begins.contains(&word.as_str()));
                sets_or_exports(&command.words[usize::from(keyword)..])
            })
            .map(|(name, _)| name)
            .collect();
        let mut values: BTreeMap<String, Option<String>> = own
            .into_iter()
            .map(|name| (name.to_owned(), Some(String::new())))
            .collect();
        let known = environment.iter();
        values.extend(known.map(|(name, value)| (name.clone(), is_plain(value).then(|| value.clone()))));
        Self { values }
    }

    /// Takes in what a command sets, if it runs; `is_sure` says whether it surely does.
    pub(super) fn learn(&mut self, words: &[String], runs: bool, is_sure: bool) {
        if !runs {
            return;
        }
        for (name, value) in sets_or_exports(words) {
            let value = (is_sure && is_plain(value)).then(|| value.to_owned());
            self.values.insert(name.to_owned(), value);
        }
    }

    /// Fills in what is known. A word of nothing but empty variables goes, unless it is asked about in a test; a value with
    /// blanks becomes several words, unless it is set to another variable.
    pub(super) fn fill(&self, words: &mut Vec<String>) {
        if !words.iter().any(|word| word.contains('$')) {
            return;
        }
        let is_test = words
            .iter()
            .any(|word| matches!(word.as_str(), "[" | "[[" | "test" | "case"));
        let mut filled = Vec::with_capacity(words.len());
        for word in words.drain(..) {
            let text = self.filled(&word);
            if text == word || is_test || assignment(&word).is_some() {
                filled.push(text);
            } else {
                filled.extend(text.split_ascii_whitespace().map(str::to_owned));
            }
        }
        *words = filled;
    }

    fn filled(&self, word: &str) -> String {
        let mut out = String::new();
        let mut rest = word;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let (name, default, len) = reference(rest);
            let value = self.values.get(name).cloned().flatten();
            match (value, default) {
                (Some(value), Some(default)) if value.is_empty() => out.push_str(default),
                (Some(value), _) => out.push_str(&value),
                (None, _) => out.push_str(&rest[..len]),
            }
            rest = &rest[len..];
        }
        out.push_str(rest);
        out
    }
}

/// Whether a value is text that no shell has to work out.
fn is_plain(value: &str) -> bool {
    !value.contains(['$', '`', '\0'])
}

/// The name in `$NAME…`, `${NAME}…` or `${NAME:-default}…`, its default, and how long the whole is.
fn reference(text: &str) -> (&str, Option<&str>, usize) {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let head = |text: &str| text.find(|sign| !is_part(sign)).unwrap_or(text.len());
    let Some(inner) = text.strip_prefix("${") else {
        let end = 1 + head(&text[1..]);
        return (&text[1..end], None, end);
    };
    let Some(close) = inner.find('}') else {
        return ("", None, text.len());
    };
    let end = head(inner);
    let default = inner[end..close].strip_prefix(":-");
    // Other ways to ask for a value are not followed.
    let name = if end == close || default.is_some() {
        &inner[..end]
    } else {
        ""
    };
    (name, default, 2 + close + 1)
}
