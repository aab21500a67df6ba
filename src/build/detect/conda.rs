//! conda: the environment files of the tree, and what conda's commands install, in pip's language.
//!
//! Source: conda's documentation, "Managing environments": a file has `dependencies`, a list of specifications, and in it
//! `pip`, a list of lines of a requirements file whose paths begin at the file's folder.

mod names;
mod spec;

use std::collections::{BTreeMap, BTreeSet};

use self::spec::Asked;
use super::install::join;
use super::installers::install_words;
use super::interpreters::{Minor, Said, minor_of};
use super::package::Package;
use super::plan::{Act, Elsewhere, Plan, Source, Step};
use super::proposal::{FactKind, Found, Tree};
use crate::domain::settings::Line;
use crate::domain::settings::Place;
use crate::domain::settings::value::{Kind, Value, read_yaml};

/// How many files that nothing leads to are proposed for one interpreter.
const PLANS: usize = 2;
/// Folders that hold such files, whatever these are called.
const FOLDERS: &[&str] = &[
    "requirements",
    "reqs",
    "dependencies",
    "deps",
    "conda",
    "conda-envs",
    "envs",
    "environments",
    "continuous_integration",
];
/// Words in the path of a file that is for something else than all the tests, beyond those of other sets.
const NOT_ALL: &[&str] = &[
    "bare", "but", "no", "without", "binder", "asv", "recipe", "template",
];

/// The environment files of a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Conda {
    files: BTreeMap<String, File>,
    /// Those that the project's automation names.
    named: BTreeSet<String>,
}

/// One file.
#[derive(Debug, Clone, Default)]
struct File {
    /// The line that its list begins in.
    line: u32,
    lines: Vec<Line>,
    /// Interpreters that it asks for.
    pythons: Vec<Line>,
    /// What it has besides distributions.
    others: Vec<Line>,
}

impl Conda {
    /// Reads every file that has the look of one. `is_told` says whether the project's automation names a path.
    pub(super) fn read(tree: &Tree<'_>, is_told: &dyn Fn(&str) -> bool) -> Self {
        let mut files = BTreeMap::new();
        let mut named = BTreeSet::new();
        for path in tree.names_of().filter(|path| is_yaml(path)) {
            let is_named = is_told(path);
            if !is_named && !has_the_look(path) {
                continue;
            }
            let document = tree.text(path).and_then(|text| read_yaml(&text).ok());
            let Some(file) = document.and_then(|document| File::read(path, &document)) else {
                continue;
            };
            files.insert(path.to_owned(), file);
            if is_named {
                named.insert(path.to_owned());
            }
        }
        Self { files, named }
    }

    /// Interpreters that the files of tests ask for.
    pub(super) fn say(&self, said: &mut Said) {
        for (path, file) in &self.files {
            if is_otherwise(path) {
                continue;
            }
            for line in &file.pythons {
                said.name(&line.text, &line.place, "the conda environment has it");
            }
        }
    }

    /// The files as facts.
    pub(super) fn facts(&self) -> impl Iterator<Item = Found> {
        self.files.iter().map(|(path, file)| Found {
            kind: FactKind::Requirements,
            value: path.clone(),
            place: Place::new(path, file.line),
            why: "a conda environment".to_owned(),
        })
    }

    /// The file that a step leads to. Where the step does not say which in plain words, it is the best for this
    /// interpreter.
    pub(super) fn find(&self, path: &str, python: Minor) -> Option<Plan> {
        let path = path.trim_start_matches("./");
        if let Some((path, file)) = self.files.get_key_value(path) {
            return Some(plan(path, file));
        }
        if !path.is_empty() && !path.contains(['$', '{', '*']) {
            return None;
        }
        let best = self.files.keys().max_by_key(|known| self.worth(known, python))?;
        let mut plan = plan(best, &self.files[best]);
        let act = Act::Note(format!(
            "which environment file is meant is not known: `{best}` is taken"
        ));
        let place = plan.place.clone();
        plan.steps.insert(0, Step { place, act });
        Some(plan)
    }

    /// The best files for one interpreter, as plans of their own, with the project.
    pub(super) fn plans(&self, package: &Package, python: Minor) -> Vec<Plan> {
        let mut ranked: Vec<(i32, &String, &File)> = self
            .files
            .iter()
            .map(|(path, file)| (self.worth(path, python), path, file))
            .filter(|(worth, ..)| *worth > 0)
            .collect();
        ranked.sort_by_key(|(worth, path, _)| (std::cmp::Reverse(*worth), path.len()));
        let plans = ranked.into_iter().take(PLANS).map(|(worth, path, file)| {
            let mut plan = plan(path, file);
            plan.worth = worth;
            plan.steps.extend(package.installable.clone().map(|place| Step {
                place,
                act: Act::Install("-e .".to_owned()),
            }));
            plan
        });
        plans.collect()
    }

    /// Files that the automation names come first, then the plainest name; what is for less or for something else is last.
    fn worth(&self, path: &str, python: Minor) -> i32 {
        let words = words(path);
        let stem = stem(path);
        let mut worth = 50;
        if self.named.contains(path) {
            worth += 25;
        }
        if matches!(stem.as_str(), "environment" | "conda-environment" | "env") {
            worth += 10;
        }
        if words.iter().any(|word| word.starts_with("test")) {
            worth += 10;
        }
        let others = words
            .iter()
            .filter(|word| is_otherwise(word) || NOT_ALL.contains(&word.as_str()))
            .count();
        worth -= 100 * i32::try_from(others).unwrap_or(1);
        for minor in words.iter().filter_map(|word| minor_of(word)) {
            worth += if minor == python { 5 } else { -30 };
        }
        worth - 2 * i32::try_from(words.len()).unwrap_or(1)
    }
}

fn is_yaml(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("yml" | "yaml"))
}

/// Whether a path looks like an environment file's.
fn has_the_look(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if path.matches('/').count() > 2 || folder.starts_with(".github") {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    let of_folder = folder.rsplit('/').next().unwrap_or("");
    ["environment", "requirements", "conda-env", "conda_env"]
        .iter()
        .any(|word| lower.contains(word))
        || lower.starts_with("env")
        || FOLDERS.contains(&of_folder)
}

fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.to_ascii_lowercase()
}

/// The words of a path's names, its ending left out.
fn words(path: &str) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let text = format!("{folder}/{}", stem(path)).to_ascii_lowercase();
    text.split(|sign: char| !sign.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !matches!(*word, "conda"))
        .map(str::to_owned)
        .collect()
}

/// Whether a path is one for something else than tests. What it is called after conda says nothing.
fn is_otherwise(path: &str) -> bool {
    words(path)
        .iter()
        .any(|word| super::sets::is_otherwise(word) || matches!(word.as_str(), "binder" | "asv"))
}

fn plan(path: &str, file: &File) -> Plan {
    let mut steps: Vec<Step> = file
        .others
        .iter()
        .map(|line| Step {
            place: line.place.clone(),
            act: Act::Note(format!(
                "`{}` is left out: it is no distribution of the index",
                line.text
            )),
        })
        .collect();
    steps.extend(file.lines.iter().map(|line| Step {
        place: line.place.clone(),
        act: Act::Install(line.text.clone()),
    }));
    Plan {
        source: Source::Conda,
        name: path.to_owned(),
        place: Place::new(path, file.line),
        steps,
        worth: 0,
    }
}

impl File {
    /// `None` when the document is no environment.
    fn read(path: &str, document: &Value) -> Option<Self> {
        let list = document.at(&["dependencies"])?;
        let Kind::List(members) = &list.kind else {
            return None;
        };
        let mut file = Self {
            line: list.line,
            ..Self::default()
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for member in members {
            if let Some(text) = member.text() {
                let line = |text: String| Line::new(text, path, member.line);
                match spec::read(text) {
                    Some(Asked::Requirement(requirement)) => file.lines.push(line(requirement)),
                    Some(Asked::Python(version)) if version.is_empty() => {}
                    Some(Asked::Python(version)) => file.pythons.push(line(version)),
                    Some(Asked::Other(name)) if name == "pip" => {}
                    Some(Asked::Other(name)) => file.others.push(line(name)),
                    None => file.others.push(line(text.chars().take(40).collect())),
                }
            }
            for (text, number) in member.at(&["pip"]).into_iter().flat_map(Value::texts) {
                let lines = pip_lines(text, folder).into_iter();
                file.lines.extend(lines.map(|text| Line::new(text, path, number)));
            }
        }
        let is_empty = file.lines.is_empty() && file.others.is_empty() && file.pythons.is_empty();
        (!is_empty).then_some(file)
    }
}

/// A line below `pip:`, its paths from the tree's root.
fn pip_lines(text: &str, folder: &str) -> Vec<String> {
    let text = text.split(" #").next().unwrap_or(text).trim();
    if super::requirement::is_requirement(text) && !text.contains("://") {
        return vec![text.to_owned()];
    }
    let words = super::shell::words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let from_root = |item: String| {
        let Some((option, path)) = item
            .split_once(' ')
            .filter(|(option, path)| matches!(*option, "-r" | "-c" | "-e") && !path.contains("://"))
        else {
            return Some(item);
        };
        let (path, extras) = path
            .split_once('[')
            .map_or((path, None), |(path, extras)| (path, Some(extras)));
        let path = join(folder, path)?;
        Some(match (option, path.as_str(), extras) {
            ("-e", "", None) => "-e .".to_owned(),
            ("-e", "", Some(extras)) => format!("-e .[{extras}"),
            (option, path, None) => format!("{option} {path}"),
            (option, path, Some(extras)) => format!("{option} {path}[{extras}"),
        })
    };
    install_words(&words).into_iter().filter_map(from_root).collect()
}

/// What `conda …` does (mamba, micromamba): environments out of files, and specifications one by one.
pub(super) fn acts(words: &[&str]) -> Vec<Act> {
    let mut words = words.iter().copied().peekable();
    let mut of_environments = false;
    let verb = loop {
        match words.next() {
            Some("env") => of_environments = true,
            Some(word) if word.starts_with('-') => {}
            Some(word) => break word,
            None => return vec![],
        }
    };
    if verb == "activate" {
        // An environment that was made elsewhere.
        let is_made = words.next().is_some_and(|name| name != "base");
        return is_made.then(|| from_file("$")).into_iter().collect();
    }
    if !matches!(verb, "create" | "install" | "update") {
        return vec![];
    }
    let mut acts = Vec::new();
    let mut has_file = false;
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => (option, Some(value)),
            _ => (word, None),
        };
        match option {
            "-f" | "--file" => {
                has_file = true;
                let path = joined.or_else(|| words.next()).unwrap_or("");
                acts.push(from_file(path));
            }
            "-n"
            | "--name"
            | "-c"
            | "--channel"
            | "-p"
            | "--prefix"
            | "--solver"
            | "--experimental-solver"
            | "--platform"
            | "--subdir"
            | "-r"
            | "--root-prefix" => {
                if joined.is_none() {
                    words.next();
                }
            }
            // `-yf FILE`
            option if option.starts_with('-') && !option.starts_with("--") && option.ends_with('f') => {
                has_file = true;
                acts.push(from_file(words.next().unwrap_or("")));
            }
            option if option.starts_with('-') => {}
            _ => {
                if let Some(Asked::Requirement(line)) = spec::read(word) {
                    acts.push(Act::Install(line));
                }
            }
        }
    }
    if of_environments && !has_file {
        // conda's own default.
        acts.push(from_file("environment.yml"));
    }
    acts
}

/// What an action of GitHub's workflows installs by conda, from its inputs; `None` when it is another action.
pub(super) fn action(name: &str, input: &dyn Fn(&str) -> Option<String>) -> Option<Vec<Act>> {
    let default = match name {
        "conda-incubator/setup-miniconda" | "mamba-org/setup-micromamba" => None,
        "mamba-org/provision-with-micromamba" => Some("environment.yml".to_owned()),
        _ => return None,
    };
    let file = input("environment-file")
        .or(default)
        .filter(|file| file != "false");
    let file = file.map(|file| from_file(&file));
    let more = ["create-args", "extra-specs"].into_iter().filter_map(input);
    let more = more.flat_map(|text| {
        let words = super::shell::words(&format!("create {}", text.replace('\n', " ")));
        acts(&words.iter().map(String::as_str).collect::<Vec<_>>())
    });
    Some(file.into_iter().chain(more).collect())
}

/// A step that installs what an environment file has; a text file has specifications that are mostly pip's, too.
pub(super) fn from_file(path: &str) -> Act {
    if path.strip_suffix(".txt").is_some_and(|stem| !stem.contains('$')) {
        return Act::Install(format!("-r {path}"));
    }
    let is_open = path.contains(['$', '{']);
    Act::Go(Elsewhere::Conda(if is_open {
        String::new()
    } else {
        path.to_owned()
    }))
}

#[cfg(test)]
#[path = "conda/tests.rs"]
mod tests;
