//! The stretch of time that a recipe looks at, and what it says of a candidate.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;

use super::model::Source;
use crate::domain::candidate::Candidate;
use crate::domain::decision::{Decision, Verdict};
use crate::domain::hash::KeyHasher;
use crate::domain::ids::RuleId;

/// The id under which the window's decisions stand. The dot keeps it apart from every recipe's own rules.
pub const WINDOW_RULE: &str = "source.window";

/// When a pull request must have been merged. Days begin at midnight, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// On this day or later.
    pub since: Option<Date>,
    /// Before this day.
    pub before: Option<Date>,
}

impl Window {
    /// The window of a checked recipe; `None` when it sets none.
    pub fn of(source: &Source) -> Option<Self> {
        let day = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
        let window = Self {
            since: day(&source.merged_since),
            before: day(&source.merged_before),
        };
        (window.since.is_some() || window.before.is_some()).then_some(window)
    }

    /// Whether a merge at that moment is in the window.
    pub fn admits(&self, merged_at: Timestamp) -> bool {
        let day = TimeZone::UTC.to_datetime(merged_at).date();
        self.since.is_none_or(|since| day >= since) && self.before.is_none_or(|before| day < before)
    }

    /// What it asks, for a reader.
    pub fn reason(&self) -> String {
        let since = self.since.map(|day| format!("on or after {day}"));
        let before = self.before.map(|day| format!("before {day}"));
        let asked: Vec<_> = since.into_iter().chain(before).collect();
        format!("the recipe looks at what was merged {}", asked.join(" and "))
    }

    /// Its decision on a candidate.
    pub fn decide(&self, candidate: &Candidate) -> Decision {
        let kept = self.admits(candidate.merged_at);
        let observed = json!({ "dates.merged": candidate.merged_at });
        let key = KeyHasher::new(WINDOW_RULE, 1)
            .part("reason", self.reason().as_bytes())
            .json("observed", &observed);
        Decision {
            candidate: candidate.id.clone(),
            rule: RuleId::from(WINDOW_RULE),
            verdict: if kept { Verdict::Keep } else { Verdict::Drop },
            kept,
            observed,
            evidence: self.reason(),
            input_key: key.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(since: Option<&str>, before: Option<&str>) -> Option<Window> {
        Window::of(&Source {
            repositories: vec![],
            merged_since: since.map(str::to_owned),
            merged_before: before.map(str::to_owned),
            ..Source::default()
        })
    }

    #[test]
    fn a_day_begins_at_midnight() {
        assert_eq!(window(None, None), None);
        let may = window(Some("2024-05-01"), Some("2024-06-01")).unwrap();
        for (moment, admitted) in [
            ("2024-04-30T23:59:59Z", false),
            ("2024-05-01T00:00:00Z", true),
            ("2024-05-31T23:59:59Z", true),
            ("2024-06-01T00:00:00Z", false),
        ] {
            assert_eq!(may.admits(moment.parse().unwrap()), admitted, "{moment}");
        }
        assert_eq!(
            may.reason(),
            "the recipe looks at what was merged on or after 2024-05-01 and before 2024-06-01"
        );
        assert!(
            window(None, Some("2024-06-01"))
                .unwrap()
                .admits(Timestamp::UNIX_EPOCH)
        );
    }
}
