//! A Parquet file without some of its rows: the same schema, the same values, nothing decoded and written anew.

use std::fs::File;
use std::sync::Arc;

use camino::Utf8Path;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use super::{again, wrap};
use crate::columnar::properties;
use crate::filter::run::FilterError;

/// Copies the rows of `source` that `mask` marks (one mark a row) to `target`.
pub(in crate::filter::run) fn copy(
    name: &str,
    source: &File,
    mask: &[bool],
    path: &Utf8Path,
    target: &File,
) -> std::result::Result<(), FilterError> {
    let reader = SerializedFileReader::new(again(name, source)?).map_err(wrap(name))?;
    let target = target.try_clone().map_err(|cause| FilterError::Write {
        file: path.to_string(),
        cause,
    })?;
    copy_groups(&reader, mask, target).map_err(wrap(path.as_str()))
}

fn copy_groups(reader: &SerializedFileReader<File>, mask: &[bool], target: File) -> Result<()> {
    let metadata = reader.metadata().file_metadata();
    let schema = metadata.schema_descr().root_schema_ptr();
    let properties = properties()?
        .set_key_value_metadata(metadata.key_value_metadata().cloned())
        .build();
    let mut writer = SerializedFileWriter::new(target, schema, Arc::new(properties))?;
    let mut start = 0;
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index)?;
        let rows = usize::try_from(group.metadata().num_rows())?;
        let marks = mask.get(start..start + rows).ok_or_else(|| short("rows"))?;
        start += rows;
        if !marks.contains(&true) {
            continue;
        }
        let mut out = writer.next_row_group()?;
        let mut column = 0;
        while let Some(mut to) = out.next_column()? {
            copy_column(group.get_column_reader(column)?, &mut to, marks)?;
            to.close()?;
            column += 1;
        }
        out.close()?;
    }
    writer.close()?;
    Ok(())
}

fn copy_column(from: ColumnReader, to: &mut SerializedColumnWriter<'_>, marks: &[bool]) -> Result<()> {
    match from {
        ColumnReader::BoolColumnReader(from) => copy_values(from, to.typed::<BoolType>(), marks),
        ColumnReader::Int32ColumnReader(from) => copy_values(from, to.typed::<Int32Type>(), marks),
        ColumnReader::Int64ColumnReader(from) => copy_values(from, to.typed::<Int64Type>(), marks),
        ColumnReader::Int96ColumnReader(from) => copy_values(from, to.typed::<Int96Type>(), marks),
        ColumnReader::FloatColumnReader(from) => copy_values(from, to.typed::<FloatType>(), marks),
        ColumnReader::DoubleColumnReader(from) => copy_values(from, to.typed::<DoubleType>(), marks),
        ColumnReader::ByteArrayColumnReader(from) => copy_values(from, to.typed::<ByteArrayType>(), marks),
        ColumnReader::FixedLenByteArrayColumnReader(from) => {
            copy_values(from, to.typed::<FixedLenByteArrayType>(), marks)
        }
    }
}

fn copy_values<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    marks: &[bool],
) -> Result<()> {
    let (top, repeated) = (
        to.get_descriptor().max_def_level(),
        to.get_descriptor().max_rep_level() > 0,
    );
    let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut records = 0;
    while records < marks.len() {
        let wanted = marks.len() - records;
        let (read, _, _) = from.read_records(
            wanted,
            Some(&mut definitions),
            Some(&mut repetitions),
            &mut values,
        )?;
        if read == 0 {
            return Err(short("a column's values"));
        }
        records += read;
    }
    // One step is one level: a value, a null, or an empty list. A record begins where nothing repeats.
    if top == 0 {
        definitions = vec![0; values.len()];
    }
    let mut values = values.into_iter();
    let (mut kept_definitions, mut kept_repetitions, mut kept_values) = (Vec::new(), Vec::new(), Vec::new());
    let mut record = 0;
    let mut keep = false;
    for (step, definition) in definitions.into_iter().enumerate() {
        let repetition = if repeated {
            repetitions.get(step).copied().unwrap_or(0)
        } else {
            0
        };
        if repetition == 0 {
            keep = marks.get(record).copied().unwrap_or(false);
            record += 1;
        }
        let value = if definition == top {
            Some(values.next().ok_or_else(|| short("a column's values"))?)
        } else {
            None
        };
        if keep {
            kept_definitions.push(definition);
            kept_repetitions.push(repetition);
            kept_values.extend(value);
        }
    }
    to.write_batch(
        &kept_values,
        (top > 0).then_some(kept_definitions.as_slice()),
        repeated.then_some(kept_repetitions.as_slice()),
    )?;
    Ok(())
}

fn short(what: &str) -> ParquetError {
    ParquetError::General(format!("{what} end too early"))
}
