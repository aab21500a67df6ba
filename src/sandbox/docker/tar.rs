//! Tar archives, as much of them as images need: written with no machine's owner or time in them, read by name.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};

const BLOCK: usize = 512;

/// The time of every file, in seconds of 1970: 2000-01-01. (What is zipped must not be older than 1980.)
pub(super) const TIME: u32 = 946_684_800;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Folder,
    /// A file of so many bytes; they follow the header.
    File(u64),
    /// A symbolic link, and where it leads.
    Link(&'a [u8]),
}

/// One entry's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// Relative, any bytes but NUL.
    pub(super) path: &'a [u8],
    pub(super) kind: Kind<'a>,
    pub(super) mode: u32,
    /// Owner and group.
    pub(super) user: u32,
}

/// An entry's headers (GNU's form: long names come before it, in entries of their own).
pub(super) fn entry(entry: &Entry<'_>) -> Vec<u8> {
    let mut path = entry.path.to_vec();
    let (sort, size, link) = match entry.kind {
        Kind::Folder => (b'5', 0, &b""[..]),
        Kind::File(size) => (b'0', size, &b""[..]),
        Kind::Link(target) => (b'2', 0, target),
    };
    if sort == b'5' {
        path.push(b'/');
    }
    let mut blocks = Vec::with_capacity(BLOCK);
    for (sort, text) in [(b'K', link), (b'L', &path[..])] {
        if text.len() > 100 {
            let size = text.len() as u64 + 1;
            blocks.extend(header(b"././@LongLink", sort, 0o644, 0, size, b""));
            blocks.extend_from_slice(text);
            blocks.push(0);
            blocks.extend_from_slice(padding(size));
        }
    }
    blocks.extend(header(&path, sort, entry.mode, entry.user, size, link));
    blocks
}

/// What fills a body of so many bytes up to whole blocks.
pub(super) fn padding(size: u64) -> &'static [u8] {
    const ZEROS: [u8; BLOCK] = [0; BLOCK];
    let over = usize::try_from(size % BLOCK as u64).unwrap_or(0);
    &ZEROS[..(BLOCK - over) % BLOCK]
}

/// The end of an archive.
pub(super) fn end() -> [u8; 2 * BLOCK] {
    [0; 2 * BLOCK]
}

fn header(path: &[u8], sort: u8, mode: u32, user: u32, size: u64, link: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, limit: usize, bytes: &[u8]| {
        let length = bytes.len().min(limit);
        block[at..at + length].copy_from_slice(&bytes[..length]);
    };
    put(0, 100, path);
    put(100, 8, format!("{mode:07o}\0").as_bytes());
    put(108, 8, format!("{user:07o}\0").as_bytes());
    put(116, 8, format!("{user:07o}\0").as_bytes());
    if size < 1 << 33 {
        put(124, 12, format!("{size:011o}\0").as_bytes());
    } else {
        // Beyond eleven octal digits: binary, marked by its first bit.
        put(124, 1, &[0x80]);
        put(128, 8, &size.to_be_bytes());
    }
    put(136, 12, format!("{TIME:011o}\0").as_bytes());
    put(148, 8, b"        ");
    put(156, 1, &[sort]);
    put(157, 100, link);
    put(257, 8, b"ustar  \0");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Where a file of an archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Its first byte's offset.
    pub(super) at: u64,
    /// Its size in bytes.
    pub(super) bytes: u64,
}

/// The files of an archive by name, links among them followed.
pub(super) fn index(archive: &mut (impl Read + Seek)) -> io::Result<BTreeMap<String, Place>> {
    let mut files = BTreeMap::new();
    let mut links = Vec::new();
    let mut at = archive.seek(SeekFrom::Start(0))?;
    let mut block = [0; BLOCK];
    loop {
        match archive.read_exact(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            other => other?,
        }
        at += BLOCK as u64;
        if block.iter().all(|byte| *byte == 0) {
            break;
        }
        let text = |from: usize, limit: usize| {
            let field = &block[from..from + limit];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(limit);
            String::from_utf8_lossy(&field[..end]).into_owned()
        };
        let size = if block[124] & 0x80 == 0 {
            u64::from_str_radix(text(124, 12).trim(), 8).unwrap_or(0)
        } else {
            block[128..136]
                .iter()
                .fold(0, |size, byte| size << 8 | u64::from(*byte))
        };
        let name = text(0, 100);
        match block[156] {
            b'0' | 0 => {
                files.insert(name, Place { at, bytes: size });
            }
            b'1' | b'2' => links.push((name.clone(), block[156], text(157, 100))),
            _ => {}
        }
        at = at
            .checked_add(size)
            .and_then(|end| end.checked_next_multiple_of(BLOCK as u64))
            .ok_or(io::ErrorKind::InvalidData)?;
        archive.seek(SeekFrom::Start(at))?;
    }
    for (name, sort, target) in links {
        let target = if sort == b'1' {
            target
        } else {
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            joined(folder, &target)
        };
        if let Some(place) = files.get(&target).copied() {
            files.insert(name, place);
        }
    }
    Ok(files)
}

fn joined(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn file(path: &str, body: &[u8]) -> Vec<u8> {
        let size = body.len() as u64;
        let header = entry(&Entry {
            path: path.as_bytes(),
            kind: Kind::File(size),
            mode: 0o644,
            user: 0,
        });
        [&header, body, padding(size)].concat()
    }

    #[test]
    fn what_is_written_is_found_again_by_name() {
        let link = entry(&Entry {
            path: b"b/layer.tar",
            kind: Kind::Link(b"../a/layer.tar"),
            mode: 0o777,
            user: 0,
        });
        let whole = [
            file("a/layer.tar", b"123"),
            link,
            file("c", &[7; 512]),
            end().to_vec(),
        ]
        .concat();
        let found = index(&mut Cursor::new(&whole)).unwrap();
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["a/layer.tar", "b/layer.tar", "c"]);
        assert_eq!(found["a/layer.tar"], found["b/layer.tar"]);
        assert_eq!(found["c"].bytes, 512);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(0_u8.., 0..1600)) {
            let _ = index(&mut Cursor::new(&bytes));
        }
    }
}
