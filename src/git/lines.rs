//! Reading a stream in pieces of lines, with bounded memory however long a line is.

use std::io::Read;

use memchr::memchr;

/// Enough to see whole every line that is looked at; longer ones come in pieces.
const WINDOW: usize = 1 << 18;
const LONGEST_HEAD: usize = 1 << 14;

/// A piece of a line.
pub(super) struct Piece<'a> {
    /// The bytes, with the line's `\n` where they reach it.
    pub(super) bytes: &'a [u8],
    /// Whether they begin a line.
    pub(super) starts: bool,
}

pub(super) struct Pieces<R> {
    stream: R,
    window: Vec<u8>,
    from: usize,
    to: usize,
    at_start: bool,
    ended: bool,
}

impl<R: Read> Pieces<R> {
    pub(super) fn new(stream: R) -> Self {
        Self {
            stream,
            window: vec![0; WINDOW],
            from: 0,
            to: 0,
            at_start: true,
            ended: false,
        }
    }

    /// The next piece: a whole line where it is shorter than 16 KiB, else a part of one.
    pub(super) fn next(&mut self) -> std::io::Result<Option<Piece<'_>>> {
        let mut scanned = self.from;
        let end = loop {
            if let Some(length) = memchr(b'\n', &self.window[scanned..self.to]) {
                break scanned + length + 1;
            }
            scanned = self.to;
            if self.ended || self.to - self.from >= LONGEST_HEAD {
                break self.to;
            }
            let moved = self.from;
            self.fill()?;
            scanned -= moved - self.from;
        };
        if end == self.from {
            return Ok(None);
        }
        let bytes = &self.window[self.from..end];
        let starts = std::mem::replace(&mut self.at_start, bytes.ends_with(b"\n"));
        self.from = end;
        Ok(Some(Piece { bytes, starts }))
    }

    fn fill(&mut self) -> std::io::Result<()> {
        if self.window.len() - self.to < WINDOW / 4 {
            self.window.copy_within(self.from..self.to, 0);
            self.to -= self.from;
            self.from = 0;
        }
        let read = self.stream.read(&mut self.window[self.to..])?;
        self.to += read;
        self.ended = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(self.1).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    proptest! {
        #[test]
        fn pieces_are_the_stream(
            lines in proptest::collection::vec((0_usize..40_000, any::<bool>()), 0..20), drip in 1_usize..300_000,
        ) {
            let text: Vec<u8> = lines
                .iter()
                .flat_map(|(length, long)| [vec![b'x'; if *long { *length } else { length % 50 }], b"\n".to_vec()].concat())
                .collect();
            let text = &text[..text.len().saturating_sub(1)];
            let mut pieces = Pieces::new(Drip(text, drip));
            let mut again = vec![];
            while let Some(piece) = pieces.next().unwrap() {
                prop_assert_eq!(piece.starts, again.is_empty() || again.ends_with(b"\n"));
                prop_assert!(piece.bytes.len() >= 100 || piece.bytes.ends_with(b"\n") || !piece.starts || again.len() + piece.bytes.len() == text.len());
                again.extend_from_slice(piece.bytes);
            }
            prop_assert_eq!(again, text);
        }
    }
}
