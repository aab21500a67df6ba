//! Cohen's and Fleiss' kappa. `scripts/statistics` computes the same numbers with statsmodels and scikit-learn; the tests
//! hold these against ours.

use super::record::{Coefficient, Kappa};

/// The standard normal distribution's 0.975 quantile.
const Z: f64 = 1.959_963_984_540_054;

/// An estimate and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Kappa.
    pub kappa: f64,
    /// Its asymptotic standard error.
    pub error: f64,
}

/// Cohen's kappa of two raters, from the table of how often the first gave answer `i` and the second answer `j`; every
/// answer of the scale has its row and column. J. Cohen, "A coefficient of agreement for nominal scales", Educ. Psychol.
/// Meas. 20 (1960), 37–46; with linear weights (1 − |i − j| / (k − 1)), "Weighted kappa", Psychol. Bull. 70 (1968),
/// 213–220. The standard error is that of J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa
/// and weighted kappa", Psychol. Bull. 72 (1969), 323–327, formula 13; statsmodels' `cohens_kappa`. `None` when chance
/// alone would agree always, or nothing was rated.
pub fn cohen(table: &[Vec<u64>], linear: bool) -> Option<Estimate> {
    let size = table.len();
    let all: u64 = table.iter().flatten().sum();
    if all == 0 || size < 2 {
        return None;
    }
    let all = all as f64;
    let share = |i: usize, j: usize| table[i][j] as f64 / all;
    let rows: Vec<f64> = (0..size).map(|i| (0..size).map(|j| share(i, j)).sum()).collect();
    let columns: Vec<f64> = (0..size).map(|j| (0..size).map(|i| share(i, j)).sum()).collect();
    let weight = |i: usize, j: usize| {
        if linear {
            1.0 - i.abs_diff(j) as f64 / (size - 1) as f64
        } else {
            f64::from(u8::from(i == j))
        }
    };
    let cells = || (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
    let observed: f64 = cells().map(|(i, j)| weight(i, j) * share(i, j)).sum();
    let expected: f64 = cells().map(|(i, j)| weight(i, j) * rows[i] * columns[j]).sum();
    let left = 1.0 - expected;
    if left <= 1e-12 {
        return None;
    }
    let kappa = (observed - expected) / left;
    let by_row: Vec<f64> = (0..size)
        .map(|i| (0..size).map(|j| weight(i, j) * columns[j]).sum())
        .collect();
    let by_column: Vec<f64> = (0..size)
        .map(|j| (0..size).map(|i| weight(i, j) * rows[i]).sum())
        .collect();
    let spread: f64 = cells()
        .map(|(i, j)| {
            let distance = weight(i, j) - (by_row[i] + by_column[j]) * (1.0 - kappa);
            share(i, j) * distance * distance
        })
        .sum();
    let centre = kappa - expected * (1.0 - kappa);
    let variance = (spread - centre * centre) / (left * left * all);
    Some(Estimate {
        kappa,
        error: variance.max(0.0).sqrt(),
    })
}

impl Estimate {
    /// The estimate with its 95 % bounds: z standard errors to both sides, within −1 and 1.
    pub fn bounds(self) -> Kappa {
        Kappa {
            kappa: Coefficient::within(self.kappa),
            low: Coefficient::within(self.kappa - Z * self.error),
            high: Coefficient::within(self.kappa + Z * self.error),
        }
    }
}

/// Fleiss' kappa of any number of raters, from how many of them gave each answer to each thing; every thing was rated by
/// equally many. J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychol. Bull. 76 (1971), 378–382;
/// statsmodels' `fleiss_kappa`. `None` when chance alone would agree always, or nothing was rated twice.
pub fn fleiss(things: &[Vec<u64>]) -> Option<f64> {
    let raters = things.first()?.iter().sum::<u64>() as f64;
    if raters < 2.0 {
        return None;
    }
    let all = things.len() as f64;
    let answers = things.iter().map(Vec::len).max().unwrap_or(0);
    let mut expected = 0.0;
    for answer in 0..answers {
        let given: u64 = things.iter().filter_map(|counts| counts.get(answer)).sum();
        let share = given as f64 / (all * raters);
        expected += share * share;
    }
    let agreeing = |counts: &Vec<u64>| {
        let squares: f64 = counts.iter().map(|count| (*count as f64) * (*count as f64)).sum();
        (squares - raters) / (raters * (raters - 1.0))
    };
    let observed = things.iter().map(agreeing).sum::<f64>() / all;
    (1.0 - expected > 1e-12).then(|| (observed - expected) / (1.0 - expected))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;

    /// What statsmodels and scikit-learn say: `scripts/statistics` wrote it.
    const REFERENCE: &str = include_str!("../../../tests/data/statistics/reference.json");

    fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
        let mut all: serde_json::Value = serde_json::from_str(REFERENCE).unwrap();
        let cases: Vec<T> = serde_json::from_value(all[name].take()).unwrap();
        assert!(cases.len() >= 3, "{name}");
        cases
    }

    fn close(ours: f64, theirs: f64, what: &str) {
        assert!((ours - theirs).abs() < 1e-9, "{what}: {ours} is not {theirs}");
    }

    #[derive(Deserialize)]
    struct Said {
        kappa: f64,
        error: f64,
        sklearn: f64,
        low: f64,
        high: f64,
    }

    #[test]
    fn cohens_kappa_is_that_of_statsmodels_and_scikit_learn() {
        #[derive(Deserialize)]
        struct Case {
            table: Vec<Vec<u64>>,
            simple: Said,
            linear: Said,
        }
        for case in cases::<Case>("kappa") {
            for (linear, said) in [(false, &case.simple), (true, &case.linear)] {
                let what = format!("{:?}, linear {linear}", case.table);
                let found = cohen(&case.table, linear).unwrap();
                close(found.kappa, said.kappa, &what);
                close(found.kappa, said.sklearn, &what);
                close(found.error, said.error, &what);
                let bounds = found.bounds();
                for (ours, theirs) in [(bounds.low, said.low), (bounds.high, said.high)] {
                    assert_eq!(ours, Coefficient::within(theirs), "{what}");
                }
            }
        }
    }

    #[test]
    fn fleiss_kappa_is_that_of_statsmodels() {
        #[derive(Deserialize)]
        struct Case {
            things: Vec<Vec<u64>>,
            kappa: f64,
        }
        for case in cases::<Case>("fleiss") {
            close(
                fleiss(&case.things).unwrap(),
                case.kappa,
                &format!("{:?}", case.things),
            );
        }
    }

    #[test]
    fn where_chance_agrees_always_there_is_no_kappa() {
        assert_eq!(cohen(&[vec![5, 0], vec![0, 0]], false), None);
        assert_eq!(cohen(&[vec![0, 0], vec![0, 0]], true), None);
        assert_eq!(fleiss(&[vec![3, 0], vec![3, 0]]), None);
        assert_eq!(fleiss(&[]), None);
    }

    proptest! {
        #[test]
        fn whoever_is_first_kappa_is_the_same_and_whole_where_all_agree(
            cells in proptest::collection::vec(0_u64..30, 9), linear: bool,
        ) {
            let table: Vec<Vec<u64>> = cells.chunks(3).map(<[u64]>::to_vec).collect();
            let turned: Vec<Vec<u64>> = (0..3).map(|j| (0..3).map(|i| table[i][j]).collect()).collect();
            let (one, other) = (cohen(&table, linear), cohen(&turned, linear));
            prop_assert_eq!(one.is_some(), other.is_some());
            if let (Some(one), Some(other)) = (one, other) {
                prop_assert!((one.kappa - other.kappa).abs() < 1e-9 && (one.error - other.error).abs() < 1e-9);
                prop_assert!(one.kappa <= 1.0 + 1e-12);
            }
            let diagonal: Vec<Vec<u64>> = (0..3).map(|i| (0..3).map(|j| if i == j { table[i][j] } else { 0 }).collect()).collect();
            if let Some(whole) = cohen(&diagonal, linear) {
                prop_assert!((whole.kappa - 1.0).abs() < 1e-9 && whole.error < 1e-6);
            }
        }
    }
}
