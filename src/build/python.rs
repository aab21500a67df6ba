//! Which interpreter a recipe asks for, and which of those found is the one.

use std::cmp::Ordering;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::recipe::python::{BadPython, PythonSpec};

/// A Python version: `3.11.7`, `3.14.0rc2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonVersion {
    /// Major, minor, micro.
    pub release: [u32; 3],
    /// The pre-release part (`rc2`, `a1+`); empty for a final release.
    pub pre: String,
}

impl PythonVersion {
    /// `3.11`: the part that names folders (`lib/python3.11`).
    pub fn short(&self) -> String {
        format!("{}.{}", self.release[0], self.release[1])
    }

    /// Whether this is a final release.
    pub fn is_final(&self) -> bool {
        self.pre.is_empty()
    }
}

impl Ord for PythonVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        // A pre-release comes before its final release; `a` < `b` < `rc` holds for the letters too.
        self.release
            .cmp(&other.release)
            .then_with(|| self.is_final().cmp(&other.is_final()))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

impl PartialOrd for PythonVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for PythonVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, micro] = self.release;
        write!(f, "{major}.{minor}.{micro}{}", self.pre)
    }
}

impl FromStr for PythonVersion {
    type Err = BadPython;

    fn from_str(text: &str) -> Result<Self, BadPython> {
        let bad = || BadPython::of(text);
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (release, pre) = text.split_at(end);
        let parts = numbers(release).ok_or_else(bad)?;
        match *parts.as_slice() {
            [major, minor, micro] => Ok(Self {
                release: [major, minor, micro],
                pre: pre.to_owned(),
            }),
            _ => Err(bad()),
        }
    }
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    text.split('.')
        .map(|part| if plain(part) { part.parse().ok() } else { None })
        .collect()
}

/// An interpreter that environments can be made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// Its full version.
    pub version: PythonVersion,
    /// The program itself: no shim, no virtual environment's link.
    pub executable: PathBuf,
    /// The folders it is made of (`sys.base_prefix`, and `sys.base_exec_prefix` where that differs).
    pub prefixes: Vec<PathBuf>,
    /// The base image that it is in, by its id; `None` for one of this machine's, which rooms are lent.
    pub image: Option<String>,
}

impl Interpreter {
    /// What tells it from others in keys: its version, and the image where it is in one.
    pub fn identity(&self) -> String {
        match &self.image {
            None => self.version.to_string(),
            Some(image) => format!("{} in {image}", self.version),
        }
    }
}

/// The highest version that will do; among equals the one found first. A pre-release is only chosen when
/// nothing final will do.
pub fn choose<'a>(request: &PythonSpec, found: &'a [Interpreter]) -> Option<&'a Interpreter> {
    let rank = |interpreter: &Interpreter| (interpreter.version.is_final(), interpreter.version.clone());
    // `max_by` gives the last of equals, so the list is read from its end.
    found
        .iter()
        .rev()
        .filter(|interpreter| request.accepts(interpreter.version.release))
        .max_by(|a, b| rank(a).cmp(&rank(b)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(versions: &[&str]) -> Vec<Interpreter> {
        let one = |(index, version): (usize, &&str)| Interpreter {
            version: version.parse().unwrap(),
            executable: format!("/{index}/python").into(),
            prefixes: vec![],
            image: None,
        };
        versions.iter().enumerate().map(one).collect()
    }

    fn pick(request: &str, versions: &[&str]) -> Option<String> {
        let found = found(versions);
        choose(&request.parse().unwrap(), &found).map(|interpreter| interpreter.version.to_string())
    }

    #[test]
    fn the_highest_that_matches_is_chosen() {
        let all = ["3.9.18", "3.11.7", "3.10.13", "3.11.2", "3.14.0rc1"];
        assert_eq!(pick("3.11", &all).as_deref(), Some("3.11.7"));
        assert_eq!(pick("3.11.2", &all).as_deref(), Some("3.11.2"));
        assert_eq!(pick("3.11.9", &all), None);
        assert_eq!(pick("3.1", &all), None, "a number is compared whole");
        assert_eq!(
            pick(">=3.9", &all).as_deref(),
            Some("3.11.7"),
            "a pre-release is the last resort"
        );
        assert_eq!(pick("3.14", &all).as_deref(), Some("3.14.0rc1"));
        assert_eq!(pick(">=3.9, <3.11", &all).as_deref(), Some("3.10.13"));
        assert_eq!(pick("<=3.10", &all).as_deref(), Some("3.10.13"));
        assert_eq!(pick(">3.10,!=3.11.*", &all).as_deref(), Some("3.14.0rc1"));
        assert_eq!(pick("==3.9.*", &all).as_deref(), Some("3.9.18"));
    }

    #[test]
    fn among_equals_the_first_found_is_chosen() {
        let found = found(&["3.11.7", "3.11.7"]);
        let chosen = choose(&"3.11".parse().unwrap(), &found).unwrap();
        assert_eq!(chosen.executable, PathBuf::from("/0/python"));
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for wrong in [
            "", "three", "3.11.7.1", ">=", "3.x", ">=3.9.*", "3..9", "+3", "python3",
        ] {
            assert!(wrong.parse::<PythonSpec>().is_err(), "{wrong}");
        }
        assert!("3.11".parse::<PythonVersion>().is_err());
    }

    proptest! {
        #[test]
        fn a_version_survives_its_text(a in 0_u32..9, b in 0_u32..99, c in 0_u32..99, pre in "(rc[0-9]|a[0-9]|)") {
            let text = format!("{a}.{b}.{c}{pre}");
            prop_assert_eq!(text.parse::<PythonVersion>().unwrap().to_string(), text);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in ".{0,20}") {
            let _ = text.parse::<PythonVersion>();
        }
    }
}
