//! The words of detection: what it is given, what it proposes, and where each line of that comes from.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::path::RepoPath;
use crate::domain::settings::Place;
use crate::recipe::model::{EnvironmentRecipe, Runner};

/// A tree at a commit: which files it has, and what is in them.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// Every file's path.
    pub paths: &'a BTreeSet<RepoPath>,
    /// A file's bytes; `None` when it is not there.
    pub read: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

impl<'a> Tree<'a> {
    /// A file as text, wrong bytes replaced, without a byte order mark.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let bytes = (self.read)(path)?;
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_start_matches('\u{feff}').to_owned())
    }

    /// Whether the tree has this file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(&RepoPath::from(path))
    }

    /// Every path that is text, in order.
    pub(super) fn names_of(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.paths.iter().filter_map(RepoPath::to_str)
    }
}

/// Where one line of a proposal comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// The line, as in the proposal: `python 3.11`, `install -e .[test]`, `env A=1`.
    pub what: String,
    /// Where it stands; absent for a rule of Quarry's own.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Why it is proposed.
    pub why: String,
}

/// An interpreter worth trying, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Major and minor (`3.11`).
    pub python: String,
    /// Who says so.
    pub because: Vec<Origin>,
}

/// A way to make an environment for the tests, and to run them in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// What a builder follows.
    pub environment: EnvironmentRecipe,
    /// What runs the tests.
    pub runner: Runner,
    /// Its arguments, before the selection.
    pub args: Vec<String>,
    /// What nothing but the tests' own requirements ask for, by normalised names: the project does without.
    pub optional: BTreeSet<String>,
    /// Packages of the operating system (Debian's names) that the project's own automation installs.
    pub system_packages: Vec<String>,
    /// What the project's build needs (`build-system.requires`, `setup_requires`).
    pub build_requirements: Vec<String>,
    /// Where each line of it comes from.
    pub because: Vec<Origin>,
}

/// The kinds of facts that no proposal carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactKind {
    /// An interpreter that the project names.
    Python,
    /// A service that the project's automation starts for its tests (a database).
    Service,
    /// A package of the operating system.
    SystemPackage,
    /// A way to run tests that is none of pytest's or unittest's own.
    Runner,
    /// A set of requirements that the project names.
    Requirements,
    /// A requirement of the build.
    Build,
}

/// Something the tree says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Found {
    /// What kind of thing.
    pub kind: FactKind,
    /// The thing: `postgres:15`, `libxml2-dev`, `tests/runtests.py`.
    pub value: String,
    /// Where it stands.
    pub place: Place,
    /// What it means here.
    pub why: String,
}

/// Everything that detection has to say of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Detected {
    /// Interpreters in the order to try them.
    pub interpreters: Vec<Choice>,
    /// At most [`MOST`] ways, the most promising first.
    pub proposals: Vec<Proposal>,
    /// What else the tree says.
    pub facts: Vec<Found>,
    /// What was asked for and is not proposed, and why.
    pub notes: Vec<String>,
    /// Every requirement that the packaging files name, with the set it is in: two trees that agree in these and in their
    /// proposals ask for the same.
    #[serde(skip)]
    pub asked: Vec<String>,
}

/// How many proposals there are at most.
pub const MOST: usize = 8;
