//! Numbers that are kept in whole parts of one: equal ones are equal, and they are the same bytes on every machine.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of so many `PARTS` of one, from `LOW` of them to `HIGH`; written as the number that it is (`0.4193`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal<const PARTS: u32, const LOW: i32, const HIGH: i32>(i32);

impl<const PARTS: u32, const LOW: i32, const HIGH: i32> Decimal<PARTS, LOW, HIGH> {
    /// The nearest one; `None` where that is out of the bounds, or there is no number.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is between two numbers of the type"
    )]
    pub fn nearest(value: f64) -> Option<Self> {
        // The last digits are the machine's noise.
        let parts = ((value * f64::from(PARTS) * 1e6).round() / 1e6).round();
        (f64::from(LOW)..=f64::from(HIGH))
            .contains(&parts)
            .then_some(Self(parts as i32))
    }

    /// The nearest one that is within the bounds.
    pub fn within(value: f64) -> Self {
        let whole = f64::from(PARTS);
        let (low, high) = (f64::from(LOW) / whole, f64::from(HIGH) / whole);
        Self::nearest(value.clamp(low, high)).unwrap_or(Self(LOW))
    }

    /// The number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(PARTS)
    }
}

impl<const PARTS: u32, const LOW: i32, const HIGH: i32> Serialize for Decimal<PARTS, LOW, HIGH> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value())
    }
}

impl<'de, const PARTS: u32, const LOW: i32, const HIGH: i32> Deserialize<'de> for Decimal<PARTS, LOW, HIGH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::nearest(value).ok_or_else(|| {
            let (low, high) = (Self(LOW).value(), Self(HIGH).value());
            serde::de::Error::custom(format!("{value} is not between {low} and {high}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Signed = Decimal<10_000, -10_000, 10_000>;
    type Inner = Decimal<1_000_000, 1, 999_999>;

    #[test]
    fn numbers_are_short_come_back_and_keep_their_bounds() {
        for (value, text) in [(0.419_26, "0.4193"), (-1.2, "-1.0"), (0.5, "0.5"), (7.0, "1.0")] {
            let number = Signed::within(value);
            assert_eq!(serde_json::to_string(&number).unwrap(), text);
            assert_eq!(serde_json::from_str::<Signed>(text).unwrap(), number);
        }
        let refused = serde_json::from_str::<Signed>("-1.1").unwrap_err().to_string();
        assert!(refused.starts_with("-1.1 is not between -1 and 1"), "{refused}");
        let written =
            [0.0, 1.0, f64::NAN, 0.95].map(|value| serde_json::to_string(&Inner::nearest(value)).unwrap());
        assert_eq!(written, ["null", "null", "null", "0.95"]);
    }
}
