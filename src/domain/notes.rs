//! What release notes tell: kinds of changes, and what is told of a pull request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of change an entry tells of.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Something new.
    Feature,
    /// Something that is better than before.
    Enhancement,
    /// A new message of a checker (pylint).
    NewCheck,
    /// A new optional part (pylint).
    Extension,
    /// Something faster, or smaller.
    Performance,
    /// A fault that is gone.
    Fix,
    /// A fault that others could use.
    Security,
    /// Something that users will have to leave.
    Deprecation,
    /// Something that is gone.
    Removal,
    /// Something that users must follow.
    Breaking,
    /// A change under a heading that says no more than that.
    Change,
    /// Documentation.
    Documentation,
    /// Dependencies, packaging.
    Dependencies,
    /// What users do not see.
    Internal,
    /// The notes do not say.
    #[default]
    Unknown,
}

impl Kind {
    /// Every kind, in the order of this list.
    pub const ALL: [Self; 15] = [
        Self::Feature,
        Self::Enhancement,
        Self::NewCheck,
        Self::Extension,
        Self::Performance,
        Self::Fix,
        Self::Security,
        Self::Deprecation,
        Self::Removal,
        Self::Breaking,
        Self::Change,
        Self::Documentation,
        Self::Dependencies,
        Self::Internal,
        Self::Unknown,
    ];

    /// Its name in recipes, facts and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Enhancement => "enhancement",
            Self::NewCheck => "new-check",
            Self::Extension => "extension",
            Self::Performance => "performance",
            Self::Fix => "fix",
            Self::Security => "security",
            Self::Deprecation => "deprecation",
            Self::Removal => "removal",
            Self::Breaking => "breaking",
            Self::Change => "change",
            Self::Documentation => "documentation",
            Self::Dependencies => "dependencies",
            Self::Internal => "internal",
            Self::Unknown => "unknown",
        }
    }

    /// Whether it adds to what users can do: what Doc2Feat-Bench's release notes call features, improvements,
    /// enhancements, new checks and extensions (section 2.1.1).
    pub const fn is_feature(self) -> bool {
        matches!(
            self,
            Self::Feature | Self::Enhancement | Self::NewCheck | Self::Extension
        )
    }
}

/// What an entry of the release notes tells of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Note {
    /// The version that it is told under; empty where the notes do not say.
    pub version: String,
    /// What kind of change it is.
    pub kind: Kind,
    /// The headings that it stands under, joined by ` > `.
    pub section: String,
    /// Its words.
    pub text: String,
    /// The best thing that shows that it is about this pull request: `named`, `fragment`, `line`, `api`, `closes`,
    /// `mentions`.
    pub evidence: String,
}
