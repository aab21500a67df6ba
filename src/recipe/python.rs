//! Which interpreter an environment asks for.

use std::fmt;
use std::str::FromStr;

/// `3.11` (any 3.11), `3.11.7` (exactly that), or comparisons that all hold: `>=3.9`, `>=3.9,<3.13`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonSpec {
    text: String,
    clauses: Vec<(Comparison, Vec<u32>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// The version begins with these numbers.
    Prefix,
    AtLeast,
    Above,
    AtMost,
    Below,
}

/// A text that asks for no interpreter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a Python version")]
pub struct BadPython(String);

impl BadPython {
    /// What to write instead.
    pub fn hints(&self) -> Vec<String> {
        vec!["write `3.11`, `3.11.7`, or a comparison such as `>=3.9` or `>=3.9,<3.13`".to_owned()]
    }
}

impl FromStr for PythonSpec {
    type Err = BadPython;

    fn from_str(text: &str) -> Result<Self, BadPython> {
        let bad = || BadPython(text.to_owned());
        let mut clauses = Vec::new();
        for clause in text.split(',') {
            let clause = clause.trim();
            let (comparison, digits) = [
                (Comparison::AtLeast, ">="),
                (Comparison::AtMost, "<="),
                (Comparison::Prefix, "=="),
                (Comparison::Above, ">"),
                (Comparison::Below, "<"),
            ]
            .into_iter()
            .find_map(|(comparison, sign)| Some((comparison, clause.strip_prefix(sign)?)))
            .unwrap_or((Comparison::Prefix, clause));
            let numbers = digits
                .trim()
                .split('.')
                .map(|part| match part.parse() {
                    Ok(number) if part.bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
                    _ => Err(bad()),
                })
                .collect::<Result<Vec<u32>, _>>()?;
            if !(2..=3).contains(&numbers.len()) {
                return Err(bad());
            }
            clauses.push((comparison, numbers));
        }
        Ok(Self {
            text: text.to_owned(),
            clauses,
        })
    }
}

impl PythonSpec {
    /// Whether an interpreter of this version (`major, minor, micro`) will do. Comparisons look at as many numbers as
    /// they were written with: 3.11.7 is `<=3.11` and is not `>3.11`.
    pub fn accepts(&self, version: [u32; 3]) -> bool {
        self.clauses.iter().all(|(comparison, wanted)| {
            let order = version[..wanted.len()].cmp(wanted);
            match comparison {
                Comparison::Prefix => order.is_eq(),
                Comparison::AtLeast => order.is_ge(),
                Comparison::Above => order.is_gt(),
                Comparison::AtMost => order.is_le(),
                Comparison::Below => order.is_lt(),
            }
        })
    }
}

impl fmt::Display for PythonSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_spec_accepts_what_it_says() {
        let accepts = |spec: &str, version| spec.parse::<PythonSpec>().unwrap().accepts(version);
        assert!(accepts("3.11", [3, 11, 7]) && !accepts("3.11", [3, 12, 0]) && !accepts("3.1", [3, 11, 0]));
        assert!(accepts("3.11.7", [3, 11, 7]) && !accepts("3.11.7", [3, 11, 8]));
        assert!(accepts(">=3.9", [3, 13, 1]) && !accepts(">=3.9", [3, 8, 18]));
        assert!(accepts(">=3.9, <3.13", [3, 12, 9]) && !accepts(">=3.9,<3.13", [3, 13, 0]));
        assert!(accepts("<=3.11", [3, 11, 7]) && !accepts(">3.11", [3, 11, 7]));
        for wrong in [
            "3", "", "3.11.7.1", "python3", "~=3.9", ">=", "3.x", "3.+1", ">=3.9,",
        ] {
            assert!(wrong.parse::<PythonSpec>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,12}") {
            if let Ok(spec) = text.parse::<PythonSpec>() {
                prop_assert_eq!(spec.to_string(), text);
            }
        }
    }
}
