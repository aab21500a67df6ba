//! How long is waited, and what is told of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;
use quarry::clock::{Clock, Timer};
use quarry::domain::event::{Event, EventSink, Silent};
use quarry::domain::forge::IssueFate;
use quarry::github::{Client, GithubError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::client::{fates, name, pulls};
use super::server::Reply;
use super::state::{Repo, pull};
use super::{Fault, Model, TOKEN, Watch};

fn model() -> Model {
    let repo = Repo {
        deleted: vec![22],
        ..Repo::of(vec![pull(1, &[])], vec![])
    };
    Model::new(vec![("psf/requests", repo)])
}

/// Milliseconds since the model began.
fn passed(model: &Model) -> i128 {
    let begun: Timestamp = "2024-01-01T00:00:00Z".parse().unwrap();
    model.watch.now().duration_since(begun).as_millis()
}

#[tokio::test]
async fn a_wait_may_be_told_by_a_date_and_nought_is_no_wait() {
    let model = model();
    let client = model.client(model.settings()).unwrap();
    let limited = |after: &str| Fault::with(429, &[("retry-after", after.to_owned())], &Value::Null);
    model.faults([limited("Mon, 01 Jan 2024 00:01:30 GMT")]);
    pulls(&client, "psf/requests", &[1]).await;
    assert_eq!(passed(&model), 90_000);
    // As long as after any other try, at least, and longer each time.
    model.faults((0..4).map(|_| limited("0")));
    pulls(&client, "psf/requests", &[1]).await;
    assert!(
        passed(&model) >= 90_000 + 500 + 1000 + 2000 + 4000,
        "{}",
        passed(&model)
    );
}

#[tokio::test]
async fn a_page_of_words_in_the_place_of_an_answer_is_asked_again_by_rest_too() {
    let model = model();
    let client = model.client(model.settings()).unwrap();
    let words = Fault::Reply(Reply {
        status: 200,
        body: "<html><body>Unicorn!</body></html>".to_owned(),
        ..Reply::default()
    });
    model.faults([words.clone()]);
    pulls(&client, "psf/requests", &[1]).await;
    let before = client.spent().repeated;
    // The list of changes is REST's.
    model.faults([words.clone(), words.clone()]);
    client
        .changes(&name("psf/requests"), 1, None, None)
        .await
        .unwrap();
    assert_eq!(client.spent().repeated, before + 2);
    let found = fates(&client, "psf/requests", &[22]).await;
    assert_eq!(found, [(22, IssueFate::Deleted)]);
    model.faults((0..6).map(|_| words.clone()));
    let error = client
        .changes(&name("psf/requests"), 1, None, None)
        .await
        .unwrap_err();
    assert!(
        matches!(error, GithubError::Unreachable { tries: 6, .. }),
        "{error}"
    );
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl EventSink for Heard {
    fn emit(&self, event: Event) {
        if let Event::Warning { message } = event {
            self.0.lock().unwrap().push(message);
        }
    }
}

#[tokio::test]
async fn a_wait_is_told_once_and_in_whole_seconds() {
    let model = model();
    let heard = Arc::new(Heard::default());
    let sink: Arc<dyn EventSink> = Arc::<Heard>::clone(&heard);
    let watch = Arc::new(model.watch.clone());
    let client = Client::new(model.settings(), watch, sink, CancellationToken::new()).unwrap();
    // The back-off after the first one leaves half a second over.
    let reset = (model.watch.now().as_second() + 600).to_string();
    let headers = [
        ("x-ratelimit-remaining", "0".to_owned()),
        ("x-ratelimit-reset", reset),
    ];
    model.faults([
        Fault::status(503),
        Fault::with(403, &headers, &json!({ "message": "rate limit" })),
    ]);
    pulls(&client, "psf/requests", &[1]).await;
    let told = heard.0.lock().unwrap().clone();
    assert_eq!(
        told,
        ["GitHub's limit is reached; waiting 600 s, until 2024-01-01T00:10:00Z"]
    );
    assert_eq!(client.spent().waited_seconds, 600);
}

/// Twenty seconds into a wait it is told to stop.
struct Stopping {
    watch: Watch,
    cancel: CancellationToken,
}

impl Clock for Stopping {
    fn now(&self) -> Timestamp {
        self.watch.now()
    }
}

impl Timer for Stopping {
    fn pause(&self, _: Duration) -> BoxFuture<'_, ()> {
        let passed = self.watch.pause(Duration::from_secs(20));
        self.cancel.cancel();
        async move {
            passed.await;
            std::future::pending::<()>().await;
        }
        .boxed()
    }
}

#[tokio::test]
async fn a_wait_that_a_stop_ends_counts_as_long_as_it_was() {
    let model = model();
    model.token(TOKEN, 0);
    let cancel = CancellationToken::new();
    let timer = Arc::new(Stopping {
        watch: model.watch.clone(),
        cancel: cancel.clone(),
    });
    let client = Client::new(model.settings(), timer, Arc::new(Silent), cancel).unwrap();
    let error = client
        .pulls(&name("psf/requests"), &[1], |_| Ok::<_, GithubError>(()))
        .await
        .unwrap_err();
    assert!(matches!(error, GithubError::Stopped), "{error}");
    let spent = client.spent();
    assert_eq!(spent.waited_seconds, 20);
    assert_eq!((spent.requests, spent.repeated), (1, 0), "nothing was sent again");
}
