//! A model of GitHub in memory: a state, and endpoints that answer from it. Queries are really read and checked against
//! GitHub's schema; pages, points, limits and faults are the model's own. A request that nobody foresaw fails the test.

mod bench;
mod client;
mod faults;
mod mining;
mod notes;
mod odd;
mod payloads;
mod resolve;
mod rest;
mod schema;
mod server;
mod state;
mod stops;
mod waits;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;
use quarry::clock::{Clock, Timer};
use quarry::domain::event::Silent;
use quarry::github::{Client, GithubError, Settings};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use resolve::{Asked, World};
use schema::Schema;
use server::{Line, Reply, Request};
use state::Repo;

/// Points and requests of a token, an hour.
const HOURLY: u64 = 5000;

/// A clock that waiting moves on.
#[derive(Clone)]
pub(crate) struct Watch(Arc<Mutex<Timestamp>>);

impl Clock for Watch {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

impl Timer for Watch {
    fn pause(&self, length: Duration) -> BoxFuture<'_, ()> {
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(length).unwrap();
        async {}.boxed()
    }
}

#[derive(Debug, Clone, Copy)]
struct Purse {
    points: u64,
    rest: u64,
    resets_at: Timestamp,
}

/// What the model does instead of answering.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// This, and nothing happens.
    Reply(Reply),
    /// It answers, and this happens to the answer.
    Line(Line),
}

impl Fault {
    pub(crate) fn status(status: u16) -> Self {
        Self::Reply(Reply {
            status,
            ..Reply::default()
        })
    }

    pub(crate) fn with(status: u16, headers: &[(&str, String)], body: &Value) -> Self {
        Self::Reply(Reply {
            status,
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            body: if body.is_null() {
                String::new()
            } else {
                body.to_string()
            },
            line: Line::Good,
        })
    }
}

/// What was asked, in order: `graphql 50` (so many aliases), or a path.
pub(crate) type Journal = Vec<String>;

struct Inner {
    repos: BTreeMap<String, Repo>,
    renamed: BTreeMap<String, String>,
    tokens: BTreeMap<String, Purse>,
    faults: VecDeque<Fault>,
    /// With more aliases than this a query takes too long.
    slow_above: usize,
    journal: Journal,
    /// The tokens that asked, in order.
    askers: Vec<String>,
    unforeseen: Vec<String>,
}

pub(crate) struct Model {
    inner: Arc<Mutex<Inner>>,
    pub(crate) watch: Watch,
    pub(crate) address: String,
}

impl Drop for Model {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let unforeseen = std::mem::take(&mut self.inner().unforeseen);
            assert_eq!(unforeseen, Vec::<String>::new(), "requests that nobody foresaw");
        }
    }
}

impl Model {
    /// A model with these repositories and one token, at the model's own time.
    pub(crate) fn new(repos: Vec<(&str, Repo)>) -> Self {
        Self::at("2024-01-01T00:00:00Z".parse().unwrap(), repos)
    }

    pub(crate) fn at(now: Timestamp, repos: Vec<(&str, Repo)>) -> Self {
        let inner = Arc::new(Mutex::new(Inner {
            repos: repos
                .into_iter()
                .map(|(name, repo)| (name.to_owned(), repo))
                .collect(),
            renamed: BTreeMap::new(),
            tokens: BTreeMap::new(),
            faults: VecDeque::new(),
            slow_above: usize::MAX,
            journal: vec![],
            askers: vec![],
            unforeseen: vec![],
        }));
        let watch = Watch(Arc::new(Mutex::new(now)));
        let (served, clock, schema) = (Arc::clone(&inner), watch.clone(), Schema::trimmed());
        let address = server::serve(move |request| {
            let mut inner = served.lock().unwrap();
            inner.answer(request, clock.now(), &schema)
        });
        let model = Self {
            inner,
            watch,
            address,
        };
        model.token(TOKEN, HOURLY);
        model
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// The model knows this token; it has so much of each limit left, for half an hour.
    pub(crate) fn token(&self, token: &str, left: u64) {
        let resets_at = self.watch.now().checked_add(Duration::from_mins(30)).unwrap();
        let purse = Purse {
            points: left,
            rest: left,
            resets_at,
        };
        self.inner().tokens.insert(token.to_owned(), purse);
    }

    pub(crate) fn repo(&self, name: &str, change: impl FnOnce(&mut Repo)) {
        change(self.inner().repos.get_mut(name).unwrap());
    }

    /// The repository has another name from now on.
    pub(crate) fn rename(&self, from: &str, to: &str) {
        let mut inner = self.inner();
        let repo = inner.repos.remove(from).unwrap();
        inner.repos.insert(to.to_owned(), repo);
        inner.renamed.insert(from.to_owned(), to.to_owned());
    }

    /// One more older name of a repository.
    pub(crate) fn rename_also(&self, from: &str, to: &str) {
        self.inner().renamed.insert(from.to_owned(), to.to_owned());
    }

    /// The next requests end like this, in order.
    pub(crate) fn faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.inner().faults.extend(faults);
    }

    pub(crate) fn slow_above(&self, aliases: usize) {
        self.inner().slow_above = aliases;
    }

    /// What was asked since this was called last.
    pub(crate) fn asked(&self) -> Journal {
        std::mem::take(&mut self.inner().journal)
    }

    /// Who asked since this was called last.
    pub(crate) fn askers(&self) -> Vec<String> {
        std::mem::take(&mut self.inner().askers)
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            api: self.address.clone(),
            ..Settings::new(vec![SecretString::from(TOKEN)])
        }
    }

    pub(crate) fn client(&self, settings: Settings) -> Result<Client, GithubError> {
        let watch = Arc::new(self.watch.clone());
        Client::new(settings, watch, Arc::new(Silent), CancellationToken::new())
    }
}

/// The model's token.
pub(crate) const TOKEN: &str = "ghp_ModelTokenThatMustNotBeSeenAnywhere0";

impl Inner {
    fn answer(&mut self, request: &Request, now: Timestamp, schema: &Schema) -> Reply {
        let bearer = request.headers.get("authorization").map(String::as_str);
        let token = bearer.and_then(|text| text.strip_prefix("Bearer ")).unwrap_or("");
        self.askers.push(token.to_owned());
        let fault = self.faults.pop_front();
        if let Some(Fault::Reply(reply)) = fault {
            self.journal.push(format!("fault {}", reply.status));
            return reply;
        }
        let line = match fault {
            Some(Fault::Line(line)) => line,
            _ => Line::Good,
        };
        let Some(mut purse) = self.tokens.get(token).copied() else {
            return json_reply(401, &[], &json!({ "message": "Bad credentials" }));
        };
        if purse.resets_at <= now {
            purse = Purse {
                points: HOURLY,
                rest: HOURLY,
                resets_at: now.checked_add(Duration::from_hours(1)).unwrap(),
            };
        }
        let mut reply = if (request.method.as_str(), request.path.as_str()) == ("POST", "/graphql") {
            self.graphql(request, &mut purse, schema)
        } else if request.method == "GET" {
            self.rest(request, &mut purse)
        } else {
            self.unforeseen(format!("{} {}", request.method, request.path))
        };
        self.tokens.insert(token.to_owned(), purse);
        reply.line = line;
        reply
    }

    fn unforeseen(&mut self, what: String) -> Reply {
        self.unforeseen.push(what);
        json_reply(400, &[], &json!({ "message": "the model does not know this" }))
    }

    fn graphql(&mut self, request: &Request, purse: &mut Purse, schema: &Schema) -> Reply {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let text = body["query"].as_str().unwrap_or_default();
        let faults = schema.faults(text);
        if !faults.is_empty() {
            return self.unforeseen(format!("{faults:?} in {text}"));
        }
        let asked = match Asked::read(text, body["variables"].clone()) {
            Ok(asked) => asked,
            Err(error) => return self.unforeseen(error),
        };
        let weight = asked.weight(schema);
        self.journal.push(format!("graphql {}", weight.aliases));
        if weight.nodes > 500_000 {
            return self.unforeseen(format!("{} nodes in {text}", weight.nodes));
        }
        if purse.points < weight.points {
            let headers = limit_headers(0, purse.resets_at);
            let error = json!({ "type": "RATE_LIMITED", "message": "API rate limit exceeded" });
            return json_reply(200, &headers, &json!({ "errors": [error] }));
        }
        purse.points -= weight.points;
        if weight.aliases > self.slow_above {
            return json_reply(502, &[], &json!({ "message": "Server Error" }));
        }
        let world = World {
            schema,
            repos: &self.repos,
            renamed: &self.renamed,
            limit: json!({
                "__typename": "RateLimit", "cost": weight.points, "limit": HOURLY, "remaining": purse.points,
                "resetAt": purse.resets_at.to_string(), "nodeCount": weight.nodes, "used": HOURLY - purse.points,
            }),
        };
        match asked.answer(&world) {
            Ok(answer) => json_reply(200, &limit_headers(purse.points, purse.resets_at), &answer),
            Err(error) => self.unforeseen(error),
        }
    }
}

fn limit_headers(remaining: u64, resets_at: Timestamp) -> Vec<(&'static str, String)> {
    vec![
        ("x-ratelimit-remaining", remaining.to_string()),
        ("x-ratelimit-reset", resets_at.as_second().to_string()),
    ]
}

fn json_reply(status: u16, headers: &[(&str, String)], body: &Value) -> Reply {
    match Fault::with(status, headers, body) {
        Fault::Reply(reply) => reply,
        Fault::Line(_) => Reply::default(),
    }
}
