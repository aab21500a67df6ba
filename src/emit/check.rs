//! Whether a folder's files are a sound version: sums, shapes, and (in `agree.rs`) that they agree.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::agree;
use super::annotate::AnnotationRow;
use super::annotate::record::ANNOTATIONS;
use super::assemble::{DOCS, Files, INSTANCES, LOG, MANIFEST, VARIANTS};
use super::canonical;
use super::docs::DocsRow;
use super::entry::LogEntry;
use super::instance::Instance;
use super::manifest::{Manifest, SCHEMA_VERSION};
use super::schema::{Validators, first_fault};
use super::sums;
use super::variants::VariantRow;
use crate::domain::hash::sha256_hex;

/// A log larger than this is not unpacked: 4 GiB.
const LOG_LIMIT: u64 = 4 << 30;

/// One thing that is wrong with a version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line in it, from 1, or the place in its value.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.file)?;
        if !self.place.is_empty() {
            write!(f, " at {}", self.place)?;
        }
        write!(f, ": {}", self.what)
    }
}

impl Problem {
    /// A problem of a whole file.
    pub fn of(file: &str, what: impl Into<String>) -> Self {
        Self::at(file, "", what)
    }

    /// A problem at a place.
    pub fn at(file: &str, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            place: place.into(),
            what: what.into(),
        }
    }

    /// A problem of a line, counted from 0 here and from 1 in the message.
    pub fn line(file: &str, index: usize, what: impl Into<String>) -> Self {
        Self::at(file, format!("line {}", index + 1), what)
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Files looked at.
    pub files: usize,
    /// Rows looked at.
    pub instances: usize,
    /// Log lines looked at.
    pub log_entries: usize,
    /// What is wrong; empty when the version is sound.
    pub problems: Vec<Problem>,
}

/// A version's files, read.
pub(super) struct Version {
    pub(super) manifest: Manifest,
    pub(super) instances: Vec<Instance>,
    pub(super) log: Vec<LogEntry>,
    /// `None` when there is no such file.
    pub(super) variants: Option<Vec<VariantRow>>,
    /// `None` when there is no such file.
    pub(super) docs: Option<Vec<DocsRow>>,
    /// `None` when there is no such file.
    pub(super) annotations: Option<Vec<AnnotationRow>>,
}

/// Checks a version's files. `named` is the dataset and version that the folders say, when that is known.
pub fn check(files: &Files, named: Option<(&str, &str)>) -> Checked {
    let mut problems = check_sums(files);
    let version = parse(files, &mut problems);
    let (mut instances, mut log_entries) = (0, 0);
    if let Some(version) = version {
        (instances, log_entries) = (version.instances.len(), version.log.len());
        let said = (
            version.manifest.dataset.name.as_str(),
            version.manifest.dataset.version.as_str(),
        );
        if let Some(named) = named.filter(|named| *named != said) {
            let what = format!(
                "it is of `{}` {}, its folder of `{}` {}",
                said.0, said.1, named.0, named.1
            );
            problems.push(Problem::at(MANIFEST, "dataset", what));
        }
        agree::agree(&version, files, &mut problems);
    }
    Checked {
        files: files.len(),
        instances,
        log_entries,
        problems,
    }
}

fn check_sums(files: &Files) -> Vec<Problem> {
    let Some(bytes) = files.get(sums::NAME) else {
        return vec![Problem::of(sums::NAME, "it is missing")];
    };
    let listed = match sums::read(&String::from_utf8_lossy(bytes)) {
        Ok(listed) => listed,
        Err(line) => {
            return vec![Problem::line(
                sums::NAME,
                line - 1,
                "it is not `<sha256>  <file>`",
            )];
        }
    };
    let mut problems = vec![];
    for (name, sum) in &listed {
        match files.get(name) {
            None => problems.push(Problem::of(name, "it is missing")),
            Some(bytes) if sha256_hex(bytes) != *sum => {
                problems.push(Problem::of(
                    name,
                    format!("its bytes are not those of `{}`", sums::NAME),
                ));
            }
            Some(_) => {}
        }
    }
    let unlisted = files
        .keys()
        .filter(|name| *name != sums::NAME && !listed.contains_key(*name));
    problems.extend(unlisted.map(|name| Problem::of(name, format!("`{}` does not list it", sums::NAME))));
    problems
}

fn parse(files: &Files, problems: &mut Vec<Problem>) -> Option<Version> {
    let mut get = |name: &str| {
        let bytes = files.get(name);
        if bytes.is_none() && !problems.iter().any(|problem| problem.file == name) {
            problems.push(Problem::of(name, "it is missing"));
        }
        bytes
    };
    let (manifest, instances, log) = (get(MANIFEST), get(INSTANCES), get(LOG));
    let validators = Validators::new()?;
    let manifest = manifest.and_then(|bytes| parse_manifest(bytes, &validators, problems));
    let instances = instances.and_then(|bytes| parse_lines(INSTANCES, bytes, &validators.instance, problems));
    let log = log.and_then(|packed| match unpack(packed) {
        Ok(bytes) => parse_lines(LOG, &bytes, &validators.entry, problems),
        Err(error) => {
            problems.push(Problem::of(LOG, format!("it is no sound zstd file: {error}")));
            None
        }
    });
    let variants = match files.get(VARIANTS) {
        Some(bytes) => Some(parse_lines(VARIANTS, bytes, &validators.variant, problems)?),
        None => None,
    };
    let docs = match files.get(DOCS) {
        Some(bytes) => Some(parse_lines(DOCS, bytes, &validators.docs, problems)?),
        None => None,
    };
    let annotations = match files.get(ANNOTATIONS) {
        Some(bytes) => Some(parse_lines(ANNOTATIONS, bytes, &validators.annotation, problems)?),
        None => None,
    };
    Some(Version {
        variants,
        docs,
        annotations,
        manifest: manifest?,
        instances: instances?,
        log: log?,
    })
}

fn parse_manifest(bytes: &[u8], validators: &Validators, problems: &mut Vec<Problem>) -> Option<Manifest> {
    let mut fault = |problem| {
        problems.push(problem);
        None
    };
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return fault(Problem::of(MANIFEST, format!("it is no JSON: {error}"))),
    };
    match value.get("schema_version").and_then(Value::as_u64) {
        Some(version) if version > u64::from(SCHEMA_VERSION) => {
            let what = format!("it is {version}, this quarry knows up to {SCHEMA_VERSION}");
            return fault(Problem::at(MANIFEST, "schema_version", what));
        }
        _ => {}
    }
    if let Some((place, what)) = first_fault(&validators.manifest, &value) {
        return fault(Problem::at(MANIFEST, place, what));
    }
    match serde_json::from_value::<Manifest>(value) {
        Err(error) => fault(Problem::of(MANIFEST, error.to_string())),
        Ok(manifest) if canonical::document(&manifest).ok().as_deref() != Some(bytes) => {
            fault(Problem::of(MANIFEST, "it is not written in the canonical form"))
        }
        Ok(manifest) => Some(manifest),
    }
}

/// Reads lines of JSON; every faulty one is told, and then there is no result.
fn parse_lines<T: DeserializeOwned + Serialize>(
    file: &str,
    bytes: &[u8],
    validator: &jsonschema::Validator,
    problems: &mut Vec<Problem>,
) -> Option<Vec<T>> {
    let before = problems.len();
    let mut values = vec![];
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match parse_line(line, validator) {
            Ok(value) => values.push(value),
            Err(what) => problems.push(Problem::line(file, index, what)),
        }
    }
    (problems.len() == before).then_some(values)
}

fn parse_line<T: DeserializeOwned + Serialize>(
    line: &[u8],
    validator: &jsonschema::Validator,
) -> Result<T, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("it is no JSON: {error}"))?;
    if let Some((place, what)) = first_fault(validator, &value) {
        return Err(format!("{place}: {what}"));
    }
    let typed: T = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let again = canonical::line(&typed).map_err(|error| error.to_string())?;
    if again.as_bytes() == line {
        Ok(typed)
    } else {
        Err("it is not written in the canonical form".into())
    }
}

fn unpack(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = vec![];
    let mut reader = zstd::stream::Decoder::new(packed)?.take(LOG_LIMIT + 1);
    reader.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LOG_LIMIT {
        return Err(std::io::Error::other("it unpacks to more than 4 GiB"));
    }
    Ok(bytes)
}
