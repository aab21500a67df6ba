//! Rows of JSON as a Parquet file, and ([`Rows`]) back. Columns stand in the order in which rows first name them; a column's type is the one
//! that all its values have. Where they have several, or one that no type holds exactly, the column is of Parquet's JSON
//! type and keeps each value as it is written: nothing changes on the way there and back.

mod rows;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{PrimitiveTypeBuilder, Type, TypePtr};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

pub use rows::{RowError, Rows};

/// What can go wrong with a table.
pub use parquet::errors::ParquetError as ColumnarError;

/// Rows in a row group: what readers of datasets like to take at once.
const GROUP: usize = 1000;

/// A column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Only nulls so far.
    Unseen,
    Text,
    Int,
    Double,
    Bool,
    Texts,
    /// Anything else, as it is written.
    Json,
}

impl Kind {
    /// The type of a value as it is written.
    fn of(value: &RawValue) -> Self {
        let text = value.get();
        match text.as_bytes().first() {
            Some(b'n') => Self::Unseen,
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') if read::<String>(value).is_some() => Self::Text,
            Some(b'[') if read::<Vec<Option<String>>>(value).is_some() => Self::Texts,
            Some(b'-' | b'0'..=b'9') => Self::of_number(text),
            _ => Self::Json,
        }
    }

    fn of_number(text: &str) -> Self {
        if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
            let is_kept = text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
            return if is_kept { Self::Int } else { Self::Json };
        }
        // A double keeps a decimal when it is written with the same digits again.
        let is_kept = text.parse::<f64>().is_ok_and(|number| {
            let again = serde_json::to_string(&number).unwrap_or_default();
            number.is_finite() && digits(&again) == digits(text)
        });
        if is_kept { Self::Double } else { Self::Json }
    }

    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unseen, known) | (known, Self::Unseen) => known,
            (left, right) if left == right => left,
            _ => Self::Json,
        }
    }
}

/// A value, decoded; `None` when it is not of that type, or holds what the type cannot (half a surrogate pair).
fn read<T: serde::de::DeserializeOwned>(value: &RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

/// A number's sign and the digits that say which it is: none of the zeros around them, no point, no exponent.
fn digits(number: &str) -> (bool, String) {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    (number.starts_with('-'), digits.trim_matches('0').to_owned())
}

/// What the rows' columns are, learnt row by row.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<String>,
    kinds: BTreeMap<String, Kind>,
}

impl Columns {
    /// Takes one row into account.
    ///
    /// # Errors
    /// When it is no JSON object.
    pub fn learn(&mut self, line: &[u8]) -> serde_json::Result<()> {
        let Ordered(row) = serde_json::from_slice(line)?;
        for (name, value) in row {
            let kind = Kind::of(&value);
            if let Some(known) = self.kinds.get_mut(&name) {
                *known = known.join(kind);
            } else {
                self.names.push(name.clone());
                self.kinds.insert(name, kind);
            }
        }
        Ok(())
    }

    fn schema(&self) -> Result<TypePtr> {
        let fields = self
            .names
            .iter()
            .map(|name| column_type(name, self.kinds[name]).map(Arc::new));
        Ok(Arc::new(
            Type::group_type_builder("schema")
                .with_fields(fields.collect::<Result<_>>()?)
                .build()?,
        ))
    }
}

/// How files of ours are written: compressed by zstd.
///
/// # Errors
/// Never in practice: the level is one that there is.
pub fn properties() -> Result<WriterPropertiesBuilder> {
    Ok(WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?)))
}

/// Writes the rows in `lines` (JSONL, all of which `columns` has learnt) to `target`.
///
/// # Errors
/// When the lines cannot be read, are no rows, or the target cannot be written.
pub fn write<T: Write + Send>(lines: impl BufRead, columns: &Columns, target: T) -> Result<()> {
    let other = |error: std::io::Error| ParquetError::External(Box::new(error));
    let schema = columns.schema()?;
    let mut writer = SerializedFileWriter::new(target, schema, Arc::new(properties()?.build()))?;
    let mut group: Vec<BTreeMap<String, Box<RawValue>>> = Vec::new();
    let mut rows = lines.lines();
    loop {
        let row = rows.next().transpose().map_err(other)?;
        let ended = row.is_none();
        if let Some(row) = row {
            let row = serde_json::from_str(&row);
            group.push(row.map_err(|error| other(error.into()))?);
        }
        if group.len() == GROUP || (ended && !group.is_empty()) {
            write_group(&mut writer, columns, &group)?;
            group.clear();
        }
        if ended {
            writer.close()?;
            return Ok(());
        }
    }
}

/// Rows (JSONL) as the bytes of a Parquet file.
///
/// # Errors
/// When a line is no row.
pub fn table(rows: &[u8]) -> Result<Vec<u8>> {
    let mut columns = Columns::default();
    for line in rows.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        columns
            .learn(line)
            .map_err(|error| ParquetError::External(Box::new(error)))?;
    }
    let mut table = vec![];
    write(rows, &columns, &mut table)?;
    Ok(table)
}

fn write_group<T: Write + Send>(
    writer: &mut SerializedFileWriter<T>,
    columns: &Columns,
    rows: &[BTreeMap<String, Box<RawValue>>],
) -> Result<()> {
    let mut out = writer.next_row_group()?;
    for name in &columns.names {
        let values = rows.iter().map(|row| {
            row.get(name)
                .map(|value| &**value)
                .filter(|value| value.get() != "null")
        });
        if let Some(mut column) = out.next_column()? {
            write_column(&mut column, columns.kinds[name], values)?;
            column.close()?;
        }
    }
    out.close()?;
    Ok(())
}

fn write_column<'v>(
    column: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    values: impl Iterator<Item = Option<&'v RawValue>> + Clone,
) -> Result<()> {
    let levels: Vec<i16> = values.clone().map(|value| i16::from(value.is_some())).collect();
    let present = values.clone().flatten();
    match kind {
        Kind::Int => {
            let numbers: Vec<i64> = present.filter_map(read).collect();
            column
                .typed::<Int64Type>()
                .write_batch(&numbers, Some(&levels), None)?;
        }
        Kind::Double => {
            let numbers: Vec<f64> = present.filter_map(read).collect();
            column
                .typed::<DoubleType>()
                .write_batch(&numbers, Some(&levels), None)?;
        }
        Kind::Bool => {
            let truths: Vec<bool> = present.filter_map(read).collect();
            column
                .typed::<BoolType>()
                .write_batch(&truths, Some(&levels), None)?;
        }
        Kind::Text | Kind::Unseen => {
            let texts: Vec<ByteArray> = present.filter_map(read::<String>).map(byte_array).collect();
            column
                .typed::<ByteArrayType>()
                .write_batch(&texts, Some(&levels), None)?;
        }
        Kind::Json => {
            let texts: Vec<ByteArray> = present.map(|value| byte_array(value.get().to_owned())).collect();
            column
                .typed::<ByteArrayType>()
                .write_batch(&texts, Some(&levels), None)?;
        }
        Kind::Texts => return write_texts(column, values),
    }
    Ok(())
}

/// Lists of texts. Definition levels: 0 no list, 1 an empty one, 2 a null in it, 3 a text.
fn write_texts<'v>(
    column: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = Option<&'v RawValue>>,
) -> Result<()> {
    let (mut texts, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    for value in values {
        match value.and_then(read::<Vec<Option<String>>>) {
            None => (definitions.push(0), repetitions.push(0)),
            Some(items) if items.is_empty() => (definitions.push(1), repetitions.push(0)),
            Some(items) => {
                for (index, item) in items.into_iter().enumerate() {
                    definitions.push(if item.is_none() { 2 } else { 3 });
                    repetitions.push(i16::from(index > 0));
                    texts.extend(item.map(byte_array));
                }
                ((), ())
            }
        };
    }
    column
        .typed::<ByteArrayType>()
        .write_batch(&texts, Some(&definitions), Some(&repetitions))?;
    Ok(())
}

fn column_type(name: &str, kind: Kind) -> Result<Type> {
    match kind {
        Kind::Int => optional(name, Physical::INT64).build(),
        Kind::Double => optional(name, Physical::DOUBLE).build(),
        Kind::Bool => optional(name, Physical::BOOLEAN).build(),
        Kind::Text | Kind::Unseen => text(name).build(),
        Kind::Json => optional(name, Physical::BYTE_ARRAY)
            .with_converted_type(ConvertedType::JSON)
            .with_logical_type(Some(LogicalType::Json))
            .build(),
        Kind::Texts => {
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(text("element").build()?)])
                .build()?;
            Type::group_type_builder(name)
                .with_repetition(Repetition::OPTIONAL)
                .with_converted_type(ConvertedType::LIST)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list)])
                .build()
        }
    }
}

fn optional(name: &str, physical: Physical) -> PrimitiveTypeBuilder<'_> {
    Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL)
}

fn text(name: &str) -> PrimitiveTypeBuilder<'_> {
    optional(name, Physical::BYTE_ARRAY)
        .with_converted_type(ConvertedType::UTF8)
        .with_logical_type(Some(LogicalType::String))
}

fn byte_array(text: String) -> ByteArray {
    ByteArray::from(text.into_bytes())
}

/// An object's entries in the order they stand.
struct Ordered(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Ordered;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Ordered, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
