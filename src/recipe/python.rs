//! Which interpreter an environment asks for.

use std::fmt;
use std::str::FromStr;

/// `3.11` (any 3.11), `3.11.7` (exactly that), or comparisons that all hold: `>=3.9`, `>=3.9,<3.13`, `>3,!=3.9.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonSpec {
    text: String,
    clauses: Vec<(Comparison, Vec<u32>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// The version begins with these numbers: `3.11`, `==3.11.*`.
    Prefix,
    /// It does not: `!=3.11.*`.
    Other,
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
    /// The error about this text.
    pub fn of(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// What to write instead.
    pub fn hints(&self) -> Vec<String> {
        vec!["write `3.11`, `3.11.7`, or a comparison such as `>=3.9` or `>=3.9,<3.13`".to_owned()]
    }
}

impl FromStr for PythonSpec {
    type Err = BadPython;

    fn from_str(text: &str) -> Result<Self, BadPython> {
        let bad = || BadPython::of(text);
        let mut clauses = Vec::new();
        for clause in text.split(',') {
            let clause = clause.trim();
            let (comparison, digits) = [
                (Comparison::AtLeast, ">="),
                (Comparison::AtMost, "<="),
                (Comparison::Prefix, "=="),
                (Comparison::Other, "!="),
                (Comparison::Above, ">"),
                (Comparison::Below, "<"),
            ]
            .into_iter()
            .find_map(|(comparison, sign)| Some((comparison, clause.strip_prefix(sign)?)))
            .unwrap_or((Comparison::Prefix, clause));
            let digits = digits.trim();
            let is_wild = matches!(comparison, Comparison::Prefix | Comparison::Other);
            let digits = digits.strip_suffix(".*").filter(|_| is_wild).unwrap_or(digits);
            let numbers = digits
                .split('.')
                .map(|part| match part.parse() {
                    Ok(number) if part.bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
                    _ => Err(bad()),
                })
                .collect::<Result<Vec<u32>, _>>()?;
            if numbers.len() > 3 {
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
    /// The oldest interpreter that tests are run on.
    pub const OLDEST: [u32; 3] = [3, 6, 0];
    /// The same as text.
    pub const OLDEST_TEXT: &str = "3.6";

    /// Whether some version from [`Self::OLDEST`] on, out already or not, would do.
    pub fn is_satisfiable(&self) -> bool {
        // Between the numbers that the clauses name, nothing changes: a version at each, and just beside it, decides.
        let far = u32::MAX;
        let mut points = vec![Self::OLDEST, [far, far, far]];
        for (_, wanted) in &self.clauses {
            let at = |shift: i64, fill: u32| {
                let mut version = [fill; 3];
                version[..wanted.len()].copy_from_slice(wanted);
                let last = &mut version[wanted.len() - 1];
                *last = u32::try_from(i64::from(*last) + shift).ok()?;
                Some(version)
            };
            let beside = [at(-1, 0), at(-1, far), at(0, 0), at(0, far), at(1, 0)];
            points.extend(beside.into_iter().flatten());
        }
        points
            .into_iter()
            .any(|version| version >= Self::OLDEST && self.accepts(version))
    }

    /// The same, if each clause says a minor version, as a recipe must: what `3` means changes with every release.
    ///
    /// # Errors
    /// [`BadPython`] when one does not.
    pub fn precise(self) -> Result<Self, BadPython> {
        if self.clauses.iter().all(|(_, wanted)| wanted.len() >= 2) {
            Ok(self)
        } else {
            Err(BadPython(self.text))
        }
    }

    /// Whether an interpreter of this version (`major, minor, micro`) will do. Comparisons look at as many numbers as
    /// they were written with: 3.11.7 is `<=3.11` and is not `>3.11`.
    pub fn accepts(&self, version: [u32; 3]) -> bool {
        self.clauses.iter().all(|(comparison, wanted)| {
            let order = version[..wanted.len()].cmp(wanted);
            match comparison {
                Comparison::Prefix => order.is_eq(),
                Comparison::Other => order.is_ne(),
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
            "", "3.11.7.1", "python3", "~=3.9", ">=", "3.x", "3.+1", ">=3.9,", ">=3.9.*", "3..9",
        ] {
            assert!(wrong.parse::<PythonSpec>().is_err(), "{wrong}");
        }
        assert!(accepts("!=3.11.*", [3, 12, 0]) && !accepts("!=3.11.*", [3, 11, 7]));
        assert!(accepts("==3.9.*", [3, 9, 18]) && accepts(">=3", [3, 6, 0]));
        let precise = |spec: &str| spec.parse::<PythonSpec>().unwrap().precise().is_ok();
        assert!(precise(">=3.9,!=3.10.*") && !precise("3") && !precise(">=3,<3.9"));
    }

    #[test]
    fn a_spec_that_nothing_can_meet_is_known() {
        let can = |spec: &str| spec.parse::<PythonSpec>().unwrap().is_satisfiable();
        for good in [
            "3.6",
            "3.11",
            ">=3.9",
            "<4.0",
            ">3.9,<3.11",
            ">=3.9,<=3.9",
            ">=3.9.5,<3.9.6",
            ">3.9.5,<3.10",
            ">=3.9,!=3.9.*",
            "<=3.6",
            ">=2.7",
            "4.0",
        ] {
            assert!(can(good), "{good}");
        }
        for bad in [
            "2.7",
            "3.5",
            "<3.6",
            ">=3.12,<3.12",
            ">3.9,<3.10",
            ">=3.12,<3.9",
            "3.11,3.12",
            ">3.9.5,<3.9.6",
            "3.11,>=3.12",
        ] {
            assert!(!can(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_some_version_meets_is_satisfiable(
            signs in prop::collection::vec(prop::sample::select(vec!["", ">=", ">", "<=", "<"]), 1..3),
            numbers in prop::collection::vec((6_u32..9, prop::option::of(0_u32..3)), 2),
            version in (6_u32..10, 0_u32..4),
        ) {
            let clause = |(sign, (minor, micro)): (&&str, &(u32, Option<u32>))| match micro {
                Some(micro) => format!("{sign}3.{minor}.{micro}"),
                None => format!("{sign}3.{minor}"),
            };
            let text: Vec<_> = signs.iter().zip(&numbers).map(clause).collect();
            let spec: PythonSpec = text.join(",").parse().unwrap();
            let some = (6..11).flat_map(|minor| (0..5).map(move |micro| [3, minor, micro])).any(|v| spec.accepts(v));
            if spec.accepts([3, version.0, version.1]) {
                prop_assert!(spec.is_satisfiable());
            }
            prop_assert_eq!(spec.is_satisfiable(), some);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,12}") {
            if let Ok(spec) = text.parse::<PythonSpec>() {
                prop_assert_eq!(spec.to_string(), text);
            }
        }
    }
}
