//! Which commit landed which pull request, by what commits say: merge and squash subjects.
//!
//! A number in a subject is a claim, not a proof: contributors' forks number their own pull requests, maintainers name a
//! pull request that they do otherwise, and copies of a landing travel to other branches. So a claim needs the head
//! itself among what the commit brought, or the same content, or the same files from the same hands.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use super::graph::{Fork, Graph, Node};
use super::source::TreePair;
use super::subjects::Landing;
use super::trunk::{Trunk, is_forge, key};
use crate::domain::candidate::{MergeEvidence, MergeKind};
use crate::domain::history::TreeChange;

/// How a pull request landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    /// The commit on the branch that brought it.
    pub commit: Node,
    /// The commit that it was brought onto.
    pub base: Node,
    /// By which road.
    pub kind: MergeKind,
    /// What shows it, strongest first.
    pub evidence: Vec<MergeEvidence>,
}

/// A commit that by its words landed a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The commit.
    pub commit: Node,
    /// Its first parent.
    pub base: Node,
    /// Where the head and that parent parted.
    pub fork: Fork,
    /// Whether the head is among what the commit brought.
    pub holds_head: bool,
}

/// Every claim on the given pull requests. A head that was there before the commit is not landed by it.
pub fn claims(trunk: &Trunk<'_>, heads: &BTreeMap<u32, Node>) -> BTreeMap<u32, Vec<Claim>> {
    let graph = trunk.graph;
    let mut claims: BTreeMap<u32, Vec<Claim>> = BTreeMap::new();
    for commit in graph.nodes() {
        let Some(words) = trunk.words(commit) else {
            continue;
        };
        let Some(base) = graph.first_parent(commit) else {
            continue;
        };
        let numbers = words.landing.as_ref().map_or(&[][..], Landing::numbers);
        for number in numbers {
            let Some(head) = heads.get(number).copied() else {
                continue;
            };
            if head == commit {
                continue;
            }
            let fork = graph.fork(base, head);
            if fork.own.is_empty() {
                continue;
            }
            let holds_head = graph.parents(commit)[1..]
                .iter()
                .any(|other| *other == head || graph.fork(*other, head).merge_base == Some(head));
            claims.entry(*number).or_default().push(Claim {
                commit,
                base,
                fork,
                holds_head,
            });
        }
    }
    claims
}

/// The trees that must be compared to judge a claim: the pull request's own change, and what landed. `None` for a head
/// whose history has nothing to do with the branch's.
pub fn pairs_of(graph: &Graph, claim: &Claim, head: Node) -> Option<[TreePair; 2]> {
    let tree = |node: Node| graph.commit(node).tree;
    Some([
        (tree(claim.fork.merge_base?), tree(head)),
        (tree(claim.base), tree(claim.commit)),
    ])
}

/// How alike a pull request's own change and what landed are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Likeness {
    /// The same paths end up the same.
    pub same: bool,
    /// Paths in both, in hundredths of those in either.
    pub hundredths: usize,
    /// Paths in both.
    pub shared: usize,
    /// Paths in the smaller of the two.
    pub smaller: usize,
}

impl Likeness {
    /// Compares two lists of changed entries, each sorted by path.
    pub fn of(own: &[TreeChange], landed: &[TreeChange]) -> Self {
        let (mut ours, mut theirs) = (own.iter().peekable(), landed.iter().peekable());
        let (mut shared, mut same) = (0, own.len() == landed.len() && !own.is_empty());
        // Both are sorted by path.
        while let (Some(one), Some(other)) = (ours.peek(), theirs.peek()) {
            match one.path.cmp(&other.path) {
                Ordering::Less => _ = ours.next(),
                Ordering::Greater => _ = theirs.next(),
                Ordering::Equal => {
                    shared += 1;
                    same &= (one.new, one.new_mode) == (other.new, other.new_mode);
                    (_, _) = (ours.next(), theirs.next());
                }
            }
        }
        let either = own.len() + landed.len() - shared;
        Self {
            same: same && shared == own.len(),
            hundredths: (shared * 100).checked_div(either).unwrap_or_default(),
            shared,
            smaller: own.len().min(landed.len()),
        }
    }

    /// Whether most of the smaller change is in the other one.
    pub fn is_close(&self) -> bool {
        self.shared > 0 && self.shared * 4 >= self.smaller * 3
    }
}

/// A judged claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// How alike it is; `None` where the head itself is in it.
    pub likeness: Option<Likeness>,
}

/// The best of a pull request's claims: one that holds the head, then the same content, then the most alike; the default
/// branch before others, earlier before later. `Err` tells the best one that was not believed.
///
/// # Errors
/// The claim that was best and yet not believed; `None` inside when there was none at all.
pub fn choose(trunk: &Trunk<'_>, head: Node, mut judged: Vec<Judged>) -> Result<Landed, Option<Judged>> {
    let rank = |judged: &Judged| {
        let likeness = judged
            .likeness
            .map(|likeness| (!likeness.same, 100 - likeness.hundredths));
        (likeness, trunk.root(judged.claim.commit), judged.claim.commit)
    };
    judged.sort_by_key(rank);
    match judged.iter().position(|judged| is_believed(trunk, judged)) {
        Some(place) => Ok(landed(trunk, head, &judged[place])),
        None => Err(judged.into_iter().next()),
    }
}

fn is_believed(trunk: &Trunk<'_>, judged: &Judged) -> bool {
    let Some(likeness) = judged.likeness else {
        return true;
    };
    if likeness.same {
        return true;
    }
    if !likeness.is_close() {
        return false;
    }
    let graph = trunk.graph;
    let commit = graph.commit(judged.claim.commit);
    let is_merge = matches!(
        trunk
            .words(judged.claim.commit)
            .and_then(|words| words.landing.as_ref()),
        Some(Landing::Merge { .. })
    );
    // Somebody's own commit that names another's pull request does not land it; one that a button or a maintainer made
    // out of somebody's work does.
    let own_hands = is_by_one_hand(trunk, judged.claim.commit);
    is_merge
        || !own_hands
        || judged
            .claim
            .fork
            .own
            .iter()
            .any(|own| same_person(&graph.commit(*own).author, &commit.author))
}

fn is_by_one_hand(trunk: &Trunk<'_>, node: Node) -> bool {
    let commit = trunk.graph.commit(node);
    !is_forge(&commit.committer.name) && same_person(&commit.author, &commit.committer)
}

/// Whether two people are one, by name or by address.
pub(super) fn same_person(
    one: &crate::domain::history::Person,
    other: &crate::domain::history::Person,
) -> bool {
    key(&one.name) == key(&other.name) || (!one.email.is_empty() && key(&one.email) == key(&other.email))
}

fn landed(trunk: &Trunk<'_>, head: Node, judged: &Judged) -> Landed {
    let Claim { commit, base, .. } = judged.claim;
    let words = trunk.words(commit).and_then(|words| words.landing.as_ref());
    let mut evidence = vec![match words {
        Some(Landing::Squash { .. }) => MergeEvidence::SquashSubject,
        _ => MergeEvidence::MergeSubject,
    }];
    if judged.likeness.is_none() || trunk.all.contains(head) {
        evidence.push(MergeEvidence::Ancestry);
    }
    if judged.likeness.is_some_and(|likeness| likeness.same) {
        evidence.push(MergeEvidence::PatchId);
    }
    let kind = if trunk.graph.parents(commit).len() > 1 {
        MergeKind::Merge
    } else {
        MergeKind::Squash
    };
    Landed {
        commit,
        base,
        kind,
        evidence,
    }
}

/// Merge commits by the parents that they brought in.
pub fn brought(trunk: &Trunk<'_>) -> HashMap<Node, Vec<Node>> {
    let mut brought: HashMap<Node, Vec<Node>> = HashMap::new();
    for merge in trunk.graph.nodes().filter(|node| trunk.all.contains(*node)) {
        for other in trunk.graph.parents(merge).iter().skip(1) {
            brought.entry(*other).or_default().push(merge);
        }
    }
    brought
}
