//! Reading one mirror: from refs to batches of candidates and decisions, on all cores, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::error::MineError;
use super::reader::Reader;
use super::refs::{Refs, all_refs, fingerprint, short};
use crate::domain::candidate::Candidate;
use crate::domain::candidate::MergeKind;
use crate::domain::decision::Decision;
use crate::domain::ids::{CandidateId, CommitSha, RepoName};
use crate::git::bulk;
use crate::git::mirror::{Mirror, OddRef, PullHead, PullTarget};
use crate::mine::assemble::{Setting, candidate};
use crate::mine::graph::{Graph, Node, NodeSet};
use crate::mine::mapping::{Comparisons, Fate, Mapping, map};
use crate::mine::merges::Landed;
use crate::mine::plan::{Decided, Known, Page, Work};
use crate::mine::release::Releases;
use crate::mine::roots::{Named, roots};
use crate::mine::sides::{Draft, Limits, settle};
use crate::mine::trunk::Trunk;
use crate::mine::verdicts::{Reason, VERSION, decision, gone, odd_refs};

/// Pull requests in a batch: small enough that a kill loses little and that their diffs fit in memory.
const BATCH: usize = 64;

/// A mirror, and how to read it.
pub struct Reading<'a> {
    /// The mirror.
    pub mirror: &'a Path,
    /// The repository it is of.
    pub repo: &'a RepoName,
    /// What makes a diff too long.
    pub limits: Limits,
    /// How many things to do at once.
    pub jobs: usize,
    /// What earlier readings decided.
    pub known: &'a Known,
    /// Keeps a diff; called from many threads.
    pub keep: &'a (dyn Fn(&[u8]) -> Result<(), MineError> + Sync),
    /// Whether to stop: what is begun is finished, nothing new is begun.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Some of a mirror's pull requests, decided.
#[derive(Debug, Default)]
pub struct Batch {
    /// Those that landed.
    pub candidates: Vec<Candidate>,
    /// Why the others make no candidate.
    pub decisions: Vec<Decision>,
    /// What was decided, for the next reading.
    pub page: Page,
}

/// What a reading did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The refs that were read.
    pub refs: Refs,
    /// Heads that the mirror has.
    pub heads: usize,
    /// Heads that earlier readings decided and that stay so.
    pub known: usize,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// Reads a mirror. Every head gets an answer, once: batches come in the order of numbers, `started` is told how many
/// pull requests there are to decide.
///
/// # Errors
/// When the mirror cannot be read, or a batch cannot be taken.
pub fn read_mirror(
    reading: &Reading<'_>,
    started: &mut dyn FnMut(usize),
    take: &mut dyn FnMut(Batch) -> Result<(), MineError>,
) -> Result<Read, MineError> {
    let mirror = Mirror::open(reading.mirror)?;
    let name = || reading.mirror.display().to_string();
    let (pulls, odd) = mirror.pull_heads()?;
    if pulls.is_empty() {
        return Err(MineError::NoPullRequests { mirror: name() });
    }
    let branches: Vec<Named> = [short(&mirror, "refs/heads/")?, short(&mirror, "refs/remotes/")?].concat();
    let tags = short(&mirror, "refs/tags/")?;
    let default = mirror.default_branch();
    let (branch, commit) = default
        .and_then(|default| branches.iter().find(|(name, _)| *name == default).cloned())
        .ok_or_else(|| MineError::NoDefaultBranch { mirror: name() })?;
    let refs = Refs {
        branch,
        commit,
        all: all_refs(&mirror, &pulls, &odd)?,
    };
    let fingerprint = fingerprint(&refs);
    let mut read = Read {
        refs,
        heads: pulls.len(),
        known: 0,
        stopped: false,
    };
    if reading.known.is_done(&fingerprint) {
        started(0);
        read.known = pulls.len();
        return Ok(read);
    }
    let wanted = pulls
        .iter()
        .filter(|pull| pull.target == PullTarget::Commit)
        .map(|pull| pull.object);
    let tips: Vec<CommitSha> = branches
        .iter()
        .chain(&tags)
        .map(|(_, tip)| *tip)
        .chain(wanted)
        .collect();
    let graph = Graph::new(bulk::history(mirror.path(), &tips)?);
    let trunk = Trunk::new(&graph, roots(&graph, Some(&read.refs.branch), &branches, &tags));
    let releases = Releases::new(&graph, &tags);
    let heads: BTreeMap<u32, CommitSha> = pulls.iter().map(|pull| (pull.number, pull.object)).collect();
    let lost = reading.known.gone(&heads);
    let nothing = Known::default();
    let session = Session {
        reading,
        // Where something is lost, all is decided as if it had never been there.
        known: if lost.is_empty() { reading.known } else { &nothing },
        lost,
        odd: &odd,
        heads,
        trunk: &trunk,
        releases: &releases,
        pulls: &pulls,
        fingerprint,
    };
    read.stopped = session.run(mirror.path(), started, take, &mut read.known)?;
    Ok(read)
}

struct Session<'a, 'g> {
    reading: &'a Reading<'a>,
    trunk: &'a Trunk<'g>,
    releases: &'a Releases,
    pulls: &'a [PullHead],
    /// The same, by number.
    heads: BTreeMap<u32, CommitSha>,
    /// What earlier readings decided and still holds.
    known: &'a Known,
    /// Pull requests that earlier readings decided and that are not in the mirror now.
    lost: BTreeSet<u32>,
    odd: &'a [OddRef],
    fingerprint: String,
}

/// A pull request to decide: its head, and what became of it.
struct Task {
    number: u32,
    head: CommitSha,
    outcome: Outcome,
}

enum Outcome {
    Landed(Node, Landed),
    Not(Reason),
}

impl Session<'_, '_> {
    fn run(
        &self,
        git_dir: &Path,
        started: &mut dyn FnMut(usize),
        take: &mut dyn FnMut(Batch) -> Result<(), MineError>,
        known: &mut usize,
    ) -> Result<bool, MineError> {
        let heads = &self.heads;
        let tips: BTreeSet<CommitSha> = self.trunk.roots.iter().map(|root| root.tip).collect();
        let work = self.known.work(heads, &tips);
        *known = heads.len() - work.new.len();
        let prior = self.prior(&work, heads);
        let asked = work.new.keys().chain(work.again.values().flatten());
        let asked: BTreeMap<u32, Node> = asked
            .filter_map(|number| Some((*number, self.trunk.graph.find(heads[number])?)))
            .collect();
        let source = Reader::new(git_dir, self.reading.jobs);
        let Mapping { fates, compared } = map(self.trunk, &asked, &prior, &source)?;
        let landings = self.landings(&fates, &prior);
        let tasks = self.tasks(&work, heads, &asked, fates);
        started(tasks.len());
        let setting = Setting {
            trunk: self.trunk,
            releases: self.releases,
            repo: self.reading.repo,
            landings: &landings,
        };
        let page = Page {
            version: VERSION,
            refs: self.fingerprint.clone(),
            tips,
            heads: BTreeMap::new(),
            looked_again: false,
            gone: BTreeSet::new(),
            odd: None,
        };
        let source = Reader::new(git_dir, 1);
        self.in_batches(&tasks, &setting, &compared, &source, &page, take)
    }

    /// Pull requests that landed by an earlier reading.
    fn prior(&self, work: &Work, heads: &BTreeMap<u32, CommitSha>) -> BTreeMap<u32, (Node, Landed)> {
        let find = |commit| self.trunk.graph.find(commit);
        let landed = work.landed.iter().filter_map(|(number, decided)| {
            let (commit, base) = decided.landing?;
            let landed = Landed {
                commit: find(commit)?,
                base: find(base)?,
                kind: MergeKind::Merge,
                evidence: vec![],
            };
            Some((*number, (find(heads[number])?, landed)))
        });
        landed.collect()
    }

    fn landings(
        &self,
        fates: &BTreeMap<u32, Fate>,
        prior: &BTreeMap<u32, (Node, Landed)>,
    ) -> BTreeMap<CommitSha, u32> {
        let earlier = prior.iter().map(|(number, (_, landed))| (landed.commit, *number));
        let now = fates.iter().filter_map(|(number, fate)| match fate {
            Fate::Landed(landed) => Some((landed.commit, *number)),
            Fate::Missed(_) => None,
        });
        earlier
            .chain(now)
            .map(|(node, number)| (self.trunk.graph.commit(node).sha, number))
            .collect()
    }

    /// What is to be told, by number: every new head, and of those looked at again the ones that landed since.
    fn tasks(
        &self,
        work: &Work,
        heads: &BTreeMap<u32, CommitSha>,
        asked: &BTreeMap<u32, Node>,
        mut fates: BTreeMap<u32, Fate>,
    ) -> Vec<Task> {
        let mut tasks: BTreeMap<u32, Task> = BTreeMap::new();
        let others: BTreeMap<u32, &'static str> = self
            .pulls
            .iter()
            .filter_map(|pull| match pull.target {
                PullTarget::Other(kind) => Some((pull.number, kind)),
                PullTarget::Commit | PullTarget::Missing => None,
            })
            .collect();
        for (number, head) in &work.new {
            let outcome = match (fates.remove(number), asked.get(number)) {
                (Some(Fate::Landed(landed)), Some(node)) => Outcome::Landed(*node, landed),
                (Some(Fate::Missed(miss)), _) => Outcome::Not(Reason::Miss(miss)),
                _ => Outcome::Not(
                    others
                        .get(number)
                        .map_or(Reason::HeadMissing, |kind| Reason::HeadIs(kind)),
                ),
            };
            tasks.insert(
                *number,
                Task {
                    number: *number,
                    head: *head,
                    outcome,
                },
            );
        }
        for (tips, numbers) in &work.again {
            let mut seen = NodeSet::with_room(self.trunk.graph.len());
            let tips: Vec<Node> = tips
                .iter()
                .filter_map(|tip| self.trunk.graph.find(*tip))
                .collect();
            self.trunk.graph.reach(&mut seen, &tips, |_| {});
            for number in numbers {
                if let (Some(Fate::Landed(landed)), Some(node)) = (fates.remove(number), asked.get(number))
                    && !seen.contains(landed.commit)
                {
                    let outcome = Outcome::Landed(*node, landed);
                    tasks.insert(
                        *number,
                        Task {
                            number: *number,
                            head: heads[number],
                            outcome,
                        },
                    );
                }
            }
        }
        tasks.into_values().collect()
    }

    /// Works on batches with as many threads as jobs, and hands them over in order; whether it was stopped.
    fn in_batches(
        &self,
        tasks: &[Task],
        setting: &Setting<'_, '_>,
        compared: &Comparisons,
        source: &Reader,
        page: &Page,
        take: &mut dyn FnMut(Batch) -> Result<(), MineError>,
    ) -> Result<bool, MineError> {
        let mut batches: Vec<&[Task]> = tasks.chunks(BATCH).collect();
        if batches.is_empty() {
            batches.push(&[]);
        }
        let next = AtomicUsize::new(0);
        let failed = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Few wait to be taken: memory holds no more than a few batches.
            let (send, receive) = mpsc::sync_channel(self.reading.jobs);
            for _ in 0..self.reading.jobs.clamp(1, batches.len()) {
                let send = send.clone();
                let (batches, next, failed) = (&batches, &next, &failed);
                scope.spawn(move || {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let idle = (self.reading.stop)() || failed.load(Ordering::Relaxed);
                        let Some(tasks) = batches.get(place).filter(|_| !idle) else {
                            return;
                        };
                        let batch = self.batch(tasks, setting, compared, source, page);
                        if send.send((place, batch)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(send);
            let mut waiting = BTreeMap::new();
            let mut taken = 0;
            let result = (|| {
                for (place, batch) in &receive {
                    waiting.insert(place, batch?);
                    while let Some(mut batch) = waiting.remove(&taken) {
                        taken += 1;
                        if taken == batches.len() {
                            self.conclude(&mut batch);
                        }
                        take(batch)?;
                    }
                }
                Ok(taken < batches.len())
            })();
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
                receive.into_iter().for_each(drop);
            }
            match result {
                Ok(true) if !(self.reading.stop)() => Err(MineError::Worker {
                    repo: self.reading.repo.to_string(),
                }),
                other => other,
            }
        })
    }

    /// What the last batch tells beside its own: who is lost, and which refs are odd.
    fn conclude(&self, batch: &mut Batch) {
        let id = |number| CandidateId::pull(self.reading.repo.clone(), number);
        batch.page.looked_again = true;
        batch.page.gone.clone_from(&self.lost);
        batch
            .decisions
            .extend(self.lost.iter().map(|number| gone(id(*number))));
        let nobody = if self.heads.contains_key(&0) { u32::MAX } else { 0 };
        if !self.odd.is_empty() {
            batch.page.odd = Some(nobody);
            let refs = self
                .odd
                .iter()
                .map(|odd| (odd.name.as_str(), odd.object, odd.why));
            let refs: Vec<_> = refs.collect();
            batch.decisions.push(odd_refs(id(nobody), &refs));
        }
        if let Some(before) = self
            .reading
            .known
            .odd()
            .filter(|before| batch.page.odd != Some(*before))
        {
            batch.decisions.push(gone(id(before)));
        }
    }

    fn batch(
        &self,
        tasks: &[Task],
        setting: &Setting<'_, '_>,
        compared: &Comparisons,
        source: &Reader,
        page: &Page,
    ) -> Result<Batch, MineError> {
        let mut batch = Batch {
            page: page.clone(),
            ..Batch::default()
        };
        let drafts: Vec<Draft> = tasks
            .iter()
            .filter_map(|task| match &task.outcome {
                Outcome::Landed(node, landed) => {
                    Some(Draft::new(self.trunk, task.number, *node, landed.clone()))
                }
                Outcome::Not(_) => None,
            })
            .collect();
        let choices = settle(self.trunk, &drafts, compared, source, self.reading.limits)?;
        let mut landed = drafts.iter().zip(choices);
        for task in tasks {
            let mut landing = None;
            let reason = match &task.outcome {
                Outcome::Not(reason) => Some(reason.clone()),
                Outcome::Landed(..) => match landed.next() {
                    Some((draft, choice)) => {
                        let sha = |node: Node| self.trunk.graph.commit(node).sha;
                        let commit = sha(draft.landed.commit);
                        landing = Some((commit, sha(draft.landed.base)));
                        match candidate(setting, draft, choice) {
                            Ok(found) => {
                                (self.reading.keep)(&found.diff)?;
                                batch.candidates.push(found.candidate);
                                None
                            }
                            Err(fault) => Some(Reason::Fault { commit, fault }),
                        }
                    }
                    None => None,
                },
            };
            if let Some(reason) = reason {
                let id = CandidateId::pull(self.reading.repo.clone(), task.number);
                batch.decisions.push(decision(self.trunk, id, task.head, &reason));
            }
            batch.page.heads.insert(
                task.number,
                Decided {
                    head: task.head,
                    landing,
                },
            );
        }
        Ok(batch)
    }
}
