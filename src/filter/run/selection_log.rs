//! Selection logs of datasets: one file a run, in the workspace, named by its content.
//!
//! A row is no candidate of the ledger (its pull request may never have been mined, its id may name none), so its
//! decisions are kept beside it: `.quarry/selections/<dataset>/<hash>.jsonl.zst`, first a line about the run, then a
//! line a decision. The same run again writes the same file.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::FilterError;
use crate::domain::decision::Verdict;
use crate::domain::hash::hex;
use crate::domain::ids::{CandidateId, RuleId};
use crate::recipe::LoadedRecipe;
use crate::workspace::Context;

/// The format of these files.
const FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    selection_log: u32,
    dataset: String,
    version: String,
    recipe_hash: String,
    input: String,
}

/// One decision about a row, read back from a selection log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowDecision {
    /// The row's place in its input, from 1.
    pub row: u64,
    /// The row's id.
    pub instance_id: Option<String>,
    /// The rule.
    pub rule: RuleId,
    /// What it said.
    pub verdict: Verdict,
    /// Whether the row went on.
    pub kept: bool,
    /// The values it saw.
    pub observed: serde_json::Value,
    /// Why, for a reader.
    pub evidence: String,
}

/// A log being written.
pub(super) struct LogWriter {
    folder: Utf8PathBuf,
    encoder: zstd::Encoder<'static, NamedTempFile>,
    hash: Sha256,
}

impl LogWriter {
    /// Begins the log of a run of `recipe` over `input`.
    pub(super) fn begin(context: &Context, recipe: &LoadedRecipe, input: &str) -> Result<Self, FilterError> {
        let folder = context.workspace.selections().join(&recipe.recipe.dataset.name);
        let write = |cause| FilterError::Write {
            file: folder.to_string(),
            cause,
        };
        fs::create_dir_all(&folder).map_err(write)?;
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        let file = tempfile::Builder::new()
            .permissions(permissions)
            .tempfile_in(&folder)
            .map_err(write)?;
        let encoder = zstd::Encoder::new(file, 1).map_err(write)?;
        let mut log = Self {
            folder: folder.clone(),
            encoder,
            hash: Sha256::new(),
        };
        let head = Head {
            selection_log: FORMAT,
            dataset: recipe.recipe.dataset.name.clone(),
            version: recipe.recipe.dataset.version.clone(),
            recipe_hash: recipe.hash.clone(),
            // Only the name: where a file lies is no part of what was decided.
            input: Utf8Path::new(input).file_name().unwrap_or(input).to_owned(),
        };
        let mut line = serde_json::to_vec(&head).map_err(|error| write(error.into()))?;
        line.push(b'\n');
        log.write(&line)?;
        Ok(log)
    }

    /// Appends whole lines.
    pub(super) fn write(&mut self, lines: &[u8]) -> Result<(), FilterError> {
        self.hash.update(lines);
        let folder = &self.folder;
        self.encoder.write_all(lines).map_err(|cause| FilterError::Write {
            file: folder.to_string(),
            cause,
        })
    }

    /// Gives the log its name; until then there is none.
    pub(super) fn finish(self) -> Result<Utf8PathBuf, FilterError> {
        let Self {
            folder,
            encoder,
            hash,
        } = self;
        let write = |cause| FilterError::Write {
            file: folder.to_string(),
            cause,
        };
        let file = encoder.finish().map_err(write)?;
        let name = hex(&hash.finalize()[..16]);
        let path = folder.join(format!("{name}.jsonl.zst"));
        file.persist(&path).map_err(|error| write(error.error))?;
        Ok(path)
    }
}

/// What selection logs of this workspace say of a candidate: log by log (dataset, then file name), decisions in their
/// order.
///
/// # Errors
/// When a log cannot be read.
pub fn row_decisions(
    context: &Context,
    candidate: &CandidateId,
) -> Result<Vec<(String, RowDecision)>, FilterError> {
    let root = context.workspace.selections();
    let wanted = candidate.instance();
    // The id stands in a line as JSON; lines without it need not be read.
    let needle = format!("{:?}", wanted.as_str());
    let mut found = Vec::new();
    for dataset in entries(&root)? {
        for log in entries(&dataset)? {
            if !log.as_str().ends_with(".jsonl.zst") {
                continue;
            }
            let read = |cause| FilterError::Read {
                file: log.to_string(),
                cause,
            };
            let file = fs::File::open(&log).map_err(read)?;
            let reader = BufReader::new(zstd::Decoder::new(file).map_err(read)?);
            for line in reader.lines().skip(1) {
                let line = line.map_err(read)?;
                if !line.contains(&needle) {
                    continue;
                }
                let decision: RowDecision =
                    serde_json::from_str(&line).map_err(|error| read(error.into()))?;
                if decision.instance_id.as_deref() == Some(wanted.as_str()) {
                    found.push((dataset.file_name().unwrap_or_default().to_owned(), decision));
                }
            }
        }
    }
    Ok(found)
}

/// A folder's entries by name; none when there is no such folder.
fn entries(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, FilterError> {
    let read = |cause| FilterError::Read {
        file: folder.to_string(),
        cause,
    };
    if !folder.is_dir() {
        return Ok(vec![]);
    }
    let found = folder.read_dir_utf8().map_err(read)?;
    let mut paths = found
        .map(|entry| entry.map(camino::Utf8DirEntry::into_path))
        .collect::<Result<Vec<_>, _>>()
        .map_err(read)?;
    paths.sort();
    Ok(paths)
}
