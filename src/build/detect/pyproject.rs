//! `pyproject.toml`: PEP 517, 518, 621 and 735, and the tables of poetry, pdm, uv, hatch, flit and poe.

use std::collections::BTreeSet;

use super::interpreters::Said;
use super::package::{Form, Package, Set};
use super::requirement::from_poetry;
use crate::build::lock::normalise;
use crate::domain::settings::Line;
use crate::domain::settings::Place;
use crate::domain::settings::value::{Kind, Value};

const FILE: &str = "pyproject.toml";

/// Takes in what the file says of the project.
pub(super) fn read(document: &Value, package: &mut Package, said: &mut Said) {
    build_system(document, package);
    project(document, package, said);
    poetry(document, package, said);
    flit(document, package, said);
    groups(document, package);
    plain_sets(
        document,
        &["tool", "pdm", "dev-dependencies"],
        "tool.pdm.dev-dependencies",
        package,
    );
    uv(document, package);
    for path in [
        &["tool", "pdm", "scripts"][..],
        &["tool", "poe", "tasks"],
        &["tool", "taskipy", "tasks"],
    ] {
        scripts(document, path, package);
    }
}

fn place(line: u32) -> Place {
    Place::new(FILE, line)
}

fn lines(value: &Value) -> Vec<Line> {
    value
        .texts()
        .map(|(text, line)| Line::new(text, FILE, line))
        .collect()
}

fn build_system(document: &Value, package: &mut Package) {
    let Some(table) = document.at(&["build-system"]) else {
        return;
    };
    package.installable.get_or_insert_with(|| place(table.line));
    if let Some(requires) = table.at(&["requires"]) {
        package.build = lines(requires);
    }
}

fn project(document: &Value, package: &mut Package, said: &mut Said) {
    let Some(project) = document.at(&["project"]) else {
        return;
    };
    package.installable.get_or_insert_with(|| place(project.line));
    if let Some(name) = project.text_at(&["name"]) {
        package.name = Some(normalise(name));
    }
    if let Some(requires) = project.at(&["requires-python"]) {
        said.condition(requires.text().unwrap_or_default(), &place(requires.line));
    }
    classifiers(project.at(&["classifiers"]), said);
    package
        .dependencies
        .extend(project.at(&["dependencies"]).map(lines).unwrap_or_default());
    let extras = project.at(&["optional-dependencies"]);
    for (name, line, value) in extras.into_iter().flat_map(Value::entries) {
        add_extra(package, name, line, lines(value), "project.optional-dependencies");
    }
}

fn classifiers(list: Option<&Value>, said: &mut Said) {
    for (text, line) in list.into_iter().flat_map(Value::texts) {
        classifier(text, &place(line), said);
    }
}

/// A trove classifier that names a version of Python.
pub(super) fn classifier(text: &str, place: &Place, said: &mut Said) {
    if let Some(version) = text.trim().strip_prefix("Programming Language :: Python :: ") {
        said.name(version, place, "a classifier names it");
    }
}

fn add_extra(package: &mut Package, name: &str, line: u32, lines: Vec<Line>, table: &'static str) {
    let set = Set {
        form: Form::Extra,
        place: place(line),
        lines,
        table,
    };
    package.extras.insert(name.to_owned(), set);
}

/// PEP 735, `include-group` followed.
fn groups(document: &Value, package: &mut Package) {
    let Some(table) = document.at(&["dependency-groups"]) else {
        return;
    };
    for (name, line, _) in table.entries() {
        let mut set = Set {
            form: Form::Group,
            place: place(line),
            lines: vec![],
            table: "dependency-groups",
        };
        include(table, name, &mut BTreeSet::new(), &mut set.lines);
        package.groups.insert(name.to_owned(), set);
    }
}

fn include(table: &Value, name: &str, seen: &mut BTreeSet<String>, into: &mut Vec<Line>) {
    if !seen.insert(normalise(name)) {
        return;
    }
    let found = table
        .entries()
        .find(|(known, ..)| normalise(known) == normalise(name));
    for member in found.into_iter().flat_map(|(_, _, value)| value.members()) {
        match member.text_at(&["include-group"]) {
            Some(more) => include(table, more, seen, into),
            None => into.extend(member.text().map(|text| Line::new(text, FILE, member.line))),
        }
    }
}

/// Tables of lists that only the project's manager knows.
fn plain_sets(document: &Value, path: &[&str], table: &'static str, package: &mut Package) {
    for (name, line, value) in document.at(path).into_iter().flat_map(Value::entries) {
        // The first pdm had one table of names and versions here, as poetry has.
        if !matches!(value.kind, Kind::List(_)) {
            continue;
        }
        package.groups.entry(name.to_owned()).or_insert_with(|| Set {
            form: Form::Plain,
            place: place(line),
            // `-e file:///${PROJECT_ROOT}/…` and the like stand for folders of the project.
            lines: lines(value)
                .into_iter()
                .filter(|line| !line.text.starts_with('-'))
                .collect(),
            table,
        });
        package.default_groups.push(name.to_owned());
    }
}

fn uv(document: &Value, package: &mut Package) {
    if let Some(list) = document.at(&["tool", "uv", "dev-dependencies"]) {
        package.groups.entry("dev".to_owned()).or_insert_with(|| Set {
            form: Form::Plain,
            place: place(list.line),
            lines: lines(list),
            table: "tool.uv.dev-dependencies",
        });
    }
    match document.at(&["tool", "uv", "default-groups"]) {
        Some(value) if value.text() == Some("all") => {
            package.default_groups = package.groups.keys().cloned().collect();
        }
        Some(value) => package.default_groups = value.texts().map(|(name, _)| name.to_owned()).collect(),
        None if package.groups.contains_key("dev") && package.default_groups.is_empty() => {
            package.default_groups.push("dev".to_owned());
        }
        None => {}
    }
}

fn poetry(document: &Value, package: &mut Package, said: &mut Said) {
    let Some(poetry) = document.at(&["tool", "poetry"]) else {
        return;
    };
    if poetry.text_at(&["package-mode"]) != Some("false") && poetry.at(&["name"]).is_some() {
        package.installable.get_or_insert_with(|| place(poetry.line));
    }
    if package.name.is_none() {
        package.name = poetry.text_at(&["name"]).map(normalise);
    }
    classifiers(poetry.at(&["classifiers"]), said);
    if let Some(python) = poetry.at(&["dependencies", "python"]) {
        let text = python.text().or_else(|| python.text_at(&["version"]));
        said.condition(text.unwrap_or_default(), &place(python.line));
    }
    package
        .dependencies
        .extend(poetry.at(&["dependencies"]).map(poetry_lines).unwrap_or_default());
    for (name, line, value) in poetry.at(&["extras"]).into_iter().flat_map(Value::entries) {
        add_extra(package, name, line, lines(value), "tool.poetry.extras");
    }
    let old = poetry
        .at(&["dev-dependencies"])
        .map(|value| ("dev", value, false));
    let new = poetry
        .at(&["group"])
        .into_iter()
        .flat_map(Value::entries)
        .filter_map(|(name, _, value)| {
            let optional = value.text_at(&["optional"]) == Some("true");
            Some((name, value.at(&["dependencies"])?, optional))
        });
    for (name, value, optional) in old.into_iter().chain(new) {
        let set = package.groups.entry(name.to_owned()).or_insert_with(|| Set {
            form: Form::Plain,
            place: place(value.line),
            lines: vec![],
            table: "tool.poetry.group",
        });
        set.lines.extend(poetry_lines(value));
        if !optional && !package.default_groups.iter().any(|known| known == name) {
            package.default_groups.push(name.to_owned());
        }
    }
}

/// A table of poetry's dependencies as requirements; those at addresses or paths, and python itself, are left out.
fn poetry_lines(table: &Value) -> Vec<Line> {
    let mut found = Vec::new();
    for (name, line, value) in table.entries().filter(|(name, ..)| *name != "python") {
        // A list has one entry for each condition.
        let single = [value.clone()];
        let entries: &[Value] = match &value.kind {
            Kind::List(list) => list,
            _ => &single,
        };
        for entry in entries {
            found.extend(poetry_requirement(name, entry).map(|text| Line::new(text, FILE, line)));
        }
    }
    found
}

fn poetry_requirement(name: &str, value: &Value) -> Option<String> {
    if let Some(version) = value.text() {
        return Some(format!("{name}{}", from_poetry(version).unwrap_or_default()));
    }
    if value.at(&["path"]).is_some() {
        return None;
    }
    // A version of a repository at an address: the index's version of the day stands in for it.
    let version = value
        .text_at(&["version"])
        .and_then(from_poetry)
        .unwrap_or_default();
    let extras: Vec<_> = value
        .at(&["extras"])
        .into_iter()
        .flat_map(Value::texts)
        .map(|(extra, _)| extra)
        .collect();
    let extras = if extras.is_empty() {
        String::new()
    } else {
        format!("[{}]", extras.join(","))
    };
    let mut conditions = Vec::new();
    if let Some(python) = value.text_at(&["python"]).and_then(from_poetry) {
        conditions.extend(python.split(',').filter(|part| !part.is_empty()).map(marker));
    }
    if let Some(platform) = value.text_at(&["platform"]) {
        conditions.push(format!("sys_platform == \"{platform}\""));
    }
    if let Some(markers) = value.text_at(&["markers"]) {
        conditions.push(format!("({markers})"));
    }
    let conditions = if conditions.is_empty() {
        String::new()
    } else {
        format!("; {}", conditions.join(" and "))
    };
    Some(format!("{name}{extras}{version}{conditions}"))
}

/// `>=3.8` as an environment marker.
fn marker(condition: &str) -> String {
    let end = condition
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(condition.len());
    let (operator, version) = condition.split_at(end);
    let full = version.trim_end_matches(".*").matches('.').count() > 1;
    let variable = if full {
        "python_full_version"
    } else {
        "python_version"
    };
    // `python_version` has two numbers: `<4` compares well, and `>=3` does.
    format!("{variable} {operator} \"{version}\"")
}

fn flit(document: &Value, package: &mut Package, said: &mut Said) {
    let Some(metadata) = document.at(&["tool", "flit", "metadata"]) else {
        return;
    };
    package.installable.get_or_insert_with(|| place(metadata.line));
    let name = metadata
        .text_at(&["dist-name"])
        .or_else(|| metadata.text_at(&["module"]));
    if package.name.is_none() {
        package.name = name.map(normalise);
    }
    if let Some(requires) = metadata.at(&["requires-python"]) {
        said.condition(requires.text().unwrap_or_default(), &place(requires.line));
    }
    classifiers(metadata.at(&["classifiers"]), said);
    package
        .dependencies
        .extend(metadata.at(&["requires"]).map(lines).unwrap_or_default());
    for (name, line, value) in metadata
        .at(&["requires-extra"])
        .into_iter()
        .flat_map(Value::entries)
    {
        add_extra(
            package,
            name,
            line,
            lines(value),
            "tool.flit.metadata.requires-extra",
        );
    }
}

/// Scripts: a text, or a table with `cmd`, `shell`, `composite`, `sequence`; texts in lists are commands or words.
fn scripts(document: &Value, path: &[&str], package: &mut Package) {
    for (name, line, value) in document.at(path).into_iter().flat_map(Value::entries) {
        let words_of = |value: &Value| value.texts().map(|(text, _)| text.to_owned()).collect::<Vec<_>>();
        let commands: Vec<String> = match &value.kind {
            Kind::Text(text) => vec![text.clone()],
            Kind::List(_) => words_of(value),
            _ => {
                let words = value.at(&["cmd"]).map(words_of).unwrap_or_default();
                let mut commands = if words.is_empty() {
                    vec![]
                } else {
                    vec![words.join(" ")]
                };
                for key in ["shell", "composite", "sequence"] {
                    commands.extend(value.at(&[key]).map(words_of).unwrap_or_default());
                }
                commands
            }
        };
        let commands = commands
            .into_iter()
            .map(|text| Line::new(text, FILE, line))
            .collect();
        package.scripts.insert(name.to_owned(), commands);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::settings::value::read_toml;

    fn of(text: &str) -> (Package, Said) {
        let (mut package, mut said) = (Package::default(), Said::default());
        read(&read_toml(text).unwrap(), &mut package, &mut said);
        (package, said)
    }

    fn texts(package: &Package, name: &str) -> Vec<String> {
        package
            .lines_of(name)
            .unwrap()
            .0
            .into_iter()
            .map(|line| line.text)
            .collect()
    }

    #[test]
    fn standard_tables_are_read() {
        let (package, said) = of(r#"
[build-system]
requires = ["flit_core>=3"]
[project]
name = "Pantry_X"
requires-python = ">=3.9"
classifiers = ["Programming Language :: Python :: 3.12", "Programming Language :: Python :: 3 :: Only"]
dependencies = ["click>=8"]
optional-dependencies.test = ["pytest", "pantry-x[extra]"]
optional-dependencies.extra = ["six"]
[dependency-groups]
tests = ["pytest>=7", {include-group = "more"}]
more = ["trustme"]
own = ["pantry-x[test]", "mypy"]
"#);
        assert_eq!(package.name.as_deref(), Some("pantry-x"));
        assert_eq!(package.build[0].text, "flit_core>=3");
        assert_eq!(said.named.keys().collect::<Vec<_>>(), [&12]);
        assert_eq!(said.conditions[0].1, Place::new(FILE, 6));
        assert_eq!(texts(&package, "test"), ["-e .[test]"]);
        assert_eq!(texts(&package, "Tests"), ["--group tests"]);
        assert_eq!(package.groups["tests"].lines[1], Line::new("trustme", FILE, 13));
        assert_eq!(
            texts(&package, "own"),
            ["pantry-x[test]", "mypy"],
            "the project in its own group is told one by one"
        );
        assert_eq!(
            package.own_line("pantry.x[test] >= 1").as_deref(),
            Some("-e .[test]")
        );
        let with = package.names_with(&BTreeSet::from(["test".to_owned()]));
        assert_eq!(with.into_iter().collect::<Vec<_>>(), ["click", "pytest", "six"]);
    }

    #[test]
    fn poetrys_groups_become_requirements() {
        let (package, said) = of(r#"
[tool.poetry]
name = "pantry"
[tool.poetry.dependencies]
python = "^3.8"
click = "^8.1"
[tool.poetry.dev-dependencies]
pytest = "^7.2"
[tool.poetry.group.test.dependencies]
httpx = {version = "~0.24", extras = ["http2"], python = ">=3.8,<3.12"}
local = {path = "../local"}
fork = {git = "https://example.org/fork.git"}
numpy = [{version = "1.24.*", python = "<3.9"}, {version = "^1.26", markers = "platform_machine != 'x'"}]
[tool.poetry.group.docs]
optional = true
[tool.poetry.group.docs.dependencies]
sphinx = "*"
"#);
        assert_eq!(said.conditions[0].0, "^3.8");
        assert_eq!(texts(&package, "dev"), ["pytest>=7.2,<8"]);
        insta::assert_snapshot!(texts(&package, "test").join("\n"), @r#"
        httpx[http2]>=0.24,<0.25; python_version >= "3.8" and python_version < "3.12"
        fork
        numpy==1.24.*; python_version < "3.9"
        numpy>=1.26,<2; (platform_machine != 'x')
        "#);
        assert_eq!(texts(&package, "docs"), ["sphinx"]);
        assert_eq!(package.default_groups, ["dev", "test"]);
    }

    #[test]
    fn tables_of_other_managers_are_read() {
        let (package, _) = of(r#"
[tool.flit.metadata]
module = "pantry"
[tool.flit.metadata.requires-extra]
test = ["pytest"]
[tool.pdm.dev-dependencies]
lint = ["ruff", "-e file:///${PROJECT_ROOT}/plugin"]
[tool.uv]
dev-dependencies = ["nox"]
[tool.pdm.scripts]
test = "pytest -x"
all = {composite = ["lint", "test"]}
run = {cmd = ["python", "-m", "x"]}
"#);
        assert_eq!(texts(&package, "test"), ["-e .[test]"]);
        assert_eq!(texts(&package, "lint"), ["ruff"]);
        assert_eq!(texts(&package, "dev"), ["nox"]);
        assert_eq!(package.scripts["all"].len(), 2);
        assert_eq!(package.scripts["run"][0].text, "python -m x");
    }
}
