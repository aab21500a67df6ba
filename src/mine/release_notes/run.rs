//! The shell: a mirror's release notes, read and resolved.

pub mod outside;
mod past;
mod wanted;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use self::wanted::{Wanted, configurations, home};
use super::brought::Fragment;
use super::headings::Headings;
use super::model::Entry;
use super::orphans;
use super::resolve::{Known, LandedAt, Resolved};
use super::sources::{ReleaseBody, Source, decoded, read_document, read_fragment, read_release};
use super::summary::{Summary, summary};
use super::timeline::Timeline;
use super::undone::{lands_again, undone};
use super::writers::{bare, first_writers, forget_shared};
use crate::domain::address::shown;
use crate::domain::candidate::{FoundIn, MergeEvidence, MergeKind, RelationKind};
use crate::domain::ids::{CommitSha, RepoName};
use crate::domain::patch::{ChangeKind, EntryKind};
use crate::domain::path::RepoPath;
use crate::git::edits::{Edit, edits};
use crate::git::{Mirror, mirror_repo_name};
use crate::mine::graph::{Graph, Node};
use crate::mine::link::references;
use crate::mine::merges::Landed;
use crate::mine::run::MineError;
use crate::mine::run::landings::Ground;
use crate::mine::subjects::{read, relations};
use crate::mine::trunk::Trunk;
use crate::recipe::notes::NotesRecipe;

/// What reading release notes means: part of the key of what was read.
pub const VERSION: u32 = 6;
/// The longest file, in bytes, that is read as release notes.
const LONGEST: usize = 16 << 20;
/// A commit that adds more lines than this to the notes did not write them itself: a release, or a file that moved.
const MOST_LINES: usize = 60;
/// Commits of the past whose trees are looked through for files that hold, or held, notes.
const SAMPLES: usize = 32;
/// A pull request with more commits than this carries others' work (one branch into another): they are not its own.
const MOST_COMMITS: usize = 60;

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The mirror.
    pub mirror: PathBuf,
    /// The repository, where the mirror does not tell it.
    pub repo: Option<RepoName>,
    /// What a recipe says of release notes.
    pub notes: NotesRecipe,
    /// What the forge tells.
    pub outside: Outside,
    /// How many things to do at once.
    pub jobs: usize,
}

/// What only the forge knows; empty when it was not asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Outside {
    /// Texts of releases.
    pub releases: Vec<ReleaseBody>,
    /// For each issue the pull requests that closed it.
    pub closers: BTreeMap<u32, Vec<u32>>,
    /// For each issue the commits that closed it: their pull requests did.
    pub commits: BTreeMap<u32, Vec<CommitSha>>,
    /// What the repository is called today, where that is another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub today: Option<RepoName>,
}

/// A mirror's release notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notes {
    /// The repository.
    pub repo: RepoName,
    /// What the forge calls it today, where that is another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub today: Option<RepoName>,
    /// The commit whose files were read.
    pub commit: CommitSha,
    /// Texts of releases that the forge told and that were read, too.
    pub releases: usize,
    /// Issues of which the forge told who closed them.
    pub closers: usize,
    /// Patterns of the recipe's that no file matches, and none of the past that was looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<String>,
    /// The counts.
    pub summary: Summary,
    /// The entries: by file and line; then fragments that no document tells of; then releases on the forge.
    pub entries: Vec<Resolved>,
}

/// Reads a mirror's release notes and finds the pull requests that they tell of.
///
/// # Errors
/// When the mirror cannot be read, or nothing tells which repository it is of.
pub fn notes(settings: &Settings) -> Result<Notes, MineError> {
    let name = || shown(&settings.mirror.display().to_string());
    if !settings.mirror.exists() {
        return Err(MineError::NoMirror { mirror: name() });
    }
    let repo = settings
        .repo
        .clone()
        .or_else(|| mirror_repo_name(&settings.mirror));
    let repo = repo.ok_or_else(|| MineError::NoName { mirror: name() })?;
    let own = settings
        .notes
        .headings
        .iter()
        .map(|heading| (heading.words.as_str(), heading.kind));
    let ground = Ground::read(&settings.mirror)?;
    let git = ground.mirror.path();
    let (graph, commit) = (&ground.graph, ground.commit);
    let past = samples(graph, commit);
    let wanted = Wanted::new(&settings.notes, configurations(&ground.mirror, commit, &past)?)?;
    let headings = Headings::new(own).with_types(wanted.types());
    let (files, (history, known)) = std::thread::scope(|scope| {
        let files = scope.spawn(|| files(git, commit, &wanted, &headings));
        let history = scope.spawn(|| history(git, graph, &past, &wanted));
        let known = known(&ground, &repo, settings);
        (joined(files), (joined(history), known))
    });
    let ((mut read, paths), history, (mut known, owners)) = (files?, history?, known?);
    known.lines = first_writers(&past::steps(&history, &owners, &wanted, graph), MOST_LINES);
    let brought = past::brought(&history, &owners, &wanted, &known.lines);
    learn(&mut known, &brought);
    let met = paths.iter().chain(history.iter().map(|(_, edit)| &edit.path));
    let unmatched = wanted.unmatched(&met);
    let lost = lost_fragments(&history, &known.timeline, &wanted, &headings, &read);
    read.extend(lost);
    for body in &settings.outside.releases {
        let lines: Vec<&str> = body.text.lines().collect();
        read.extend(read_release(body, &headings).into_iter().map(|entry| {
            let own = slice(&lines, &entry);
            (entry, own)
        }));
    }
    forget_shared(&mut known.lines, &read);
    known.slight = past::slight(&ground, &known, &read, &wanted, settings.jobs)?;
    let entries: Vec<Resolved> = read
        .into_par_iter()
        .map(|(entry, lines)| {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            known.resolve(entry, &lines)
        })
        .collect();
    Ok(Notes {
        repo,
        today: settings.outside.today.clone(),
        commit: ground.commit,
        releases: settings.outside.releases.len(),
        closers: settings.outside.closers.len(),
        unmatched,
        summary: summary(&entries),
        entries,
    })
}

/// An entry, and the lines that it stands on.
type Placed = (Entry, Vec<String>);

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The lines that an entry stands on.
fn slice(lines: &[&str], entry: &Entry) -> Vec<String> {
    let place = |line: u32| usize::try_from(line).unwrap_or(usize::MAX).min(lines.len());
    let (from, to) = (place(entry.place.line.saturating_sub(1)), place(entry.place.last));
    lines[from.min(to)..to].iter().map(|line| bare(line)).collect()
}

/// The entries of today's files, each with its lines, and the files.
fn files(
    path: &Path,
    commit: CommitSha,
    wanted: &Wanted,
    headings: &Headings,
) -> Result<(Vec<Placed>, Vec<RepoPath>), MineError> {
    let mirror = Mirror::open(path)?;
    let mut contents = vec![];
    for file in mirror.files(commit)? {
        if file.entry == EntryKind::File
            && let Some(source) = wanted.source(&file.path)
        {
            let bytes = mirror.blob(file.object)?;
            if bytes.len() <= LONGEST {
                contents.push((file.path, source, bytes));
            }
        }
    }
    let read = |(path, source, bytes): (RepoPath, Source, Vec<u8>)| {
        let entries = match source {
            Source::Document => read_document(&path, &bytes, headings),
            Source::Fragment(name) => read_fragment(&path, &name, &bytes, headings)
                .into_iter()
                .collect(),
        };
        let text = decoded(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let with_lines = entries.into_iter().map(|entry| {
            let own = slice(&lines, &entry);
            (entry, own)
        });
        with_lines.collect::<Vec<_>>()
    };
    let paths = contents.iter().map(|(path, _, _)| path.clone()).collect();
    Ok((contents.into_par_iter().flat_map_iter(read).collect(), paths))
}

/// Commits of the past that are looked at for what was there then.
fn samples(graph: &Graph, commit: CommitSha) -> Vec<CommitSha> {
    let line: Vec<CommitSha> = graph
        .find(commit)
        .map(|tip| {
            graph
                .first_parents(tip)
                .map(|node| graph.commit(node).sha)
                .collect()
        })
        .unwrap_or_default();
    let step = (line.len() / SAMPLES).max(1);
    line.into_iter().step_by(step).collect()
}

/// Every change of the notes' files, oldest first. `past` is which commits are looked at for such files, the tip first.
fn history(
    path: &Path,
    graph: &Graph,
    past: &[CommitSha],
    wanted: &Wanted,
) -> Result<Vec<(Node, Edit)>, MineError> {
    let mirror = Mirror::open(path)?;
    let Some(tip) = past.first() else {
        return Ok(vec![]);
    };
    let mut paths: BTreeSet<RepoPath> = wanted.folders().cloned().collect();
    for commit in past {
        for file in mirror.files(*commit)? {
            match wanted.source(&file.path) {
                Some(Source::Document) => {
                    paths.insert(file.path);
                }
                Some(Source::Fragment(name)) => {
                    paths.insert(home(&file.path, &name));
                }
                None => {}
            }
        }
    }
    let paths: Vec<RepoPath> = paths.into_iter().collect();
    let edits = edits(mirror.path(), *tip, &paths)?;
    let mut edits: Vec<(Node, Edit)> = edits
        .into_iter()
        .filter_map(|edit| Some((graph.find(edit.commit)?, edit)))
        .collect();
    edits.sort_by(|one, other| (one.0, &one.1.path).cmp(&(other.0, &other.1.path)));
    Ok(edits)
}

/// For each commit the pull request that it belongs to; where several hold it, the one that landed first.
type Owners = HashMap<Node, u32>;

fn known(ground: &Ground, repo: &RepoName, settings: &Settings) -> Result<(Known, Owners), MineError> {
    let trunk = ground.trunk();
    let graph = &ground.graph;
    let mut landed = ground.landed(&trunk, settings.jobs)?;
    let mut by_time: Vec<(&u32, &(Landed, Vec<Node>))> = landed.iter().collect();
    by_time.sort_by_key(|(number, (landed, _))| (landed.commit, **number));
    let mut owners = Owners::new();
    for (number, (landed, own)) in by_time {
        let mut own_them = |node: Node| {
            owners.entry(node).or_insert(*number);
        };
        own_them(landed.commit);
        if matches!(landed.kind, MergeKind::Rebase) {
            let series = graph
                .first_parents(landed.commit)
                .take_while(|node| *node != landed.base);
            series.take(MOST_COMMITS).for_each(&mut own_them);
        }
        if own.len() <= MOST_COMMITS {
            own.iter().copied().for_each(own_them);
        }
    }
    let by_head = by_head(ground, &trunk, &landed);
    let heads: BTreeSet<u32> = by_head.keys().copied().collect();
    landed.extend(by_head);
    let reverted = undone(&trunk, &landed, &owners);
    let today = settings.outside.today.as_ref();
    let told: Vec<(u32, LandedAt, BTreeMap<u32, bool>)> = landed
        .par_iter()
        .map(|(number, (landed, own))| {
            let message = |node: &Node| graph.commit(*node).message.as_str();
            let words = trunk.words(landed.commit);
            let own: Vec<&Node> = own.iter().filter(|_| own.len() <= MOST_COMMITS).collect();
            let landing = message(&landed.commit);
            let title = words.and_then(|words| words.title.as_deref());
            let origins = words.map(|words| words.origins.as_slice()).unwrap_or_default();
            let second_hand = relations(title, None, origins, &[landing])
                .iter()
                .any(|relation| matches!(relation.kind, RelationKind::Reverts | RelationKind::BackportOf));
            let mut named: BTreeMap<u32, bool> = BTreeMap::new();
            for text in own.into_iter().map(message).chain([landing]) {
                // What lands others is not this one's own word.
                let lands_another = read(text)
                    .landing
                    .is_some_and(|landing| !landing.numbers().contains(number));
                let again = lands_again(text);
                for found in references(text, repo, &FoundIn::MergeMessage) {
                    let repo = found.repo.as_deref();
                    let is_here = repo.is_none_or(|repo| today.is_some_and(|today| today.is_called(repo)));
                    if is_here && found.number != *number && !lands_another {
                        *named.entry(found.number).or_default() |=
                            found.closes || again.contains(&found.number);
                    }
                }
            }
            let at = LandedAt {
                commit: landed.commit,
                base: landed.base,
                at: graph.commit(landed.commit).committed_at,
                second_hand,
                undone: reverted.get(number).copied(),
            };
            (*number, at, named)
        })
        .collect();
    let mut known = Known {
        repo: Some(repo.clone()),
        today: today.cloned(),
        pulls: ground.pulls(),
        closers: settings.outside.closers.clone(),
        timeline: Timeline::new(graph, &ground.tags),
        ..Known::default()
    };
    for (issue, commits) in &settings.outside.commits {
        let pulls = commits
            .iter()
            .filter_map(|commit| owners.get(&graph.find(*commit)?));
        let pulls: BTreeSet<u32> = pulls.copied().collect();
        known.closers.entry(*issue).or_default().extend(pulls);
    }
    for (number, at, named) in told {
        if heads.contains(&number) {
            known.by_head.insert(number, at);
            continue;
        }
        known.landed.insert(number, at);
        for (issue, closes) in named {
            known.namers.entry(issue).or_default().insert(number, closes);
        }
    }
    Ok((known, owners))
}

/// Pull requests whose head a branch holds, though nothing tells that it was merged; but not those whose head is how another
/// one landed: they were opened from the branch.
fn by_head(
    ground: &Ground,
    trunk: &Trunk<'_>,
    landed: &BTreeMap<u32, (Landed, Vec<Node>)>,
) -> BTreeMap<u32, (Landed, Vec<Node>)> {
    let landings: BTreeSet<Node> = landed.values().map(|(landed, _)| landed.commit).collect();
    let held = ground.held(trunk, landed).into_iter();
    held.filter(|(_, head)| !landings.contains(head))
        .map(|(number, head)| {
            let landed = Landed {
                commit: head,
                base: ground.graph.first_parent(head).unwrap_or(head),
                kind: MergeKind::FastForward,
                evidence: vec![MergeEvidence::Ancestry],
            };
            (number, (landed, vec![]))
        })
        .collect()
}

/// What the history of the notes tells of fragments: who brought which.
fn learn(known: &mut Known, brought: &[(Fragment, Option<u32>)]) {
    for (fragment, pull) in brought {
        match (fragment.number, pull) {
            (Some(number), _) => known.fragments.add(number, &fragment.text, *pull),
            (None, Some(pull)) => known.orphans.add(&fragment.path, &fragment.text, *pull),
            (None, None) => {}
        }
    }
}

/// Every line that a document of the notes has, or had.
fn written(history: &[(Node, Edit)], wanted: &Wanted) -> BTreeSet<String> {
    let documents = history
        .iter()
        .filter(|(_, edit)| !matches!(wanted.source(&edit.path), Some(Source::Fragment(_))));
    documents
        .flat_map(|(_, edit)| edit.added.iter().map(|line| bare(&decoded(line))))
        .collect()
}

/// Fragments of the past that a release took up and that no document of today tells of.
fn lost_fragments(
    history: &[(Node, Edit)],
    timeline: &Timeline,
    wanted: &Wanted,
    headings: &Headings,
    read: &[Placed],
) -> Vec<Placed> {
    let told: BTreeSet<u32> = read
        .iter()
        .flat_map(|(entry, _)| entry.references.iter().map(|found| found.number))
        .collect();
    let mut collected: HashMap<Node, (usize, bool)> = HashMap::new();
    for (node, edit) in history {
        let tally = collected.entry(*node).or_default();
        match wanted.source(&edit.path) {
            Some(Source::Fragment(_)) => tally.0 += usize::from(edit.change == ChangeKind::Deleted),
            _ => tally.1 |= !edit.added.is_empty(),
        }
    }
    let told_words: Vec<String> = read
        .iter()
        .map(|(entry, _)| orphans::words(&entry.text))
        .collect();
    let written = written(history, wanted);
    // What no number is the name of is told where a document has, or had, its first line, or all of its words.
    let is_told = |text: &str| {
        let first = text.lines().map(bare).find(|line| !line.is_empty());
        let words = orphans::words(text);
        first.is_some_and(|first| written.contains(&first))
            || told_words.iter().any(|told| told.contains(&words))
    };
    let mut open: BTreeMap<&RepoPath, &Edit> = BTreeMap::new();
    let mut lost = vec![];
    for (node, edit) in history {
        let Some(Source::Fragment(name)) = wanted.source(&edit.path) else {
            continue;
        };
        match edit.change {
            ChangeKind::Added => {
                open.insert(&edit.path, edit);
            }
            ChangeKind::Deleted => {
                let Some(added) = open.remove(&edit.path) else {
                    continue;
                };
                // One that went alone was taken back; a release takes several, or writes them into a document.
                let released = collected
                    .get(node)
                    .is_some_and(|(gone, written)| *gone > 1 || *written);
                let text = added.added.join(&b'\n');
                let known = match name.number {
                    Some(number) => told.contains(&number),
                    None => is_told(&decoded(&text)),
                };
                if !released || known {
                    continue;
                }
                if let Some(mut entry) = read_fragment(&edit.path, &name, &text, headings) {
                    entry.version = timeline.first_with(*node).map(|release| {
                        let numbers: Vec<String> = release.numbers.iter().map(ToString::to_string).collect();
                        numbers.join(".")
                    });
                    let lines = entry.text.lines().map(bare).collect();
                    lost.push((entry, lines));
                }
            }
            _ => {}
        }
    }
    lost
}

#[cfg(test)]
mod tests;
