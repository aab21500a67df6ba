//! What a bad answer means, after GitHub's "Rate limits for the REST API" and "Best practices": which limit was hit and
//! when it passes, who is overloaded and for how long to leave it alone, what will never go well.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Tries for one request before it is given up. Waiting for the hourly limit is none.
pub const TRIES: u32 = 6;

/// What is waited, at least, where GitHub limits and does not say for how long ("wait for at least one minute").
const MINUTE: Duration = Duration::from_mins(1);

/// An answer's outer side: what decides before anybody reads the body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The HTTP status.
    pub status: u16,
    /// `retry-after`, in seconds from when the answer came.
    pub retry_after: Option<u64>,
    /// `x-ratelimit-remaining`.
    pub remaining: Option<u64>,
    /// `x-ratelimit-reset`.
    pub resets_at: Option<Timestamp>,
    /// `etag`.
    pub etag: Option<String>,
    /// `location`.
    pub location: Option<String>,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The token's hourly limit is used up: until then.
    Exhausted(Timestamp),
    /// A secondary limit: this token is to be left alone for so long.
    Limited(Duration),
    /// GitHub is overloaded, or the question too large: less at once, and later.
    Overloaded,
    /// GitHub does not know the token.
    BadToken,
    /// A no that stays a no: its words, at most a line.
    Refused(String),
}

/// What is wrong with an answer of this head and body; `None` for one that is to be read.
pub fn trouble(head: &Head, body: &str, now: Timestamp, attempt: u32) -> Option<Trouble> {
    let message = message(body);
    let said = message.to_ascii_lowercase();
    let asked_too_much = said.contains("rate limit") || said.contains("abuse detection");
    match head.status {
        200..=399 | 404 | 410 => None,
        401 => Some(Trouble::BadToken),
        403 | 429 => Some(match (head.retry_after, head.remaining) {
            (Some(seconds), _) => Trouble::Limited(Duration::from_secs(seconds)),
            (None, Some(0)) => Trouble::Exhausted(
                head.resets_at
                    .unwrap_or_else(|| now.checked_add(MINUTE).unwrap_or(now)),
            ),
            // A 403 without a word of explanation is how GitHub's edge answers when asked too often.
            (None, _) if asked_too_much || message.is_empty() || head.status == 429 => {
                Trouble::Limited(MINUTE.saturating_mul(1 << attempt.min(4)))
            }
            (None, _) => Trouble::Refused(message),
        }),
        408 | 500..=599 => Some(Trouble::Overloaded),
        _ => Some(Trouble::Refused(message)),
    }
}

/// How many seconds `retry-after` asks to wait from now on: it says so, or names the moment by its date (RFC 9110).
pub fn retry_after(text: &str, now: Timestamp) -> Option<u64> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(seconds);
    }
    let moment = DateTime::strptime("%a, %d %b %Y %H:%M:%S GMT", text.trim()).ok()?;
    let moment = Offset::UTC.to_timestamp(moment).ok()?;
    Some(whole_seconds(now, moment))
}

/// The seconds from one moment to another, rounded up; none where it is past.
pub fn whole_seconds(from: Timestamp, to: Timestamp) -> u64 {
    let length = to.duration_since(from);
    let seconds = length.as_secs() + i64::from(length.subsec_nanos() > 0);
    u64::try_from(seconds).unwrap_or_default()
}

/// What GitHub says in an error's body: its first line, up to 200 characters; nothing when the body is no JSON.
fn message(body: &str) -> String {
    let read: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let text = read["message"].as_str().unwrap_or_default();
    line(text)
}

/// A text's first line, up to 200 characters.
pub fn line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(200)
        .collect()
}

/// How long to wait before a try: from half to all of 1 s, 2 s, 4 s … (a minute at most). `noise` is any number that
/// differs between programs that were stopped by the same event.
pub fn back_off(attempt: u32, noise: u64) -> Duration {
    let whole = 1000_u64 << attempt.min(6);
    let whole = whole.min(60_000);
    Duration::from_millis(whole / 2 + noise % (whole / 2 + 1))
}

/// How many things to ask for at once: fewer when the forge is slow, more again when it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchSize {
    now: usize,
    most: usize,
    /// Full batches that went well since it shrank.
    well: u32,
}

impl BatchSize {
    /// So many, at most.
    pub fn new(most: usize) -> Self {
        Self {
            now: most.max(1),
            most: most.max(1),
            well: 0,
        }
    }

    /// How many to ask for now.
    pub fn now(self) -> usize {
        self.now
    }

    /// It took too long: half as many. False when there is nothing to halve.
    pub fn shrink(&mut self) -> bool {
        self.well = 0;
        let smaller = self.now.div_ceil(2);
        let shrinks = smaller < self.now;
        self.now = smaller;
        shrinks
    }

    /// It went well: after four times, half as many more.
    pub fn grow(&mut self) {
        self.well += 1;
        if self.well >= 4 {
            self.well = 0;
            self.now = (self.now + self.now.div_ceil(2)).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, retry_after: Option<u64>, remaining: Option<u64>, body: &str) -> Option<Trouble> {
        let head = Head {
            status,
            retry_after,
            remaining,
            resets_at: Timestamp::from_second(9000).ok(),
            ..Head::default()
        };
        trouble(&head, body, Timestamp::from_second(5000).unwrap(), 1)
    }

    #[test]
    fn every_refusal_has_its_meaning() {
        let refused = |text: &str| Some(Trouble::Refused(text.to_owned()));
        let limited = |seconds| Some(Trouble::Limited(Duration::from_secs(seconds)));
        let secondary = r#"{"message": "You have exceeded a secondary rate limit. Please wait"}"#;
        let scope = r#"{"message": "Resource not accessible by personal access token"}"#;
        assert_eq!(read(200, None, Some(0), ""), None);
        assert_eq!(read(304, None, None, ""), None);
        assert_eq!(read(401, None, None, ""), Some(Trouble::BadToken));
        assert_eq!(
            read(403, None, Some(0), ""),
            Timestamp::from_second(9000).ok().map(Trouble::Exhausted)
        );
        assert_eq!(read(403, Some(7), Some(0), ""), limited(7));
        assert_eq!(read(429, Some(7), None, ""), limited(7));
        assert_eq!(read(403, None, Some(44), secondary), limited(120));
        assert_eq!(read(403, None, None, "<html>"), limited(120));
        assert_eq!(
            read(403, None, Some(44), scope),
            refused("Resource not accessible by personal access token")
        );
        for status in [500, 502, 503, 504] {
            assert_eq!(
                read(status, None, None, "<html>Unicorn!"),
                Some(Trouble::Overloaded)
            );
        }
        assert_eq!(read(422, None, None, r#"{"message": "no\nmore"}"#), refused("no"));
    }

    #[test]
    fn a_wait_is_told_in_seconds_or_by_its_end() {
        let now: Timestamp = "2015-10-21T07:27:00.5Z".parse().unwrap();
        for (text, seconds) in [
            ("47", Some(47)),
            (" 0 ", Some(0)),
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some(60)),
            ("Wed, 21 Oct 2015 07:20:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ] {
            assert_eq!(retry_after(text, now), seconds, "{text}");
        }
        let later: Timestamp = "2015-10-21T07:27:02Z".parse().unwrap();
        assert_eq!((whole_seconds(now, later), whole_seconds(later, now)), (2, 0));
    }

    #[test]
    fn waiting_doubles_up_to_a_minute_and_differs() {
        let seconds = |attempt, noise| back_off(attempt, noise).as_millis();
        assert_eq!(
            [seconds(0, 0), seconds(0, 500), seconds(0, 501)],
            [500, 1000, 500]
        );
        assert_eq!(
            [seconds(1, 0), seconds(3, 4000), seconds(40, 30_000)],
            [1000, 8000, 60_000]
        );
    }

    #[test]
    fn batches_shrink_at_once_and_grow_slowly() {
        let mut size = BatchSize::new(50);
        assert!(size.shrink() && size.shrink() && size.now() == 13);
        (0..4).for_each(|_| size.grow());
        assert_eq!(size.now(), 20);
        (0..40).for_each(|_| size.grow());
        assert_eq!(size.now(), 50);
        let mut one = BatchSize::new(1);
        assert!(!one.shrink() && one.now() == 1);
    }
}
