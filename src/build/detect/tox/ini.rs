//! An environment of an ini file: inheritance, factors and substitutions worked out.

use std::collections::BTreeSet;

use super::names::{expand, split_outside};
use super::one_requirement;
use crate::build::detect::command::{acts, assignment};
use crate::build::detect::installers::install_words;
use crate::build::detect::interpreters::Minor;
use crate::build::detect::plan::{Act, Step};
use crate::build::detect::requirement::project_line;
use crate::build::detect::shell::{self, commands};
use crate::domain::settings::Line;
use crate::domain::settings::Place;
use crate::domain::settings::ini::{Entry, Ini, Section};

/// How deep substitutions may refer to each other.
const DEEPEST: usize = 8;

/// One environment of an ini file.
pub(super) struct IniEnvironment<'a> {
    pub(super) ini: &'a Ini,
    pub(super) name: &'a str,
    pub(super) python: Minor,
    /// A section whose generative name stands for this one.
    pub(super) section: Option<&'a Section>,
}

impl IniEnvironment<'_> {
    pub(super) fn steps(&self) -> Option<(Place, Vec<Step>)> {
        let own = self
            .ini
            .section(&format!("testenv:{}", self.name))
            .or(self.section);
        let base = self.ini.section("testenv");
        let first = own.or(base)?;
        let file = first
            .entries
            .first()?
            .lines
            .first()
            .map_or("tox.ini", |line| line.place.file.as_str());
        let mut steps = Vec::new();
        let mut env = Vec::new();
        for (_, entry) in [base, own]
            .into_iter()
            .flatten()
            .filter_map(|section| Some((section, section.get("setenv").or_else(|| section.get("set_env"))?)))
        {
            env.extend(self.lines(entry));
        }
        for line in env {
            if let Some((name, value)) = assignment(&line.text.replacen(" = ", "=", 1)) {
                let act = Act::Env(name.to_owned(), value.trim().to_owned());
                steps.push(Step {
                    place: line.place,
                    act,
                });
            }
        }
        for line in self.value("deps") {
            let words = shell::words(&line.text);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            // A requirement with blanks or a marker is one item; options and paths are pip's.
            let is_list = words
                .first()
                .is_some_and(|word| word.starts_with('-') || word.starts_with('.'));
            let items = if is_list {
                install_words(&words)
            } else {
                one_requirement(&line.text)
            };
            steps.extend(items.into_iter().map(|item| Step {
                place: line.place.clone(),
                act: Act::Install(item),
            }));
        }
        for key in ["dependency_groups", "dependency-groups"] {
            for line in self.value(key) {
                for name in split_outside(&line.text) {
                    steps.push(Step::group(&name, line.place.clone()));
                }
            }
        }
        steps.extend(self.project());
        for key in ["commands_pre", "commands"] {
            for line in joined(self.value(key)) {
                let text = line.text.trim_start_matches(['-', '!']).trim();
                for command in commands(text) {
                    steps.extend(acts(&command.words).into_iter().map(|act| Step {
                        place: line.place.clone(),
                        act,
                    }));
                }
            }
        }
        Some((Place::new(file, first.line), steps))
    }

    /// The project, with its extras, unless it is not installed there.
    fn project(&self) -> Vec<Step> {
        let is = |key: &str| {
            self.value(key)
                .first()
                .is_some_and(|line| line.text.trim().eq_ignore_ascii_case("true"))
        };
        let tox = self.ini.section("tox");
        let skips = tox.is_some_and(|tox| {
            ["skipsdist", "no_package"].iter().any(|key| {
                tox.get(key)
                    .is_some_and(|entry| entry.text().eq_ignore_ascii_case("true"))
            })
        });
        let develops = is("usedevelop") || is("use_develop");
        if (skips || is("skip_install")) && !develops {
            return vec![];
        }
        let lines = self.value("extras");
        let place = lines.first().map(|line| line.place.clone());
        let extras: Vec<String> = lines.iter().flat_map(|line| split_outside(&line.text)).collect();
        let place = place.unwrap_or_else(|| {
            let line = self.ini.section("testenv").map_or(1, |section| section.line);
            Place::new(self.file(), line)
        });
        vec![Step {
            place,
            act: Act::Install(project_line(extras.iter().map(String::as_str))),
        }]
    }

    fn file(&self) -> &str {
        let lines = self
            .ini
            .sections
            .iter()
            .flat_map(|section| &section.entries)
            .flat_map(|entry| &entry.lines);
        lines
            .map(|line| line.place.file.as_str())
            .next()
            .unwrap_or("tox.ini")
    }

    /// The lines of a key, the environment's own before the base's, with factors and substitutions worked out.
    fn value(&self, key: &str) -> Vec<Line> {
        let own = self
            .ini
            .section(&format!("testenv:{}", self.name))
            .or(self.section);
        let sections = [own, self.ini.section("testenv")];
        let entry = sections
            .into_iter()
            .flatten()
            .find_map(|section| section.get(key));
        entry.map(|entry| self.lines(entry)).unwrap_or_default()
    }

    fn lines(&self, entry: &Entry) -> Vec<Line> {
        let mut lines = Vec::new();
        for line in &entry.lines {
            self.line(line, 0, &mut lines);
        }
        lines
    }

    fn line(&self, line: &Line, depth: usize, into: &mut Vec<Line>) {
        let Some(text) = self.for_factors(&line.text) else {
            return;
        };
        // A line that is one reference takes in the lines it refers to.
        let reference = text
            .trim()
            .strip_prefix("{[")
            .and_then(|rest| rest.strip_suffix('}'))
            .and_then(|rest| rest.split_once(']'));
        if let Some((section, key)) = reference.filter(|(_, key)| !key.contains(['{', '}'])) {
            let entry = self.ini.section(section).and_then(|section| section.get(key));
            for line in entry
                .iter()
                .flat_map(|entry| &entry.lines)
                .filter(|_| depth < DEEPEST)
            {
                self.line(line, depth + 1, into);
            }
            return;
        }
        let text = self.substitute(&text, 0);
        if !text.trim().is_empty() {
            into.push(Line {
                text,
                place: line.place.clone(),
            });
        }
    }

    /// `py311,py312: pytest` holds for an environment with one of the factors; `!a-b:` negates one.
    fn for_factors(&self, text: &str) -> Option<String> {
        let Some((head, rest)) = text.split_once(':') else {
            return Some(text.to_owned());
        };
        let is_condition = !head.is_empty()
            && head
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.,!{} ".contains(c))
            && !head.trim().contains(' ')
            && (rest.is_empty() || rest.starts_with(' '));
        if !is_condition {
            return Some(text.to_owned());
        }
        let mine: BTreeSet<&str> = self.name.split('-').collect();
        let python = format!("py3{}", self.python);
        let has = |factor: &str| match factor.strip_prefix('!') {
            Some(factor) => !mine.contains(factor) && factor != python,
            None => mine.contains(factor) || factor == python,
        };
        let holds = expand(head.trim()).iter().any(|all| all.split('-').all(has));
        holds.then(|| rest.trim().to_owned())
    }

    fn substitute(&self, text: &str, depth: usize) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((inner, tail)) = closing(after) else {
                out.push('{');
                rest = after;
                continue;
            };
            match inner {
                "toxinidir" | "tox_root" => out.push('.'),
                "envname" | "env_name" => out.push_str(self.name),
                "/" => out.push('/'),
                ":" => out.push(':'),
                inner if inner.starts_with("posargs") => {
                    let default = inner.split_once(':').map_or("", |(_, default)| default);
                    if depth < DEEPEST {
                        out.push_str(&self.substitute(default, depth + 1));
                    }
                }
                inner if inner.starts_with("env:") => {
                    let default = inner["env:".len()..]
                        .split_once(':')
                        .map_or("", |(_, default)| default);
                    if depth < DEEPEST {
                        out.push_str(&self.substitute(default, depth + 1));
                    }
                }
                inner if inner.starts_with('[') => {
                    let found = inner[1..]
                        .split_once(']')
                        .and_then(|(section, key)| self.ini.section(section)?.get(key));
                    if let Some(entry) = found.filter(|_| depth < DEEPEST) {
                        out.push_str(&self.substitute(&entry.text(), depth + 1));
                    }
                }
                other => {
                    out.push('{');
                    out.push_str(other);
                    out.push('}');
                }
            }
            rest = tail;
        }
        out.push_str(rest);
        out.replace("./", "").replace("-r.", "-r .")
    }
}

/// What stands before the brace that closes, and what comes after it.
fn closing(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1_u32;
    for (at, sign) in text.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

/// Lines that end in `\` go on below.
fn joined(lines: Vec<Line>) -> Vec<Line> {
    let mut joined: Vec<Line> = Vec::new();
    let mut open = false;
    for line in lines {
        let ends = line.text.trim_end().ends_with('\\');
        let text = line.text.trim_end().trim_end_matches('\\').trim_end().to_owned();
        match joined.last_mut().filter(|_| open) {
            Some(last) => {
                last.text.push(' ');
                last.text.push_str(&text);
            }
            None => joined.push(Line {
                text,
                place: line.place,
            }),
        }
        open = ends;
    }
    joined
}
