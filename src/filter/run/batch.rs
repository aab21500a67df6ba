//! Lines in batches: a bounded piece of the input at a time, cut at line ends.

use std::io::{self, Read};
use std::ops::Range;

/// Where batches of lines come from.
pub(super) trait Batches {
    /// What failed.
    type Error;

    /// Fills `batch` with the next whole lines, each with its line end (the input's last may lack it). Nothing is left
    /// when it stays empty.
    fn next(&mut self, batch: &mut Vec<u8>) -> Result<(), Self::Error>;
}

/// How much is read at a time, in bytes; a longer line makes its batch longer.
const BATCH: usize = 8 << 20;

/// Lines of a stream.
pub(super) struct Lines<R> {
    reader: R,
    /// What was read behind the last line end.
    rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Lines of `reader`, of which `rest` has been read already.
    pub(super) fn new(rest: Vec<u8>, reader: R) -> Self {
        Self {
            reader,
            rest,
            ended: false,
        }
    }
}

impl<R: Read> Batches for Lines<R> {
    type Error = io::Error;

    fn next(&mut self, batch: &mut Vec<u8>) -> io::Result<()> {
        batch.clear();
        batch.append(&mut self.rest);
        let mut wanted = BATCH;
        while !self.ended {
            let missing = wanted.saturating_sub(batch.len());
            let read = (&mut self.reader).take(missing as u64).read_to_end(batch)?;
            self.ended = read < missing;
            if self.ended {
                break;
            }
            if let Some(end) = memchr::memrchr(b'\n', batch) {
                self.rest.extend_from_slice(&batch[end + 1..]);
                batch.truncate(end + 1);
                return Ok(());
            }
            wanted *= 2;
        }
        Ok(())
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
        let mut lines = Lines::new(b"first ".to_vec(), text.as_bytes());
        let (mut batch, mut all) = (Vec::new(), Vec::new());
        loop {
            lines.next(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            assert!(batch.ends_with(b"\n") || all.len() + batch.len() == text.len() + 6);
            all.extend_from_slice(&batch);
        }
        assert!(all == format!("first {text}").into_bytes());
    }
}
