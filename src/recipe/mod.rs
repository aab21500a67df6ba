//! Recipes: `filters/*.toml` → a validated [`Recipe`](model::Recipe).
pub mod model;
pub mod shipped;

pub use shipped::SHIPPED;
