//! `setup.py`: the arguments of `setup(…)`, as far as they are plain.

use super::interpreters::Said;
use super::package::{Form, Package, Set};
use super::proposal::Tree;
use super::pyproject::classifier;
use super::requirement::is_requirement;
use super::source::{self, Call};
use crate::build::lock::normalise;
use crate::domain::settings::Line;
use crate::domain::settings::Place;
use crate::domain::settings::value::Value;

const FILE: &str = "setup.py";

/// Takes in what the file says of the project; what other files say of the same stands.
pub(super) fn read(tree: &Tree<'_>, package: &mut Package, said: &mut Said) {
    let Some(module) = tree.text(FILE).and_then(|text| source::read(&text)) else {
        return;
    };
    let calls = module
        .calls
        .iter()
        .chain(module.functions.iter().flat_map(|function| &function.calls));
    let Some(setup) = calls
        .into_iter()
        .find(|call| matches!(call.name.as_str(), "setup" | "setuptools.setup" | "skbuild.setup"))
    else {
        return;
    };
    if package.name.is_none() {
        package.name = setup.keyword("name").and_then(Value::text).map(normalise);
    }
    if let Some(requires) = setup.keyword("python_requires") {
        said.condition(
            requires.text().unwrap_or_default(),
            &Place::new(FILE, requires.line),
        );
    }
    for (text, line) in setup.keyword("classifiers").into_iter().flat_map(Value::texts) {
        classifier(text, &Place::new(FILE, line), said);
    }
    package.dependencies.extend(lines(setup, "install_requires"));
    package.build.extend(lines(setup, "setup_requires"));
    for (name, line, value) in setup
        .keyword("extras_require")
        .into_iter()
        .flat_map(Value::entries)
    {
        package.extras.entry(name.to_owned()).or_insert_with(|| Set {
            form: Form::Extra,
            place: Place::new(FILE, line),
            lines: requirements(value),
            table: "extras_require",
        });
    }
    let tests = lines(setup, "tests_require");
    if let Some(first) = tests.first() {
        let place = first.place.clone();
        package
            .groups
            .entry("tests_require".to_owned())
            .or_insert_with(|| Set {
                form: Form::Plain,
                place,
                lines: tests,
                table: "tests_require",
            });
    }
}

fn lines(setup: &Call, keyword: &str) -> Vec<Line> {
    setup.keyword(keyword).map(requirements).unwrap_or_default()
}

fn requirements(value: &Value) -> Vec<Line> {
    let texts = value
        .texts()
        .flat_map(|(text, line)| text.lines().map(move |text| (text.trim(), line)));
    texts
        .filter(|(text, _)| is_requirement(text))
        .map(|(text, line)| Line::new(text, FILE, line))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn arguments_are_read_through_constants() {
        let text = "from setuptools import setup\nTESTS = ['pytest>=3', 'mock']\nEXTRAS = {'test': TESTS}\nEXTRAS['all'] = TESTS + ['x']\nif __name__ == '__main__':\n    setup(name=\"Pantry\", tests_require=TESTS, extras_require=EXTRAS,\n        python_requires='>=3.5',\n        classifiers=[\n            'Programming Language :: Python :: 3.7',\n        ])\n";
        let read_file = |path: &str| (path == FILE).then(|| text.as_bytes().to_vec());
        let paths = BTreeSet::new();
        let (mut package, mut said) = (Package::default(), Said::default());
        read(
            &Tree {
                paths: &paths,
                read: &read_file,
            },
            &mut package,
            &mut said,
        );
        assert_eq!(package.name.as_deref(), Some("pantry"));
        assert_eq!(package.extras["all"].lines.len(), 3);
        assert_eq!(
            package.groups["tests_require"].lines[0],
            Line::new("pytest>=3", FILE, 2)
        );
        assert_eq!(said.named[&7][0].place, Some(Place::new(FILE, 9)));
        assert_eq!(said.conditions, [(">=3.5".to_owned(), Place::new(FILE, 7))]);
    }
}
