//! What a command does, as far as testing is concerned: what it installs, and what it runs.

use super::conda;
use super::installers::{environments, flit, pip, pipenv, poetry, system, wanted};
use super::plan::{Act, Elsewhere, Tool};
use super::shell::FOR_LATER;

/// Programs that only start another one, with their own options left out.
const STARTERS: &[&[&str]] = &[
    &["sudo"],
    &["time"],
    &["then"],
    &["else"],
    &["do"],
    &["exec"],
    &["command"],
    &["xvfb-run"],
    &["env"],
    &["travis_retry"],
    &["uv", "run"],
    &["uvx"],
    &["pdm", "run"],
    &["poetry", "run"],
    &["pipenv", "run"],
    &["pipx", "run"],
    &["rye", "run"],
    &["hatch", "run"],
    &["coverage", "run"],
    &["python", "-m", "coverage", "run"],
    &["dbus-run-session"],
    &["catchsegv"],
    &["mprof", "run"],
    &["conda", "run"],
    &["mamba", "run"],
    &["micromamba", "run"],
];

/// Reads one simple command. Nothing that is known gives an empty list.
pub(super) fn acts(words: &[String]) -> Vec<Act> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut acts = Vec::new();
    loop {
        while let Some((name, value)) = words.first().and_then(|word| assignment(word)) {
            acts.push(Act::Env(name.to_owned(), value.to_owned()));
            words.remove(0);
        }
        if words
            .first()
            .is_some_and(|word| matches!(*word, "export" | "set"))
        {
            words.remove(0);
            if words.first().is_none_or(|word| assignment(word).is_none()) {
                return acts;
            }
            continue;
        }
        if let Some(script) = hatch_script(&words) {
            acts.push(script);
            return acts;
        }
        let Some((start, inner)) = started(&words) else {
            break;
        };
        if let Some(script) = manager_script(start, &inner) {
            acts.push(script);
        }
        words = inner;
    }
    acts.extend(simple(&words));
    acts
}

/// `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (named && !name.starts_with(|c: char| c.is_ascii_digit())).then_some((name, value))
}

/// The command that a starter starts: its options are passed over, a value that an option takes too.
fn started<'a>(words: &[&'a str]) -> Option<(&'static [&'static str], Vec<&'a str>)> {
    let head = |starter: &&[&str]| {
        words.len() >= starter.len()
            && starter
                .iter()
                .zip(words)
                .all(|(known, word)| known == word || *known == "python" && is_python(word))
    };
    let starter = STARTERS.iter().find(|starter| head(starter))?;
    let mut rest = &words[starter.len()..];
    let coverage = starter.contains(&"coverage");
    while let Some(word) = rest.first() {
        let takes = matches!(
            *word,
            "--python"
                | "-p"
                | "--with"
                | "--extra"
                | "--group"
                | "--env-file"
                | "--rcfile"
                | "--source"
                | "--spec"
                | "-s"
                | "--server-args"
        ) && !(coverage && *word == "-p")
            || is_conda(starter[0]) && matches!(*word, "-n" | "--name");
        match *word {
            "-m" if coverage => {
                let module = vec!["python"];
                return Some((starter, module.into_iter().chain(rest.iter().copied()).collect()));
            }
            word if word.starts_with('-') => rest = &rest[(1 + usize::from(takes)).min(rest.len())..],
            word if coverage && is_path(word) => {
                return Some((
                    starter,
                    std::iter::once("python").chain(rest.iter().copied()).collect(),
                ));
            }
            _ => break,
        }
    }
    Some((starter, rest.to_vec()))
}

fn is_conda(program: &str) -> bool {
    matches!(program, "conda" | "mamba" | "micromamba")
}

/// `pdm run test`: a name may be a script of the project.
fn manager_script(starter: &[&str], inner: &[&str]) -> Option<Act> {
    let by = matches!(starter, ["pdm" | "poetry" | "uv" | "rye" | "pipenv", "run"]);
    let name = inner.first().filter(|_| by)?;
    let name = if *name == "poe" || *name == "task" {
        inner.get(1)?
    } else {
        name
    };
    Some(Act::Go(Elsewhere::Script((*name).to_owned())))
}

/// `hatch run tests:cov`, `hatch test`, `hatch run cov`.
fn hatch_script(words: &[&str]) -> Option<Act> {
    let rest = words.strip_prefix(&["hatch"])?;
    let rest: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    let (environment, script) = match rest.as_slice() {
        ["test", ..] => ("hatch-test", "run"),
        ["run", script, ..] => script.split_once(':').unwrap_or(("", script)),
        _ => return None,
    };
    let environment = environment.trim_start_matches('+');
    Some(Act::Go(Elsewhere::Hatch(
        environment.to_owned(),
        script.to_owned(),
    )))
}

fn is_python(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.trim_end_matches(".exe");
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("py"));
    let by_name = version.is_some_and(|version| version.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    by_name
        || matches!(
            name,
            "{envpython}" | "$(PYTHON)" | "${PYTHON}" | "$PYTHON" | "$(PY)" | "$(python)"
        )
}

fn is_path(word: &str) -> bool {
    word.contains('/') || word.rsplit('.').next() == Some("py") && word.len() > 3
}

fn simple(words: &[&str]) -> Vec<Act> {
    let Some((program, rest)) = words.split_first() else {
        return vec![];
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match (name, rest) {
        (_, options) if is_python(program) => {
            // `python -W error -bb -m pytest`
            let mut rest = options;
            while let Some(word) = rest
                .first()
                .filter(|word| word.starts_with('-') && **word != "-m" && **word != "-c")
            {
                let takes = matches!(*word, "-W" | "-X");
                rest = &rest[(1 + usize::from(takes)).min(rest.len())..];
            }
            match rest {
                ["-m", module, more @ ..] => module_acts(module, more),
                ["setup.py", command, more @ ..] => setup_py(command, more),
                [script, "test", more @ ..] if script.rsplit('/').next() == Some("manage.py") => {
                    django(script.trim_start_matches("./"), &["test"], more)
                }
                [script, more @ ..] if is_path(script) => match script.rsplit('/').next() {
                    // `python {envsitepackagesdir}/coverage run …`
                    Some(module @ ("coverage" | "pytest" | "py.test")) => module_acts(module, more),
                    _ => script_acts(script, more),
                },
                _ => vec![],
            }
        }
        ("pip" | "pip2" | "pip3" | "$(PIP)", rest) | ("uv", ["pip", rest @ ..]) => pip(rest),
        ("uv", ["sync", rest @ ..]) | ("pdm", ["install" | "sync", rest @ ..]) => {
            vec![Act::Project(wanted(rest, true))]
        }
        ("uv", ["tool", "run", rest @ ..]) => simple(rest),
        ("poetry", ["install" | "sync", rest @ ..]) => vec![Act::Project(poetry(rest))],
        ("pipenv", ["install" | "sync" | "update", rest @ ..]) => pipenv(rest),
        ("rye", ["sync", ..]) => vec![Act::Project(wanted(&[], true))],
        ("flit", ["install", rest @ ..]) => vec![Act::Project(flit(rest))],
        ("pytest" | "py.test", rest) => vec![Act::Run(Tool::Pytest, owned(rest))],
        ("tox", rest) => vec![Act::Go(Elsewhere::Tox(environments(rest)))],
        ("nox", rest) => vec![Act::Go(Elsewhere::Nox(environments(rest)))],
        ("make" | "$(MAKE)" | "gmake", rest) => {
            let targets: Vec<_> = rest
                .iter()
                .filter(|word| !word.starts_with('-') && !word.contains('='))
                .collect();
            if targets.is_empty() {
                return vec![Act::Go(Elsewhere::Make(String::new()))];
            }
            targets
                .into_iter()
                .map(|target| Act::Go(Elsewhere::Make((*target).to_owned())))
                .collect()
        }
        ("source" | ".", ["activate", ..]) => conda::acts(rest),
        ("bash" | "sh" | "source" | ".", [script, ..]) if script.contains('.') => {
            vec![Act::Go(Elsewhere::Shell(
                script.trim_start_matches("./").to_owned(),
            ))]
        }
        (
            "nosetests" | "nose2" | "trial" | "stestr" | "ward" | "green" | "zope-testrunner" | "avocado"
            | "behave",
            _,
        ) => {
            vec![Act::Run(Tool::Other(name.to_owned()), owned(rest))]
        }
        ("django-admin" | "django-admin.py", ["test", more @ ..]) => django("-m", &["django", "test"], more),
        ("manage.py", ["test", more @ ..]) => django(program.trim_start_matches("./"), &["test"], more),
        ("apt-get" | "apt" | "aptitude", rest) => system(rest),
        (_, rest) if is_conda(name) => conda::acts(rest),
        // GitHub's way to set a variable for the steps that follow; the reader of shells leaves the mark.
        ("echo", [set, FOR_LATER]) => {
            let set = assignment(set).map(|(name, value)| Act::Env(name.to_owned(), value.to_owned()));
            set.into_iter().collect()
        }
        _ if is_path(program) && program.starts_with('.') || is_path(program) && name.contains("test") => {
            script_acts(program, rest)
        }
        _ => vec![],
    }
}

fn module_acts(module: &str, rest: &[&str]) -> Vec<Act> {
    match module {
        "pip" => pip(rest),
        "pytest" | "py.test" => vec![Act::Run(
            Tool::Pytest,
            rest.iter().map(|word| (*word).to_owned()).collect(),
        )],
        "unittest" => vec![Act::Run(
            Tool::Unittest,
            rest.iter().map(|word| (*word).to_owned()).collect(),
        )],
        "tox" | "nox" | "uv" | "pdm" | "poetry" | "pipenv" | "hatch" | "flit" | "nose2" | "stestr" => {
            let words: Vec<String> = std::iter::once(module)
                .chain(rest.iter().copied())
                .map(str::to_owned)
                .collect();
            acts(&words)
        }
        "django" if rest.first() == Some(&"test") => django("-m", &["django", "test"], &rest[1..]),
        "nose" => vec![Act::Run(Tool::Other("nosetests".to_owned()), vec![])],
        "twisted.trial" => vec![Act::Run(Tool::Other("trial".to_owned()), vec![])],
        "coverage" if rest.first() == Some(&"run") => {
            let words: Vec<String> = std::iter::once("coverage")
                .chain(rest.iter().copied())
                .map(str::to_owned)
                .collect();
            acts(&words)
        }
        _ => vec![],
    }
}

fn setup_py(command: &str, rest: &[&str]) -> Vec<Act> {
    match command {
        "develop" | "install" => vec![Act::Install("-e .".to_owned())],
        "pytest" => vec![Act::Run(Tool::Pytest, vec![])],
        "test" if rest.is_empty() => vec![Act::Run(Tool::Other("setup.py test".to_owned()), vec![])],
        "test" | "nosetests" => vec![Act::Run(Tool::Other(format!("setup.py {command}")), vec![])],
        _ => vec![],
    }
}

/// Django's own command for tests.
fn django(program: &str, verb: &[&str], rest: &[&str]) -> Vec<Act> {
    let words = verb.iter().chain(rest).map(|word| (*word).to_owned()).collect();
    vec![Act::Run(Tool::Script(program.to_owned()), words)]
}

/// A script of the tree: one that is called after tests runs them in a way of its own; one of the shell is read.
fn script_acts(script: &str, rest: &[&str]) -> Vec<Act> {
    let script = script.trim_start_matches("./");
    let name = script.rsplit('/').next().unwrap_or(script);
    let is_python = name.strip_suffix(".py").is_some();
    if (is_python || !name.contains('.')) && name.contains("test") {
        let rest = rest.iter().map(|word| (*word).to_owned()).collect();
        return vec![Act::Run(Tool::Script(script.to_owned()), rest)];
    }
    if is_python {
        return vec![];
    }
    vec![Act::Go(Elsewhere::Shell(script.to_owned()))]
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
