//! One request after the other: which token asks, how long to wait, when to give up. The one place that names octocrab.
//!
//! Requests go one by one: GitHub asks for that ("Best practices for using the REST API"), and its secondary limits punish
//! the rest.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH};
use jiff::Timestamp;
use octocrab::Octocrab;
use secrecy::{ExposeSecret as _, SecretString};
use tokio_util::sync::CancellationToken;

use super::address::{Address, GITHUB};
use super::budget::{Budget, Choice, Kind, Purse, Spent};
use super::error::GithubError;
use super::graphql::Query;
use super::reply::{Answer, Bad, answer};
use super::retry::{Head, TRIES, Trouble, back_off, line, retry_after, trouble, whole_seconds};
use crate::clock::Timer;
use crate::domain::address::shown;
use crate::domain::event::{Event, EventSink};

/// What a client needs to be told.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address of the REST API: [`GITHUB`], or `https://HOST/api/v3` of an Enterprise Server.
    pub api: String,
    /// The tokens, each with a limit of its own.
    pub tokens: Vec<SecretString>,
    /// What may be spent.
    pub budget: Budget,
    /// How long one answer may take.
    pub timeout: Duration,
    /// How much is asked for at once, at most.
    pub batch: usize,
}

impl Settings {
    /// These tokens at GitHub's own API, with no limit beside GitHub's.
    pub fn new(tokens: Vec<SecretString>) -> Self {
        Self {
            api: GITHUB.to_owned(),
            tokens,
            budget: Budget::default(),
            timeout: Duration::from_mins(1),
            batch: 50,
        }
    }
}

/// What may be asked.
#[derive(Clone, Copy)]
pub(super) enum Call<'a> {
    /// A query; a patient one is asked again when GitHub is slow, others come back as [`GithubError::Slow`].
    Query { query: &'a Query, patient: bool },
    /// A REST path (with its parameters), unless nothing changed since this `ETag`.
    Get {
        path: &'a str,
        what: &'a str,
        etag: Option<&'a str>,
        /// Whether a redirection led here: a look-up that was begun is ended, or it would begin anew each time.
        goes_on: bool,
    },
}

impl Call<'_> {
    fn what(&self) -> &str {
        match self {
            Self::Query { query, .. } => &query.what,
            Self::Get { what, .. } => what,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Query { .. } => Kind::Points,
            Self::Get { .. } => Kind::Rest,
        }
    }

    /// What it takes off a token's limit.
    fn cost(&self) -> u64 {
        match self {
            Self::Query { query, .. } => query.points,
            Self::Get { .. } => 1,
        }
    }

    /// What it takes off the budget's points: REST has none.
    fn points(&self) -> u64 {
        match self {
            Self::Query { query, .. } => query.points,
            Self::Get { .. } => 0,
        }
    }

    /// Whether it only ends what was begun, so that no budget stops it.
    fn goes_on(&self) -> bool {
        matches!(self, Self::Get { goes_on: true, .. })
    }
}

struct State {
    purse: Purse,
    spent: Spent,
}

/// Asks GitHub.
pub struct Client {
    crabs: Vec<Octocrab>,
    address: Address,
    pub(super) settings: Settings,
    pub(super) timer: Arc<dyn Timer>,
    events: Arc<dyn EventSink>,
    cancel: CancellationToken,
    state: Mutex<State>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// How one request ended.
enum Ended {
    Answered(Head, String),
    TimedOut,
    Broken(String),
}

impl Client {
    /// A client; nothing is asked yet. Must be made inside a Tokio runtime.
    ///
    /// # Errors
    /// When there is no token, one has characters that no token has, or the address is none.
    pub fn new(
        settings: Settings,
        timer: Arc<dyn Timer>,
        events: Arc<dyn EventSink>,
        cancel: CancellationToken,
    ) -> Result<Self, GithubError> {
        let address = Address::read(&settings.api)?;
        if settings.tokens.is_empty() {
            return Err(GithubError::NoToken);
        }
        let of = settings.tokens.len();
        let mut crabs = Vec::with_capacity(of);
        for (place, token) in (1..).zip(&settings.tokens) {
            let text = token.expose_secret();
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(GithubError::OddToken { place, of });
            }
            let crab = Octocrab::builder()
                .base_uri(address.base.as_str())
                .and_then(|builder| builder.personal_token(token.clone()).build());
            crabs.push(crab.map_err(|_| GithubError::Address {
                address: shown(&settings.api),
                why: "no client can be made for it",
            })?);
        }
        let purse = Purse::new(of, settings.budget.reserve);
        Ok(Self {
            crabs,
            address,
            settings,
            timer,
            events,
            cancel,
            state: Mutex::new(State {
                purse,
                spent: Spent::default(),
            }),
        })
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.state().spent
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks a query, until it is answered or there is no hope.
    pub(super) async fn query(&self, query: &Query, patient: bool) -> Result<Answer, GithubError> {
        let (_, answer) = self.call(Call::Query { query, patient }).await?;
        answer.ok_or_else(|| GithubError::Answer {
            what: query.what.clone(),
            why: "it is empty".to_owned(),
        })
    }

    /// Gets a path of the REST API: its head and body.
    pub(super) async fn get(
        &self,
        path: &str,
        what: &str,
        etag: Option<&str>,
        goes_on: bool,
    ) -> Result<(Head, String), GithubError> {
        let call = Call::Get {
            path,
            what,
            etag,
            goes_on,
        };
        let ((head, body), _) = self.call(call).await?;
        Ok((head, body))
    }

    async fn call(&self, call: Call<'_>) -> Result<((Head, String), Option<Answer>), GithubError> {
        let mut tries = 0;
        let mut limits = 0;
        let mut was_sent = false;
        loop {
            let passed = self.settings.budget.passed_by(&self.state().spent, call.points());
            if let Some(limit) = passed.filter(|_| !call.goes_on()) {
                let what = call.what().to_owned();
                return Err(GithubError::Budget { what, limit });
            }
            let token = self.token(call).await?;
            // Not before: a stop, or the budget, may end it while it waits.
            self.state().spent.repeated += u64::from(was_sent);
            let ended = self.once(token, call).await;
            was_sent = true;
            let now = self.timer.now();
            let (trouble, last) = match ended {
                Ended::Answered(head, body) => match self.judge(token, call, &head, &body, now, tries) {
                    Ok(answer) => return Ok(((head, body), answer)),
                    Err(found) => found,
                },
                Ended::TimedOut => (Trouble::Overloaded, "no answer in time".to_owned()),
                Ended::Broken(why) => {
                    // The line broke: asking for less would not help, asking again may.
                    self.again(call, &mut tries, &why, None).await?;
                    continue;
                }
            };
            match trouble {
                Trouble::Exhausted(until) => {
                    limits += 1;
                    if limits > TRIES as usize * self.crabs.len() {
                        return Err(unreachable(call, tries + 1, &last));
                    }
                    let soonest = now.checked_add(Duration::from_secs(1)).unwrap_or(now);
                    self.state().purse.rest(token, until.max(soonest));
                }
                Trouble::Limited(wait) => {
                    // However little it says: as long as after any other try.
                    let wait = wait.max(back_off(tries, self.noise()));
                    let until = now.checked_add(wait).unwrap_or(now);
                    self.state().purse.rest(token, until);
                    self.again(call, &mut tries, &last, Some(Duration::ZERO)).await?;
                }
                Trouble::Overloaded => {
                    if let Call::Query {
                        query,
                        patient: false,
                    } = call
                    {
                        return Err(GithubError::Slow {
                            what: query.what.clone(),
                        });
                    }
                    self.again(call, &mut tries, &last, None).await?;
                }
                Trouble::BadToken => {
                    self.events.emit(Event::Warning {
                        message: format!(
                            "GitHub does not know token {} of {}; going on without it",
                            token + 1,
                            self.crabs.len()
                        ),
                    });
                    self.state().purse.refuse(token);
                    was_sent = false;
                }
                Trouble::Refused(message) => {
                    return Err(GithubError::Refused {
                        what: call.what().to_owned(),
                        status: last.parse().unwrap_or_default(),
                        message,
                    });
                }
            }
        }
    }

    /// Counts a try that failed, gives up after too many, and waits.
    async fn again(
        &self,
        call: Call<'_>,
        tries: &mut u32,
        last: &str,
        wait: Option<Duration>,
    ) -> Result<(), GithubError> {
        *tries += 1;
        if *tries >= TRIES {
            return Err(unreachable(call, *tries, last));
        }
        let wait = wait.unwrap_or_else(|| back_off(*tries - 1, self.noise()));
        self.pause(wait).await
    }

    /// The clock's last digits: what differs between programs that were stopped by the same event.
    pub(super) fn noise(&self) -> u64 {
        u64::try_from(self.timer.now().subsec_nanosecond()).unwrap_or_default() / 1000
    }

    pub(super) async fn pause(&self, length: Duration) -> Result<(), GithubError> {
        tokio::select! {
            () = self.timer.pause(length) => Ok(()),
            () = self.cancel.cancelled() => Err(GithubError::Stopped),
        }
    }

    /// Reads an answer's limits and troubles. An error comes with what to say of it: the status, or what was wrong.
    fn judge(
        &self,
        token: usize,
        call: Call<'_>,
        head: &Head,
        body: &str,
        now: Timestamp,
        tries: u32,
    ) -> Result<Option<Answer>, (Trouble, String)> {
        if let (Some(remaining), Some(resets_at)) = (head.remaining, head.resets_at) {
            self.state().purse.learn(token, call.kind(), remaining, resets_at);
        }
        if let Some(found) = trouble(head, body, now, tries) {
            return Err((found, head.status.to_string()));
        }
        let Call::Query { query, .. } = call else {
            if head.status == 304 {
                self.state().spent.unchanged += 1;
            }
            // A page of words in the place of the answer, as GitHub's edge sends it, or half an answer.
            return match serde_json::from_str::<serde::de::IgnoredAny>(body) {
                Err(why) if (200..300).contains(&head.status) => {
                    Err((Trouble::Overloaded, format!("its answer was none: {why}")))
                }
                _ => Ok(None),
            };
        };
        match answer(body) {
            Ok(answer) => {
                let mut state = self.state();
                state.spent.points += answer.limit.map_or(query.points, |limit| limit.cost);
                if let Some(limit) = answer.limit {
                    state
                        .purse
                        .learn(token, Kind::Points, limit.remaining, limit.resets_at);
                }
                Ok(Some(answer))
            }
            Err(Bad::Exhausted) => {
                let later = now.checked_add(Duration::from_mins(1)).unwrap_or(now);
                let until = head.resets_at.unwrap_or(later);
                Err((Trouble::Exhausted(until), "the limit was used up".to_owned()))
            }
            Err(Bad::Slow) => Err((Trouble::Overloaded, "it took too long".to_owned())),
            // Half a page is no page: it is read again.
            Err(Bad::Unreadable(why)) => Err((Trouble::Overloaded, format!("its answer broke off: {why}"))),
            Err(Bad::Refused(message)) => Err((Trouble::Refused(message), head.status.to_string())),
        }
    }

    /// A token that may ask now; waits for one.
    async fn token(&self, call: Call<'_>) -> Result<usize, GithubError> {
        let mut told = None;
        loop {
            if self.cancel.is_cancelled() {
                return Err(GithubError::Stopped);
            }
            let now = self.timer.now();
            let choice = self.state().purse.choose(call.kind(), call.cost(), now);
            match choice {
                Choice::Token(place) => return Ok(place),
                Choice::Nobody => {
                    return Err(GithubError::BadTokens { of: self.crabs.len() });
                }
                Choice::Wait(until) => {
                    // Whole seconds, rounded up: a wait that ended too early would be told twice.
                    let length = Duration::from_secs(whole_seconds(now, until).max(1));
                    if told.replace(until) != Some(until) {
                        let (seconds, end) = (length.as_secs(), now.checked_add(length).unwrap_or(until));
                        let end = Timestamp::from_second(end.as_second()).unwrap_or(end);
                        self.events.emit(Event::Warning {
                            message: format!("GitHub's limit is reached; waiting {seconds} s, until {end}"),
                        });
                    }
                    let ended = self.pause(length).await;
                    // As long as it was: a stop ends it early.
                    self.state().spent.waited_seconds += waited(now, self.timer.now());
                    ended?;
                }
            }
        }
    }

    async fn once(&self, token: usize, call: Call<'_>) -> Ended {
        {
            let mut state = self.state();
            state.spent.requests += 1;
            state.spent.rest += u64::from(matches!(call, Call::Get { .. }));
        }
        tracing::debug!(what = call.what(), token = token + 1, "asking GitHub");
        match tokio::time::timeout(self.settings.timeout, self.send(token, call)).await {
            Err(_) => Ended::TimedOut,
            Ok(Err(error)) => Ended::Broken(root(&error)),
            Ok(Ok((head, body))) => Ended::Answered(head, body),
        }
    }

    async fn send(&self, token: usize, call: Call<'_>) -> octocrab::Result<(Head, String)> {
        let crab = &self.crabs[token];
        let response = match call {
            Call::Query { query, .. } => {
                let body = serde_json::json!({ "query": query.text, "variables": query.variables });
                crab._post(self.address.graphql, Some(&body)).await?
            }
            Call::Get { path, etag, .. } => {
                let headers = etag
                    .and_then(|etag| HeaderValue::from_str(etag).ok())
                    .map(|etag| HeaderMap::from_iter([(IF_NONE_MATCH, etag)]));
                crab._get_with_headers(format!("{}{path}", self.address.rest), headers)
                    .await?
            }
        };
        let head = head(response.status().as_u16(), response.headers(), self.timer.now());
        let body = crab.body_to_string(response).await?;
        Ok((head, body))
    }

    /// The path of a redirection that stays at this API, without what all paths begin with.
    pub(super) fn path_of(&self, location: &str) -> Option<String> {
        let path = location.strip_prefix(&self.address.base).unwrap_or(location);
        let path = path.strip_prefix(self.address.rest).unwrap_or(path);
        path.starts_with('/').then(|| path.to_owned())
    }
}

fn unreachable(call: Call<'_>, tries: u32, last: &str) -> GithubError {
    GithubError::Unreachable {
        what: call.what().to_owned(),
        tries,
        last: last.to_owned(),
    }
}

/// The innermost cause, which says most.
fn root(error: &octocrab::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    line(&cause.to_string())
}

/// The seconds of a wait, to the nearest.
fn waited(from: Timestamp, to: Timestamp) -> u64 {
    let length = to.duration_since(from);
    let seconds = length.as_secs() + i64::from(length.subsec_nanos() >= 500_000_000);
    u64::try_from(seconds).unwrap_or_default()
}

fn head(status: u16, headers: &HeaderMap, now: Timestamp) -> Head {
    let text = |name: &HeaderName| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let number = |name: &'static str| text(&HeaderName::from_static(name))?.parse::<i64>().ok();
    Head {
        status,
        retry_after: text(&http::header::RETRY_AFTER).and_then(|text| retry_after(&text, now)),
        remaining: number("x-ratelimit-remaining").and_then(|left| u64::try_from(left).ok()),
        resets_at: number("x-ratelimit-reset").and_then(|second| Timestamp::from_second(second).ok()),
        etag: text(&http::header::ETAG),
        location: text(&http::header::LOCATION),
    }
}
