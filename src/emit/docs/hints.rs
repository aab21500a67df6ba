//! Names that a task's tests need and its documentation does not tell: an optional help at evaluation.
//!
//! Doc2Feat-Bench, section 2.1.5: entity names (function, class, method, field, parameter, module path, error message) new
//! in the gold patch, used by the test patch, absent from the documentation. Told from definitions, not from substrings:
//! what is local to a function is no entity.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::{defined, used};
use crate::domain::path::RepoPath;

/// A name that is hinted at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hint {
    /// What it names.
    pub kind: HintKind,
    /// The name; for an error message, its text.
    pub name: String,
}

/// What a hint names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HintKind {
    /// A module.
    Module,
    /// A class.
    Class,
    /// A function of a module.
    Function,
    /// A function of a class.
    Method,
    /// A variable of a module, a class or an object.
    Field,
    /// A parameter.
    Parameter,
    /// The text of an error.
    Message,
}

/// A Python file before and after the change; `None` where it was not, or is no longer.
#[derive(Debug, Clone)]
pub struct SourcePair {
    /// Its path after the change.
    pub path: RepoPath,
    /// Its text before.
    pub before: Option<String>,
    /// Its text after.
    pub after: Option<String>,
}

/// The hints of a task: what `gold` newly defines, `tests` use after the change and did not before, and `statement` does
/// not hold as a word.
pub fn hints(gold: &[SourcePair], tests: &[SourcePair], statement: &str) -> Vec<Hint> {
    let mut old: BTreeSet<Hint> = BTreeSet::new();
    let mut new: BTreeSet<Hint> = BTreeSet::new();
    for pair in gold {
        old.extend(pair.before.as_deref().map(defined).unwrap_or_default());
        new.extend(pair.after.as_deref().map(defined).unwrap_or_default());
        if pair.before.is_none()
            && let Some(module) = module(&pair.path)
        {
            new.insert(Hint {
                kind: HintKind::Module,
                name: module,
            });
        }
    }
    // A name that moves from one file to another is not new, whatever it names now.
    let known: BTreeSet<&str> = old.iter().map(|hint| hint.name.as_str()).collect();
    let (mut names, mut modules, mut shown) = (BTreeSet::new(), BTreeSet::new(), vec![]);
    for pair in tests {
        let found = pair.after.as_deref().map(used).unwrap_or_default();
        names.extend(found.names);
        modules.extend(found.modules);
        shown.extend(found.texts);
    }
    let statement = &words(statement);
    let told: BTreeSet<&str> = statement
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let mut hints: BTreeMap<String, Hint> = BTreeMap::new();
    for hint in new.into_iter().filter(|hint| !known.contains(hint.name.as_str())) {
        let (is_used, is_told) = match hint.kind {
            HintKind::Module => (
                modules
                    .iter()
                    .any(|module| *module == hint.name || module.starts_with(&format!("{}.", hint.name))),
                statement.contains(&hint.name),
            ),
            HintKind::Message => {
                let long = hint.name.split_whitespace().count() >= 2;
                let holds = |text: &String| {
                    let plain = text.replace('\\', "");
                    plain.len() >= 8 && (plain.contains(&hint.name) || hint.name.contains(&plain))
                };
                (long && shown.iter().any(holds), statement.contains(&hint.name))
            }
            _ => (names.contains(&hint.name), told.contains(hint.name.as_str())),
        };
        if is_used && !is_told {
            // One line a name: the first kind in order is the one that says most.
            hints.entry(hint.name.clone()).or_insert(hint);
        }
    }
    let mut hints: Vec<Hint> = hints.into_values().collect();
    hints.sort();
    hints
}

/// A statement without what is no documentation's word: the heads of files, with their paths.
fn words(statement: &str) -> String {
    let mut in_head = false;
    let mut words = String::with_capacity(statement.len());
    for line in statement.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            in_head = true;
        } else if line.starts_with("@@ ") {
            in_head = false;
        }
        if !in_head {
            words.push_str(line);
        }
    }
    words
}

/// A module's name by its path: `src/pkg/a.py` is `pkg.a`.
fn module(path: &RepoPath) -> Option<String> {
    let text = path.to_str()?.strip_suffix(".py")?;
    let text = ["src/", "lib/", "python/"]
        .iter()
        .find_map(|folder| text.strip_prefix(folder))
        .unwrap_or(text);
    let text = text.strip_suffix("/__init__").unwrap_or(text);
    Some(text.replace('/', "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(path: &str, before: Option<&str>, after: &str) -> SourcePair {
        SourcePair {
            path: RepoPath::from(path.as_bytes()),
            before: before.map(str::to_owned),
            after: Some(after.to_owned()),
        }
    }

    fn told(gold: &[SourcePair], tests: &str, statement: &str) -> String {
        let found = hints(gold, &[pair("tests/test_a.py", None, tests)], statement);
        let one = |hint: &Hint| {
            format!(
                "{} {}",
                serde_json::to_value(hint.kind).unwrap().as_str().unwrap(),
                hint.name
            )
        };
        found.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn new_used_and_untold_names_are_hints() {
        let before = "def old(x):\n    pass\n";
        let after = "LIMIT = 3\ndef old(x, strict=False):\n    inner = 1\n    def local(): pass\n    raise ValueError('not a good value')\n\
            class Plan:\n    size: int = 2\n    def run(self, steps):\n        self.state = 1\n";
        let gold = [
            pair("src/pkg/a.py", Some(before), after),
            pair("src/pkg/b.py", None, "def helper(): pass\n"),
        ];
        let tests = "from pkg.b import helper\nimport pkg\ninner = local = 1\npkg.old(1, strict=True)\nPlan().run(steps=2).state\nsize, LIMIT\n\
            with raises(ValueError, match='not a good'): pass\n";
        assert_eq!(
            told(&gold, tests, "Use `Plan` and ``LIMIT``."),
            "module pkg.b, function helper, method run, field size, field state, parameter steps, parameter strict, message not a good value"
        );
        assert_eq!(
            told(
                &gold,
                tests,
                "Plan LIMIT helper run size state steps strict pkg.b not a good value"
            ),
            ""
        );
        assert_eq!(told(&gold, "x = 1\n", ""), "");
    }

    #[test]
    fn what_a_text_names_to_reach_it_is_used() {
        let gold = [pair(
            "src/pkg/main.py",
            Some(""),
            "def _start(): pass\ndef stop(): pass\ndef turn(): pass\ndef idle(): pass\n",
        )];
        let tests = "def test(monkeypatch, mocker):\n    monkeypatch.setattr('pkg.main._start', None)\n    \
            mocker.patch.object(main, 'stop')\n    patch(target='pkg.main.turn')\n    print('idle', 'pkg.main.idle')\n";
        assert_eq!(
            told(&gold, tests, ""),
            "function _start, function stop, function turn"
        );
    }

    #[test]
    fn a_path_tells_no_name() {
        let gold = [pair("src/pkg/a.py", Some(""), "def felt(): pass\n")];
        let statement = |words: &str| {
            format!(
                "diff --git a/docs/felt.rst b/docs/felt.rst\nrename from felt.rst\n--- /dev/null\n+++ b/docs/felt.rst\n@@ -0,0 +1 @@\n+{words}\n"
            )
        };
        assert_eq!(told(&gold, "felt()\n", &statement("New")), "function felt");
        assert_eq!(told(&gold, "felt()\n", &statement("Call `felt`")), "");
    }

    #[test]
    fn what_moved_is_not_new() {
        let gold = [
            pair("a.py", Some("def f(): pass\n"), ""),
            pair("b.py", Some(""), "def f(): pass\ndef g(): pass\n"),
        ];
        assert_eq!(told(&gold, "f()\ng()\n", ""), "function g");
    }
}
