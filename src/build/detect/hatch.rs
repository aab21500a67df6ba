//! hatch's environments: `[tool.hatch.envs]` of `pyproject.toml`, or `hatch.toml`.
//!
//! Source: hatch's documentation, "Environment configuration": an environment takes over what the one it is made after
//! (`template`, by default `default`) has, and adds its own; `hatch test` has requirements of its own.

use super::command::acts;
use super::interpreters::Said;
use super::plan::{Act, Elsewhere, Plan, Source, Step};
use super::proposal::Tree;
use super::requirement::project_line;
use super::shell::commands;
use crate::domain::settings::Place;
use crate::domain::settings::value::{Value, read_toml};

/// What `hatch test` brings by itself. Source: hatch's documentation, "Testing", "Customize environment".
const OWN_TESTS: &[&str] = &[
    "coverage-enable-subprocess",
    "coverage[toml]",
    "pytest",
    "pytest-mock",
    "pytest-randomly",
    "pytest-rerunfailures",
    "pytest-xdist",
];

/// hatch's environments.
#[derive(Debug, Default)]
pub(super) struct Hatch {
    table: Option<(Value, String)>,
}

impl Hatch {
    /// Reads them.
    pub(super) fn read(tree: &Tree<'_>, pyproject: Option<&Value>) -> Self {
        let own = pyproject
            .and_then(|document| document.at(&["tool", "hatch", "envs"]))
            .cloned();
        let file = || read_toml(&tree.text("hatch.toml")?).ok()?.at(&["envs"]).cloned();
        let table = own
            .map(|table| (table, "pyproject.toml".to_owned()))
            .or_else(|| Some((file()?, "hatch.toml".to_owned())));
        Self { table }
    }

    /// Versions of Python in matrices.
    pub(super) fn say(&self, said: &mut Said) {
        let Some((table, file)) = &self.table else { return };
        for (name, _, environment) in table
            .entries()
            .filter(|(name, ..)| !super::sets::is_otherwise(name))
        {
            for matrix in environment.at(&["matrix"]).into_iter().flat_map(Value::members) {
                for (version, line) in matrix.at(&["python"]).into_iter().flat_map(Value::texts) {
                    said.name(
                        version,
                        &Place::new(file, line),
                        &format!("hatch's environment `{name}` is for it"),
                    );
                }
            }
        }
    }

    /// A script in an environment (empty: the default one), as a plan.
    pub(super) fn find(&self, environment: &str, script: &str) -> Option<Plan> {
        let (table, file) = self.table.as_ref()?;
        let environment = if environment.is_empty() {
            "default"
        } else {
            environment
        };
        let own_tests = environment == "hatch-test";
        // `hatch run +py=3.11 test:cov` and `test.py3.11:cov` name a part of a matrix.
        let environment = environment.split(".py").next().unwrap_or(environment);
        let found = table.at(&[environment]);
        if found.is_none() && !own_tests {
            return None;
        }
        let line = found.map_or(table.line, |found| found.line);
        let place = |line: u32| Place::new(file, line);
        let mut chain: Vec<&Value> = found.into_iter().collect();
        let template = found
            .and_then(|found| found.text_at(&["template"]))
            .unwrap_or("default");
        let detached =
            found.and_then(|found| found.text_at(&["detached"])) == Some("true") || template == environment;
        if !detached && !own_tests {
            chain.extend(table.at(&[template]).filter(|_| environment != "default"));
        }
        let mut steps = Vec::new();
        for (name, line, value) in chain
            .iter()
            .rev()
            .filter_map(|table| table.at(&["env-vars"]))
            .flat_map(Value::entries)
        {
            let value = value.text().unwrap_or_default().to_owned();
            steps.push(Step {
                place: place(line),
                act: Act::Env(name.to_owned(), value),
            });
        }
        let first = |key: &str| chain.iter().find_map(|table| table.at(&[key]));
        if own_tests && first("dependencies").is_none() {
            let installs = OWN_TESTS.iter().map(|name| Act::Install((*name).to_owned()));
            steps.extend(installs.map(|act| Step {
                place: place(line),
                act,
            }));
        }
        let lists = first("dependencies")
            .into_iter()
            .chain(chain.iter().filter_map(|table| table.at(&["extra-dependencies"])));
        for (text, line) in lists.flat_map(Value::texts) {
            steps.push(Step {
                place: place(line),
                act: Act::Install(text.to_owned()),
            });
        }
        for (group, line) in first("dependency-groups").into_iter().flat_map(Value::texts) {
            steps.push(Step::group(group, place(line)));
        }
        if first("skip-install").and_then(Value::text) != Some("true") {
            let features = first("features")
                .into_iter()
                .flat_map(Value::texts)
                .map(|(name, _)| name);
            steps.push(Step {
                place: place(line),
                act: Act::Install(project_line(features)),
            });
        }
        let command = chain.iter().find_map(|table| table.at(&["scripts", script]));
        match command {
            Some(list) => {
                for (text, line) in list.texts() {
                    steps.extend(commands_of(&chain, text, &place(line)));
                }
            }
            None if own_tests => steps.push(Step {
                place: place(line),
                act: Act::Run(super::plan::Tool::Pytest, vec![]),
            }),
            None => {
                let words: Vec<String> = script.split(' ').map(str::to_owned).collect();
                steps.extend(acts(&words).into_iter().map(|act| Step {
                    place: place(line),
                    act,
                }));
            }
        }
        Some(Plan {
            source: Source::Hatch,
            name: environment.to_owned(),
            place: place(line),
            steps,
            worth: super::sets::worth(&format!("{environment} {script}")).unwrap_or(0),
        })
    }

    /// Every script that may be the tests', with its environment.
    pub(super) fn plans(&self) -> Vec<Plan> {
        let Some((table, _)) = &self.table else {
            return vec![];
        };
        let mut plans = Vec::new();
        for (environment, _, value) in table.entries() {
            for (script, ..) in value.at(&["scripts"]).into_iter().flat_map(Value::entries) {
                plans.extend(self.find(environment, script));
            }
        }
        plans.extend(
            table
                .at(&["hatch-test"])
                .and_then(|_| self.find("hatch-test", "run")),
        );
        plans
    }
}

/// A script's commands; a command may be the name of another one of the environment's, or of those that it takes over.
fn commands_of(chain: &[&Value], text: &str, place: &Place) -> Vec<Step> {
    let mut steps = Vec::new();
    for command in commands(&plain(text)) {
        let acts = acts(&command.words);
        let name = command.words.first().filter(|_| acts.is_empty());
        let known = name.and_then(|name| chain.iter().find_map(|table| table.at(&["scripts", name])));
        for (text, _) in known.into_iter().flat_map(Value::texts) {
            for command in commands(&plain(text)) {
                steps.extend(super::command::acts(&command.words).into_iter().map(|act| Step {
                    place: place.clone(),
                    act,
                }));
            }
        }
        steps.extend(acts.into_iter().map(|act| Step {
            place: place.clone(),
            act,
        }));
    }
    steps.retain(|step| !matches!(step.act, Act::Go(Elsewhere::Hatch(..))));
    steps
}

/// A command without its mark for "may fail", with the default in the place of arguments.
fn plain(text: &str) -> String {
    let text = text
        .trim_start_matches("- ")
        .replace("{args}", "")
        .replace("{args:", "{");
    text.replace(['{', '}'], "")
}

#[cfg(test)]
mod tests {
    use crate::build::detect::tests::{of, short};

    fn proposals(more: &str, files: &[(&str, &str)]) -> Vec<String> {
        let text = format!("[build-system]\nrequires = ['hatchling']\n[project]\nname = 'pantry'\n{more}");
        let own = [("pyproject.toml", text.as_str())];
        let detected = of(&[&own[..], files].concat(), "2024-06-01T00:00:00Z");
        let all = short(&detected);
        let lines = all.lines().filter(|line| line.contains("3.12-hatch"));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn scripts_that_call_each_other_are_followed() {
        let table = "[tool.hatch.envs.default]\ndependencies = ['coverage[toml]>=6.5', 'pytest']\n[tool.hatch.envs.default.scripts]\n\
                     test = 'pytest {args:tests}'\ntest-cov = 'coverage run -m pytest {args:tests}'\n\
                     cov-report = ['- coverage combine', 'coverage report']\ncov = ['test-cov', 'cov-report']\n\
                     [[tool.hatch.envs.all.matrix]]\npython = ['3.8', '3.12']\n";
        assert_eq!(
            proposals(table, &[]),
            ["detected-3.12-hatch-default: coverage[toml]>=6.5 | pytest | -e ."]
        );
    }

    #[test]
    fn an_environment_has_features_variables_and_a_file_of_its_own() {
        let file = "[envs.default]\nextra-dependencies = ['pytest-xdist']\n[envs.test]\nfeatures = ['yaml']\n\
                    dependencies = ['pytest>=7', 'trustme']\n[envs.test.env-vars]\nPANTRY = 'full'\n[envs.test.scripts]\n\
                    run = 'pytest -p no:randomly {args}'\n[envs.lint]\ndetached = true\ndependencies = ['ruff']\n\
                    [envs.lint.scripts]\ncheck = 'ruff check .'\n";
        let extra = "[project.optional-dependencies]\nyaml = ['pyyaml']\n";
        assert_eq!(
            proposals(extra, &[("hatch.toml", file)]),
            [
                "detected-3.12-hatch-test: pytest>=7 | trustme | pytest-xdist | -e .[yaml] (-p no:randomly) PANTRY=full"
            ]
        );
    }

    #[test]
    fn a_script_of_the_template_is_known_by_its_name() {
        let table = "[tool.hatch.envs.default]\ndependencies = ['pytest']\n[tool.hatch.envs.default.scripts]\n\
                     unit = 'pytest tests/unit'\n[tool.hatch.envs.test]\nextra-dependencies = ['six']\n\
                     [tool.hatch.envs.test.scripts]\nall = ['unit']\n";
        assert!(
            proposals(table, &[]).contains(&"detected-3.12-hatch-test: pytest | six | -e .".to_owned()),
            "{:?}",
            proposals(table, &[])
        );
    }
}
