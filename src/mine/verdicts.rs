//! Mining's own decisions: why a pull request makes no candidate.

use serde_json::{Value, json};

use super::ancestry::Doubt;
use super::assemble::Fault;
use super::graph::Node;
use super::mapping::Miss;
use super::trunk::Trunk;
use crate::domain::decision::{Decision, Verdict};
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{CandidateId, CommitSha};

/// Grows when what mining decides changes.
pub const VERSION: u32 = 2;

/// The rule by which a pull request is none any longer: the mirror that an earlier reading found it in has lost it. It is
/// no part of what that mirror holds now.
pub const GONE: &str = "mine-head-gone";

/// The rule about refs that name no pull request.
pub const ODD_REFS: &str = "mine-odd-refs";

/// A ref that names no pull request: its name, the object that it leads to, and why it names none.
pub type OddRef<'a> = (&'a str, CommitSha, &'static str);

/// Why a pull request makes no candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The mirror has the ref but not the commit.
    HeadMissing,
    /// Its ref leads to something else than a commit.
    HeadIs(&'static str),
    /// It is not taken for merged.
    Miss(Miss),
    /// It landed, and yet.
    Fault {
        /// The commit that landed it.
        commit: CommitSha,
        /// What is wrong.
        fault: Fault,
    },
}

/// Every rule that mining decides by, with what it asks.
pub const RULES: &[(&str, &str)] = &[
    ("mine-head-missing", "the pull request's head is in the mirror"),
    ("mine-head-no-commit", "the pull request's head is a commit"),
    (GONE, "the mirror that had the pull request's head still has it"),
    (ODD_REFS, "every ref below `refs/pull/` names a pull request"),
    (
        "mine-not-merged",
        "a branch holds the pull request, names it, or repeats its change",
    ),
    (
        "mine-branch-commit",
        "the head is the pull request's own commit, not one that the branch made",
    ),
    (
        "mine-unclear",
        "the branch holds the head as a merge, not by chance",
    ),
    (
        "mine-carried-by-another",
        "the pull request landed by itself, not inside another one",
    ),
    (
        "mine-duplicate",
        "the change landed as this pull request, not as another one",
    ),
    (
        "mine-name-only",
        "the commit that names the pull request makes its change",
    ),
    ("mine-empty", "what landed changes something"),
    ("mine-diff-too-large", "the diff is within the limit"),
    (
        "mine-object-missing",
        "every object that the diff needs is in the mirror",
    ),
];

/// The decision.
pub fn decision(trunk: &Trunk<'_>, candidate: CandidateId, head: CommitSha, reason: &Reason) -> Decision {
    let sha = |node: Node| trunk.graph.commit(node).sha;
    let other = |number: u32| CandidateId::pull(candidate.repo.clone(), number).to_string();
    let (rule, more, evidence): (&str, Value, String) = match reason {
        Reason::HeadMissing => {
            ("mine-head-missing", json!({}), format!("the mirror names {head} and does not hold it"))
        }
        Reason::HeadIs(kind) => (
            "mine-head-no-commit",
            json!({"is": kind}),
            format!("its ref leads to {kind}, not to a commit"),
        ),
        Reason::Miss(Miss::NoTrace) => (
            "mine-not-merged",
            json!({}),
            "no branch or tag holds its head, no commit there names it, none repeats its change".to_owned(),
        ),
        Reason::Miss(Miss::OnBranch(Doubt::InProgress)) => (
            "mine-not-merged",
            json!({}),
            "only a branch of work in progress holds its head, and no other repeats its change".to_owned(),
        ),
        Reason::Miss(Miss::OnBranch(Doubt::BranchMade)) => (
            "mine-branch-commit",
            json!({}),
            "its head is a commit that the branch made itself: it was opened or brought up to date from the branch"
                .to_owned(),
        ),
        Reason::Miss(Miss::OnBranch(Doubt::Unclear)) => (
            "mine-unclear",
            json!({}),
            "a branch holds its head, but nothing tells whether it was merged or came in with something else".to_owned(),
        ),
        Reason::Miss(Miss::OnBranch(Doubt::SameHead(number))) => {
            ("mine-duplicate", json!({"landed_as": other(*number)}), format!("{} has the same head, and landed", other(*number)))
        }
        Reason::Miss(Miss::SameChange(number)) => {
            ("mine-duplicate", json!({"landed_as": other(*number)}), format!("the same change landed as {}", other(*number)))
        }
        Reason::Miss(Miss::OnBranch(Doubt::Carried(number)) | Miss::CarriedReplay(number)) => (
            "mine-carried-by-another",
            json!({"carried_by": other(*number)}),
            format!("its commits came in with {}", other(*number)),
        ),
        Reason::Miss(Miss::NameOnly { commit, likeness }) => (
            "mine-name-only",
            json!({"named_by": sha(*commit), "shared_paths": likeness.shared}),
            format!("{} names it and makes another change", sha(*commit).short()),
        ),
        Reason::Miss(Miss::Empty { commit }) => (
            "mine-empty",
            json!({"named_by": sha(*commit)}),
            format!("{} lands it by its words and changes nothing", sha(*commit).short()),
        ),
        Reason::Miss(Miss::Unreadable(detail)) => ("mine-object-missing", json!({}), detail.clone()),
        Reason::Fault { commit, fault } => {
            let (rule, more, evidence) = match fault {
                Fault::Empty => ("mine-empty", json!({}), "its diff is empty".to_owned()),
                Fault::TooLarge { bytes } => {
                    ("mine-diff-too-large", json!({"diff_bytes": bytes}), format!("its diff has {bytes} bytes"))
                }
                Fault::Unreadable(detail) => ("mine-object-missing", json!({}), detail.clone()),
            };
            (rule, with(more, "landed_by", json!(commit)), evidence)
        }
    };
    drop_by(rule, candidate, with(more, "head", json!(head)), evidence)
}

/// The decision on a pull request that the mirror has lost since an earlier reading.
pub fn gone(candidate: CandidateId) -> Decision {
    let evidence = "the mirror had it and has it no longer: it was deleted there, or this is another mirror";
    drop_by(GONE, candidate, json!({}), evidence.to_owned())
}

/// The decision on refs that name no pull request, told under one number that is none's.
pub fn odd_refs(candidate: CandidateId, refs: &[OddRef<'_>]) -> Decision {
    const SHOWN: usize = 5;
    let of = |(name, object, why): &OddRef<'_>| json!({"name": name, "object": object, "why": why});
    let observed = json!({"refs": refs.iter().map(of).collect::<Vec<_>>()});
    let shown: Vec<String> = refs
        .iter()
        .take(SHOWN)
        .map(|(name, _, why)| format!("`{name}`: {why}"))
        .collect();
    let more = match refs.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let evidence = format!("no pull request is named by {}{more}", shown.join("; "));
    drop_by(ODD_REFS, candidate, observed, evidence)
}

fn drop_by(rule: &str, candidate: CandidateId, observed: Value, evidence: String) -> Decision {
    let input_key = KeyHasher::new("mine", VERSION)
        .part("rule", rule.as_bytes())
        .json("observed", &observed)
        .finish();
    Decision {
        candidate,
        rule: rule.into(),
        verdict: Verdict::Drop,
        kept: false,
        observed,
        evidence,
        input_key,
    }
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.insert(name.to_owned(), value);
    }
    object
}
