//! What release notes say, whatever they are written in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::domain::notes::Kind;
use crate::domain::path::RepoPath;

/// One thing that release notes tell of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The version as written, without a leading `v`; `unreleased` where the notes say so; `None` above every version.
    pub version: Option<String>,
    /// When that version was released, as far as the notes tell: `YYYY-MM-DD` or `YYYY-MM`.
    pub date: Option<String>,
    /// The headings between the version's and the entry, outermost first.
    pub section: Vec<String>,
    /// What kind of change it is: by its badge, by the type of its fragment, or by the innermost heading that tells.
    pub kind: Kind,
    /// The words as written, without the list's mark and indentation.
    pub text: String,
    /// Every issue and pull request it names, in order, each once.
    pub references: Vec<Reference>,
    /// People it credits, as written, in order.
    pub authors: Vec<String>,
    /// Where it stands.
    pub place: Place,
}

/// An issue or a pull request that an entry names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// `owner/name` (or `bitbucket`) where the entry names another place than its own repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The number.
    pub number: u32,
    /// What the entry says it is. Towncrier writes `issues` into every address, so only git or the API knows.
    pub kind: ReferenceKind,
    /// The words as written.
    pub text: String,
}

/// What a number is, by the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceKind {
    /// An issue.
    Issue,
    /// A pull request.
    Pull,
    /// The words do not say.
    Unknown,
}

/// Where an entry stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file; for the text of a release on a forge, its tag.
    pub file: RepoPath,
    /// Its first line, from 1.
    pub line: u32,
    /// Its last line.
    pub last: u32,
    /// What the file is written in.
    pub format: Format,
}

/// What release notes are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// reStructuredText, and plain text of its kind.
    Rst,
    /// Markdown.
    Markdown,
    /// One file an entry, named for an issue or a pull request and a type: towncrier and its kin.
    Fragment,
    /// The text of a release on a forge.
    Release,
}

impl Format {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rst => "rst",
            Self::Markdown => "markdown",
            Self::Fragment => "fragment",
            Self::Release => "release",
        }
    }
}
