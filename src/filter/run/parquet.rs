//! Parquet in and out.

mod columns;
mod copy;
mod rows;

use std::fs::File;
use std::io::Seek as _;

pub(super) use columns::{Columns, write};
pub(super) use copy::copy;
pub(super) use rows::ParquetRows;

use super::FilterError;
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
