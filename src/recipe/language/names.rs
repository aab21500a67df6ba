//! What a name that does not exist may have been meant to be.

use super::facts::{self, Fact};
use super::functions::{FUNCTIONS, MACROS};
use super::nearest::nearest;
use super::types::Record;

/// Hint for a word that is neither a group nor one of `variables`.
pub(super) fn for_word<'a>(name: &str, variables: impl Iterator<Item = &'a str>) -> String {
    let groups = facts::groups();
    let same_field = facts::table()
        .iter()
        .find(|fact| fact.field() == name)
        .map(|fact| fact.name.as_str());
    same_field
        .or_else(|| nearest(name, groups.iter().copied().chain(variables)))
        .map_or_else(
            || format!("facts are named `group.name`; the groups are {}", quoted(&groups)),
            did_you_mean,
        )
}

/// Hint for a fact that its group does not have.
pub(super) fn for_fact(group: &str, field: &str) -> String {
    let in_group = facts::table()
        .iter()
        .filter(|fact| fact.group() == group)
        .map(Fact::field);
    let near = nearest(field, in_group)
        .map(|near| format!("{group}.{near}"))
        .or_else(|| {
            let near = nearest(field, facts::table().iter().map(Fact::field))?;
            facts::table()
                .iter()
                .find(|fact| fact.field() == near)
                .map(|fact| fact.name.clone())
        });
    near.map_or_else(
        || format!("the facts of `{group}` are {}", members(group)),
        |near| format!("did you mean `{near}`? `quarry check --facts` lists every fact"),
    )
}

/// Hint for a field that a record does not have.
pub(super) fn for_field(record: &Record, field: &str) -> String {
    let names: Vec<&str> = record.fields.iter().map(|field| field.name).collect();
    nearest(field, names.iter().copied())
        .map_or_else(|| format!("its fields are {}", quoted(&names)), did_you_mean)
}

/// Hint for a word that is none of those that a value is among.
pub(super) fn for_value(words: &[&'static str], word: &str) -> String {
    let written = words.iter().copied().filter(|known| !known.is_empty());
    nearest(word, written).map_or_else(
        || {
            let all: Vec<String> = words.iter().map(|word| format!("`'{word}'`")).collect();
            format!("it is one of {}", all.join(", "))
        },
        did_you_mean,
    )
}

/// Hint for a function that does not exist.
pub(super) fn for_function(name: &str) -> String {
    let names: Vec<&str> = FUNCTIONS
        .iter()
        .map(|function| function.name)
        .chain(MACROS)
        .collect();
    let usual = match name {
        "len" | "length" | "count" => Some("size"),
        "any" | "some" => Some("exists"),
        "every" => Some("all"),
        "includes" | "has_substring" => Some("contains"),
        _ => nearest(name, names.iter().copied()),
    };
    usual.map_or_else(|| format!("the functions are {}", quoted(&names)), did_you_mean)
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// Names in backticks, with commas.
pub(super) fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The facts of a group.
pub(super) fn members(group: &str) -> String {
    let names: Vec<&str> = facts::table()
        .iter()
        .filter(|fact| fact.group() == group)
        .map(|fact| fact.name.as_str())
        .collect();
    quoted(&names)
}
