//! nox: the sessions of `noxfile.py`, parsed and never run.

use super::command::acts;
use super::interpreters::Said;
use super::plan::{Act, Plan, Source, Step};
use super::proposal::Tree;
use super::source::{self, Call, Function, Module};
use crate::domain::settings::Place;
use crate::domain::settings::value::Value;

const FILE: &str = "noxfile.py";
/// How deep functions may call each other.
const HELPERS: usize = 4;

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
                self.plan(name, function)
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

impl Nox {
    /// A session's calls, those of the module's own functions that it calls among them.
    fn calls<'a>(&'a self, function: &'a Function, depth: usize) -> Vec<&'a Call> {
        let mut calls = Vec::new();
        for call in &function.calls {
            let functions = self.module.iter().flat_map(|module| &module.functions);
            let mut helpers =
                functions.filter(|helper| helper.name == call.name && helper.name != function.name);
            match helpers.next().filter(|_| depth < HELPERS) {
                Some(helper) => calls.extend(self.calls(helper, depth + 1)),
                None => calls.push(call),
            }
        }
        calls
    }

    fn plan(&self, name: &str, function: &Function) -> Plan {
        let mut steps = Vec::new();
        for (holder, key, value, line) in &function.sets {
            if holder.rsplit('.').next() == Some("env") {
                steps.push(Step {
                    place: Place::new(FILE, *line),
                    act: Act::Env(key.clone(), value.clone()),
                });
            }
        }
        for call in self.calls(function, 0) {
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
}

#[cfg(test)]
mod tests {
    use crate::build::detect::tests::{of, short};

    fn proposals(noxfile: &str) -> String {
        let files = [
            ("pyproject.toml", "[project]\nname = 'pantry'\n"),
            ("noxfile.py", noxfile),
        ];
        let detected = of(&files, "2024-06-01T00:00:00Z");
        let all = short(&detected);
        let lines = all
            .lines()
            .filter(|line| line.contains("-nox-") && line.contains("-3.12-"));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_session_is_followed_into_the_functions_that_it_calls() {
        let text = "import nox\n\ndef tests_impl(session, extras='socks'):\n    session.install('-r', 'dev.txt')\n    \
                    session.install('pytest-timeout')\n    session.run('pytest', '-n', 'auto', *session.posargs)\n\n\
                    @nox.session(python=['3.8', '3.12'])\ndef test(session):\n    tests_impl(session)\n\n\
                    @nox.session()\ndef lint(session):\n    session.install('pre-commit')\n    session.run('pre-commit', 'run')\n";
        assert_eq!(
            proposals(text),
            "detected-3.12-nox-test: pytest-timeout | pytest | pytest-xdist | -e ."
        );
    }

    #[test]
    fn a_parameter_stands_for_its_last_value() {
        let text = "import nox\n\n@nox.session\n@nox.parametrize('django', ['3.2', '4.2'])\n\
                    @nox.parametrize('a,b', [('x', 'one'), ('y', 'two')])\ndef tests(session, django, a, b):\n    \
                    session.install(f'django=={django}', b, '.[test]')\n    session.run('python', '-m', 'pytest')\n";
        assert_eq!(
            proposals(text),
            "detected-3.12-nox-tests: django==4.2 | two | pytest | -e .[test]"
        );
    }

    #[test]
    fn what_uv_does_in_a_session_is_followed() {
        let text = "import nox\nnox.options.default_venv_backend = 'uv'\n\n@nox.session(name='unit')\ndef tests(s):\n    \
                    s.run_install('uv', 'sync', '--group=test', env={'UV_PROJECT_ENVIRONMENT': s.virtualenv.location})\n    \
                    s.env['PANTRY'] = 'full'\n    s.run('pytest', '-m', 'not slow')\n";
        let files = [
            (
                "pyproject.toml",
                "[project]\nname = 'pantry'\n[dependency-groups]\ntest = ['pytest', 'trustme']\n",
            ),
            ("noxfile.py", text),
        ];
        let all = short(&of(&files, "2025-06-01T00:00:00Z"));
        let first = all.lines().next().unwrap();
        assert_eq!(
            first,
            "detected-3.13-nox-unit: --group test | -e . (-m not slow) PANTRY=full"
        );
    }
}
