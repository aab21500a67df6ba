//! Following a plan: steps that lead elsewhere are taken there, until only installs, variables and runs are left.

use super::package::{Form, Package};
use super::plan::{Act, Elsewhere, Plan, Step, Tool, Wanted};
use crate::domain::settings::Place;

/// How deep steps may lead elsewhere.
const DEEPEST: usize = 6;

/// Where steps that lead elsewhere are found.
pub(super) trait Book {
    /// The plan behind a step, where there is one. `isolated`: it has an environment of its own, so that what was
    /// installed before the step does not count.
    fn find(&self, to: &Elsewhere) -> Vec<Plan>;
}

/// Whether a place elsewhere has an environment of its own.
fn is_isolated(to: &Elsewhere) -> bool {
    matches!(to, Elsewhere::Tox(_) | Elsewhere::Nox(_) | Elsewhere::Hatch(..))
}

/// What is left of a plan.
#[derive(Debug, Clone, Default)]
pub(super) struct Flow {
    /// Install lines, with their places and who installs them.
    pub(super) installs: Vec<(String, Place, String)>,
    pub(super) env: Vec<(String, String, Place, String)>,
    pub(super) system: Vec<(String, Place)>,
    pub(super) runs: Vec<(Tool, Vec<String>, Place)>,
    /// What is to be said of its steps.
    pub(super) notes: Vec<String>,
    /// The plans that were followed, the first one first.
    pub(super) through: Vec<String>,
}

/// Follows a plan.
pub(super) fn follow(plan: &Plan, package: &Package, book: &dyn Book) -> Flow {
    let mut flow = Flow::default();
    Follower { package, book }.plan(plan, &mut flow, &mut Vec::new());
    flow
}

struct Follower<'a> {
    package: &'a Package,
    book: &'a dyn Book,
}

impl Follower<'_> {
    fn plan(&self, plan: &Plan, flow: &mut Flow, path: &mut Vec<String>) {
        let title = plan.title();
        if path.len() >= DEEPEST || path.contains(&title) {
            return;
        }
        flow.through.push(plan.name.clone());
        path.push(title.clone());
        for step in &plan.steps {
            self.step(step, &title, flow, path);
        }
        path.pop();
    }

    fn step(&self, step: &Step, title: &str, flow: &mut Flow, path: &mut Vec<String>) {
        let place = &step.place;
        match &step.act {
            Act::Install(line) => {
                let why = format!("{title} installs it");
                flow.installs.push((line.clone(), place.clone(), why));
            }
            Act::Project(wanted) => self.project(wanted, place, title, flow),
            // A script that is one of the shell's is read.
            Act::Run(Tool::Script(script), _) if !self.shell(script).is_empty() => {
                for plan in self.shell(script) {
                    self.plan(&plan, flow, path);
                }
            }
            Act::Run(tool, args) => flow.runs.push((tool.clone(), args.clone(), place.clone())),
            Act::Env(name, value) => {
                let why = format!("{title} sets it");
                flow.env.push((name.clone(), value.clone(), place.clone(), why));
            }
            Act::Note(note) => flow.notes.push(format!("{place}: {note}")),
            Act::System(name) => flow.system.push((name.clone(), place.clone())),
            Act::Go(to) if is_isolated(to) => {
                // The first that runs tests is the one: what comes beside it (linters, other Pythons) does not count.
                let inner = self.book.find(to).into_iter().map(|plan| {
                    let mut inner = Flow::default();
                    self.plan(&plan, &mut inner, path);
                    inner
                });
                let Some(inner) = inner.into_iter().find(|inner| !inner.runs.is_empty()) else {
                    return;
                };
                if flow.runs.is_empty() {
                    flow.installs = inner.installs;
                    flow.env.extend(inner.env);
                    flow.system.extend(inner.system);
                    flow.notes.extend(inner.notes);
                    flow.runs = inner.runs;
                    flow.through.extend(inner.through);
                }
            }
            // Some environment is entered after one was made: that one.
            Act::Go(Elsewhere::Conda(file)) if file.is_empty() && !flow.installs.is_empty() => {}
            Act::Go(to) => {
                for plan in self.book.find(to) {
                    self.plan(&plan, flow, path);
                }
            }
        }
    }

    fn shell(&self, script: &str) -> Vec<Plan> {
        self.book.find(&Elsewhere::Shell(script.to_owned()))
    }

    /// What a project's manager installs: sets by name, and the project.
    fn project(&self, wanted: &Wanted, place: &Place, title: &str, flow: &mut Flow) {
        let package = self.package;
        let mut names: Vec<&str> = wanted.sets.iter().map(String::as_str).collect();
        if wanted.all_groups {
            names.extend(package.groups.keys().map(String::as_str));
        } else if wanted.defaults && (wanted.sets.is_empty() || !is_plain_only(package)) {
            names.extend(package.default_groups.iter().map(String::as_str));
        }
        if wanted.all_extras {
            names.extend(package.extras.keys().map(String::as_str));
        }
        for name in names {
            let Some((lines, set)) = package.lines_of(name) else {
                continue;
            };
            let why = format!("{title} installs `{name}` ({place})");
            for line in lines {
                let from = if set.form == Form::Plain {
                    &line.place
                } else {
                    &set.place
                };
                flow.installs.push((line.text.clone(), from.clone(), why.clone()));
            }
        }
        if !wanted.without_project && package.installable.is_some() {
            flow.installs.push((
                "-e .".to_owned(),
                place.clone(),
                format!("{title} installs the project"),
            ));
        }
    }
}

/// Whether the groups are pdm's old ones, of which a named one is installed alone.
fn is_plain_only(package: &Package) -> bool {
    package
        .groups
        .values()
        .all(|set| set.table == "tool.pdm.dev-dependencies")
}
