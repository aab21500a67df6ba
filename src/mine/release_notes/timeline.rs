//! Releases in the order of time, and which one first held a commit.

use super::versions::numbers;
use crate::domain::ids::CommitSha;
use crate::mine::graph::{Graph, Node, NodeSet};
use crate::mine::release::version;

/// A day, in seconds.
const DAY: i64 = 86_400;
/// How long after its version's date a change may have landed: notes are dated by hand.
const GRACE: i64 = 3 * DAY;

/// A final release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Its tag.
    pub tag: String,
    /// Its version's numbers.
    pub numbers: Vec<u64>,
    /// When its commit was made, in seconds since 1970.
    pub at: i64,
}

/// Releases, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    releases: Vec<Release>,
    first_in: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Timeline {
    /// Reads the tags (name and commit, in any order); those that name no final release do not count.
    pub fn new(graph: &Graph, tags: &[(String, CommitSha)]) -> Self {
        let mut marked: Vec<(i64, Node, Vec<u64>, &str)> = tags
            .iter()
            .filter_map(|(name, commit)| {
                let node = graph.find(*commit)?;
                Some((
                    graph.commit(node).committed_at,
                    node,
                    version(name)?,
                    name.as_str(),
                ))
            })
            .collect();
        marked.sort();
        let mut seen = NodeSet::with_room(graph.len());
        let mut first_in = vec![NONE; graph.len()];
        for (place, (_, node, _, _)) in (0..).zip(&marked) {
            graph.reach(&mut seen, &[*node], |node| first_in[node as usize] = place);
        }
        let releases = marked.into_iter().map(|(at, _, numbers, tag)| Release {
            tag: tag.to_owned(),
            numbers,
            at,
        });
        Self {
            releases: releases.collect(),
            first_in,
        }
    }

    /// The oldest release that holds a commit.
    pub fn first_with(&self, node: Node) -> Option<&Release> {
        self.releases.get(*self.first_in.get(node as usize)? as usize)
    }

    /// The release of a version, by its numbers; zeros at the end do not matter.
    pub fn of(&self, version: &str) -> Option<&Release> {
        let wanted = numbers(version);
        (!wanted.is_empty())
            .then(|| {
                self.releases
                    .iter()
                    .find(|release| trimmed(&release.numbers) == trimmed(&wanted))
            })
            .flatten()
    }

    /// Whether a change that landed by this commit, at this time, can be what the notes of a version tell of. A change
    /// that came after the version cannot, nor one that an older version held.
    pub fn place(&self, version: Option<&str>, date: Option<&str>, node: Node, landed_at: i64) -> When {
        let Some(version) = version else {
            return When::Within;
        };
        let release = self.of(version);
        let end = release
            .map(|release| release.at)
            .or_else(|| date.and_then(last_second));
        if end.is_some_and(|end| landed_at > end + GRACE) {
            return When::Later;
        }
        let wanted = numbers(version);
        // Within a series (8.1.0, 8.1.1) notes are less strict: a withdrawn release is told of with the next one.
        let series = |numbers: &[u64]| {
            (
                numbers.first().copied(),
                numbers.get(1).copied().unwrap_or_default(),
            )
        };
        let older = self.first_with(node).is_some_and(|first| {
            !wanted.is_empty()
                && series(&first.numbers) < series(&wanted)
                && end.is_none_or(|end| first.at < end)
        });
        if older { When::Earlier } else { When::Within }
    }
}

/// Where a change stands beside a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// It may be of this version.
    Within,
    /// An older version held it.
    Earlier,
    /// It landed after this version.
    Later,
}

fn trimmed(numbers: &[u64]) -> &[u64] {
    let end = numbers
        .iter()
        .rposition(|number| *number != 0)
        .map_or(0, |last| last + 1);
    &numbers[..end]
}

/// The end of a day, or of a month.
fn last_second(date: &str) -> Option<i64> {
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month) = (parts.next()??, parts.next()??);
    let day = parts.next().flatten();
    let date = jiff::civil::Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        day.map_or(1, |day| i8::try_from(day).unwrap_or(1)),
    )
    .ok()?;
    let date = if day.is_none() { date.last_of_month() } else { date };
    let end: jiff::Timestamp = format!("{date}T23:59:59Z").parse().ok()?;
    Some(end.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::history::{CommitRecord, Person};

    #[test]
    fn what_landed_too_early_or_too_late_is_told() {
        let sha = |place: u8| CommitSha::from_bytes([place; 20]);
        let commits = (1_u8..=6).map(|place| CommitRecord {
            sha: sha(place),
            tree: sha(0),
            parents: (place > 1).then(|| sha(place - 1)).into_iter().collect(),
            author: Person::default(),
            authored_at: 0,
            committer: Person::default(),
            committed_at: i64::from(place) * 10 * DAY,
            message: String::new(),
        });
        let graph = Graph::new(commits.collect());
        let tags = [("v1.0", 2), ("v1.1.0", 4), ("v1.1.1rc1", 5)].map(|(tag, at)| (tag.to_owned(), sha(at)));
        let timeline = Timeline::new(&graph, &tags);
        let place =
            |version, date, node: Node| timeline.place(version, date, node, i64::from(node + 1) * 10 * DAY);
        // Node 0 is commit 1.
        assert_eq!(place(Some("1.1"), None, 0), When::Earlier);
        assert_eq!(place(Some("1.0.9"), Some("1970-03"), 0), When::Within);
        assert_eq!(place(Some("1.1"), None, 2), When::Within);
        assert_eq!(place(Some("1.1"), None, 4), When::Later);
        assert_eq!(place(Some("1.0"), None, 2), When::Later);
        assert_eq!(place(Some("unreleased"), None, 0), When::Within);
        assert_eq!(place(Some("1.2"), Some("1970-02"), 5), When::Within);
        assert_eq!(place(Some("1.2"), Some("1970-02-11"), 5), When::Later);
        assert_eq!(place(None, None, 5), When::Within);
        assert_eq!(
            timeline.of("1.1").map(|release| release.tag.as_str()),
            Some("v1.1.0")
        );
        assert_eq!(timeline.first_with(5), None);
    }
}
