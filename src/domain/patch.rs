//! A diff's files, and the parts a split puts them in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::path::RepoPath;

/// What a diff does to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The file is new.
    Added,
    /// The file is gone.
    Deleted,
    /// Its content (or mode) differs.
    Modified,
    /// It has another path, and perhaps another content.
    Renamed,
    /// It became another kind of entry (file ↔ symlink ↔ submodule).
    TypeChanged,
}

/// What kind of entry the file is after the change (before it, for a deletion).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A regular file, executable or not.
    File,
    /// A symbolic link; its text is the target.
    Symlink,
    /// A commit of another repository.
    Submodule,
}

/// One file of a diff, as mining recorded it. The diff's bytes are in a blob; `start..end` is this file's
/// section there (from `diff --git` to just before the next one), so a part of a split can be cut out
/// without parsing the diff again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The path after the change (before it, for a deletion).
    pub path: RepoPath,
    /// The path before a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<RepoPath>,
    /// What the diff does to the file.
    pub change: ChangeKind,
    /// What kind of entry it is.
    pub entry: EntryKind,
    /// Whether git shows it as binary (then lines and hunks are 0 and the section holds a binary patch).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// Whether the file's mode changes (for example to executable).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mode_changed: bool,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// Hunks.
    pub hunks: u32,
    /// First byte of this file's section in the diff.
    pub start: u64,
    /// One past the last byte of this file's section in the diff.
    pub end: u64,
}

/// The parts of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Source: what a solution must write.
    Gold,
    /// Tests and their data: what judges a solution.
    Test,
    /// Documentation.
    Docs,
    /// Everything else (continuous integration, lock files, release notes …).
    Other,
}

impl Part {
    /// Every part, in the order they are written.
    pub const ALL: [Self; 4] = [Self::Gold, Self::Test, Self::Docs, Self::Other];

    /// The part's name in recipes, facts and manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::Test => "test",
            Self::Docs => "docs",
            Self::Other => "other",
        }
    }
}
