//! The files in which projects write their settings, read as values that know their lines. Text in, values out.
//!
//! | module | files |
//! |---|---|
//! | `ini` | `setup.cfg`, `tox.ini`, `pytest.ini` |
//! | `value` | TOML and YAML |
//! | `pytest` | whichever of them holds pytest's own settings |

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) mod ini;
pub(crate) mod pytest;
pub(crate) mod value;

/// A line of a file in the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1; absent when the whole file is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl Place {
    /// A line of a file.
    pub(crate) fn new(file: &str, line: u32) -> Self {
        Self {
            file: file.to_owned(),
            line: Some(line),
        }
    }

    /// A whole file.
    pub(crate) fn file(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A line of text and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) place: Place,
}

impl Line {
    pub(crate) fn new(text: impl Into<String>, file: &str, line: u32) -> Self {
        Self {
            text: text.into(),
            place: Place::new(file, line),
        }
    }
}
