//! What a run selects, from what the test patch touches.

use std::collections::BTreeSet;

use super::modules::TestModules;
use crate::domain::oracle::RanScope;
use crate::domain::path::RepoPath;
use crate::recipe::model::{Runner, Scope, Verification};

/// What a run of the tests is asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The runner's arguments, settings and selection, in order.
    pub args: Vec<String>,
    /// The modules and folders selected; empty for the whole suite.
    pub paths: Vec<String>,
    /// Modules to collect beside what the project's settings say of its suite.
    pub also: Vec<String>,
    /// What this is in an oracle's words.
    pub scope: RanScope,
}

/// Chooses what to run. `touched` are the test patch's files, `tree` all files of the tree once that patch is laid on,
/// `known` tells its test modules.
///
/// Scope `modules`: the touched files that are test modules. A touched file that is none (data, `conftest.py`, a helper)
/// points at the modules that read it: going up from its folder, the first that has a module named after the folder
/// below (`tests/functional/…` → `tests/test_functional.py`), else all test modules of the first folder that has any;
/// nothing more when one of these is touched itself. A `conftest.py` alone points at everything below its folder.
///
/// `None` when that finds nothing to run.
pub fn select(
    touched: &[RepoPath],
    tree: &BTreeSet<RepoPath>,
    settings: &Verification,
    known: &TestModules,
) -> Option<Selection> {
    let paths = match settings.scope {
        Scope::Suite => BTreeSet::new(),
        Scope::Modules => {
            let paths = modules(touched, tree, known);
            if paths.is_empty() {
                return None;
            }
            paths
        }
    };
    let paths: Vec<String> = paths.into_iter().collect();
    Some(Selection {
        args: arguments(&paths, settings),
        paths,
        also: Vec::new(),
        scope: match settings.scope {
            Scope::Modules => RanScope::Modules,
            Scope::Suite => RanScope::Suite,
        },
    })
}

/// The whole suite in the place of `narrow`, when nothing that `narrow` selects was there `before` the test patch and
/// other test modules were: new modules hold no test that gold must not break.
pub fn widen(
    narrow: &Selection,
    before: &BTreeSet<RepoPath>,
    tree: &BTreeSet<RepoPath>,
    settings: &Verification,
    known: &TestModules,
) -> Option<Selection> {
    let old = |path: &String| {
        let below = format!("{path}/");
        before
            .iter()
            .filter_map(RepoPath::to_str)
            .any(|file| file == path || file.starts_with(&below))
    };
    let modules = |files: &BTreeSet<RepoPath>| -> Vec<String> {
        let names = files
            .iter()
            .filter_map(RepoPath::to_str)
            .filter(|path| known.has(path));
        names.map(str::to_owned).collect()
    };
    if narrow.paths.is_empty() || narrow.paths.iter().any(old) || modules(before).is_empty() {
        return None;
    }
    let args = match settings.runner {
        // What its suite is, a program knows by itself.
        Runner::Pytest | Runner::Script => arguments(&[], settings),
        // Discovery may pass over the new modules; every module by its name does not.
        Runner::Unittest => arguments(&modules(tree), settings),
    };
    Some(Selection {
        args,
        paths: Vec::new(),
        also: match settings.runner {
            Runner::Pytest => narrow.paths.clone(),
            Runner::Unittest | Runner::Script => Vec::new(),
        },
        scope: RanScope::Widened,
    })
}

/// The runner's arguments for tests by their ids, which are the run's wishes.
pub fn by_id(settings: &Verification) -> Vec<String> {
    match settings.runner {
        Runner::Pytest | Runner::Script => arguments(&[], settings),
        // A suite's arguments are for discovery.
        Runner::Unittest if settings.scope == Scope::Suite => Vec::new(),
        Runner::Unittest => without_discovery(&settings.args),
    }
}

fn arguments(paths: &[String], settings: &Verification) -> Vec<String> {
    let mut args = settings.args.clone();
    match settings.runner {
        Runner::Pytest => {
            // One module that cannot be collected must not hide what the others do.
            args.push("--continue-on-collection-errors".to_owned());
            args.extend(paths.iter().cloned());
        }
        Runner::Script => {
            let script = args.first().filter(|script| *script != "-m").cloned();
            let folder = folder(script.as_deref().unwrap_or(""));
            args.extend(paths.iter().map(|path| {
                // Python imports from the script's own folder.
                let inside = path
                    .strip_prefix(folder)
                    .and_then(|rest| rest.strip_prefix('/'))
                    .filter(|_| !folder.is_empty());
                dotted(inside.unwrap_or(path))
            }));
        }
        Runner::Unittest if paths.is_empty() => args.insert(0, "discover".to_owned()),
        Runner::Unittest => {
            args = without_discovery(&args);
            args.extend(paths.iter().map(|path| dotted(path)));
        }
    }
    args
}

/// A module's name, from where its path begins.
fn dotted(path: &str) -> String {
    path.trim_end_matches(".py").replace('/', ".")
}

/// The arguments that a run by names takes: those that say where and how to discover tests are errors there.
fn without_discovery(args: &[String]) -> Vec<String> {
    const OPTIONS: [&str; 6] = [
        "-s",
        "-t",
        "-p",
        "--start-directory",
        "--top-level-directory",
        "--pattern",
    ];
    let mut kept = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if OPTIONS.contains(&arg.as_str()) {
            args.next();
        } else if !OPTIONS
            .iter()
            .any(|option| arg.starts_with(&format!("{option}=")))
        {
            kept.push(arg.clone());
        }
    }
    kept
}

fn modules(touched: &[RepoPath], tree: &BTreeSet<RepoPath>, known: &TestModules) -> BTreeSet<String> {
    let text = |path: &RepoPath| path.to_str().map(str::to_owned);
    let present: Vec<String> = touched
        .iter()
        .filter(|path| tree.contains(*path))
        .filter_map(text)
        .collect();
    let mut chosen: BTreeSet<String> = present.iter().filter(|path| known.has(path)).cloned().collect();
    let all: BTreeSet<String> = tree
        .iter()
        .filter_map(text)
        .filter(|path| known.has(path))
        .collect();
    let direct = chosen.clone();
    // A deleted file still says where to look.
    for path in touched
        .iter()
        .filter_map(text)
        .filter(|path| !direct.contains(path))
    {
        if file_name(&path) == "conftest.py" {
            if direct.is_empty() {
                chosen.extend(below(folder(&path), &all));
            }
        } else {
            chosen.extend(nearest(&path, &all, &direct));
        }
    }
    chosen
}

/// The modules that most likely read the file `path`.
fn nearest(path: &str, all: &BTreeSet<String>, direct: &BTreeSet<String>) -> Vec<String> {
    let mut child = "";
    let mut current = folder(path);
    loop {
        let here: Vec<&String> = all.iter().filter(|module| folder(module) == current).collect();
        let named = |module: &&&String| !child.is_empty() && names(file_name(module), child);
        let by_name: Vec<String> = here
            .iter()
            .filter(named)
            .map(|module| (*module).clone())
            .collect();
        if !by_name.is_empty() {
            return by_name;
        }
        if here.iter().any(|module| direct.contains(*module)) {
            return Vec::new();
        }
        if !here.is_empty() {
            return here.into_iter().cloned().collect();
        }
        if current.is_empty() {
            return Vec::new();
        }
        child = file_name(current);
        current = folder(current);
    }
}

/// Whether the module's file name is made of `word`: `test_word.py`, `word_test.py`.
fn names(module: &str, word: &str) -> bool {
    let stem = module.trim_end_matches(".py");
    stem.strip_prefix("test_") == Some(word) || stem.strip_suffix("_test") == Some(word)
}

/// What holds every test module below `folder`: the folder itself, or at the root the folders of the modules.
fn below(within: &str, all: &BTreeSet<String>) -> Vec<String> {
    let inside = |module: &&String| within.is_empty() || module.starts_with(&format!("{within}/"));
    match all.iter().find(inside) {
        None => Vec::new(),
        Some(_) if !within.is_empty() => vec![within.to_owned()],
        Some(_) => all
            .iter()
            .map(|module| {
                module
                    .split_once('/')
                    .map_or(&**module, |(top, _)| top)
                    .to_owned()
            })
            .collect(),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests;
