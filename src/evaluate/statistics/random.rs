//! A small generator of our own: the same seed gives the same numbers on every machine and in every version.

/// `SplitMix64` (G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[derive(Debug, Clone, Copy)]
pub struct Random(u64);

impl Random {
    /// The generator with this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 below 0. (Of 2⁶⁴ draws no number has one more than another.)
    pub fn below(&mut self, limit: usize) -> usize {
        let product = u128::from(self.bits()) * (limit as u128);
        usize::try_from(product >> 64).unwrap_or(0)
    }
}
