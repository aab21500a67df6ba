//! The first pass over a recipe's text: does every key exist, is every needed key there, has every value its type?
//! It walks the text's tree beside the JSON Schema that the recipe's types generate, so it finds everything at once,
//! where a deserializer stops at the first.

use std::ops::Range;

use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::diagnostic::{Problem, Source};
use super::language::nearest::nearest;

/// Walks the tree of a recipe's text.
pub(super) struct Shape<'a> {
    schema: &'a Json,
    source: Source<'a>,
    problems: Vec<Problem>,
}

impl<'a> Shape<'a> {
    /// Every problem of shape in `tree`.
    pub(super) fn problems(
        schema: &'a Json,
        source: Source<'a>,
        tree: &Spanned<DeTable<'_>>,
    ) -> Vec<Problem> {
        let mut shape = Self {
            schema,
            source,
            problems: Vec::new(),
        };
        shape.table(schema, tree.get_ref(), 0..0);
        shape.problems
    }

    fn problem(&mut self, at: Range<usize>, message: impl Into<String>, hint: Option<String>) {
        self.problems.push(self.source.problem(at, message, hint));
    }

    /// The schema behind a `$ref`.
    fn resolve(&self, schema: &'a Json) -> &'a Json {
        schema["$ref"]
            .as_str()
            .and_then(|reference| self.schema.pointer(reference.trim_start_matches('#')))
            .unwrap_or(schema)
    }

    fn table(&mut self, schema: &'a Json, table: &DeTable<'_>, at: Range<usize>) {
        let none = serde_json::Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&none);
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in keys {
            let name: &str = key.get_ref();
            match (
                self.resolve(schema)["properties"].get(name),
                &schema["additionalProperties"],
            ) {
                (Some(property), _) => self.value(property, name, value),
                (None, Json::Bool(false)) => {
                    let known = properties.keys().map(String::as_str);
                    let hint = nearest(name, known.clone()).map_or_else(
                        || format!("the keys here are {}", quoted(known)),
                        |near| format!("did you mean `{near}`?"),
                    );
                    self.problem(key.span(), format!("unknown key `{name}`"), Some(hint));
                }
                (None, extra) => self.value(extra, name, value),
            }
        }
        for needed in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
        {
            if !table.keys().any(|key| key.get_ref() == needed) {
                let hint = self.resolve(&properties[needed])["description"].as_str();
                let hint = properties[needed]["description"]
                    .as_str()
                    .or(hint)
                    .map(str::to_owned);
                self.problem(at.clone(), format!("the key `{needed}` is missing"), hint);
            }
        }
    }

    fn value(&mut self, schema: &'a Json, name: &str, value: &Spanned<DeValue<'_>>) {
        let schema = self.resolve(schema);
        if let Some(choices) = schema["oneOf"].as_array() {
            let words: Vec<&str> = choices
                .iter()
                .filter_map(|choice| choice["const"].as_str())
                .collect();
            return match value.get_ref().as_str() {
                Some(word) if words.contains(&word) => {}
                Some(word) => {
                    let hint = nearest(word, words.iter().copied()).map_or_else(
                        || format!("`{name}` is one of {}", quoted(words.iter().copied())),
                        |near| format!("did you mean `{near}`?"),
                    );
                    self.problem(value.span(), format!("`{name}` cannot be `{word}`"), Some(hint));
                }
                None => self.wrong(name, "a string", value),
            };
        }
        match (kind(schema), value.get_ref()) {
            ("string", DeValue::String(_)) | ("boolean", DeValue::Boolean(_)) => {}
            ("integer", DeValue::Integer(number)) => self.integer(schema, name, number, value.span()),
            ("array", DeValue::Array(items)) => {
                for item in items {
                    self.value(&schema["items"], name, item);
                }
            }
            ("object", DeValue::Table(table)) => self.table(schema, table, value.span()),
            ("string", _) => self.wrong(name, "a string", value),
            ("boolean", _) => self.wrong(name, "`true` or `false`", value),
            ("integer", _) => self.wrong(name, "a whole number", value),
            ("array", _) if kind(self.resolve(&schema["items"])) == "object" => {
                let hint = format!("each one is written under its own `[[{name}]]`");
                let message = format!(
                    "`{name}` must be a list of tables, not {}",
                    written(value.get_ref())
                );
                self.problem(value.span(), message, Some(hint));
            }
            ("array", _) => self.wrong(name, "a list of strings", value),
            _ => self.wrong(name, "a table", value),
        }
    }

    fn integer(&mut self, schema: &Json, name: &str, number: &DeInteger<'_>, at: Range<usize>) {
        let read = i128::from_str_radix(number.as_str(), number.radix()).unwrap_or(i128::MAX);
        let least = schema["minimum"]
            .as_i64()
            .map_or(i128::from(i64::MIN), i128::from);
        let most = match schema["format"].as_str() {
            Some("uint32") => i128::from(u32::MAX),
            _ => i128::from(i64::MAX),
        };
        if read < least {
            self.problem(at, format!("`{name}` must be at least {least}"), None);
        } else if read > most {
            self.problem(at, format!("`{name}` must be at most {most}"), None);
        }
    }

    fn wrong(&mut self, name: &str, wanted: &str, value: &Spanned<DeValue<'_>>) {
        let found = written(value.get_ref());
        self.problem(
            value.span(),
            format!("`{name}` must be {wanted}, not {found}"),
            None,
        );
    }
}

/// The one type a schema asks for (an optional value's `null` cannot be written in TOML).
fn kind(schema: &Json) -> &str {
    match &schema["type"] {
        Json::String(one) => one,
        Json::Array(several) => several
            .iter()
            .filter_map(Json::as_str)
            .find(|name| *name != "null")
            .unwrap_or(""),
        _ => "",
    }
}

fn written(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date (write it in quotes)",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
