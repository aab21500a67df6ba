//! From a plan that was followed to a proposal: the install lines checked, what is missing added, the runner chosen.

use std::collections::{BTreeMap, BTreeSet};

use super::follow::Flow;
use super::install::Installs;
use super::needs::Needs;
use super::package::Package;
use super::plan::Plan;
use super::proposal::{Choice, Origin, Proposal, Tree};
use super::runners::Chosen;
use crate::recipe::model::{EnvironmentRecipe, Runner};

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
    chosen: &Chosen,
    notes: &mut BTreeSet<String>,
) -> Proposal {
    let mut installs = Installs::new(shared.tree, shared.package);
    for (line, place, why) in &flow.installs {
        installs.add(line, Some(place), why);
    }
    if let Some(place) = &shared.package.installable
        && !installs.has_project()
    {
        installs.add(
            "-e .",
            Some(place),
            "the project is under test, and no line installs it",
        );
    }
    let mut because = vec![Origin {
        what: format!("from {}", plan.title()),
        place: Some(plan.place.clone()).filter(|place| !place.file.is_empty()),
        why: "its steps are followed".to_owned(),
    }];
    because.extend(choice.because.iter().take(3).cloned());
    if chosen.runner == Runner::Pytest {
        add_missing(shared.needs, &mut installs);
    }
    let own = super::package::names(&shared.package.dependencies);
    let mut optional = installs.names();
    optional.retain(|name| !own.contains(name) && name != "pytest");
    let (install, lines, more) = installs.finish();
    notes.extend(more);
    because.extend(lines);
    because.extend(chosen.because.iter().cloned());
    notes.extend(chosen.notes.iter().chain(&flow.notes).cloned());
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
            runner: Some(chosen.runner),
            args: Some(chosen.args.clone()),
            ..EnvironmentRecipe::default()
        },
        runner: chosen.runner,
        args: chosen.args.clone(),
        optional,
        system_packages,
        build_requirements: build,
        because,
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
