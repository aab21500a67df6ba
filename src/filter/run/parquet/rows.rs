//! Rows of a Parquet file as batches of lines.

use std::fs::File;

use super::wrap;
use crate::columnar::{RowError, Rows};
use crate::filter::run::FilterError;
use crate::filter::run::batch::Batches;

/// How much JSON goes into a batch, in bytes.
const BATCH: usize = 4 << 20;

/// The rows of a file, in their order.
pub(in crate::filter::run) struct ParquetRows {
    name: String,
    rows: Rows,
    batch: Vec<u8>,
}

impl ParquetRows {
    /// The rows of an open file.
    pub(in crate::filter::run) fn open(name: &str, file: File) -> Result<Self, FilterError> {
        Ok(Self {
            name: name.to_owned(),
            rows: Rows::open(file).map_err(wrap(name))?,
            batch: Vec::new(),
        })
    }
}

impl Batches for ParquetRows {
    type Error = FilterError;

    fn next(&mut self) -> Result<&[u8], FilterError> {
        self.batch.clear();
        while self.batch.len() < BATCH {
            match self.rows.next_into(&mut self.batch) {
                Ok(true) => self.batch.push(b'\n'),
                Ok(false) => break,
                Err(RowError::Table(cause)) => return Err(wrap(&self.name)(cause)),
                Err(RowError::Column { row, column, what }) => {
                    return Err(FilterError::Column {
                        file: self.name.clone(),
                        row,
                        column,
                        what,
                    });
                }
            }
        }
        Ok(&self.batch)
    }
}
