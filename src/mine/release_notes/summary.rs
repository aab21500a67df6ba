//! What a project's release notes come to, in numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::model::Kind;
use super::resolve::{Outcome, Resolved};

/// The counts of a project's release notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Files that hold entries.
    pub files: usize,
    /// Versions that have entries.
    pub versions: usize,
    /// Entries.
    pub entries: usize,
    /// Entries that name an issue or a pull request.
    pub with_reference: usize,
    /// Entries that were resolved to a pull request that landed.
    pub resolved: usize,
    /// How many entries there are of each kind.
    pub kinds: BTreeMap<Kind, usize>,
    /// The same of the entries that tell of features.
    pub features: Features,
}

/// The counts of entries that tell of features, enhancements, new checks and extensions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Features {
    /// Entries.
    pub entries: usize,
    /// Entries that name an issue or a pull request.
    pub with_reference: usize,
    /// Entries that were resolved to a pull request that landed.
    pub resolved: usize,
    /// Entries of which several pull requests could be told equally well.
    pub ambiguous: usize,
    /// Different pull requests that they were resolved to.
    pub pull_requests: usize,
    /// How the search ended, for each way.
    pub outcomes: BTreeMap<Outcome, usize>,
}

/// Counts entries.
pub fn summary(entries: &[Resolved]) -> Summary {
    let is_resolved = |resolved: &&Resolved| resolved.outcome == Outcome::Resolved;
    let names = |resolved: &&Resolved| !resolved.entry.references.is_empty();
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    for resolved in entries {
        *kinds.entry(resolved.entry.kind).or_default() += 1;
    }
    let files: BTreeSet<_> = entries
        .iter()
        .map(|resolved| &resolved.entry.place.file)
        .collect();
    let versions: BTreeSet<_> = entries
        .iter()
        .filter_map(|resolved| resolved.entry.version.as_ref())
        .collect();
    let features: Vec<&Resolved> = entries
        .iter()
        .filter(|resolved| resolved.entry.kind.is_feature())
        .collect();
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    for resolved in &features {
        *outcomes.entry(resolved.outcome).or_default() += 1;
    }
    let pulls: BTreeSet<u32> = features
        .iter()
        .flat_map(|resolved| resolved.chosen().map(|found| found.number))
        .collect();
    Summary {
        files: files.len(),
        versions: versions.len(),
        entries: entries.len(),
        with_reference: entries.iter().filter(names).count(),
        resolved: entries.iter().filter(is_resolved).count(),
        kinds,
        features: Features {
            entries: features.len(),
            with_reference: features.iter().copied().filter(names).count(),
            resolved: features.iter().copied().filter(is_resolved).count(),
            ambiguous: features.iter().filter(|resolved| resolved.ambiguous).count(),
            pull_requests: pulls.len(),
            outcomes,
        },
    }
}
