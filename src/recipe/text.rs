//! From the bytes of a TOML string's value back to the bytes of the file it was written with.

use std::ops::Range;

/// Where each byte of a TOML string's value stands in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextMap {
    value: String,
    /// For each byte of `value`, and for its end: the offset in the file.
    offsets: Vec<usize>,
}

impl TextMap {
    /// Reads the string that is written at `span` of `file` (quotes included). `None` when what stands there does not
    /// read as `value`: then only the span itself can be pointed at.
    pub(super) fn read(file: &str, span: Range<usize>, value: &str) -> Option<Self> {
        let raw = file.get(span.clone())?;
        let mut map = Self {
            value: String::new(),
            offsets: Vec::new(),
        };
        let (quote, body) = ["\"\"\"", "'''", "\"", "'"].into_iter().find_map(|quote| {
            let inner = raw.strip_prefix(quote)?.strip_suffix(quote)?;
            Some((quote, inner))
        })?;
        let mut at = span.start + quote.len();
        let mut rest = body;
        if quote.len() == 3 {
            let skipped = if rest.starts_with("\r\n") {
                2
            } else {
                usize::from(rest.starts_with('\n'))
            };
            rest = &rest[skipped..];
            at += skipped;
        }
        while let Some(letter) = rest.chars().next() {
            let taken = if letter == '\\' && quote.starts_with('"') {
                map.escape(rest, at)?
            } else {
                map.push(letter, at);
                letter.len_utf8()
            };
            rest = &rest[taken..];
            at += taken;
        }
        map.offsets.push(at);
        (map.value == value || map.without_returns(value)).then_some(map)
    }

    /// A TOML reader may give `\n` for a line ending of `\r\n`: then the returns are taken out here as well.
    fn without_returns(&mut self, value: &str) -> bool {
        let mut kept = String::new();
        let mut offsets = Vec::new();
        for (index, letter) in self.value.char_indices() {
            if letter == '\r' && self.value[index..].starts_with("\r\n") {
                continue;
            }
            offsets.extend_from_slice(&self.offsets[index..index + letter.len_utf8()]);
            kept.push(letter);
        }
        offsets.extend(self.offsets.last());
        (self.value, self.offsets) = (kept, offsets);
        self.value == value
    }

    fn push(&mut self, letter: char, at: usize) {
        self.value.push(letter);
        self.offsets.extend((0..letter.len_utf8()).map(|byte| at + byte));
    }

    /// Reads one escape at the start of `rest`; gives its length in the file.
    fn escape(&mut self, rest: &str, at: usize) -> Option<usize> {
        let code = rest[1..].chars().next()?;
        let plain = match code {
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'f' => '\u{c}',
            'r' => '\r',
            'e' => '\u{1b}',
            '"' | '\\' => code,
            'x' | 'u' | 'U' => {
                let digits = match code {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let number = u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok()?;
                let letter = char::from_u32(number)?;
                self.value.push(letter);
                self.offsets.extend(std::iter::repeat_n(at, letter.len_utf8()));
                return Some(2 + digits);
            }
            // A backslash at the end of a line takes the blanks that follow with it.
            _ if code.is_whitespace() => {
                return Some(rest.len() - rest[1..].trim_start_matches([' ', '\t', '\r', '\n']).len());
            }
            _ => return None,
        };
        self.value.push(plain);
        self.offsets.extend(std::iter::repeat_n(at, plain.len_utf8()));
        Some(2)
    }

    /// The bytes of the file that a range of the value was written with.
    pub(super) fn in_file(&self, range: &Range<usize>) -> Range<usize> {
        let last = self.offsets.len() - 1;
        let start = self.offsets[range.start.min(last)];
        let end = self.offsets[range.end.min(last)];
        start..end.max(start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value_of(document: &str) -> (Range<usize>, String) {
        let table = toml::de::DeTable::parse(document).unwrap();
        let value = table.get_ref().values().next().unwrap();
        (value.span(), value.get_ref().as_str().unwrap().to_owned())
    }

    #[test]
    fn every_kind_of_string_maps_back() {
        for (document, needle) in [
            ("a = \"x && yz\"", "yz"),
            ("a = 'x && yz'", "yz"),
            ("a = \"\\\"é\\\" == \\u00e9 yz\"", "yz"),
            ("a = \"\\x41\\e yz\"", "yz"),
            ("a = \"\"\"\nx &&\n  yz\"\"\"", "yz"),
            ("a = \"\"\"\r\nx &&\r\n  yz\"\"\"", "yz"),
            ("a = '''\nx && 'q'\n  yz'''", "yz"),
            ("a = \"\"\"x && \\\n     yz\"\"\"", "yz"),
            ("a = \"\"\"x \\  \r\n\r\n   \"y\" yz\"\"\"\"", "yz"),
        ] {
            let (span, value) = value_of(document);
            let map = TextMap::read(document, span, &value)
                .unwrap_or_else(|| panic!("{document:?} is not {value:?}"));
            let at = value.find(needle).unwrap();
            assert_eq!(
                &document[map.in_file(&(at..at + needle.len()))],
                needle,
                "{document:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_written_as_toml_maps_back(text in "[ -~é🎉\t\n\\\\\"']{0,40}") {
            let document = format!("a = {}", toml::Value::String(text.clone()));
            let (span, value) = value_of(&document);
            prop_assert_eq!(&value, &text);
            let map = TextMap::read(&document, span, &value).unwrap();
            prop_assert_eq!(map.offsets.len(), text.len() + 1);
        }
    }
}
