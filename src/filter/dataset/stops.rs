//! Finds quotes and backslashes. A row of a dataset has one every few dozen bytes (its line ends are escaped), so a search
//! that starts afresh at each costs more in starting than in searching; this one looks at a block of bytes once.

/// Bytes looked at together: one bit of a mask each.
const BLOCK: usize = 64;

/// The quotes and backslashes of a text, looked for from left to right.
pub(super) struct Stops<'a> {
    bytes: &'a [u8],
    /// Where the block begins that `mask` is of.
    block: usize,
    /// A bit for each byte of the block that is a quote or a backslash, the first byte's lowest.
    mask: u64,
}

impl<'a> Stops<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            block: 0,
            mask: mask(bytes),
        }
    }

    /// The first stop at or after `from`. It may be asked for any place, and is quick when places only go forward.
    pub(super) fn next(&mut self, from: usize) -> Option<usize> {
        if from < self.block || from >= self.block + BLOCK {
            self.look_at(from - from % BLOCK)?;
        }
        let mut mask = self.mask & (u64::MAX << (from - self.block));
        while mask == 0 {
            self.look_at(self.block + BLOCK)?;
            mask = self.mask;
        }
        Some(self.block + mask.trailing_zeros() as usize)
    }

    fn look_at(&mut self, block: usize) -> Option<()> {
        self.mask = mask(self.bytes.get(block..)?);
        self.block = block;
        Some(())
    }
}

/// The mask of the block that `bytes` begins with.
fn mask(bytes: &[u8]) -> u64 {
    let mut block = [0; BLOCK];
    if let Some(whole) = bytes.first_chunk() {
        block = *whole;
    } else {
        block[..bytes.len()].copy_from_slice(bytes);
    }
    // Both loops are written for the compiler to turn into wide instructions: first a 1 in each byte that is a stop, then
    // eight such bytes at a time gathered into the bits of one by a multiplication.
    for byte in &mut block {
        *byte = u8::from(*byte == b'"') | u8::from(*byte == b'\\');
    }
    let mut mask = 0;
    for (index, eight) in block.chunks_exact(8).enumerate() {
        let word = eight.try_into().map_or(0, u64::from_le_bytes);
        mask |= (word.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index);
    }
    mask
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_stop_is_found_from_everywhere(text in "(a{0,40}|\"|\\\\|é){0,12}", places in prop::collection::vec(0_usize..300, 1..8)) {
            let bytes = text.as_bytes();
            let mut stops = Stops::new(bytes);
            for from in places {
                let expected = bytes.iter().skip(from).position(|byte| matches!(byte, b'"' | b'\\')).map(|found| from + found);
                prop_assert_eq!(stops.next(from), expected, "{} of {:?}", from, text);
            }
        }
    }
}
