//! The facts of a mined candidate.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::files::{FileSet, file_fact};
use super::value::{Datum, Seen};
use crate::domain::candidate::{Candidate, FoundIn, IssueReference, MergeKind, RelationKind};
use crate::domain::enriched::Enriched;
use crate::domain::forge::{PullFacts, RepositoryFacts};
use crate::domain::ids::TestId;
use crate::domain::notes::Note;
use crate::domain::oracle::Oracle;
use crate::domain::patch::{EntryKind, Part};
use crate::recipe::language::FactId;

/// Something that rules can look at.
pub trait FactSource: Sync {
    /// What it says of a fact.
    fn see(&self, fact: FactId) -> Seen<'_>;
}

/// A candidate with what a recipe's split made of its files.
#[derive(Debug, Clone, Copy)]
pub struct CandidateFacts<'a> {
    /// The candidate.
    pub candidate: &'a Candidate,
    /// The part of each of its files, in the order of `candidate.files`; `None` for a file in no part.
    pub parts: &'a [Option<Part>],
    /// What verification found; `None` before it.
    pub oracle: Option<&'a Oracle>,
    /// Whether the diff's bytes are UTF-8, where somebody looked.
    pub utf8: Option<bool>,
    /// What release notes tell of it; `None` where nobody read them.
    pub notes: Option<&'a [Note]>,
    /// How many lines of text its documentation adds, where somebody counted.
    pub text_lines: Option<u64>,
}

impl FactSource for CandidateFacts<'_> {
    fn see(&self, fact: FactId) -> Seen<'_> {
        use FactId as F;
        let candidate = self.candidate;
        let merge = &candidate.merge;
        Seen::Known(match fact {
            F::Files(scope, fact) => file_fact(
                FileSet {
                    files: &candidate.files,
                    parts: self.parts,
                },
                scope,
                fact,
            ),
            F::PrNumber => Datum::Int(candidate.id.number.into()),
            F::PrMerged => Datum::Bool(true),
            F::PrTitle => return Seen::known(candidate.title.as_deref().map(Datum::text)),
            F::PrBody => return Seen::known(candidate.body.as_deref().map(Datum::text)),
            F::PrAuthor => return Seen::known(candidate.author.as_deref().map(Datum::text)),
            F::PrLabels => {
                return Seen::known(
                    candidate
                        .labels
                        .as_ref()
                        .map(|labels| Datum::texts(labels.iter().map(String::as_str))),
                );
            }
            F::PrCommits => Datum::Int(candidate.commit_count.into()),
            F::PrSubjects => {
                if candidate.commits.len() != candidate.commit_count as usize {
                    return Seen::Unknown;
                }
                Datum::texts(candidate.commits.iter().map(|commit| commit.subject.as_str()))
            }
            F::PrBranch => Datum::text(&merge.branch),
            F::PrMergeKind => Datum::text(match merge.kind {
                MergeKind::Merge => "merge",
                MergeKind::Squash => "squash",
                MergeKind::Rebase => "rebase",
                MergeKind::FastForward => "fast-forward",
            }),
            F::PrIsRevert => Datum::Bool(candidate.is_revert()),
            F::PrIsBackport => Datum::Bool(merge.relations.iter().any(|relation| {
                matches!(
                    relation.kind,
                    RelationKind::BackportOf | RelationKind::CherryPickOf
                )
            })),
            F::PrRelease => Datum::text(candidate.release.as_deref().unwrap_or_default()),
            F::IssuesResolved => return self.resolved(),
            F::IssuesMentioned => return self.references(|_| true),
            F::IssuesReferences => {
                return self.complete(Datum::List(candidate.references.iter().map(reference).collect()));
            }
            F::IssuesTexts => return self.of_issues(|forge| Some(Datum::texts(forge.texts()?))),
            F::IssuesEditedLater => {
                let edited = candidate.forge.as_ref().and_then(|forge| forge.edited_later());
                return Seen::known(edited.map(|edits| Datum::Bool(!edits.is_empty())));
            }
            F::PrMilestone => {
                return self.pull(|pull| Datum::text(pull.milestone.as_deref().unwrap_or_default()));
            }
            F::PrReview => return self.pull(|pull| Datum::text(pull.review.as_deref().unwrap_or_default())),
            F::DatesCreated => return self.pull(|pull| Datum::Time(pull.created_at)),
            F::RepoStars => {
                return self.repository(|repo| Datum::Int(i64::try_from(repo.stars).unwrap_or(i64::MAX)));
            }
            F::RepoLanguage => {
                return self.repository(|repo| Datum::text(repo.language.as_deref().unwrap_or_default()));
            }
            F::RepoLicence => {
                return self.repository(|repo| Datum::text(repo.licence.as_deref().unwrap_or_default()));
            }
            F::RepoTopics => {
                return self.repository(|repo| Datum::texts(repo.topics.iter().map(String::as_str)));
            }
            F::RepoArchived => return self.repository(|repo| Datum::Bool(repo.archived)),
            F::RepoContextFiles => {
                return self.repository(|repo| Datum::texts(repo.context_files.iter().map(String::as_str)));
            }
            F::RepoOwner => Datum::text(candidate.id.repo.owner()),
            F::RepoName => Datum::text(candidate.id.repo.name()),
            F::RepoFull => Datum::Text(Cow::Owned(candidate.id.repo.to_string())),
            F::DatesBase => Datum::Time(candidate.base_date),
            F::DatesMerged => Datum::Time(candidate.merged_at),
            F::PatchApplies => Datum::Bool(candidate.applies),
            F::PatchUtf8 => return Seen::known(self.utf8.map(Datum::Bool)),
            F::DocsTextLines => {
                let lines = self
                    .text_lines
                    .map(|lines| i64::try_from(lines).unwrap_or(i64::MAX));
                return Seen::known(lines.map(Datum::Int));
            }
            F::PatchSubmodules => self.entries(EntryKind::Submodule),
            F::PatchSymlinks => self.entries(EntryKind::Symlink),
            F::PatchModeChanges => {
                Datum::count(candidate.files.iter().filter(|file| file.mode_changed).count())
            }
            F::NotesEntries => {
                return self.notes.map_or(Seen::Unknown, |notes| {
                    Seen::AtLeast(Datum::List(notes.iter().map(note).collect()))
                });
            }
            F::NotesKinds => {
                return self.notes.map_or(Seen::Unknown, |notes| {
                    let kinds: BTreeSet<&str> = notes.iter().map(|note| note.kind.name()).collect();
                    Seen::AtLeast(Datum::texts(kinds))
                });
            }
            F::OracleFailToPass => return self.oracle(|oracle| tests(&oracle.fail_to_pass)),
            F::OraclePassToPass => return self.oracle(|oracle| tests(&oracle.pass_to_pass)),
            F::OraclePassToFail => return self.oracle(|oracle| tests(&oracle.pass_to_fail)),
            F::OracleFailToFail => return self.oracle(|oracle| tests(&oracle.fail_to_fail)),
            F::OracleAbsentToPass => return self.oracle(|oracle| tests(&oracle.absent_to_pass)),
            F::OraclePassToAbsent => return self.oracle(|oracle| tests(&oracle.pass_to_absent)),
            F::OracleNeverRan => return self.oracle(|oracle| tests(&oracle.never_ran)),
            F::OracleFlaky => {
                return self
                    .oracle(|oracle| Datum::texts(oracle.flaky.iter().map(|flaky| flaky.test.as_str())));
            }
            F::OracleOrderDependent => {
                return self.oracle(|oracle| {
                    Datum::texts(oracle.order_dependent.iter().map(|test| test.test.as_str()))
                });
            }
            F::OracleNotAddressable => return self.oracle(|oracle| tests(&oracle.not_addressable)),
            F::OracleNeedsNetwork => return self.oracle(|oracle| tests(&oracle.needs_network)),
            F::OracleRunsBefore => return self.oracle(|oracle| Datum::Int(oracle.runs_before.into())),
            F::OracleRunsAfter => return self.oracle(|oracle| Datum::Int(oracle.runs_after.into())),
        })
    }
}

impl<'a> CandidateFacts<'a> {
    /// A list read from texts is complete only when the description was among them.
    fn complete<'d>(&self, list: Datum<'d>) -> Seen<'d> {
        if self.candidate.body.is_some() {
            Seen::Known(list)
        } else {
            Seen::AtLeast(list)
        }
    }

    fn pull(&self, read: impl Fn(&'a PullFacts) -> Datum<'a>) -> Seen<'a> {
        Seen::known(self.candidate.forge.as_ref().map(|forge| read(&forge.pull)))
    }

    fn repository(&self, read: impl Fn(&'a RepositoryFacts) -> Datum<'a>) -> Seen<'a> {
        let forge = self.candidate.forge.as_ref();
        Seen::known(forge.and_then(|forge| forge.repository.as_ref()).map(read))
    }

    /// A list about the issues that are closed: complete when the forge shows all of them.
    fn of_issues(&self, read: impl Fn(&'a Enriched) -> Option<Datum<'a>>) -> Seen<'a> {
        let Some(forge) = self.candidate.forge.as_deref() else {
            return Seen::Unknown;
        };
        match read(forge) {
            None => Seen::Unknown,
            Some(list) if forge.may_close_more() => Seen::AtLeast(list),
            Some(list) => Seen::Known(list),
        }
    }

    /// Numbers of the issues that are closed. The forge tells which of the references are issues; without it, they are taken
    /// at their word.
    fn resolved(&self) -> Seen<'a> {
        let own = &self.candidate.id.repo;
        let known = self.of_issues(|forge| {
            let here = forge.issues()?.filter(|(id, _)| id.repo.is(own));
            Some(Datum::List(
                here.map(|(id, _)| Datum::Int(id.number.into())).collect(),
            ))
        });
        match (known, self.references(|found| found.closes)) {
            // Some of them were not asked yet: any may turn out to be no issue.
            (Seen::Unknown, Seen::Known(list)) if self.candidate.forge.is_some() => Seen::AtLeast(list),
            (Seen::Unknown, words) => words,
            (known, _) => known,
        }
    }

    /// Numbers of the references to the candidate's own repository that `wanted` takes.
    fn references(&self, wanted: impl Fn(&IssueReference) -> bool) -> Seen<'static> {
        let own = self.candidate.id.repo.to_string();
        let here = |found: &IssueReference| {
            found
                .repo
                .as_ref()
                .is_none_or(|repo| repo.eq_ignore_ascii_case(&own))
        };
        let numbers: BTreeSet<u32> = self
            .candidate
            .references
            .iter()
            .filter(|found| here(found) && wanted(found))
            .map(|found| found.number)
            .collect();
        self.complete(Datum::List(
            numbers
                .into_iter()
                .map(|number| Datum::Int(number.into()))
                .collect(),
        ))
    }

    fn entries(&self, kind: EntryKind) -> Datum<'static> {
        Datum::count(
            self.candidate
                .files
                .iter()
                .filter(|file| file.entry == kind)
                .count(),
        )
    }

    fn oracle(&self, read: impl Fn(&'a Oracle) -> Datum<'a>) -> Seen<'a> {
        Seen::known(self.oracle.map(read))
    }
}

fn tests(ids: &[TestId]) -> Datum<'_> {
    Datum::texts(ids.iter().map(TestId::as_str))
}

fn note(note: &Note) -> Datum<'_> {
    Datum::Record(vec![
        ("version", Datum::text(&note.version)),
        ("kind", Datum::text(note.kind.name())),
        ("section", Datum::text(&note.section)),
        ("text", Datum::text(&note.text)),
        ("evidence", Datum::text(&note.evidence)),
    ])
}

fn reference(found: &IssueReference) -> Datum<'_> {
    let place = match found.found_in {
        FoundIn::Title => "title",
        FoundIn::Body => "body",
        FoundIn::MergeMessage => "merge-message",
        FoundIn::CommitMessage(_) => "commit-message",
        FoundIn::Linked => "linked",
    };
    Datum::Record(vec![
        ("repo", Datum::text(found.repo.as_deref().unwrap_or_default())),
        ("number", Datum::Int(found.number.into())),
        ("closes", Datum::Bool(found.closes)),
        ("found_in", Datum::text(place)),
        ("text", Datum::text(&found.text)),
    ])
}
