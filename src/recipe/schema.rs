//! The JSON Schema of recipes, generated from their types. `filters/schema.json` is its committed copy, for editors.

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::model::Recipe;

/// The version of the recipe format; it is part of every recipe's hash.
pub const VERSION: u32 = 1;

static SCHEMA: LazyLock<Json> = LazyLock::new(|| schemars::schema_for!(Recipe).to_value());

/// The schema.
pub fn schema() -> &'static Json {
    &SCHEMA
}

/// The schema as the bytes of `filters/schema.json`.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_current() {
        let committed = include_str!("../../filters/schema.json");
        assert!(
            committed == super::schema_text(),
            "filters/schema.json is not what the types say; write it anew with `quarry check --schema > filters/schema.json`"
        );
    }
}
