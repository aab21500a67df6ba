//! A version as it is read for export, and the way to one format.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{harbor, hf, inspect, swebench};
use crate::domain::ids::InstanceId;
use crate::emit::assemble::{Files, INSTANCES, LOCKS, MANIFEST, PUBLISHED};
use crate::emit::canonical;
use crate::emit::error::EmitError;
use crate::emit::instance::Instance;
use crate::emit::manifest::Manifest;

/// Whose files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The `swebench` package.
    Swebench,
    /// `datasets` of Hugging Face, with a card and Croissant metadata.
    Hf,
    /// Croissant metadata and the table that it describes.
    Croissant,
    /// The Harbor runner.
    Harbor,
    /// `inspect_ai`.
    Inspect,
}

/// One emitted version.
#[derive(Debug, Clone)]
pub struct Version {
    /// What it is made of.
    pub manifest: Manifest,
    /// Its rows, in their order.
    pub instances: Vec<Instance>,
    /// The rows as they stand in the file.
    pub rows: Vec<u8>,
    /// The rows as they were published, for an import.
    pub published: Option<Vec<u8>>,
    /// The locks, by their address.
    pub locks: BTreeMap<String, Vec<u8>>,
}

/// The files of a format.
#[derive(Debug, Clone, Default)]
pub struct Exported {
    /// By their path below the target.
    pub files: Files,
    /// Rows that become Parquet, as JSON lines, by the path of their file.
    pub tables: BTreeMap<String, Vec<u8>>,
    /// Instances that the format cannot hold, and why.
    pub left_out: BTreeMap<InstanceId, String>,
}

impl Version {
    /// Reads a version's files.
    ///
    /// # Errors
    /// [`EmitError::Json`] when one is not what the schema says.
    pub fn read(files: &Files) -> Result<Self, EmitError> {
        let rows = files.get(INSTANCES).cloned().unwrap_or_default();
        let lines = rows.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let locks = files.iter().filter_map(|(name, bytes)| {
            let address = name.strip_prefix(LOCKS)?.strip_suffix(".txt")?;
            Some((address.to_owned(), bytes.clone()))
        });
        Ok(Self {
            manifest: parse(
                MANIFEST,
                files.get(MANIFEST).map(Vec::as_slice).unwrap_or_default(),
            )?,
            instances: lines
                .map(|line| parse(INSTANCES, line))
                .collect::<Result<_, _>>()?,
            published: files.get(PUBLISHED).cloned(),
            locks: locks.collect(),
            rows,
        })
    }

    /// The lock of an instance.
    pub fn lock(&self, instance: &Instance) -> &[u8] {
        let lock = instance.lock.as_ref();
        let lock = lock.and_then(|lock| self.locks.get(lock.as_str()));
        lock.map(Vec::as_slice).unwrap_or_default()
    }
}

fn parse<T: DeserializeOwned>(file: &'static str, bytes: &[u8]) -> Result<T, EmitError> {
    serde_json::from_slice(bytes).map_err(|source| EmitError::Json { file, source })
}

/// A value as a document for readers.
pub(super) fn document(value: &Value) -> Result<Vec<u8>, EmitError> {
    canonical::document(value).map_err(unwritable)
}

/// A value as a line.
pub(super) fn line(value: &Value) -> Result<Vec<u8>, EmitError> {
    canonical::line(value).map(String::into_bytes).map_err(unwritable)
}

fn unwritable(source: serde_json::Error) -> EmitError {
    EmitError::Json {
        file: "the export",
        source,
    }
}

/// A version in a format.
///
/// # Errors
/// [`EmitError::Json`] when something has no JSON form.
pub fn export(version: &Version, format: Format) -> Result<Exported, EmitError> {
    match format {
        Format::Swebench => swebench::export(version),
        Format::Hf => Ok(hf::export(version)),
        Format::Croissant => Ok(hf::table(version)),
        Format::Harbor => harbor::export(version),
        Format::Inspect => inspect::export(version),
    }
}
