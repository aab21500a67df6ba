//! The commit graph: who reaches whom, and where two lines of work parted.

use std::collections::{BinaryHeap, HashMap};

use crate::domain::history::CommitRecord;
use crate::domain::ids::CommitSha;

/// A commit's place in the graph; every commit stands after its parents.
pub type Node = u32;

/// A set of commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeSet(Vec<u64>);

impl NodeSet {
    /// A set with room for a graph's commits.
    pub fn with_room(commits: usize) -> Self {
        Self(vec![0; commits.div_ceil(64)])
    }

    /// Whether it holds a commit.
    pub fn contains(&self, node: Node) -> bool {
        self.0
            .get(node as usize / 64)
            .is_some_and(|word| word >> (node % 64) & 1 == 1)
    }

    /// Adds a commit; whether it is new.
    pub fn insert(&mut self, node: Node) -> bool {
        let word = &mut self.0[node as usize / 64];
        let new = *word >> (node % 64) & 1 == 0;
        *word |= 1 << (node % 64);
        new
    }
}

/// Commits with their parents as places.
#[derive(Debug, Default)]
pub struct Graph {
    commits: Vec<CommitRecord>,
    parents: Vec<Vec<Node>>,
    places: HashMap<CommitSha, Node>,
}

impl Graph {
    /// A graph of commits that are given after their parents. Parents that are not given (a shallow mirror) are none.
    pub fn new(commits: Vec<CommitRecord>) -> Self {
        let mut places = HashMap::with_capacity(commits.len());
        let mut parents = Vec::with_capacity(commits.len());
        for (place, commit) in (0..).zip(&commits) {
            parents.push(
                commit
                    .parents
                    .iter()
                    .filter_map(|parent| places.get(parent).copied())
                    .collect(),
            );
            places.insert(commit.sha, place);
        }
        Self {
            commits,
            parents,
            places,
        }
    }

    /// How many commits there are.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Every place, parents first.
    pub fn nodes(&self) -> std::ops::Range<Node> {
        0..u32::try_from(self.commits.len()).unwrap_or(u32::MAX)
    }

    /// Where a commit stands.
    pub fn find(&self, sha: CommitSha) -> Option<Node> {
        self.places.get(&sha).copied()
    }

    /// The commit at a place.
    pub fn commit(&self, node: Node) -> &CommitRecord {
        &self.commits[node as usize]
    }

    /// A commit's parents, the first one first.
    pub fn parents(&self, node: Node) -> &[Node] {
        &self.parents[node as usize]
    }

    /// A commit's first parent.
    pub fn first_parent(&self, node: Node) -> Option<Node> {
        self.parents(node).first().copied()
    }

    /// The commits from `tip` along first parents, newest first.
    pub fn first_parents(&self, tip: Node) -> impl Iterator<Item = Node> {
        std::iter::successors(Some(tip), |node| self.first_parent(*node))
    }

    /// Adds to `set` what `roots` reach, themselves included; calls `each` for every new one.
    pub fn reach(&self, set: &mut NodeSet, roots: &[Node], mut each: impl FnMut(Node)) {
        let mut stack: Vec<Node> = roots.to_vec();
        while let Some(node) = stack.pop() {
            if set.insert(node) {
                each(node);
                stack.extend(self.parents(node));
            }
        }
    }

    /// Where `base` and `head` parted, and what `head` has that `base` has not.
    pub fn fork(&self, base: Node, head: Node) -> Fork {
        const BASE: u8 = 1;
        const HEAD: u8 = 2;
        let mut sides: HashMap<Node, u8> = HashMap::new();
        let mut queue = BinaryHeap::new();
        for (node, side) in [(base, BASE), (head, HEAD)] {
            *sides.entry(node).or_default() |= side;
            queue.push(node);
        }
        if base == head {
            return Fork {
                merge_base: Some(base),
                own: vec![],
            };
        }
        let mut merge_base = None;
        let mut own = vec![];
        // How many commits wait in the queue that only the head reaches.
        let mut open = 1_usize;
        while let Some(node) = queue.pop() {
            if open == 0 && merge_base.is_some() {
                break;
            }
            let side = sides.get(&node).copied().unwrap_or_default();
            if side == HEAD {
                open -= 1;
                own.push(node);
            } else if side == BASE | HEAD && merge_base.is_none() {
                // Places grow from parent to child: the first that both reach has no better one above it.
                merge_base = Some(node);
            }
            for parent in self.parents(node) {
                let seen = sides.entry(*parent).or_default();
                let before = *seen;
                *seen |= side;
                if before == 0 {
                    queue.push(*parent);
                }
                match (before, *seen) {
                    (0, HEAD) => open += 1,
                    (HEAD, after) if after != HEAD => open -= 1,
                    _ => {}
                }
            }
        }
        own.reverse();
        Fork { merge_base, own }
    }

    /// What `head` has that `base` (a set closed under parents) has not, parents first, and the youngest commit of
    /// `base` that it stands on.
    pub fn fork_from(&self, base: &NodeSet, head: Node) -> Fork {
        if base.contains(head) {
            return Fork {
                merge_base: Some(head),
                own: vec![],
            };
        }
        let mut merge_base = None;
        let mut own = vec![];
        let mut seen = std::collections::HashSet::new();
        let mut stack = vec![head];
        while let Some(node) = stack.pop() {
            if base.contains(node) {
                merge_base = merge_base.max(Some(node));
            } else if seen.insert(node) {
                own.push(node);
                stack.extend(self.parents(node));
            }
        }
        own.sort_unstable();
        Fork { merge_base, own }
    }
}

/// Where two lines of work parted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The best common ancestor; `None` for unrelated histories.
    pub merge_base: Option<Node>,
    /// What the head has that the base has not, parents first.
    pub own: Vec<Node>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::history::Person;

    fn sha(place: u32) -> CommitSha {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&place.to_be_bytes());
        CommitSha::from_bytes(bytes)
    }

    /// A graph where commit `i` has the parents that `links[i]` picks among the earlier ones.
    fn graph(links: &[Vec<u32>]) -> Graph {
        let commits = (0_u32..).zip(links).map(|(place, parents)| {
            let mut parents: Vec<u32> = parents
                .iter()
                .filter(|_| place > 0)
                .map(|pick| pick % place.max(1))
                .collect();
            parents.dedup();
            CommitRecord {
                sha: sha(place),
                tree: sha(0),
                parents: parents.into_iter().map(sha).collect(),
                author: Person::default(),
                authored_at: 0,
                committer: Person::default(),
                committed_at: 0,
                message: String::new(),
            }
        });
        Graph::new(commits.collect())
    }

    proptest! {
        #[test]
        fn forks_are_what_reachability_says(
            links in proptest::collection::vec(proptest::collection::vec(0_u32..1000, 0..3), 2..40),
            picks in (0_u32..1000, 0_u32..1000),
        ) {
            let graph = graph(&links);
            let pick = |pick: u32| pick % u32::try_from(graph.len()).unwrap();
            let (base, head) = (pick(picks.0), pick(picks.1));
            let reached = |root: Node| {
                let mut set = NodeSet::with_room(graph.len());
                graph.reach(&mut set, &[root], |_| {});
                set
            };
            let (of_base, of_head) = (reached(base), reached(head));
            let own: Vec<Node> = graph.nodes().filter(|n| of_head.contains(*n) && !of_base.contains(*n)).collect();
            let common: Vec<Node> = graph.nodes().filter(|n| of_head.contains(*n) && of_base.contains(*n)).collect();
            let fork = graph.fork(base, head);
            prop_assert_eq!(&fork.own, &own);
            prop_assert_eq!(fork.merge_base, common.last().copied());
            prop_assert_eq!(graph.fork_from(&of_base, head), fork.clone());
            if let Some(best) = fork.merge_base {
                prop_assert!(common.iter().all(|other| *other == best || !reached(*other).contains(best)));
            }
        }
    }
}
