//! What is missing → the environment changed in one thing, with its reason.
//!
//! | trouble | what is tried |
//! |---|---|
//! | a requirement newer than the cut-off | that one distribution may be as new as the first version that satisfies |
//! | an incompatible pair | the one that lacks something is kept below its current major version (minor, for 0.x) |
//! | a missing module | its distribution is required; below its current major version where it is there already |
//! | a missing fixture | the plugin that brings it is required |
//! | an extra or group that is not there | the line that names it goes |
//! | what tests ask for is not in the index, or needs what is not | it is left out at once: no interpreter changes that |
//! | wrong interpreter, no wheel, missing build dependency | nothing here: the next proposal has another interpreter |
//! | missing system library | nothing here: it is named, and a base image may bring it |
//! | what tests ask for cannot be built, whatever the interpreter | at the very end, it is left out ([`leave_out`]), or what needs it |

use std::collections::BTreeSet;

use super::names::{distribution_of_fixture, distribution_of_module};
use super::newer;
use super::symptoms::{Symptom, Trouble};
use crate::build::lock::{Lock, normalise};
use crate::domain::environment::{Constraint, LeftOut};
use crate::recipe::model::EnvironmentRecipe;

/// Modules that Python itself no longer has, and the distribution that stands in for them.
const STAND_INS: &[(&str, &str)] = &[("distutils", "setuptools")];

/// An environment that failed.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// How it was made.
    pub environment: &'a EnvironmentRecipe,
    /// What was locked, where it came that far.
    pub lock: Option<&'a Lock>,
    /// Top-level names of the work tree's own modules: no index brings them.
    pub own_modules: &'a BTreeSet<String>,
    /// What nothing but the tests' own requirements ask for, by normalised names.
    pub optional: &'a BTreeSet<String>,
}

/// One change that may help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// For which trouble.
    pub symptom: Symptom,
    /// What is changed, in words (`constraint werkzeug<3`).
    pub change: String,
    /// The environment with the change.
    pub environment: EnvironmentRecipe,
}

/// The first remedy for any of `symptoms`, in their order, that changes something; `None` when none of them has one.
pub fn remedy(case: &Case<'_>, symptoms: &[Symptom]) -> Option<Remedy> {
    let mut environment = case.environment.clone();
    if let Some((symptom, change)) = newer::go_on(symptoms, &mut environment) {
        return Some(Remedy {
            symptom,
            change,
            environment,
        });
    }
    symptoms.iter().find_map(|symptom| {
        let mut environment = case.environment.clone();
        let change = change(case, &symptom.trouble, &symptom.evidence, &mut environment)?;
        (environment != *case.environment).then(|| Remedy {
            symptom: symptom.clone(),
            change,
            environment,
        })
    })
}

/// The last remedy of all: what cannot be built is left out, where only the tests ask for it. Those that need it do not
/// pass then; the others do.
pub fn leave_out(case: &Case<'_>, symptoms: &[Symptom]) -> Option<Remedy> {
    let (symptom, distribution, needed) = symptoms.iter().find_map(|symptom| {
        let Trouble::NoWheel {
            distribution,
            through,
        } = &symptom.trouble
        else {
            return None;
        };
        let (left, needed) = optional(case, distribution, through)?;
        Some((symptom, left, needed))
    })?;
    // What is missing for it says more than that it is missing.
    let root = symptoms.iter().find(|symptom| {
        matches!(
            symptom.trouble,
            Trouble::MissingSystemLibrary { .. } | Trouble::MissingBuildDependency { .. }
        )
    });
    let evidence = &root.unwrap_or(symptom).evidence;
    let mut environment = case.environment.clone();
    environment.left_out.push(LeftOut {
        distribution: distribution.clone(),
        reason: match needed {
            Some(needed) => {
                format!(
                    "the tests ask for it, and `{needed}`, which it needs, cannot be built here: {evidence}"
                )
            }
            None => format!("the tests ask for it, and it cannot be built here: {evidence}"),
        },
    });
    Some(Remedy {
        symptom: root.unwrap_or(symptom).clone(),
        change: format!("without {distribution}"),
        environment,
    })
}

/// The requirement of the tests that goes where a distribution cannot be had: itself, or the nearest that leads to it,
/// then with the name of what it needs.
fn optional(case: &Case<'_>, distribution: &str, through: &[String]) -> Option<(String, Option<String>)> {
    let itself = normalise(distribution);
    let left_out = &case.environment.left_out;
    let may_go = |name: &String| {
        case.optional.contains(name) && left_out.iter().all(|left| left.distribution != *name)
    };
    if may_go(&itself) {
        return Some((itself, None));
    }
    let mut leading = through.iter().map(|name| normalise(name));
    Some((leading.find(may_go)?, Some(itself)))
}

fn change(
    case: &Case<'_>,
    trouble: &Trouble,
    evidence: &str,
    environment: &mut EnvironmentRecipe,
) -> Option<String> {
    match trouble {
        Trouble::NewerThanCutoff {
            distribution,
            published,
            lowest,
        } => newer::allow(distribution, published, lowest.as_deref(), evidence, environment),
        Trouble::IncompatiblePair { module } => {
            let distribution = installed(case, module)?;
            keep_below(case, &distribution, evidence, environment)
        }
        Trouble::MissingModule { module } => {
            let top = module.split('.').next().unwrap_or(module);
            if case.own_modules.contains(top) {
                return None;
            }
            let stand_in = STAND_INS.iter().find(|(gone, _)| *gone == top);
            let distribution = stand_in.map_or_else(
                || distribution_of_module(module),
                |(_, distribution)| (*distribution).to_owned(),
            );
            if stand_in.is_none() && is_standard(top) {
                return None;
            }
            match case.lock.and_then(|lock| lock.pins.get(&distribution)) {
                Some(_) => keep_below(case, &distribution, evidence, environment),
                None => require(&distribution, environment),
            }
        }
        Trouble::MissingFixture { fixture } => {
            let distribution = distribution_of_fixture(fixture)?;
            let there = case
                .lock
                .is_some_and(|lock| lock.pins.contains_key(&normalise(distribution)));
            if there {
                return None;
            }
            require(distribution, environment)
        }
        Trouble::NoSuchPart { part } => {
            let names = |line: &String| {
                line.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)))
                    .any(|word| word == part)
            };
            let gone = environment.install.iter().position(names)?;
            // The last line of all is what the environment is for.
            (environment.install.len() > 1).then(|| format!("without `{}`", environment.install.remove(gone)))
        }
        Trouble::NotFound {
            distribution,
            through,
        } => {
            let (name, needed) = optional(case, distribution, through)?;
            let needed = needed.map_or_else(
                || "it".to_owned(),
                |needed| format!("`{needed}`, which it needs,"),
            );
            environment.left_out.push(LeftOut {
                distribution: name.clone(),
                reason: format!(
                    "the tests ask for it, and the index does not have {needed} under this name: {evidence}"
                ),
            });
            Some(format!("without {name}"))
        }
        Trouble::MissingBuildDependency { .. }
        | Trouble::MissingSystemLibrary { .. }
        | Trouble::WrongInterpreter
        | Trouble::NoWheel { .. } => None,
    }
}

fn require(distribution: &str, environment: &mut EnvironmentRecipe) -> Option<String> {
    let named = environment
        .install
        .iter()
        .any(|line| normalise(line.trim()) == normalise(distribution));
    if named {
        return None;
    }
    environment.install.push(distribution.to_owned());
    Some(format!("require {distribution}"))
}

/// The installed distribution that brings a module.
fn installed(case: &Case<'_>, module: &str) -> Option<String> {
    let distribution = distribution_of_module(module);
    case.lock?
        .pins
        .contains_key(&distribution)
        .then_some(distribution)
}

/// A constraint below the locked version's major number (below its minor one, for 0.x).
fn keep_below(
    case: &Case<'_>,
    distribution: &str,
    evidence: &str,
    environment: &mut EnvironmentRecipe,
) -> Option<String> {
    let version = &case.lock?.pins.get(distribution)?.version;
    let bound = below(version)?;
    let requirement = format!("{distribution}<{bound}");
    if environment
        .constraints
        .iter()
        .any(|known| known.requirement == requirement)
    {
        return None;
    }
    environment.constraints.push(Constraint {
        requirement: requirement.clone(),
        reason: format!("{distribution} {version} does not fit what uses it: {evidence}"),
    });
    Some(format!("constraint {requirement}"))
}

/// `3.0.1` → `3`, `0.24.1` → `0.24`, `1!2.0` and what is no version → none.
fn below(version: &str) -> Option<String> {
    let mut numbers = version
        .split('.')
        .map_while(|part| part.parse::<u64>().ok())
        .collect::<Vec<_>>()
        .into_iter();
    match (numbers.next()?, numbers.next()) {
        (0, Some(minor)) if minor > 0 => Some(format!("0.{minor}")),
        (0, _) => None,
        (major, _) => Some(major.to_string()),
    }
}

/// Modules of Python itself that are missing where an interpreter is too old, too new or built without them.
fn is_standard(module: &str) -> bool {
    const NAMES: &[&str] = &[
        "_bz2",
        "_ctypes",
        "_curses",
        "_lzma",
        "_sqlite3",
        "_ssl",
        "_tkinter",
        "asynchat",
        "asyncore",
        "binhex",
        "cgi",
        "collections",
        "contextvars",
        "dataclasses",
        "distutils",
        "formatter",
        "graphlib",
        "imp",
        "importlib",
        "lib2to3",
        "parser",
        "pipes",
        "smtpd",
        "sqlite3",
        "ssl",
        "symbol",
        "telnetlib",
        "tkinter",
        "tomllib",
        "typing",
        "unittest",
        "zoneinfo",
    ];
    NAMES.contains(&module)
}
