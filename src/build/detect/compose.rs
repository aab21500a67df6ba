//! From a plan that was followed to a proposal: the install lines checked, what is missing added, the runner chosen.

use std::collections::{BTreeMap, BTreeSet};

use super::follow::Flow;
use super::install::Installs;
use super::needs::Needs;
use super::package::Package;
use super::plan::{Plan, Tool};
use super::proposal::{Choice, Origin, Place, Proposal, Tree};
use crate::recipe::model::{EnvironmentRecipe, Runner, Verification};

/// Variables that speak to the automation's own tools and not to the tests.
const NOT_FOR_TESTS: &[&str] = &[
    "PIP_",
    "UV_",
    "TOX_",
    "NOX_",
    "CODECOV_",
    "COVERALLS_",
    "COVERAGE_",
    "GITHUB_",
    "GH_",
    "CI_",
    "RUNNER_",
    "POETRY_",
    "PDM_",
    "HATCH_",
    "PRE_COMMIT",
    "TWINE_",
    "CIBW_",
    "CACHE_",
    "DOCKER_",
    "SETUPTOOLS_SCM_",
    "CONDA",
    "TRAVIS",
    "RUFF_",
    "MYPY",
    "VIRTUALENV_",
    "LD_",
    "PYTHONPATH",
    "KEY_",
    "DEFAULT_PYTHON",
    "PYTHON_VERSION",
    "SKIP",
];
/// The same, by whole names.
const NAMES_NOT_FOR_TESTS: &[&str] = &[
    "CI",
    "PATH",
    "HOME",
    "FORCE_COLOR",
    "NO_COLOR",
    "PY_COLORS",
    "PYTEST_ADDOPTS",
    "TOXENV",
    "PYTHON",
    "OS",
    "USER",
    "SHELL",
    "TMPDIR",
];

/// What all proposals of a tree share.
pub(super) struct Shared<'a> {
    pub(super) tree: Tree<'a>,
    pub(super) package: &'a Package,
    pub(super) needs: &'a Needs,
}

/// Makes a proposal.
pub(super) fn compose(
    shared: &Shared<'_>,
    plan: &Plan,
    flow: &Flow,
    choice: &Choice,
    notes: &mut BTreeSet<String>,
) -> Proposal {
    let mut installs = Installs::new(shared.tree, shared.package);
    for (line, place, why) in &flow.installs {
        installs.add(line, Some(place), why);
    }
    if let Some(place) = &shared.package.installable
        && !installs.has_project()
    {
        {
            installs.add(
                "-e .",
                Some(place),
                "the project is under test, and no line installs it",
            );
        }
    }
    let (runner, run_place) = runner(flow, shared.needs);
    let mut because = vec![Origin {
        what: format!("from {}", plan.title()),
        place: Some(plan.place.clone()).filter(|place| !place.file.is_empty()),
        why: "its steps are followed".to_owned(),
    }];
    because.extend(choice.because.iter().take(3).cloned());
    if runner == Runner::Pytest {
        add_missing(shared.needs, &mut installs);
    }
    let (install, lines, more) = installs.finish();
    notes.extend(more);
    because.extend(lines);
    let (args, from) = arguments(runner, flow, shared.needs);
    because.push(Origin {
        what: format!("runner {}", word(runner)),
        place: run_place.or_else(|| shared.needs.configured.clone()),
        why: match (flow.runs.is_empty(), &shared.needs.configured) {
            (false, _) => "this is how it is run there".to_owned(),
            (true, Some(_)) => "it is configured here".to_owned(),
            (true, None) => "nothing says otherwise, and it runs tests of unittest, too".to_owned(),
        },
    });
    because.extend(from);
    let env = variables(flow, &mut because);
    let mut system_packages = Vec::new();
    for (package, place) in &flow.system {
        if !system_packages.contains(package) {
            system_packages.push(package.clone());
            because.push(Origin {
                what: format!("system package {package}"),
                place: Some(place.clone()),
                why: "the automation installs it for this".to_owned(),
            });
        }
    }
    let build: Vec<String> = shared
        .package
        .build
        .iter()
        .map(|line| line.text.clone())
        .collect();
    because.extend(shared.package.build.iter().map(|line| Origin {
        what: format!("build requirement {}", line.text),
        place: Some(line.place.clone()),
        why: "the project is built with it".to_owned(),
    }));
    Proposal {
        environment: EnvironmentRecipe {
            name: format!("detected-{}-{}", choice.python, plan.slug()),
            python: choice.python.clone(),
            install,
            env,
            reason: format!("found out from {}", plan.title()),
            runner: Some(runner),
            args: Some(args.clone()),
            ..EnvironmentRecipe::default()
        },
        runner,
        args,
        system_packages,
        build_requirements: build,
        because,
    }
}

const fn word(runner: Runner) -> &'static str {
    match runner {
        Runner::Pytest => "pytest",
        Runner::Unittest => "unittest",
    }
}

/// pytest where it is run or configured, and where nothing is said; unittest where only that is run.
fn runner(flow: &Flow, needs: &Needs) -> (Runner, Option<Place>) {
    let of = |tool: &Tool| {
        flow.runs
            .iter()
            .find(|(known, ..)| known == tool)
            .map(|(.., place)| place.clone())
    };
    if let Some(place) = of(&Tool::Pytest) {
        return (Runner::Pytest, Some(place));
    }
    match of(&Tool::Unittest) {
        Some(place) if needs.configured.is_none() => (Runner::Unittest, Some(place)),
        _ => (Runner::Pytest, None),
    }
}

/// pytest itself and the plugins that are asked for, where no requirement brings them.
fn add_missing(needs: &Needs, installs: &mut Installs<'_>) {
    let names = installs.names();
    let has = |distribution: &str| {
        super::requirement::parts(distribution).is_some_and(|parts| names.contains(&parts.name))
    };
    let missing: Vec<_> = needs
        .plugins
        .iter()
        .filter(|(distribution, _)| !has(distribution))
        .collect();
    if !names.contains("pytest") {
        match &needs.least {
            Some((line, place)) => installs.add(
                line,
                Some(place),
                "`minversion` asks for it, and no requirement brings it",
            ),
            None => installs.add(
                "pytest",
                None,
                "the tests are run with it, and no requirement brings it",
            ),
        }
    }
    for (distribution, origin) in missing {
        installs.add(distribution, origin.place.as_ref(), &origin.why);
    }
}

/// The runner's arguments: those of every run, and those of the project's own that must stay.
fn arguments(runner: Runner, flow: &Flow, needs: &Needs) -> (Vec<String>, Vec<Origin>) {
    if runner != Runner::Pytest {
        return discovery(flow);
    }
    let mut args = Verification::default().args;
    let mut from = Vec::new();
    for (words, place) in &needs.kept {
        args.extend(words.iter().cloned());
        from.push(Origin {
            what: format!("argument {}", words.join(" ")),
            place: Some(place.clone()),
            why: "it changes which tests there are, so it stays when `addopts` is dropped".to_owned(),
        });
    }
    (args, from)
}

/// Where unittest's discovery is told to begin (`discover -s tests`).
fn discovery(flow: &Flow) -> (Vec<String>, Vec<Origin>) {
    let run = flow.runs.iter().find(|(tool, words, _)| {
        *tool == Tool::Unittest && words.first().is_some_and(|word| word == "discover")
    });
    let Some((_, words, place)) = run else {
        return (vec![], vec![]);
    };
    let options: Vec<String> = words[1..]
        .chunks_exact(2)
        .take_while(|pair| {
            matches!(
                pair[0].as_str(),
                "-s" | "-t" | "-p" | "--start-directory" | "--top-level-directory" | "--pattern"
            )
        })
        .flatten()
        .cloned()
        .collect();
    let from = (!options.is_empty()).then(|| Origin {
        what: format!("argument {}", options.join(" ")),
        place: Some(place.clone()),
        why: "tests are discovered there".to_owned(),
    });
    (options, from.into_iter().collect())
}

fn variables(flow: &Flow, because: &mut Vec<Origin>) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    for (name, value, place, why) in &flow.env {
        let other = NOT_FOR_TESTS.iter().any(|prefix| name.starts_with(prefix))
            || NAMES_NOT_FOR_TESTS.contains(&name.as_str());
        // What is filled in elsewhere (`${{ secrets.X }}`, `{posargs}`) has no value here.
        let open =
            value.contains(['$', '{', '\0', '\n', '`']) || name.contains(['{', '$']) || name.is_empty();
        if other || open || env.contains_key(name) {
            continue;
        }
        env.insert(name.clone(), value.clone());
        because.push(Origin {
            what: format!("env {name}={value}"),
            place: Some(place.clone()),
            why: why.clone(),
        });
    }
    env
}
