//! What can end a filter run.

use std::io;

use ::parquet::errors::ParquetError;

use crate::blobs::BlobError;
use crate::domain::ids::CandidateId;
use crate::filter::compile::CompileError;
use crate::filter::dataset::BadRow;
use crate::filter::eval::EvalError;
use crate::store::StoreError;

/// A filter run that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// A rule does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A rule cannot be computed on a candidate.
    #[error("filter `{candidate}`: {error}")]
    Evaluate {
        /// The candidate.
        candidate: CandidateId,
        /// Which rule, and why.
        error: EvalError,
    },
    /// A rule cannot be computed on a row.
    #[error("filter row {row} of `{file}`: {error}")]
    EvaluateRow {
        /// The input as the caller named it.
        file: String,
        /// The row, from 1.
        row: u64,
        /// Which rule, and why.
        error: EvalError,
    },
    /// A line of the input is no JSON object.
    #[error("read `{file}`, line {line}, column {column}: {message}")]
    Line {
        /// The input as the caller named it.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The byte in the line, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The input does not begin with its first row.
    #[error("read `{file}`, line 1: it begins with {mark}, before the first row")]
    Mark {
        /// The input as the caller named it.
        file: String,
        /// Which mark.
        mark: &'static str,
    },
    /// Two rows with one id.
    #[error("read `{file}`, line {line}: the instance id `{id}` is that of line {first}, too")]
    Duplicate {
        /// The input as the caller named it.
        file: String,
        /// The second row, from 1.
        line: u64,
        /// The first row, from 1.
        first: u64,
        /// The id.
        id: String,
    },
    /// A name that does not say which kind of file is wanted.
    #[error("tell from the name `{file}` what to write")]
    Ending {
        /// The file as the caller named it.
        file: String,
    },
    /// A row's field is not of its type.
    #[error("read row {row} of `{file}`: {error}")]
    Row {
        /// The input as the caller named it.
        file: String,
        /// The row, from 1.
        row: u64,
        /// Which field, and what it must be.
        error: BadRow,
    },
    /// The input cannot be read.
    #[error("read `{file}`: {cause}")]
    Read {
        /// The input as the caller named it.
        file: String,
        /// The system's word.
        cause: io::Error,
    },
    /// A Parquet file cannot be read or written.
    #[error("use the Parquet file `{file}`: {cause}")]
    Parquet {
        /// The file as the caller named it.
        file: String,
        /// The library's word.
        cause: ParquetError,
    },
    /// A column of a Parquet file holds what JSON cannot.
    #[error("read row {row} of `{file}`: its column `{column}` holds {what}")]
    Column {
        /// The file as the caller named it.
        file: String,
        /// The row, from 1.
        row: u64,
        /// The column.
        column: String,
        /// What it holds.
        what: &'static str,
    },
    /// An output cannot be written.
    #[error("write `{file}`: {cause}")]
    Write {
        /// The output as the caller named it.
        file: String,
        /// The system's word.
        cause: io::Error,
    },
    /// The ledger refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A diff cannot be read back.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The user asked to stop.
    #[error("finish: it was stopped; no rows and no log of this run are kept")]
    Stopped,
}

impl FilterError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Compile(error) => error.hints(),
            Self::Evaluate { error, .. } | Self::EvaluateRow { error, .. } => error.hints(),
            Self::Store(error) => error.hints(),
            Self::Blob(error) => error.hints(),
            Self::Line { .. } => {
                vec![
                    "a dataset is JSONL (one JSON object a line, as SWE-bench publishes it) or Parquet"
                        .to_owned(),
                ]
            }
            Self::Mark { .. } => {
                vec!["write it as plain UTF-8, without a byte order mark: `iconv -f UTF-16 -t UTF-8`, or `tail -c +4` for UTF-8's own mark".to_owned()]
            }
            Self::Duplicate { .. } => vec![
                "decisions are told by instance id: leave one of the rows out, or give it another id"
                    .to_owned(),
            ],
            Self::Ending { .. } => {
                vec!["name it `….jsonl` for lines of JSON, or `….parquet` for Parquet".to_owned()]
            }
            Self::Row { .. } => vec![
                "rows have SWE-bench's fields; a field that is not known may be `null` or left out"
                    .to_owned(),
            ],
            Self::Column { .. } => vec!["leave the column out, or write the dataset as JSONL".to_owned()],
            Self::Parquet { .. } => {
                vec!["Parquet files may be compressed with snappy or zstd, or not at all".to_owned()]
            }
            Self::Read { .. } | Self::Write { .. } => {
                vec!["check that it exists and that you may use it".to_owned()]
            }
            Self::Stopped => vec!["run the same command again".to_owned()],
        }
    }
}
