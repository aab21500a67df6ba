//! The shell of import: a file of published rows into a version's folder.

use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::RunError;
use super::named::publish_named;
use crate::columnar::Rows;
use crate::domain::hash::sha256_hex;
use crate::emit::import::{Named, import};
use crate::emit::manifest::Manifest;
use crate::emit::versions::Release;

/// What is imported.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// The file of rows.
    pub file: Utf8PathBuf,
    /// What the dataset is called; by default the file's name.
    pub name: Option<String>,
    /// Which version of it this is.
    pub version: String,
    /// This program's version.
    pub tool_version: String,
}

/// What was imported.
#[derive(Debug, Clone)]
pub struct ImportReport {
    /// The version's folder.
    pub folder: Utf8PathBuf,
    /// Whether it is new.
    pub release: Release,
    /// What the version says of itself.
    pub manifest: Manifest,
}

/// A dataset's name out of a file's: lower-case letters and digits, everything else a `-`.
fn name_of(file: &str) -> String {
    let stem = file.split('.').next().unwrap_or(file);
    let plain = |sign: char| {
        if sign.is_ascii_alphanumeric() {
            sign.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let words: String = stem.chars().map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// Makes a version of the file's rows below `manifests`. Killed at any moment, it leaves the whole version or none.
///
/// # Errors
/// [`RunError`]; then no version is there that was not before.
pub fn import_rows(manifests: &Utf8Path, request: ImportRequest) -> Result<ImportReport, RunError> {
    let read = |source| RunError::ReadRows {
        file: request.file.to_string(),
        source,
    };
    let bytes = fs::read(&request.file).map_err(read)?;
    let file = request.file.file_name().unwrap_or_default().to_owned();
    let named = Named {
        name: request.name.unwrap_or_else(|| name_of(&file)),
        version: request.version,
        sha256: sha256_hex(&bytes),
        tool_version: request.tool_version,
        file,
    };
    let (lines, unit) = if bytes.starts_with(b"PAR1") {
        (table(&bytes).map_err(read)?, "row")
    } else {
        (bytes, "line")
    };
    let (files, manifest) = import(&named, &lines, unit)??;
    let (name, version) = (&manifest.dataset.name, &manifest.dataset.version);
    let (folder, release) = publish_named(manifests, (name, version), &files, "`--name` and `--release`")?;
    Ok(ImportReport {
        folder,
        release,
        manifest,
    })
}

/// A table's rows as lines of JSON.
fn table(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let file = tempfile::tempfile()?;
    io::Write::write_all(&mut &file, bytes)?;
    let mut rows = Rows::open(file).map_err(io::Error::other)?;
    let mut lines = vec![];
    while rows.next_into(&mut lines).map_err(io::Error::other)? {
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_becomes_a_datasets() {
        for (file, name) in [
            ("swebench_lite_test.jsonl", "swebench-lite-test"),
            ("SWE-bench.Verified.parquet", "swe-bench"),
            ("test-00000-of-00001.parquet", "test-00000-of-00001"),
        ] {
            assert_eq!(name_of(file), name);
        }
    }
}
