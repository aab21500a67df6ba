//! Which of the options that tests are run with stay: those that say which tests there are, or that they cannot run
//! without. What only shows, measures or hurries is left out in silence, and everything else with a note.

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It stays.
    Kept,
    /// It changes no outcome.
    Shown,
}

/// An option: its names, whether a value follows as a word of its own, what becomes of it.
type Known = (&'static [&'static str], bool, Fate);

/// pytest's, and its usual plugins'.
const PYTEST: &[Known] = &[
    (
        &[
            "-p",
            "-m",
            "-k",
            "-c",
            "--import-mode",
            "--ds",
            "--dc",
            "--asyncio-mode",
            "--ignore",
            "--ignore-glob",
            "--deselect",
            "--rootdir",
            "--confcutdir",
        ],
        true,
        Fate::Kept,
    ),
    (
        &[
            "--pyargs",
            "--nomigrations",
            "--no-migrations",
            "--disable-socket",
            "--allow-unix-socket",
            "--benchmark-disable",
            "--benchmark-skip",
        ],
        false,
        Fate::Kept,
    ),
    (
        &[
            "-n",
            "-r",
            "--numprocesses",
            "--dist",
            "--maxprocesses",
            "--tb",
            "--color",
            "--durations",
            "--durations-min",
            "--maxfail",
            "--junitxml",
            "--junit-xml",
            "--junit-prefix",
            "--html",
            "--basetemp",
            "--capture",
            "--cov-config",
            "--cov-report",
            "--cov-context",
            "--cov-fail-under",
            "--log-level",
            "--show-capture",
            "--timeout",
            "--timeout-method",
            "--verbosity",
            "--report-log",
            "--override-ini",
        ],
        true,
        Fate::Shown,
    ),
    (
        &[
            "--cov",
            "--no-cov",
            "--cov-append",
            "--cov-branch",
            "--strict",
            "--strict-markers",
            "--strict-config",
            "--showlocals",
            "--quiet",
            "--verbose",
            "--exitfirst",
            "--full-trace",
            "--no-header",
            "--no-summary",
            "--cache-clear",
            "--self-contained-html",
            "--new-first",
            "--failed-first",
            "--ff",
            "--nf",
            "--last-failed",
            "--lf",
            "--disable-warnings",
            "--disable-pytest-warnings",
        ],
        false,
        Fate::Shown,
    ),
];
/// Those of Django's runner and its `runtests.py`.
const DJANGO: &[Known] = &[
    (
        &["--settings", "--tag", "--exclude-tag", "--pythonpath"],
        true,
        Fate::Kept,
    ),
    (
        &[
            "-v",
            "--verbosity",
            "--parallel",
            "-j",
            "--selenium",
            "--selenium-hub",
        ],
        true,
        Fate::Shown,
    ),
    (
        &[
            "--failfast",
            "--noinput",
            "--no-input",
            "--keepdb",
            "--timing",
            "--force-color",
            "--no-color",
            "--headless",
            "--debug-sql",
            "--traceback",
        ],
        false,
        Fate::Shown,
    ),
];

/// A command line's words, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sorted {
    /// Options that stay, each with its value.
    pub(super) kept: Vec<Vec<String>>,
    /// Options that are left out and may matter.
    pub(super) dropped: Vec<String>,
    /// What is no option: folders, modules, names.
    pub(super) named: Vec<String>,
}

/// Whether an option of pytest's leaves some tests out.
pub(super) fn selects(word: &str) -> bool {
    ["-m", "-k", "--ignore", "--deselect"]
        .iter()
        .any(|option| word.starts_with(option))
}

/// Sorts pytest's words.
pub(super) fn of_pytest(words: &[String]) -> Sorted {
    sort(words, PYTEST)
}

/// Sorts the words of a program that runs tests as Django's runner does.
pub(super) fn of_django(words: &[String]) -> Sorted {
    sort(words, DJANGO)
}

fn sort(words: &[String], table: &[Known]) -> Sorted {
    let known = |option: &str| table.iter().find(|(names, ..)| names.contains(&option));
    let mut sorted = Sorted::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            continue;
        }
        if !word.starts_with('-') || word == "-" {
            if !word.is_empty() {
                sorted.named.push(word.clone());
            }
            continue;
        }
        let long = word.starts_with("--");
        // `-k=x` and `-kx` are one word; `-vv`, `-ra` and `-xq` are letters.
        let (option, joined) = match word.split_once('=').filter(|_| long) {
            Some((option, _)) => (option, true),
            None if long => (word.as_str(), false),
            None => (word.get(..2).unwrap_or(word), word.len() > 2),
        };
        let Some((_, takes, fate)) = known(option) else {
            let letters = !long && word[1..].chars().all(|sign| "vqsxlra".contains(sign));
            if !letters {
                let value = words
                    .as_slice()
                    .first()
                    .filter(|value| !joined && !value.starts_with('-'));
                // Whether the next word is its value is not known; a folder of the tree is more likely none, a number one.
                let value =
                    value.filter(|value| !long && !value.contains('/') || value.parse::<f64>().is_ok());
                let whole = value.map_or_else(|| word.clone(), |value| format!("{word} {value}"));
                if value.is_some() {
                    words.next();
                }
                sorted.dropped.push(whole);
            }
            continue;
        };
        let mut whole = vec![word.clone()];
        let next = words.as_slice().first();
        // `-v` and `--parallel` go without a value, too.
        let optional = matches!(option, "-v" | "--parallel" | "-r");
        let is_value = |value: &String| !optional || value.parse::<u32>().is_ok() || value == "auto";
        if *takes && !joined && next.is_some_and(is_value) {
            whole.extend(words.next().cloned());
        }
        if *fate == Fate::Shown {
            continue;
        }
        // What is filled in elsewhere is not known.
        if whole.iter().any(|word| word.contains(['$', '{', '\0'])) || *takes && !joined && whole.len() < 2 {
            sorted.dropped.push(whole.join(" "));
        } else if !sorted.kept.contains(&whole) {
            sorted.kept.push(whole);
        }
    }
    // `[]` is what tox called `{posargs}` once.
    sorted
        .named
        .retain(|name| !name.contains(['$', '{', '}', '\0']) && name != "[]");
    sorted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::shell;
    use super::*;

    fn shown(sorted: &Sorted) -> [String; 3] {
        let kept: Vec<_> = sorted.kept.iter().map(|words| words.join(" ")).collect();
        [kept.join("|"), sorted.dropped.join("|"), sorted.named.join("|")]
    }

    #[test]
    fn what_says_which_tests_there_are_stays() {
        let cases = [
            ("-x -vv -ra --cov=src tests", ["", "", "tests"]),
            (
                "-m 'not slow' -k=a --ignore=tests/e2e -p no:randomly --deselect tests/t.py::a",
                [
                    "-m not slow|-k=a|--ignore=tests/e2e|-p no:randomly|--deselect tests/t.py::a",
                    "",
                    "",
                ],
            ),
            (
                "-n auto --dist loadfile -W error --foo tests/unit",
                ["", "-W error|--foo", "tests/unit"],
            ),
            (
                "--junitxml r.xml -pxdist -m $MARKS {posargs} a",
                ["-pxdist", "-m $MARKS", "a"],
            ),
            ("-r a --durations 10 -m", ["", "-m", "a"]),
            ("--reruns 5 [] a.py", ["", "--reruns 5", "a.py"]),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(&of_pytest(&shell::words(line))), expected, "{line}");
        }
    }

    #[test]
    fn djangos_settings_and_tags_stay() {
        let cases = [
            (
                "--settings=test_sqlite -v2 --parallel 4 basic",
                ["--settings=test_sqlite", "", "basic"],
            ),
            (
                "-v 2 --parallel --exclude-tag slow --shuffle",
                ["--exclude-tag slow", "--shuffle", ""],
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(&of_django(&shell::words(line))), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_words_make_the_sorter_panic(words in proptest::collection::vec("(-{0,2}[a-zé=]{0,4}|-m|--settings|é|-é)", 0..8)) {
            let _ = of_pytest(&words);
            let _ = of_django(&words);
        }
    }
}
