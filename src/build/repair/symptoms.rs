//! Failure text → what is missing.
//!
//! The words are those of uv, of Python's import system, of C compilers and of pytest; none is a project's own.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::build::lock::normalise;

/// What is wrong, by kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// A requirement asks for a version that the index got after the cut-off.
    NewerThanCutoff {
        /// The distribution.
        distribution: String,
        /// When the version was published (RFC 3339).
        published: String,
        /// The lowest version that is asked for, where `published` is of the latest of several.
        lowest: Option<String>,
    },
    /// Two installed distributions do not fit: one wants of a module what it does not have.
    IncompatiblePair {
        /// The module that lacks something.
        module: String,
    },
    /// A module is not installed.
    MissingModule {
        /// Its dotted name.
        module: String,
    },
    /// A module is missing while something is built.
    MissingBuildDependency {
        /// Its dotted name.
        module: String,
    },
    /// A fixture is not known.
    MissingFixture {
        /// Its name.
        fixture: String,
    },
    /// A library or header of the system is missing.
    MissingSystemLibrary {
        /// Its name (`libxml2.so.2`, `ffi.h`).
        library: String,
    },
    /// The interpreter is the wrong one.
    WrongInterpreter,
    /// There is neither a wheel for this interpreter nor a source that builds.
    NoWheel {
        /// The distribution.
        distribution: String,
        /// Those that lead to it, the nearest first, as far as the resolver tells.
        through: Vec<String>,
    },
    /// The index has no distribution of this name.
    NotFound {
        /// The name.
        distribution: String,
        /// Those that lead to it, the nearest first, as far as the resolver tells.
        through: Vec<String>,
    },
    /// An extra or a group that an install line names is not there.
    NoSuchPart {
        /// The name.
        part: String,
    },
}

impl Trouble {
    /// A stable word for records.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NewerThanCutoff { .. } => "newer-than-cutoff",
            Self::IncompatiblePair { .. } => "incompatible-pair",
            Self::MissingModule { .. } => "missing-module",
            Self::MissingBuildDependency { .. } => "missing-build-dependency",
            Self::MissingFixture { .. } => "missing-fixture",
            Self::MissingSystemLibrary { .. } => "missing-system-library",
            Self::WrongInterpreter => "wrong-interpreter",
            Self::NoWheel { .. } => "no-wheel",
            Self::NotFound { .. } => "not-found",
            Self::NoSuchPart { .. } => "no-such-part",
        }
    }
}

/// One trouble and the words that tell of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symptom {
    /// What is wrong.
    pub trouble: Trouble,
    /// The words, on one line, at most 200 signs.
    pub evidence: String,
}

type Read = fn(&Captures<'_>) -> Trouble;

/// One way to say it.
struct Saying {
    pattern: Regex,
    read: Read,
}

fn word(captures: &Captures<'_>, index: usize) -> String {
    captures.get(index).map_or("", |found| found.as_str()).to_owned()
}

/// Pattern → trouble, the most telling first: a failed import inside a build is no missing module of the tests.
const SAYINGS: &[(&str, Read)] = &[
    (
        r"`(?P<d>[\w.-]+)` was filtered by `exclude-newer`[^\n]*published at (?P<t>[0-9T:.Z+-]+?)\.? ",
        |c| Trouble::NewerThanCutoff {
            distribution: word(c, 1),
            published: word(c, 2),
            // It is looked up in the whole text below.
            lowest: c[0].contains("The latest version satisfying").then(String::new),
        },
    ),
    (
        r"(?m)^\s+(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?",
        |c| Trouble::MissingBuildDependency { module: word(c, 1) },
    ),
    (r"fatal error: ([\w./+-]+\.h(?:pp)?): No such file", |c| {
        Trouble::MissingSystemLibrary { library: word(c, 1) }
    }),
    (
        r"(?:ImportError|OSError): (lib[\w.+-]+\.so[.\d]*): cannot open shared object",
        |c| Trouble::MissingSystemLibrary { library: word(c, 1) },
    ),
    (r"(?:/usr/bin/ld: )?cannot find -l([\w+-]+)", |c| {
        Trouble::MissingSystemLibrary {
            library: format!("lib{}", word(c, 1)),
        }
    }),
    (
        r"(?:does not satisfy|requires) Python\s*[<>=!~]|requires-python|requires a different Python",
        |_| Trouble::WrongInterpreter,
    ),
    (r"(?:Failed to build|failed to build) `([\w.-]+?)==", |c| {
        Trouble::NoWheel {
            distribution: word(c, 1),
            through: vec![],
        }
    }),
    (
        r"([\w.-]+)==\S+ has no (?:usable )?(?:wheels|source distribution)",
        |c| Trouble::NoWheel {
            distribution: word(c, 1),
            through: vec![],
        },
    ),
    (r"\b([\w.-]+) was not found in the package registry", |c| {
        Trouble::NotFound {
            distribution: word(c, 1),
            through: vec![],
        }
    }),
    (
        r"(?:does not have an extra named|dependency group|extra) [`']([\w.-]+)[`'](?: (?:was )?not found)?",
        |c| Trouble::NoSuchPart { part: word(c, 1) },
    ),
    (
        r"cannot import name '?([\w]+)'? from (?:partially initialized module )?'([\w.]+)'",
        |c| Trouble::IncompatiblePair { module: word(c, 2) },
    ),
    (r"module '([\w.]+)' has no attribute '\w+'", |c| {
        Trouble::IncompatiblePair { module: word(c, 1) }
    }),
    (r"No module named '?([\w.]+)'?", |c| Trouble::MissingModule {
        module: word(c, 1),
    }),
    (r"Failed to import the '([\w.]+)' module", |c| {
        Trouble::MissingModule { module: word(c, 1) }
    }),
    (r"fixture '(\w+)' not found", |c| Trouble::MissingFixture {
        fixture: word(c, 1),
    }),
    (r"async def functions are not natively supported", |_| {
        Trouble::MissingFixture {
            fixture: "event_loop".to_owned(),
        }
    }),
];

static READERS: LazyLock<Vec<Saying>> = LazyLock::new(|| {
    let compiled = SAYINGS.iter().filter_map(|(pattern, read)| {
        Some(Saying {
            pattern: Regex::new(pattern).ok()?,
            read: *read,
        })
    });
    compiled.collect()
});

/// Everything that a failure's text says is missing, the most telling kind first, each once.
pub fn symptoms(text: &str) -> Vec<Symptom> {
    let mut found: Vec<Symptom> = Vec::new();
    for saying in READERS.iter() {
        for captures in saying.pattern.captures_iter(text) {
            let mut trouble = (saying.read)(&captures);
            if let Trouble::NewerThanCutoff {
                distribution, lowest, ..
            } = &mut trouble
            {
                *lowest = lowest.take().and_then(|_| lower_bound(text, distribution));
            }
            if let Trouble::NoWheel {
                distribution,
                through,
            }
            | Trouble::NotFound {
                distribution,
                through,
            } = &mut trouble
            {
                *through = leading_to(text, distribution);
            }
            let names_a_build = matches!(&trouble, Trouble::MissingModule { module }
                if found.iter().any(|known| matches!(&known.trouble,
                    Trouble::MissingBuildDependency { module: built } if built == module)));
            if names_a_build || found.iter().any(|known| known.trouble == trouble) {
                continue;
            }
            let start = captures.get(0).map_or(0, |whole| whole.start());
            found.push(Symptom {
                trouble,
                evidence: line_at(text, start),
            });
        }
    }
    found
}

/// The highest of the lower bounds that a resolver's text says are asked of a distribution: the lowest version that will
/// do. What it concludes from them is no bound.
fn lower_bound(text: &str, distribution: &str) -> Option<String> {
    let asked = format!(
        r"(?:^|[\s`]){}(?:\[[^\]]*\])?>=([0-9][\w.]*)",
        regex::escape(distribution)
    );
    let asked = Regex::new(&asked).ok()?;
    // After a conclusion the next premise begins with `And`.
    let mut parts = text.split("we can conclude");
    let first = parts.next().into_iter();
    let later = parts.filter_map(|part| part.find("And because").map(|at| &part[at..]));
    let bounds = first.chain(later).flat_map(|part| {
        let found = asked.captures_iter(part).map(|captures| word(&captures, 1));
        found.collect::<Vec<_>>()
    });
    let numbers = |version: &str| {
        let numbers = version.split('.').map_while(|part| part.parse::<u64>().ok());
        numbers.collect::<Vec<_>>()
    };
    bounds.max_by_key(|version| numbers(version))
}

/// What leads to a distribution, the nearest first, by the resolver's own words: the chain of its hint (`a` (v1) was
/// included because `c` (v3) depends on `b` (v2) which depends on `a`), or its premises (b==2 depends on a>=1).
fn leading_to(text: &str, distribution: &str) -> Vec<String> {
    static PREMISE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b([\w.-]+)(?:\[[^\]]*\])?[=<>~!]=?\S+ depends on ([\w.-]+)").ok());
    let is_it = |name: &str| normalise(name) == normalise(distribution);
    for line in text.lines() {
        let Some((head, chain)) = line.split_once(" was included because ") else {
            continue;
        };
        if !head.split('`').nth(1).is_some_and(|name| is_it(bare(name))) {
            continue;
        }
        let names = chain.split('`').skip(1).step_by(2).map(bare);
        let mut through: Vec<String> = names.filter(|name| !is_it(name)).map(str::to_owned).collect();
        through.reverse();
        return through;
    }
    let Some(premise) = PREMISE.as_ref() else {
        return vec![];
    };
    let mut through: Vec<String> = Vec::new();
    let mut below = distribution.to_owned();
    loop {
        let mut parents = premise.captures_iter(text).filter_map(|found| {
            let (parent, child) = (word(&found, 1), word(&found, 2));
            (normalise(&child) == normalise(&below)).then_some(parent)
        });
        let Some(parent) = parents.find(|parent| !is_it(parent) && !through.contains(parent)) else {
            return through;
        };
        through.push(parent.clone());
        below = parent;
    }
}

/// `flask[dotenv]>=1` → `flask`, `flask:dev` → `flask`.
fn bare(text: &str) -> &str {
    let end = text.find(|sign: char| !(sign.is_ascii_alphanumeric() || "-_.".contains(sign)));
    &text[..end.unwrap_or(text.len())]
}

/// The line that holds byte `at`, at most 200 signs.
fn line_at(text: &str, at: usize) -> String {
    // A pattern may begin with the white space of the line before.
    let at = at + text[at..].len() - text[at..].trim_start().len();
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default().trim();
    line.chars().take(200).collect()
}

#[cfg(test)]
pub(super) fn every_pattern_compiles() -> bool {
    READERS.len() == SAYINGS.len()
}
