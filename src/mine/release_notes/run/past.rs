//! What the history of the notes, and what pull requests change beside them, say of who wrote what.

use std::collections::{BTreeMap, BTreeSet};

use super::{Owners, Wanted, bare};
use crate::domain::history::DiffText;
use crate::domain::patch::{ChangeKind, Part};
use crate::domain::path::RepoPath;
use crate::git::edits::Edit;
use crate::mine::defaults::{is_release_note, part};
use crate::mine::graph::{Graph, Node};
use crate::mine::release_notes::brought::{self, Fragment, bringers};
use crate::mine::release_notes::model::Entry;
use crate::mine::release_notes::resolve::Known;
use crate::mine::release_notes::slight::{Role, may_hold_version, only_releases};
use crate::mine::release_notes::sources::{Source as Notes, decoded};
use crate::mine::release_notes::undone::undoes;
use crate::mine::release_notes::writers::{Step, Writers, key};
use crate::mine::run::MineError;
use crate::mine::run::landings::Ground;
use crate::mine::source::{Source as _, TreePair};

/// A diff of notes and versions that is longer than this, in bytes, is not looked at.
const LONGEST_DIFF: usize = 4 << 20;

/// What each commit did to the notes, oldest first. `history` is in the order of commits.
pub(super) fn steps(history: &[(Node, Edit)], owners: &Owners, wanted: &Wanted, graph: &Graph) -> Vec<Step> {
    let mut steps: Vec<Step> = vec![];
    let mut last: Option<Node> = None;
    for (node, edit) in history {
        if last != Some(*node) {
            last = Some(*node);
            steps.push(Step {
                pull: owners.get(node).copied(),
                reverts: undoes(&graph.commit(*node).message),
                ..Step::default()
            });
        }
        let Some(step) = steps.last_mut() else { continue };
        let text = |line: &Vec<u8>| bare(&decoded(line));
        step.added.extend(edit.added.iter().map(text));
        step.removed.extend(edit.removed.iter().map(text));
        if !matches!(wanted.source(&edit.path), Some(Notes::Fragment(_))) {
            step.size += edit.added.len();
        }
    }
    steps
}

/// Every fragment that was added, with the pull request that brought its words. `history` is in the order of commits,
/// `writers` are those of the notes' lines.
pub(super) fn brought(
    history: &[(Node, Edit)],
    owners: &Owners,
    wanted: &Wanted,
    writers: &Writers,
) -> Vec<(Fragment, Option<u32>)> {
    let mut steps: Vec<brought::Step> = vec![];
    for commit in history.chunk_by(|one, other| one.0 == other.0) {
        let Some((node, _)) = commit.first() else { continue };
        let mut step = brought::Step {
            pull: owners.get(node).copied(),
            ..brought::Step::default()
        };
        let mut documents = vec![];
        for (_, edit) in commit {
            let Some(Notes::Fragment(name)) = wanted.source(&edit.path) else {
                documents.push(edit);
                continue;
            };
            let fragment = |lines: &[Vec<u8>]| {
                let text = decoded(&lines.join(&b'\n'));
                Fragment::new(&edit.path, name.number, &text)
            };
            match edit.change {
                ChangeKind::Added => step.added.push(fragment(&edit.added)),
                ChangeKind::Deleted => step.removed.push(fragment(&edit.removed)),
                ChangeKind::Modified => step.cut.push(fragment(&edit.removed)),
                ChangeKind::Renamed | ChangeKind::TypeChanged => {}
            }
        }
        // Only what is new may have been taken from them.
        if !step.added.is_empty() {
            let gone = documents.iter().flat_map(|edit| &edit.removed);
            step.from_documents = gone.filter_map(|line| key(&bare(&decoded(line)))).collect();
        }
        steps.push(step);
    }
    bringers(steps, writers)
}

/// Those pull requests which nothing but the notes' own history shows to be an entry's, and that change nothing but notes
/// and versions, or many entries beside documentation. Two processes compare all of them.
pub(super) fn slight(
    ground: &Ground,
    known: &Known,
    read: &[(Entry, Vec<String>)],
    wanted: &Wanted,
    jobs: usize,
) -> Result<BTreeSet<u32>, MineError> {
    let mut tellers: BTreeSet<u32> = BTreeSet::new();
    // The entries that each wrote: one that stands under two versions is one.
    let mut told: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for (entry, lines) in read {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        tellers.extend(known.bringers(entry));
        let writer = known.writer(&lines);
        tellers.extend(writer.words.into_iter().chain(writer.credits));
        if let Some(writer) = writer.words {
            told.entry(writer).or_default().insert(&entry.text);
        }
    }
    let tree = |node: Node| ground.graph.commit(node).tree;
    let pairs: Vec<(u32, TreePair)> = tellers
        .iter()
        .filter_map(|number| {
            let landed = known.landed.get(number)?;
            Some((*number, (tree(landed.base), tree(landed.commit))))
        })
        .collect();
    let of = |pairs: &[(u32, TreePair)]| pairs.iter().map(|(_, pair)| *pair).collect::<Vec<_>>();
    let role = |path: &RepoPath| role(path, wanted);
    let trees = ground.trees(jobs);
    let mut near: Vec<(u32, TreePair)> = vec![];
    for (one, entries) in pairs.iter().zip(trees.entries(&of(&pairs))?) {
        let is_near = entries.is_ok_and(|changes| {
            let mut paths = changes.iter().map(|change| &change.path);
            !changes.is_empty() && paths.all(|path| role(path) != Role::Change || may_hold_version(path))
        });
        if is_near {
            near.push(*one);
        }
    }
    let mut slight = BTreeSet::new();
    for ((number, _), diff) in near.iter().zip(trees.diffs(&of(&near), LONGEST_DIFF)?) {
        let told = told.get(number).map_or(0, BTreeSet::len);
        if let Ok(diff) = diff
            && let DiffText::Whole(text) = diff.text
            && only_releases(&text, &role, told)
        {
            slight.insert(*number);
        }
    }
    Ok(slight)
}

/// What a file is, for telling who only releases.
fn role(path: &RepoPath, wanted: &Wanted) -> Role {
    match (wanted.source(path), part(path)) {
        (Some(Notes::Fragment(_)), _) => Role::Fragment,
        (Some(Notes::Document), _) => Role::Notes,
        _ if is_release_note(path) => Role::Notes,
        (None, Part::Docs) => Role::Docs,
        (None, Part::Other) => Role::Aside,
        (None, Part::Gold | Part::Test) => Role::Change,
    }
}
