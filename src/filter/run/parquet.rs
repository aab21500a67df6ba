//! Parquet in and out.

mod copy;
mod rows;

use std::fs::File;
use std::io::{BufReader, Seek as _};

use camino::Utf8Path;

pub(super) use copy::copy;
pub(super) use rows::ParquetRows;

use super::FilterError;
use crate::columnar;
pub(super) use crate::columnar::Columns;
use ::parquet::errors::ParquetError;

/// The same file once more, from its start.
pub(super) fn again(name: &str, file: &File) -> Result<File, FilterError> {
    let read = |cause| FilterError::Read {
        file: name.to_owned(),
        cause,
    };
    let mut file = file.try_clone().map_err(read)?;
    file.rewind().map_err(read)?;
    Ok(file)
}

fn wrap(name: &str) -> impl Fn(ParquetError) -> FilterError + '_ {
    move |cause| FilterError::Parquet {
        file: name.to_owned(),
        cause,
    }
}

/// Writes the rows in `lines` (JSONL, all of which `columns` has learnt) to `target`.
pub(super) fn write(
    path: &Utf8Path,
    mut lines: File,
    columns: &Columns,
    target: &File,
) -> Result<(), FilterError> {
    let io = |cause| FilterError::Write {
        file: path.to_string(),
        cause,
    };
    lines.rewind().map_err(io)?;
    let target = target.try_clone().map_err(io)?;
    columnar::write(BufReader::new(lines), columns, target).map_err(wrap(path.as_str()))
}
