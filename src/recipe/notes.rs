//! What a recipe says of release notes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::notes::Kind;

/// How release notes are read, where files and headings do not tell it by themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NotesRecipe {
    /// More files that hold release notes, as globs over whole paths.
    pub files: Vec<String>,
    /// Headings (or types of fragments) and what they mean, where the known words do not tell it.
    #[serde(rename = "heading")]
    pub headings: Vec<HeadingRecipe>,
}

impl NotesRecipe {
    /// Whether it says nothing.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a heading means.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadingRecipe {
    /// Words that the heading holds, whatever their case; of several that fit, the longest count.
    pub words: String,
    /// The kind of what stands below it.
    pub kind: Kind,
}
