//! How far a value is from the threshold of a rule that it did not meet.
//!
//! Read are the parts of a rule that are joined by `&&` and compare one fact, or the size of one, with a number. What else
//! a rule may say (`||`, `!`, functions, texts) has no distance.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A comparison that does not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// The fact, or `size(fact)`.
    pub fact: String,
    /// Its value.
    pub value: f64,
    /// The comparison: `<=`, `>=`, `<`, `>` or `==`.
    pub comparison: String,
    /// The threshold.
    pub threshold: f64,
    /// How much the value would have to change, at least; for `<` and `>` up to the threshold itself.
    pub distance: f64,
}

const COMPARISONS: [&str; 5] = ["<=", ">=", "==", "<", ">"];

/// The comparisons of `keep` that `observed` (values by fact) does not meet.
pub fn distances(keep: &str, observed: &Value) -> Vec<Distance> {
    if keep.contains("||") || keep.contains('?') {
        return vec![];
    }
    let parts = keep.split("&&").map(str::trim);
    parts.filter_map(|part| distance(part, observed)).collect()
}

fn distance(part: &str, observed: &Value) -> Option<Distance> {
    let (at, comparison) = COMPARISONS
        .iter()
        .filter_map(|sign| Some((part.find(sign)?, *sign)))
        // The first of them, and of `<=` and `<` the longer one.
        .min_by_key(|(at, sign)| (*at, std::cmp::Reverse(sign.len())))?;
    let (left, right) = (part[..at].trim(), part[at + comparison.len()..].trim());
    let (fact, threshold, comparison) = match (left.parse::<f64>(), right.parse::<f64>()) {
        (Err(_), Ok(threshold)) => (left, threshold, comparison),
        (Ok(threshold), Err(_)) => (right, threshold, turned(comparison)),
        _ => return None,
    };
    let value = value_of(fact, observed)?;
    let holds = match comparison {
        "<=" => value <= threshold,
        ">=" => value >= threshold,
        "<" => value < threshold,
        ">" => value > threshold,
        _ => (value - threshold).abs() <= 0.0,
    };
    (!holds).then(|| Distance {
        fact: fact.to_owned(),
        value,
        comparison: comparison.to_owned(),
        threshold,
        distance: (value - threshold).abs(),
    })
}

fn turned(comparison: &str) -> &str {
    match comparison {
        "<=" => ">=",
        ">=" => "<=",
        "<" => ">",
        ">" => "<",
        other => other,
    }
}

fn value_of(fact: &str, observed: &Value) -> Option<f64> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
    };
    if let Some(name) = fact.strip_prefix("size(").and_then(|rest| rest.strip_suffix(')')) {
        let name = name.trim();
        return match observed.get(name).filter(|_| is_name(name))? {
            Value::Array(items) => Some(items.len() as f64),
            Value::String(text) => Some(text.chars().count() as f64),
            Value::Object(items) => Some(items.len() as f64),
            _ => None,
        };
    }
    observed.get(fact).filter(|_| is_name(fact))?.as_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_distance_is_what_is_lacking() {
        let seen =
            json!({"gold.files": 4, "test.files": 0, "issues.resolved": ["a/b#1"], "pr.is_revert": true});
        let told = |keep: &str| {
            let found = distances(keep, &seen);
            let parts: Vec<String> = found
                .iter()
                .map(|one| {
                    format!(
                        "{} {} {} {}: {}",
                        one.fact, one.value, one.comparison, one.threshold, one.distance
                    )
                })
                .collect();
            parts.join("; ")
        };
        assert_eq!(told("gold.files == 1"), "gold.files 4 == 1: 3");
        assert_eq!(
            told("gold.files <= 3 && test.files >= 1"),
            "gold.files 4 <= 3: 1; test.files 0 >= 1: 1"
        );
        assert_eq!(
            told("2 <= size(issues.resolved)"),
            "size(issues.resolved) 1 >= 2: 1"
        );
        for silent in [
            "gold.files >= 1",
            "!pr.is_revert",
            "gold.files == 1 || test.files == 1",
            "pr.title == 'x'",
            "a < b",
        ] {
            assert_eq!(told(silent), "", "{silent}");
        }
    }
}
