//! Documents that are not UTF-8: read in the encoding that they name, else as Windows-1252 (of which Latin-1's letters are
//! a part), so that a reader sees letters and no marks of what was lost. Only for showing: bytes stay what they are.

use std::borrow::Cow;

use bstr::ByteSlice as _;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How those lines of a file are read that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

impl Charset {
    /// By what a file's first two lines declare (`-*- coding: latin-1 -*-`).
    pub fn of(file: &[u8]) -> Self {
        Self(file.lines().take(2).find_map(declared).unwrap_or(WINDOWS_1252))
    }

    /// Bytes as text, line by line: a diff may hold lines of two encodings.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Cow::Borrowed(text);
        }
        let mut text = String::with_capacity(bytes.len() + 16);
        for line in bytes.lines_with_terminator() {
            match std::str::from_utf8(line) {
                Ok(line) => text.push_str(line),
                Err(_) => text.push_str(&self.0.decode_without_bom_handling(line).0),
            }
        }
        Cow::Owned(text)
    }
}

/// A file's bytes as text.
pub fn decode(file: &[u8]) -> Cow<'_, str> {
    Charset::of(file).decode(file)
}

/// The encoding that a line names, by any of its usual names; none that an ASCII text is not read the same in.
fn declared(line: &[u8]) -> Option<&'static Encoding> {
    let rest = &line[line.find(b"coding")? + b"coding".len()..];
    let rest = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"="))?;
    let name: Vec<u8> = rest
        .trim_ascii_start()
        .iter()
        .map(|byte| if *byte == b'_' { b'-' } else { *byte })
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'.')
        .collect();
    let joined = name.replace("-", "");
    Encoding::for_label(&name)
        .or_else(|| Encoding::for_label(&joined))
        .filter(|encoding| encoding.is_ascii_compatible() && *encoding != UTF_8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_utf8_has_letters() {
        assert_eq!(decode(b"caf\xe9 \x80\n\xc3\xa9\r\n"), "café €\né\r\n");
        assert_eq!(
            decode(b"# -*- coding: iso-8859-2 -*-\n\xb3\n"),
            "# -*- coding: iso-8859-2 -*-\nł\n"
        );
        assert_eq!(decode(b".. coding=latin_1\n\n\xb3\n"), ".. coding=latin_1\n\n³\n");
        for lie in ["utf-8", "utf-16", "unknown", ""] {
            let mut file = format!("# coding: {lie}\n").into_bytes();
            file.extend_from_slice(b"\xe9");
            assert_eq!(decode(&file), format!("# coding: {lie}\né"));
        }
        assert!(matches!(decode("é".as_bytes()), Cow::Borrowed("é")));
    }

    proptest! {
        #[test]
        fn lines_are_kept(bytes in prop::collection::vec(prop::sample::select(vec![b'a', b'\n', b'\r', 0xe9, 0xc3, 0xa9]), 0..20)) {
            prop_assert_eq!(decode(&bytes).matches('\n').count(), bytes.find_iter(b"\n").count());
            prop_assert!(!decode(&bytes).contains(char::REPLACEMENT_CHARACTER));
        }
    }
}
