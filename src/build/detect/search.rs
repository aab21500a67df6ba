//! The whole of it: every file is read, plans are made, followed and put in order.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::compose::{Shared, compose};
use super::conda::Conda;
use super::conditions;
use super::follow::{Book, Flow, follow};
use super::hatch::Hatch;
use super::interpreters::{self, Minor, Said};
use super::makefile::Makefile;
use super::needs;
use super::nox::Nox;
use super::package::Package;
use super::plan::{Elsewhere, Plan, Source, Tool};
use super::proposal::{Choice, Detected, FactKind, Found, MOST, Proposal, Tree};
use super::tox::Tox;
use super::workflows::Automation;
use super::{pipfile, pyproject, runners, sets, setup_cfg, setup_py};
use crate::build::python::PythonVersion;
use crate::domain::settings::Place;
use crate::domain::settings::value::read_toml;
use crate::recipe::model::Runner;

/// How many interpreters proposals are made for.
const PYTHONS: usize = 4;
/// How many plans are proposed for the first interpreter before others have their turn.
const FIRST_PLANS: usize = 2;

/// Finds out how a tree wants to be installed and tested. `date` is the base commit's; `at_hand` are the interpreters of
/// the machine. Nothing is run, and nothing but the tree is read.
pub fn detect(tree: Tree<'_>, date: Timestamp, at_hand: &[PythonVersion]) -> Detected {
    let mut notes = BTreeSet::new();
    let mut said = Said::default();
    let reading = Reading::of(tree, &mut said, &mut notes);
    let (choices, more) = interpreters::rank(&said, date, at_hand);
    notes.extend(more);
    let mut facts = sets::facts(&tree, &reading.package);
    facts.extend(said.named.values().flatten().filter_map(|origin| {
        Some(Found {
            kind: FactKind::Python,
            value: origin.what.trim_start_matches("python ").to_owned(),
            place: origin.place.clone()?,
            why: origin.why.clone(),
        })
    }));
    facts.extend(reading.automation.services());
    facts.extend(reading.conda.facts());
    let mut columns = Vec::new();
    for choice in choices.iter().take(PYTHONS) {
        columns.push(reading.proposals(tree, choice, &mut notes, &mut facts));
    }
    facts.sort();
    facts.dedup();
    Detected {
        interpreters: choices,
        proposals: in_turn(columns),
        facts,
        notes: notes.into_iter().collect(),
        asked: reading.package.asked(),
    }
}

/// The first plans of the first interpreter, then the best plan of each other one, then the rest.
fn in_turn(columns: Vec<Vec<Proposal>>) -> Vec<Proposal> {
    let mut first = Vec::new();
    let mut rest = Vec::new();
    for (column, proposals) in columns.into_iter().enumerate() {
        let own = if column == 0 { FIRST_PLANS } else { 1 };
        for (row, proposal) in proposals.into_iter().enumerate() {
            if row < own {
                first.push(proposal);
            } else {
                rest.push((row, column, proposal));
            }
        }
    }
    rest.sort_by_key(|(row, column, _)| (*column > 0, *row, *column));
    first.extend(rest.into_iter().map(|(.., proposal)| proposal));
    first.truncate(MOST);
    first
}

/// The files, read.
struct Reading {
    package: Package,
    automation: Automation,
    tox: Tox,
    nox: Nox,
    make: Makefile,
    hatch: Hatch,
    conda: Conda,
    /// Files of shell commands.
    shell: BTreeMap<String, Plan>,
}

impl Reading {
    fn of(tree: Tree<'_>, said: &mut Said, notes: &mut BTreeSet<String>) -> Self {
        let mut package = Package::default();
        let document = tree
            .text("pyproject.toml")
            .and_then(|text| match read_toml(&text) {
                Ok(document) => Some(document),
                Err(problem) => {
                    notes.insert(format!("pyproject.toml is passed over: {problem}"));
                    None
                }
            });
        if let Some(document) = &document {
            pyproject::read(document, &mut package, said);
        }
        setup_cfg::read(&tree, &mut package, said);
        setup_py::read(&tree, &mut package, said);
        notes.extend(pipfile::read(&tree, &mut package, said).err());
        for file in ["setup.py", "setup.cfg"] {
            if tree.has(file) {
                package.installable.get_or_insert_with(|| Place::file(file));
            }
        }
        let mut unread = Vec::new();
        let automation = Automation::read(&tree, &mut unread);
        notes.extend(unread);
        automation.say(said);
        let tox = Tox::read(&tree, document.as_ref());
        tox.say(said);
        notes.extend(tox.note());
        let nox = Nox::read(&tree);
        nox.say(said);
        said.file(&tree);
        let make = Makefile::read(&tree);
        let hatch = Hatch::read(&tree, document.as_ref());
        hatch.say(said);
        let shell = shell_files(&tree);
        let conda = Conda::read(&tree, &|path| automation.names(path));
        conda.say(said);
        Self {
            package,
            automation,
            tox,
            nox,
            make,
            hatch,
            conda,
            shell,
        }
    }

    fn plans(&self, tree: Tree<'_>, python: Minor) -> Vec<Plan> {
        let mut plans = self.automation.plans(python);
        plans.extend(self.tox.plans(python));
        plans.extend(self.nox.find(&[]));
        plans.extend(self.hatch.plans());
        plans.extend(self.make.plans());
        plans.extend(sets::of_package(&self.package));
        plans.extend(sets::of_files(&tree, &self.package));
        plans.extend(self.conda.plans(&self.package, python));
        plans.push(sets::bare(&tree, &self.package));
        plans
    }

    /// Every proposal for one interpreter, best first, none twice.
    fn proposals(
        &self,
        tree: Tree<'_>,
        choice: &Choice,
        notes: &mut BTreeSet<String>,
        facts: &mut Vec<Found>,
    ) -> Vec<Proposal> {
        let Some(python) = interpreters::minor_of(&choice.python) else {
            return vec![];
        };
        let book = Shelf {
            reading: self,
            python,
        };
        let mut flows: Vec<(Plan, Flow)> = self
            .plans(tree, python)
            .into_iter()
            .map(|plan| {
                let flow = follow(&plan, &self.package, &book);
                (plan, flow)
            })
            .filter(|(plan, flow)| plan.source >= Source::Set || !flow.runs.is_empty())
            .collect();
        flows.sort_by_key(|(plan, _)| (plan.source, std::cmp::Reverse(plan.worth)));
        let asked = needs::read(&tree);
        let mut proposals: Vec<Proposal> = Vec::new();
        let mut instead: Option<Proposal> = None;
        for (plan, flow) in &flows {
            facts.extend(runners::facts(&tree, flow));
            let runs = flow.runs.iter().filter(|(tool, ..)| *tool == Tool::Pytest);
            let options =
                runs.flat_map(|(_, args, place)| args.iter().map(|arg| (arg.clone(), place.clone())));
            let mut needs = asked.clone();
            needs.options(&options.collect::<Vec<_>>());
            let shared = Shared {
                tree,
                package: &self.package,
                needs: &needs,
            };
            let chosen = runners::choose(&tree, flow, &needs);
            let proposal = compose(&shared, plan, flow, choice, &chosen, notes);
            if chosen.runner == Runner::Script && instead.is_none() {
                let other = runners::instead(&needs);
                let mut proposal = compose(&shared, plan, flow, choice, &other, notes);
                proposal.environment.name.push_str("-pytest");
                instead = Some(proposal);
            }
            let same = |known: &Proposal| {
                let sorted = |proposal: &Proposal| {
                    proposal
                        .environment
                        .install
                        .iter()
                        .cloned()
                        .collect::<BTreeSet<_>>()
                };
                sorted(known) == sorted(&proposal)
                    && known.runner == proposal.runner
                    && known.environment.env == proposal.environment.env
            };
            if !proposals.iter().any(same) {
                proposals.push(proposal);
            }
        }
        proposals.extend(instead);
        proposals
    }
}

/// Where steps that lead elsewhere are found.
struct Shelf<'a> {
    reading: &'a Reading,
    python: Minor,
}

impl Book for Shelf<'_> {
    fn find(&self, to: &Elsewhere) -> Vec<Plan> {
        match to {
            Elsewhere::Script(name) => self.reading.package.script(name).into_iter().collect(),
            Elsewhere::Tox(names) => self.reading.tox.find(names, self.python),
            Elsewhere::Nox(names) => self.reading.nox.find(names),
            Elsewhere::Make(name) => self.reading.make.find(name).into_iter().collect(),
            Elsewhere::Hatch(environment, script) => {
                self.reading.hatch.find(environment, script).into_iter().collect()
            }
            Elsewhere::Conda(file) => self.reading.conda.find(file, self.python).into_iter().collect(),
            Elsewhere::Shell(file) => self.reading.shell.get(file).cloned().into_iter().collect(),
        }
    }
}

/// Files of shell commands near the root, and those of automation, as plans that other plans may lead to.
fn shell_files(tree: &Tree<'_>) -> BTreeMap<String, Plan> {
    let mut plans = BTreeMap::new();
    for path in tree.names_of().filter(|path| path.matches('/').count() <= 2) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let folder = path.split('/').next().unwrap_or("");
        let is_bare = !name.contains('.')
            && matches!(
                folder,
                "scripts" | "script" | "ci" | "tools" | ".ci" | "bin" | "dev"
            );
        if !is_bare && !has_shell_name(name) {
            continue;
        }
        let Some(text) = tree.text(path).filter(|text| text.len() < 100_000) else {
            continue;
        };
        if is_bare && !text.starts_with("#!")
            || text.lines().next().is_some_and(|line| line.contains("python"))
        {
            continue;
        }
        let plan = Plan {
            source: Source::Make,
            name: path.to_owned(),
            place: Place::file(path),
            steps: conditions::steps(&text, &BTreeMap::new(), &|offset| Place::new(path, offset + 1)),
            worth: 0,
        };
        plans.insert(path.to_owned(), plan);
    }
    plans
}

fn has_shell_name(name: &str) -> bool {
    [".sh", ".bash"].iter().any(|end| name.ends_with(end))
}
