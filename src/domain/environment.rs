//! An environment: an interpreter and locked dependencies, as of a date.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::BlobId;

/// A built environment, described without any path or host of the machine that built it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Hash of interpreter, lock and layout: two candidates with the same key share it.
    pub key: String,
    /// The recipe's name for it.
    pub name: String,
    /// The interpreter's full version (`3.11.7`).
    pub interpreter: String,
    /// Dependencies are those an index had before this moment.
    #[schemars(with = "String")]
    pub exclude_newer: Timestamp,
    /// The lock file's bytes: every distribution with its version and hashes; no index and no host.
    pub lock: BlobId,
    /// The resolver and its version (`uv 0.13.9`).
    pub resolver: String,
    /// Constraints laid over the resolution, each with its reason.
    pub constraints: Vec<Constraint>,
    /// Distributions that may be newer than that, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newer: Vec<Newer>,
    /// Distributions that the tests ask for and that were left out, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The packaging files that were read as the pull request leaves them; `None` when all were the base commit's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements_after: Option<RequirementsAfter>,
}

/// How an environment is installed beside its lock, and how tests are started in it: what another harness needs to do the
/// same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Install lines in pip's language (`-e .[socks]`, `-r requirements/tests.txt`); what they ask of an index is in the lock.
    pub install: Vec<String>,
    /// The runner: `pytest`, `unittest` or `script`.
    pub runner: String,
    /// Its arguments, before the tests.
    pub args: Vec<String>,
    /// Environment variables of a test run, beside the room's own.
    pub variables: BTreeMap<String, String>,
}

/// A constraint on the resolution and why it is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    /// A PEP 508 requirement (`werkzeug<3`).
    pub requirement: String,
    /// Why it is needed.
    pub reason: String,
}

/// A distribution that may be newer than the base commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Newer {
    /// Its name.
    pub distribution: String,
    /// The moment before which an index must have had it (`2024-01-31T00:00:00Z`).
    pub until: String,
    /// Why.
    pub reason: String,
}

/// Packaging files (requirement files, `pyproject.toml`, `tox.ini` …) that dependencies were resolved from as the pull
/// request leaves them. The project itself is installed from the base commit's tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequirementsAfter {
    /// Those files, by their paths in the tree.
    pub files: Vec<String>,
    /// Why.
    pub reason: String,
}

/// A distribution that is left out of an environment although it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Its name.
    pub distribution: String,
    /// Why.
    pub reason: String,
}

/// Where build tools look for the version of any package, where version control cannot tell it: the tool that does, and the
/// variable (the tools' own documentation).
pub const VERSION_VARIABLES: [(&str, &str); 6] = [
    ("pdm-backend", "PDM_BUILD_SCM_VERSION"),
    ("setuptools-scm", "SETUPTOOLS_SCM_PRETEND_VERSION"),
    ("hatch-vcs", "SETUPTOOLS_SCM_PRETEND_VERSION"),
    ("pbr", "PBR_VERSION"),
    ("uv-dynamic-versioning", "UV_DYNAMIC_VERSIONING_BYPASS"),
    ("poetry-dynamic-versioning", "POETRY_DYNAMIC_VERSIONING_BYPASS"),
];
