//! Bytes to text and back, the way Python reads a source file (PEP 263): a byte order mark, a coding cookie on line 1
//! or 2, else UTF-8. Line ends are `\n`, `\r\n` and `\r` and nothing else.

use std::borrow::Cow;

use encoding_rs::Encoding;
use memchr::memchr2;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A source file as text, with what is needed to get its bytes back.
pub(super) struct Text<'bytes> {
    /// Whether the file starts with UTF-8's byte order mark, which is not in `body`.
    pub(super) bom: bool,
    /// The text.
    pub(super) body: Cow<'bytes, str>,
    codec: Codec,
}

/// Why a file's bytes are not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Undecodable {
    /// A byte that the codec has no character for.
    Bytes {
        /// The codec, as named in the file, or `utf-8`.
        codec: String,
    },
    /// A cookie that names no codec known here.
    Codec {
        /// As named in the file.
        codec: String,
    },
    /// A byte order mark and a cookie that say different things.
    Conflict {
        /// As named in the file.
        codec: String,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Codec {
    Utf8,
    Ascii,
    Latin1,
    /// One byte, one character. Which one does not matter here, but that it may be a letter of a name does: the upper
    /// half is read as U+0180 to U+01FF, which are all letters.
    OneByte,
    Table(&'static Encoding),
}

/// Decodes a source file.
pub(super) fn decode(bytes: &[u8]) -> Result<Text<'_>, Undecodable> {
    let bom = bytes.starts_with(BOM);
    let bytes = if bom { &bytes[BOM.len()..] } else { bytes };
    let name = cookie(bytes);
    let codec = match &name {
        None => Codec::Utf8,
        Some(name) => by_name(name).ok_or_else(|| Undecodable::Codec { codec: name.clone() })?,
    };
    if bom && codec != Codec::Utf8 {
        return Err(Undecodable::Conflict {
            codec: name.unwrap_or_default(),
        });
    }
    let wrong = || Undecodable::Bytes {
        codec: name.clone().unwrap_or_else(|| "utf-8".into()),
    };
    let text = match codec {
        Codec::Utf8 => Cow::Borrowed(str::from_utf8(bytes).map_err(|_| wrong())?),
        Codec::Ascii if !bytes.is_ascii() => return Err(wrong()),
        Codec::Ascii => Cow::Borrowed(str::from_utf8(bytes).map_err(|_| wrong())?),
        Codec::Latin1 => match str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => Cow::Borrowed(text),
            _ => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
        },
        Codec::OneByte => match str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => Cow::Borrowed(text),
            _ => Cow::Owned(bytes.iter().map(|byte| one_byte(*byte)).collect()),
        },
        Codec::Table(table) => table
            .decode_without_bom_handling_and_without_replacement(bytes)
            .ok_or_else(wrong)?,
    };
    let decoded = Text {
        bom,
        body: text,
        codec,
    };
    // A codec with more than one way to write a character would change bytes that nobody meant to touch.
    let exact = matches!(codec, Codec::Table(_))
        .then(|| decoded.encode(&decoded.body))
        .is_none_or(|back| back.as_deref() == Some(bytes));
    if exact { Ok(decoded) } else { Err(wrong()) }
}

impl Text<'_> {
    /// The bytes of another text in this file's codec, byte order mark included; `None` when it cannot hold it.
    pub(super) fn encode(&self, text: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(text.len() + BOM.len());
        if self.bom {
            bytes.extend_from_slice(BOM);
        }
        match self.codec {
            Codec::Utf8 | Codec::Ascii => bytes.extend_from_slice(text.as_bytes()),
            Codec::Latin1 => {
                for character in text.chars() {
                    bytes.push(u8::try_from(u32::from(character)).ok()?);
                }
            }
            Codec::OneByte => {
                for character in text.chars() {
                    let number = u32::from(character);
                    let byte = if number < 0x80 {
                        Some(number)
                    } else {
                        number.checked_sub(0x100)
                    };
                    let byte = u8::try_from(byte?).ok()?;
                    bytes.push(Some(byte).filter(|byte| one_byte(*byte) == character)?);
                }
            }
            Codec::Table(table) => {
                let (encoded, used, lossy) = table.encode(text);
                if lossy || used != table {
                    return None;
                }
                bytes.extend_from_slice(&encoded);
            }
        }
        Some(bytes)
    }

    /// Whether bytes would be read in the same codec as this file.
    pub(super) fn same_codec(&self, bytes: &[u8]) -> bool {
        let bom = bytes.starts_with(BOM);
        let rest = if bom { &bytes[BOM.len()..] } else { bytes };
        let codec = match cookie(rest) {
            None => Some(Codec::Utf8),
            Some(name) => by_name(&name),
        };
        // Any reader of an ASCII text reads the same.
        bom == self.bom && (codec == Some(self.codec) || (codec.is_some() && rest.is_ascii()))
    }
}

/// What a byte of a codec with one byte a character is read as.
fn one_byte(byte: u8) -> char {
    if byte.is_ascii() {
        char::from(byte)
    } else {
        char::from_u32(0x100 + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

/// The codec that a cookie on line 1 or 2 names.
fn cookie(bytes: &[u8]) -> Option<String> {
    let (first, rest) = first_line(bytes);
    if let Some(name) = cookie_in(first) {
        return Some(name.to_owned());
    }
    // A second line counts only below a blank line or a comment.
    let blank = first
        .trim_ascii_start_form()
        .first()
        .is_none_or(|byte| *byte == b'#');
    if !blank {
        return None;
    }
    cookie_in(first_line(rest).0).map(str::to_owned)
}

/// The codec that one line names: `^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`.
pub(super) fn cookie_in(line: &[u8]) -> Option<&str> {
    let comment = line.trim_ascii_start_form().strip_prefix(b"#")?;
    memchr::memmem::find_iter(comment, b"coding").find_map(|at| {
        let rest = &comment[at + b"coding".len()..];
        let rest = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"="))?;
        let blanks = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let rest = &rest[blanks..];
        let length = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            .count();
        (length > 0)
            .then(|| str::from_utf8(&rest[..length]).ok())
            .flatten()
    })
}

trait TrimForm {
    fn trim_ascii_start_form(&self) -> &Self;
}

impl TrimForm for [u8] {
    /// Without leading blanks, tabs and form feeds.
    fn trim_ascii_start_form(&self) -> &Self {
        let blanks = self
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0c))
            .count();
        &self[blanks..]
    }
}

/// The first line without its end, and what follows.
fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr2(b'\n', b'\r', bytes) {
        None => (bytes, &[]),
        Some(at) => (&bytes[..at], &bytes[at + line_end(&bytes[at..])..]),
    }
}

/// How long the line end at the start of `bytes` is.
pub(super) fn line_end(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Every line end in `text`, in order, as written.
pub(super) fn line_ends(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let found = at + memchr2(b'\n', b'\r', &text.as_bytes()[at..])?;
        at = found + line_end(&text.as_bytes()[found..]);
        Some(&text[found..at])
    })
}

/// How many lines a text has; a last line without an end counts.
pub(super) fn count_lines(text: &[u8]) -> u64 {
    let mut lines = 0;
    let mut at = 0;
    while let Some(found) = memchr2(b'\n', b'\r', &text[at..]) {
        at += found;
        at += line_end(&text[at..]);
        lines += 1;
    }
    lines + u64::from(at < text.len())
}

/// Line numbers of byte offsets, asked for in any order.
pub(super) struct Lines<'text> {
    text: &'text str,
    starts: std::cell::OnceCell<Vec<usize>>,
}

impl<'text> Lines<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self {
            text,
            starts: std::cell::OnceCell::new(),
        }
    }

    /// The line that a byte is on, counted from 1.
    pub(super) fn of(&self, offset: usize) -> u32 {
        let starts = self.starts.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let mut starts = vec![0];
            let mut at = 0;
            while let Some(found) = memchr2(b'\n', b'\r', &bytes[at..]) {
                at += found;
                at += line_end(&bytes[at..]);
                starts.push(at);
            }
            starts
        });
        u32::try_from(starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }
}

/// A codec by one of the names that Python knows it by.
fn by_name(name: &str) -> Option<Codec> {
    let name = name.to_ascii_lowercase().replace(['_', '.', ' '], "-");
    let plain = match name.as_str() {
        "utf-8" | "utf8" | "u8" | "utf" | "utf8-ucs2" | "utf8-ucs4" | "cp65001" | "utf-8-unix"
        | "utf-8-dos" | "utf-8-mac" | "utf-8-emacs" => return Some(Codec::Utf8),
        "ascii" | "us-ascii" | "646" | "ansi-x3-4-1968" | "iso646-us" => return Some(Codec::Ascii),
        _ if name.starts_with("utf-8-") => return Some(Codec::Utf8),
        _ => name.replace('-', ""),
    };
    if let Some(number) = plain
        .strip_prefix("iso8859")
        .or_else(|| plain.strip_prefix("latin"))
    {
        if number.is_empty() || number == "1" || number.starts_with("1unix") {
            return Some(Codec::Latin1);
        }
        let part: u8 = number.parse().ok()?;
        return matches!(part, 1..=16).then_some(Codec::OneByte);
    }
    let label = match plain.as_str() {
        "l1" | "cp819" | "ibm819" | "88591" => return Some(Codec::Latin1),
        "cp437" | "ibm437" | "437" | "cp850" | "850" | "ibm850" | "cp852" | "cp855" | "cp857" | "cp858"
        | "cp860" | "cp861" | "cp862" | "cp863" | "cp865" | "cp866" | "ibm866" | "cp1250" | "cp1251"
        | "cp1252" | "cp1253" | "cp1254" | "cp1255" | "cp1256" | "cp1257" | "cp1258" | "windows1250"
        | "windows1251" | "windows1252" | "windows1253" | "windows1254" | "windows1255" | "windows1256"
        | "windows1257" | "windows1258" | "1250" | "1251" | "1252" | "koi8r" | "koi8u" | "macroman"
        | "macintosh" | "maccyrillic" | "tis620" | "ptcp154" => {
            return Some(Codec::OneByte);
        }
        "gbk" | "cp936" | "936" | "ms936" | "gb2312" | "euccn" | "gb231280" => "gbk",
        "gb18030" => "gb18030",
        "big5" | "big5tw" | "cp950" | "950" => "big5",
        "eucjp" | "ujis" | "ujis8" => "euc-jp",
        "shiftjis" | "sjis" | "csshiftjis" | "cp932" | "932" | "ms932" | "mskanji" => "shift_jis",
        "euckr" | "cp949" | "949" | "ms949" | "uhc" | "ksc5601" => "euc-kr",
        _ => return None,
    };
    Encoding::for_label(label.as_bytes()).map(Codec::Table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_counts_on_line_one_or_below_a_comment() {
        assert_eq!(cookie(b"# -*- coding: latin-1 -*-\n").as_deref(), Some("latin-1"));
        assert_eq!(
            cookie(b"#!/usr/bin/python\r# vim: set fileencoding=cp1252 :\r").as_deref(),
            Some("cp1252")
        );
        assert_eq!(cookie(b"\n# coding=utf8").as_deref(), Some("utf8"));
        assert_eq!(cookie(b"x = 1\n# coding: latin-1\n"), None);
        assert_eq!(cookie(b"# a\n# b\n# coding: latin-1\n"), None);
        assert_eq!(cookie(b"# encoding\n# coding: ascii").as_deref(), Some("ascii"));
    }

    #[test]
    fn every_codec_gives_its_bytes_back() {
        for (name, bytes) in [
            ("latin-1", &b"x = '\xe9\x81'"[..]),
            ("cp1252", b"x = '\x80'"),
            ("koi8-r", b"\xd7\xf7\x80 = '\xc1\xff'"),
            ("cp437", b"x = '\x80\xff'"),
            ("iso-8859-5", b"\xd7 = 1"),
            ("shift_jis", b"x = '\x83\x5c'"),
            ("euc-jp", b"x = '\xa4\xa2'"),
            ("gbk", b"x = '\xc4\xe3'"),
            ("big5", b"x = '\xa7\x41'"),
            ("utf-8", "x = 'é'".as_bytes()),
        ] {
            let file = [format!("# coding: {name}\n").as_bytes(), bytes].concat();
            let text = decode(&file).unwrap_or_else(|why| panic!("{name}: {why:?}"));
            assert_eq!(text.encode(&text.body).unwrap(), file, "{name}");
            assert!(text.same_codec(&file));
        }
    }

    #[test]
    fn one_byte_is_one_letter_and_nothing_else_has_a_byte() {
        let file: Vec<u8> = b"# coding: koi8-r\n".iter().copied().chain(0x20..=0xff).collect();
        let text = decode(&file).unwrap();
        assert_eq!(text.body.chars().count(), file.len());
        assert!(
            text.body
                .chars()
                .filter(|c| !c.is_ascii())
                .all(char::is_alphabetic)
        );
        assert_eq!(text.encode(&text.body).unwrap(), file);
        for stranger in ["\u{80}", "\u{e9}", "\u{17f}", "\u{200}", "\u{101}"] {
            assert_eq!(text.encode(stranger), None, "{stranger:?}");
        }
    }

    #[test]
    fn lies_and_strangers_are_refused() {
        let codec = "ascii".to_owned();
        assert_eq!(
            decode(b"# coding: ascii\n'\xe9'").err(),
            Some(Undecodable::Bytes { codec })
        );
        let codec = "klingon".to_owned();
        assert_eq!(
            decode(b"# coding: klingon\n").err(),
            Some(Undecodable::Codec { codec })
        );
        let codec = "latin-1".to_owned();
        assert_eq!(
            decode(b"\xef\xbb\xbf# coding: latin-1\n").err(),
            Some(Undecodable::Conflict { codec })
        );
        let codec = "utf-8".to_owned();
        assert_eq!(
            decode(b"'\xed\xa0\x80'").err(),
            Some(Undecodable::Bytes { codec })
        );
    }

    #[test]
    fn only_three_line_ends_are_line_ends() {
        let text = "a\x0cb\u{85}c\u{2028}d\x0be\x1cf\ng\r\nh\ri";
        assert_eq!(line_ends(text).collect::<Vec<_>>(), ["\n", "\r\n", "\r"]);
        assert_eq!(count_lines(text.as_bytes()), 4);
        let lines = Lines::new(text);
        assert_eq!(lines.of(0), 1);
        assert_eq!(lines.of(text.find('g').unwrap()), 2);
        assert_eq!(lines.of(text.len() - 1), 4);
    }
}
