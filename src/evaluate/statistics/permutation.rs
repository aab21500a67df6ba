//! A permutation test on paired measurements, stratified by task: under the null hypothesis the two values of a task may
//! change places, each task for itself (E. J. G. Pitman, Suppl. J. R. Stat. Soc. 4 (1937), 119–130).

use serde::{Deserialize, Serialize};

use super::random::Random;

/// Tasks up to which every one of the 2ⁿ arrangements is looked at.
const EXACT: usize = 20;
/// Arrangements drawn where there are more.
const DRAWS: u32 = 100_000;

/// What a permutation test says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// The mean difference.
    pub difference: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// Whether every arrangement was looked at; else so many were drawn, and the one that was seen counts as one more
    /// (B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010), article 39).
    pub exact: bool,
    /// Arrangements.
    pub arrangements: u64,
}

/// Tests that the mean of the differences is 0, two-sided: the share of arrangements whose mean is as far from 0. `None`
/// without differences.
pub fn permutation(differences: &[f64], seed: u64) -> Option<Permutation> {
    let n = differences.len();
    if n == 0 {
        return None;
    }
    let sum: f64 = differences.iter().sum();
    let scale: f64 = differences.iter().map(|difference| difference.abs()).sum();
    // Sums in another order differ by rounding; what is equal must count as equal.
    let far = sum.abs() - 1e-12 * scale;
    let difference = sum / n as f64;
    if n <= EXACT {
        let all = 1_u64 << n;
        let reaching = (0..all)
            .filter(|arrangement| {
                let signed = differences.iter().enumerate().map(|(index, difference)| {
                    if arrangement >> index & 1 == 1 {
                        -difference
                    } else {
                        *difference
                    }
                });
                signed.sum::<f64>().abs() >= far
            })
            .count();
        return Some(Permutation {
            difference,
            p: reaching as f64 / all as f64,
            exact: true,
            arrangements: all,
        });
    }
    let mut random = Random::new(seed);
    let mut reaching = 0_u32;
    for _ in 0..DRAWS {
        let mut signs = 0;
        let mut total = 0.0;
        for (index, difference) in differences.iter().enumerate() {
            if index % 64 == 0 {
                signs = random.bits();
            }
            total += if signs >> (index % 64) & 1 == 1 {
                -difference
            } else {
                *difference
            };
        }
        reaching += u32::from(total.abs() >= far);
    }
    Some(Permutation {
        difference,
        p: (f64::from(reaching) + 1.0) / (f64::from(DRAWS) + 1.0),
        exact: false,
        arrangements: u64::from(DRAWS),
    })
}
