//! The release that a commit stands on.

use super::graph::{Graph, Node};
use crate::domain::ids::CommitSha;

/// For every commit, the youngest release below it.
pub struct Releases {
    names: Vec<String>,
    nearest: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Releases {
    /// Reads the tags (name and commit, in any order). Of several at one commit the greatest version counts; tags that
    /// name no final release (`v1.0rc1`, `nightly`) do not.
    pub fn new(graph: &Graph, tags: &[(String, CommitSha)]) -> Self {
        let mut marked: Vec<(Node, Vec<u64>, &str)> = tags
            .iter()
            .filter_map(|(name, commit)| Some((graph.find(*commit)?, version(name)?, name.as_str())))
            .collect();
        marked.sort();
        let mut at = vec![NONE; graph.len()];
        let mut names = vec![];
        let mut places = vec![];
        for (node, _, name) in marked {
            at[node as usize] = u32::try_from(names.len()).unwrap_or(NONE);
            names.push(name.to_owned());
            places.push(node);
        }
        let mut nearest = vec![NONE; graph.len()];
        for node in graph.nodes() {
            let own = at[node as usize];
            // Of what the parents stand on, the one whose commit is the youngest.
            let below = graph.parents(node).iter().map(|parent| nearest[*parent as usize]);
            let best = below
                .filter(|release| *release != NONE)
                .max_by_key(|release| places[*release as usize]);
            nearest[node as usize] = if own == NONE { best.unwrap_or(NONE) } else { own };
        }
        Self { names, nearest }
    }

    /// The release's tag as written.
    pub fn below(&self, node: Node) -> Option<&str> {
        self.names
            .get(*self.nearest.get(node as usize)? as usize)
            .map(String::as_str)
    }
}

/// The numbers of a final release's tag: `v2.31.0`, `2.31`, `release-1.2`, `pylint-3.0.0`, `REL_1_0`.
pub fn version(tag: &str) -> Option<Vec<u64>> {
    let start = tag.find(|c: char| c.is_ascii_digit())?;
    let (prefix, digits) = tag.split_at(start);
    let known = prefix.is_empty()
        || prefix.eq_ignore_ascii_case("v")
        || prefix.ends_with(['-', '_', '/', '.'])
        || prefix.to_ascii_lowercase().ends_with("-v")
        || prefix.to_ascii_lowercase().ends_with("/v");
    let digits = digits.strip_suffix(".final").unwrap_or(digits);
    let numbers: Option<Vec<u64>> = digits.split(['.', '_']).map(|part| part.parse().ok()).collect();
    numbers.filter(|numbers| known && numbers.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::history::{CommitRecord, Person};

    #[test]
    fn final_releases_are_told_from_other_tags() {
        for (tag, numbers) in [
            ("v2.31.0", Some(vec![2, 31, 0])),
            ("2.31", Some(vec![2, 31])),
            ("pylint-3.0.0", Some(vec![3, 0, 0])),
            ("release/1.2", Some(vec![1, 2])),
            ("REL_1_0", Some(vec![1, 0])),
            ("v1.0rc1", None),
            ("v1.0.0-beta", None),
            ("nightly-20240101", None),
            ("py3k.x", None),
            ("latest", None),
        ] {
            assert_eq!(version(tag), numbers, "{tag}");
        }
    }

    #[test]
    fn the_youngest_release_below_counts() {
        let sha = |place: u8| CommitSha::from_bytes([place; 20]);
        // 1 ── 2 ── 4 ── 5 (merge of 3)
        //  └── 3 ───────┘
        let links: [(u8, &[u8]); 5] = [(1, &[]), (2, &[1]), (3, &[1]), (4, &[2]), (5, &[4, 3])];
        let commits = links.map(|(place, parents)| CommitRecord {
            sha: sha(place),
            tree: sha(0),
            parents: parents.iter().map(|parent| sha(*parent)).collect(),
            author: Person::default(),
            authored_at: 0,
            committer: Person::default(),
            committed_at: 0,
            message: String::new(),
        });
        let graph = Graph::new(commits.to_vec());
        let tags = [("v1.0", 1), ("v1.0.1", 3), ("v1.1rc1", 2), ("v0.9", 1)]
            .map(|(name, at)| (name.to_owned(), sha(at)));
        let releases = Releases::new(&graph, &tags);
        let below: Vec<_> = graph.nodes().map(|node| releases.below(node)).collect();
        assert_eq!(
            below,
            [
                Some("v1.0"),
                Some("v1.0"),
                Some("v1.0.1"),
                Some("v1.0"),
                Some("v1.0.1")
            ]
        );
    }
}
