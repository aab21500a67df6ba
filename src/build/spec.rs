//! What a recipe's install lines ask for, with the repository's requirement files read in.
//!
//! A line is in pip's language: an argument list (`-r requirements/tests.txt`, `-e .[socks] pytest`,
//! `--group tests`) or one requirement as a requirements file has it (`pytest < 7; python_version < "3.8"`).
//! Requirement files are read **at the base commit**, and their lines are taken in here, so that what a repository
//! says of indexes does not reach the resolver and `-e` does not need a build backend that knows editable installs.

use std::collections::BTreeSet;

use super::lock::{is_name, logical_lines};
use crate::domain::environment::Constraint;

/// What is to be resolved and what is to be installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spec {
    /// Requirements on an index (PEP 508), in the order they were read.
    pub requirements: Vec<String>,
    /// Constraints: the recipe's, then those of constraint files.
    pub constraints: Vec<String>,
    /// The repository's own packages, in order, none twice.
    pub projects: Vec<Project>,
    /// Dependency groups (PEP 735).
    pub groups: Vec<Group>,
    /// Whether pre-releases may be chosen (`--pre`).
    pub prereleases: bool,
    /// What was asked for and is not done, for the log.
    pub notes: Vec<String>,
}

/// A package of the repository itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its folder in the tree, `/`-separated; empty for the root.
    pub folder: String,
    /// Extras whose dependencies are wanted.
    pub extras: BTreeSet<String>,
}

impl Project {
    /// The requirement as a resolver in the tree's root reads it: `.`, `.[socks]`, `./plugins/a`.
    pub fn requirement(&self) -> String {
        let slash = if self.folder.is_empty() { "" } else { "/" };
        let extras: Vec<_> = self.extras.iter().map(String::as_str).collect();
        let extras = if extras.is_empty() {
            String::new()
        } else {
            format!("[{}]", extras.join(","))
        };
        format!(".{slash}{}{extras}", self.folder)
    }
}

/// A dependency group of a `pyproject.toml`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// The file that has it, in the tree.
    pub file: String,
    /// The group.
    pub name: String,
}

/// An install line that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The recipe's own line is wrong: the caller's error.
    #[error("read the install line `{line}`: {problem}")]
    Line {
        /// The line.
        line: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that a line names is not in the tree: the line does not fit this commit.
    #[error("find `{path}`, which `{line}` names, at the base commit")]
    MissingFile {
        /// The file.
        path: String,
        /// The line that names it.
        line: String,
    },
    /// A line of one of the repository's files is wrong: the project's fault.
    #[error("read the line `{line}` of `{path}`: {problem}")]
    FileLine {
        /// The file.
        path: String,
        /// The line.
        line: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A requirement at an address: nothing pins it.
    #[error("lock `{line}`: it names an address, which no date and no hash pins")]
    Address {
        /// The requirement.
        line: String,
    },
}

impl SpecError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Line { .. } => vec![
                "write one pip argument list a line: `-r requirements/tests.txt`, `-e .[socks]`, `pytest<7`"
                    .to_owned(),
            ],
            Self::MissingFile { .. } => {
                vec![
                    "narrow the `[[environment]]` entry with `when` to the commits that have the file"
                        .to_owned(),
                ]
            }
            Self::FileLine { .. } | Self::Address { .. } => {
                vec!["list the requirements one by one in the recipe instead of this file or line".to_owned()]
            }
        }
    }

    /// The stable word for it, where it is the project's fault.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::MissingFile { .. } => "requirements-missing",
            Self::Address { .. } => "unlockable-dependency",
            Self::Line { .. } | Self::FileLine { .. } => "resolve-failed",
        }
    }

    /// Whether the recipe is at fault, not the candidate.
    pub fn is_callers(&self) -> bool {
        matches!(self, Self::Line { .. })
    }
}

/// Reads a recipe's install lines. `read` gives a file of the tree at the base commit.
///
/// # Errors
/// [`SpecError`] with the line and what is wrong with it.
pub fn read_spec(
    install: &[String],
    constraints: &[Constraint],
    read: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<Spec, SpecError> {
    let mut reader = Reader {
        spec: Spec::default(),
        seen: BTreeSet::new(),
        read,
    };
    reader.spec.constraints.extend(
        constraints
            .iter()
            .map(|constraint| constraint.requirement.clone()),
    );
    for line in install {
        let problem = |problem: String| SpecError::Line {
            line: line.clone(),
            problem,
        };
        for item in parse_line(line).map_err(problem)? {
            reader.take(item, line, None)?;
        }
    }
    Ok(reader.spec)
}

/// One thing that a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Requirement(String),
    Local(String),
    Requirements(String),
    Constraints(String),
    Group(String),
    Prereleases,
    Ignored(String),
}

struct Reader<'a> {
    spec: Spec,
    seen: BTreeSet<(String, bool)>,
    read: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

impl Reader<'_> {
    /// Follows an item of `line`, which stands in the tree's file `file` (`None`: in the recipe).
    fn take(&mut self, item: Item, line: &str, file: Option<&str>) -> Result<(), SpecError> {
        let wrong = |problem: String| match file {
            None => SpecError::Line {
                line: line.to_owned(),
                problem,
            },
            Some(path) => SpecError::FileLine {
                path: path.to_owned(),
                line: line.to_owned(),
                problem,
            },
        };
        match item {
            Item::Requirement(text) if text.contains("://") => return Err(SpecError::Address { line: text }),
            Item::Requirement(text) => self.spec.requirements.push(text),
            Item::Local(text) => {
                let project = local(&text).map_err(wrong)?;
                match self
                    .spec
                    .projects
                    .iter_mut()
                    .find(|known| known.folder == project.folder)
                {
                    Some(known) => known.extras.extend(project.extras),
                    None => self.spec.projects.push(project),
                }
            }
            Item::Requirements(path) => self.file(&path, line, file, false)?,
            Item::Constraints(path) => self.file(&path, line, file, true)?,
            Item::Group(text) => {
                let (path, name) = text.rsplit_once(':').unwrap_or(("pyproject.toml", &text));
                let path = inside("", path).ok_or_else(|| wrong(format!("`{path}` is not in the tree")))?;
                let group = Group {
                    file: path,
                    name: name.to_owned(),
                };
                if !self.spec.groups.contains(&group) {
                    self.spec.groups.push(group);
                }
            }
            Item::Prereleases => self.spec.prereleases = true,
            Item::Ignored(what) => {
                let place = file.map_or(String::new(), |file| format!(" of `{file}`"));
                self.spec.notes.push(format!("`{what}`{place} is not followed"));
            }
        }
        Ok(())
    }

    /// Takes in a requirements or constraints file; as in pip, its path is relative to the file that names it.
    fn file(
        &mut self,
        path: &str,
        line: &str,
        from: Option<&str>,
        constrains: bool,
    ) -> Result<(), SpecError> {
        let folder = from
            .and_then(|from| from.rsplit_once('/'))
            .map_or("", |(folder, _)| folder);
        let missing = || SpecError::MissingFile {
            path: path.to_owned(),
            line: line.to_owned(),
        };
        let path = inside(folder, path).ok_or_else(missing)?;
        if !self.seen.insert((path.clone(), constrains)) {
            return Ok(());
        }
        let bytes = (self.read)(&path).ok_or_else(missing)?;
        let text = String::from_utf8_lossy(&bytes);
        for line in logical_lines(text.trim_start_matches('\u{feff}')) {
            let wrong = |problem| SpecError::FileLine {
                path: path.clone(),
                line: line.clone(),
                problem,
            };
            for item in parse_file_line(&line).map_err(wrong)? {
                match item {
                    Item::Requirement(text) if constrains => self.spec.constraints.push(text),
                    // A local path in a constraints file has nothing to constrain.
                    Item::Local(_) if constrains => {}
                    Item::Requirements(more) if constrains => self.file(&more, &line, Some(&path), true)?,
                    item => self.take(item, &line, Some(&path))?,
                }
            }
        }
        Ok(())
    }
}

/// An install line of a recipe.
fn parse_line(line: &str) -> Result<Vec<Item>, String> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(vec![]);
    }
    let words = words(line)?;
    let is_list =
        words.iter().any(|word| word.starts_with('-')) || words.iter().all(|word| stands_alone(word));
    if is_list {
        parse_words(&words)
    } else {
        Ok(vec![Item::Requirement(line.to_owned())])
    }
}

/// A line of a requirements file: options, or one requirement with its own options behind it.
fn parse_file_line(line: &str) -> Result<Vec<Item>, String> {
    if line.starts_with('-') {
        return parse_words(&words(line)?);
    }
    // `--hash`, `--config-settings` and the like: hashes are taken anew from the index.
    let requirement = line.split(" --").next().unwrap_or(line).trim();
    Ok(vec![plain(requirement)])
}

fn parse_words(words: &[String]) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => (option, Some(value.to_owned())),
            _ if word.starts_with('-') && !word.starts_with("--") && word.len() > 2 => {
                (word.get(..2).unwrap_or(word), word.get(2..).map(str::to_owned))
            }
            _ => (word.as_str(), None),
        };
        let mut value = || {
            let next = joined.clone().or_else(|| words.next().cloned());
            next.ok_or_else(|| format!("`{option}` needs a value"))
        };
        items.push(match option {
            "-r" | "--requirement" => Item::Requirements(value()?),
            "-c" | "--constraint" => Item::Constraints(value()?),
            "-e" | "--editable" => {
                let value = value()?;
                match plain(&value) {
                    Item::Requirement(text) if text.contains("://") => Item::Requirement(text),
                    _ => Item::Local(value),
                }
            }
            "--group" => Item::Group(value()?),
            "--pre" => Item::Prereleases,
            "-i" | "--index-url" | "--extra-index-url" | "-f" | "--find-links" | "--trusted-host"
            | "--no-binary" | "--only-binary" | "--use-feature" | "--global-option" | "--install-option"
            | "--config-settings" => {
                value()?;
                // The value may name a host: it stays out of every log.
                Item::Ignored(option.to_owned())
            }
            "--no-index" | "--prefer-binary" | "--require-hashes" | "-U" | "--upgrade" | "-q" | "--quiet" => {
                Item::Ignored(option.to_owned())
            }
            option if option.starts_with('-') => return Err(format!("`{option}` is not known here")),
            word => plain(word),
        });
    }
    Ok(items)
}

/// A requirement or a local path.
fn plain(text: &str) -> Item {
    let path = text.strip_prefix("file:").unwrap_or(text);
    let head = path.split('[').next().unwrap_or(path);
    let is_path = text.starts_with("file:")
        || head.starts_with('.')
        || head.contains('/') && !text.contains("://") && !text.contains('@') && !text.contains(';');
    if is_path {
        Item::Local(path.to_owned())
    } else {
        Item::Requirement(text.to_owned())
    }
}

/// Whether a word is a whole requirement or path by itself, so that a line of such words is a list.
fn stands_alone(word: &str) -> bool {
    if matches!(plain(word), Item::Local(_)) {
        return true;
    }
    let name = word
        .find(['[', '=', '<', '>', '!', '~', '@'])
        .map_or(word, |end| &word[..end]);
    is_name(name) && !word.ends_with(['=', '<', '>', '~', ',', '@'])
}

fn local(text: &str) -> Result<Project, String> {
    let (path, extras) = match text.split_once('[') {
        None => (text, ""),
        Some((path, rest)) => {
            let end = rest
                .strip_suffix(']')
                .ok_or_else(|| format!("`{text}` has no closing `]`"))?;
            (path, end)
        }
    };
    let folder = inside("", path).ok_or_else(|| format!("`{path}` is not inside the repository"))?;
    let extras = extras.split(',').map(str::trim).filter(|extra| !extra.is_empty());
    let extras = extras.map(str::to_owned).collect::<BTreeSet<_>>();
    match extras.iter().find(|extra| !is_name(extra)) {
        Some(wrong) => Err(format!("`{wrong}` is not an extra's name")),
        None => Ok(Project { folder, extras }),
    }
}

/// `path`, relative to `folder`, as a path from the tree's root; `None` when it leads out of the tree.
fn inside(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
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

/// Splits a line into words: blanks separate, quotes join, a backslash takes the next sign as it is.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match signs.next() {
                        None => return Err(format!("the quote {sign} is not closed")),
                        Some(end) if end == sign => break,
                        Some(inner) => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(signs.next()),
            sign => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
