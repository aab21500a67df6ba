//! tox: `tox.ini`, `setup.cfg`, `tox.toml` and the tables of `pyproject.toml`, as plans for one version of Python.
//!
//! Source: tox's documentation, "Configuration": sections `[testenv]` and `[testenv:NAME]`, factors (`py311-django: …`),
//! generative names (`py{310,311}-{a,b}`) and substitutions (`{[section]key}`, `{toxinidir}`).

mod ini;
mod names;

use std::collections::{BTreeMap, BTreeSet};

use self::ini::IniEnvironment;
use self::names::{NAMES, expand, factor_version, is_other_python};
use super::command::acts;
use super::installers::install_words;
use super::interpreters::{Minor, Said};
use super::plan::{Act, Plan, Source, Step};
use super::proposal::Tree;
use super::requirement::project_line;
use crate::domain::settings::Place;
use crate::domain::settings::ini::Ini;
use crate::domain::settings::value::{Kind, Value, read_toml};

/// tox's configuration.
#[derive(Debug, Default)]
pub(super) struct Tox {
    ini: Option<Ini>,
    toml: Option<(Value, String)>,
    /// The list of environments, and where each stands.
    listed: Vec<(String, Place)>,
    /// Names that a section's generative name stands for, and the section's place among all.
    generative: BTreeMap<String, usize>,
}

/// How many environments for one Python are looked at.
const PLANS: usize = 48;

impl Tox {
    /// Reads the first configuration that tox itself would take.
    pub(super) fn read(tree: &Tree<'_>, pyproject: Option<&Value>) -> Self {
        let ini = |file: &str, name: &str| {
            let ini = Ini::read(&tree.text(file)?, file, 1);
            let has = ini
                .sections
                .iter()
                .any(|section| section.name == name || section.name.starts_with("testenv"));
            has.then_some(ini)
        };
        let legacy = pyproject.and_then(|document| document.at(&["tool", "tox", "legacy_tox_ini"]));
        let legacy = || legacy.and_then(|value| Some(Ini::read(value.text()?, "pyproject.toml", value.line)));
        if let Some(found) = ini("tox.ini", "tox")
            .or_else(|| ini("setup.cfg", "tox:tox"))
            .or_else(legacy)
        {
            return Self {
                listed: list_of_ini(&found),
                generative: generative(&found),
                ini: Some(found),
                toml: None,
            };
        }
        let own = pyproject
            .and_then(|document| document.at(&["tool", "tox"]))
            .cloned();
        let file = || read_toml(&tree.text("tox.toml")?).ok();
        let toml = own
            .map(|value| (value, "pyproject.toml".to_owned()))
            .or_else(|| Some((file()?, "tox.toml".to_owned())));
        let list = toml
            .iter()
            .filter_map(|(toml, file)| Some((toml.at(&["env_list"])?, file)));
        let listed = list.flat_map(|(list, file)| {
            let names = list.texts();
            names.map(move |(name, line)| (name.to_owned(), Place::new(file, line)))
        });
        Self {
            ini: None,
            listed: listed.collect(),
            generative: BTreeMap::new(),
            toml,
        }
    }

    /// What of the list is not looked at.
    pub(super) fn note(&self) -> Option<String> {
        let (_, place) = self.listed.first().filter(|_| self.listed.len() > PLANS)?;
        let count = match self.listed.len() {
            count if count < NAMES => count.to_string(),
            _ => format!("{NAMES} and more"),
        };
        Some(format!(
            "{place}: tox has {count} environments: of those for one Python the first {PLANS} are looked at"
        ))
    }

    /// Versions of Python in the list of environments.
    pub(super) fn say(&self, said: &mut Said) {
        let mut seen = BTreeSet::new();
        for (name, place) in &self.listed {
            for factor in name.split('-') {
                let version = if factor.starts_with("3.") {
                    factor.to_owned()
                } else {
                    factor.replace('.', "")
                };
                if !seen.insert(version.clone()) {
                    continue;
                }
                said.name(&version, place, "tox's list of environments names it");
            }
        }
    }

    /// The plans behind names on tox's command line; without names, behind its list. The likeliest first: the one for
    /// this version of Python, or the one that holds for every version.
    pub(super) fn find(&self, names: &[String], python: Minor) -> Vec<Plan> {
        let listed = || self.listed.iter().map(|(name, _)| name.clone()).collect();
        let mut wanted: Vec<String> = if names.is_empty() || names.iter().any(|name| name == "ALL") {
            listed()
        } else {
            names
                .iter()
                .flat_map(|name| expand(name))
                .map(|name| Self::meant(&name, python))
                .collect()
        };
        if wanted.is_empty() {
            wanted.push("py".to_owned());
        }
        wanted.retain(|name| {
            name.split('-').all(|factor| {
                factor_version(factor).is_none_or(|minor| minor == python) && !is_other_python(factor)
            })
        });
        let mut seen = BTreeSet::new();
        wanted.retain(|name| seen.insert(name.clone()));
        wanted.truncate(PLANS);
        let mut plans: Vec<Plan> = wanted.iter().filter_map(|name| self.plan(name, python)).collect();
        plans.sort_by_key(|plan| std::cmp::Reverse(plan.worth));
        plans
    }

    /// `py` on a command line means the interpreter that runs tox; a name for another Python means the same
    /// environment with this one.
    fn meant(name: &str, python: Minor) -> String {
        let factors = name.split('-').map(|factor| match factor {
            // `-e py${{ matrix.python-version }}` and the like, where nothing filled it in.
            factor if factor.starts_with("py") && factor.contains('$') => format!("py3{python}"),
            factor => match factor_version(factor) {
                Some(_) => format!("py3{python}"),
                None => factor.to_owned(),
            },
        });
        let name = factors.collect::<Vec<_>>().join("-");
        if name.contains(['$', '{']) {
            "py".to_owned()
        } else {
            name
        }
    }

    /// Every environment that may run tests, for this version of Python.
    pub(super) fn plans(&self, python: Minor) -> Vec<Plan> {
        if self.ini.is_none() && self.toml.is_none() {
            return vec![];
        }
        let mut names: Vec<String> = vec![];
        names.push(format!("py3{python}"));
        names.extend(
            ["py", "test", "tests"]
                .iter()
                .map(|name| (*name).to_owned())
                .filter(|name| self.has(name)),
        );
        names.extend(self.listed.iter().map(|(name, _)| name.clone()));
        self.find(&names, python)
    }

    fn has(&self, name: &str) -> bool {
        let in_toml = self
            .toml
            .as_ref()
            .is_some_and(|(toml, _)| toml.at(&["env", name]).is_some());
        in_toml
            || self
                .ini
                .as_ref()
                .is_some_and(|ini| ini.section(&format!("testenv:{name}")).is_some())
    }

    fn plan(&self, name: &str, python: Minor) -> Option<Plan> {
        let (place, steps) = match (&self.ini, &self.toml) {
            (Some(ini), _) => {
                let section = self.generative.get(name).and_then(|at| ini.sections.get(*at));
                IniEnvironment {
                    ini,
                    name,
                    python,
                    section,
                }
                .steps()?
            }
            (None, Some((toml, file))) => of_toml(toml, file, name)?,
            (None, None) => return None,
        };
        let is_plain = name
            .split('-')
            .all(|factor| factor == "py" || factor_version(factor).is_some());
        let worth = super::sets::worth(&format!("test {name}")).unwrap_or(0) + i32::from(is_plain) * 20;
        Some(Plan {
            source: Source::Tox,
            name: name.to_owned(),
            place: self
                .listed
                .iter()
                .find(|(known, _)| known == name)
                .map_or(place, |(_, place)| place.clone()),
            steps,
            worth,
        })
    }
}

/// The list of environments of an ini file.
fn list_of_ini(ini: &Ini) -> Vec<(String, Place)> {
    let section = ini.section("tox").or_else(|| ini.section("tox:tox"));
    let entry = section.and_then(|section| section.get("envlist").or_else(|| section.get("env_list")));
    let mut names = Vec::new();
    for line in entry.into_iter().flat_map(|entry| &entry.lines) {
        let more = expand(&line.text)
            .into_iter()
            .map(|name| (name, line.place.clone()));
        names.extend(more.take(NAMES - names.len().min(NAMES)));
    }
    names
}

/// The sections with generative names that stand for others: `[testenv:py{310,311}-x]`; the first of two holds.
fn generative(ini: &Ini) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (at, section) in ini.sections.iter().enumerate() {
        let names = section
            .name
            .strip_prefix("testenv:")
            .filter(|name| name.contains(['{', ',']) && found.len() < NAMES);
        for name in names.map(expand).into_iter().flatten() {
            found.entry(name).or_insert(at);
        }
    }
    found
}

fn one_requirement(text: &str) -> Vec<String> {
    let text = text.trim();
    let known = super::requirement::is_requirement(text) || text.contains("egg=");
    // tox itself allows several on a line only as a list of pip's.
    if known { vec![text.to_owned()] } else { vec![] }
}

/// tox 4's own format: `[env_run_base]` and `[env.NAME]`.
fn of_toml(toml: &Value, file: &str, name: &str) -> Option<(Place, Vec<Step>)> {
    let own = toml.at(&["env", name]);
    let base = toml.at(&["env_run_base"]);
    let first = own.or(base)?;
    let at = |key: &str| own.and_then(|own| own.at(&[key])).or_else(|| base?.at(&[key]));
    let place = |line: u32| Place::new(file, line);
    let mut steps = Vec::new();
    for table in [base, own].into_iter().flatten() {
        for (name, line, value) in table.at(&["set_env"]).into_iter().flat_map(Value::entries) {
            if let Some(value) = value.text() {
                steps.push(Step {
                    place: place(line),
                    act: Act::Env(name.to_owned(), value.to_owned()),
                });
            }
        }
    }
    for (text, line) in at("deps").into_iter().flat_map(Value::texts) {
        let words = super::shell::words(text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let items = if text.starts_with(['-', '.']) {
            install_words(&words)
        } else {
            one_requirement(text)
        };
        steps.extend(items.into_iter().map(|item| Step {
            place: place(line),
            act: Act::Install(item),
        }));
    }
    for (group, line) in at("dependency_groups").into_iter().flat_map(Value::texts) {
        steps.push(Step::group(group, place(line)));
    }
    if at("skip_install").and_then(Value::text) != Some("true")
        && at("package").and_then(Value::text) != Some("skip")
    {
        let extras: Vec<_> = at("extras")
            .into_iter()
            .flat_map(Value::texts)
            .map(|(extra, _)| extra)
            .collect();
        steps.push(Step {
            place: place(first.line),
            act: Act::Install(project_line(extras)),
        });
    }
    for key in ["commands_pre", "commands"] {
        for command in at(key).into_iter().flat_map(Value::members) {
            let words: Vec<String> = match &command.kind {
                // Tables are substitutions with defaults (`{ replace = "posargs", default = […] }`).
                Kind::List(list) => list.iter().filter_map(Value::text).map(str::to_owned).collect(),
                _ => command.text().map(super::shell::words).unwrap_or_default(),
            };
            steps.extend(acts(&words).into_iter().map(|act| Step {
                place: place(command.line),
                act,
            }));
        }
    }
    Some((place(first.line), steps))
}
