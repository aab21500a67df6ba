//! Automation files: GitHub's workflows, Travis and Azure Pipelines. A job is a plan; a matrix gives it several forms.

use std::collections::BTreeMap;

use super::command::acts;
use super::conda;
use super::conditions;
use super::interpreters::{Minor, Said, minor_of};
use super::plan::{Act, Plan, Source, Step};
use super::proposal::{FactKind, Found, Tree};
use super::shell::commands;
use super::travis::{azure, travis, travis_jobs};
use crate::domain::settings::Place;
use crate::domain::settings::value::{Kind, Value, read_yaml};

/// How many forms of a job are looked at.
const FORMS: usize = 128;
/// How many forms of a job that differ become plans.
pub(super) const PLANS: usize = 6;
/// Keys under which a matrix has versions of Python.
const PYTHON_KEYS: &[&str] = &[
    "python-version",
    "python_version",
    "python",
    "pyversion",
    "py",
    "python.version",
    "version",
    "python-versions",
];

/// The automation's files, read.
#[derive(Debug, Default)]
pub(super) struct Automation {
    files: Vec<(String, Value)>,
}

impl Automation {
    /// Reads every file of automation that the tree has.
    pub(super) fn read(tree: &Tree<'_>, notes: &mut Vec<String>) -> Self {
        let is_one = |path: &&str| {
            let workflow = path
                .strip_prefix(".github/workflows/")
                .is_some_and(|name| !name.contains('/') && is_yaml(name));
            let azure = path.starts_with("azure-pipelines")
                || path.starts_with(".azure-pipelines/")
                || path.starts_with("ci/azure/");
            workflow || *path == ".travis.yml" || azure && is_yaml(path)
        };
        let mut files = Vec::new();
        for path in tree.names_of().filter(is_one) {
            let Some(text) = tree.text(path) else { continue };
            match read_yaml(&text) {
                Ok(value) => files.push((path.to_owned(), value)),
                Err(problem) => notes.push(format!("{path} is passed over: {problem}")),
            }
        }
        Self { files }
    }

    /// Versions of Python that jobs are run with.
    pub(super) fn say(&self, said: &mut Said) {
        for (file, document) in &self.files {
            let mut name = |text: &str, line: u32| {
                said.name(text, &Place::new(file, line), "the automation runs with it");
            };
            if file == ".travis.yml" {
                for (text, line) in document.at(&["python"]).into_iter().flat_map(Value::texts) {
                    name(text, line);
                }
                for job in travis_jobs(document) {
                    for (text, line) in job.at(&["python"]).into_iter().flat_map(Value::texts) {
                        name(text, line);
                    }
                }
                continue;
            }
            for (id, _, job) in document.at(&["jobs"]).into_iter().flat_map(Value::entries) {
                // The one version that a linter or the documentation is built with says nothing of what is supported;
                // several in a job that is only called `build` do.
                if super::sets::is_otherwise(id) && !id.contains("test") {
                    let mut versions = 0;
                    named_in(job, &mut |_: &str, _| versions += 1, 0);
                    if versions < 2 {
                        continue;
                    }
                }
                named_in(job, &mut name, 0);
            }
            if file.contains("azure") {
                named_in(document, &mut name, 0);
            }
        }
    }

    /// Whether any of the files names a path of the tree.
    pub(super) fn names(&self, path: &str) -> bool {
        self.files.iter().any(|(_, document)| document.mentions(path))
    }

    /// Services that jobs start.
    pub(super) fn services(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for (file, document) in &self.files {
            for (id, _, job) in document.at(&["jobs"]).into_iter().flat_map(Value::entries) {
                for (name, line, service) in job.at(&["services"]).into_iter().flat_map(Value::entries) {
                    found.push(Found {
                        kind: FactKind::Service,
                        value: service.text_at(&["image"]).unwrap_or(name).to_owned(),
                        place: Place::new(file, line),
                        why: format!("the job `{id}` starts it; Quarry starts no services"),
                    });
                }
            }
            if file == ".travis.yml" {
                for (name, line) in document.at(&["services"]).into_iter().flat_map(Value::texts) {
                    found.push(Found {
                        kind: FactKind::Service,
                        value: name.to_owned(),
                        place: Place::new(file, line),
                        why: "the automation starts it; Quarry starts no services".to_owned(),
                    });
                }
            }
        }
        found
    }

    /// The jobs as plans, as they are for one version of Python.
    pub(super) fn plans(&self, python: Minor) -> Vec<Plan> {
        let mut plans = Vec::new();
        for (file, document) in &self.files {
            if file == ".travis.yml" {
                plans.extend(travis(file, document, python));
            } else if document
                .at(&["jobs"])
                .is_some_and(|jobs| matches!(jobs.kind, Kind::Table(_)))
            {
                for (id, line, job) in document.at(&["jobs"]).into_iter().flat_map(Value::entries) {
                    plans.extend(github(file, document, id, line, job, python));
                }
            } else {
                plans.extend(azure(file, document));
            }
        }
        plans
    }
}

fn is_yaml(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("yml" | "yaml"))
}

/// Versions in a job: under the keys of a matrix or of a set-up step, wherever they stand.
fn named_in(value: &Value, name: &mut dyn FnMut(&str, u32), depth: usize) {
    if depth > 12 {
        return;
    }
    for (key, _, inner) in value.entries() {
        let lower = key.to_ascii_lowercase();
        if PYTHON_KEYS.contains(&lower.as_str()) {
            for (text, line) in inner.texts() {
                // `python-version: |` with one a line is a list, too.
                for text in text.split_ascii_whitespace() {
                    name(text, line);
                }
            }
        }
        named_in(inner, name, depth + 1);
    }
    if let Kind::List(list) = &value.kind {
        for inner in list {
            named_in(inner, name, depth + 1);
        }
    }
}

/// Variables of one form of a job: `matrix.os` → `ubuntu-latest`.
pub(super) type FormOf = BTreeMap<String, String>;

fn github(file: &str, document: &Value, id: &str, line: u32, job: &Value, python: Minor) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    for form in forms(job, python) {
        let filled = |text: &str| fill(text, &form);
        if filled(job.text_at(&["runs-on"]).unwrap_or("")).is_some_and(|system| is_other_system(&system)) {
            continue;
        }
        let mut steps = Vec::new();
        let mut environment = FormOf::new();
        let of_job = variables(file, job.at(&["env"]), &form);
        for (place, name, value) in variables(file, document.at(&["env"]), &form) {
            // What the job sets takes the place of what the workflow does.
            if of_job.iter().all(|(_, other, _)| *other != name) {
                set(&mut steps, &mut environment, place, name, value);
            }
        }
        for (place, name, value) in of_job {
            set(&mut steps, &mut environment, place, name, value);
        }
        // What is known when a step is reached: the matrix, and what was set before it.
        let mut known = form.clone();
        let of_env = environment.iter();
        known.extend(of_env.map(|(name, value)| (format!("env.{name}"), value.clone())));
        for step in job.at(&["steps"]).into_iter().flat_map(Value::members) {
            if step
                .text_at(&["if"])
                .is_some_and(|condition| !holds(condition, &known))
            {
                continue;
            }
            let mut of_step = environment.clone();
            for (place, name, value) in variables(file, step.at(&["env"]), &known) {
                set(&mut steps, &mut of_step, place, name, value);
            }
            let before = steps.len();
            if let Some(run) = step.at(&["run"]) {
                run_text(file, run, &known, &of_step, &mut steps);
                if run.text().is_some_and(|text| text.contains("GITHUB_ENV")) {
                    later(&steps[before..], &mut environment, &mut known);
                }
            }
            action(file, step, &known, &mut steps);
        }
        let workflow = file
            .rsplit('/')
            .next()
            .and_then(|name| name.split('.').next())
            .unwrap_or("");
        let said = form
            .get("matrix.name")
            .or_else(|| form.get("matrix.toxenv"))
            .or_else(|| form.get("matrix.tox"))
            .cloned();
        let mut words = format!("{workflow} {id} {}", said.as_deref().unwrap_or(""));
        words.extend(
            job.text_at(&["name"])
                .and_then(&filled)
                .map(|name| format!(" {name}")),
        );
        let name = said.map_or_else(|| id.to_owned(), |said| format!("{id} {said}"));
        let plan = Plan {
            source: Source::Job,
            name,
            place: Place::new(file, line),
            steps,
            worth: super::sets::worth(&words).unwrap_or(0),
        };
        if plans.len() < PLANS && !plans.iter().any(|known| known.steps == plan.steps) {
            plans.push(plan);
        }
    }
    plans
}

/// A matrix's forms for one version of Python. A version that the matrix does not have takes the place of one it has.
fn forms(job: &Value, python: Minor) -> Vec<FormOf> {
    let mut forms: Vec<FormOf> = vec![FormOf::new()];
    let matrix = job.at(&["strategy", "matrix"]);
    for (key, _, value) in matrix.into_iter().flat_map(Value::entries) {
        if matches!(key, "include" | "exclude") || !matches!(value.kind, Kind::List(_)) {
            continue;
        }
        let mut more = Vec::new();
        for form in &forms {
            for member in value.members() {
                let mut form = form.clone();
                insert(&mut form, key, member);
                more.push(form);
            }
        }
        more.truncate(FORMS);
        if !more.is_empty() {
            forms = more;
        }
    }
    let entries = |name: &str| -> Vec<FormOf> {
        let entries = matrix.and_then(|matrix| matrix.at(&[name]));
        let form = |entry: &Value| {
            let mut form = FormOf::new();
            for (key, _, value) in entry.entries() {
                insert(&mut form, key, value);
            }
            form
        };
        entries.into_iter().flat_map(Value::members).map(form).collect()
    };
    let says = |form: &FormOf, entry: &FormOf| entry.iter().all(|(key, value)| form.get(key) == Some(value));
    let excluded = entries("exclude");
    forms.retain(|form| {
        !excluded
            .iter()
            .any(|entry| !entry.is_empty() && says(form, entry))
    });
    include(&mut forms, entries("include"));
    forms.retain(|form| !form.values().any(|value| is_other_system(value)));
    let is_asked = |form: &FormOf| version_of(form).is_some_and(|text| minor_of(text) == Some(python));
    if forms.iter().any(is_asked) {
        forms.retain(|form| is_asked(form) || version_of(form).is_none());
    } else {
        for form in &mut forms {
            for key in PYTHON_KEYS {
                let key = format!("matrix.{key}");
                if form.get(&key).is_some_and(|text| minor_of(text).is_some()) {
                    form.insert(key, format!("3.{python}"));
                }
            }
        }
    }
    forms
}

/// Adds each entry to every form of the matrix whose own values it leaves as they are; one that fits none is a form by
/// itself. Source: GitHub's documentation, "Expanding or adding matrix configurations".
fn include(forms: &mut Vec<FormOf>, entries: Vec<FormOf>) {
    let has_own = forms.iter().any(|form| !form.is_empty());
    let own = if has_own { forms.clone() } else { vec![] };
    if !has_own && !entries.is_empty() {
        forms.clear();
    }
    for entry in entries {
        let mut fits_one = false;
        for (form, own) in forms.iter_mut().zip(&own) {
            let keeps = |(key, value): (&String, &String)| own.get(key).is_none_or(|known| known == value);
            if entry.iter().all(keeps) {
                form.extend(entry.clone());
                fits_one = true;
            }
        }
        if !fits_one {
            forms.push(entry);
        }
    }
}

fn version_of(form: &FormOf) -> Option<&str> {
    PYTHON_KEYS
        .iter()
        .find_map(|key| form.get(&format!("matrix.{key}")))
        .map(String::as_str)
}

fn insert(form: &mut FormOf, key: &str, value: &Value) {
    match &value.kind {
        Kind::Text(text) => {
            form.insert(format!("matrix.{key}"), text.clone());
        }
        Kind::Table(_) => {
            for (inner, _, value) in value.entries() {
                insert(form, &format!("{key}.{inner}"), value);
            }
        }
        _ => {}
    }
}

fn is_other_system(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.starts_with("windows") || lower.starts_with("macos") || lower.starts_with("pypy")
}

/// Fills in `${{ matrix.x }}`; `None` when the text has something else to fill in.
fn fill(text: &str, form: &FormOf) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let (name, after) = after.split_once("}}")?;
        out.push_str(before);
        // `matrix.tox || format(…)`: the first that has a value.
        let value = name.split("||").map(str::trim).find_map(|name| form.get(name))?;
        out.push_str(value);
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// The text with everything filled in that can be; the rest stays as it is.
fn fill_some(text: &str, form: &FormOf) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${{") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let end = after.find("}}").map_or(after.len(), |end| end + 2);
        let (whole, after) = after.split_at(end);
        match fill(whole, form) {
            Some(value) => out.push_str(&value),
            None => out.push_str(whole),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What an `env` table sets: where, the name, the value.
fn variables(file: &str, table: Option<&Value>, form: &FormOf) -> Vec<(Place, String, String)> {
    let entries = table.into_iter().flat_map(Value::entries);
    let set = entries.filter_map(|(name, line, value)| {
        let value = value.text().and_then(|text| fill(text, form))?;
        Some((Place::new(file, line), name.to_owned(), value))
    });
    set.collect()
}

fn set(steps: &mut Vec<Step>, environment: &mut FormOf, place: Place, name: String, value: String) {
    environment.insert(name.clone(), value.clone());
    let act = Act::Env(name, value);
    steps.push(Step { place, act });
}

/// The steps of a script, as they are for one form of a job, with what is set where it runs.
pub(super) fn run_text(file: &str, run: &Value, form: &FormOf, environment: &FormOf, steps: &mut Vec<Step>) {
    let Some(text) = run.text() else { return };
    let place = |offset| Place::new(file, run.line + offset);
    steps.extend(conditions::steps(&fill_some(text, form), environment, &place));
}

/// Takes in what a step sets for those after it.
fn later(steps: &[Step], environment: &mut FormOf, form: &mut FormOf) {
    for step in steps {
        if let Act::Env(name, value) = &step.act
            && !value.contains(['$', '\0'])
        {
            environment.insert(name.clone(), value.clone());
            form.insert(format!("env.{name}"), value.clone());
        }
    }
}

/// Actions that install something by themselves.
fn action(file: &str, step: &Value, form: &FormOf, steps: &mut Vec<Step>) {
    let Some(uses) = step.at(&["uses"]) else { return };
    let name = uses.text().and_then(|text| text.split('@').next()).unwrap_or("");
    let input = |key: &str| step.text_at(&["with", key]).map(|text| fill_some(text, form));
    let place = Place::new(file, uses.line);
    if let Some(acts) = conda::action(name, &input) {
        steps.extend(acts.into_iter().map(|act| Step {
            place: place.clone(),
            act,
        }));
        return;
    }
    let text = match name {
        "py-actions/py-dependency-install" => input("path").map(|path| format!("pip install -r {path}")),
        "awalsh128/cache-apt-pkgs-action" => {
            input("packages").map(|packages| format!("apt-get install {packages}"))
        }
        _ => None,
    };
    for command in text.iter().flat_map(|text| commands(text)) {
        steps.extend(acts(&command.words).into_iter().map(|act| Step {
            place: place.clone(),
            act,
        }));
    }
}

/// Whether a step's condition holds on Linux for this form, as far as it is plain; what is not understood holds.
fn holds(condition: &str, form: &FormOf) -> bool {
    condition.split("&&").all(|part| {
        let part = part
            .trim()
            .trim_start_matches("${{")
            .trim_end_matches("}}")
            .trim();
        if part.contains("||") {
            return true;
        }
        let lower = part.to_ascii_lowercase();
        if let Some((left, right)) = part.split_once("==").or_else(|| part.split_once("!=")) {
            let equal = part.contains("==");
            let known = match left.trim() {
                "runner.os" => Some("Linux"),
                name => form.get(name).map(String::as_str),
            };
            let right = right.trim().trim_matches(['\'', '"']);
            return known.is_none_or(|known| (known == right) == equal);
        }
        if let Some(inner) = lower.strip_prefix("startswith(") {
            return !["windows", "macos"].iter().any(|system| inner.contains(system));
        }
        if let Some(inner) = lower.strip_prefix("!startswith(") {
            return !inner.contains("ubuntu");
        }
        !matches!(lower.as_str(), "failure()" | "false" | "cancelled()")
    })
}

#[cfg(test)]
#[path = "workflows_tests.rs"]
mod tests;
