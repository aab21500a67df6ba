//! Plans out of names: groups, extras and requirement files that are called after tests.

use super::package::{Form, Package};
use super::plan::{Act, Plan, Source, Step};
use super::proposal::{FactKind, Found, Tree};
use crate::domain::settings::Line;
use crate::domain::settings::Place;

/// Words in the names of sets and files, and what they are worth.
const WORDS: &[(&str, i32)] = &[
    ("tests", 100),
    ("test", 100),
    ("testing", 98),
    ("unittest", 95),
    ("pytest", 90),
    ("develop", 70),
    ("development", 70),
    ("dev", 70),
    ("ci", 50),
    ("all", 40),
];
/// Words that make a set one for something else.
const OTHERWISE: &[&str] = &[
    "doc",
    "docs",
    "lint",
    "linting",
    "typing",
    "mypy",
    "style",
    "format",
    "release",
    "build",
    "publish",
    "bench",
    "benchmark",
    "benchmarks",
    "coverage",
    "min",
    "minimal",
    "minimum",
    "oldest",
    "old",
    "nightly",
    "upstream",
    "gpu",
    "example",
    "examples",
    "pypy",
    "win",
    "windows",
    "macos",
    "integration",
    "e2e",
    "functional",
    "tox",
    "nox",
    "debug",
    "spelling",
    "spell",
    "documentation",
    "primer",
    "stdlib",
    "doctest",
    "doctests",
    "doctesting",
    "plugins",
    "plugin",
    "pexpect",
    "trial",
    "lowest",
    "smoke",
    "package",
    "packaging",
    "dist",
    "wheel",
    "wheels",
    "deploy",
    "freeze",
    "pluggymaster",
    "main",
    "master",
    "unicode",
    "quality",
    "security",
    "checks",
    "static",
    "types",
    "pyright",
    "installer",
    "bootstrap",
    "docker",
    "conda",
    "mutation",
    "fuzz",
    "perf",
    "performance",
    "mariadb",
    "mongodb",
    "mssql",
    "mysql",
    "oracle",
    "postgres",
    "postgresql",
    "redis",
    "regen",
    "cov",
];

/// What a name is worth for tests; `None` when it is not one for tests.
pub(super) fn worth(name: &str) -> Option<i32> {
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let best = WORDS
        .iter()
        .filter(|(word, _)| words.contains(word))
        .map(|(_, worth)| *worth)
        .max()?;
    let other = words.iter().filter(|word| OTHERWISE.contains(word)).count();
    let more = words
        .iter()
        .filter(|word| !word.is_empty())
        .count()
        .saturating_sub(1);
    Some(best - 60 * i32::try_from(other).unwrap_or(1) - 2 * i32::try_from(more).unwrap_or(1))
}

/// Whether a name is one for something else than tests.
pub(super) fn is_otherwise(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| OTHERWISE.contains(&word))
}

/// Plans of the package's groups and extras.
pub(super) fn of_package(package: &Package) -> Vec<Plan> {
    let sets = package.groups.iter().chain(&package.extras);
    let plans = sets.filter_map(|(name, set)| {
        let worth = worth(name).filter(|worth| *worth > 0)?;
        let (lines, _) = package.lines_of(name)?;
        let project = package.installable.clone().map(|place| Line {
            text: "-e .".to_owned(),
            place,
        });
        let lines = lines.into_iter().chain(project);
        Some(Plan {
            source: Source::Set,
            name: name.clone(),
            place: set.place.clone(),
            steps: lines.map(step).collect(),
            worth: worth + i32::from(set.form != Form::Extra),
        })
    });
    plans.collect()
}

fn step(line: Line) -> Step {
    Step {
        place: line.place,
        act: Act::Install(line.text),
    }
}

/// Requirement files: in the root, or in a folder that is named after them.
pub(super) fn requirement_files<'a>(tree: &Tree<'a>) -> Vec<&'a str> {
    let is_one = |path: &&str| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let lower = name.to_ascii_lowercase();
        let is_list = [".txt", ".in", ".pip"].iter().any(|end| lower.ends_with(end));
        let of_folder = folder.rsplit('/').next().unwrap_or("");
        let in_folder = ["requirements", "reqs", "requires", "dependencies"].contains(&of_folder);
        let named = lower.contains("requirements") || lower.contains("reqs") || lower.starts_with("requires");
        is_list
            && folder.matches('/').count() < 2
            && (in_folder || named && folder.len() < 12)
            && !lower.contains("constraint")
            && !lower.starts_with("readme")
    };
    tree.names_of().filter(is_one).collect()
}

/// Plans of requirement files, and the base file that goes with each.
pub(super) fn of_files(tree: &Tree<'_>, package: &Package) -> Vec<Plan> {
    let files = requirement_files(tree);
    let base = files.iter().copied().find(|path| {
        matches!(
            *path,
            "requirements.txt" | "requirements/base.txt" | "requirements.in"
        )
    });
    let plans = files.iter().filter_map(|path| {
        // `tests.txt` is what `tests.in` was compiled to: the list that people install.
        let compiled = path
            .strip_suffix(".in")
            .is_some_and(|stem| tree.has(&format!("{stem}.txt")));
        let nested = path.matches('/').count().saturating_sub(1);
        let worth = worth(path).filter(|worth| *worth > 0 && !compiled)?;
        let place = Place::file(path);
        let install = |text: String| Step {
            place: place.clone(),
            act: Act::Install(text),
        };
        let mut steps = vec![install(format!("-r {path}"))];
        if package.installable.is_none() {
            steps.extend(
                base.filter(|base| base != path)
                    .map(|base| install(format!("-r {base}"))),
            );
        }
        steps.extend(package.installable.clone().map(|place| Step {
            place,
            act: Act::Install("-e .".to_owned()),
        }));
        Some(Plan {
            source: Source::File,
            name: (*path).to_owned(),
            place,
            steps,
            worth: worth - 20 * i32::try_from(nested).unwrap_or(1),
        })
    });
    plans.collect()
}

/// The project alone, with the requirements file that has no other name.
pub(super) fn bare(tree: &Tree<'_>, package: &Package) -> Plan {
    let mut steps = Vec::new();
    if tree.has("requirements.txt") {
        let act = Act::Install("-r requirements.txt".to_owned());
        steps.push(Step {
            place: Place::file("requirements.txt"),
            act,
        });
    }
    if let Some(place) = package.installable.clone() {
        steps.push(Step {
            place,
            act: Act::Install("-e .".to_owned()),
        });
    }
    Plan {
        source: Source::Bare,
        name: String::new(),
        place: package.installable.clone().unwrap_or_else(|| Place::file("")),
        steps,
        worth: 0,
    }
}

/// The sets and files as facts.
pub(super) fn facts(tree: &Tree<'_>, package: &Package) -> Vec<Found> {
    let sets = package
        .groups
        .iter()
        .chain(&package.extras)
        .map(|(name, set)| Found {
            kind: FactKind::Requirements,
            value: name.clone(),
            place: set.place.clone(),
            why: format!("a set of {} in {}", count(set.lines.len()), set.table),
        });
    let files = requirement_files(tree).into_iter().map(|path| Found {
        kind: FactKind::Requirements,
        value: path.to_owned(),
        place: Place::file(path),
        why: "a requirements file".to_owned(),
    });
    sets.chain(files).collect()
}

fn count(number: usize) -> String {
    if number == 1 {
        "1 requirement".to_owned()
    } else {
        format!("{number} requirements")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_are_told_from_others() {
        let best = |names: &[&str]| {
            let mut names = names.to_vec();
            names.sort_by_key(|name| std::cmp::Reverse(worth(name)));
            names
                .into_iter()
                .filter(|name| worth(name).is_some_and(|worth| worth > 0))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(best(&["dev", "docs", "tests", "all"]), ["tests", "dev", "all"]);
        assert_eq!(
            best(&["requirements_test_min.txt", "requirements_test.txt"]),
            ["requirements_test.txt", "requirements_test_min.txt"]
        );
        assert_eq!(
            best(&["tests/requirements/mysql.txt", "tests/requirements/py3.txt"]),
            ["tests/requirements/py3.txt", "tests/requirements/mysql.txt"],
            "a service's client is not what all tests need"
        );
        assert_eq!(worth("socks"), None);
        assert_eq!(worth("latest"), None, "a word is compared whole");
    }
}
