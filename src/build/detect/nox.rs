//! nox: the sessions of `noxfile.py`, parsed and never run.

use super::command::acts;
use super::interpreters::Said;
use super::plan::{Act, Plan, Source, Step};
use super::proposal::{Place, Tree};
use super::source::{self, Call, Function, Module};
use super::value::Value;

const FILE: &str = "noxfile.py";

/// nox's sessions.
#[derive(Debug, Default)]
pub(super) struct Nox {
    module: Option<Module>,
}

impl Nox {
    /// Reads the file.
    pub(super) fn read(tree: &Tree<'_>) -> Self {
        Self {
            module: tree.text(FILE).and_then(|text| source::read(&text)),
        }
    }

    fn sessions(&self) -> impl Iterator<Item = (&Function, &Call)> {
        let functions = self.module.iter().flat_map(|module| &module.functions);
        functions.filter_map(|function| {
            let decorator = function.decorators.iter().find(|call| is_session(&call.name))?;
            Some((function, decorator))
        })
    }

    /// Versions of Python that sessions are for.
    pub(super) fn say(&self, said: &mut Said) {
        for (function, decorator) in self.sessions() {
            if super::sets::is_otherwise(&function.name) {
                continue;
            }
            for (version, line) in decorator.keyword("python").into_iter().flat_map(Value::texts) {
                said.name(version, &Place::new(FILE, line), "a nox session is for it");
            }
        }
    }

    /// The sessions behind names on nox's command line; without names, all of them, the likeliest first.
    pub(super) fn find(&self, names: &[String]) -> Vec<Plan> {
        let mut plans: Vec<Plan> = self
            .sessions()
            .map(|(function, decorator)| {
                let name = decorator
                    .keyword("name")
                    .and_then(Value::text)
                    .unwrap_or(&function.name);
                plan(name, function)
            })
            .filter(|plan| {
                // `tests-3.11`, `tests(django=4.2)`: a session with parameters.
                let base = |name: &str| name.split(['(']).next().unwrap_or(name).to_owned();
                let is = |name: &String| {
                    let name = base(name);
                    name == plan.name
                        || name
                            .strip_prefix(&plan.name)
                            .is_some_and(|rest| rest.starts_with('-'))
                };
                names.is_empty() || names.iter().any(is)
            })
            .collect();
        plans.sort_by_key(|plan| std::cmp::Reverse(plan.worth));
        plans
    }
}

fn is_session(name: &str) -> bool {
    matches!(
        name,
        "nox.session" | "session" | "nox_poetry.session" | "nox_uv.session"
    )
}

fn plan(name: &str, function: &Function) -> Plan {
    let mut steps = Vec::new();
    for (holder, key, value, line) in &function.sets {
        if holder.rsplit('.').next() == Some("env") {
            steps.push(Step {
                place: Place::new(FILE, *line),
                act: Act::Env(key.clone(), value.clone()),
            });
        }
    }
    for call in &function.calls {
        let place = Place::new(FILE, call.line);
        let words: Vec<String> = call
            .args
            .iter()
            .flat_map(Value::texts)
            .map(|(text, _)| text.to_owned())
            .collect();
        let method = call.name.split_once('.').map_or("", |(_, method)| method);
        for (name, _, value) in call.keyword("env").into_iter().flat_map(Value::entries) {
            let value = value.text().unwrap_or_default().to_owned();
            steps.push(Step {
                place: place.clone(),
                act: Act::Env(name.to_owned(), value),
            });
        }
        let words = match method {
            "install" => [vec!["pip".to_owned(), "install".to_owned()], words].concat(),
            "run" | "run_always" | "run_install" => words,
            "notify" => words
                .iter()
                .map(|name| format!("nox -s {name}"))
                .flat_map(|text| super::shell::words(&text))
                .collect(),
            _ => continue,
        };
        steps.extend(acts(&words).into_iter().map(|act| Step {
            place: place.clone(),
            act,
        }));
    }
    Plan {
        source: Source::Nox,
        name: name.to_owned(),
        place: Place::new(FILE, function.line),
        steps,
        worth: super::sets::worth(name).unwrap_or(0),
    }
}
