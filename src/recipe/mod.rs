//! Recipes: `filters/*.toml` → a validated [`Recipe`](model::Recipe).
//!
//! In: a file's text. Out: a [`LoadedRecipe`], or a [`RecipeError`] with *every* problem in it, each with file, line,
//! column, the line itself and what to do. What always holds of a loaded recipe: every key is known, ids are unique,
//! globs and versions parse, and every rule type-checks against the table of facts.
//!
//! | module | knows |
//! |---|---|
//! | [`model`] | the shape of a recipe |
//! | `shape` | first pass: keys and types, by the schema |
//! | `meaning` | second pass: names, days, globs, expressions |
//! | [`language`] | the rule language and its facts |
//! | [`load`](mod@load) | the passes in order, and the recipe's hash |
//! | [`diagnostic`] | problems and how they are shown |
//! | [`notes`] | how release notes are read |
//! | [`python`] | which interpreter an environment asks for |
//! | [`room`] | what a recipe asks of the rooms |
//! | [`schema`](mod@schema) | the JSON Schema of recipes |
//! | [`shipped`] | the recipes that come with the program |
//! | [`variants`] | variants of a repository, and how they are made |
//! | [`window`] | when a pull request must have been merged |
//! | `text` | from a TOML string's value back to the file |

pub mod diagnostic;
pub mod language;
pub mod load;
mod meaning;
pub mod model;
pub mod notes;
pub mod python;
pub mod room;
pub mod schema;
mod shape;
pub mod shipped;
mod text;
pub mod variants;
pub mod window;

#[cfg(test)]
mod tests;

pub use diagnostic::{Problem, RecipeError};
pub use load::{LoadedRecipe, load, parse};
pub(crate) use meaning::{is_kebab, is_version};
pub use shipped::SHIPPED;
pub use window::{WINDOW_RULE, Window};
