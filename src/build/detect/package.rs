//! What the packaging files say of the project, gathered: extras, groups, scripts, what it is built with.

use std::collections::{BTreeMap, BTreeSet};

use super::command::acts;
use super::plan::{Act, Elsewhere, Plan, Source, Step};
use super::requirement::{parts, project_line};
use super::shell::commands_of;
use crate::domain::settings::{Line, Place};

/// The project in the tree's root.
#[derive(Debug, Clone, Default)]
pub(super) struct Package {
    /// Its normalised name, where a file says it in plain words.
    pub(super) name: Option<String>,
    /// The file that makes it one that can be installed.
    pub(super) installable: Option<Place>,
    /// Its own dependencies.
    pub(super) dependencies: Vec<Line>,
    /// Its extras.
    pub(super) extras: BTreeMap<String, Set>,
    /// Groups of requirements for development.
    pub(super) groups: BTreeMap<String, Set>,
    /// Groups that the project's manager installs when nothing else is said.
    pub(super) default_groups: Vec<String>,
    /// Commands with names of their own (`[tool.pdm.scripts]`, poe's tasks), as shell text.
    pub(super) scripts: BTreeMap<String, Vec<Line>>,
    /// What its build needs.
    pub(super) build: Vec<Line>,
}

/// How a set of requirements is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An extra of the project.
    Extra,
    /// A dependency group (PEP 735) of the root's `pyproject.toml`.
    Group,
    /// Only one by one: no installer but the project's manager knows the set.
    Plain,
}

/// A named set of requirements.
#[derive(Debug, Clone)]
pub(super) struct Set {
    pub(super) form: Form,
    /// Where it begins.
    pub(super) place: Place,
    /// Its requirements, sets that it includes taken in.
    pub(super) lines: Vec<Line>,
    /// What the table that holds it is called, for reasons.
    pub(super) table: &'static str,
}

impl Package {
    /// A requirement, or the project itself where it is the one that is required (`pdm[pytest]` in pdm's own groups).
    pub(super) fn own_line(&self, text: &str) -> Option<String> {
        let parts = parts(text)?;
        let own = self.installable.is_some() && self.name.as_deref() == Some(parts.name.as_str());
        own.then(|| project_line(parts.extras.iter().map(String::as_str)))
    }

    /// The install lines of a group, or else of an extra, of this name (compared as PEP 735 and PEP 685 say).
    pub(super) fn lines_of(&self, name: &str) -> Option<(Vec<Line>, &Set)> {
        let same = |known: &str| crate::build::lock::normalise(known) == crate::build::lock::normalise(name);
        let (known, set) = self
            .groups
            .iter()
            .find(|(known, _)| same(known))
            .or_else(|| self.extras.iter().find(|(known, _)| same(known)))?;
        let one = |text: String| {
            vec![Line {
                text,
                place: set.place.clone(),
            }]
        };
        let lines = match set.form {
            Form::Extra => one(project_line([known.as_str()])),
            Form::Group if self.group_stands(set) => one(format!("--group {known}")),
            _ => set.lines.clone(),
        };
        Some((lines, set))
    }

    /// Whether an installer can be told a group by its name: nothing in it is the project itself or at an address.
    fn group_stands(&self, set: &Set) -> bool {
        let stands = |line: &Line| {
            parts(&line.text).is_some_and(|parts| !parts.address) && self.own_line(&line.text).is_none()
        };
        set.lines.iter().all(stands)
    }

    /// Every requirement, with the set it is in, in order.
    pub(super) fn asked(&self) -> Vec<String> {
        let mut asked = Vec::new();
        let mut add = |kind: &str, name: &str, lines: &[Line]| {
            asked.extend(lines.iter().map(|line| format!("{kind} {name}: {}", line.text)));
        };
        add("build", "", &self.build);
        add("project", "", &self.dependencies);
        for (name, set) in &self.extras {
            add("extra", name, &set.lines);
        }
        for (name, set) in &self.groups {
            add("group", name, &set.lines);
        }
        asked.extend(self.default_groups.iter().map(|name| format!("default {name}")));
        asked
    }

    /// The names that the project with these extras needs directly, extras of its own extras followed.
    pub(super) fn names_with(&self, extras: &BTreeSet<String>) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = names(&self.dependencies);
        let mut seen = BTreeSet::new();
        let mut left: Vec<String> = extras.iter().cloned().collect();
        while let Some(extra) = left.pop() {
            let Some(set) = self.extras.get(&extra).filter(|_| seen.insert(extra.clone())) else {
                continue;
            };
            for line in &set.lines {
                match parts(&line.text) {
                    Some(parts) if Some(&parts.name) == self.name.as_ref() => left.extend(parts.extras),
                    Some(parts) => {
                        names.insert(parts.name);
                    }
                    None => {}
                }
            }
        }
        names
    }
}

/// The normalised names of requirements.
pub(super) fn names(lines: &[Line]) -> BTreeSet<String> {
    lines
        .iter()
        .filter_map(|line| Some(parts(&line.text)?.name))
        .collect()
}

impl Package {
    /// A script with a name, as a plan.
    pub(super) fn script(&self, name: &str) -> Option<Plan> {
        let lines = self.scripts.get(name)?;
        let steps = commands_of(lines).into_iter().flat_map(|(words, line)| {
            let mut acts = acts(&words);
            // A part of a composite is another script.
            if acts.is_empty() {
                acts.extend(words.first().map(|name| Act::Go(Elsewhere::Script(name.clone()))));
            }
            acts.into_iter().map(|act| Step {
                place: line.place.clone(),
                act,
            })
        });
        Some(Plan {
            source: Source::Make,
            name: name.to_owned(),
            place: lines.first()?.place.clone(),
            steps: steps.collect(),
            worth: 0,
        })
    }
}
