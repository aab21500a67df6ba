//! From what a plan installs to install lines that the builder can follow: checked, cleaned, none twice.

use std::collections::BTreeSet;

use super::package::Package;
use super::proposal::{Origin, Tree};
use super::requirement::{Parts, parts, project_line};
use crate::build::lock::numbered_lines;
use crate::build::spec::{Spec, read_spec};
use crate::domain::settings::Place;

/// How deep requirement files may name each other.
const DEEPEST: usize = 8;

/// Install lines under construction.
pub(super) struct Installs<'a> {
    tree: Tree<'a>,
    package: &'a Package,
    /// Lines in their order, the project's own left out.
    lines: Vec<String>,
    /// Extras of the project, where it is installed.
    project: Option<BTreeSet<String>>,
    pub(super) because: Vec<Origin>,
    project_because: Vec<Origin>,
    pub(super) notes: Vec<String>,
}

impl<'a> Installs<'a> {
    pub(super) fn new(tree: Tree<'a>, package: &'a Package) -> Self {
        Self {
            tree,
            package,
            lines: vec![],
            project: None,
            because: vec![],
            project_because: vec![],
            notes: vec![],
        }
    }

    /// Adds a line in pip's language.
    pub(super) fn add(&mut self, line: &str, place: Option<&Place>, why: &str) {
        let line = line.trim();
        if let Some(own) = self.package.own_line(line).filter(|_| !line.starts_with('-')) {
            return self.add(&own, place, why);
        }
        let read = self.tree.read;
        match read_spec(&[line.to_owned()], &[], read) {
            Ok(spec) if is_root(&spec) => self.add_project(&spec, place, why),
            Ok(spec) if self.is_known(&spec) => self.push(line, place, why),
            Ok(_) => self.notes.push(format!(
                "{}`{line}` is left out: what it names is not there",
                at(place)
            )),
            Err(_) => self.mend(line, place, why, &mut Vec::new()),
        }
    }

    /// Whether every folder and group that a line names is there.
    fn is_known(&self, spec: &Spec) -> bool {
        let folder = |folder: &str| {
            ["pyproject.toml", "setup.py", "setup.cfg"]
                .iter()
                .any(|file| self.tree.has(&format!("{folder}/{file}")))
        };
        let own = |folder: &str| folder.is_empty() && self.package.installable.is_some();
        spec.projects
            .iter()
            .all(|project| own(&project.folder) || folder(&project.folder))
            && spec.groups.iter().all(|group| self.tree.has(&group.file))
    }

    /// A line that cannot be followed as it stands: each of its parts that can be is taken by itself.
    fn mend(&mut self, line: &str, place: Option<&Place>, why: &str, open: &mut Vec<String>) {
        let Some(file) = line.strip_prefix("-r").map(str::trim) else {
            match stand_in(line) {
                Some(name) => {
                    self.notes.push(format!(
                        "{}`{name}` stands in for what an address names: the index's version of the day",
                        at(place)
                    ));
                    self.push(&name, place, why);
                }
                None => self.notes.push(format!(
                    "{}`{}` is left out: it cannot be locked",
                    at(place),
                    short(line)
                )),
            }
            return;
        };
        if open.iter().any(|known| known == file) || open.len() >= DEEPEST {
            self.notes.push(format!(
                "{}`-r {file}` is left out: it leads back to itself",
                at(place)
            ));
            return;
        }
        let Some(text) = self.tree.text(file) else {
            self.notes
                .push(format!("{}`{file}` is not in the tree", at(place)));
            return;
        };
        open.push(file.to_owned());
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, inner) in numbered_lines(&text) {
            let place = Place::new(file, number);
            let place = Some(&place);
            let inner = inner.split(" --hash").next().unwrap_or(&inner).trim();
            let named = inner
                .strip_prefix("-r")
                .or_else(|| inner.strip_prefix("--requirement"));
            if let Some(more) = named
                .or_else(|| inner.strip_prefix("-c"))
                .or_else(|| inner.strip_prefix("--constraint"))
            {
                let option = if named.is_some() { "-r" } else { "-c" };
                let path = join(folder, more.trim_start_matches('=').trim());
                match path.map(|path| format!("{option} {path}")) {
                    Some(line) if self.follows(&line) => self.push(&line, place, why),
                    Some(line) if named.is_some() => self.mend(&line, place, why, open),
                    _ => self.notes.push(format!("{}`{inner}` is left out", at(place))),
                }
            } else {
                self.add_inner(inner, place, why);
            }
        }
        open.pop();
    }

    /// A line of a requirements file that is taken by itself.
    fn add_inner(&mut self, line: &str, place: Option<&Place>, why: &str) {
        if line.starts_with('-') && !line.starts_with("-e") {
            return;
        }
        if self.follows(line) {
            self.add(line, place, why);
        } else if let Some(name) = stand_in(line) {
            self.add(&name, place, why);
            self.notes.push(format!(
                "{}`{name}` stands in for what an address names",
                at(place)
            ));
        } else {
            self.notes.push(format!(
                "{}`{}` is left out: it cannot be locked",
                at(place),
                short(line)
            ));
        }
    }

    fn follows(&self, line: &str) -> bool {
        read_spec(&[line.to_owned()], &[], self.tree.read).is_ok()
    }

    fn push(&mut self, line: &str, place: Option<&Place>, why: &str) {
        if !self.lines.iter().any(|known| known == line) {
            self.lines.push(line.to_owned());
            self.because.push(origin(line, place, why));
        }
    }

    fn add_project(&mut self, spec: &Spec, place: Option<&Place>, why: &str) {
        if self.package.installable.is_none() {
            self.notes.push(format!(
                "{}the project cannot be installed: no packaging file says how",
                at(place)
            ));
            return;
        }
        let asked: BTreeSet<String> = spec
            .projects
            .iter()
            .flat_map(|project| project.extras.clone())
            .collect();
        let line = project_line(asked.iter().map(String::as_str));
        let known = self.project.get_or_insert_default();
        let more = asked.iter().any(|extra| !known.contains(extra));
        known.extend(asked);
        if more || self.project_because.is_empty() {
            self.project_because.push(origin(&line, place, why));
        }
    }

    /// Whether the project itself is installed.
    pub(super) fn has_project(&self) -> bool {
        self.project.is_some()
    }

    /// The names of everything that is directly required, as far as files say it in plain words.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let spec = read_spec(&self.lines, &[], self.tree.read).unwrap_or_default();
        let mut names: BTreeSet<String> = spec
            .requirements
            .iter()
            .filter_map(|line| parts(line))
            .map(|Parts { name, .. }| name)
            .collect();
        for group in &spec.groups {
            if let Some((_, set)) = self.package.lines_of(&group.name) {
                names.extend(super::package::names(&set.lines));
            }
        }
        let extras = spec.projects.iter().filter(|project| project.folder.is_empty());
        let mut asked: BTreeSet<String> = extras.flat_map(|project| project.extras.clone()).collect();
        asked.extend(self.project.iter().flatten().cloned());
        if self.has_project() || spec.projects.iter().any(|project| project.folder.is_empty()) {
            names.extend(self.package.names_with(&asked));
        }
        names
    }

    /// The lines, the project last, and where each comes from.
    pub(super) fn finish(mut self) -> (Vec<String>, Vec<Origin>, Vec<String>) {
        if let Some(extras) = &self.project {
            let line = project_line(extras.iter().map(String::as_str));
            self.lines.push(line);
            self.because.append(&mut self.project_because);
        }
        (self.lines, self.because, self.notes)
    }
}

fn origin(line: &str, place: Option<&Place>, why: &str) -> Origin {
    Origin {
        what: format!("install {line}"),
        place: place.cloned(),
        why: why.to_owned(),
    }
}

fn at(place: Option<&Place>) -> String {
    place.map_or(String::new(), |place| format!("{place}: "))
}

/// At most 80 signs, and no host: an address is cut at its scheme.
fn short(line: &str) -> String {
    let line = line.split("://").next().unwrap_or(line);
    line.chars().take(80).collect()
}

/// Whether a line asks for the project in the tree's root and for nothing else.
fn is_root(spec: &Spec) -> bool {
    spec.requirements.is_empty()
        && spec.groups.is_empty()
        && !spec.projects.is_empty()
        && spec.projects.iter().all(|project| project.folder.is_empty())
}

/// The name of what an address leads to, with its extras, where the line says it.
fn stand_in(line: &str) -> Option<String> {
    let line = line.strip_prefix("-e").map_or(line, str::trim);
    let found = parts(line).filter(|parts| parts.address)?;
    if found.extras.is_empty() {
        return Some(found.name);
    }
    let extras: Vec<_> = found.extras.iter().map(String::as_str).collect();
    Some(format!("{}[{}]", found.name, extras.join(",")))
}

/// A path below a folder, from the tree's root; `None` where it leads out of the tree.
pub(super) fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
