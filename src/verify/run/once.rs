//! One try: the trees before and after gold, their runs, the oracle.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::job::{Bench, Place, Run, Side, Which, blocking, disk, infra, project};
use super::log::Log;
use super::{Recorded, Verifier, VerifyRequest, tree};
use crate::domain::ids::TestId;
use crate::domain::outcome::RunOutcome;
use crate::git::apply::{ApplyError, apply};
use crate::recipe::model::Verification;
use crate::verify::channel::Channel;
use crate::verify::classify::{Runs, Shuffled, classify};
use crate::verify::faults::Fault;
use crate::verify::plan::{Selection, select};
use crate::verify::runner::Wishes;

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
        let place = Place::new(&self.scratch)?;
        let trees = {
            let (request, folder) = (request.clone(), place.path().to_owned());
            blocking(move || prepare(&request, &folder)).await?
        };
        log.line(&format!("$ {}", trees.selection.args.join(" ")));
        let settings = &request.subject.settings;
        let bench = Bench {
            environment: request.environment.as_ref(),
            settings,
            place: place.path(),
        };
        let mut told = Told::default();
        for number in 1..=settings.runs.max(1) {
            for (side, tree) in trees.sides() {
                let run = trees.run(side, Which::Ordered(number), tree, Wishes::default());
                let channel = self.complete(&bench, &run, log).await?;
                let outcome = told.take(channel);
                match side {
                    Side::After => told.runs.after.push(outcome),
                    _ => told.runs.before.push(outcome),
                }
            }
        }
        if settings.random_order {
            self.shuffled(&bench, &trees, key, &mut told, log).await?;
        }
        told.judge(settings)
    }

    /// A run of each side in one random order. Where the order could not be changed (tests handed out to several
    /// processes), the runs say nothing of it.
    async fn shuffled(
        &self,
        bench: &Bench<'_>,
        trees: &Trees,
        key: &str,
        told: &mut Told,
        log: &mut Log,
    ) -> Result<(), Fault> {
        let seed = key.get(..SEED).unwrap_or(key).to_owned();
        let mut outcomes = vec![];
        for (side, tree) in trees.sides() {
            let wishes = Wishes {
                order: Some(seed.clone()),
            };
            let run = trees.run(side, Which::Shuffled, tree, wishes);
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
    runner: String,
    reruns: BTreeMap<TestId, u32>,
    forged_lines: u64,
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
        channel.outcome
    }

    fn judge(self, settings: &Verification) -> Result<Recorded, Fault> {
        if self.runs.all().all(|run| run.tests.is_empty()) {
            return Err(project("no-tests", "no run on either side ran any test"));
        }
        Ok(Recorded {
            oracle: classify(&self.runs, settings),
            runner: self.runner,
            reruns: self.reruns,
            forged_lines: self.forged_lines,
        })
    }
}

/// The trees of both sides, which runs only copy, and what a run selects.
struct Trees {
    before: PathBuf,
    after: PathBuf,
    selection: Selection,
}

impl Trees {
    fn sides(&self) -> [(Side, &Path); 2] {
        [(Side::Before, &self.before), (Side::After, &self.after)]
    }

    fn run<'a>(&'a self, side: Side, which: Which, tree: &'a Path, wishes: Wishes) -> Run<'a> {
        Run {
            side,
            which,
            tree,
            args: &self.selection.args,
            wishes,
        }
    }
}

/// Lays the patches before anything runs: a patch that does not apply costs no run.
fn prepare(request: &VerifyRequest, folder: &Path) -> Result<Trees, Fault> {
    let (before, after) = (folder.join("before"), folder.join("after"));
    tree::copy(&request.tree, &before).map_err(disk("copy the work tree"))?;
    request
        .environment
        .lay_products(&before)
        .map_err(|error| infra("environment", format!("failed to {error}")))?;
    lay(
        &before,
        &request.subject.patches.test,
        "test-patch-does-not-apply",
    )?;
    let files = tree::files(&before).map_err(disk("list the work tree"))?;
    let selection = select(&request.subject.touched, &files, &request.subject.settings)
        .ok_or_else(|| project("nothing-to-run", "the test patch leads to no test module"))?;
    tree::copy(&before, &after).map_err(disk("copy the work tree"))?;
    lay(&after, &request.subject.patches.gold, "gold-does-not-apply")?;
    Ok(Trees {
        before,
        after,
        selection,
    })
}

fn lay(tree: &Path, patch: &[u8], reason: &'static str) -> Result<(), Fault> {
    apply(tree, patch).map_err(|error| match error {
        ApplyError::DoesNotApply { detail } => project(reason, detail),
        ApplyError::Outside { source } => infra("disk", format!("failed to {source}")),
    })
}
