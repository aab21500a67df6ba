//! Points and requests: what GitHub's rule says a query costs, what a run may spend, and what each token has left.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a query with so many connections costs: a point for each hundred, rounded, and at least one (GitHub, "Rate limits and
/// query limits for the GraphQL API").
pub const fn points(connections: u64) -> u64 {
    let rounded = (connections + 50) / 100;
    if rounded == 0 { 1 } else { rounded }
}

/// What one command may spend. A budget file holds the same keys, as TOML.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// GraphQL points, at most.
    pub points: Option<u64>,
    /// Requests, at most, of both kinds, without those that GitHub answers with "nothing has changed", which it does not
    /// count; where the last one is redirected, it is followed.
    pub requests: Option<u64>,
    /// What is left untouched of each token's hourly limit, of either kind.
    pub reserve: u64,
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// GraphQL points, as GitHub counted them.
    pub points: u64,
    /// Requests that were sent, of both kinds, answered or not.
    pub requests: u64,
    /// Those of them that went to the REST API.
    pub rest: u64,
    /// REST requests that GitHub answered with "nothing has changed", which it does not count.
    pub unchanged: u64,
    /// Requests that had to be sent again.
    pub repeated: u64,
    /// Seconds that were spent waiting for a limit to pass.
    pub waited_seconds: u64,
}

/// The two limits of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Points, of GraphQL.
    Points,
    /// Requests, of REST.
    Rest,
}

/// What a token has left of one limit. Nothing is known before its first answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Window {
    remaining: Option<u64>,
    resets_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Token {
    points: Window,
    rest: Window,
    /// No request before this moment, of either kind.
    rests_until: Option<Timestamp>,
    /// GitHub does not know it.
    refused: bool,
}

/// Which token may ask now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// This one.
    Token(usize),
    /// None before this moment.
    Wait(Timestamp),
    /// None ever: all were refused.
    Nobody,
}

/// Every token's budget.
#[derive(Debug, Clone)]
pub struct Purse {
    tokens: Vec<Token>,
    reserve: u64,
}

impl Purse {
    /// So many tokens of which nothing is known.
    pub fn new(tokens: usize, reserve: u64) -> Self {
        Self {
            tokens: vec![Token::default(); tokens],
            reserve,
        }
    }

    /// The token with most left for a request that costs this; of equals the first.
    pub fn choose(&self, kind: Kind, cost: u64, now: Timestamp) -> Choice {
        let mut best: Option<(u64, usize)> = None;
        let mut earliest: Option<Timestamp> = None;
        for (place, token) in self.tokens.iter().enumerate().filter(|(_, token)| !token.refused) {
            let window = token.window(kind);
            let left = match window.resets_at {
                Some(moment) if moment <= now => u64::MAX,
                _ => window.remaining.unwrap_or(u64::MAX),
            };
            let short = left < cost.saturating_add(self.reserve);
            let blocked = token.rests_until.filter(|moment| *moment > now).max(if short {
                window.resets_at
            } else {
                None
            });
            match blocked {
                None if best.is_none_or(|(most, _)| left > most) => best = Some((left, place)),
                None => {}
                Some(moment) => earliest = Some(earliest.map_or(moment, |known| known.min(moment))),
            }
        }
        match (best, earliest) {
            (Some((_, place)), _) => Choice::Token(place),
            (None, Some(moment)) => Choice::Wait(moment),
            (None, None) => Choice::Nobody,
        }
    }

    /// What an answer said of a token's limit.
    pub fn learn(&mut self, place: usize, kind: Kind, remaining: u64, resets_at: Timestamp) {
        if let Some(token) = self.tokens.get_mut(place) {
            *token.window_mut(kind) = Window {
                remaining: Some(remaining),
                resets_at: Some(resets_at),
            };
        }
    }

    /// A token is not to be used before this moment.
    pub fn rest(&mut self, place: usize, until: Timestamp) {
        if let Some(token) = self.tokens.get_mut(place) {
            token.rests_until = token.rests_until.max(Some(until));
        }
    }

    /// GitHub does not know a token.
    pub fn refuse(&mut self, place: usize) {
        if let Some(token) = self.tokens.get_mut(place) {
            token.refused = true;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

impl Token {
    fn window(&self, kind: Kind) -> Window {
        match kind {
            Kind::Points => self.points,
            Kind::Rest => self.rest,
        }
    }

    fn window_mut(&mut self, kind: Kind) -> &mut Window {
        match kind {
            Kind::Points => &mut self.points,
            Kind::Rest => &mut self.rest,
        }
    }
}

impl Budget {
    /// Which limit one more request of so many points would pass; one of none passes no limit of points.
    pub fn passed_by(&self, spent: &Spent, cost: u64) -> Option<String> {
        let passes = |most: &u64| cost > 0 && spent.points + cost > *most;
        if let Some(most) = self.points.filter(passes) {
            return Some(format!(
                "{} of {most} points are spent, and it costs {cost}",
                spent.points
            ));
        }
        let counted = spent.requests.saturating_sub(spent.unchanged);
        let most = self.requests.filter(|most| counted >= *most)?;
        Some(format!("all {most} requests are sent"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_point_for_each_hundred_connections() {
        let costs = [0, 1, 149, 150, 5101].map(points);
        assert_eq!(costs, [1, 1, 1, 2, 51]);
    }

    #[test]
    fn the_fullest_token_asks_and_the_first_that_is_free_again_is_waited_for() {
        let mut purse = Purse::new(3, 100);
        assert_eq!(purse.choose(Kind::Points, 1, at(0)), Choice::Token(0));
        purse.learn(0, Kind::Points, 500, at(3600));
        purse.learn(1, Kind::Points, 700, at(1800));
        purse.refuse(2);
        assert_eq!(purse.choose(Kind::Points, 1, at(0)), Choice::Token(1));
        // The other limit is another matter.
        assert_eq!(purse.choose(Kind::Rest, 1, at(0)), Choice::Token(0));
        // Neither may go below the reserve.
        assert_eq!(purse.choose(Kind::Points, 601, at(0)), Choice::Wait(at(1800)));
        purse.rest(1, at(9000));
        assert_eq!(purse.choose(Kind::Points, 601, at(0)), Choice::Wait(at(3600)));
        assert_eq!(purse.choose(Kind::Points, 601, at(3600)), Choice::Token(0));
        purse.refuse(0);
        purse.refuse(1);
        assert_eq!(purse.choose(Kind::Points, 1, at(0)), Choice::Nobody);
    }

    #[test]
    fn a_budget_ends_before_it_is_passed() {
        let budget = Budget {
            points: Some(10),
            requests: Some(3),
            reserve: 0,
        };
        let spent = |points, requests| Spent {
            points,
            requests,
            ..Spent::default()
        };
        assert_eq!(budget.passed_by(&spent(8, 2), 2), None);
        assert!(budget.passed_by(&spent(9, 2), 2).is_some());
        assert!(budget.passed_by(&spent(0, 3), 1).is_some());
        assert_eq!(budget.passed_by(&spent(12, 2), 0), None, "REST has no points");
        let unchanged = Spent {
            unchanged: 1,
            ..spent(0, 3)
        };
        assert_eq!(budget.passed_by(&unchanged, 1), None);
        assert_eq!(Budget::default().passed_by(&spent(1 << 40, 1 << 40), 9), None);
    }
}
