//! Paths inside a repository: bytes, as git has them.

use std::fmt;

use bstr::{BString, ByteSlice};
use serde::{Deserialize, Serialize};

/// A path inside a repository, relative to its root, `/`-separated; any bytes but NUL, as git allows.
///
/// In JSON and on a terminal a UTF-8 path is itself (on a terminal but for one with control characters); any other is written
/// the way git quotes it
/// (`"caf\351.py"` in double quotes with octal escapes), and read back from that form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct RepoPath(BString);

impl RepoPath {
    /// The path's raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The components, in order; never empty strings.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/').filter(|part| !part.is_empty())
    }

    /// The last component.
    pub fn file_name(&self) -> &[u8] {
        self.components().next_back().unwrap_or_default()
    }

    /// Whether the file name ends in `.suffix` (ASCII, exact case).
    pub fn has_extension(&self, suffix: &str) -> bool {
        self.file_name()
            .strip_suffix(suffix.as_bytes())
            .is_some_and(|stem| stem.ends_with(b".") && stem.len() > 1)
    }

    /// The path as text from which it can be read back: itself, or quoted.
    fn text(&self, is_quoted: impl Fn(char) -> bool) -> String {
        match self.to_str() {
            // A name that is itself a quoted text is quoted again, so that reading it back is exact.
            Some(text) if unquote(text).is_none() && !text.contains(is_quoted) => text.to_owned(),
            _ => quote(&self.0),
        }
    }

    /// The path as UTF-8, if it is.
    pub fn to_str(&self) -> Option<&str> {
        self.0.to_str().ok()
    }
}

impl From<&[u8]> for RepoPath {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for RepoPath {
    fn from(text: String) -> Self {
        match unquote(&text) {
            Some(bytes) => Self(bytes.into()),
            None => Self(text.into()),
        }
    }
}

impl From<RepoPath> for String {
    fn from(path: RepoPath) -> String {
        path.text(|_| false)
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(char::is_control))
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

impl schemars::JsonSchema for RepoPath {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RepoPath".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// Writes bytes the way git quotes a path (`core.quotePath`): in double quotes, with C and octal escapes.
pub fn quote(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() + 8);
    text.push('"');
    for byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            0x20..=0x7e => text.push(char::from(*byte)),
            other => {
                let _ = write!(text, "\\{other:03o}");
            }
        }
    }
    text.push('"');
    text
}

/// Reads a path that git quoted; `None` when the text is not a quoted path.
pub fn unquote(text: &str) -> Option<Vec<u8>> {
    unquote_prefix(text.as_bytes())
        .filter(|(_, length)| *length == text.len())
        .map(|(path, _)| path)
}

/// Reads a path that git quoted at the start of `text`, and how many bytes it takes there, quotes included; `None`
/// when `text` does not start with a quoted path.
pub fn unquote_prefix(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b'"' => return Some((bytes, text.len() - rest.len())),
            b'\\' => {
                let (escape, tail) = rest.split_first()?;
                rest = tail;
                match escape {
                    b'n' => bytes.push(b'\n'),
                    b't' => bytes.push(b'\t'),
                    b'r' => bytes.push(b'\r'),
                    b'a' => bytes.push(7),
                    b'b' => bytes.push(8),
                    b'v' => bytes.push(11),
                    b'f' => bytes.push(12),
                    b'"' | b'\\' => bytes.push(*escape),
                    b'0'..=b'3' => {
                        let digits = rest.get(..2)?;
                        rest = &rest[2..];
                        let octal = [*escape, digits[0], digits[1]];
                        bytes.push(u8::from_str_radix(std::str::from_utf8(&octal).ok()?, 8).ok()?);
                    }
                    _ => return None,
                }
            }
            other => bytes.push(*other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_path_survives_its_text_form(bytes in proptest::collection::vec(1_u8.., 0..40)) {
            let path = RepoPath::from(bytes.as_slice());
            prop_assert_eq!(RepoPath::from(path.to_string()), path);
        }
    }

    #[test]
    fn a_terminal_is_told_no_command_and_json_has_the_path_itself() {
        let path = RepoPath::from("a\n\u{1b}[2J.py");
        assert_eq!(path.to_string(), "\"a\\n\\033[2J.py\"");
        assert_eq!(String::from(path), "a\n\u{1b}[2J.py");
    }

    #[test]
    fn extension_is_of_the_file_name() {
        assert!(RepoPath::from("a/b.py").has_extension("py"));
        assert!(!RepoPath::from("a/.py").has_extension("py"));
        assert!(!RepoPath::from("a/bpy").has_extension("py"));
    }
}
