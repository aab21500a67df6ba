//! Lines in batches: a bounded piece of the input at a time, cut at line ends.

use std::io::{self, Read};
use std::ops::Range;

/// Where batches of lines come from.
pub(super) trait Batches {
    /// What failed.
    type Error;

    /// The next whole lines, each with its line end (the input's last may lack it); empty when nothing is left.
    fn next(&mut self) -> Result<&[u8], Self::Error>;
}

/// How much is read at a time for each thread, in bytes: what its cache holds. A longer line makes its batch longer.
const BATCH: usize = 512 << 10;

/// Lines of a stream.
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The batch that was given out ends here,
    given: usize,
    /// and what was read beyond it ends here.
    filled: usize,
}

impl<R: Read> Lines<R> {
    /// Lines of `reader`, of which `start` has been read already, in batches for so many threads.
    pub(super) fn new(start: &[u8], reader: R, threads: usize) -> Self {
        let mut buffer = vec![0; BATCH * threads.max(1)];
        buffer[..start.len()].copy_from_slice(start);
        Self {
            reader,
            buffer,
            given: 0,
            filled: start.len(),
        }
    }
}

impl<R: Read> Batches for Lines<R> {
    type Error = io::Error;

    fn next(&mut self) -> io::Result<&[u8]> {
        self.buffer.copy_within(self.given..self.filled, 0);
        self.filled -= self.given;
        loop {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    self.given = self.filled;
                    break;
                }
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if self.filled < self.buffer.len() {
                continue;
            }
            if let Some(end) = memchr::memrchr(b'\n', &self.buffer) {
                self.given = end + 1;
                break;
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        Ok(&self.buffer[..self.given])
    }
}

/// Cuts whole lines into at most `count` pieces of about the same size, at line ends.
pub(super) fn pieces(text: &[u8], count: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for index in 1..=count.max(1) {
        let aim = (text.len() * index / count.max(1)).max(start);
        let end = memchr::memchr(b'\n', &text[aim..]).map_or(text.len(), |newline| aim + newline + 1);
        if end > start {
            pieces.push(start..end);
            start = end;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_the_text_cut_at_line_ends(text in "[ab\n]{0,40}", count in 0_usize..6) {
            let pieces = pieces(text.as_bytes(), count);
            prop_assert!(pieces.len() <= count.max(1));
            prop_assert_eq!(pieces.iter().map(|piece| &text[piece.clone()]).collect::<String>(), text.clone());
            for piece in &pieces {
                prop_assert!(piece.end == text.len() || text[piece.clone()].ends_with('\n'));
            }
        }
    }

    #[test]
    fn a_batch_is_whole_lines_however_long() {
        let long = "x".repeat(BATCH + 10);
        let text = format!("a\n{long}\nb\n{long}");
        let mut lines = Lines::new(b"first ", text.as_bytes(), 1);
        let mut all = Vec::new();
        loop {
            let batch = lines.next().unwrap();
            if batch.is_empty() {
                break;
            }
            assert!(batch.ends_with(b"\n") || all.len() + batch.len() == text.len() + 6);
            all.extend_from_slice(batch);
        }
        assert!(all == format!("first {text}").into_bytes());
    }
}
