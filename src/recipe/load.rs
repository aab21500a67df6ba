//! From a file's text to a recipe, or to every problem in it.

use std::path::Path;

use toml::de::DeTable;

use super::diagnostic::{Problem, RecipeError, Source};
use super::model::Recipe;
use super::schema::schema;
use super::shape::Shape;
use super::{meaning, schema};
use crate::domain::hash::sha256_hex;

/// A recipe that has been checked, with its hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedRecipe {
    /// The recipe.
    pub recipe: Recipe,
    /// The file as the caller named it. Never goes into a manifest.
    pub file: String,
    /// SHA-256 of the recipe's canonical form: what it says, with every default filled in. Comments, order of keys
    /// and layout do not change it.
    pub hash: String,
    /// The file's text, comments and all: it goes into the manifest.
    pub text: String,
    /// SHA-256 of the file's bytes.
    pub text_hash: String,
}

/// Reads and checks the recipe in a file.
///
/// # Errors
/// When the file cannot be read or is no valid recipe; then with every problem in it.
pub fn load(path: &Path) -> Result<LoadedRecipe, RecipeError> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|cause| RecipeError::Read {
        file: file.clone(),
        cause,
    })?;
    let text = String::from_utf8(bytes).map_err(|error| RecipeError::NotText {
        file: file.clone(),
        offset: error.utf8_error().valid_up_to(),
    })?;
    parse(&file, &text)
}

/// Checks a recipe's text; `file` is the name that problems show.
///
/// # Errors
/// Every problem in the text, in its order.
pub fn parse(file: &str, text: &str) -> Result<LoadedRecipe, RecipeError> {
    let source = Source { file, text };
    let invalid = |problems: Vec<Problem>| RecipeError::Invalid {
        file: file.to_owned(),
        problems,
    };
    let (tree, syntax) = DeTable::parse_recoverable(text);
    if !syntax.is_empty() {
        return Err(invalid(
            syntax.iter().map(|error| toml_problem(source, error)).collect(),
        ));
    }
    let mut problems = Shape::problems(schema(), source, &tree);
    problems.extend(meaning::problems(source, &tree));
    if !problems.is_empty() {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems.dedup();
        return Err(invalid(problems));
    }
    let recipe: Recipe = toml::from_str(text).map_err(|error| invalid(vec![toml_problem(source, &error)]))?;
    let hash = canonical_hash(&recipe);
    Ok(LoadedRecipe {
        recipe,
        file: file.to_owned(),
        hash,
        text: text.to_owned(),
        text_hash: sha256_hex(text.as_bytes()),
    })
}

/// SHA-256 of a recipe's canonical form: its JSON with every default filled in.
pub fn canonical_hash(recipe: &Recipe) -> String {
    crate::domain::hash::KeyHasher::new("recipe", schema::VERSION)
        .json("recipe", recipe)
        .finish()
}

fn toml_problem(source: Source<'_>, error: &toml::de::Error) -> Problem {
    let mut lines = error.message().lines();
    let message = lines.next().unwrap_or("this is no TOML").to_owned();
    let hint = lines.next().map(str::to_owned);
    source.problem(error.span().unwrap_or(0..0), message, hint)
}
