//! What is left to do: which heads an earlier reading decided, and how far it saw.
//!
//! Every batch leaves a page: the tips of the branches that it read, and the heads it decided. Pages are only added, so a
//! killed reading loses one batch; the next one decides what no page names, and looks again at what had not landed, but
//! only among the commits that its page's tips do not reach.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::verdicts::VERSION;
use crate::domain::ids::CommitSha;

/// What one batch decided.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Mining's version at the time: what another version decided is decided again.
    pub version: u32,
    /// Hash of every ref that was read.
    pub refs: String,
    /// The tips of the branches that were read: together they reach everything on any branch.
    pub tips: BTreeSet<CommitSha>,
    /// The heads that were decided.
    pub heads: BTreeMap<u32, Decided>,
    /// Whether every head that had not landed by then was looked at again.
    pub looked_again: bool,
    /// Heads that earlier readings decided and that the mirror has no longer.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub gone: BTreeSet<u32>,
    /// The number under which odd refs were told, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odd: Option<u32>,
}

/// A decided head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// The head.
    pub head: CommitSha,
    /// The commit that landed it, and the one it landed on; `None` when it had not landed.
    pub landing: Option<(CommitSha, CommitSha)>,
}

/// What is known of a mirror.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The decided heads, each with the tips that were seen.
    heads: BTreeMap<u32, (Decided, usize)>,
    /// The tips, by page.
    tips: Vec<BTreeSet<CommitSha>>,
    /// The refs of the last reading that came to its end.
    refs: Option<String>,
    /// The number under which it told of odd refs, if there were any.
    odd: Option<u32>,
}

/// What is to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// Heads that were never decided, or moved since.
    pub new: BTreeMap<u32, CommitSha>,
    /// Heads that had not landed, by the tips that were seen then.
    pub again: BTreeMap<BTreeSet<CommitSha>, Vec<u32>>,
    /// Pull requests that landed: they stay as they are.
    pub landed: BTreeMap<u32, Decided>,
}

impl Known {
    /// What these pages tell, the oldest first.
    pub fn new(pages: impl IntoIterator<Item = Page>) -> Self {
        let mut known = Self::default();
        for page in pages.into_iter().filter(|page| page.version == VERSION) {
            let place = known.tips.len();
            known.tips.push(page.tips);
            known.heads.extend(
                page.heads
                    .into_iter()
                    .map(|(number, decided)| (number, (decided, place))),
            );
            known.heads.retain(|number, _| !page.gone.contains(number));
            if page.looked_again {
                known.refs = Some(page.refs);
                known.odd = page.odd;
                known
                    .heads
                    .values_mut()
                    .filter(|(decided, _)| decided.landing.is_none())
                    .for_each(|head| head.1 = place);
            }
        }
        known
    }

    /// What is to do for a mirror with these heads and these tips.
    pub fn work(&self, heads: &BTreeMap<u32, CommitSha>, tips: &BTreeSet<CommitSha>) -> Work {
        let mut work = Work::default();
        for (number, head) in heads {
            match self.heads.get(number) {
                Some((decided, place)) if decided.head == *head => {
                    if decided.landing.is_some() {
                        work.landed.insert(*number, *decided);
                    } else if self.tips[*place] != *tips {
                        work.again
                            .entry(self.tips[*place].clone())
                            .or_default()
                            .push(*number);
                    }
                }
                _ => {
                    work.new.insert(*number, *head);
                }
            }
        }
        work
    }

    /// Pull requests that were decided and that the mirror, which has these heads now, has lost. What was decided of others may
    /// rest on them.
    pub fn gone(&self, heads: &BTreeMap<u32, CommitSha>) -> BTreeSet<u32> {
        let known = self.heads.keys().copied();
        known.filter(|number| !heads.contains_key(number)).collect()
    }

    /// The number under which the last reading told of odd refs, if there were any.
    pub fn odd(&self) -> Option<u32> {
        self.odd
    }

    /// Whether a reading of just these refs came to its end.
    pub fn is_done(&self, refs: &str) -> bool {
        self.refs.as_deref() == Some(refs)
    }

    /// How many heads were decided.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }
}

impl Work {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.again.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha(byte: u8) -> CommitSha {
        CommitSha::from_bytes([byte; 20])
    }

    fn page(tips: &[u8], heads: &[(u32, u8, Option<u8>)], looked_again: bool) -> Page {
        Page {
            version: VERSION,
            refs: format!("{tips:?}"),
            tips: tips.iter().copied().map(sha).collect(),
            heads: heads
                .iter()
                .map(|(number, head, landing)| {
                    (
                        *number,
                        Decided {
                            head: sha(*head),
                            landing: landing.map(|commit| (sha(commit), sha(0))),
                        },
                    )
                })
                .collect(),
            looked_again,
            gone: BTreeSet::new(),
            odd: None,
        }
    }

    fn show(work: &Work) -> String {
        let again = work
            .again
            .values()
            .flatten()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ");
        let list = |numbers: Vec<&u32>| {
            numbers
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        format!(
            "new {} | again {again} | landed {}",
            list(work.new.keys().collect()),
            list(work.landed.keys().collect())
        )
    }

    #[test]
    fn only_what_is_new_or_may_have_landed_is_looked_at() {
        let pages = vec![
            page(&[1], &[(1, 11, Some(1)), (2, 12, None)], false),
            page(&[1], &[(3, 13, None)], true),
        ];
        let heads: BTreeMap<u32, CommitSha> = [(1, sha(11)), (2, sha(12)), (3, sha(99)), (4, sha(14))].into();
        let tips = |list: &[u8]| list.iter().copied().map(sha).collect::<BTreeSet<_>>();
        let known = Known::new(pages.clone());
        assert_eq!(
            show(&known.work(&heads, &tips(&[1]))),
            "new 3 4 | again  | landed 1"
        );
        assert_eq!(
            show(&known.work(&heads, &tips(&[2]))),
            "new 3 4 | again 2 | landed 1"
        );
        assert!(known.is_done("[1]") && !known.is_done("[2]"));
        // A later page that looked again at the new tips settles them.
        let later = Known::new(pages.iter().cloned().chain([page(&[2], &[], true)]));
        assert_eq!(
            show(&later.work(&heads, &tips(&[2]))),
            "new 3 4 | again  | landed 1"
        );
        // What another version of mining decided counts for nothing.
        let old = pages.into_iter().map(|page| Page {
            version: VERSION + 1,
            ..page
        });
        assert_eq!(
            show(&Known::new(old).work(&heads, &tips(&[1]))),
            "new 1 2 3 4 | again  | landed "
        );
    }
}
