//! Travis's and Azure's files: steps without a job's frame.

use super::command::assignment;
use super::conditions;
use super::interpreters::{Minor, minor_of};
use super::plan::{Act, Elsewhere, Plan, Source, Step};
use super::shell::commands;
use super::workflows::{FormOf, PLANS, run_text};
use crate::domain::settings::Place;
use crate::domain::settings::value::{Kind, Value};

pub(super) fn travis_jobs(document: &Value) -> impl Iterator<Item = &Value> {
    let paths: [&[&str]; 3] = [&["matrix", "include"], &["jobs", "include"], &["jobs"]];
    paths
        .into_iter()
        .filter_map(|path| document.at(path))
        .flat_map(Value::members)
}

/// Travis: one plan of the file's own steps, and one of each job that has steps or variables of its own.
pub(super) fn travis(file: &str, document: &Value, python: Minor) -> Vec<Plan> {
    let own = [document];
    let jobs = travis_jobs(document).filter(|job| {
        let version = job.text_at(&["python"]).and_then(minor_of);
        let system = job.text_at(&["os"]).is_none_or(|system| system == "linux");
        system && version.is_none_or(|version| version == python)
    });
    let mut plans: Vec<Plan> = Vec::new();
    for job in own.into_iter().chain(jobs) {
        let mut form = FormOf::new();
        form.insert("TRAVIS_PYTHON_VERSION".to_owned(), format!("3.{python}"));
        let mut steps = Vec::new();
        let env = job.at(&["env"]).or_else(|| document.at(&["env"]));
        let shared = [document.at(&["env", "global"])];
        let first = env.and_then(|env| {
            env.members()
                .find(|member| member.text().is_some())
                .or_else(|| env.at(&["matrix"])?.members().next())
        });
        for (text, line) in shared
            .into_iter()
            .flatten()
            .flat_map(Value::texts)
            .chain(first.into_iter().flat_map(Value::texts))
        {
            for command in commands(text) {
                for (name, value) in command.words.iter().filter_map(|word| assignment(word)) {
                    form.insert(name.to_owned(), value.to_owned());
                    let act = if name == "TOXENV" {
                        Act::Go(Elsewhere::Tox(value.split(',').map(str::to_owned).collect()))
                    } else {
                        Act::Env(name.to_owned(), value.to_owned())
                    };
                    steps.push(Step {
                        place: Place::new(file, line),
                        act,
                    });
                }
            }
        }
        for (name, line) in document
            .at(&["addons", "apt", "packages"])
            .into_iter()
            .flat_map(Value::texts)
        {
            steps.push(Step {
                place: Place::new(file, line),
                act: Act::System(name.to_owned()),
            });
        }
        for key in ["before_install", "install", "before_script", "script"] {
            let value = job.at(&[key]).or_else(|| document.at(&[key]));
            for (text, line) in value.into_iter().flat_map(Value::texts) {
                let place = |offset| Place::new(file, line + offset);
                steps.extend(conditions::steps(text, &form, &place));
            }
        }
        let plan = Plan {
            source: Source::Job,
            name: job.text_at(&["name"]).unwrap_or("travis").to_owned(),
            place: Place::new(file, job.line),
            steps,
            worth: 90,
        };
        if plans.len() < PLANS && !plans.iter().any(|known| known.steps == plan.steps) {
            plans.push(plan);
        }
    }
    plans
}

/// Azure: every script of the file, in order, as one plan.
pub(super) fn azure(file: &str, document: &Value) -> Vec<Plan> {
    let mut steps = Vec::new();
    scripts(file, document, &mut steps, 0);
    if steps.is_empty() {
        return vec![];
    }
    vec![Plan {
        source: Source::Job,
        name: "azure".to_owned(),
        place: Place::new(file, 1),
        steps,
        worth: 60,
    }]
}

fn scripts(file: &str, value: &Value, steps: &mut Vec<Step>, depth: usize) {
    if depth > 12 {
        return;
    }
    for (key, _, inner) in value.entries() {
        if matches!(key, "script" | "bash") {
            run_text(file, inner, &FormOf::new(), &FormOf::new(), steps);
        }
        scripts(file, inner, steps, depth + 1);
    }
    if let Kind::List(list) = &value.kind {
        for inner in list {
            scripts(file, inner, steps, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::build::detect::tests::{of, short};

    fn first(travis: &str, more: &[(&str, &str)]) -> String {
        let files = [("setup.py", "setup(name='pantry')\n"), (".travis.yml", travis)];
        let detected = of(&[&files[..], more].concat(), "2019-06-01T00:00:00Z");
        short(&detected).lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn variables_of_a_line_choose_what_is_installed() {
        let travis = "language: python\npython:\n  - \"3.6\"\n  - \"3.7\"\nenv:\n  global:\n    - DB=sqlite\n  matrix:\n    \
                      - DJANGO='Django>=2.2,<3.0' DJANGO_OPTIONAL=no\n    - DJANGO='Django>=1.11,<2.0'\ninstall:\n  \
                      - pip install $DJANGO\n  - if [[ $DJANGO_OPTIONAL == yes ]]; then pip install optional; fi\n  \
                      - if [[ $TRAVIS_PYTHON_VERSION == 2.7 ]]; then pip install mock; fi\n  - pip install -e .[test]\n\
                      script:\n  - pytest tests\n";
        assert_eq!(
            first(travis, &[]),
            "detected-3.7-job-travis: Django>=2.2,<3.0 | pytest | -e .[test] DB=sqlite DJANGO=Django>=2.2,<3.0 DJANGO_OPTIONAL=no"
        );
    }

    #[test]
    fn a_job_of_the_list_goes_to_its_tox_environment() {
        let travis = "language: python\ninstall: pip install tox\nscript: tox\njobs:\n  include:\n    - python: '3.7'\n      \
                      env: TOXENV=py37-extra\n    - python: '3.7'\n      os: osx\n      env: TOXENV=py37\n    - stage: deploy\n      \
                      python: '3.6'\n      script: skip\n";
        let tox = "[tox]\nenvlist = py37-{extra,plain}\n[testenv]\ndeps =\n    pytest\n    extra: six\ncommands = pytest {posargs}\n";
        assert_eq!(
            first(travis, &[("tox.ini", tox)]),
            "detected-3.7-job-travis: pytest | six | -e ."
        );
    }
}
