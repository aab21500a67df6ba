//! From a landing to a candidate: the diff with its files, and what git knows of the pull request.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::graph::Node;
use super::link::references;
use super::release::Releases;
use super::sides::{Choice, Chosen, Draft};
use super::source::FullDiff;
use super::subjects::{Landing, Words, read, relations};
use super::trunk::Trunk;
use crate::domain::candidate::{
    Candidate, CommitNote, DiffSource, FoundIn, IssueReference, Merge, MergeKind, Relation,
};
use crate::domain::diff::file_changes;
use crate::domain::history::{CommitRecord, DiffText, TreeChange};
use crate::domain::ids::{BlobId, CandidateId, CommitSha, RepoName};
use crate::domain::patch::{EntryKind, FileChange};
use crate::domain::path::RepoPath;

/// A candidate with its diff's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The candidate.
    pub candidate: Candidate,
    /// The bytes that `candidate.diff` is the address of.
    pub diff: Vec<u8>,
}

/// Why a landed pull request makes no candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Neither it nor what landed changes anything.
    Empty,
    /// Its diff is longer than the limit.
    TooLarge {
        /// The diff's length in bytes.
        bytes: u64,
    },
    /// An object is missing.
    Unreadable(String),
}

/// What every candidate of a mirror shares.
pub struct Setting<'t, 'g> {
    /// The branches.
    pub trunk: &'t Trunk<'g>,
    /// The releases.
    pub releases: &'t Releases,
    /// The repository.
    pub repo: &'t RepoName,
    /// Who landed by which commit.
    pub landings: &'t BTreeMap<CommitSha, u32>,
}

/// Makes the candidate.
///
/// # Errors
/// Why there is none.
pub fn candidate(setting: &Setting<'_, '_>, draft: &Draft, choice: Choice) -> Result<Found, Fault> {
    let Chosen {
        source,
        applies,
        diff: FullDiff { changes, text },
    } = choice.map_err(Fault::Unreadable)?;
    let diff = match text {
        DiffText::Whole(bytes) if bytes.is_empty() => return Err(Fault::Empty),
        DiffText::Whole(bytes) => bytes,
        DiffText::TooLarge(bytes) => return Err(Fault::TooLarge { bytes }),
    };
    let graph = setting.trunk.graph;
    let commit = |node: Node| graph.commit(node);
    let landing = commit(draft.landed.commit);
    let own: Vec<&CommitRecord> = own_commits(setting.trunk, draft, source)
        .into_iter()
        .map(commit)
        .collect();
    let words = read(&landing.message);
    let title = title(draft, &words, landing);
    let candidate = Candidate {
        id: CandidateId::pull(setting.repo.clone(), draft.number),
        head: commit(draft.head).sha,
        base_commit: commit(draft.landed.base).sha,
        merge_base: match (source, draft.merge_base) {
            (DiffSource::Head, Some(merge_base)) => commit(merge_base).sha,
            _ => commit(draft.landed.base).sha,
        },
        diff_source: source,
        applies,
        body: None,
        author: None,
        labels: None,
        commits: notes(&own),
        commit_count: u32::try_from(own.len()).unwrap_or(u32::MAX),
        merged_at: moment(landing.committed_at),
        base_date: moment(commit(draft.landed.base).committed_at),
        references: all_references(setting.repo, draft, title.as_deref(), landing, &own),
        release: setting.releases.below(draft.landed.base).map(str::to_owned),
        files: files(&diff, &changes),
        diff: BlobId::of(&diff),
        forge: None,
        merge: Merge {
            commit: landing.sha,
            branch: setting
                .trunk
                .root(draft.landed.commit)
                .map_or_else(String::new, |root| setting.trunk.roots[root].name.clone()),
            kind: draft.landed.kind,
            evidence: draft.landed.evidence.clone(),
            relations: all_relations(setting, draft, title.as_deref(), &words, landing, &own),
        },
        title,
    };
    Ok(Found { candidate, diff })
}

/// The pull request's own commits, oldest first. Where what landed is not the head's change, a branch that was rebuilt
/// since still holds others' landings below its own work: those and what is below them are not its own.
fn own_commits(trunk: &Trunk<'_>, draft: &Draft, source: DiffSource) -> Vec<Node> {
    if source == DiffSource::Head {
        return draft.own.clone();
    }
    let graph = trunk.graph;
    let lands_another = |node: &Node| {
        let words = read(&graph.commit(*node).message);
        words
            .landing
            .is_some_and(|landing| !landing.numbers().contains(&draft.number))
    };
    match draft.own.iter().copied().filter(lands_another).max() {
        Some(foreign) if foreign != draft.head => graph.fork(foreign, draft.head).own,
        _ => draft.own.clone(),
    }
}

fn title(draft: &Draft, words: &Words, landing: &CommitRecord) -> Option<String> {
    let says_so = words
        .landing
        .as_ref()
        .is_some_and(|landing| landing.numbers().contains(&draft.number));
    match draft.landed.kind {
        _ if says_so => words.title.clone(),
        MergeKind::Squash => Some(landing.subject().trim().to_owned()).filter(|subject| !subject.is_empty()),
        _ => None,
    }
}

fn notes(own: &[&CommitRecord]) -> Vec<CommitNote> {
    let half = Candidate::MAX_COMMITS / 2;
    let middle = half..own.len().saturating_sub(half).max(half);
    let kept = own
        .iter()
        .enumerate()
        .filter(|(place, _)| !middle.contains(place))
        .map(|(_, commit)| commit);
    kept.map(|commit| CommitNote {
        sha: commit.sha,
        subject: commit.subject().to_owned(),
        author: commit.author.name.clone(),
        authored_at: moment(commit.authored_at),
    })
    .collect()
}

/// Seconds since 1970; beyond what a calendar holds, its end.
fn moment(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(if seconds < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

fn all_references(
    repo: &RepoName,
    draft: &Draft,
    title: Option<&str>,
    landing: &CommitRecord,
    own: &[&CommitRecord],
) -> Vec<IssueReference> {
    let mut found = references(title.unwrap_or_default(), repo, &FoundIn::Title);
    if matches!(draft.landed.kind, MergeKind::Merge | MergeKind::Squash) {
        let body = landing
            .message
            .split_once('\n')
            .map_or("", |(_, body)| body)
            .trim_start();
        let body = title.and_then(|title| body.strip_prefix(title)).unwrap_or(body);
        found.extend(references(body, repo, &FoundIn::MergeMessage));
    }
    for commit in own {
        found.extend(references(
            &commit.message,
            repo,
            &FoundIn::CommitMessage(commit.sha),
        ));
    }
    found.retain(|reference| reference.repo.is_some() || reference.number != draft.number);
    found
}

fn all_relations(
    setting: &Setting<'_, '_>,
    draft: &Draft,
    title: Option<&str>,
    words: &Words,
    landing: &CommitRecord,
    own: &[&CommitRecord],
) -> Vec<Relation> {
    let source = match &words.landing {
        Some(Landing::Merge { source, .. }) => source.as_deref(),
        _ => None,
    };
    let mut messages: Vec<&str> = vec![];
    if draft.landed.kind != MergeKind::Merge {
        messages.push(&landing.message);
    }
    // A series speaks by its title; a single commit also by its own message.
    if own.len() == 1 || title.is_none() {
        messages.extend(own.iter().map(|commit| commit.message.as_str()));
    }
    messages.dedup();
    let mut found = relations(title, source, &words.origins, &messages);
    for relation in &mut found {
        let by_commit = relation
            .commit
            .and_then(|commit| setting.landings.get(&commit))
            .copied();
        relation.number = relation.number.or(by_commit);
    }
    found.retain(|relation| relation.number != Some(draft.number));
    found
}

/// The diff's files; what a section leaves unsaid (the kind of entry of a pure rename) is told by the trees.
fn files(diff: &[u8], changes: &[TreeChange]) -> Vec<FileChange> {
    let by_path: HashMap<&RepoPath, &TreeChange> =
        changes.iter().map(|change| (&change.path, change)).collect();
    let mut files = file_changes(diff);
    for file in &mut files {
        let Some(change) = by_path.get(&file.path) else {
            continue;
        };
        let mode = if change.new_mode == 0 {
            change.old_mode
        } else {
            change.new_mode
        };
        file.entry = match mode & 0o170_000 {
            0o120_000 => EntryKind::Symlink,
            0o160_000 => EntryKind::Submodule,
            _ => EntryKind::File,
        };
    }
    files
}
