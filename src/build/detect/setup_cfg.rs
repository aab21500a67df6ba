//! `setup.cfg`: the declarative tables of setuptools, and what setuptools' `test` command reads.

use super::interpreters::Said;
use super::package::{Form, Package, Set};
use super::proposal::Tree;
use super::pyproject::classifier;
use crate::build::lock::normalise;
use crate::domain::settings::Line;
use crate::domain::settings::Place;
use crate::domain::settings::ini::{Entry, Ini};

const FILE: &str = "setup.cfg";

/// Takes in what the file says of the project; what `pyproject.toml` says of the same stands.
pub(super) fn read(tree: &Tree<'_>, package: &mut Package, said: &mut Said) {
    let Some(text) = tree.text(FILE) else { return };
    let ini = Ini::read(&text, FILE, 1);
    if let Some(metadata) = ini.section("metadata") {
        package
            .installable
            .get_or_insert_with(|| Place::new(FILE, metadata.line));
        let name = metadata
            .get("name")
            .map(Entry::text)
            .filter(|name| !name.contains(':') && !name.is_empty());
        if package.name.is_none() {
            package.name = name.map(|name| normalise(&name));
        }
        for key in ["classifiers", "classifier"] {
            for line in metadata.get(key).into_iter().flat_map(|entry| &entry.lines) {
                classifier(&line.text, &line.place, said);
            }
        }
        for key in ["python-requires", "python_requires"] {
            condition(metadata.get(key), said);
        }
    }
    let Some(options) = ini.section("options") else {
        return extras(&ini, package);
    };
    condition(options.get("python_requires"), said);
    package
        .dependencies
        .extend(requirements(options.get("install_requires")));
    package.build.extend(requirements(options.get("setup_requires")));
    let tests = requirements(options.get("tests_require"));
    if let Some(entry) = options.get("tests_require").filter(|_| !tests.is_empty()) {
        package
            .groups
            .entry("tests_require".to_owned())
            .or_insert_with(|| Set {
                form: Form::Plain,
                place: Place::new(FILE, entry.line),
                lines: tests,
                table: "options.tests_require",
            });
    }
    extras(&ini, package);
}

fn condition(entry: Option<&Entry>, said: &mut Said) {
    if let Some(entry) = entry {
        said.condition(&entry.text(), &Place::new(FILE, entry.line));
    }
}

fn extras(ini: &Ini, package: &mut Package) {
    for entry in ini
        .section("options.extras_require")
        .into_iter()
        .flat_map(|section| &section.entries)
    {
        package.extras.entry(entry.key.clone()).or_insert_with(|| Set {
            form: Form::Extra,
            place: Place::new(FILE, entry.line),
            lines: requirements(Some(entry)),
            table: "options.extras_require",
        });
    }
}

/// A list of requirements: one a line, or joined by `;` in the first; `file:` and substitutions are left out.
fn requirements(entry: Option<&Entry>) -> Vec<Line> {
    let lines = entry.into_iter().flat_map(|entry| &entry.lines);
    lines
        .filter(|line| super::requirement::is_requirement(&line.text) && !line.text.starts_with("file:"))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_declarative_tables_are_read() {
        let text = "[metadata]\nname = Pantry\nclassifiers =\n    Programming Language :: Python :: 3.8\n[options]\npython_requires = >=3.6\ninstall_requires =\n    six\ntests_require =\n    pytest>=4 ; python_version > '3'\n[options.extras_require]\ntest =\n    hypothesis\n";
        let read_file = |path: &str| (path == FILE).then(|| text.as_bytes().to_vec());
        let paths = BTreeSet::new();
        let tree = Tree {
            paths: &paths,
            read: &read_file,
        };
        let (mut package, mut said) = (Package::default(), Said::default());
        read(&tree, &mut package, &mut said);
        assert_eq!(package.name.as_deref(), Some("pantry"));
        assert_eq!(package.extras["test"].lines, [Line::new("hypothesis", FILE, 13)]);
        assert_eq!(
            package.groups["tests_require"].lines,
            [Line::new("pytest>=4 ; python_version > '3'", FILE, 10)]
        );
        assert_eq!(said.named.keys().collect::<Vec<_>>(), [&8]);
        assert_eq!(said.conditions, [(">=3.6".to_owned(), Place::new(FILE, 6))]);
    }
}
