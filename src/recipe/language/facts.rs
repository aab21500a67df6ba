//! The table of facts: everything a rule can see.
//!
//! A fact that a source cannot know is **unknown**, never empty. The two columns `git` and `rows` say what to expect
//! of a git mirror and of a row of a published dataset (SWE-bench's fields).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;

use super::types::{Field, Record, Type};
use crate::domain::notes::Kind;
use crate::domain::patch::Part;

/// When a fact becomes available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before anything is built: from git, or from a dataset's row.
    Git,
    /// After verification.
    Oracle,
}

impl Phase {
    /// The phase's name for readers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Git => "before building",
            Self::Oracle => "after verification",
        }
    }
}

/// Whether a source knows a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knows {
    /// Always known.
    Yes,
    /// Known where the source says it; else unknown.
    Sometimes,
    /// A list of which a part is known: what was found stands, what was not found may still exist.
    AtLeast,
    /// Never known from this source.
    No,
}

impl Knows {
    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Sometimes => "sometimes",
            Self::AtLeast => "at least",
            Self::No => "no",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Which fact.
    pub id: FactId,
    /// Its full name, `group.name`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// When it becomes available.
    pub phase: Phase,
    /// Whether a git mirror knows it.
    pub git: Knows,
    /// Whether a row of a published dataset knows it.
    pub rows: Knows,
    /// What it says.
    pub meaning: String,
}

/// A stretch of a diff that file facts are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One part of the split.
    Part(Part),
    /// The whole diff.
    Whole,
}

impl Scope {
    /// Every scope, in the table's order.
    pub const ALL: [Self; 5] = [
        Self::Part(Part::Gold),
        Self::Part(Part::Test),
        Self::Part(Part::Docs),
        Self::Part(Part::Other),
        Self::Whole,
    ];

    /// The group its facts are in.
    pub const fn group(self) -> &'static str {
        match self {
            Self::Part(part) => part.name(),
            Self::Whole => "patch",
        }
    }

    /// Whether a row of a published dataset knows these files: it says what is in its two patches, and nothing of the
    /// files that were left out of both.
    const fn in_rows(self) -> Knows {
        match self {
            Self::Part(Part::Gold | Part::Test) => Knows::Yes,
            Self::Part(Part::Docs) => Knows::Sometimes,
            Self::Part(Part::Other) | Self::Whole => Knows::No,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Part(Part::Gold) => "source files",
            Self::Part(Part::Test) => "test files",
            Self::Part(Part::Docs) => "documentation files",
            Self::Part(Part::Other) => "other files",
            Self::Whole => "all files of the diff",
        }
    }
}

macro_rules! facts {
    (
        files { $($file:ident $file_name:literal $file_type:expr, $file_meaning:literal;)+ }
        single { $($fact:ident $name:literal $type:expr, $phase:ident, $git:ident, $rows:ident, $meaning:literal;)+ }
    ) => {
        /// What is known of a scope's files.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FileFact {
            $(#[doc = $file_meaning] $file,)+
        }

        /// A fact's identity.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FactId {
            $(#[doc = $meaning] $fact,)+
            /// One of the facts that every part of the split and the whole diff have.
            Files(Scope, FileFact),
        }

        static TABLE: LazyLock<Vec<Fact>> = LazyLock::new(|| {
            let mut table = vec![$(Fact {
                id: FactId::$fact,
                name: $name.to_owned(),
                ty: $type,
                phase: Phase::$phase,
                git: Knows::$git,
                rows: Knows::$rows,
                meaning: $meaning.to_owned(),
            },)+];
            for scope in Scope::ALL {
                $(table.push(Fact {
                    id: FactId::Files(scope, FileFact::$file),
                    name: format!("{}.{}", scope.group(), $file_name),
                    ty: $file_type,
                    phase: Phase::Git,
                    git: Knows::Yes,
                    rows: scope.in_rows(),
                    meaning: format!("{}: {}", scope.words(), $file_meaning),
                });)+
            }
            table
        });
    };
}

facts! {
    files {
        Count "files" Type::Int, "how many";
        Paths "paths" Type::list(Type::String), "their paths (after the change; before it for a deleted file), in diff order";
        PythonFiles "python_files" Type::Int, "how many have a path that ends in `.py`";
        Suffixes "suffixes" Type::list(Type::String), "the file name extensions among them, without the dot, sorted, each once; `\"\"` for a name without";
        Added "added" Type::Int, "lines added";
        Removed "removed" Type::Int, "lines removed";
        Hunks "hunks" Type::Int, "hunks";
        NewFiles "new_files" Type::Int, "how many are new";
        DeletedFiles "deleted_files" Type::Int, "how many are deleted";
        RenamedFiles "renamed_files" Type::Int, "how many are renamed";
        BinaryFiles "binary_files" Type::Int, "how many are binary";
        Changes "changes" Type::list(Type::Record(&CHANGE)), "one record a file, in diff order";
    }
    single {
        PrNumber "pr.number" Type::Int, Git, Yes, Sometimes, "the pull request's number";
        PrMerged "pr.merged" Type::Bool, Git, Yes, No, "it was merged (mining yields merged ones only; a row does not say)";
        PrTitle "pr.title" Type::String, Git, Sometimes, No, "its title, where a merge or squash message tells it";
        PrBody "pr.body" Type::String, Git, No, No, "its description";
        PrAuthor "pr.author" Type::String, Git, No, No, "the account that opened it";
        PrLabels "pr.labels" Type::list(Type::String), Git, No, No, "its labels";
        PrMilestone "pr.milestone" Type::String, Git, No, No, "its milestone's title; `\"\"` when it has none";
        PrReview "pr.review" Type::Word(&REVIEWS), Git, No, No, "what its reviewers decided: `APPROVED`, `CHANGES_REQUESTED`, `REVIEW_REQUIRED`; `\"\"` when nobody had to";
        PrCommits "pr.commits" Type::Int, Git, Yes, No, "how many commits it has";
        PrSubjects "pr.subjects" Type::list(Type::String), Git, Sometimes, No, "the first lines of its commits' messages, oldest first (known when no commit was left out)";
        PrBranch "pr.branch" Type::String, Git, Yes, No, "the branch it was merged into";
        PrMergeKind "pr.merge_kind" Type::Word(&MERGES), Git, Yes, No, "how it was merged: `merge`, `squash`, `rebase` or `fast-forward`";
        PrIsRevert "pr.is_revert" Type::Bool, Git, Yes, No, "it undoes another change";
        PrIsBackport "pr.is_backport" Type::Bool, Git, Yes, No, "it carries a change from another branch (a backport or a cherry-pick)";
        PrRelease "pr.release" Type::String, Git, Yes, Sometimes, "the nearest release tag below its base, or the row's `version`; `\"\"` when there is none";
        IssuesResolved "issues.resolved" Type::list(Type::Int), Git, AtLeast, No, "numbers of the issues it says it closes (same repository), sorted";
        IssuesMentioned "issues.mentioned" Type::list(Type::Int), Git, AtLeast, No, "numbers of the issues it names at all (same repository), sorted";
        IssuesReferences "issues.references" Type::list(Type::Record(&REFERENCE)), Git, AtLeast, No, "every reference as written";
        IssuesTexts "issues.texts" Type::list(Type::String), Git, No, Sometimes, "the texts of the issues it closes (a row's `problem_statement`)";
        IssuesEditedLater "issues.edited_later" Type::Bool, Git, No, No, "the text of an issue it closes, or a comment that counts as a hint, was edited after work began: it is not what stood there then";
        RepoOwner "repo.owner" Type::String, Git, Yes, Sometimes, "the repository's account";
        RepoName "repo.name" Type::String, Git, Yes, Sometimes, "the repository's own name";
        RepoFull "repo.full" Type::String, Git, Yes, Sometimes, "the repository as `owner/name`";
        RepoStars "repo.stars" Type::Int, Git, No, No, "the repository's stars";
        RepoLanguage "repo.language" Type::String, Git, No, No, "the language that most of it is written in; `\"\"` when there is none";
        RepoLicence "repo.licence" Type::String, Git, No, No, "its licence as an SPDX id; `\"\"` when the forge knows none";
        RepoTopics "repo.topics" Type::list(Type::String), Git, No, No, "its topics, sorted";
        RepoArchived "repo.archived" Type::Bool, Git, No, No, "it is archived";
        RepoContextFiles "repo.context_files" Type::list(Type::String), Git, No, No, "files at its root today that instruct coding agents (`AGENTS.md`), sorted";
        DatesBase "dates.base" Type::Timestamp, Git, Yes, No, "when the base commit was made";
        DatesMerged "dates.merged" Type::Timestamp, Git, Yes, No, "when the merge landed";
        DatesCreated "dates.created" Type::Timestamp, Git, No, Sometimes, "when the pull request was opened (a row's `created_at`)";
        PatchApplies "patch.applies" Type::Bool, Git, Yes, No, "the whole diff applies to the base commit, byte for byte";
        PatchUtf8 "patch.utf8" Type::Bool, Git, Yes, No, "every byte of the diff is part of a UTF-8 text";
        DocsTextLines "docs.text_lines" Type::Int, Git, Yes, No, "lines of text that the documentation adds: of documents, cells of notebooks and pages of galleries; not of settings, requirements, styles, pictures or outputs, nor comments, tags, targets, versions, and directives with paths or options of layout alone, nor what only moved or got other quotes, roles, bullets, blanks, capitals or marks at the ends of words; a line that stood in a comment is added";
        PatchSubmodules "patch.submodules" Type::Int, Git, Yes, No, "how many files of the diff are submodules";
        PatchSymlinks "patch.symlinks" Type::Int, Git, Yes, No, "how many files of the diff are symbolic links";
        PatchModeChanges "patch.mode_changes" Type::Int, Git, Yes, No, "how many files of the diff change their mode";
        NotesEntries "notes.entries" Type::list(Type::Record(&NOTE)), Git, AtLeast, No, "what entries of the project's release notes tell of it (git alone may not know whose issue an entry names)";
        NotesKinds "notes.kinds" Type::list(Type::Word(&KINDS)), Git, AtLeast, No, "the kinds of those entries, each once: `feature`, `enhancement`, `new-check`, `extension`, `fix` …";
        OracleFailToPass "oracle.fail_to_pass" Type::list(Type::String), Oracle, Yes, Sometimes, "tests that pass in no run before gold and in every run after";
        OraclePassToPass "oracle.pass_to_pass" Type::list(Type::String), Oracle, Yes, Sometimes, "tests that pass in every run on both sides";
        OraclePassToFail "oracle.pass_to_fail" Type::list(Type::String), Oracle, Yes, No, "tests that pass in every run before gold and in none after";
        OracleFailToFail "oracle.fail_to_fail" Type::list(Type::String), Oracle, Yes, No, "tests that pass in no run on either side";
        OracleAbsentToPass "oracle.absent_to_pass" Type::list(Type::String), Oracle, Yes, No, "tests unknown to every run before gold that pass in every run after";
        OraclePassToAbsent "oracle.pass_to_absent" Type::list(Type::String), Oracle, Yes, No, "tests that pass in every run before gold and are unknown after";
        OracleNeverRan "oracle.never_ran" Type::list(Type::String), Oracle, Yes, No, "tests skipped throughout, on both sides";
        OracleFlaky "oracle.flaky" Type::list(Type::String), Oracle, Yes, No, "tests whose outcome varies between runs of one side";
        OracleOrderDependent "oracle.order_dependent" Type::list(Type::String), Oracle, Yes, No, "tests that a run in random order changes";
        OracleNotAddressable "oracle.not_addressable" Type::list(Type::String), Oracle, Yes, No, "tests that the runner does not select by their ids";
        OracleNeedsNetwork "oracle.needs_network" Type::list(Type::String), Oracle, Yes, No, "tests that did not pass in some run and said that there is no network";
        OracleRunsBefore "oracle.runs_before" Type::Int, Oracle, Yes, No, "runs made before gold";
        OracleRunsAfter "oracle.runs_after" Type::Int, Oracle, Yes, No, "runs made after gold";
    }
}

static MERGES: [&str; 4] = ["merge", "squash", "rebase", "fast-forward"];
/// GitHub's own words; none where nobody had to.
static REVIEWS: [&str; 4] = ["APPROVED", "CHANGES_REQUESTED", "REVIEW_REQUIRED", ""];
static CHANGES: [&str; 5] = ["added", "deleted", "modified", "renamed", "type-changed"];
static ENTRIES: [&str; 3] = ["file", "symlink", "submodule"];
static PLACES: [&str; 5] = ["title", "body", "merge-message", "commit-message", "linked"];
static EVIDENCE: [&str; 6] = ["named", "fragment", "line", "api", "closes", "mentions"];
static KINDS: [&str; Kind::ALL.len()] = {
    let mut names = [""; Kind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Kind::ALL[at].name();
        at += 1;
    }
    names
};

/// One file of a diff.
pub static CHANGE: Record = Record {
    name: "change",
    fields: &[
        Field {
            name: "path",
            ty: Type::String,
            meaning: "the path after the change (before it for a deleted file)",
        },
        Field {
            name: "old_path",
            ty: Type::String,
            meaning: "the path before a rename, else `\"\"`",
        },
        Field {
            name: "change",
            ty: Type::Word(&CHANGES),
            meaning: "`added`, `deleted`, `modified`, `renamed` or `type-changed`",
        },
        Field {
            name: "entry",
            ty: Type::Word(&ENTRIES),
            meaning: "`file`, `symlink` or `submodule`",
        },
        Field {
            name: "binary",
            ty: Type::Bool,
            meaning: "git shows it as binary",
        },
        Field {
            name: "added",
            ty: Type::Int,
            meaning: "lines added",
        },
        Field {
            name: "removed",
            ty: Type::Int,
            meaning: "lines removed",
        },
        Field {
            name: "hunks",
            ty: Type::Int,
            meaning: "hunks",
        },
    ],
};

/// One reference to an issue.
pub static REFERENCE: Record = Record {
    name: "reference",
    fields: &[
        Field {
            name: "repo",
            ty: Type::String,
            meaning: "`owner/name` when the text names another repository, else `\"\"`",
        },
        Field {
            name: "number",
            ty: Type::Int,
            meaning: "the issue's number",
        },
        Field {
            name: "closes",
            ty: Type::Bool,
            meaning: "a close/fix/resolve keyword stands before it",
        },
        Field {
            name: "found_in",
            ty: Type::Word(&PLACES),
            meaning: "`title`, `body`, `merge-message`, `commit-message`, or `linked` (the forge's own link)",
        },
        Field {
            name: "text",
            ty: Type::String,
            meaning: "the words as written",
        },
    ],
};

/// One entry of the release notes.
pub static NOTE: Record = Record {
    name: "note",
    fields: &[
        Field {
            name: "version",
            ty: Type::String,
            meaning: "the version that it is told under, `unreleased`, or `\"\"`",
        },
        Field {
            name: "kind",
            ty: Type::Word(&KINDS),
            meaning: "`feature`, `enhancement`, `new-check`, `extension`, `performance`, `fix`, `security`, `deprecation`, `removal`, `breaking`, `change`, `documentation`, `dependencies`, `internal` or `unknown`",
        },
        Field {
            name: "section",
            ty: Type::String,
            meaning: "the headings that it stands under, joined by ` > `",
        },
        Field {
            name: "text",
            ty: Type::String,
            meaning: "its words",
        },
        Field {
            name: "evidence",
            ty: Type::Word(&EVIDENCE),
            meaning: "what shows that it is about this pull request: `named`, `fragment`, `line`, `api`, `closes` or `mentions`",
        },
    ],
};

/// Every record that facts are made of.
pub static RECORDS: [&Record; 3] = [&CHANGE, &REFERENCE, &NOTE];

static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Fact>> =
    LazyLock::new(|| TABLE.iter().map(|fact| (fact.name.as_str(), fact)).collect());

static BY_ID: LazyLock<BTreeMap<FactId, &'static Fact>> =
    LazyLock::new(|| TABLE.iter().map(|fact| (fact.id, fact)).collect());

/// Every fact, in the table's order.
pub fn table() -> &'static [Fact] {
    &TABLE
}

/// The fact of that full name.
pub fn by_name(name: &str) -> Option<&'static Fact> {
    BY_NAME.get(name).copied()
}

/// The groups (`pr`, `issues`, …), in the table's order.
pub fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&'static str> = Vec::new();
    for fact in table() {
        let group = fact.group();
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

impl Fact {
    /// The part of the name before the dot.
    pub fn group(&'static self) -> &'static str {
        self.name
            .split_once('.')
            .map_or(self.name.as_str(), |(group, _)| group)
    }

    /// The part of the name after the dot.
    pub fn field(&'static self) -> &'static str {
        self.name.split_once('.').map_or("", |(_, field)| field)
    }
}

impl FactId {
    /// The fact's row in the table.
    pub fn fact(self) -> &'static Fact {
        BY_ID[&self]
    }

    /// The fact's full name.
    pub fn name(self) -> &'static str {
        &self.fact().name
    }
}

impl Serialize for FactId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mine::release_notes::resolve::Evidence as E;

    #[test]
    fn every_evidence_is_a_word_of_a_note() {
        for evidence in [E::Named, E::Fragment, E::Line, E::Api, E::Closes, E::Mentions] {
            assert!(EVIDENCE.contains(&evidence.name()), "{evidence:?}");
        }
    }

    #[test]
    fn names_are_unique_and_every_id_has_its_row() {
        assert_eq!(BY_NAME.len(), TABLE.len());
        assert_eq!(BY_ID.len(), TABLE.len());
        for fact in table() {
            assert_eq!(by_name(fact.id.name()).map(|found| found.id), Some(fact.id));
            assert!(
                !fact.meaning.is_empty() && fact.name.split('.').count() == 2,
                "{}",
                fact.name
            );
        }
    }
}
