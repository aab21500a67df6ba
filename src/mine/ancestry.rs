//! Which commit landed a pull request whose head is on a branch, though no message names it.
//!
//! Being on a branch is not having been merged: heads of pull requests opened to bring a fork up to date are the branch's
//! own commits, and the steps of one contributor's branch come in with a later pull request of theirs. What counts: a
//! merge commit, by somebody who brings in others' work, with the head for its second parent; or a contributor's commit
//! with the branch's next one, by somebody else, right on top of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use super::graph::Node;
use super::identity::Replay;
use super::merges::{Landed, brought, same_person};
use super::pattern::compiled;
use super::trunk::{Trunk, is_forge};
use crate::domain::candidate::{MergeEvidence, MergeKind};

/// Why a head on a branch is not taken for merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Another pull request has the same head, and that one landed.
    SameHead(u32),
    /// Its commits came in with another pull request.
    Carried(u32),
    /// The head is a commit that the branch made: another pull request's landing, or a maintainer's own.
    BranchMade,
    /// Nothing tells whether the head was merged, or came in with something else.
    Unclear,
    /// Only a branch of work in progress holds the head.
    InProgress,
}

/// What the accepted landings bring, to judge others by.
pub struct Known {
    /// Who landed by which commit.
    pub landings: HashMap<Node, u32>,
    /// Who landed with which head.
    heads: HashMap<Node, u32>,
    /// Whose head a commit is, landed or not.
    all_heads: HashMap<Node, u32>,
    /// Who landed onto which commit, by the landing.
    landed_alone: HashMap<Node, (Node, u32)>,
    /// The pull request that brought a commit, the innermost where merges nest.
    carriers: HashMap<Node, u32>,
    /// Merges by what they brought.
    brought: HashMap<Node, Vec<Node>>,
    /// Commits by their first parent, on branches.
    next: HashMap<Node, Vec<Node>>,
}

impl Known {
    /// Gathers it from the pull requests that landed so far.
    pub fn new(trunk: &Trunk<'_>, landed: &BTreeMap<u32, Landed>, heads: &BTreeMap<u32, Node>) -> Self {
        let graph = trunk.graph;
        let mut known = Self {
            landings: HashMap::new(),
            heads: HashMap::new(),
            all_heads: heads.iter().map(|(number, head)| (*head, *number)).collect(),
            landed_alone: HashMap::new(),
            carriers: HashMap::new(),
            brought: brought(trunk),
            next: HashMap::new(),
        };
        let mut merges: Vec<(Node, u32)> = vec![];
        for (number, landing) in landed {
            known.landings.entry(landing.commit).or_insert(*number);
            known
                .landed_alone
                .entry(landing.commit)
                .or_insert((landing.base, *number));
            if let Some(head) = heads.get(number) {
                known.heads.entry(*head).or_insert(*number);
            }
            merges.push((landing.commit, *number));
        }
        // Inner merges stand before the outer ones that hold them.
        merges.sort_unstable();
        for (merge, number) in merges {
            for other in graph.parents(merge).iter().skip(1) {
                for own in graph.fork(graph.parents(merge)[0], *other).own {
                    known.carriers.entry(own).or_insert(number);
                }
            }
        }
        for node in graph.nodes().filter(|node| trunk.all.contains(*node)) {
            if let Some(first) = graph.first_parent(node) {
                known.next.entry(first).or_default().push(node);
            }
        }
        known
    }

    /// Adds one more.
    pub fn add(&mut self, number: u32, head: Node, landed: &Landed) {
        self.landings.entry(landed.commit).or_insert(number);
        self.heads.entry(head).or_insert(number);
    }

    /// The pull request that landed by a replay's last commit, or whose head that is.
    pub fn lander(&self, replay: &Replay) -> Option<u32> {
        let by_commit = self
            .landed_alone
            .get(&replay.commit)
            .filter(|(base, _)| *base == replay.base);
        by_commit
            .map(|(_, number)| *number)
            .or_else(|| self.all_heads.get(&replay.commit).copied())
    }

    /// The pull request that brought a commit.
    pub fn carrier(&self, node: Node) -> Option<u32> {
        self.carriers.get(&node).copied()
    }
}

/// How a head on a branch landed.
///
/// # Errors
/// Why it is not taken for merged.
pub fn by_ancestry(trunk: &Trunk<'_>, known: &Known, head: Node) -> Result<Landed, Doubt> {
    if let Some(other) = known.heads.get(&head) {
        return Err(Doubt::SameHead(*other));
    }
    if !trunk.trusted.contains(head) {
        return Err(Doubt::InProgress);
    }
    if known.landings.contains_key(&head) || trunk.words(head).is_some() {
        return Err(Doubt::BranchMade);
    }
    if let Some(landed) = merged_directly(trunk, known, head) {
        return Ok(landed);
    }
    if let Some(other) = known.carrier(head) {
        return Err(Doubt::Carried(other));
    }
    forwarded(trunk, known, head)
}

fn merged_directly(trunk: &Trunk<'_>, known: &Known, head: Node) -> Option<Landed> {
    let graph = trunk.graph;
    if trunk.line.contains(head) {
        return None;
    }
    let merge = known.brought.get(&head)?.iter().copied().find(|merge| {
        let by = &graph.commit(*merge).author;
        let own = graph.fork(graph.parents(*merge)[0], head).own;
        trunk.trusted.contains(*merge)
            && trunk.is_integrator(&by.name)
            && !known.landings.contains_key(merge)
            && !joins_branches(graph.commit(*merge).subject())
            && !own.is_empty()
            // A branch brought up to date brings in what others landed.
            && own.iter().all(|node| !trunk.line.contains(*node) && !known.landings.contains_key(node))
    })?;
    let base = graph.first_parent(merge)?;
    Some(Landed {
        commit: merge,
        base,
        kind: MergeKind::Merge,
        evidence: vec![MergeEvidence::Ancestry],
    })
}

/// Whether a merge brings one of the repository's own lasting branches into another, not somebody's work.
fn joins_branches(subject: &str) -> bool {
    static LASTING: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"^Merge (?:remote[- ](?:tracking )?)?branch '(?:origin/|upstream/)?(?:master|main|trunk|dev|develop|stable|next|features?|v?\d+[\w.]*(?:-maintenance|-stable)?|(?:maintenance|release|releases|stable|hotfix)[/-].*)'(?: into .*)?$",
        )
    });
    LASTING.is_match(subject)
}

/// The branch moved on to the head: a contributor's commits, and right on top the next one by somebody who integrates.
fn forwarded(trunk: &Trunk<'_>, known: &Known, head: Node) -> Result<Landed, Doubt> {
    let graph = trunk.graph;
    let commit = graph.commit(head);
    if trunk.is_integrator(&commit.author.name) || is_forge(&commit.committer.name) {
        return Err(Doubt::BranchMade);
    }
    if commit.parents.len() != 1 || trunk.is_integrator(&commit.committer.name) {
        return Err(Doubt::Unclear);
    }
    let on_top = known.next.get(&head).map_or(&[][..], Vec::as_slice);
    let moved_on = on_top.iter().any(|next| {
        let by = graph.commit(*next);
        trunk.is_integrator(&by.author.name) && !same_person(&by.author, &commit.author)
    });
    if !moved_on {
        return Err(Doubt::Unclear);
    }
    let mut base = head;
    while graph.parents(base).len() == 1
        && same_person(&graph.commit(base).author, &commit.author)
        && !known.landings.contains_key(&base)
    {
        base = graph.parents(base)[0];
    }
    Ok(Landed {
        commit: head,
        base,
        kind: MergeKind::FastForward,
        evidence: vec![MergeEvidence::Ancestry],
    })
}
