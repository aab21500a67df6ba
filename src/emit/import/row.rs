//! A row's columns as an instance: what it says, and `null` for what it cannot.

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::published::Columns;
use crate::domain::diff::file_changes;
use crate::domain::environment::Setup;
use crate::domain::ids::{CandidateId, CommitSha, InstanceId, RepoName, TestId};
use crate::domain::oracle::RanScope;
use crate::domain::patch::Part;
use crate::emit::instance::{Instance, SplitFile};
use crate::emit::patches;

/// The columns that mean something here.
pub const KNOWN: [&str; 11] = [
    "FAIL_TO_PASS",
    "PASS_TO_PASS",
    "base_commit",
    "created_at",
    "hints_text",
    "instance_id",
    "patch",
    "problem_statement",
    "repo",
    "test_patch",
    "version",
];
/// The fields of an instance that no published row tells.
pub const UNTOLD: [&str; 26] = [
    "PASS_TO_FAIL",
    "aa",
    "base64_fields",
    "before_gold",
    "docs_patch",
    "environment",
    "exclude_newer",
    "interpreter",
    "issue_references",
    "lock",
    "merge_base",
    "merge_branch",
    "merge_commit",
    "merge_kind",
    "merged_at",
    "needs_clock",
    "needs_network",
    "order_seed",
    "other_patch",
    "runs_after",
    "runs_before",
    "scope",
    "setup",
    "splits",
    "strength",
    "title",
];
/// A patch that is none.
pub const BAD_PATCH: &str = "mine-import-patch";
/// No gold patch at all.
pub const NO_GOLD: &str = "mine-import-no-gold";
/// No test that must go from fail to pass.
pub const NO_FAIL_TO_PASS: &str = "mine-import-no-fail-to-pass";
/// An id that an earlier row has.
pub const DUPLICATE: &str = "mine-import-duplicate";

/// A row that says what it must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The pull request.
    pub candidate: CandidateId,
    /// What it becomes.
    pub instance: Instance,
    /// Names of tests that it gives twice in one list.
    pub repeated: u64,
}

/// What is wrong with a row: its column, and what that must be.
fn must(column: &str, what: &str) -> String {
    format!("its `{column}` must be {what}")
}

fn decoded<T: DeserializeOwned>(columns: &Columns, name: &str, what: &str) -> Result<Option<T>, String> {
    let read = |json| serde_json::from_str(json).map_err(|_| must(name, what));
    columns.get(name).map(read).transpose()
}

fn text(columns: &Columns, name: &str) -> Result<Option<String>, String> {
    decoded(columns, name, "a text")
}

fn needed(columns: &Columns, name: &str) -> Result<String, String> {
    text(columns, name)?.ok_or_else(|| format!("it has no `{name}`"))
}

/// A list of tests, sorted, with how many names were there twice: a JSON list, or a text that holds one.
fn tests(columns: &Columns, name: &str) -> Result<(Vec<TestId>, u64), String> {
    let what = "a list of test ids, or a text that holds a JSON list";
    let json = columns.get(name).ok_or_else(|| format!("it has no `{name}`"))?;
    let held = serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned());
    let mut tests: Vec<TestId> = serde_json::from_str(&held).map_err(|_| must(name, what))?;
    let given = tests.len();
    tests.sort();
    tests.dedup();
    let repeated = given - tests.len();
    Ok((tests, repeated as u64))
}

fn moment(text: &str) -> Option<Timestamp> {
    // A moment without a zone is one in UTC.
    let utc = |text: &str| jiff::tz::TimeZone::UTC.to_timestamp(text.parse().ok()?).ok();
    text.parse().ok().or_else(|| utc(text))
}

/// The number in `owner__name-N`, where the id is one of this repository's.
fn number(id: &str, repo: &RepoName) -> Option<u32> {
    let (flat, number) = id.rsplit_once('-')?;
    let number: u32 = number
        .parse()
        .ok()
        .filter(|known: &u32| known.to_string() == number)?;
    flat.eq_ignore_ascii_case(&repo.flat()).then_some(number)
}

fn splits(patch: &str, part: Part) -> impl Iterator<Item = SplitFile> {
    let files = file_changes(patch.as_bytes()).into_iter();
    files.map(move |file| SplitFile {
        path: file.path,
        old_path: file.old_path,
        change: file.change,
        part: Some(part),
    })
}

/// Reads a row.
///
/// # Errors
/// A sentence for a row that is none: a column is missing or is not of its type.
pub fn take(columns: &Columns) -> Result<Taken, String> {
    let id = needed(columns, "instance_id")?;
    let repo: RepoName = needed(columns, "repo")?
        .parse()
        .map_err(|_| must("repo", "a repository such as `psf/requests`"))?;
    let number = number(&id, &repo).ok_or_else(|| {
        let what = format!("`{}-N`, as its `repo` says, and is `{id}`", repo.flat());
        must("instance_id", &what)
    })?;
    let base_commit: CommitSha = needed(columns, "base_commit")?
        .parse()
        .map_err(|_| must("base_commit", "a commit of 40 hex digits"))?;
    let created_at = moment(&needed(columns, "created_at")?)
        .ok_or_else(|| must("created_at", "a moment such as `2023-01-31T12:00:00Z`, or a day"))?;
    let (patch, test_patch) = (needed(columns, "patch")?, needed(columns, "test_patch")?);
    let (fail_to_pass, once) = tests(columns, "FAIL_TO_PASS")?;
    let (pass_to_pass, twice) = tests(columns, "PASS_TO_PASS")?;
    let splits = splits(&patch, Part::Gold).chain(splits(&test_patch, Part::Test));
    Ok(Taken {
        repeated: once + twice,
        candidate: CandidateId::pull(repo.clone(), number),
        instance: Instance {
            instance_id: InstanceId(id),
            base_commit,
            problem_statement: text(columns, "problem_statement")?,
            hints_text: text(columns, "hints_text")?,
            created_at,
            version: text(columns, "version")?,
            fail_to_pass,
            pass_to_pass,
            splits: splits.collect(),
            patch,
            test_patch,
            pull_number: number,
            repo,
            // From here on: nobody says.
            pass_to_fail: vec![],
            flaky: vec![],
            order_dependent: vec![],
            order_seed: None,
            not_addressable: vec![],
            needs_network: vec![],
            needs_clock: vec![],
            // What SWE-bench runs are the test files that the test patch touches.
            scope: RanScope::Modules,
            aa: None,
            strength: None,
            before_gold: vec![],
            runs_before: 0,
            runs_after: 0,
            title: None,
            docs_patch: String::new(),
            other_patch: String::new(),
            base64_fields: vec![],
            merge_base: None,
            merge_commit: None,
            merge_kind: None,
            merge_branch: None,
            merged_at: None,
            issue_references: vec![],
            interpreter: None,
            environment: None,
            lock: None,
            exclude_newer: None,
            setup: Setup::default(),
        },
    })
}

/// Why a row that says what it must is no task: the rule, and a sentence.
pub fn refusal(instance: &Instance) -> Option<(&'static str, String)> {
    for (name, patch) in [("patch", &instance.patch), ("test_patch", &instance.test_patch)] {
        if let Some(what) = patches::fault(patch.as_bytes()) {
            return Some((BAD_PATCH, format!("its `{name}` is no patch: {what}")));
        }
    }
    if instance.patch.is_empty() {
        return Some((NO_GOLD, "its `patch` is empty".to_owned()));
    }
    instance.fail_to_pass.is_empty().then(|| {
        let why = "its `FAIL_TO_PASS` is empty: no test tells a solution from the base";
        (NO_FAIL_TO_PASS, why.to_owned())
    })
}
