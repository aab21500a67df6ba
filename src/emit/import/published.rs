//! A file's rows, each a JSON object of columns whose values stay as they are written.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::domain::count::first;
use crate::domain::text::without_line;

/// How many faults a message names.
const NAMED: usize = 10;

/// Rows that cannot be taken over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Some are not what a row must be.
    #[error("import `{file}`: {}", told(faults))]
    Faulty {
        /// The file as the caller named it.
        file: String,
        /// Where, and what is wrong.
        faults: Vec<(String, String)>,
    },
    /// There is none.
    #[error("import `{file}`: it holds no rows")]
    Empty {
        /// The file as the caller named it.
        file: String,
    },
    /// Every one was left out.
    #[error("import `{file}`: none of its {rows} rows can be an instance; row {row}: {why}")]
    Nothing {
        /// The file as the caller named it.
        file: String,
        /// How many it holds.
        rows: u64,
        /// The first.
        row: u64,
        /// Why that was left out.
        why: String,
    },
    /// The names make no recipe.
    #[error("call the dataset `{name}` {version}: {problem}")]
    Name {
        /// The name.
        name: String,
        /// The version.
        version: String,
        /// What is wrong.
        problem: String,
    },
}

impl ImportError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Faulty { .. } => vec![
                "a row has at least the columns `instance_id` (`owner__name-N`), `repo`, `base_commit`, `patch`, \
                 `test_patch`, `created_at`, `FAIL_TO_PASS` and `PASS_TO_PASS`, as SWE-bench publishes them"
                    .to_owned(),
                "mend these rows, or leave them out of the file".to_owned(),
            ],
            Self::Empty { .. } => {
                vec!["give JSON lines, a JSON list of rows, or a Parquet file".to_owned()]
            }
            Self::Nothing { .. } => {
                vec!["check that the file is of the published set itself, not of predictions for it".to_owned()]
            }
            Self::Name { .. } => vec![
                "`--name` takes lower-case words joined by `-`, `--release` a version such as `1.0.0`".to_owned(),
            ],
        }
    }
}

fn told(faults: &[(String, String)]) -> String {
    let lines = faults.iter().map(|(place, what)| format!("{place}: {what}"));
    first(lines, NAMED, "; ")
}

/// A row's columns by name.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct Columns(pub BTreeMap<String, Box<RawValue>>);

impl Columns {
    /// A column's JSON; `None` when it is absent or `null`.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?.get();
        (value != "null").then_some(value)
    }
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Columns;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row: a JSON object of columns")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Columns, A::Error> {
                let mut columns = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    let value = on_one_line(value).map_err(A::Error::custom)?;
                    if columns.insert(name.clone(), value).is_some() {
                        return Err(A::Error::custom(format!("the column `{name}` is there twice")));
                    }
                }
                Ok(Columns(columns))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// A value as it is written, on one line: line ends stand between values only.
fn on_one_line(value: Box<RawValue>) -> serde_json::Result<Box<RawValue>> {
    if value.get().contains(['\n', '\r']) {
        RawValue::from_string(value.get().replace(['\n', '\r'], " "))
    } else {
        Ok(value)
    }
}

/// A row where it stands.
#[derive(Debug, Clone)]
pub struct Published {
    /// Which row, from 1.
    pub row: u64,
    /// The place for messages: `line 3`.
    pub place: String,
    /// Its columns.
    pub columns: Columns,
}

/// Reads JSON lines or a JSON list. `unit` is what a line is called: `line`, or `row` for lines that were made of a table.
/// Rows that are none are told with their places.
pub fn parse(bytes: &[u8], unit: &str) -> (Vec<Published>, Vec<(String, String)>) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (mut rows, mut faults) = (vec![], vec![]);
    let mut take = |line: usize, json: &[u8]| match serde_json::from_slice::<Columns>(json) {
        Ok(columns) => rows.push(Published {
            row: rows.len() as u64 + 1,
            place: format!("{unit} {line}"),
            columns,
        }),
        Err(error) => {
            // The place within a value is moved by where the value begins.
            let at = line + error.line().saturating_sub(1);
            faults.push((format!("{unit} {at}"), without_line(&error)));
        }
    };
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        match serde_json::from_slice::<Vec<&RawValue>>(bytes) {
            Ok(values) => values
                .into_iter()
                .for_each(|value| take(line_of(bytes, value), value.get().as_bytes())),
            Err(error) => faults.push((format!("line {}", error.line()), without_line(&error))),
        }
    } else {
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if !line.trim_ascii().is_empty() {
                take(index + 1, line);
            }
        }
    }
    (rows, faults)
}

/// The line on which a value of `bytes` begins.
fn line_of(bytes: &[u8], value: &RawValue) -> usize {
    let start = (value.get().as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
    1 + memchr::memchr_iter(b'\n', &bytes[..start.min(bytes.len())]).count()
}
