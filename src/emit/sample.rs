//! Which instances of a version are looked at by people: a stratified sample, large enough to speak for the whole.
//!
//! The size is Cochran's for a proportion (Sampling Techniques, 3rd ed., section 4.4, with p = 1/2, which is the
//! largest) and its correction for a finite population. Doc2Feat-Bench, section 2.2.1, has at least 84 of 634 tasks for
//! a margin of 10 % at 95 %. Each stratum gets its share by largest remainders, and one at least.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::hash::sha256_hex;
use crate::domain::ids::InstanceId;

/// What a sample must be good for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// How often the interval must hold the truth: above 1/2, below 1.
    pub confidence: f64,
    /// Half the interval's width: above 0, below 1.
    pub margin: f64,
}

/// A sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// How many instances there are.
    pub population: usize,
    /// How many were drawn.
    pub size: usize,
    /// What was drawn by.
    pub seed: String,
    /// How many of each stratum: there, and drawn.
    pub strata: BTreeMap<String, (usize, usize)>,
    /// The instances, by their ids.
    pub instances: Vec<InstanceId>,
}

/// How many of `population` must be looked at, at least.
pub fn size(population: usize, wanted: Wanted) -> usize {
    if population == 0 {
        return 0;
    }
    let z = quantile(f64::midpoint(1.0, wanted.confidence));
    let infinite = z * z / (4.0 * wanted.margin * wanted.margin);
    let finite = infinite / (1.0 + (infinite - 1.0) / population as f64);
    // Ten digits are enough for any population; the rest is the machine's noise.
    let needed = ((finite * 1e6).round() / 1e6).ceil().max(1.0);
    (1..=population)
        .find(|count| *count as f64 >= needed)
        .unwrap_or(population)
}

/// Draws a sample of the instances, given with their strata in any order. The same seed draws the same ones.
pub fn sample(instances: &[(InstanceId, String)], wanted: Wanted, seed: &str) -> Sample {
    let mut strata: BTreeMap<&str, Vec<(String, &InstanceId)>> = BTreeMap::new();
    for (id, stratum) in instances {
        let lot = sha256_hex(format!("{seed}\n{id}").as_bytes());
        strata.entry(stratum).or_default().push((lot, id));
    }
    let total = size(instances.len(), wanted).max(strata.len());
    let sizes: Vec<usize> = strata.values().map(Vec::len).collect();
    let shares = shares(&sizes, total);
    let mut drawn = vec![];
    let mut told = BTreeMap::new();
    for ((name, mut lots), share) in strata.into_iter().zip(shares) {
        lots.sort();
        told.insert(name.to_owned(), (lots.len(), share));
        drawn.extend(lots.into_iter().take(share).map(|(_, id)| id.clone()));
    }
    drawn.sort();
    Sample {
        population: instances.len(),
        size: drawn.len(),
        seed: seed.to_owned(),
        strata: told,
        instances: drawn,
    }
}

/// `total` spread over strata of these sizes: each its share rounded down, one at least, and what is left to the largest
/// remainders (the earlier of equals).
fn shares(sizes: &[usize], total: usize) -> Vec<usize> {
    let population: usize = sizes.iter().sum();
    if population == 0 {
        return vec![0; sizes.len()];
    }
    let mut shares: Vec<usize> = sizes
        .iter()
        .map(|size| (size * total / population).max(1))
        .collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|place| (usize::MAX - sizes[*place] * total % population, *place));
    let mut left = total.saturating_sub(shares.iter().sum());
    while left > 0 {
        let before = left;
        for place in &order {
            if left > 0 && shares[*place] < sizes[*place] {
                shares[*place] += 1;
                left -= 1;
            }
        }
        if before == left {
            break;
        }
    }
    shares
}

/// The standard normal's quantile for a probability above 1/2: Abramowitz and Stegun, 26.2.23, to 4.5e-4.
fn quantile(probability: f64) -> f64 {
    let t = (-2.0 * (1.0 - probability).ln()).sqrt();
    let above = 0.010_328_f64.mul_add(t, 0.802_853).mul_add(t, 2.515_517);
    let below = 0.001_308_f64
        .mul_add(t, 0.189_269)
        .mul_add(t, 1.432_788)
        .mul_add(t, 1.0);
    t - above / below
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const USUAL: Wanted = Wanted {
        confidence: 0.95,
        margin: 0.05,
    };

    #[test]
    fn sizes_are_cochrans() {
        let ten = Wanted {
            margin: 0.10,
            ..USUAL
        };
        assert_eq!(size(634, ten), 84);
        assert_eq!(size(634, USUAL), 240);
        assert_eq!(size(1_000_000, USUAL), 385);
        assert_eq!((size(0, USUAL), size(1, USUAL), size(3, USUAL)), (0, 1, 3));
        assert!((quantile(0.975) - 1.96).abs() < 1e-3 && (quantile(0.995) - 2.5758).abs() < 1e-3);
    }

    fn ids(strata: &[usize]) -> Vec<(InstanceId, String)> {
        let named = strata.iter().enumerate();
        named
            .flat_map(|(stratum, size)| {
                (0..*size)
                    .map(move |number| (InstanceId(format!("s{stratum}-{number}")), format!("s{stratum}")))
            })
            .collect()
    }

    proptest! {
        #[test]
        fn every_stratum_has_its_share_whatever_the_order(strata in prop::collection::vec(1_usize..80, 1..6), seed in "[a-z]{1,4}") {
            let instances = ids(&strata);
            let drawn = sample(&instances, USUAL, &seed);
            let mut turned = instances.clone();
            turned.reverse();
            prop_assert_eq!(&drawn, &sample(&turned, USUAL, &seed));
            prop_assert!(drawn.size >= size(instances.len(), USUAL));
            let wanted = size(instances.len(), USUAL).max(strata.len());
            for (there, taken) in drawn.strata.values() {
                prop_assert!(*taken >= 1 && taken <= there);
                let share = there * wanted / instances.len();
                prop_assert!(*taken >= share && *taken <= share + strata.len(), "{} of {}", taken, there);
            }
        }
    }
}
