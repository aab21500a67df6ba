//! The shell of export: a sound version's folder into a new folder of another tool's files.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::{RunError, verify};
use crate::columnar;
use crate::domain::ids::InstanceId;
use crate::emit::export::{Exported, Format, Version, croissant, export, hf};
use crate::emit::versions::{self, Release, VersionError};
use crate::emit::{EmitError, canonical};

/// What was exported.
#[derive(Debug, Clone)]
pub struct ExportReport {
    /// The folder.
    pub folder: Utf8PathBuf,
    /// Whether it is new.
    pub release: Release,
    /// How many files are in it.
    pub files: usize,
    /// How many instances the version has.
    pub instances: usize,
    /// Those that the format cannot hold, and why.
    pub left_out: BTreeMap<InstanceId, String>,
}

/// Writes the version in `folder` to `target` in a format. A run killed at any moment leaves the whole folder or none.
///
/// # Errors
/// [`RunError`] when the version is not sound, or `target` is there with other files.
pub fn export_version(
    folder: &Utf8Path,
    format: Format,
    target: &Utf8Path,
) -> Result<ExportReport, RunError> {
    // A bare name has no parent to be put together beside.
    let target = &camino::absolute_utf8(target).unwrap_or_else(|_| target.to_owned());
    let checked = verify(folder)?;
    if !checked.problems.is_empty() {
        return Err(RunError::Unsound {
            folder: folder.to_owned(),
            problems: checked.problems.len(),
        });
    }
    let version = Version::read(&versions::read(folder)?)?;
    let Exported {
        mut files,
        tables,
        left_out,
    } = export(&version, format)?;
    if left_out.len() == version.instances.len() {
        return Err(RunError::NothingHeld {
            folder: folder.to_owned(),
            left_out,
        });
    }
    for (name, rows) in tables {
        let table = columnar::table(&rows).map_err(|source| RunError::Table {
            name: name.clone(),
            source,
        })?;
        let metadata = croissant::metadata(&version, &name, &table)?;
        let metadata = canonical::document(&metadata).map_err(|source| EmitError::Json {
            file: hf::METADATA,
            source,
        })?;
        files.insert(hf::METADATA.to_owned(), metadata);
        files.insert(name, table);
    }
    let release = versions::release(target, &files).map_err(|error| match error {
        VersionError::Released { folder, differing } => RunError::Taken { folder, differing },
        other => other.into(),
    })?;
    Ok(ExportReport {
        folder: target.to_owned(),
        release,
        files: files.len(),
        instances: version.instances.len(),
        left_out,
    })
}
