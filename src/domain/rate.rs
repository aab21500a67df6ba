//! How often a test passed, with what so few runs can say of it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use schemars::JsonSchema;

/// A share between 0 and 1, kept and written to four decimals: the same bytes on every machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

const WHOLE: f64 = 10_000.0;

impl Share {
    /// `part` of `whole`, rounded to the nearest; of nothing, 0.
    pub fn of(part: u32, whole: u32) -> Self {
        if whole == 0 {
            return Self(0);
        }
        Self::round(f64::from(part) / f64::from(whole), f64::round)
    }

    /// The share as a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / WHOLE
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is between 0 and 10,000"
    )]
    fn round(share: f64, how: fn(f64) -> f64) -> Self {
        Self(how((share.clamp(0.0, 1.0) * WHOLE * 1e6).round() / 1e6) as u32)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value())
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&value) {
            Ok(Self::round(value, f64::round))
        } else {
            Err(serde::de::Error::custom(format!(
                "{value} is no share: it is not between 0 and 1"
            )))
        }
    }
}

/// How often a test passed on one side, with 95 % bounds on how often it would.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PassRate {
    /// Runs in which it passed, of all.
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    pub rate: Share,
    /// The lower bound (Wilson's score interval), rounded down.
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    pub low: Share,
    /// The upper bound, rounded up.
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    pub high: Share,
}

/// The standard normal distribution's 0.975 quantile.
const Z: f64 = 1.959_963_984_540_054;

impl PassRate {
    /// The rate of `passed` in `runs`, with Wilson's score interval without continuity correction at 95 %:
    /// (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n). E. B. Wilson, "Probable inference, the law of succession, and
    /// statistical inference", JASA 22 (1927), 209–212; Brown et al., "Interval estimation for a binomial
    /// proportion", Statistical Science 16 (2001), section 3.1.1, recommend it for small n. No run says nothing: 0 to 1.
    pub fn of(passed: u32, runs: u32) -> Self {
        if runs == 0 {
            return Self {
                rate: Share(0),
                low: Share(0),
                high: Share::of(1, 1),
            };
        }
        let n = f64::from(runs);
        let p = f64::from(passed.min(runs)) / n;
        let square = Z * Z / n;
        let middle = p + square / 2.0;
        let half = Z * (p * (1.0 - p) / n + square / (4.0 * n)).sqrt();
        Self {
            rate: Share::of(passed.min(runs), runs),
            low: Share::round((middle - half) / (1.0 + square), f64::floor),
            high: Share::round((middle + half) / (1.0 + square), f64::ceil),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Newcombe, Statistics in Medicine 17 (1998), table I, method 3: 81/263, 15/148, 0/20, 1/29.
    #[test]
    fn the_published_bounds() {
        for (passed, runs, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0000, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let rate = PassRate::of(passed, runs);
            assert!(
                (rate.low.value() - low).abs() < 1.01e-4,
                "{passed}/{runs}: {rate:?}"
            );
            assert!(
                (rate.high.value() - high).abs() < 1.01e-4,
                "{passed}/{runs}: {rate:?}"
            );
        }
    }

    #[test]
    fn what_is_written_is_short_and_read_back() {
        let rate = PassRate::of(2, 3);
        let text = serde_json::to_string(&rate).unwrap();
        insta::assert_snapshot!(text, @r#"{"rate":0.6667,"low":0.2076,"high":0.9386}"#);
        assert_eq!(serde_json::from_str::<PassRate>(&text).unwrap(), rate);
        assert!(serde_json::from_str::<Share>("1.2").is_err());
    }

    proptest! {
        #[test]
        fn the_rate_lies_between_its_bounds(runs in 0_u32..2000, part in 0.0..1.0_f64) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most `runs`")]
            let passed = (f64::from(runs) * part) as u32;
            let rate = PassRate::of(passed, runs);
            prop_assert!(rate.low <= rate.rate && rate.rate <= rate.high);
            let text = serde_json::to_string(&rate).unwrap();
            prop_assert_eq!(serde_json::from_str::<PassRate>(&text).unwrap(), rate);
        }
    }
}
