use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::domain::rate::PassRate;

/// What scipy and statsmodels say: `scripts/statistics` wrote it.
const REFERENCE: &str = include_str!("../../../tests/data/statistics/reference.json");

fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let mut all: serde_json::Value = serde_json::from_str(REFERENCE).unwrap();
    let cases: Vec<T> = serde_json::from_value(all[name].take()).unwrap();
    assert!(cases.len() >= 3, "{name}");
    cases
}

fn close(ours: f64, theirs: f64, what: &str) {
    let distance = (ours - theirs).abs();
    assert!(
        distance <= 1e-9 * theirs.abs().max(1.0),
        "{what}: {ours} is not {theirs}"
    );
}

#[test]
fn mcnemar_is_that_of_statsmodels_and_of_the_paper() {
    #[derive(Deserialize)]
    struct Case {
        b: u64,
        c: u64,
        p: f64,
    }
    for case in cases::<Case>("mcnemar") {
        close(
            mcnemar_exact(case.b, case.c),
            case.p,
            &format!("{} against {}", case.b, case.c),
        );
    }
    // The roundtrip paper: p = 0.22 for five against one, and p = 0.25.
    assert_eq!(
        format!("{:.2} {:.2}", mcnemar_exact(5, 1), mcnemar_exact(3, 0)),
        "0.22 0.25"
    );
}

#[test]
fn cochran_mantel_haenszel_is_that_of_statsmodels() {
    #[derive(Deserialize)]
    struct Case {
        tables: Vec<[[u64; 2]; 2]>,
        statistic: f64,
        p: f64,
        odds_ratio: Option<f64>,
    }
    for case in cases::<Case>("cmh") {
        let tables: Vec<Table> = case
            .tables
            .iter()
            .map(|[[a, b], [c, d]]| Table {
                a: *a,
                b: *b,
                c: *c,
                d: *d,
            })
            .collect();
        let found = cochran_mantel_haenszel(&tables).unwrap();
        let what = format!("{tables:?}");
        close(found.statistic, case.statistic, &what);
        close(found.p, case.p, &what);
        match (found.odds_ratio, case.odds_ratio) {
            (Some(ours), Some(theirs)) => close(ours, theirs, &what),
            (ours, theirs) => assert_eq!(ours, theirs, "{what}"),
        }
    }
    let silent = Table {
        a: 3,
        c: 4,
        ..Table::default()
    };
    assert_eq!(cochran_mantel_haenszel(&[silent]), None);
    assert_eq!(cochran_mantel_haenszel(&[]), None);
}

#[test]
fn permutation_is_that_of_scipy() {
    #[derive(Deserialize)]
    struct Case {
        differences: Vec<f64>,
        difference: f64,
        p: f64,
    }
    for case in cases::<Case>("permutation") {
        let found = permutation(&case.differences, 1).unwrap();
        let what = format!("{:?}", case.differences);
        assert!(found.exact);
        close(found.difference, case.difference, &what);
        close(found.p, case.p, &what);
    }
    assert_eq!(permutation(&[], 1), None);
}

#[test]
fn drawn_arrangements_come_near_to_all_of_them() {
    // Twenty tasks and one whose values are equal: it changes nothing, and makes them too many to look at all.
    let differences: Vec<f64> = (0_i32..20).map(|index| f64::from(index % 5) - 1.4).collect();
    let exact = permutation(&differences, 1).unwrap();
    let drawn = permutation(&[differences, vec![0.0]].concat(), 1).unwrap();
    assert!(exact.exact && !drawn.exact);
    // Six standard errors of 100,000 draws.
    let error = 6.0 * (exact.p * (1.0 - exact.p) / 1e5).sqrt();
    assert!((exact.p - drawn.p).abs() < error, "{} and {}", exact.p, drawn.p);
}

#[test]
fn bootstrap_intervals_are_those_of_scipy() {
    #[derive(Deserialize)]
    struct Case {
        strata: Vec<Vec<f64>>,
        draws: usize,
        seed: u64,
        first: Vec<f64>,
        percentile: [f64; 2],
        #[serde(rename = "BCa")]
        bca: [f64; 2],
    }
    for case in cases::<Case>("bootstrap") {
        let draws = bootstrap(&case.strata, case.draws, case.seed);
        for (ours, theirs) in draws.iter().zip(&case.first) {
            close(*ours, *theirs, "a draw");
        }
        let values = case.strata.concat();
        for (ours, theirs) in [
            (percentile(&draws), case.percentile),
            (bca(&values, &draws), case.bca),
        ] {
            let what = format!("{values:?}");
            close(ours.low, theirs[0], &what);
            close(ours.high, theirs[1], &what);
        }
    }
    // All values the same: no bias and no acceleration, and still an interval.
    let draws = bootstrap(&[vec![2.0; 5]], 50, 1);
    assert_eq!(bca(&[2.0; 5], &draws), Interval { low: 2.0, high: 2.0 });
}

#[test]
fn wilson_is_that_of_statsmodels_to_the_decimals_that_are_kept() {
    #[derive(Deserialize)]
    struct Case {
        passed: u32,
        runs: u32,
        interval: [f64; 2],
    }
    for case in cases::<Case>("wilson") {
        let rate = PassRate::of(case.passed, case.runs);
        // Kept to four decimals, rounded outwards.
        assert!(
            (0.0..1.0001e-4).contains(&(case.interval[0] - rate.low.value() + 1e-12)),
            "{rate:?}"
        );
        assert!(
            (0.0..1.0001e-4).contains(&(rate.high.value() - case.interval[1] + 1e-12)),
            "{rate:?}"
        );
    }
}

proptest! {
    #[test]
    fn p_values_are_shares_and_sides_do_not_matter(b in 0_u64..300, c in 0_u64..300) {
        let p = mcnemar_exact(b, c);
        prop_assert!(p > 0.0 && p <= 1.0);
        prop_assert!((p - mcnemar_exact(c, b)).abs() < 1e-12);
    }

    #[test]
    fn intervals_hold_the_order(values in proptest::collection::vec(-5.0..5.0_f64, 2..30), seed: u64) {
        let draws = bootstrap(std::slice::from_ref(&values), 200, seed);
        for interval in [percentile(&draws), bca(&values, &draws)] {
            prop_assert!(interval.low <= interval.high);
        }
    }
}
