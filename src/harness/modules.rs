//! How a project's own runner knows a test module by its path.

use std::fmt::Write as _;
use std::path::Path;

use regex::Regex;

use crate::domain::runner_files::is_test_module;
use crate::domain::settings::pytest::PytestSettings;
use crate::recipe::model::Runner;

/// Which files are test modules: those of the usual names, or those that the project's settings say.
#[derive(Debug, Clone, Default)]
pub struct TestModules {
    /// pytest's `python_files`, where the project sets it.
    patterns: Option<Vec<Pattern>>,
}

/// A pattern as pytest matches it: against the file's name, or against the path where it has a `/` itself.
#[derive(Debug, Clone)]
struct Pattern {
    regex: Regex,
    of_path: bool,
}

impl TestModules {
    /// Those of a work tree, by the settings at its root.
    pub fn of(root: &Path, runner: Runner) -> Self {
        let read = |name: &str| {
            let path = root.join(name);
            // Nothing but a plain file is opened: a link may lead out of the tree, and a device has no end.
            if !std::fs::symlink_metadata(&path).is_ok_and(|data| data.is_file()) {
                return None;
            }
            Some(String::from_utf8_lossy(&std::fs::read(&path).ok()?).into_owned())
        };
        match runner {
            Runner::Pytest => Self::of_pytest(&read),
            Runner::Unittest | Runner::Script => Self::default(),
        }
    }

    fn of_pytest(read: &dyn Fn(&str) -> Option<String>) -> Self {
        let settings = PytestSettings::read(read);
        let Some(files) = settings
            .as_ref()
            .and_then(|settings| settings.get("python_files"))
        else {
            return Self::default();
        };
        if files.is_list {
            Self::new(&files.values)
        } else {
            Self::new(&split(&files.values.join(" ")))
        }
    }

    fn new(patterns: &[String]) -> Self {
        let patterns: Vec<Pattern> = patterns.iter().filter_map(|text| Pattern::new(text)).collect();
        Self {
            patterns: Some(patterns).filter(|patterns| !patterns.is_empty()),
        }
    }

    /// Whether the file at this path holds tests.
    pub fn has(&self, path: &str) -> bool {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        match &self.patterns {
            None => is_test_module(path),
            Some(_)
                if name
                    .strip_suffix(".py")
                    .is_none_or(|stem| stem == "conftest" || stem == "__init__") =>
            {
                false
            }
            Some(patterns) => patterns.iter().any(|pattern| {
                let text = if pattern.of_path { path } else { name };
                pattern.regex.is_match(text)
            }),
        }
    }
}

impl Pattern {
    /// A pattern of Python's `fnmatch`; one with a `/` may begin at any folder.
    fn new(text: &str) -> Option<Self> {
        let of_path = text.contains('/');
        let mut regex = String::from(if of_path { "(?s)^(?:.*/)?" } else { "(?s)^" });
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '*' => regex.push_str(".*"),
                '?' => regex.push('.'),
                '[' => match rest.get(1..).and_then(|after| after.find(']')) {
                    Some(end) => {
                        let (set, after) = (&rest[..=end], &rest[end + 2..]);
                        let (not, set) = set.strip_prefix('!').map_or(("", set), |set| ("^", set));
                        let set = set.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
                        let set = set.replace('^', "\\^").replace('&', "\\&").replace('~', "\\~");
                        let _ = write!(regex, "[{not}{set}]");
                        rest = after;
                    }
                    None => regex.push_str("\\["),
                },
                c => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            }
        }
        regex.push('$');
        Regex::new(&regex).ok().map(|regex| Self { regex, of_path })
    }
}

/// Words as a shell splits them, but for blanks in quotes, which no file's name has here.
fn split(words: &str) -> Vec<String> {
    let words = words.split_whitespace();
    let bare = words.map(|word| word.trim_matches(['"', '\'']).to_owned());
    bare.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> TestModules {
        TestModules::of_pytest(&|name| {
            let found = files.iter().find(|(file, _)| *file == name);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn a_project_says_which_files_hold_its_tests() {
        // As pytest's own repository and pylint's say it.
        let pytest = of(&[(
            "pyproject.toml",
            "[tool.pytest.ini_options]\npython_files = ['test_*.py', '*_test.py', 'testing/python/*.py']\n",
        )]);
        for (path, is_one) in [
            ("testing/python/metafunc.py", true),
            ("testing/test_mark.py", true),
            ("testing/acceptance_test.py", true),
            ("testing/typing_checks.py", false),
            ("testing/python/conftest.py", false),
            ("testing/python/data.txt", false),
        ] {
            assert_eq!(pytest.has(path), is_one, "{path}");
        }
        let pylint = of(&[(
            "setup.cfg",
            "[tool:pytest]\npython_files =\n    # ours\n    *test_*.py\n",
        )]);
        assert!(pylint.has("tests/checkers/unittest_format.py"));
        assert!(!pylint.has("tests/functional/u/using_constant_test.py"));
    }

    #[test]
    fn what_is_no_plain_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(folder.path().join("pipe"))
            .status();
        assert!(made.unwrap().success());
        // Who opens it waits for somebody who writes.
        std::os::unix::fs::symlink("pipe", folder.path().join("pytest.ini")).unwrap();
        assert!(TestModules::of(folder.path(), Runner::Pytest).has("test_a.py"));
    }

    #[test]
    fn patterns_are_words_or_members() {
        let setup = of(&[(
            "setup.cfg",
            "[tool:pytest]\npython_files = check_*.py 'spec_?.py'\n",
        )]);
        assert!(setup.has("check_a.py") && setup.has("spec_b.py") && !setup.has("spec_bc.py"));
        assert!(!setup.has("test_a.py") && of(&[("pytest.ini", "")]).has("test_a.py"));
        let sets = of(&[("pytest.ini", "[pytest]\npython_files: [!a-c]*_t[ex]st.py\n")]);
        assert!(sets.has("d_test.py") && sets.has("x_txst.py") && !sets.has("b_test.py"));
    }
}
