//! Bootstrap intervals of a mean over tasks (B. Efron, J. Amer. Statist. Assoc. 82 (1987), 171–185).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::mean;
use super::random::Random;

/// An interval that holds the true value in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Means of samples drawn with replacement, stratum by stratum: each gives as many values as it has.
pub fn bootstrap(strata: &[Vec<f64>], draws: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let count: usize = strata.iter().map(Vec::len).sum();
    (0..draws)
        .map(|_| {
            let mut total = 0.0;
            for stratum in strata {
                for _ in 0..stratum.len() {
                    total += stratum.get(random.below(stratum.len())).copied().unwrap_or(0.0);
                }
            }
            total / count.max(1) as f64
        })
        .collect()
}

/// The quantile of sorted values, between two of them by their distance (R's type 7, numpy's `linear`).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a place in the list"
    )]
    let below = place.floor() as usize;
    let (one, other) = (sorted[below], sorted[(below + 1).min(last)]);
    one + (other - one) * (place - below as f64)
}

fn sorted(draws: &[f64]) -> Vec<f64> {
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The percentile interval of these bootstrap means.
pub fn percentile(draws: &[f64]) -> Interval {
    let sorted = sorted(draws);
    Interval {
        low: quantile(&sorted, 0.025),
        high: quantile(&sorted, 0.975),
    }
}

/// The bias-corrected and accelerated interval of these bootstrap means of `values`; the percentile interval where it is not
/// defined (all draws, or all values, are the same).
pub fn bca(values: &[f64], draws: &[f64]) -> Interval {
    accelerated(values, draws).unwrap_or_else(|| percentile(draws))
}

fn accelerated(values: &[f64], draws: &[f64]) -> Option<Interval> {
    let normal = Normal::standard();
    let (n, total) = (values.len() as f64, values.iter().sum::<f64>());
    if values.len() < 2 || draws.is_empty() {
        return None;
    }
    let seen = mean(values);
    let smaller = draws.iter().filter(|draw| **draw < seen).count() as f64;
    let equal = draws.iter().filter(|draw| (**draw - seen).abs() <= 0.0).count() as f64;
    let bias = normal.inverse_cdf((smaller + equal / 2.0) / draws.len() as f64);
    let left_out: Vec<f64> = values.iter().map(|value| (total - value) / (n - 1.0)).collect();
    let middle = mean(&left_out);
    let moment = |power: i32| {
        left_out
            .iter()
            .map(|one| ((n - 1.0) * (middle - one)).powi(power))
            .sum::<f64>()
    };
    let acceleration = moment(3) / n.powi(3) / (6.0 * (moment(2) / n.powi(2)).powf(1.5));
    if !bias.is_finite() || !acceleration.is_finite() {
        return None;
    }
    let sorted = sorted(draws);
    let end = |share: f64| {
        let z = bias + normal.inverse_cdf(share);
        quantile(&sorted, normal.cdf(bias + z / (1.0 - acceleration * z)))
    };
    Some(Interval {
        low: end(0.025),
        high: end(0.975),
    })
}
