//! Variants of a repository: which are made, and what goes and what stays in each.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::domain::variant::Variant;

/// Which rule is followed.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Code-QA-Bench's published rule (section 3.2), to the letter where the letter leaves a valid file.
    Paper,
    /// The same intent, and the repository still builds and runs.
    #[default]
    Safe,
}

/// Comments that a tool reads and that go unless they are asked to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// `# type: ignore`, `# pyright: …`, `# mypy: …`.
    TypeIgnore,
    /// `# noqa`, `# flake8: noqa`, `# ruff: noqa`, `# nosec`.
    Noqa,
    /// `# pylint: …`.
    Pylint,
    /// `# pragma: …`: without it, coverage differs.
    Pragma,
    /// `# fmt: …`, `# yapf: …`, `# isort: …`.
    Formatter,
    /// A run of comment lines that speaks of copyright or a licence.
    Licence,
}

/// What stays unless it is asked to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Remove {
    /// A string after an assignment, which documents the attribute.
    AttributeDocstrings,
    /// Any other statement that is a string and nothing else.
    StringStatements,
    /// `# type: int`: annotations in comments (PEP 484).
    TypeComments,
    /// `# /// script` blocks (PEP 723).
    ScriptMetadata,
    /// `# cython: …` and `# distutils: …`.
    CythonDirectives,
}

/// What becomes of docstrings that the program reads.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DocstringsAsCode {
    /// As the mode says: PLY's stay in safe mode, none in paper mode.
    #[default]
    ByMode,
    /// PLY's grammar rules and token patterns stay; the rest goes, and is reported.
    Ply,
    /// All that are known to be read stay.
    Keep,
    /// All go, and are reported.
    Remove,
}

/// How a stripped file is proven before it is written.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Its tokens are the original's, apart from whole statements that are strings; a full comparison where that
    /// does not decide.
    #[default]
    Tokens,
    /// It is parsed again: the same tree apart from docstrings and inserted `pass`, and nothing left to strip.
    Tree,
    /// It is not.
    None,
}

/// The settings of one variant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Which rule is followed.
    pub mode: Mode,
    /// Every statement keeps its line.
    pub keep_lines: bool,
    /// Comments that stay.
    pub keep: BTreeSet<Keep>,
    /// What goes, too.
    pub remove: BTreeSet<Remove>,
    /// Docstrings that the program reads.
    pub docstrings_as_code: DocstringsAsCode,
    /// Files that do not parse (Python 2) are stripped all the same, as far as their tokens prove it sound.
    pub python2: bool,
    /// How each file is proven.
    pub check: Check,
}

impl Policy {
    /// What becomes of docstrings that the program reads.
    pub fn code_docstrings(&self) -> DocstringsAsCode {
        match (self.docstrings_as_code, self.mode) {
            (DocstringsAsCode::ByMode, Mode::Paper) => DocstringsAsCode::Remove,
            (DocstringsAsCode::ByMode, Mode::Safe) => DocstringsAsCode::Ply,
            (said, _) => said,
        }
    }

    /// Whether a category of comments stays.
    pub fn keeps(&self, kind: Keep) -> bool {
        self.keep.contains(&kind)
    }

    /// Whether a category goes that stays by default.
    pub fn removes(&self, kind: Remove) -> bool {
        self.remove.contains(&kind)
    }
}
