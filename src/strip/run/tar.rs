//! A tar archive as a sink: the same tree gives the same bytes, with no owner and no time in it.

use std::io::Write;
use std::path::PathBuf;

use super::{Content, Sink, StripError};
use crate::domain::patch::EntryKind;
use crate::strip::tree::Entry;

const BLOCK: usize = 512;

/// A tar archive (ustar, with pax headers for long names).
pub struct TarSink<W: Write + Send + Sync> {
    out: W,
    name: PathBuf,
}

impl<W: Write + Send + Sync> TarSink<W> {
    /// An archive written to `out`; `name` is for messages.
    pub fn new(out: W, name: impl Into<PathBuf>) -> Self {
        Self {
            out,
            name: name.into(),
        }
    }

    /// Ends the archive.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<W, StripError> {
        self.write(&[0; 2 * BLOCK])?;
        self.out.flush().map_err(|source| StripError::Write {
            path: self.name.clone(),
            source,
        })?;
        Ok(self.out)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StripError> {
        self.out.write_all(bytes).map_err(|source| StripError::Write {
            path: self.name.clone(),
            source,
        })
    }

    fn padded(&mut self, bytes: &[u8]) -> Result<(), StripError> {
        self.write(bytes)?;
        let rest = bytes.len().next_multiple_of(BLOCK) - bytes.len();
        self.write(&[0; BLOCK][..rest])
    }
}

impl<W: Write + Send + Sync> Sink for TarSink<W> {
    fn put(&self, _entry: &Entry, content: Content) -> Result<Option<Content>, StripError> {
        Ok(Some(content))
    }

    fn put_in_order(&mut self, entry: &Entry, content: Content) -> Result<(), StripError> {
        let (Content::Same(bytes) | Content::New(bytes)) = content else {
            return Ok(());
        };
        let mut path = entry.path.as_bytes().to_vec();
        let (kind, mode, body, link): (u8, u32, &[u8], &[u8]) = match entry.kind {
            EntryKind::File => (b'0', if entry.executable { 0o755 } else { 0o644 }, &bytes, b""),
            EntryKind::Symlink => (b'2', 0o777, b"", &bytes),
            EntryKind::Submodule => {
                path.push(b'/');
                (b'5', 0o755, b"", b"")
            }
        };
        let mut records = vec![];
        for (key, value) in [("path", path.as_slice()), ("linkpath", link)] {
            if value.len() > 100 {
                records.extend(record(key, value));
            }
        }
        if !records.is_empty() {
            self.write(&header(b"pax", b'x', 0o644, records.len(), b""))?;
            self.padded(&records)?;
        }
        self.write(&header(&path, kind, mode, body.len(), link))?;
        self.padded(body)
    }
}

/// A pax record: its own length, a key, a value.
fn record(key: &str, value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + rest.to_string().len();
    if length.to_string().len() + rest != length {
        length = rest + length.to_string().len();
    }
    [format!("{length} {key}=").as_bytes(), value, b"\n"].concat()
}

fn header(path: &[u8], kind: u8, mode: u32, size: usize, link: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut set = |at: usize, limit: usize, bytes: &[u8]| {
        let length = bytes.len().min(limit);
        block[at..at + length].copy_from_slice(&bytes[..length]);
    };
    set(0, 100, path);
    set(100, 8, format!("{mode:07o}\0").as_bytes());
    set(108, 8, b"0000000\0");
    set(116, 8, b"0000000\0");
    set(124, 12, format!("{size:011o}\0").as_bytes());
    set(136, 12, b"00000000000\0");
    set(148, 8, b"        ");
    set(156, 1, &[kind]);
    set(157, 100, link);
    set(257, 8, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}
