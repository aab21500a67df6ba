//! pipenv: the root's `Pipfile`. Its lock is not needed: the day decides.
//!
//! Source: pipenv's documentation, "Pipfile & Pipfile.lock": `[packages]`, `[dev-packages]` (with `--dev`), `[scripts]`,
//! `[requires]`; a version is a PEP 440 specifier or `*`, a table has `version`, `extras`, `markers`, `path`, `git`.

use super::interpreters::Said;
use super::package::{Form, Package, Set};
use super::proposal::Tree;
use super::requirement::{from_poetry, project_line};
use crate::domain::settings::Line;
use crate::domain::settings::Place;
use crate::domain::settings::value::{Kind, Value, read_toml};

const FILE: &str = "Pipfile";
/// The set that `pipenv install` installs.
pub(super) const PACKAGES: &str = "Pipfile";
/// What `--dev` adds, with those.
pub(super) const DEVELOPMENT: &str = "Pipfile-dev";

/// Takes in what the file says; `Err` is a note.
pub(super) fn read(tree: &Tree<'_>, package: &mut Package, said: &mut Said) -> Result<(), String> {
    let Some(text) = tree.text(FILE) else {
        return Ok(());
    };
    let document = read_toml(&text).map_err(|problem| format!("{FILE} is passed over: {problem}"))?;
    for key in ["python_version", "python_full_version"] {
        if let Some(value) = document.at(&["requires", key]) {
            let place = Place::new(FILE, value.line);
            said.name(
                value.text().unwrap_or_default(),
                &place,
                "the project is worked on with it",
            );
        }
    }
    let packages = lines(document.at(&["packages"]));
    let development = lines(document.at(&["dev-packages"]));
    let sets = [
        (PACKAGES, "packages", packages.clone()),
        (DEVELOPMENT, "dev-packages", [packages, development].concat()),
    ];
    for (name, table, lines) in sets {
        let Some(value) = document.at(&[table]).filter(|_| !lines.is_empty()) else {
            continue;
        };
        package.groups.entry(name.to_owned()).or_insert_with(|| Set {
            form: Form::Plain,
            place: Place::new(FILE, value.line),
            lines,
            table: "a Pipfile",
        });
    }
    for (name, line, value) in document.at(&["scripts"]).into_iter().flat_map(Value::entries) {
        let text = value
            .text()
            .or_else(|| value.text_at(&["cmd"]))
            .unwrap_or_default();
        package
            .scripts
            .entry(name.to_owned())
            .or_insert_with(|| vec![Line::new(text, FILE, line)]);
    }
    Ok(())
}

fn lines(table: Option<&Value>) -> Vec<Line> {
    let entries = table.into_iter().flat_map(Value::entries);
    let lines =
        entries.filter_map(|(name, line, value)| Some(Line::new(requirement(name, value)?, FILE, line)));
    lines.collect()
}

fn requirement(name: &str, value: &Value) -> Option<String> {
    let extras: Vec<&str> = value
        .at(&["extras"])
        .into_iter()
        .flat_map(Value::texts)
        .map(|(extra, _)| extra)
        .collect();
    if let Some(path) = value.text_at(&["path"]).or_else(|| value.text_at(&["file"])) {
        let root = matches!(path.trim_end_matches('/'), "." | "");
        return root.then(|| project_line(extras));
    }
    let text = value
        .text()
        .or_else(|| value.text_at(&["version"]))
        .unwrap_or("*");
    let version = from_poetry(text)?;
    let extras = if extras.is_empty() {
        String::new()
    } else {
        format!("[{}]", extras.join(","))
    };
    let mut conditions: Vec<String> = value
        .text_at(&["markers"])
        .map(|markers| format!("({markers})"))
        .into_iter()
        .collect();
    // `sys_platform = "== 'win32'"`: a marker is a key, too.
    if let Kind::Table(entries) = &value.kind {
        let markers = [
            "sys_platform",
            "python_version",
            "os_name",
            "platform_system",
            "platform_machine",
            "implementation_name",
        ];
        let own = entries.iter().filter(|(key, ..)| markers.contains(&key.as_str()));
        conditions.extend(own.filter_map(|(key, _, value)| Some(format!("{key} {}", value.text()?))));
    }
    let conditions = if conditions.is_empty() {
        String::new()
    } else {
        format!("; {}", conditions.join(" and "))
    };
    Some(format!("{name}{extras}{version}{conditions}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{of, short};
    use super::*;

    const PIPFILE: &str = "[[source]]\nurl = 'https://example.org/simple'\n[packages]\npantry = {editable = true, path = '.', extras = ['x']}\nrequests = '>=2.9'\nlocal = {path = './vendor/a'}\n[dev-packages]\npytest = '*'\nmock = {version = '==2.0', markers = \"python_version < '3'\"}\nwin = {version = '*', sys_platform = \"== 'win32'\"}\n[requires]\npython_version = '3.7'\n[scripts]\ntests = 'pytest -k unit'\n";

    #[test]
    fn what_pipenv_installs_and_runs_is_followed() {
        let workflow = "jobs:\n  test:\n    steps:\n      - run: pip install pipenv && pipenv install --dev\n      - run: pipenv run tests\n";
        let detected = of(
            &[
                ("setup.py", "setup(name='pantry')\n"),
                ("Pipfile", PIPFILE),
                (".github/workflows/ci.yml", workflow),
            ],
            "2019-01-01T00:00:00Z",
        );
        let first = short(&detected).lines().next().unwrap().to_owned();
        assert_eq!(
            first,
            "detected-3.7-job-test: requests>=2.9 | pytest | mock==2.0; (python_version < '3') | \
             win; sys_platform == 'win32' | -e .[x] (-k unit)"
        );
        let because = &detected.proposals[0].because;
        let place = |what: &str| {
            let origin = because.iter().find(|origin| origin.what == what).unwrap();
            origin.place.as_ref().unwrap().to_string()
        };
        assert_eq!(place("install pytest"), "Pipfile:8");
        assert_eq!(place("install requests>=2.9"), "Pipfile:5");
    }

    proptest! {
        #[test]
        fn no_file_makes_the_reader_panic(text in "(\\[packages\\]\n|a = |'\\*'|\n|\\{path = '.'\\}|\\{version = 1\\}|\\[|é){0,12}") {
            let bytes = |_: &str| Some(text.as_bytes().to_vec());
            let paths = std::collections::BTreeSet::new();
            let tree = Tree { paths: &paths, read: &bytes };
            let _ = read(&tree, &mut Package::default(), &mut Said::default());
        }
    }
}
