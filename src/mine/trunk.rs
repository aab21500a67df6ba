//! The branches that pull requests land on, and what each commit of theirs says and does.

use std::collections::{BTreeSet, HashMap};

use super::graph::{Graph, Node, NodeSet};
use super::subjects::{Words, read};
use crate::domain::ids::CommitSha;

/// A branch (or a tag that no branch holds) on which pull requests may have landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The branch's name (`main`, `origin/1.x`), or the tag's.
    pub name: String,
    /// Its last commit.
    pub tip: CommitSha,
    /// Whether what it holds was released or will be: the default branch, and what has release tags of its own. On any
    /// other branch (somebody's work in progress) only a message shows that a pull request landed.
    pub trusted: bool,
}

/// The branches, and for each commit what is read often.
pub struct Trunk<'g> {
    /// All commits.
    pub graph: &'g Graph,
    /// The branches, the default one first.
    pub roots: Vec<Root>,
    /// The first root that reaches a commit; `NOWHERE` for one that only pull requests hold.
    home: Vec<u16>,
    /// Everything on any root.
    pub all: NodeSet,
    /// Everything on a trusted root.
    pub trusted: NodeSet,
    /// The default branch's first-parent line.
    pub line: NodeSet,
    /// What messages say; commits that say nothing of pull requests are not in it.
    words: HashMap<Node, Words>,
    /// People who bring in others' work on the default branch's line.
    integrators: BTreeSet<String>,
}

const NOWHERE: u16 = u16::MAX;

impl<'g> Trunk<'g> {
    /// Reads the branches. Roots that the graph does not know, or that earlier ones hold wholly, are left out.
    pub fn new(graph: &'g Graph, roots: Vec<Root>) -> Self {
        let mut home = vec![NOWHERE; graph.len()];
        let mut all = NodeSet::with_room(graph.len());
        let mut kept: Vec<Root> = vec![];
        for root in roots {
            let Some(tip) = graph.find(root.tip).filter(|_| kept.len() < usize::from(NOWHERE)) else {
                continue;
            };
            let place = u16::try_from(kept.len()).unwrap_or(NOWHERE);
            let mut new = 0;
            graph.reach(&mut all, &[tip], |node| {
                home[node as usize] = place;
                new += 1;
            });
            if new > 0 {
                kept.push(root);
            }
        }
        let mut trusted = NodeSet::with_room(graph.len());
        let tips = kept
            .iter()
            .filter(|root| root.trusted)
            .filter_map(|root| graph.find(root.tip));
        graph.reach(&mut trusted, &tips.collect::<Vec<_>>(), |_| {});
        let mut line = NodeSet::with_room(graph.len());
        if let Some(tip) = kept.first().and_then(|root| graph.find(root.tip)) {
            graph.first_parents(tip).for_each(|node| {
                line.insert(node);
            });
        }
        let mut trunk = Self {
            graph,
            roots: kept,
            home,
            all,
            trusted,
            line,
            words: HashMap::new(),
            integrators: BTreeSet::new(),
        };
        trunk.read_messages();
        trunk
    }

    fn read_messages(&mut self) {
        for node in self.graph.nodes().filter(|node| self.all.contains(*node)) {
            let commit = self.graph.commit(node);
            let words = read(&commit.message);
            if words.landing.is_some() {
                self.words.insert(node, words);
            }
            if self.line.contains(node) {
                if commit.parents.len() > 1 {
                    self.integrators.insert(key(&commit.author.name));
                } else if commit.author != commit.committer && !is_forge(&commit.committer.name) {
                    self.integrators.insert(key(&commit.committer.name));
                }
            }
        }
    }

    /// What a commit's message says; `None` when that is nothing.
    pub fn words(&self, node: Node) -> Option<&Words> {
        self.words.get(&node)
    }

    /// The root that a commit is on: the first one that reaches it.
    pub fn root(&self, node: Node) -> Option<usize> {
        let home = self.home[node as usize];
        (home != NOWHERE).then_some(usize::from(home))
    }

    /// Whether a person brings in others' work.
    pub fn is_integrator(&self, name: &str) -> bool {
        self.integrators.contains(&key(name))
    }
}

/// A name to compare people by.
pub(super) fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Whether a committer is the forge itself, pressing a button for somebody.
pub(super) fn is_forge(name: &str) -> bool {
    ["github", "gitlab", "gitea", "web-flow"].contains(&key(name).as_str())
}
