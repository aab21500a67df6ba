//! Which diff is a landed pull request's: the one it published, or what landed.

use std::collections::HashMap;

use super::graph::Node;
use super::mapping::{Comparisons, compare};
use super::merges::Landed;
use super::patch::apply;
use super::source::{Compared, FullDiff, Source, TreePair};
use super::split::section;
use super::subjects::Landing;
use super::trunk::Trunk;
use crate::domain::candidate::DiffSource;
use crate::domain::diff::file_changes;
use crate::domain::history::{DiffText, TreeChange};
use crate::domain::ids::CommitSha;
use crate::domain::path::RepoPath;

/// A pull request that landed, on its way to a candidate.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Its number.
    pub number: u32,
    /// Its head.
    pub head: Node,
    /// How it landed.
    pub landed: Landed,
    /// Where the head and the base parted.
    pub merge_base: Option<Node>,
    /// What the head has that the base has not.
    pub own: Vec<Node>,
    /// Whether the same commit landed others too (a merge bot's batch): then what landed is not this one's change.
    batch: bool,
}

impl Draft {
    /// Begins a draft.
    pub fn new(trunk: &Trunk<'_>, number: u32, head: Node, landed: Landed) -> Self {
        let fork = trunk.graph.fork(landed.base, head);
        let words = trunk
            .words(landed.commit)
            .and_then(|words| words.landing.as_ref());
        let batch =
            words.is_some_and(|landing| landing.numbers().len() > 1 && landing.numbers().contains(&number));
        let batch = batch && matches!(words, Some(Landing::Merge { .. })) && fork.merge_base.is_some();
        Self {
            number,
            head,
            landed,
            merge_base: fork.merge_base,
            own: fork.own,
            batch,
        }
    }

    fn tree(trunk: &Trunk<'_>, node: Node) -> CommitSha {
        trunk.graph.commit(node).tree
    }

    /// Merge base … head: the published, three-dot diff.
    fn published(&self, trunk: &Trunk<'_>) -> Option<TreePair> {
        Some((Self::tree(trunk, self.merge_base?), Self::tree(trunk, self.head)))
    }

    /// Base → landed; for a batch, merge base → base.
    fn beside(&self, trunk: &Trunk<'_>) -> TreePair {
        let base = Self::tree(trunk, self.landed.base);
        match self.merge_base {
            Some(merge_base) if self.batch => (Self::tree(trunk, merge_base), base),
            _ => (base, Self::tree(trunk, self.landed.commit)),
        }
    }
}

/// The settings that change what mining gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest diff, in bytes, that makes a candidate.
    pub diff_bytes: usize,
}

impl Default for Limits {
    /// 16 MiB: four times the largest diff of the five mirrors that this was made on.
    fn default() -> Self {
        Self { diff_bytes: 16 << 20 }
    }
}

/// A draft's diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Which one it is.
    pub source: DiffSource,
    /// Whether it applies to the base.
    pub applies: bool,
    /// The diff.
    pub diff: FullDiff,
}

/// A draft's diff, or why there is none.
pub type Choice = Compared<Chosen>;

/// One file that the published change takes from another content than the base has, or to another than what landed.
struct Stray {
    path: RepoPath,
    base: CommitSha,
    /// What landed; `None` where that holds others' changes too.
    result: Option<CommitSha>,
    same_modes: bool,
}

/// Chooses each draft's diff. It is the published one where that is what landed: every file goes from the same content
/// to the same content, or the published change, laid on the base, gives what landed. Otherwise (the head moved, the
/// maintainer changed it, conflicts were resolved) it is what landed, which applies to the base by its making. In a
/// merge bot's batch it is the published one always.
///
/// # Errors
/// When nothing can be compared.
pub fn settle<S: Source>(
    trunk: &Trunk<'_>,
    drafts: &[Draft],
    compared: &Comparisons,
    source: &S,
    limits: Limits,
) -> Result<Vec<Choice>, S::Error> {
    let mut more = Comparisons::new();
    let pairs = drafts
        .iter()
        .flat_map(|draft| draft.published(trunk).into_iter().chain([draft.beside(trunk)]));
    compare(
        source,
        &mut more,
        pairs.filter(|pair| !compared.contains_key(pair) && pair.0 != pair.1),
    )?;
    let entries = |pair: TreePair| match compared.get(&pair).or_else(|| more.get(&pair)) {
        Some(Ok(changes)) => Some(changes.as_slice()),
        None if pair.0 == pair.1 => Some(&[][..]),
        _ => None,
    };
    // `None` where the published change cannot be what landed.
    let strays: Vec<Option<Vec<Stray>>> = drafts
        .iter()
        .map(|draft| {
            let (own, beside) = (entries(draft.published(trunk)?)?, entries(draft.beside(trunk))?);
            if draft.batch {
                Some(moved_below(own, beside))
            } else {
                strays(own, beside)
            }
        })
        .collect();
    let first: Vec<TreePair> = drafts
        .iter()
        .zip(&strays)
        .map(|(draft, strays)| match (strays, draft.published(trunk)) {
            (Some(_), Some(published)) => published,
            _ => draft.beside(trunk),
        })
        .collect();
    let mut diffs: Vec<Compared<FullDiff>> = source.diffs(&first, limits.diff_bytes)?;
    let fits = fits(&strays, &diffs, source, limits)?;
    let is_published = |place: usize| strays[place].is_some() && (fits[place] || drafts[place].batch);
    let again: Vec<usize> = (0..drafts.len())
        .filter(|place| strays[*place].is_some() && !is_published(*place))
        .collect();
    let pairs: Vec<TreePair> = again.iter().map(|place| drafts[*place].beside(trunk)).collect();
    for (place, diff) in again.iter().zip(source.diffs(&pairs, limits.diff_bytes)?) {
        diffs[*place] = diff;
    }
    let choice = |(place, diff): (usize, Compared<FullDiff>)| {
        let (source, applies) = if is_published(place) {
            (DiffSource::Head, fits[place])
        } else {
            (DiffSource::Landed, true)
        };
        diff.map(|diff| Chosen {
            source,
            applies,
            diff,
        })
    };
    Ok(diffs.into_iter().enumerate().map(choice).collect())
}

/// The entries that two changes of the same paths do not share; `None` when the paths differ, or nothing changes.
fn strays(own: &[TreeChange], landed: &[TreeChange]) -> Option<Vec<Stray>> {
    let same_paths = own
        .iter()
        .map(|change| &change.path)
        .eq(landed.iter().map(|change| &change.path));
    if own.is_empty() || !same_paths {
        return None;
    }
    let differing = own.iter().zip(landed).filter(|(own, landed)| own != landed);
    Some(
        differing
            .map(|(own, landed)| Stray {
                path: own.path.clone(),
                base: landed.old,
                result: Some(landed.new),
                same_modes: own.old_mode == landed.old_mode && own.new_mode == landed.new_mode,
            })
            .collect(),
    )
}

/// The entries that the base changed since the head left it.
fn moved_below(own: &[TreeChange], below: &[TreeChange]) -> Vec<Stray> {
    let below: HashMap<&RepoPath, &TreeChange> = below.iter().map(|change| (&change.path, change)).collect();
    let moved = own.iter().filter_map(|change| {
        let base = below.get(&change.path)?;
        Some(Stray {
            path: change.path.clone(),
            base: base.new,
            result: None,
            same_modes: base.new_mode == change.old_mode,
        })
    });
    moved.collect()
}

/// For each draft, whether its published diff applies to the base and gives what landed.
fn fits<S: Source>(
    strays: &[Option<Vec<Stray>>],
    diffs: &[Compared<FullDiff>],
    source: &S,
    limits: Limits,
) -> Result<Vec<bool>, S::Error> {
    let all = || strays.iter().flatten().flatten();
    let bases: Vec<CommitSha> = all().map(|stray| stray.base).collect();
    let results: Vec<CommitSha> = all().filter_map(|stray| stray.result).collect();
    let mut bases = source.contents(&bases, limits.diff_bytes)?.into_iter();
    let mut results = source.contents(&results, limits.diff_bytes)?.into_iter();
    let mut fits = vec![];
    for (strays, diff) in strays.iter().zip(diffs) {
        let mut all_fit = true;
        let text = match diff {
            Ok(FullDiff {
                text: DiffText::Whole(text),
                ..
            }) => text.as_slice(),
            _ => &[],
        };
        let strays = strays.as_deref().unwrap_or_default();
        let files = if strays.is_empty() {
            vec![]
        } else {
            file_changes(text)
        };
        for stray in strays {
            let base = bases.next().flatten();
            let result = stray.result.map(|_| results.next().flatten());
            let file = files
                .iter()
                .find(|file| file.path == stray.path && file.old_path.is_none());
            let made = file
                .zip(base)
                .and_then(|(file, base)| apply(section(text, file), &base));
            all_fit &= stray.same_modes && made.is_some() && result.is_none_or(|result| result == made);
        }
        fits.push(all_fit);
    }
    Ok(fits)
}
