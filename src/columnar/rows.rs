//! Rows of a Parquet file as lines of JSON.

use jiff::Timestamp;
use parquet::basic::ConvertedType;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader as _};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value as Json};

/// The rows of a table, in their order.
pub struct Rows {
    iter: RowIter<'static>,
    /// Whether each column holds JSON as text.
    is_json: Vec<bool>,
    read: u64,
}

/// A row that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// The table is damaged, or of a kind that is not read.
    #[error(transparent)]
    Table(#[from] ParquetError),
    /// A value has no JSON form.
    #[error("row {row}, column `{column}`: it holds {what}")]
    Column {
        /// The row, from 1.
        row: u64,
        /// The column.
        column: String,
        /// What it holds.
        what: &'static str,
    },
}

impl Rows {
    /// The rows of a file, or of its bytes.
    ///
    /// # Errors
    /// When it is no table.
    pub fn open(file: impl ChunkReader + 'static) -> Result<Self, ParquetError> {
        let reader = SerializedFileReader::new(file)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let columns = schema.root_schema().get_fields().iter();
        let is_json = columns.map(|column| column.get_basic_info().converted_type() == ConvertedType::JSON);
        Ok(Self {
            is_json: is_json.collect(),
            iter: RowIter::from_file_into(Box::new(reader)),
            read: 0,
        })
    }

    /// Writes the next row as a line of JSON (without its end), its columns in their order; `false` at the table's end.
    ///
    /// # Errors
    /// [`RowError`], for this row.
    pub fn next_into(&mut self, line: &mut Vec<u8>) -> Result<bool, RowError> {
        let Some(row) = self.iter.next() else {
            return Ok(false);
        };
        let row = row?;
        self.read += 1;
        write_row(line, &row, &self.is_json).map_err(|(column, what)| RowError::Column {
            row: self.read,
            column,
            what,
        })?;
        Ok(true)
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
