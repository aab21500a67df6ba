//! Rows of a Parquet file as lines of JSON.

use std::fs::File;

use jiff::Timestamp;
use parquet::basic::ConvertedType;
use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value as Json};

use super::wrap;
use crate::filter::run::FilterError;
use crate::filter::run::batch::Batches;

/// How much JSON goes into a batch, in bytes.
const BATCH: usize = 4 << 20;

/// The rows of a file, in their order.
pub(in crate::filter::run) struct ParquetRows {
    name: String,
    rows: RowIter<'static>,
    /// Whether each column holds JSON as text.
    is_json: Vec<bool>,
    read: u64,
    batch: Vec<u8>,
}

impl ParquetRows {
    /// The rows of an open file.
    pub(in crate::filter::run) fn open(name: &str, file: File) -> Result<Self, FilterError> {
        let reader = SerializedFileReader::new(file).map_err(wrap(name))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let columns = schema.root_schema().get_fields().iter();
        let is_json = columns.map(|column| column.get_basic_info().converted_type() == ConvertedType::JSON);
        Ok(Self {
            name: name.to_owned(),
            is_json: is_json.collect(),
            rows: RowIter::from_file_into(Box::new(reader)),
            read: 0,
            batch: Vec::new(),
        })
    }
}

impl Batches for ParquetRows {
    type Error = FilterError;

    fn next(&mut self) -> Result<&[u8], FilterError> {
        self.batch.clear();
        while self.batch.len() < BATCH {
            let Some(row) = self.rows.next() else { break };
            let row = row.map_err(wrap(&self.name))?;
            self.read += 1;
            write_row(&mut self.batch, &row, &self.is_json).map_err(|(column, what)| {
                FilterError::Column {
                    file: self.name.clone(),
                    row: self.read,
                    column,
                    what,
                }
            })?;
            self.batch.push(b'\n');
        }
        Ok(&self.batch)
    }
}

type Refused = (String, &'static str);

/// Writes a row as an object, its columns in their order.
fn write_row(line: &mut Vec<u8>, row: &Row, is_json: &[bool]) -> Result<(), Refused> {
    line.push(b'{');
    for (index, (column, field)) in row.get_column_iter().enumerate() {
        let refuse = |what| (column.clone(), what);
        if index > 0 {
            line.extend_from_slice(b", ");
        }
        if let (Field::Str(text), Some(true)) = (field, is_json.get(index)) {
            serde_json::to_writer(&mut *line, column).map_err(|_| refuse("a name that JSON cannot hold"))?;
            line.extend_from_slice(b": ");
            write_json(line, text)
                .ok_or_else(|| refuse("a text that is no JSON, though its type says so"))?;
            continue;
        }
        let value = json(field).map_err(refuse)?;
        let written = serde_json::to_writer(&mut *line, column).and_then(|()| {
            line.extend_from_slice(b": ");
            serde_json::to_writer(&mut *line, &value)
        });
        written.map_err(|_| refuse("a value that JSON cannot hold"))?;
    }
    line.push(b'}');
    Ok(())
}

/// Writes a text that holds JSON, as it is but on one line: in JSON, line ends stand between values only.
fn write_json(line: &mut Vec<u8>, text: &str) -> Option<()> {
    serde_json::from_str::<&RawValue>(text).ok()?;
    line.extend(text.bytes().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        byte => byte,
    }));
    Some(())
}

/// A value as JSON: moments and days as ISO 8601 in UTC, decimals as texts, numbers that are none as `null`.
fn json(field: &Field) -> Result<Json, &'static str> {
    let moment = |time: Result<Timestamp, jiff::Error>| match time {
        Ok(time) => Ok(Json::from(time.to_string())),
        Err(_) => Err("a moment beyond the calendar"),
    };
    let float = |number: f64| Number::from_f64(number).map_or(Json::Null, Json::Number);
    Ok(match field {
        Field::Null => Json::Null,
        Field::Bool(truth) => Json::from(*truth),
        Field::Byte(number) => Json::from(*number),
        Field::Short(number) => Json::from(*number),
        Field::Int(number) => Json::from(*number),
        Field::Long(number) => Json::from(*number),
        Field::UByte(number) => Json::from(*number),
        Field::UShort(number) => Json::from(*number),
        Field::UInt(number) => Json::from(*number),
        Field::ULong(number) => Json::from(*number),
        Field::Float16(number) => float(number.to_f64()),
        Field::Float(number) => float(f64::from(*number)),
        Field::Double(number) => float(*number),
        Field::Str(text) => Json::from(text.as_str()),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => Json::from(text),
            Err(_) => return Err("bytes that are no text"),
        },
        Field::Date(days) => moment(Timestamp::from_second(i64::from(*days) * 86_400))
            .map(|day| Json::from(day.as_str().unwrap_or_default().get(..10).unwrap_or_default()))?,
        Field::TimestampMillis(time) => moment(Timestamp::from_millisecond(*time))?,
        Field::TimestampMicros(time) => moment(Timestamp::from_microsecond(*time))?,
        Field::TimeMillis(time) => Json::from(*time),
        Field::TimeMicros(time) => Json::from(*time),
        Field::Decimal(_) => Json::from(field.to_string()),
        Field::Group(row) => {
            let fields = row
                .get_column_iter()
                .map(|(name, field)| Ok::<_, &'static str>((name.clone(), json(field)?)));
            Json::Object(fields.collect::<Result<Map<_, _>, _>>()?)
        }
        Field::ListInternal(list) => Json::Array(list.elements().iter().map(json).collect::<Result<_, _>>()?),
        Field::MapInternal(map) => {
            let entries = map.entries().iter().map(|(key, value)| match json(key)? {
                Json::String(key) => Ok((key, json(value)?)),
                other => Ok((other.to_string(), json(value)?)),
            });
            Json::Object(entries.collect::<Result<Map<_, _>, &'static str>>()?)
        }
    })
}
