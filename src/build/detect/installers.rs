//! What pip and the projects' managers are told to install, and what tox, nox and apt are told.

use super::plan::{Act, Wanted};

/// What automation installs for itself: the runner of the tests' environment, and where results are sent.
const OWN_TOOLS: &[&str] = &[
    "pip",
    "tox",
    "tox-gh-actions",
    "tox-gh",
    "tox-uv",
    "tox-travis",
    "tox-venv",
    "tox-pdm",
    "tox-pipenv",
    "nox",
    "virtualenv",
    "uv",
    "poetry",
    "pdm",
    "pipenv",
    "hatch",
    "codecov",
    "coveralls",
    "python-coveralls",
    "codacy-coverage",
    "twine",
    "pre-commit",
    "pipx",
];

/// `pip install …` as install lines, one item each.
pub(super) fn pip(words: &[&str]) -> Vec<Act> {
    let Some(at) = words.iter().position(|word| *word == "install") else {
        return vec![];
    };
    install_words(&words[at + 1..])
        .into_iter()
        .map(Act::Install)
        .collect()
}

/// The items of pip's argument list, in pip's language: options that belong to a value stay with it, others go.
pub(super) fn install_words(words: &[&str]) -> Vec<String> {
    let mut items = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => (option, Some(value.to_owned())),
            _ if word.starts_with('-')
                && !word.starts_with("--")
                && word.len() > 2
                && word.is_char_boundary(2) =>
            {
                (&word[..2], Some(word[2..].trim_start_matches('=').to_owned()))
            }
            _ => (*word, None),
        };
        let joined_or_next = |words: &mut std::slice::Iter<'_, &str>| {
            joined
                .clone()
                .or_else(|| words.next().map(|word| (*word).to_owned()))
        };
        match option {
            "-r" | "--requirement" | "-c" | "--constraint" | "-e" | "--editable" | "--group" | "--extra" => {
                let Some(value) = joined_or_next(&mut words) else {
                    continue;
                };
                let value = clean(&value);
                if value.contains(['$', '{', '*']) {
                    continue;
                }
                items.push(match option {
                    "-r" | "--requirement" => format!("-r {value}"),
                    "-c" | "--constraint" => format!("-c {value}"),
                    "--group" => format!("--group {value}"),
                    "--extra" => super::requirement::project_line([value.as_str()]),
                    _ => editable(&value),
                });
            }
            "-i" | "--index-url" | "--extra-index-url" | "-f" | "--find-links" | "--trusted-host"
            | "--no-binary" | "--only-binary" | "--use-feature" | "-t" | "--target" | "--prefix"
            | "--python" | "-p" | "--index" | "--index-strategy" | "--config-settings" | "--prerelease"
            | "--resolution" | "--upgrade-strategy" | "--cache-dir" | "--default-timeout" | "--timeout"
            | "--retries" | "--progress-bar" => {
                joined_or_next(&mut words);
            }
            option if option.starts_with('-') => {}
            word => {
                let word = clean(word);
                let is_own = word.starts_with('.') && !word.contains('*') && !word.contains("dist/");
                if is_own {
                    items.push(editable(&word));
                } else if super::requirement::is_requirement(&word)
                    || (word.contains("egg=") && !word.contains('$'))
                    || (word.contains(['/']) && !word.contains(['*', '$', '{']) && !word.contains("dist"))
                {
                    let name = super::requirement::parts(&word).map(|parts| parts.name);
                    if !name.is_some_and(|name| OWN_TOOLS.contains(&name.as_str())) {
                        items.push(if word.contains('/') && !word.contains("://") {
                            editable(&word)
                        } else {
                            word
                        });
                    }
                }
            }
        }
    }
    items
}

fn clean(word: &str) -> String {
    word.replace("{toxinidir}/", "")
        .replace("{toxinidir}", ".")
        .replace("$(pwd)", ".")
        .replace("$PWD", ".")
}

/// `-e .[a]` for `.[a]`, `./[a]`; a path of its own otherwise.
fn editable(path: &str) -> String {
    let path = path.trim();
    if let Some(extras) = path.strip_prefix("./[").or_else(|| path.strip_prefix(".[")) {
        return super::requirement::project_line(extras.trim_end_matches(']').split(',').map(str::trim));
    }
    if matches!(path, "." | "./") {
        return "-e .".to_owned();
    }
    format!("-e {path}")
}

/// `--group a`, `-G a,b`, `-dGtest`, `--extra a`, `--all-groups`, `--no-default-groups` …
pub(super) fn wanted(words: &[&str], defaults: bool) -> Wanted {
    let mut wanted = Wanted {
        defaults,
        ..Wanted::default()
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, joined) = word
            .split_once('=')
            .map_or((*word, None), |(option, value)| (option, Some(value)));
        // `-dGtest`, `-Gtest`
        let bundled = option
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'))
            .and_then(|rest| rest.split_once('G'));
        if let Some((_, value)) = bundled {
            let value = if value.is_empty() {
                words.next().copied().unwrap_or("")
            } else {
                value
            };
            wanted.add(value);
            continue;
        }
        match option {
            "--group" | "--extra" | "--only-group" | "--with" | "-E" => {
                let value = joined.or_else(|| words.next().copied()).unwrap_or("");
                wanted.add(value);
                wanted.without_project |= option == "--only-group";
                wanted.defaults &= option != "--only-group";
            }
            "--all-groups" => wanted.all_groups = true,
            "--all-extras" => wanted.all_extras = true,
            "--no-default-groups" | "--no-default" | "--prod" | "--production" | "--no-dev" => {
                wanted.defaults = false;
            }
            "--no-self" | "--no-install-project" => wanted.without_project = true,
            _ => {}
        }
    }
    wanted
}

impl Wanted {
    fn add(&mut self, names: &str) {
        for name in names
            .split([',', ' '])
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            match name {
                ":all" => {
                    self.all_groups = true;
                    self.all_extras = true;
                }
                name if name.contains(['$', '{', '*']) => {}
                name => self.sets.push(name.to_owned()),
            }
        }
    }
}

pub(super) fn poetry(words: &[&str]) -> Wanted {
    let mut wanted = wanted(words, true);
    let value = |option: &str| {
        let at = words
            .iter()
            .position(|word| word.split('=').next() == Some(option))?;
        words[at]
            .split_once('=')
            .map(|(_, value)| value)
            .or_else(|| words.get(at + 1).copied())
    };
    if let Some(names) = value("--extras") {
        wanted.add(names);
    }
    if let Some(names) = value("--only") {
        wanted.defaults = false;
        if !names.split(',').any(|name| name == "main") {
            wanted.without_project = true;
        }
        wanted.add(names);
        wanted.sets.retain(|name| name != "main");
    }
    wanted.without_project |= words.contains(&"--no-root");
    wanted
}

pub(super) fn flit(words: &[&str]) -> Wanted {
    let extras = words
        .iter()
        .position(|word| *word == "--extras")
        .and_then(|at| words.get(at + 1));
    let mut wanted = Wanted::default();
    match extras {
        Some(names) => wanted.add(names),
        None => wanted.all_extras = !words.contains(&"--deps=production"),
    }
    wanted
}

/// `pipenv install --dev`, `pipenv install -r requirements.txt pytest`.
pub(super) fn pipenv(words: &[&str]) -> Vec<Act> {
    let development = words
        .iter()
        .any(|word| matches!(*word, "--dev" | "-d" | "--dev-only"));
    let set = if development {
        super::pipfile::DEVELOPMENT
    } else {
        super::pipfile::PACKAGES
    };
    let wanted = Wanted {
        sets: vec![set.to_owned()],
        without_project: true,
        ..Wanted::default()
    };
    let named = install_words(words).into_iter().map(Act::Install);
    std::iter::once(Act::Project(wanted)).chain(named).collect()
}

/// The environments or sessions that tox or nox is told: `-e a,b`, `--session=tests-3.11`, `run -e py`.
pub(super) fn environments(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, joined) = word
            .split_once('=')
            .map_or((*word, None), |(option, value)| (option, Some(value)));
        match option {
            "--" => break,
            "-e" | "-s" | "--session" | "--sessions" | "-t" | "--env" => {
                let value = joined.or_else(|| words.next().copied()).unwrap_or("");
                found.extend(
                    value
                        .split(',')
                        .map(|name| name.trim().to_owned())
                        .filter(|name| !name.is_empty()),
                );
            }
            option if option.starts_with("-e") && !option.starts_with("--") => {
                found.extend(option[2..].split(',').map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}

/// The packages of `apt-get install …`.
pub(super) fn system(words: &[&str]) -> Vec<Act> {
    let Some(at) = words.iter().position(|word| *word == "install") else {
        return vec![];
    };
    let plain = |word: &&&str| {
        !word.starts_with('-')
            && word
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.:=~".contains(&b))
    };
    let name = |word: &&str| Act::System(word.split('=').next().unwrap_or(word).to_owned());
    words[at + 1..].iter().filter(plain).map(name).collect()
}
