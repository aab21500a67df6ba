//! Tests and intervals for comparing two evaluations. `scripts/statistics` computes the same numbers with scipy and
//! statsmodels; the tests hold these against ours.

mod bootstrap;
mod permutation;
mod random;

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF as _, DiscreteCDF as _};

pub use bootstrap::{Interval, bca, bootstrap, percentile};
pub use permutation::{Permutation, permutation};
pub use random::Random;

/// A two-by-two table: rows are two conditions (or, for pairs, the first condition's outcome), columns yes and no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// First row, yes.
    pub a: u64,
    /// First row, no.
    pub b: u64,
    /// Second row, yes.
    pub c: u64,
    /// Second row, no.
    pub d: u64,
}

/// McNemar's exact test: the two-sided p-value of `b` against `c` discordant pairs under a fair coin, twice the smaller
/// tail and at most 1. Q. McNemar, Psychometrika 12 (1947), 153–157; statsmodels' `mcnemar(exact=True)`.
pub fn mcnemar_exact(b: u64, c: u64) -> f64 {
    let (fewer, all) = (b.min(c), b + c);
    match Binomial::new(0.5, all) {
        Ok(coin) if all > 0 => (2.0 * coin.cdf(fewer)).min(1.0),
        _ => 1.0,
    }
}

/// What a Cochran–Mantel–Haenszel test says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stratified {
    /// Strata that say something: both rows and both columns hold somebody.
    pub strata: u64,
    /// The statistic, chi-squared with one degree of freedom under the null hypothesis.
    pub statistic: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// The Mantel–Haenszel estimate of the common odds ratio, first row against second; `null` when it is not finite.
    pub odds_ratio: Option<f64>,
}

/// The Cochran–Mantel–Haenszel test that the odds ratio is 1 in every stratum, without continuity correction. N. Mantel
/// and W. Haenszel, J. Natl. Cancer Inst. 22 (1959), 719–748; statsmodels' `StratifiedTable.test_null_odds`. `None` when no
/// stratum says anything.
pub fn cochran_mantel_haenszel(tables: &[Table]) -> Option<Stratified> {
    let (mut strata, mut difference, mut variance) = (0, 0.0, 0.0);
    let (mut odds, mut against) = (0.0, 0.0);
    for table in tables {
        let [a, b, c, d] = [table.a, table.b, table.c, table.d].map(|count| count as f64);
        let all = a + b + c + d;
        if all <= 1.0 {
            continue;
        }
        let (row, other_row, column, other_column) = (a + b, c + d, a + c, b + d);
        let spread = row * other_row * column * other_column / (all * all * (all - 1.0));
        if spread > 0.0 {
            strata += 1;
        }
        difference += a - row * column / all;
        variance += spread;
        odds += a * d / all;
        against += b * c / all;
    }
    if variance <= 0.0 {
        return None;
    }
    let statistic = difference * difference / variance;
    let p = ChiSquared::new(1.0).ok()?.sf(statistic);
    Some(Stratified {
        strata,
        statistic,
        p,
        odds_ratio: (against > 0.0).then_some(odds / against),
    })
}

/// The arithmetic mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

#[cfg(test)]
mod tests;
