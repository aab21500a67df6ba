//! One line of a JSONL dataset: where the fields that facts are read from stand in it. The whole line is checked to be
//! JSON, but nothing is copied and nothing that no rule reads is decoded.

use super::stops::Stops;

/// The fields of a SWE-bench-style row that facts are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// `instance_id`.
    InstanceId,
    /// `repo`.
    Repo,
    /// `patch`.
    Patch,
    /// `test_patch`.
    TestPatch,
    /// `docs_patch`: not SWE-bench's; in manifests of ours.
    DocsPatch,
    /// `problem_statement`.
    ProblemStatement,
    /// `created_at`.
    CreatedAt,
    /// `version`.
    Version,
    /// `FAIL_TO_PASS`.
    FailToPass,
    /// `PASS_TO_PASS`.
    PassToPass,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 10] = [
        Self::InstanceId,
        Self::Repo,
        Self::Patch,
        Self::TestPatch,
        Self::DocsPatch,
        Self::ProblemStatement,
        Self::CreatedAt,
        Self::Version,
        Self::FailToPass,
        Self::PassToPass,
    ];

    /// The field's name in a row.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InstanceId => "instance_id",
            Self::Repo => "repo",
            Self::Patch => "patch",
            Self::TestPatch => "test_patch",
            Self::DocsPatch => "docs_patch",
            Self::ProblemStatement => "problem_statement",
            Self::CreatedAt => "created_at",
            Self::Version => "version",
            Self::FailToPass => "FAIL_TO_PASS",
            Self::PassToPass => "PASS_TO_PASS",
        }
    }

    fn of(key: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name().as_bytes() == key)
    }
}

/// A row's fields, as the JSON that stands in its line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields<'a> {
    values: [Option<&'a str>; Field::ALL.len()],
}

impl<'a> Fields<'a> {
    /// A field's JSON; `None` when the row has no such field or it is `null`.
    pub fn get(&self, field: Field) -> Option<&'a str> {
        self.values[field as usize].filter(|value| *value != "null")
    }
}

/// A line that is no JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Byte in the line, from 0.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

fn bad<T>(at: usize, message: impl Into<String>) -> Result<T, BadLine> {
    Err(BadLine {
        at,
        message: message.into(),
    })
}

/// Finds the fields of a line. When a key stands twice, the last counts.
///
/// # Errors
/// When the line is no JSON object.
pub fn scan(line: &[u8]) -> Result<Fields<'_>, BadLine> {
    let text = std::str::from_utf8(line).map_err(|error| BadLine {
        at: error.valid_up_to(),
        message: "this is not UTF-8".to_owned(),
    })?;
    let mut scan = Scan {
        text,
        stops: Stops::new(line),
        at: 0,
        controls: has_controls(line),
    };
    let fields = scan.object()?;
    scan.blanks();
    if scan.at < line.len() {
        bad(scan.at, "something follows the row's object")
    } else {
        Ok(fields)
    }
}

/// Whether a line holds control characters at all. In chunks of bytes without an early end, which the compiler turns into
/// wide instructions; only a line that has some is looked at closely.
fn has_controls(line: &[u8]) -> bool {
    line.chunks(128)
        .any(|chunk| chunk.iter().fold(0, |found, byte| found | u8::from(*byte < 0x20)) != 0)
}

/// The length of the escape that a backslash and this byte begin; 0 for none. A table, because which escape comes next
/// cannot be guessed, and guessing wrong is what scanning would spend its time on.
const ESCAPES: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut index = 0;
    while index < 8 {
        lengths[b"\"\\/bfnrt"[index] as usize] = 2;
        index += 1;
    }
    lengths[b'u' as usize] = 6;
    lengths
};

struct Scan<'a> {
    text: &'a str,
    stops: Stops<'a>,
    at: usize,
    /// Whether the line holds control characters at all (tabs between values, say).
    controls: bool,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn object(&mut self) -> Result<Fields<'a>, BadLine> {
        let mut fields = Fields::default();
        self.blanks();
        if self.peek() != Some(b'{') {
            return bad(self.at, "a row must be a JSON object");
        }
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(fields);
        }
        loop {
            self.blanks();
            let (start, end) = self.string()?;
            let key = &self.text.as_bytes()[start + 1..end - 1];
            self.blanks();
            if self.peek() != Some(b':') {
                return bad(self.at, "expected `:`");
            }
            self.at += 1;
            self.blanks();
            let (start, end) = self.value()?;
            if let Some(field) = Field::of(key) {
                fields.values[field as usize] = Some(&self.text[start..end]);
            }
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(fields);
                }
                Some(_) => return bad(self.at, "expected `,` or `}`"),
                None => return bad(self.at, "the row ends too early"),
            }
        }
    }

    /// The place of the value that begins here, checked.
    fn value(&mut self) -> Result<(usize, usize), BadLine> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        // Lists, objects and numbers are short or rare: serde_json looks at them.
        let start = self.at;
        let mut stream =
            serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<serde::de::IgnoredAny>();
        match stream.next() {
            Some(Ok(_)) => {
                self.at = start + stream.byte_offset();
                Ok((start, self.at))
            }
            Some(Err(error)) => {
                let message = error.to_string();
                let message = message
                    .split(" at line ")
                    .next()
                    .unwrap_or("this is no value")
                    .to_owned();
                bad(start + error.column().saturating_sub(1), message)
            }
            None => bad(start, "the row ends too early"),
        }
    }

    /// The place of the string that begins here, quotes included, checked.
    fn string(&mut self) -> Result<(usize, usize), BadLine> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        if self.peek() != Some(b'"') {
            return bad(start, "expected a string");
        }
        let mut at = start + 1;
        loop {
            let Some(stop) = self.stops.next(at) else {
                return bad(start, "this string does not end");
            };
            at = stop;
            if bytes[at] == b'"' {
                break;
            }
            let code = bytes.get(at + 1).copied().unwrap_or_default();
            let length = usize::from(ESCAPES[usize::from(code)]);
            let digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
            if length == 0 || (length == 6 && !bytes.get(at + 2..at + 6).is_some_and(digits)) {
                return bad(at, "this is no escape");
            }
            at += length;
        }
        self.at = at + 1;
        if self.controls
            && let Some(control) = bytes[start..at].iter().position(|byte| *byte < 0x20)
        {
            return bad(start + control, "a control character must be escaped");
        }
        Ok((start, self.at))
    }
}

/// A JSON string's text; `json` is one that a line was checked to hold, quotes included. An escaped half of a surrogate
/// pair stands for no character and becomes U+FFFD.
pub fn text(json: &str) -> Option<std::borrow::Cow<'_, str>> {
    use std::borrow::Cow;
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else {
        return Some(Cow::Borrowed(inner));
    };
    let mut decoded = String::with_capacity(inner.len());
    let (mut rest, mut next) = (inner, Some(first));
    while let Some(escape) = next {
        decoded.push_str(&rest[..escape]);
        let code = *rest.as_bytes().get(escape + 1)?;
        let mut taken = 2;
        decoded.push(match code {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let (letter, length) = unicode(&rest[escape..])?;
                taken = length;
                letter
            }
            other => char::from(other),
        });
        rest = rest.get(escape + taken..)?;
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    decoded.push_str(rest);
    Some(Cow::Owned(decoded))
}

/// The character of a `\uXXXX` escape, or of a pair of them, and its length.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| u32::from_str_radix(text.get(at + 2..at + 6)?, 16).ok();
    let first = unit(0)?;
    if (0xd800..0xdc00).contains(&first)
        && text.get(6..8) == Some("\\u")
        && let Some(second) = unit(6).filter(|second| (0xdc00..0xe000).contains(second))
    {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return Some((char::from_u32(code)?, 12));
    }
    Some((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn fields_are_found_wherever_they_stand() {
        let line = br#" { "x" : {"patch": "no"}, "patch":"a\"\\", "version": null, "FAIL_TO_PASS": ["a", "]"],"patch" : "\u00e9\n" , "n": -1.5e3 } "#;
        let fields = scan(line).unwrap();
        assert_eq!(fields.get(Field::Patch).and_then(text).as_deref(), Some("é\n"));
        assert_eq!(fields.get(Field::FailToPass), Some(r#"["a", "]"]"#));
        assert_eq!(fields.get(Field::Version), None);
        assert_eq!(fields.get(Field::Repo), None);
    }

    #[test]
    fn what_is_no_row_is_pointed_at() {
        for (line, at, message) in [
            ("[1]", 0, "a row must be a JSON object"),
            (r#"{"a": "b""#, 9, "the row ends too early"),
            (r#"{"a": "b"#, 6, "this string does not end"),
            (r#"{"a" "b"}"#, 5, "expected `:`"),
            (r#"{"a": "b" "c"}"#, 10, "expected `,` or `}`"),
            (r#"{"a": "\x"}"#, 7, "this is no escape"),
            (r#"{"a": "\u00g0"}"#, 7, "this is no escape"),
            ("{\"a\": \"b\tc\"}", 8, "a control character must be escaped"),
            (r#"{"a": nul}"#, 9, "expected ident"),
            (r#"{"a": 1} x"#, 9, "something follows the row's object"),
            (r#"{"a": 1,}"#, 8, "expected a string"),
        ] {
            assert_eq!(
                scan(line.as_bytes()),
                Err(BadLine {
                    at,
                    message: message.to_owned()
                }),
                "{line}"
            );
        }
        assert_eq!(scan(b"{\"a\": \"\xff\"}").unwrap_err().at, 7);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~é🎉\u{0}-\u{1f}\"\\\\]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 12, 4, |inner| {
            prop::collection::vec(inner, 0..4).prop_map(Value::from)
        })
    }

    proptest! {
        #[test]
        fn what_serde_reads_is_found(patch in ".{0,30}", other in value(), tests in value()) {
            let row = json!({"patch": patch, "other": other, "FAIL_TO_PASS": tests});
            let line = row.to_string();
            let fields = scan(line.as_bytes()).unwrap();
            prop_assert_eq!(fields.get(Field::Patch).and_then(text).unwrap(), patch);
            let found = fields.get(Field::FailToPass).map_or(Value::Null, |json| serde_json::from_str(json).unwrap());
            prop_assert_eq!(found, tests);
        }

        /// A line is taken exactly when serde_json takes it as an object.
        #[test]
        fn no_line_is_taken_that_is_not_json(line in r#"(\{|\}|"|\\|\\u|[a-f0-9]|,|:|\[|\]|"patch":|"a"|null|1|-| |\t|é){0,14}"#) {
            let expected = serde_json::from_str::<Value>(&line).is_ok_and(|value| value.is_object());
            prop_assert_eq!(scan(line.as_bytes()).is_ok(), expected, "{}", line);
        }
    }
}
