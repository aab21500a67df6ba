//! One row of `instances.jsonl`.
//!
//! Fields that mean the same as SWE-bench's carry its names and come first. Lists are JSON lists: SWE-bench's harness
//! takes `FAIL_TO_PASS` as a list and as a text that holds one. No field is ever left out, so that every row has the
//! same columns; what a source cannot know is `null`. Rows that were imported ([`super::import`]) know nothing of how a
//! change reached its branch ([`Instance::merge_base`] to [`Instance::merged_at`]) and of no environment
//! ([`Instance::interpreter`] to [`Instance::exclude_newer`]); all others do.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::base64;
use crate::domain::candidate::MergeKind;
use crate::domain::environment::Setup;
use crate::domain::ids::{BlobId, CommitSha, InstanceId, RepoName, TestId};
use crate::domain::oracle::{FlakyTest, NullRun, OrderDependentTest, RanScope};
use crate::domain::outcome::TestStatus;
use crate::domain::patch::{ChangeKind, Part};
use crate::domain::path::RepoPath;
use crate::domain::strength::Strength;

/// A task with its solution and its oracle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// `owner__name-N`.
    pub instance_id: InstanceId,
    /// `owner/name`.
    pub repo: RepoName,
    /// The commit that the patches apply on, and that tests run on.
    pub base_commit: CommitSha,
    /// The gold patch: the source part of the diff (see `base64_fields`).
    pub patch: String,
    /// The tests' part of the diff (see `base64_fields`).
    pub test_patch: String,
    /// What is asked, from where the recipe says; `null` while that is unknown.
    pub problem_statement: Option<String>,
    /// What was said under the issues before the work began (before the pull request's first commit was written, and before it
    /// was opened), oldest first; `null` while that is unknown.
    pub hints_text: Option<String>,
    /// When the pull request was opened (as in SWE-bench), where the forge was asked; else the author date of its first
    /// commit, or `merged_at` when there is none.
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// `MAJOR.MINOR` of the nearest release tag below `base_commit`; `null` when there is none of that form.
    pub version: Option<String>,
    /// Tests that passed in no run before the gold patch and in every run after it.
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: Vec<TestId>,
    /// Tests that passed in every run on both sides.
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: Vec<TestId>,
    /// Tests that passed in every run before the gold patch and in none after it.
    #[serde(rename = "PASS_TO_FAIL")]
    pub pass_to_fail: Vec<TestId>,
    /// Tests whose outcome varied between runs of one side, with how often they passed: in no list above.
    pub flaky: Vec<FlakyTest>,
    /// Tests that a random order, or a run without the others, changed: in no list above.
    pub order_dependent: Vec<OrderDependentTest>,
    /// What that order was made of; `null` when there was no run in one.
    pub order_seed: Option<String>,
    /// Tests that the runner does not select by their ids: in no list above.
    pub not_addressable: Vec<TestId>,
    /// Tests of any list that, in some run, did not pass and said that there is no network.
    pub needs_network: Vec<TestId>,
    /// Tests of any list that, in some run, did not pass and said that a date is not what it was.
    pub needs_clock: Vec<TestId>,
    /// What was run.
    pub scope: RanScope,
    /// What the side before gold showed against itself; `null` when the recipe does not ask.
    pub aa: Option<NullRun>,
    /// What of the gold patch `FAIL_TO_PASS` runs and notices; `null` when the recipe does not ask.
    pub strength: Option<Strength>,
    /// How each test of `FAIL_TO_PASS` looked before the gold patch, in that list's order.
    pub before_gold: Vec<TestStatus>,
    /// Runs before the gold patch, in collection order.
    pub runs_before: u32,
    /// Runs after it, in collection order.
    pub runs_after: u32,
    /// The pull request's number.
    pub pull_number: u32,
    /// Its title, when git or the forge tells it.
    pub title: Option<String>,
    /// The documentation's part of the diff (see `base64_fields`).
    pub docs_patch: String,
    /// The rest of the diff (see `base64_fields`).
    pub other_patch: String,
    /// Which of the four patches are not UTF-8 and therefore stand here as base64 of their bytes.
    pub base64_fields: Vec<PatchField>,
    /// Every file of the diff with the part that it went into, in the diff's order.
    pub splits: Vec<SplitFile>,
    /// Where the diff starts: the merge base of `base_commit` and the pull request's head.
    pub merge_base: Option<CommitSha>,
    /// The commit that brought the change to the branch.
    pub merge_commit: Option<CommitSha>,
    /// How the change reached the branch.
    pub merge_kind: Option<MergeKind>,
    /// The branch.
    pub merge_branch: Option<String>,
    /// When it did: the committer date of `merge_commit`.
    #[schemars(with = "Option<String>")]
    pub merged_at: Option<Timestamp>,
    /// Issues that it refers to, and where.
    pub issue_references: Vec<Reference>,
    /// The interpreter's full version.
    pub interpreter: Option<String>,
    /// The environment's key in the manifest.
    pub environment: Option<String>,
    /// The environment's lock, as `locks/<lock>.txt`.
    pub lock: Option<BlobId>,
    /// Dependencies are those an index had before this moment.
    #[schemars(with = "Option<String>")]
    pub exclude_newer: Option<Timestamp>,
    /// How the environment is installed beside its lock, and how tests are started.
    #[serde(default)]
    pub setup: Setup,
}

/// The fields that hold patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatchField {
    /// The gold patch.
    Patch,
    /// The tests.
    TestPatch,
    /// The documentation.
    DocsPatch,
    /// The rest.
    OtherPatch,
}

impl PatchField {
    /// Each field with the part that it holds.
    pub const ALL: [(Self, Part); 4] = [
        (Self::Patch, Part::Gold),
        (Self::TestPatch, Part::Test),
        (Self::DocsPatch, Part::Docs),
        (Self::OtherPatch, Part::Other),
    ];

    /// The field's name in the row.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::TestPatch => "test_patch",
            Self::DocsPatch => "docs_patch",
            Self::OtherPatch => "other_patch",
        }
    }
}

/// A file of the diff, and its part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitFile {
    /// The path after the change (before it, for a deletion); one that is not UTF-8 is written as git quotes it.
    pub path: RepoPath,
    /// The path before a rename, else `null`.
    pub old_path: Option<RepoPath>,
    /// What the diff does to it.
    pub change: ChangeKind,
    /// The part that it went into; `null` when the split leaves it out (SWE-bench's does so with what is neither test
    /// nor Python).
    pub part: Option<Part>,
}

/// A reference to an issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// `owner/name`: another repository when the text names one, else this one.
    pub repo: String,
    /// The number.
    pub number: u32,
    /// Whether a close/fix/resolve keyword stands before it.
    pub closes: bool,
    /// Where it was read: `title`, `body`, `merge-message`, `commit-message`, or `linked` (the forge's own link).
    pub found_in: String,
    /// The commit, for a commit message.
    pub commit: Option<CommitSha>,
    /// The words as written.
    pub text: String,
}

impl Instance {
    /// The environment's key in the manifest; empty where none is known.
    pub fn environment_key(&self) -> &str {
        self.environment.as_deref().unwrap_or_default()
    }

    /// A patch's field, as it stands in the row.
    pub fn field(&self, field: PatchField) -> &str {
        match field {
            PatchField::Patch => &self.patch,
            PatchField::TestPatch => &self.test_patch,
            PatchField::DocsPatch => &self.docs_patch,
            PatchField::OtherPatch => &self.other_patch,
        }
    }

    /// A patch's own bytes; `None` when its encoding is not the right one.
    pub fn patch_bytes(&self, field: PatchField) -> Option<Vec<u8>> {
        let text = self.field(field);
        if self.base64_fields.contains(&field) {
            base64::decode(text).filter(|bytes| std::str::from_utf8(bytes).is_err())
        } else {
            Some(text.as_bytes().to_vec())
        }
    }
}
