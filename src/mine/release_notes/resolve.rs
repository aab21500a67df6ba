//! From entries to the pull requests that they tell of.
//!
//! What may show a pull request, the best first:
//!
//! | evidence | what it is |
//! |---|---|
//! | `named` | the entry names the pull request itself |
//! | `fragment` | its commits brought the fragment that the entry was made of (who renames one did not) |
//! | `api` | the forge says that it closed an issue that the entry names |
//! | `closes` | its messages say that it closes that issue, or lands that pull request again |
//! | `line` | its commits wrote the entry's lines into the notes |
//! | `mentions` | its messages name that issue |
//!
//! **The rule.** Only pull requests that landed count (of those that the entry names also those whose head a branch holds,
//! though nothing tells that it was merged), and only those that can be of the entry's version: not one that
//! landed after it, not one that an older series of releases held (unless it wrote the entry that names it: then the
//! notes have it in the wrong place). Who changes nothing but release notes and versions (or many entries, and beside them
//! no more than documentation) tells of others' changes: that it wrote the entry or its fragment does not count. Of what is
//! left, every pull request that the entry names is chosen (unless nothing but its head in the history shows that it
//! landed, and another one is told of, which took it in); where it names none, the one with the best evidence: by rank
//! (`line` comes before `api` for who also names the entry's issue: two words are better than one), then by how many kinds
//! of evidence it has, then the one that landed first, then the lower number; reverts and backports come last, and before
//! them what was reverted. Of what was reverted and landed again, the one that stands is chosen, also where the entry names
//! the other. All that were found are kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::brought::Fragments;
use super::model::{Entry, Reference};
use super::orphans::Orphans;
use super::timeline::{Timeline, When};
use super::writers::{Writers, WrittenBy, writer_of};
use crate::domain::ids::RepoName;
use crate::mine::graph::Node;

/// What shows that an entry tells of a pull request, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The entry names it.
    Named,
    /// It added the entry's fragment.
    Fragment,
    /// The forge says that it closed the entry's issue.
    Api,
    /// Its messages say so.
    Closes,
    /// It wrote the entry's lines.
    Line,
    /// Its messages name the issue.
    Mentions,
}

impl Evidence {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Fragment => "fragment",
            Self::Line => "line",
            Self::Api => "api",
            Self::Closes => "closes",
            Self::Mentions => "mentions",
        }
    }

    /// Whether it shows a change itself, not only who tells of it.
    const fn is_of_change(self) -> bool {
        matches!(self, Self::Named | Self::Api | Self::Closes)
    }
}

/// A pull request that an entry may tell of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its number.
    pub number: u32,
    /// What shows it, the best first.
    pub evidence: Vec<Evidence>,
    /// What became of it.
    pub verdict: Verdict,
    /// Whether it was reverted, and that stands: it is chosen where nothing else is the entry's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// Whether a pull request that was found is the entry's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is.
    Chosen,
    /// Another one has better evidence.
    Weaker,
    /// It landed after the entry's version.
    Later,
    /// An older version held it.
    Earlier,
    /// It was reverted, and another one stands.
    Reverted,
    /// Only the notes' own history shows it, and it changes nothing else: it tells of another's change.
    NotesOnly,
    /// It did not land.
    NotMerged,
}

/// An entry with its pull requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// The entry.
    pub entry: Entry,
    /// Every pull request that was found, by number.
    pub pulls: Vec<Found>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the rule had to choose among several with equally good evidence.
    pub ambiguous: bool,
}

/// How the search for an entry's pull requests ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It tells of at least one pull request that landed.
    Resolved,
    /// It names nothing, and no pull request wrote its lines.
    NoReference,
    /// It names issues, and git does not tell which pull request closed them.
    IssueOnly,
    /// It names only pull requests that did not land.
    NotMerged,
    /// What was found landed in another version.
    OtherVersion,
    /// It names only other repositories.
    Elsewhere,
}

impl Outcome {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::NoReference => "no-reference",
            Self::IssueOnly => "issue-only",
            Self::NotMerged => "not-merged",
            Self::OtherVersion => "other-version",
            Self::Elsewhere => "elsewhere",
        }
    }
}

impl Resolved {
    /// The pull requests that the entry tells of.
    pub fn chosen(&self) -> impl Iterator<Item = &Found> {
        self.pulls.iter().filter(|found| found.verdict == Verdict::Chosen)
    }
}

/// A pull request that landed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LandedAt {
    /// By which commit.
    pub commit: Node,
    /// Onto which commit.
    pub base: Node,
    /// When, in seconds since 1970.
    pub at: i64,
    /// Whether it undoes another change, or carries one to another branch.
    pub second_hand: bool,
    /// Which commit undid it, where that still stands.
    pub undone: Option<Node>,
}

/// What is known of a repository's pull requests and of the history of its notes.
#[derive(Debug, Default)]
pub struct Known {
    /// The repository.
    pub repo: Option<RepoName>,
    /// What the forge calls it today.
    pub today: Option<RepoName>,
    /// Every pull request that there is.
    pub pulls: BTreeSet<u32>,
    /// Those that landed.
    pub landed: BTreeMap<u32, LandedAt>,
    /// Those whose head a branch holds, by that commit, though nothing tells that it was merged: they landed for who names
    /// them.
    pub by_head: BTreeMap<u32, LandedAt>,
    /// For each issue the pull requests whose messages name it, and whether they say that they close it.
    pub namers: BTreeMap<u32, BTreeMap<u32, bool>>,
    /// The same from the forge: who closed an issue.
    pub closers: BTreeMap<u32, Vec<u32>>,
    /// Who added fragments that no number is the name of.
    pub orphans: Orphans,
    /// Who brought the fragments that are named for numbers.
    pub fragments: Fragments,
    /// Pull requests that change nothing but release notes and versions, or collect notes and tidy documentation.
    pub slight: BTreeSet<u32>,
    /// Who wrote the notes' lines.
    pub lines: Writers,
    /// Releases.
    pub timeline: Timeline,
}

/// Whether a reference is to the repository itself, whose name is `home`, and `today` on the forge.
pub fn is_home(named: Option<&str>, home: &RepoName, today: Option<&RepoName>) -> bool {
    // A repository that moved has its old name in old addresses: the same last part is taken for the same one.
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    named.is_none_or(|named| {
        last(named) == last(home.name()) || today.is_some_and(|today| today.is_called(named))
    })
}

impl Known {
    /// Finds an entry's pull requests. `lines` are the lines that it stands on in its file.
    pub fn resolve(&self, entry: Entry, lines: &[&str]) -> Resolved {
        let mut evidence: BTreeMap<u32, BTreeSet<Evidence>> = BTreeMap::new();
        let mut add = |number: u32, kind: Evidence| {
            evidence.entry(number).or_default().insert(kind);
        };
        let mut here = 0;
        for reference in &entry.references {
            if !self.is_here(reference) {
                continue;
            }
            here += 1;
            let number = reference.number;
            if self.pulls.contains(&number) {
                add(number, Evidence::Named);
            }
            for pull in self.fragments.of(number, &entry, &self.slight) {
                add(pull, Evidence::Fragment);
            }
            self.closers
                .get(&number)
                .into_iter()
                .flatten()
                .for_each(|pull| add(*pull, Evidence::Api));
            for (pull, closes) in self.namers.get(&number).into_iter().flatten() {
                add(
                    *pull,
                    if *closes {
                        Evidence::Closes
                    } else {
                        Evidence::Mentions
                    },
                );
            }
        }
        for pull in self.orphans.of(&entry) {
            add(pull, Evidence::Fragment);
        }
        let writer = self.writer(lines);
        let is_told = writer.words.is_some_and(|pull| !self.slight.contains(&pull));
        writer
            .words
            .into_iter()
            .chain(writer.credits.filter(|_| !is_told))
            .for_each(|pull| add(pull, Evidence::Line));
        let mut pulls: Vec<Found> = evidence
            .into_iter()
            .map(|(number, evidence)| {
                let is_named = evidence.contains(&Evidence::Named);
                let own_word = is_named
                    && (evidence.contains(&Evidence::Line) || evidence.contains(&Evidence::Fragment));
                let told_only = !evidence.iter().any(|evidence| evidence.is_of_change());
                let verdict = match self.first_verdict(&entry, number, is_named) {
                    Verdict::Later | Verdict::Earlier if own_word => Verdict::Weaker,
                    Verdict::Weaker if told_only && self.slight.contains(&number) => Verdict::NotesOnly,
                    verdict => verdict,
                };
                Found {
                    number,
                    evidence: evidence.into_iter().collect(),
                    verdict,
                    undone: self
                        .landing(number, is_named)
                        .is_some_and(|landed| landed.undone.is_some()),
                }
            })
            .collect();
        let ambiguous = self.choose(&mut pulls);
        // Who wrote the lines at another time (a file that moved, a mended word) tells nothing.
        let has = |verdict| {
            let only_line = |found: &Found| found.evidence == [Evidence::Line] && verdict != Verdict::Chosen;
            pulls
                .iter()
                .any(|found| found.verdict == verdict && !only_line(found))
        };
        let outcome = match () {
            () if has(Verdict::Chosen) => Outcome::Resolved,
            () if has(Verdict::Later) || has(Verdict::Earlier) => Outcome::OtherVersion,
            () if has(Verdict::NotMerged) => Outcome::NotMerged,
            () if here > 0 => Outcome::IssueOnly,
            () if !entry.references.is_empty() => Outcome::Elsewhere,
            () => Outcome::NoReference,
        };
        Resolved {
            entry,
            pulls,
            outcome,
            ambiguous,
        }
    }

    fn is_here(&self, reference: &Reference) -> bool {
        let named = reference.repo.as_deref();
        match &self.repo {
            Some(home) => is_home(named, home, self.today.as_ref()),
            None => named.is_none(),
        }
    }

    /// Who brought the fragments that an entry may be made of.
    pub fn bringers(&self, entry: &Entry) -> BTreeSet<u32> {
        let here = entry
            .references
            .iter()
            .filter(|reference| self.is_here(reference));
        let fragments = here.flat_map(|reference| self.fragments.all(reference.number));
        fragments.chain(self.orphans.of(entry)).collect()
    }

    /// Who wrote the lines that an entry stands on.
    pub fn writer(&self, lines: &[&str]) -> WrittenBy {
        writer_of(&self.lines, lines)
    }

    /// How a pull request landed; where the entry names it, its head on a branch is enough.
    pub(super) fn landing(&self, number: u32, is_named: bool) -> Option<&LandedAt> {
        let by_head = || self.by_head.get(&number).filter(|_| is_named);
        self.landed.get(&number).or_else(by_head)
    }

    fn first_verdict(&self, entry: &Entry, number: u32, is_named: bool) -> Verdict {
        let Some(landed) = self.landing(number, is_named) else {
            return Verdict::NotMerged;
        };
        let (version, date) = (entry.version.as_deref(), entry.date.as_deref());
        match self.timeline.place(version, date, landed.commit, landed.at) {
            When::Within => Verdict::Weaker,
            When::Later => Verdict::Later,
            When::Earlier => Verdict::Earlier,
        }
    }
}

#[cfg(test)]
mod tests;
