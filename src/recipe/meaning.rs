//! The second pass over a recipe's text: names, versions, days, patterns, and every rule's expression. It reads the
//! tree of the text, not the deserialized recipe, so that each problem stands where it was written.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::{Problem, Source};
use super::language::{Fault, Phase, check_condition};
use super::python::PythonSpec;
use super::text::TextMap;
use crate::domain::attempt::Stage;
use crate::domain::ids::RepoName;
use crate::domain::image::{BadImage, BaseImage};

/// Every problem of meaning in `tree`, as far as its shape allows to look.
pub(super) fn problems(source: Source<'_>, tree: &Spanned<DeTable<'_>>) -> Vec<Problem> {
    let mut meaning = Meaning {
        source,
        problems: Vec::new(),
    };
    let root = tree.get_ref();
    if let Some(dataset) = table(root, "dataset") {
        meaning.text(
            dataset,
            "name",
            is_kebab,
            "must be lower-case words joined by `-`",
            "for example `web-bugs`",
        );
        meaning.text(
            dataset,
            "version",
            is_version,
            "must be `MAJOR.MINOR.PATCH`",
            "for example `1.0.0`",
        );
    }
    if let Some(origin) = table(root, "source") {
        meaning.origin(origin);
    }
    if let Some(split) = table(root, "split") {
        meaning.split(split);
    }
    if let Some(room) = table(root, "room") {
        meaning.room(room);
    }
    meaning.rules(root);
    meaning.environments(root);
    if get(root, "variants").is_some_and(|list| list.get_ref().as_array().is_some_and(|list| list.is_empty()))
    {
        let at = get(root, "variants").map_or(0..0, Spanned::span);
        let hint = "leave the key away, or name some of `full`, `code-only`, `no-context`";
        meaning.problem(at, "`variants` names none", hint);
    }
    meaning.distinct("variants", strings(root, "variants"));
    if let Some(strip) = table(root, "strip") {
        meaning.distinct("keep", strings(strip, "keep"));
        meaning.distinct("remove", strings(strip, "remove"));
    }
    meaning.problems
}

struct Meaning<'a> {
    source: Source<'a>,
    problems: Vec<Problem>,
}

type Text<'a> = (&'a str, Range<usize>);

impl Meaning<'_> {
    fn problem(&mut self, at: Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        self.problems
            .push(self.source.problem(at, message, Some(hint.into())));
    }

    fn text(&mut self, of: &DeTable<'_>, key: &str, fits: impl Fn(&str) -> bool, must: &str, hint: &str) {
        if let Some((text, at)) = string(of, key)
            && !fits(text)
        {
            self.problem(at, format!("`{key}` {must}"), hint);
        }
    }

    fn room(&mut self, room: &DeTable<'_>) {
        if let Some((text, at)) = string(room, "base_image")
            && let Err(error) = text.parse::<BaseImage>()
        {
            let message = match &error {
                BadImage::NoDigest(_) => {
                    "`base_image` must be an image by its digest: what a tag names changes"
                }
                BadImage::BadDigest(_) => "`base_image` has no whole digest",
            };
            self.problem(at, message, error.hints().join("; "));
        }
        self.distinct("build_env", strings(room, "build_env"));
        self.not_empty(room, &["network", "extra_ca"]);
    }

    fn not_empty(&mut self, of: &DeTable<'_>, keys: &[&str]) {
        for key in keys {
            self.text(
                of,
                key,
                |text| !text.trim().is_empty(),
                "must not be empty",
                "say it in a few words",
            );
        }
    }

    /// Refuses an item of the list `key` that was there before, letters alike.
    fn distinct(&mut self, key: &str, items: Vec<Text<'_>>) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for (item, at) in items {
            let line = self.source.problem(at.clone(), "", None).line;
            match seen.get(item) {
                Some(first) => {
                    let hint = format!("line {first} has it already");
                    self.problem(at, format!("`{item}` is in `{key}` twice"), hint);
                }
                None => _ = seen.insert(item.to_owned(), line),
            }
        }
    }

    fn origin(&mut self, origin: &DeTable<'_>) {
        for (name, at) in strings(origin, "repositories") {
            if let Err(error) = name.parse::<RepoName>() {
                self.problem(at, error.to_string(), "write `owner/name`");
            }
        }
        let lower: Vec<_> = strings(origin, "repositories")
            .into_iter()
            .map(|(name, at)| (name.to_ascii_lowercase(), at))
            .collect();
        let lower = lower.iter().map(|(name, at)| (name.as_str(), at.clone()));
        self.distinct("repositories", lower.collect());
        let hint = "a day is written `2023-01-31`";
        let is_day = |text: &str| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok();
        self.text(origin, "merged_since", is_day, "must be a day", hint);
        self.text(origin, "merged_before", is_day, "must be a day", hint);
        if let (Some((since, _)), Some((before, at))) =
            (string(origin, "merged_since"), string(origin, "merged_before"))
            && is_day(since)
            && is_day(before)
            && since >= before
        {
            self.problem(
                at,
                "`merged_before` must be later than `merged_since`",
                "as written, nothing fits between them",
            );
        }
    }

    fn split(&mut self, split: &DeTable<'_>) {
        let all = ["test", "docs", "gold", "other"].map(|key| strings(split, key));
        self.distinct("split", all.concat());
        let published = string(split, "mode").is_some_and(|(mode, _)| mode == "swebench");
        for key in ["test", "docs", "gold", "other"] {
            for (pattern, at) in strings(split, key) {
                if let Err(error) = globset::Glob::new(pattern) {
                    self.problem(
                        at,
                        format!("this is no glob: {}", error.kind()),
                        "for example `src/**/testing/*.py`",
                    );
                } else if published {
                    let hint = "leave the globs away, or use `mode = \"paths\"`";
                    self.problem(
                        at,
                        "the mode `swebench` is the published rule and takes no globs",
                        hint,
                    );
                }
            }
        }
    }

    fn rules(&mut self, root: &DeTable<'_>) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for rule in tables(root, "rule") {
            self.text(
                rule,
                "id",
                is_kebab,
                "must be lower-case words joined by `-`",
                "for example `one-source-file`",
            );
            if let Some((id, at)) = string(rule, "id") {
                if id.starts_with("mine-") {
                    self.problem(
                        at.clone(),
                        "ids that begin with `mine-` are mining's own",
                        "take another name",
                    );
                }
                if Stage::ALL.iter().any(|stage| stage.name() == id) {
                    self.problem(
                        at.clone(),
                        format!("`{id}` is the name of a stage, which the funnel counts beside the rules"),
                        "take another name",
                    );
                }
                let line = self.source.problem(at.clone(), "", None).line;
                match seen.get(id) {
                    Some(first) => {
                        let hint = format!("line {first} has a rule of that id");
                        self.problem(at, format!("the rule id `{id}` is taken"), hint);
                    }
                    None => _ = seen.insert(id.to_owned(), line),
                }
            }
            self.not_empty(rule, &["reason", "source"]);
            self.condition(rule, "keep", Phase::Oracle);
        }
    }

    fn environments(&mut self, root: &DeTable<'_>) {
        let mut names: Vec<&str> = Vec::new();
        for environment in tables(root, "environment") {
            self.not_empty(environment, &["name", "reason"]);
            if let Some((name, at)) = string(environment, "name") {
                if names.contains(&name) {
                    self.problem(
                        at,
                        format!("the environment name `{name}` is taken"),
                        "take another name",
                    );
                }
                names.push(name);
            }
            if let Some((name, at)) = string(environment, "repo")
                && let Err(error) = name.parse::<RepoName>()
            {
                self.problem(at, error.to_string(), "write `owner/name`");
            }
            if let Some((version, at)) = string(environment, "python") {
                match version.parse().and_then(PythonSpec::precise) {
                    Err(error) => self.problem(at, error.to_string(), error.hints().join("; ")),
                    Ok(spec) if !spec.is_satisfiable() => self.problem(
                        at,
                        format!("no Python from {} on is `{version}`", PythonSpec::OLDEST_TEXT),
                        "tests are run on Python 3.6 and later: write `3.11`, or a range such as `>=3.9,<3.13`",
                    ),
                    Ok(_) => {}
                }
            }
            self.distinct("install", strings(environment, "install"));
            for (line, at) in strings(environment, "install") {
                if line.trim().is_empty() {
                    self.problem(
                        at,
                        "an install line must not be empty",
                        "for example `-r requirements/tests.txt`",
                    );
                }
            }
            let of = |key: &str, name: &str| {
                let tables = tables(environment, key).into_iter();
                tables.filter_map(|table| string(table, name)).collect()
            };
            self.distinct("constraint", of("constraint", "requirement"));
            self.distinct("newer", of("newer", "distribution"));
            self.distinct("left_out", of("left_out", "distribution"));
            for constraint in tables(environment, "constraint") {
                self.not_empty(constraint, &["requirement", "reason"]);
            }
            for newer in tables(environment, "newer") {
                self.not_empty(newer, &["distribution", "reason"]);
                if let Some((moment, at)) = string(newer, "until")
                    && moment.parse::<jiff::Timestamp>().is_err()
                {
                    self.problem(
                        at,
                        format!("`{moment}` is no moment"),
                        "write it as `2024-01-31T00:00:00Z`",
                    );
                }
            }
            for left_out in tables(environment, "left_out") {
                self.not_empty(left_out, &["distribution", "reason"]);
            }
            if string(environment, "requirements_after").is_some() {
                self.not_empty(environment, &["requirements_after"]);
            }
            self.condition(environment, "when", Phase::Git);
        }
    }

    /// Checks the CEL condition under `key`, which may read facts up to `latest`.
    fn condition(&mut self, of: &DeTable<'_>, key: &str, latest: Phase) {
        let Some((text, span)) = string(of, key) else {
            return;
        };
        let faults = match check_condition(text) {
            Ok(checked) if checked.phase() <= latest => return,
            Ok(checked) => {
                let late = checked
                    .reads
                    .iter()
                    .chain(&checked.probes)
                    .filter(|id| id.fact().phase > latest);
                let names: Vec<String> = late.map(|id| format!("`{}`", id.name())).collect();
                let message = format!(
                    "`{key}` cannot read {}, known only {}",
                    names.join(", "),
                    Phase::Oracle.name()
                );
                let hint = Some(format!("`{key}` is decided before anything is built"));
                vec![Fault {
                    range: 0..text.len(),
                    message,
                    hint,
                }]
            }
            Err(faults) => faults,
        };
        let map = TextMap::read(self.source.text, span.clone(), text);
        for Fault { range, message, hint } in faults {
            let at = map
                .as_ref()
                .map_or_else(|| span.clone(), |map| map.in_file(&range));
            self.problems.push(self.source.problem(at, message, hint));
        }
    }
}

/// Lower-case letters and digits in words joined by single `-`, beginning with a letter.
pub(crate) fn is_kebab(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.split('-').all(|word| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

/// `MAJOR.MINOR.PATCH`, each a number as it is written.
pub(crate) fn is_version(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|part| {
            part.bytes().all(|byte| byte.is_ascii_digit())
                && part.parse::<u32>().is_ok()
                && (part.len() == 1 || !part.starts_with('0'))
        })
}

fn get<'t, 'i>(of: &'t DeTable<'i>, key: &str) -> Option<&'t Spanned<DeValue<'i>>> {
    of.iter()
        .find(|(name, _)| name.get_ref() == key)
        .map(|(_, value)| value)
}

fn string<'t>(of: &'t DeTable<'_>, key: &str) -> Option<Text<'t>> {
    let value = get(of, key)?;
    Some((value.get_ref().as_str()?, value.span()))
}

fn strings<'t>(of: &'t DeTable<'_>, key: &str) -> Vec<Text<'t>> {
    let items = get(of, key).and_then(|value| value.get_ref().as_array());
    items
        .into_iter()
        .flatten()
        .filter_map(|item| Some((item.get_ref().as_str()?, item.span())))
        .collect()
}

fn table<'t, 'i>(of: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    get(of, key).and_then(|value| value.get_ref().as_table())
}

fn tables<'t, 'i>(of: &'t DeTable<'i>, key: &str) -> Vec<&'t DeTable<'i>> {
    let items = get(of, key).and_then(|value| value.get_ref().as_array());
    items
        .into_iter()
        .flatten()
        .filter_map(|item| item.get_ref().as_table())
        .collect()
}
