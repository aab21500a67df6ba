//! What runs the tests, and with which arguments.
//!
//! Quarry takes outcomes from pytest, from unittest, and from programs that hand their suite to unittest's runner (Django's
//! `tests/runtests.py`, `manage.py test`). Where a project has another way (`bin/test`, nose, trial), pytest is run in its
//! place, and what is said of it says so.

use std::collections::BTreeSet;

use super::follow::Flow;
use super::needs::{Needs, is_test_file};
use super::options;
use super::plan::Tool;
use super::proposal::{FactKind, Found, Origin, Tree};
use crate::domain::settings::Place;
use crate::recipe::model::{Runner, Verification};

/// Where programs that run a tree's tests lie when nothing says how they are run.
const SCRIPTS: &[&str] = &["tests/runtests.py", "runtests.py", "test/runtests.py"];
/// A larger script is none that only starts tests.
const LARGEST: usize = 256 * 1024;

/// A runner, its arguments, and why.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) runner: Runner,
    pub(super) args: Vec<String>,
    pub(super) because: Vec<Origin>,
    pub(super) notes: Vec<String>,
}

/// How a command of the project runs tests, once the tree is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// By pytest.
    Pytest,
    /// By unittest.
    Unittest,
    /// By a program of the project's that uses unittest: its path, or `-m`.
    Script(String),
    /// By something that Quarry takes no outcomes from.
    Own(String),
}

fn way(tree: &Tree<'_>, tool: &Tool) -> Way {
    match tool {
        Tool::Pytest => Way::Pytest,
        Tool::Unittest => Way::Unittest,
        Tool::Script(name) if name == "-m" => Way::Script(name.clone()),
        Tool::Script(name) => {
            find(tree, name).map_or_else(|| Way::Own(name.clone()), |path| of_script(tree, path))
        }
        Tool::Other(name) => Way::Own(name.clone()),
    }
}

/// The file that a script's name leads to: from the root, or the only one of that name near it (`cd tests` came before).
fn find<'a>(tree: &Tree<'a>, name: &str) -> Option<&'a str> {
    let end = format!("/{name}");
    let near =
        |path: &&str| path.ends_with(&end) && path.matches('/').count() <= end.matches('/').count() + 1;
    let exact = tree.names_of().find(|path| *path == name);
    exact.or_else(|| {
        let mut found = tree.names_of().filter(near);
        found.next().filter(|_| found.next().is_none())
    })
}

/// What a script hands its tests to, by the names it uses.
fn of_script(tree: &Tree<'_>, path: &str) -> Way {
    let text = tree
        .text(path)
        .filter(|text| text.len() <= LARGEST)
        .unwrap_or_default();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&[
        "pytest.main",
        "'pytest'",
        "\"pytest\"",
        "'py.test'",
        "\"py.test\"",
        "-m pytest",
    ]) {
        Way::Pytest
    } else if has(&[
        "get_runner",
        "DiscoverRunner",
        "DjangoTestSuiteRunner",
        "execute_from_command_line",
        "call_command",
        "execute_manager",
        "TextTestRunner",
        "unittest.main",
        "run_tests(",
    ]) {
        Way::Script(path.to_owned())
    } else {
        Way::Own(path.to_owned())
    }
}

/// A way that a plan runs its tests.
type Ran<'a> = (Way, &'a [String], &'a Place);

fn ways<'a>(tree: &Tree<'_>, flow: &'a Flow) -> Vec<Ran<'a>> {
    let ways = flow
        .runs
        .iter()
        .map(|(tool, words, place)| (way(tree, tool), words.as_slice(), place));
    ways.collect()
}

/// pytest where it is run; else unittest, if that is run and pytest is not configured; else a program that is run; where
/// nothing is run and pytest is not configured, the program that the tree has for it; else pytest.
pub(super) fn choose(tree: &Tree<'_>, flow: &Flow, needs: &Needs) -> Chosen {
    let ways = ways(tree, flow);
    let first = |wanted: &Way| ways.iter().find(|(way, ..)| way == wanted);
    if let Some((.., place)) = first(&Way::Pytest) {
        return pytest(tree, &ways, needs, Some(place), "this is how it is run there");
    }
    if let Some((_, words, place)) = first(&Way::Unittest).filter(|_| needs.configured.is_none()) {
        return unittest(words, place);
    }
    let script = ways.iter().find_map(|(way, words, place)| match way {
        Way::Script(path) => Some((path.as_str(), *words, *place)),
        _ => None,
    });
    if let Some((path, words, place)) = script {
        return program(
            tree,
            path,
            words,
            place,
            "it runs them there, and hands them to unittest",
        );
    }
    if let Some((_, _, place)) = first(&Way::Unittest) {
        let why = "unittest runs them there; pytest is configured, and runs tests of unittest, too";
        return pytest(
            tree,
            &ways,
            needs,
            Some(needs.configured.as_ref().unwrap_or(place)),
            why,
        );
    }
    if let Some((Way::Own(name), _, place)) = ways.first() {
        let why = format!(
            "`{name}` runs them there, and Quarry takes no outcomes from it: pytest is run in its place"
        );
        return pytest(tree, &ways, needs, Some(place), &why);
    }
    if let Some(place) = &needs.configured {
        return pytest(tree, &ways, needs, Some(place), "it is configured here");
    }
    let own = SCRIPTS
        .iter()
        .find(|path| tree.has(path) && matches!(of_script(tree, path), Way::Script(_)));
    if let Some(path) = own {
        let why = "the tree has it for this, and nothing says otherwise";
        return program(tree, path, &[], &Place::file(path), why);
    }
    let why = "nothing says otherwise, and it runs tests of unittest, too";
    pytest(tree, &ways, needs, None, why)
}

/// pytest in the place of a program: what is tried where that program brings nothing.
pub(super) fn instead(needs: &Needs) -> Chosen {
    let why = "it is tried in the place of the project's own program, in case that hands unittest nothing";
    Chosen {
        because: vec![origin("runner pytest", needs.configured.as_ref(), why)],
        runner: Runner::Pytest,
        args: Verification::default().args,
        notes: vec![],
    }
}

fn origin(what: impl Into<String>, place: Option<&Place>, why: impl Into<String>) -> Origin {
    Origin {
        what: what.into(),
        place: place.cloned(),
        why: why.into(),
    }
}

/// The arguments of every run, and those of the project's own that must stay.
fn pytest(tree: &Tree<'_>, ways: &[Ran<'_>], needs: &Needs, place: Option<&Place>, why: &str) -> Chosen {
    let mut chosen = Chosen {
        runner: Runner::Pytest,
        args: Verification::default().args,
        because: vec![origin("runner pytest", place, why)],
        notes: vec![],
    };
    for (words, place) in &needs.kept {
        let why = "it says which tests there are, or what they need: it stays when `addopts` is dropped";
        chosen.keep(words, place, why);
    }
    for (word, place) in &needs.dropped {
        chosen.notes.push(format!(
            "{place}: `{word}` of `addopts` is left out: it does not say which tests there are"
        ));
    }
    let runs: Vec<_> = ways
        .iter()
        .filter(|(way, ..)| *way == Way::Pytest)
        .map(|(_, words, place)| (options::of_pytest(words), *place))
        .collect();
    for (run, place) in &runs {
        for words in &run.kept {
            let everywhere = runs.iter().all(|(other, _)| other.kept.contains(words));
            // What selects must hold for all that is run; what tests need is needed by the first of them.
            let first = runs.first().is_some_and(|(other, _)| other.kept.contains(words));
            if everywhere || first && !options::selects(&words[0]) {
                chosen.keep(
                    words,
                    place,
                    "it says which tests the suite has, or what they need",
                );
            } else {
                chosen.notes.push(format!(
                    "{place}: `{}` is left out: pytest is run {} times there, and not each time with it",
                    words.join(" "),
                    runs.len()
                ));
            }
        }
        for word in &run.dropped {
            chosen.notes.push(format!(
                "{place}: `{word}` is left out: it does not say which tests there are"
            ));
        }
        if !run.named.is_empty()
            && !holds_all(
                tree,
                &runs.iter().flat_map(|(run, _)| &run.named).collect::<Vec<_>>(),
            )
        {
            chosen.notes.push(format!(
                "{place}: `{}` is all that is run there; what is run here is chosen for each candidate",
                run.named.join(" ")
            ));
        }
    }
    chosen
}

/// Whether these folders and modules hold every test module of the tree.
fn holds_all(tree: &Tree<'_>, named: &[&String]) -> bool {
    let inside = |path: &str| {
        named.iter().any(|name| {
            let name = name.trim_start_matches("./").trim_end_matches('/');
            matches!(name, "" | ".")
                || path == name
                || path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    tree.names_of()
        .filter(|path| is_test_file(path) && !path.ends_with("conftest.py"))
        .all(inside)
}

impl Chosen {
    fn keep(&mut self, words: &[String], place: &Place, why: &str) {
        if self.args.windows(words.len()).any(|known| known == words) {
            return;
        }
        self.args.extend(words.iter().cloned());
        self.because
            .push(origin(format!("argument {}", words.join(" ")), Some(place), why));
    }
}

/// unittest, and where its discovery is told to begin (`discover -s tests`).
fn unittest(words: &[String], place: &Place) -> Chosen {
    let mut chosen = Chosen {
        runner: Runner::Unittest,
        args: vec![],
        because: vec![origin(
            "runner unittest",
            Some(place),
            "this is how it is run there",
        )],
        notes: vec![],
    };
    if words.first().is_none_or(|word| word != "discover") {
        return chosen;
    }
    let options: Vec<String> = words[1..]
        .chunks_exact(2)
        .take_while(|pair| {
            matches!(
                pair[0].as_str(),
                "-s" | "-t" | "-p" | "--start-directory" | "--top-level-directory" | "--pattern"
            )
        })
        .flatten()
        .cloned()
        .collect();
    if !options.is_empty() {
        chosen.keep(&options, place, "tests are discovered there");
    }
    chosen
}

/// A program of the project's, with what it is told of settings and tags, and one process.
fn program(tree: &Tree<'_>, path: &str, words: &[String], place: &Place, why: &str) -> Chosen {
    // `manage.py test …`, `-m django test …`: the words up to the verb are the program's name.
    let verb = words.iter().position(|word| word == "test").filter(|at| *at < 2);
    let (head, words) = words.split_at(verb.map_or(0, |at| at + 1));
    let sorted = options::of_django(words);
    let mut args = vec![path.to_owned()];
    args.extend(head.iter().cloned());
    let mut chosen = Chosen {
        because: vec![origin(format!("runner {}", args.join(" ")), Some(place), why)],
        runner: Runner::Script,
        args,
        notes: vec![],
    };
    let forks = tree.text(path).is_some_and(|text| text.contains("--parallel"));
    if forks {
        let why = "outcomes are told by one process";
        chosen.keep(&["--parallel=1".to_owned()], &Place::file(path), why);
    }
    for words in &sorted.kept {
        chosen.keep(
            words,
            place,
            "it says which tests the suite has, or what they need",
        );
    }
    for word in sorted.dropped.iter().chain(&sorted.named) {
        chosen.notes.push(format!(
            "{place}: `{word}` is left out: what is run is chosen for each candidate"
        ));
    }
    chosen
}

/// The ways of running tests that are none of pytest's or unittest's own, as facts.
pub(super) fn facts(tree: &Tree<'_>, flow: &Flow) -> BTreeSet<Found> {
    let found = ways(tree, flow).into_iter().filter_map(|(way, words, place)| {
        let (value, why) = match way {
            Way::Script(path) if path == "-m" => (
                format!("-m {}", words.first().map_or("", String::as_str)),
                "it runs tests there; Quarry runs it by the runner `script`",
            ),
            Way::Script(path) => (path, "it runs tests there; Quarry runs it by the runner `script`"),
            Way::Own(name) => (name, "it runs tests there; Quarry takes no outcomes from it"),
            Way::Pytest | Way::Unittest => return None,
        };
        Some(Found {
            kind: FactKind::Runner,
            value,
            place: place.clone(),
            why: why.to_owned(),
        })
    });
    found.collect()
}
