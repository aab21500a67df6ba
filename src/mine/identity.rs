//! Which commits landed a pull request that was replayed on a branch: rebased, cherry-picked, or squashed without a
//! number. Found by who wrote what when, and by what it changes; confirmed by the content.

use std::collections::{BTreeSet, HashMap};

use super::ancestry::Known;
use super::graph::{Fork, Node};
use super::merges::Landed;
use super::trunk::{Trunk, key};
use crate::domain::candidate::{MergeEvidence, MergeKind};

/// Commits on branches by who wrote them and when.
pub struct Replays {
    by_hand: HashMap<(String, i64), Vec<Node>>,
    by_author: HashMap<String, Vec<Node>>,
}

/// A run of commits that may be a pull request's own, replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The commit below the run.
    pub base: Node,
    /// The last of the run.
    pub commit: Node,
    /// How many there are.
    pub length: usize,
    /// Whether it was found by author, date and subject (else: by author and paths).
    pub by_identity: bool,
}

impl Replays {
    /// Gathers every commit of a branch that is no merge and lands nothing else.
    pub fn new(trunk: &Trunk<'_>) -> Self {
        let mut replays = Self {
            by_hand: HashMap::new(),
            by_author: HashMap::new(),
        };
        for node in trunk.graph.nodes().filter(|node| trunk.trusted.contains(*node)) {
            let commit = trunk.graph.commit(node);
            if commit.parents.len() == 1 {
                let author = key(&commit.author.name);
                replays
                    .by_hand
                    .entry((author.clone(), commit.authored_at))
                    .or_default()
                    .push(node);
                replays.by_author.entry(author).or_default().push(node);
            }
        }
        replays
    }

    /// The pull request's commits on a branch, one after the other, each by the same author at the same time with the
    /// same subject. On the default branch where several have them.
    pub fn by_identity(&self, trunk: &Trunk<'_>, fork: &Fork) -> Option<Replay> {
        let graph = trunk.graph;
        let own: Vec<Node> = fork
            .own
            .iter()
            .copied()
            .filter(|node| graph.parents(*node).len() < 2)
            .collect();
        let (last, before) = own.split_last()?;
        let mut ends = self.twins(trunk, *last);
        ends.sort_by_key(|node| (trunk.root(*node), *node));
        ends.into_iter().find_map(|end| {
            let mut at = end;
            for own in before.iter().rev() {
                at = graph.first_parent(at)?;
                if !self.twins(trunk, *own).contains(&at) {
                    return None;
                }
            }
            let base = graph.first_parent(at)?;
            Some(Replay {
                base,
                commit: end,
                length: own.len(),
                by_identity: true,
            })
        })
    }

    fn twins(&self, trunk: &Trunk<'_>, own: Node) -> Vec<Node> {
        let commit = trunk.graph.commit(own);
        let same = self.by_hand.get(&(key(&commit.author.name), commit.authored_at));
        let same = same.into_iter().flatten().copied();
        // A replay is younger than what it replays: an older twin is what this one was copied from.
        same.filter(|node| {
            let twin = trunk.graph.commit(*node);
            twin.subject() == commit.subject() && twin.committed_at >= commit.committed_at
        })
        .collect()
    }

    /// Every single commit by one of these people that no other pull request carried: a pull request may have been
    /// squashed into one of them.
    pub fn by_authors(&self, trunk: &Trunk<'_>, known: &Known, authors: &BTreeSet<String>) -> Vec<Replay> {
        let commits = authors
            .iter()
            .filter_map(|author| self.by_author.get(author))
            .flatten();
        let free = commits.filter(|node| known.carrier(**node).is_none());
        let mut found: Vec<Replay> = free
            .filter_map(|node| {
                let base = trunk.graph.first_parent(*node)?;
                Some(Replay {
                    base,
                    commit: *node,
                    length: 1,
                    by_identity: false,
                })
            })
            .collect();
        found.sort_by_key(|replay| (trunk.root(replay.commit), replay.commit));
        found
    }
}

/// The people who wrote a pull request's own commits, by the form to compare names by.
pub fn authors(trunk: &Trunk<'_>, fork: &Fork) -> BTreeSet<String> {
    fork.own
        .iter()
        .map(|own| key(&trunk.graph.commit(*own).author.name))
        .collect()
}

/// When the last of a pull request's own commits was put where it is; merges of the branch into it do not count.
pub fn last_committed(trunk: &Trunk<'_>, fork: &Fork) -> Option<i64> {
    let own = fork.own.iter().filter(|own| trunk.graph.parents(**own).len() < 2);
    own.map(|own| trunk.graph.commit(*own).committed_at).max()
}

/// A replay that was confirmed, as a landing.
pub fn landed(replay: &Replay, same: bool) -> Landed {
    let mut evidence = vec![];
    if same {
        evidence.push(MergeEvidence::PatchId);
    }
    if replay.by_identity {
        evidence.push(MergeEvidence::CommitIdentity);
    }
    let kind = if replay.by_identity {
        MergeKind::Rebase
    } else {
        MergeKind::Squash
    };
    Landed {
        commit: replay.commit,
        base: replay.base,
        kind,
        evidence,
    }
}
