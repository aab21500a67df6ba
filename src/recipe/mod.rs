//! Recipes: `filters/*.toml` → a validated [`Recipe`](model::Recipe).
pub mod model;
