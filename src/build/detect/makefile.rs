//! Makefiles: targets, what they depend on, and their commands, with plain variables filled in.

use std::collections::BTreeMap;

use super::command::acts;
use super::plan::{Act, Elsewhere, Plan, Source, Step};
use super::proposal::Tree;
use super::shell::commands;
use crate::domain::settings::Place;

/// Targets that tests are run by, in the order they are looked for when nothing names one.
const TESTS: &[&str] = &[
    "test",
    "tests",
    "check",
    "ci",
    "unittest",
    "unit",
    "pytest",
    "test-unit",
    "unit-test",
    "unit-tests",
];
/// Targets that install what tests need, taken before.
const INSTALLS: &[&str] = &[
    "init",
    "install",
    "install-dev",
    "dev-install",
    "dev",
    "develop",
    "setup",
    "deps",
    "requirements",
    "bootstrap",
];

/// A target.
#[derive(Debug, Clone)]
struct Target {
    name: String,
    line: u32,
    needs: Vec<String>,
    commands: Vec<(String, u32)>,
}

/// The root's Makefile.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    file: String,
    targets: Vec<Target>,
}

impl Makefile {
    /// Reads the first of the names that make looks for.
    pub(super) fn read(tree: &Tree<'_>) -> Self {
        let found = ["GNUmakefile", "makefile", "Makefile"]
            .iter()
            .find_map(|file| Some((*file, tree.text(file)?)));
        found
            .map(|(file, text)| Self::of(file, &text))
            .unwrap_or_default()
    }

    fn of(file: &str, text: &str) -> Self {
        let mut targets: Vec<Target> = Vec::new();
        let mut variables: BTreeMap<String, String> = BTreeMap::new();
        let mut open: Vec<usize> = Vec::new();
        let mut lines = (1..).zip(text.lines());
        while let Some((number, line)) = lines.next() {
            let mut line = line.to_owned();
            while line.ends_with('\\') {
                line.pop();
                match lines.next() {
                    Some((_, more)) => line.push_str(more.trim_start()),
                    None => break,
                }
            }
            if let Some(command) = line.strip_prefix('\t') {
                let command = fill(command.trim().trim_start_matches(['@', '-', '+']), &variables);
                for index in &open {
                    targets[*index].commands.push((command.clone(), number));
                }
                continue;
            }
            let plain = line.split(" #").next().unwrap_or("").trim_end();
            if plain.is_empty() || plain.starts_with('#') {
                continue;
            }
            let assigns = plain.find(['=', ':']).filter(|at| {
                let rest = &plain[*at..];
                rest.starts_with('=') || rest.starts_with(":=") || rest.starts_with("::=")
            });
            if let Some(at) = assigns {
                let name = plain[..at]
                    .trim_end_matches(['?', '+', '!', ':'])
                    .trim()
                    .trim_start_matches("export ")
                    .to_owned();
                let value = plain[at..].trim_start_matches([':', '=']).trim();
                let value = fill(value, &variables);
                variables.entry(name).or_insert(value);
            } else if let Some((names, needs)) =
                plain.split_once(':').filter(|_| !plain.starts_with([' ', '.']))
            {
                open.clear();
                let needs: Vec<String> = fill(needs.split(';').next().unwrap_or(""), &variables)
                    .split_ascii_whitespace()
                    .map(str::to_owned)
                    .collect();
                for name in fill(names, &variables).split_ascii_whitespace() {
                    open.push(targets.len());
                    targets.push(Target {
                        name: name.to_owned(),
                        line: number,
                        needs: needs.clone(),
                        commands: vec![],
                    });
                }
            } else if plain.starts_with('.') {
                open.clear();
            }
        }
        Self {
            file: file.to_owned(),
            targets,
        }
    }

    /// A target as a plan; the empty name is the first target.
    pub(super) fn find(&self, name: &str) -> Option<Plan> {
        let target = if name.is_empty() {
            self.targets.first()?
        } else {
            self.targets.iter().find(|target| target.name == name)?
        };
        let needs = target
            .needs
            .iter()
            .filter(|need| self.targets.iter().any(|target| target.name == **need));
        let mut steps: Vec<Step> = needs
            .map(|need| Step {
                place: Place::new(&self.file, target.line),
                act: Act::Go(Elsewhere::Make(need.clone())),
            })
            .collect();
        for (text, line) in &target.commands {
            for command in commands(text) {
                let place = Place::new(&self.file, *line);
                steps.extend(acts(&command.words).into_iter().map(|act| Step {
                    place: place.clone(),
                    act,
                }));
            }
        }
        Some(Plan {
            source: Source::Make,
            name: target.name.clone(),
            place: Place::new(&self.file, target.line),
            steps,
            worth: super::sets::worth(&target.name).unwrap_or(0),
        })
    }

    /// Plans: a target that installs, then one that tests.
    pub(super) fn plans(&self) -> Vec<Plan> {
        let installs: Vec<Step> = INSTALLS
            .iter()
            .filter_map(|name| self.find(name))
            .flat_map(|plan| plan.steps)
            .collect();
        let plans = TESTS.iter().filter_map(|name| self.find(name)).map(|mut plan| {
            plan.steps = installs.iter().cloned().chain(plan.steps).collect();
            plan
        });
        plans.collect()
    }
}

/// Fills in `$(X)` and `${X}` where the file says what it is; `$$` is the shell's sign.
fn fill(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let close = match after.chars().next() {
            Some('(') => after.find(')'),
            Some('{') => after.find('}'),
            _ => None,
        };
        let value = close.and_then(|close| Some((variables.get(&after[1..close])?, close)));
        match value {
            Some((value, close)) if out.len() < 10_000 => {
                out.push_str(value);
                rest = &after[close + 1..];
            }
            _ => {
                out.push('$');
                rest = after.strip_prefix('$').unwrap_or(after);
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::plan::Tool;
    use super::*;

    #[test]
    fn targets_and_variables_are_read() {
        let text = "PIP ?= python -m pip\n.PHONY: test\ninit: ## first\n\t$(PIP) install -r \\\n\t  dev.txt\ntest: lint\n\t@echo hi\n\t-python -m pytest tests\nlint:\n\tflake8\n";
        let make = Makefile::of("Makefile", text);
        let first = make.find("").unwrap();
        assert_eq!(
            first.steps,
            [Step {
                place: Place::new("Makefile", 4),
                act: Act::Install("-r dev.txt".to_owned())
            }]
        );
        let plans = make.plans();
        let acts: Vec<_> = plans[0].steps.iter().map(|step| step.act.clone()).collect();
        assert_eq!(acts[1], Act::Go(Elsewhere::Make("lint".to_owned())));
        assert_eq!(acts[2], Act::Run(Tool::Pytest, vec!["tests".to_owned()]));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "([a-c]|:|=|\t|\n|\\\\|\\$|\\(|\\)|\\{|\\}| |#|é){0,60}") {
            let make = Makefile::of("Makefile", &text);
            let _ = make.plans();
            let _ = make.find("");
        }
    }
}
