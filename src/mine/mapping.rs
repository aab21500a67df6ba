//! From heads to fates: every pull request either landed by one commit, or did not for a stated reason.
//!
//! Three passes, each over what the ones before left: what messages say, what merges and branches hold, what was replayed
//! under another name.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::ancestry::{Doubt, Known, by_ancestry};
use super::graph::{Fork, Graph, Node};
use super::identity::{Replay, Replays, authors, landed as replayed, last_committed};
use super::merges::{Judged, Landed, Likeness, choose, claims, pairs_of};
use super::patch::same_changes;
use super::source::{Compared, FullDiff, Source, TreePair};
use super::split::section;
use super::trunk::{Trunk, key};
use crate::domain::diff::file_changes;
use crate::domain::history::{DiffText, TreeChange};

/// What became of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It landed.
    Landed(Landed),
    /// It did not, as far as git tells.
    Missed(Miss),
}

/// Why a pull request is not taken for merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// No branch holds it, names it or repeats it.
    NoTrace,
    /// A branch holds its head, but not as a merge of it.
    OnBranch(Doubt),
    /// A commit names it and does something else.
    NameOnly {
        /// That commit.
        commit: Node,
        /// How alike the two are.
        likeness: Likeness,
    },
    /// A commit lands it by its words and changes nothing.
    Empty {
        /// That commit.
        commit: Node,
    },
    /// The same change landed as another pull request.
    SameChange(u32),
    /// Its commits were replayed as part of another pull request.
    CarriedReplay(u32),
    /// An object is missing, so that it cannot be told.
    Unreadable(String),
}

/// Comparisons by their trees.
pub type Comparisons = HashMap<TreePair, Compared<Vec<TreeChange>>>;

/// Fates, and what was compared on the way.
#[derive(Debug, Default)]
pub struct Mapping {
    /// By number.
    pub fates: BTreeMap<u32, Fate>,
    /// The entries that differ, by trees.
    pub compared: Comparisons,
}

/// Compares what was not compared before.
///
/// # Errors
/// When nothing can be compared.
pub fn compare<S: Source>(
    source: &S,
    compared: &mut Comparisons,
    pairs: impl IntoIterator<Item = TreePair>,
) -> Result<(), S::Error> {
    let mut asked = HashSet::new();
    let pairs: Vec<TreePair> = pairs
        .into_iter()
        .filter(|pair| !compared.contains_key(pair) && asked.insert(*pair))
        .collect();
    let entries = source.entries(&pairs)?;
    compared.extend(pairs.into_iter().zip(entries));
    Ok(())
}

/// Finds the fate of every head. `prior` are pull requests that landed by an earlier reading: they stay as they are, and
/// nobody else lands by their commits.
///
/// # Errors
/// When nothing can be compared.
pub fn map<S: Source>(
    trunk: &Trunk<'_>,
    heads: &BTreeMap<u32, Node>,
    prior: &BTreeMap<u32, (Node, Landed)>,
    source: &S,
) -> Result<Mapping, S::Error> {
    let mut pass = Pass {
        trunk,
        heads: heads.clone(),
        all_heads: heads.iter().map(|(number, head)| (*number, *head)).collect(),
        landed: BTreeMap::new(),
        missed: BTreeMap::new(),
        compared: Comparisons::new(),
        source,
    };
    for (number, (head, landed)) in prior {
        pass.heads.remove(number);
        pass.all_heads.insert(*number, *head);
        pass.landed.insert(*number, landed.clone());
    }
    pass.by_subject()?;
    pass.by_branch();
    pass.by_replay()?;
    let Pass {
        heads,
        mut landed,
        mut missed,
        compared,
        ..
    } = pass;
    let fate = |number: &u32| match landed.remove(number) {
        Some(landed) => Fate::Landed(landed),
        None => Fate::Missed(missed.remove(number).unwrap_or(Miss::NoTrace)),
    };
    let numbers: Vec<u32> = heads.keys().copied().collect();
    let fates = numbers.iter().map(fate).collect::<Vec<_>>();
    Ok(Mapping {
        fates: numbers.into_iter().zip(fates).collect(),
        compared,
    })
}

struct Pass<'p, 'g, S> {
    trunk: &'p Trunk<'g>,
    /// Those to decide.
    heads: BTreeMap<u32, Node>,
    /// Those and the ones decided before.
    all_heads: BTreeMap<u32, Node>,
    landed: BTreeMap<u32, Landed>,
    missed: BTreeMap<u32, Miss>,
    compared: Comparisons,
    source: &'p S,
}

impl<S: Source> Pass<'_, '_, S> {
    fn open(&self) -> Vec<(u32, Node)> {
        let open = self
            .heads
            .iter()
            .filter(|(number, _)| !self.landed.contains_key(number));
        open.map(|(number, head)| (*number, *head)).collect()
    }

    fn entries(&self, pair: TreePair) -> Result<&[TreeChange], String> {
        match self.compared.get(&pair) {
            Some(Ok(changes)) => Ok(changes),
            Some(Err(error)) => Err(error.clone()),
            None if pair.0 == pair.1 => Ok(&[]),
            None => Err("the trees were not compared".to_owned()),
        }
    }

    fn by_subject(&mut self) -> Result<(), S::Error> {
        let graph = self.trunk.graph;
        let claims = claims(self.trunk, &self.heads);
        let unsure = claims
            .iter()
            .flat_map(|(number, list)| list.iter().map(|claim| (self.heads[number], claim)));
        let pairs = unsure
            .filter(|(_, claim)| !claim.holds_head)
            .filter_map(|(head, claim)| pairs_of(graph, claim, head));
        compare(self.source, &mut self.compared, pairs.flatten())?;
        for (number, list) in claims {
            let head = self.heads[&number];
            let mut unreadable = None;
            let mut judged = vec![];
            for claim in list {
                let likeness = match pairs_of(graph, &claim, head) {
                    _ if claim.holds_head => None,
                    // Histories with nothing in common: the number is another repository's.
                    None => continue,
                    Some([own, brought]) => match (self.entries(own), self.entries(brought)) {
                        (Ok(own), Ok(brought)) => Some(Likeness::of(own, brought)),
                        (Err(error), _) | (_, Err(error)) => {
                            unreadable = Some(error);
                            continue;
                        }
                    },
                };
                judged.push(Judged { claim, likeness });
            }
            match choose(self.trunk, head, judged) {
                Ok(landed) => {
                    self.landed.insert(number, landed);
                }
                Err(Some(Judged {
                    claim,
                    likeness: Some(likeness),
                })) => {
                    let commit = claim.commit;
                    let empty = graph.commit(claim.base).tree == graph.commit(commit).tree;
                    let miss = if empty {
                        Miss::Empty { commit }
                    } else {
                        Miss::NameOnly { commit, likeness }
                    };
                    self.missed.insert(number, miss);
                }
                Err(_) => {
                    self.missed
                        .extend(unreadable.map(|error| (number, Miss::Unreadable(error))));
                }
            }
        }
        Ok(())
    }

    fn by_branch(&mut self) {
        let mut known = Known::new(self.trunk, &self.landed, &self.all_heads);
        let mut open = self.open();
        // Parents first: what landed below is known when what stands on it is judged.
        open.sort_by_key(|(number, head)| (*head, std::cmp::Reverse(*number)));
        for (number, head) in open {
            if !self.trunk.all.contains(head) {
                continue;
            }
            match by_ancestry(self.trunk, &known, head) {
                Ok(landed) => {
                    known.add(number, head, &landed);
                    self.landed.insert(number, landed);
                }
                Err(doubt) => {
                    self.missed.insert(number, Miss::OnBranch(doubt));
                }
            }
        }
    }

    fn by_replay(&mut self) -> Result<(), S::Error> {
        let known = Known::new(self.trunk, &self.landed, &self.all_heads);
        let replays = Replays::new(self.trunk);
        let (trunk, graph) = (self.trunk, self.trunk.graph);
        let mut tried = vec![];
        for (number, head) in self.open() {
            if trunk.trusted.contains(head) {
                continue;
            }
            let fork = graph.fork_from(&trunk.trusted, head);
            if let Some(own) = own_pair(graph, &fork, head) {
                let found = replays.by_identity(trunk, &fork).into_iter().collect();
                tried.push(Tried {
                    number,
                    own,
                    fork,
                    found,
                });
            }
        }
        let unfound = || tried.iter().filter(|tried| tried.found.is_empty());
        let people: BTreeSet<String> = unfound().flat_map(|tried| authors(trunk, &tried.fork)).collect();
        let singles = replays.by_authors(trunk, &known, &people);
        let found = tried
            .iter()
            .flat_map(|tried| tried.found.iter().map(|replay| pair_of(graph, replay)));
        let own = tried.iter().map(|tried| tried.own);
        let pairs: Vec<TreePair> = own
            .chain(found)
            .chain(singles.iter().map(|single| pair_of(graph, single)))
            .collect();
        compare(self.source, &mut self.compared, pairs)?;
        self.try_singles(&mut tried, singles);
        let texts = self.texts(&tried)?;
        let mut found: BTreeMap<u32, Landed> = BTreeMap::new();
        for Tried {
            number,
            own,
            found: replays,
            ..
        } in &tried
        {
            for replay in replays {
                let pair = pair_of(graph, replay);
                let (Ok(ours), Ok(theirs)) = (self.entries(*own), self.entries(pair)) else {
                    continue;
                };
                let same = !ours.is_empty() && (ours == theirs || texts.get(&(*own, pair)) == Some(&true));
                let amended = replay.by_identity && Likeness::of(ours, theirs).is_close();
                if !same && !amended {
                    continue;
                }
                let named = trunk
                    .words(replay.commit)
                    .and_then(|words| words.landing.as_ref());
                let named = named
                    .filter(|_| !replay.by_identity)
                    .and_then(|landing| landing.numbers().first());
                if let Some(other) = known
                    .lander(replay)
                    .or(named.copied())
                    .filter(|other| other != number)
                {
                    self.missed.insert(*number, Miss::SameChange(other));
                } else if let Some(other) = known.carrier(replay.commit) {
                    self.missed.insert(*number, Miss::CarriedReplay(other));
                } else {
                    found.insert(*number, replayed(replay, same));
                    break;
                }
            }
        }
        self.keep_one_each(found);
        Ok(())
    }

    /// Gives those that were found by nothing else the single commits by the same people on the same paths, made since.
    fn try_singles(&self, tried: &mut [Tried], singles: Vec<Replay>) {
        let (trunk, graph) = (self.trunk, self.trunk.graph);
        let paths = |pair: TreePair| {
            let mut hasher = DefaultHasher::new();
            let changes = self.entries(pair).ok().filter(|changes| !changes.is_empty())?;
            for change in changes {
                change.path.hash(&mut hasher);
            }
            Some(hasher.finish())
        };
        let mut by_paths: HashMap<(String, u64), Vec<Replay>> = HashMap::new();
        for single in singles {
            if let Some(paths) = paths(pair_of(graph, &single)) {
                let author = key(&graph.commit(single.commit).author.name);
                by_paths.entry((author, paths)).or_default().push(single);
            }
        }
        for tried in tried.iter_mut().filter(|tried| tried.found.is_empty()) {
            let (Some(paths), Some(last)) = (paths(tried.own), last_committed(trunk, &tried.fork)) else {
                continue;
            };
            for author in authors(trunk, &tried.fork) {
                let alike = by_paths.get(&(author, paths)).into_iter().flatten();
                tried.found.extend(
                    alike
                        .filter(|single| graph.commit(single.commit).committed_at >= last)
                        .cloned(),
                );
            }
        }
    }

    /// For changes of the same paths with other contents around them: whether their lines are the same.
    fn texts(&self, tried: &[Tried]) -> Result<HashMap<(TreePair, TreePair), bool>, S::Error> {
        let mut wanted = vec![];
        for Tried { own, found, .. } in tried {
            for replay in found {
                let pair = pair_of(self.trunk.graph, replay);
                if let (Ok(ours), Ok(theirs)) = (self.entries(*own), self.entries(pair)) {
                    let same_paths = ours
                        .iter()
                        .map(|change| &change.path)
                        .eq(theirs.iter().map(|change| &change.path));
                    if same_paths && ours != theirs {
                        wanted.push((*own, pair));
                    }
                }
            }
        }
        let pairs: Vec<TreePair> = wanted.iter().flat_map(|(own, theirs)| [*own, *theirs]).collect();
        let diffs = self.source.diffs(&pairs, LONGEST_COMPARED)?;
        let same = diffs.chunks(2).map(|two| match two {
            [Ok(own), Ok(theirs)] => same_text(own, theirs),
            _ => false,
        });
        Ok(wanted.into_iter().zip(same).collect())
    }

    /// Of several pull requests with the same landing the last one opened is it: it was opened again.
    fn keep_one_each(&mut self, found: BTreeMap<u32, Landed>) {
        let winners: HashMap<(Node, Node), u32> = found
            .iter()
            .map(|(number, landed)| ((landed.base, landed.commit), *number))
            .collect();
        for (number, landed) in found {
            let winner = winners[&(landed.base, landed.commit)];
            if winner == number {
                self.missed.remove(&number);
                self.landed.insert(number, landed);
            } else {
                self.missed.insert(number, Miss::SameChange(winner));
            }
        }
    }
}

/// Longer diffs are not compared line by line.
const LONGEST_COMPARED: usize = 1 << 22;

struct Tried {
    number: u32,
    own: TreePair,
    fork: Fork,
    found: Vec<Replay>,
}

fn own_pair(graph: &Graph, fork: &Fork, head: Node) -> Option<TreePair> {
    Some((graph.commit(fork.merge_base?).tree, graph.commit(head).tree))
}

fn pair_of(graph: &Graph, replay: &Replay) -> TreePair {
    (graph.commit(replay.base).tree, graph.commit(replay.commit).tree)
}

fn same_text(own: &FullDiff, theirs: &FullDiff) -> bool {
    let (DiffText::Whole(own), DiffText::Whole(theirs)) = (&own.text, &theirs.text) else {
        return false;
    };
    let (ours, others) = (file_changes(own), file_changes(theirs));
    ours.len() == others.len()
        && ours.iter().zip(&others).all(|(one, other)| {
            one.path == other.path
                && one.change == other.change
                && same_changes(section(own, one), section(theirs, other))
        })
}
