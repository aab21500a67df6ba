//! What landed in a mirror, without any diff: for who needs to know only which commits belong to which pull request.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::error::MineError;
use super::reader::Reader;
use super::refs::short;
use crate::domain::ids::CommitSha;
use crate::git::GitError;
use crate::git::bulk;
use crate::git::mirror::{Mirror, PullTarget};
use crate::mine::graph::{Graph, Node};
use crate::mine::mapping::{Fate, map};
use crate::mine::merges::Landed;
use crate::mine::roots::{Named, roots};
use crate::mine::source::Source;
use crate::mine::trunk::Trunk;

/// A mirror's commits and refs.
pub struct Ground {
    /// The mirror.
    pub mirror: Mirror,
    /// The default branch.
    pub branch: String,
    /// Its commit.
    pub commit: CommitSha,
    /// Every commit that a branch, a tag or a pull request holds.
    pub graph: Graph,
    /// The tags.
    pub tags: Vec<Named>,
    branches: Vec<Named>,
    heads: BTreeMap<u32, CommitSha>,
}

impl Ground {
    /// Reads a mirror's refs and commits. A mirror without pull requests has none, which is no error here.
    ///
    /// # Errors
    /// When the mirror cannot be read, or its default branch is not there.
    pub fn read(path: &Path) -> Result<Self, MineError> {
        let mirror = Mirror::open(path)?;
        let (pulls, _) = mirror.pull_heads()?;
        let branches: Vec<Named> =
            [short(&mirror, "refs/heads/")?, short(&mirror, "refs/remotes/")?].concat();
        let tags = short(&mirror, "refs/tags/")?;
        let default = mirror.default_branch();
        let (branch, commit) = default
            .and_then(|default| branches.iter().find(|(name, _)| *name == default).cloned())
            .ok_or_else(|| MineError::NoDefaultBranch {
                mirror: path.display().to_string(),
            })?;
        let heads: BTreeMap<u32, CommitSha> = pulls
            .iter()
            .filter(|pull| pull.target == PullTarget::Commit)
            .map(|pull| (pull.number, pull.object))
            .collect();
        let tips = branches.iter().chain(&tags).map(|(_, tip)| *tip);
        let tips: Vec<CommitSha> = tips.chain(heads.values().copied()).collect();
        let graph = Graph::new(bulk::history(mirror.path(), &tips)?);
        Ok(Self {
            mirror,
            branch,
            commit,
            graph,
            tags,
            branches,
            heads,
        })
    }

    /// The branches that pull requests land on.
    pub fn trunk(&self) -> Trunk<'_> {
        Trunk::new(
            &self.graph,
            roots(&self.graph, Some(&self.branch), &self.branches, &self.tags),
        )
    }

    /// Every pull request, by number.
    pub fn pulls(&self) -> BTreeSet<u32> {
        self.heads.keys().copied().collect()
    }

    /// The heads of other pull requests than these that a branch holds which is released from, however they came there.
    pub fn held<T>(&self, trunk: &Trunk<'_>, landed: &BTreeMap<u32, T>) -> BTreeMap<u32, Node> {
        self.heads
            .iter()
            .filter(|(number, _)| !landed.contains_key(*number))
            .filter_map(|(number, head)| Some((*number, self.graph.find(*head)?)))
            .filter(|(_, head)| trunk.trusted.contains(*head))
            .collect()
    }

    /// Comparisons of its trees.
    pub fn trees(&self, jobs: usize) -> impl Source<Error = GitError> {
        Reader::new(self.mirror.path(), jobs)
    }

    /// The pull requests that landed, each with its own commits, oldest first.
    ///
    /// # Errors
    /// When nothing can be compared.
    pub fn landed(
        &self,
        trunk: &Trunk<'_>,
        jobs: usize,
    ) -> Result<BTreeMap<u32, (Landed, Vec<Node>)>, MineError> {
        let heads: BTreeMap<u32, Node> = self
            .heads
            .iter()
            .filter_map(|(number, head)| Some((*number, self.graph.find(*head)?)))
            .collect();
        let reader = Reader::new(self.mirror.path(), jobs);
        let mapping = map(trunk, &heads, &BTreeMap::new(), &reader)?;
        let landed = mapping.fates.into_iter().filter_map(|(number, fate)| match fate {
            Fate::Landed(landed) => {
                let own = self.graph.fork(landed.base, heads[&number]).own;
                Some((number, (landed, own)))
            }
            Fate::Missed(_) => None,
        });
        Ok(landed.collect())
    }
}
