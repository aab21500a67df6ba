//! Which of a mirror's branches pull requests land on, and in which order they are asked.

use std::sync::LazyLock;

use regex::Regex;

use super::graph::{Graph, NodeSet};
use super::pattern::compiled;
use super::release::version;
use super::trunk::Root;
use crate::domain::ids::CommitSha;

/// A ref's short name and its commit.
pub type Named = (String, CommitSha);

/// The roots in the order they are asked: the default branch, branches that carry releases or are named for one, tags,
/// and the branches of work in progress. Each group is sorted by name.
pub fn roots(graph: &Graph, default: Option<&str>, branches: &[Named], tags: &[Named]) -> Vec<Root> {
    let main = default.and_then(|name| branches.iter().find(|(branch, _)| branch == name));
    let mut on_main = NodeSet::with_room(graph.len());
    if let Some(tip) = main.and_then(|(_, tip)| graph.find(*tip)) {
        graph.reach(&mut on_main, &[tip], |_| {});
    }
    let mut released = NodeSet::with_room(graph.len());
    for (name, commit) in tags {
        if let Some(node) = graph
            .find(*commit)
            .filter(|node| version(name).is_some() && !on_main.contains(*node))
        {
            released.insert(node);
        }
    }
    let lasts = |(name, tip): &&Named| is_named_for_release(name) || holds(graph, &on_main, &released, *tip);
    let others = || branches.iter().filter(|branch| Some(*branch) != main);
    let (mut lasting, mut passing): (Vec<&Named>, Vec<&Named>) = others().partition(lasts);
    let mut tags: Vec<&Named> = tags.iter().collect();
    for list in [&mut lasting, &mut passing, &mut tags] {
        list.sort();
    }
    let root = |trusted: bool| {
        move |(name, tip): &Named| Root {
            name: name.clone(),
            tip: *tip,
            trusted,
        }
    };
    let trusted = main.into_iter().chain(lasting).chain(tags).map(root(true));
    trusted.chain(passing.into_iter().map(root(false))).collect()
}

/// Whether a branch holds a release that the default branch does not.
fn holds(graph: &Graph, on_main: &NodeSet, released: &NodeSet, tip: CommitSha) -> bool {
    let Some(tip) = graph.find(tip) else { return false };
    let mut seen = on_main.clone();
    let mut found = false;
    graph.reach(&mut seen, &[tip], |node| found |= released.contains(node));
    found
}

/// `4.6.x`, `maintenance/3.3.x`, `1.0-maintenance`, `stable`, `release/2.0`, `v2`: a name for a line of releases.
fn is_named_for_release(name: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"^(?:(?:maintenance|maint|release|releases|stable|support|branch|branches)[/_-])?v?\d+(?:\.\d+)*(?:\.x|\.X)?(?:[-_](?:maintenance|maint|stable|branch|lts))?$|^(?:stable|master|main|develop|trunk)$",
        )
    });
    FORM.is_match(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_named_for_releases_are_told_from_work() {
        for name in [
            "4.6.x",
            "maintenance/3.3.x",
            "1.0-maintenance",
            "stable",
            "release/2.0",
            "v2",
            "python-2.7",
        ] {
            assert_eq!(is_named_for_release(name), name != "python-2.7", "{name}");
        }
        for name in [
            "fix-7213",
            "backport-10929-to-maintenance/4.0.x",
            "origin/1.x",
            "release",
            "feature/2.0-api",
        ] {
            assert!(!is_named_for_release(name), "{name}");
        }
    }
}
