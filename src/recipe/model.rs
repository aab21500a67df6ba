//! A recipe's shape, as written in `filters/*.toml`. Unknown keys are errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::notes::NotesRecipe;
use super::room::RoomRecipe;
use super::variants::{Policy, Variant};
use crate::domain::environment::{Constraint, LeftOut, Newer, Setup};
use crate::domain::ids::{RepoName, RuleId};

/// A whole recipe: everything a dataset is made by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// What the dataset is called, and its version.
    pub dataset: Dataset,
    /// Where candidates come from.
    #[serde(default)]
    pub source: Source,
    /// How a diff is split into gold, test, docs and other.
    #[serde(default)]
    pub split: Split,
    /// How release notes are read.
    #[serde(default, skip_serializing_if = "NotesRecipe::is_default")]
    pub notes: NotesRecipe,
    /// The rules, in the order they are shown; cheap ones (git facts) run before anything is built.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
    /// How to install a repository where that is not to be found out; the first entry that matches a candidate is used.
    #[serde(default)]
    pub environment: Vec<EnvironmentRecipe>,
    /// How an environment is found where no entry matches.
    #[serde(default, skip_serializing_if = "Detection::is_default")]
    pub detection: Detection,
    /// What is asked of the rooms that installs and tests run in.
    #[serde(default, skip_serializing_if = "RoomRecipe::is_default")]
    pub room: RoomRecipe,
    /// How tests are run and judged.
    #[serde(default)]
    pub verification: Verification,
    /// What goes into the manifest.
    #[serde(default)]
    pub emission: Emission,
    /// Which variants of each instance's tree are made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// How the code-only variant is made.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strip: Policy,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls it with")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls it with")]
fn is_true(value: &bool) -> bool {
    *value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls it with")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_default(policy: &Policy) -> bool {
    *policy == Policy::default()
}

/// What the dataset is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// Lower-case words joined by `-`; the manifest's folder.
    pub name: String,
    /// `MAJOR.MINOR.PATCH`; a released version is never overwritten.
    pub version: String,
    /// One sentence for the manifest.
    #[serde(default)]
    pub description: String,
}

/// Where candidates come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Repositories the recipe is for; empty means any.
    #[serde(default)]
    pub repositories: Vec<RepoName>,
    /// Only pull requests merged on or after this day (`YYYY-MM-DD`, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_since: Option<String>,
    /// Only pull requests merged before this day (`YYYY-MM-DD`, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_before: Option<String>,
    /// What GitHub is asked beside git, for a repository that is named by `--repo` alone (or where `--enrich` says so).
    #[serde(default, skip_serializing_if = "Enrich::is_default")]
    pub enrich: Enrich,
}

/// Whom GitHub is asked about. Diffs always come from git.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Enrich {
    /// Pull requests that pass the rules on what git alone knows.
    #[default]
    Survivors,
    /// Every merged pull request.
    All,
    /// None: the repository's own facts alone.
    None,
}

impl Enrich {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls it with")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Source {
    /// Whether the recipe looks at this repository.
    pub fn admits(&self, repo: &RepoName) -> bool {
        self.repositories.is_empty() || self.repositories.iter().any(|known| known.is(repo))
    }
}

/// How a diff's files are put into parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Which rule decides.
    #[serde(default)]
    pub mode: SplitMode,
    /// More globs for tests, tried before the defaults (mode `paths`). Globs match whole paths.
    #[serde(default)]
    pub test: Vec<String>,
    /// More globs for documentation (mode `paths`).
    #[serde(default)]
    pub docs: Vec<String>,
    /// More globs for source (mode `paths`).
    #[serde(default)]
    pub gold: Vec<String>,
    /// More globs for everything else (mode `paths`).
    #[serde(default)]
    pub other: Vec<String>,
}

impl Default for Split {
    fn default() -> Self {
        Self {
            mode: SplitMode::Paths,
            test: vec![],
            docs: vec![],
            gold: vec![],
            other: vec![],
        }
    }
}

/// The ways to split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SplitMode {
    /// By path component and file name, never by substring.
    #[default]
    Paths,
    /// SWE-bench's published rule, exactly.
    Swebench,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Lower-case words joined by `-`, unique in the recipe.
    pub id: RuleId,
    /// A CEL expression over the documented facts; true keeps the candidate.
    pub keep: String,
    /// Why the rule exists, in a sentence.
    pub reason: String,
    /// Where it comes from (paper and section).
    pub source: String,
    /// What becomes of a candidate when the rule reads a fact that its source cannot know.
    #[serde(default)]
    pub undecided: Undecided,
}

/// What undecided means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Undecided {
    /// The candidate goes on.
    Keep,
    /// The candidate stops here.
    #[default]
    Drop,
}

/// How an environment is found for a candidate that no `[[environment]]` entry matches: what the repository says of
/// itself gives proposals, each is built and its tests are run on the base tree, and the one with most passing tests wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Detection {
    /// Whether environments are looked for at all; when not, a candidate without an entry is not built.
    pub enabled: bool,
    /// Proposals that are tried, at most.
    #[schemars(range(min = 1))]
    pub proposals: u32,
    /// Remedies tried for one proposal, at most.
    pub repairs: u32,
}

impl Default for Detection {
    fn default() -> Self {
        Self {
            enabled: true,
            proposals: 4,
            repairs: 10,
        }
    }
}

impl Detection {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How to install one repository (or a stretch of its history).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentRecipe {
    /// A name for logs and manifests.
    pub name: String,
    /// Why this is not left to detection.
    pub reason: String,
    /// The repository it is for; absent means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<RepoName>,
    /// A CEL condition over the git facts (`dates.base < timestamp('2024-01-01T00:00:00Z')`); absent means always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The interpreter: `3.11` (any 3.11), `3.11.7`, or comparisons that all hold: `>=3.9`, `>=3.9,<3.13`.
    pub python: String,
    /// Install lines in pip's language, one argument list a line: `-r requirements/tests.txt`, `-e .[socks]`,
    /// `pytest<7`. A local path is the repository itself and is installed without its dependencies, after the lock.
    #[serde(default)]
    pub install: Vec<String>,
    /// Constraints on the resolution, each with its reason.
    #[serde(default, rename = "constraint")]
    pub constraints: Vec<Constraint>,
    /// Distributions that may be newer than the base commit, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newer: Vec<Newer>,
    /// Distributions that are not installed although something asks for them (a client of a service that is not here,
    /// which nothing but its headers can build), each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Why dependencies are resolved from the packaging files (requirement files, `pyproject.toml`, `tox.ini` …) as the
    /// pull request leaves them: its tests need what it begins to ask for. Absent means the base commit's. Whatever it
    /// says, the project is installed from the base commit's tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements_after: Option<String>,
    /// More environment variables for test runs.
    #[serde(default)]
    pub env: std::collections::BTreeMap<String, String>,
    /// The runner, where it is another than `[verification]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Runner>,
    /// Arguments for the runner, in the place of those in `[verification]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
}

impl EnvironmentRecipe {
    /// How tests are run and judged in this environment: the dataset's settings, with its own runner.
    #[must_use]
    pub fn verification(&self, dataset: &Verification) -> Verification {
        let mut settings = dataset.clone();
        if let Some(runner) = self.runner {
            settings.runner = runner;
        }
        if let Some(args) = &self.args {
            settings.args.clone_from(args);
        }
        settings
    }

    /// What another harness needs to install it and to start tests in it.
    pub fn setup(&self, dataset: &Verification) -> Setup {
        let settings = self.verification(dataset);
        Setup {
            install: self.install.clone(),
            runner: settings.runner.name().to_owned(),
            args: settings.args,
            variables: self.env.clone(),
        }
    }
}

/// How tests are run and judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in a recipe"
)]
pub struct Verification {
    /// Which runner.
    pub runner: Runner,
    /// Arguments for the runner, before the selection.
    pub args: Vec<String>,
    /// What is run.
    pub scope: Scope,
    /// Runs on each side in collection order, at least 1; 3 by default.
    #[schemars(range(min = 1))]
    pub runs: u32,
    /// Whether each side is run once more in a random order, modules and classes kept together; a test that this shows
    /// to depend on the order is in no oracle.
    pub random_order: bool,
    /// Whether the side before gold is run as often again, against itself (an A/A run): what seems to change there is
    /// noise, is named, and is in no oracle.
    pub aa: bool,
    /// Whether the lines of gold that FAIL_TO_PASS run are measured, in one more run after gold; `true` by default.
    #[serde(skip_serializing_if = "is_true")]
    pub coverage: bool,
    /// How many of gold's hunks, at most, are left out in turn to see whether FAIL_TO_PASS notice: one run each; 0, the
    /// default, for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub ablation: u32,
    /// Wall-clock limit of one run, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_seconds: u64,
    /// Limit without any output or outcome, in seconds.
    #[schemars(range(min = 1))]
    pub silence_seconds: u64,
    /// Memory limit of one run, in MiB.
    #[schemars(range(min = 1))]
    pub memory_mb: u64,
    /// Process limit of one run.
    #[schemars(range(min = 1))]
    pub processes: u64,
    /// Limit on what one run prints, in MiB.
    #[schemars(range(min = 1))]
    pub output_mb: u64,
    /// Whether test runs may use the network; they may not by default.
    #[serde(skip_serializing_if = "is_false")]
    pub network: bool,
    /// Tries for an attempt that ends in an infra outcome.
    #[schemars(range(min = 1))]
    pub infra_tries: u32,
    /// What a module that cannot be collected before gold says of its tests.
    pub collection_error_before: BeforeGold,
    /// What a test unknown before gold counts as.
    pub absent_before: BeforeGold,
}

impl Default for Verification {
    fn default() -> Self {
        Self {
            runner: Runner::Pytest,
            args: ["-p", "no:cacheprovider", "-o", "addopts="]
                .map(str::to_owned)
                .to_vec(),
            scope: Scope::Modules,
            runs: 3,
            random_order: true,
            aa: false,
            coverage: true,
            ablation: 0,
            timeout_seconds: 900,
            silence_seconds: 300,
            memory_mb: 4096,
            processes: 512,
            output_mb: 64,
            network: false,
            infra_tries: 2,
            collection_error_before: BeforeGold::Fail,
            absent_before: BeforeGold::Exclude,
        }
    }
}

impl Verification {
    /// What one run depends on: how often an outside fault may be tried again, and what only an oracle's making asks, is no
    /// part of it.
    #[must_use]
    pub fn of_one_run(&self) -> Self {
        Self {
            infra_tries: 0,
            runs: 1,
            random_order: false,
            aa: false,
            coverage: true,
            ablation: 0,
            ..self.clone()
        }
    }
}

/// Test runners.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Runner {
    /// pytest 3 to 9.
    #[default]
    Pytest,
    /// The standard library's unittest.
    Unittest,
    /// A program of the project's own that runs tests of unittest: the first of `args` is a script of the tree
    /// (`tests/runtests.py`, `manage.py`), or `-m` and a module's name (`django`); it takes tests' dotted names as arguments.
    Script,
}

impl Runner {
    /// Its name in recipes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Script => "script",
        }
    }
}

/// What a run selects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The test modules the test patch touches (SWE-bench).
    #[default]
    Modules,
    /// The whole suite (CTXbench).
    Suite,
}

/// Whether something seen before gold counts as a failure there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BeforeGold {
    /// It counts as "did not pass": the test may be FAIL_TO_PASS.
    Fail,
    /// The test is named, and in no oracle.
    Exclude,
}

/// What goes into the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Emission {
    /// Where `problem_statement` comes from.
    pub problem_statement: ProblemStatement,
}

/// Sources of a problem statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProblemStatement {
    /// The texts of the resolved issues; `null` while they are unknown.
    #[default]
    Issue,
    /// The pull request's title and its commits' messages: available from git alone, but they may describe the solution.
    Message,
    /// The documentation's part of the diff, each hunk with its section: for tasks that documentation tells. Beside the rows
    /// stands `docs.jsonl`, with the same statement masked, and with hints.
    Docs,
}
