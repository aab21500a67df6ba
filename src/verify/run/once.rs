//! One try: the trees before and after gold, their runs, the oracle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::job::{Run, Side, Which, blocking, disk};
use super::{Recorded, Verifier, VerifyRequest};
use crate::domain::ids::TestId;
use crate::domain::oracle::{Oracle, RanScope};
use crate::domain::outcome::RunOutcome;
use crate::git::apply::{ApplyError, apply};
use crate::harness::{
    Bench, Channel, Fault, Log, Selection, TestModules, Wishes, by_id, infra, is_machines, project, select,
    tree, widen,
};
use crate::recipe::model::Verification;
use crate::verify::alone::{ById, judged, settle};
use crate::verify::classify::{Runs, Shuffled, against_itself, classify};
use crate::verify::outside::{tells_of_clock, tells_of_network};

/// Hex digits of the input key that a random order is made of.
const SEED: usize = 16;

impl Verifier {
    /// Runs the tests of both sides, in turns: what changes with time changes both. The first fault ends it: a side
    /// with a run missing makes no oracle.
    pub(super) async fn once(
        &self,
        request: &VerifyRequest,
        key: &str,
        log: &mut Log,
    ) -> Result<Recorded, Fault> {
        let place = self.harness.place()?;
        let trees = {
            let (request, folder) = (request.clone(), place.path().to_owned());
            blocking(move || prepare(&request, &folder)).await?
        };
        let bench = Bench {
            environment: request.environment.as_ref(),
            settings: &request.subject.settings,
            place: place.path(),
        };
        if let Some(wide) = &trees.wide {
            match self.prove(&bench, request, &trees, wide, key, log).await {
                Err(fault) if !self.harness.is_killed() && !is_machines(fault.outcome, fault.reason) => {
                    log.line(&format!("the whole suite makes no oracle: {}", fault.detail));
                }
                settled => return settled,
            }
        }
        self.prove(&bench, request, &trees, &trees.narrow, key, log).await
    }

    /// Every run of one selection.
    async fn prove(
        &self,
        bench: &Bench<'_>,
        request: &VerifyRequest,
        trees: &Trees,
        selection: &Selection,
        key: &str,
        log: &mut Log,
    ) -> Result<Recorded, Fault> {
        let settings = bench.settings;
        log.line(&format!("$ {}", selection.args.join(" ")));
        let wishes = Wishes {
            also: selection.also.clone(),
            ..Wishes::default()
        };
        let mut told = Told::default();
        let runs = settings.runs.max(1);
        for number in 1..=runs {
            let mut turns = vec![
                (Side::Before, &trees.before, Which::Ordered(number)),
                (Side::After, &trees.after, Which::Ordered(number)),
            ];
            if settings.aa {
                turns.push((Side::Before, &trees.before, Which::Again(runs + number)));
            }
            for (side, tree, which) in turns {
                let run = Run {
                    side,
                    which,
                    tree,
                    args: &selection.args,
                    wishes: wishes.clone(),
                };
                let channel = self.complete(bench, &run, log).await?;
                let outcome = told.take(channel);
                match (side, which) {
                    (_, Which::Again(_)) => told.again.push(outcome),
                    (Side::After, _) => told.runs.after.push(outcome),
                    _ => told.runs.before.push(outcome),
                }
            }
            if number < runs && request.subject.needs_fail_to_pass && told.leaves_no_fail_to_pass(settings) {
                log.line("no test can be FAIL_TO_PASS after these runs: the others are not made");
                let oracle = told.judge(settings, selection.scope)?;
                let cut_short = true;
                return Ok(Recorded {
                    cut_short,
                    ..told.recorded(oracle)
                });
            }
        }
        if settings.random_order {
            self.shuffled(bench, trees, selection, key, &mut told, log)
                .await?;
        }
        let mut oracle = told.judge(settings, selection.scope)?;
        if !oracle.fail_to_pass.is_empty() {
            self.by_id(bench, trees, &mut oracle, &mut told, log).await?;
        }
        Ok(told.recorded(oracle))
    }

    /// The oracle's ids as arguments, FAIL_TO_PASS run without the others.
    async fn by_id(
        &self,
        bench: &Bench<'_>,
        trees: &Trees,
        oracle: &mut Oracle,
        told: &mut Told,
        log: &mut Log,
    ) -> Result<(), Fault> {
        let run = Run {
            side: Side::After,
            which: Which::ById,
            tree: &trees.after,
            args: &by_id(bench.settings),
            wishes: Wishes {
                ids: judged(oracle).cloned().collect(),
                only: oracle.fail_to_pass.clone(),
                ..Wishes::default()
            },
        };
        let channel = self.complete(bench, &run, log).await?;
        let run = ById {
            selected: channel.addressed.clone().unwrap_or_default(),
            outcome: told.take(channel),
        };
        settle(oracle, &run);
        Ok(())
    }

    /// A run of each side in one random order. Where the order could not be changed (tests handed out to several
    /// processes), the runs say nothing of it.
    async fn shuffled(
        &self,
        bench: &Bench<'_>,
        trees: &Trees,
        selection: &Selection,
        key: &str,
        told: &mut Told,
        log: &mut Log,
    ) -> Result<(), Fault> {
        let seed = key.get(..SEED).unwrap_or(key).to_owned();
        let mut outcomes = vec![];
        for (side, tree) in trees.sides() {
            let run = Run {
                side,
                which: Which::Shuffled,
                tree,
                args: &selection.args,
                wishes: Wishes {
                    order: Some(seed.clone()),
                    also: selection.also.clone(),
                    ..Wishes::default()
                },
            };
            let channel = self.complete(bench, &run, log).await?;
            let shuffled = channel.order.as_ref() == Some(&seed) || channel.collected.is_empty();
            let outcome = told.take(channel);
            if shuffled {
                outcomes.push(outcome);
            }
        }
        if let Ok([before, after]) = <[_; 2]>::try_from(outcomes) {
            told.runs.shuffled = Some(Shuffled { seed, before, after });
        }
        Ok(())
    }
}

/// What all runs told so far.
#[derive(Default)]
struct Told {
    runs: Runs,
    /// An A/A run's second half.
    again: Vec<RunOutcome>,
    runner: String,
    reruns: BTreeMap<TestId, u32>,
    forged_lines: u64,
    needs_network: BTreeSet<TestId>,
    needs_clock: BTreeSet<TestId>,
}

impl Told {
    /// Keeps what is told beside outcomes.
    fn take(&mut self, channel: Channel) -> RunOutcome {
        if let Some(hello) = channel.hello {
            self.runner = format!("{} {}", hello.runner, hello.version);
        }
        for (test, times) in channel.reruns {
            let most = self.reruns.entry(test).or_default();
            *most = times.max(*most);
        }
        self.forged_lines += channel.forged;
        for (test, message) in &channel.messages {
            if channel
                .outcome
                .tests
                .get(test)
                .is_some_and(|status| status.is_pass())
            {
                continue;
            }
            if tells_of_network(message) {
                self.needs_network.insert(test.clone());
            }
            if tells_of_clock(message) {
                self.needs_clock.insert(test.clone());
            }
        }
        channel.outcome
    }

    /// Whether tests ran, and none of them can come into FAIL_TO_PASS: one that is there was in it after every run before.
    fn leaves_no_fail_to_pass(&self, settings: &Verification) -> bool {
        self.runs.all().any(|run| !run.tests.is_empty())
            && classify(&self.runs, settings).fail_to_pass.is_empty()
    }

    fn judge(&mut self, settings: &Verification, scope: RanScope) -> Result<Oracle, Fault> {
        if self.runs.all().all(|run| run.tests.is_empty()) {
            return Err(project("no-tests", "no run on either side ran any test"));
        }
        let aa = settings
            .aa
            .then(|| against_itself(&self.runs.before, &self.again, settings));
        self.runs.before.append(&mut self.again);
        Ok(Oracle {
            scope,
            aa,
            ..classify(&self.runs, settings)
        })
    }

    fn recorded(self, oracle: Oracle) -> Recorded {
        Recorded {
            oracle: Oracle {
                needs_network: self.needs_network.into_iter().collect(),
                needs_clock: self.needs_clock.into_iter().collect(),
                ..oracle
            },
            runner: self.runner,
            reruns: self.reruns,
            forged_lines: self.forged_lines,
            cut_short: false,
        }
    }
}

/// The trees of both sides, which runs only copy, and what a run selects.
pub(super) struct Trees {
    before: PathBuf,
    pub(super) after: PathBuf,
    narrow: Selection,
    /// What runs in its place, if it can.
    wide: Option<Selection>,
}

impl Trees {
    fn sides(&self) -> [(Side, &Path); 2] {
        [(Side::Before, &self.before), (Side::After, &self.after)]
    }
}

/// Lays the patches before anything runs: a patch that does not apply costs no run.
pub(super) fn prepare(request: &VerifyRequest, folder: &Path) -> Result<Trees, Fault> {
    let (before, after) = (folder.join("before"), folder.join("after"));
    tree::copy(&request.tree, &before).map_err(disk("copy the work tree"))?;
    request
        .environment
        .lay_products(&before)
        .map_err(|error| infra("environment", format!("failed to {error}")))?;
    let base = tree::files(&before).map_err(disk("list the work tree"))?;
    lay(
        &before,
        &request.subject.patches.test,
        "test-patch-does-not-apply",
    )?;
    let files = tree::files(&before).map_err(disk("list the work tree"))?;
    let settings = &request.subject.settings;
    let known = TestModules::of(&before, settings.runner);
    let narrow = select(&request.subject.touched, &files, settings, &known)
        .ok_or_else(|| project("nothing-to-run", "the test patch leads to no test module"))?;
    tree::copy(&before, &after).map_err(disk("copy the work tree"))?;
    lay(&after, &request.subject.patches.gold, "gold-does-not-apply")?;
    Ok(Trees {
        before,
        after,
        wide: widen(&narrow, &base, &files, settings, &known),
        narrow,
    })
}

fn lay(tree: &Path, patch: &[u8], reason: &'static str) -> Result<(), Fault> {
    apply(tree, patch).map_err(|error| match error {
        ApplyError::DoesNotApply { detail } => project(reason, detail),
        ApplyError::Outside { source } => infra("disk", format!("failed to {source}")),
    })
}
