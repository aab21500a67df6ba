//! Limits and faults: what is waited for, whom is asked instead, when it is given up. Nothing here really waits, but for one
//! answer that does not come.

use std::time::Duration;

use quarry::clock::Clock as _;
use quarry::github::{Budget, GithubError};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::client::{fates, name, pulls};
use super::server::Line;
use super::state::{Repo, comment, issue, pull};
use super::{Fault, Model, TOKEN};

fn model(count: u32) -> Model {
    let repo = Repo::of(
        (1..=count).map(|number| pull(number, &[])).collect(),
        vec![issue(900, &[comment("x", "2020-01-01T00:00:00Z")])],
    );
    Model::new(vec![("psf/requests", repo)])
}

/// Seconds since the model began.
fn passed(model: &Model) -> i64 {
    let begun: jiff::Timestamp = "2024-01-01T00:00:00Z".parse().unwrap();
    model.watch.now().duration_since(begun).as_secs()
}

#[tokio::test]
async fn a_used_up_limit_is_waited_for_until_it_resets() {
    let model = model(60);
    model.token(TOKEN, 1);
    let client = model.client(model.settings()).unwrap();
    let numbers: Vec<u32> = (1..=60).collect();
    assert_eq!(pulls(&client, "psf/requests", &numbers).await.len(), 60);
    // The first answer told that nothing is left, so the second was not asked in vain.
    assert_eq!(model.asked(), ["graphql 50", "graphql 10"]);
    assert_eq!((passed(&model), client.spent().waited_seconds), (1800, 1800));
}

#[tokio::test]
async fn a_limit_that_another_program_used_up_is_told_by_the_answer() {
    let model = model(3);
    model.token(TOKEN, 0);
    let client = model.client(model.settings()).unwrap();
    assert_eq!(pulls(&client, "psf/requests", &[1, 2, 3]).await.len(), 3);
    assert_eq!(model.asked(), ["graphql 3", "graphql 3"]);
    assert_eq!(passed(&model), 1800);
    // The same by a 403, as REST does it.
    let reset = (model.watch.now().as_second() + 600).to_string();
    let headers = [
        ("x-ratelimit-remaining", "0".to_owned()),
        ("x-ratelimit-reset", reset),
    ];
    model.faults([Fault::with(
        403,
        &headers,
        &json!({ "message": "API rate limit exceeded" }),
    )]);
    pulls(&client, "psf/requests", &[1]).await;
    assert_eq!(passed(&model), 2400);
}

#[tokio::test]
async fn each_token_has_a_budget_of_its_own() {
    let model = model(200);
    model.token(TOKEN, 2);
    model.token("ghp_other", 2);
    model.token("ghp_spare", 5000);
    let mut settings = model.settings();
    settings.tokens = [TOKEN, "ghp_other", "ghp_gone"].map(SecretString::from).to_vec();
    let client = model.client(settings).unwrap();
    let numbers: Vec<u32> = (1..=200).collect();
    assert_eq!(pulls(&client, "psf/requests", &numbers).await.len(), 200);
    let askers = model.askers();
    let count = |token: &str| askers.iter().filter(|asker| *asker == token).count();
    // The one that GitHub does not know is asked with once; the others share the work; nobody waits.
    assert_eq!([count(TOKEN), count("ghp_other"), count("ghp_gone")], [2, 2, 1]);
    assert_eq!(passed(&model), 0);
    // A fifth batch has to wait.
    pulls(&client, "psf/requests", &[1]).await;
    assert_eq!(passed(&model), 1800);
}

#[tokio::test]
async fn a_secondary_limit_is_waited_for_as_long_as_github_says() {
    let model = model(3);
    let client = model.client(model.settings()).unwrap();
    let message = json!({ "message": "You have exceeded a secondary rate limit." });
    model.faults([Fault::with(403, &[("retry-after", "47".to_owned())], &message)]);
    pulls(&client, "psf/requests", &[1]).await;
    assert_eq!(passed(&model), 47);
    // It does not say: a minute, then two.
    model.faults([
        Fault::with(403, &[], &message),
        Fault::with(429, &[], &Value::Null),
    ]);
    pulls(&client, "psf/requests", &[1]).await;
    assert_eq!(passed(&model), 47 + 60 + 120);
    // A bare 403, without a word.
    model.faults([Fault::status(403)]);
    pulls(&client, "psf/requests", &[1]).await;
    assert_eq!(passed(&model), 47 + 60 + 120 + 60);
    assert_eq!(client.spent().repeated, 4);
}

#[tokio::test]
async fn a_secondary_limit_of_one_token_leaves_the_others_alone() {
    let model = model(3);
    model.token("ghp_other", 5000);
    let mut settings = model.settings();
    settings.tokens = [TOKEN, "ghp_other"].map(SecretString::from).to_vec();
    let client = model.client(settings).unwrap();
    model.faults([Fault::with(
        403,
        &[("retry-after", "600".to_owned())],
        &Value::Null,
    )]);
    pulls(&client, "psf/requests", &[1]).await;
    assert_eq!(
        (model.askers(), passed(&model)),
        (vec![TOKEN.to_owned(), "ghp_other".to_owned()], 0)
    );
}

#[tokio::test]
async fn batches_shrink_where_github_is_slow_and_grow_again() {
    let model = model(200);
    model.slow_above(13);
    let client = model.client(model.settings()).unwrap();
    let numbers: Vec<u32> = (1..=60).collect();
    let found = pulls(&client, "psf/requests", &numbers).await;
    let got: Vec<u32> = found.iter().map(|(number, _)| *number).collect();
    assert_eq!(got, numbers);
    assert_eq!(
        model.asked(),
        [
            "graphql 50",
            "graphql 25",
            "graphql 13",
            "graphql 13",
            "graphql 13",
            "graphql 13",
            "graphql 8"
        ]
    );
    model.slow_above(usize::MAX);
    let numbers: Vec<u32> = (1..=200).collect();
    assert_eq!(pulls(&client, "psf/requests", &numbers).await.len(), 200);
}

#[tokio::test]
async fn a_query_that_github_gives_up_on_is_made_smaller() {
    let model = model(9);
    let client = model.client(model.settings()).unwrap();
    let slow = "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug.";
    let body = json!({ "data": null, "errors": [{ "message": slow }] });
    model.faults([Fault::with(200, &[], &body)]);
    assert_eq!(pulls(&client, "psf/requests", &[1, 2, 3, 4]).await.len(), 4);
    assert_eq!(model.asked(), ["fault 200", "graphql 2", "graphql 2"]);
}

#[tokio::test]
async fn a_page_that_came_half_is_read_again() {
    let model = model(9);
    let client = model.client(model.settings()).unwrap();
    model.faults([Fault::Line(Line::Half)]);
    assert_eq!(pulls(&client, "psf/requests", &[1, 2, 3]).await.len(), 3);
    model.faults([Fault::Line(Line::Dead), Fault::Line(Line::Dead)]);
    assert_eq!(pulls(&client, "psf/requests", &[1, 2, 3]).await.len(), 3);
    // An answer that ends well on the line, and in the middle of its words.
    let cut = Fault::Reply(super::server::Reply {
        status: 200,
        body: "{\"data\": {\"repository\": {\"p1\": {\"numb".to_owned(),
        ..super::server::Reply::default()
    });
    model.faults([cut]);
    assert_eq!(pulls(&client, "psf/requests", &[1]).await.len(), 1);
    assert_eq!(client.spent().repeated, 4);
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_asked_for_again() {
    let model = model(4);
    let mut settings = model.settings();
    settings.timeout = Duration::from_millis(300);
    let client = model.client(settings).unwrap();
    model.faults([Fault::Line(Line::Late(Duration::from_secs(2)))]);
    assert_eq!(pulls(&client, "psf/requests", &[1, 2, 3, 4]).await.len(), 4);
    assert_eq!(model.asked()[..3], ["graphql 4", "graphql 2", "graphql 2"]);
}

#[tokio::test]
async fn what_never_goes_well_is_given_up() {
    let model = model(4);
    let client = model.client(model.settings()).unwrap();
    let ask = |faults: Vec<Fault>| {
        model.faults(faults);
        client.repository(&NAME, &super::client::is_context)
    };
    let error = ask((0..6).map(|_| Fault::status(503)).collect())
        .await
        .unwrap_err();
    assert!(
        matches!(error, GithubError::Unreachable { tries: 6, .. }),
        "{error}"
    );
    let scope = json!({ "message": "Resource not accessible by personal access token" });
    let error = ask(vec![Fault::with(403, &[], &scope)]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "ask GitHub for the repository psf/requests: it says \"Resource not accessible by personal access token\" (403)"
    );
    let error = ask(vec![Fault::status(401)]).await.unwrap_err();
    assert!(matches!(error, GithubError::BadTokens { of: 1 }), "{error}");
}

static NAME: std::sync::LazyLock<quarry::domain::ids::RepoName> =
    std::sync::LazyLock::new(|| name("psf/requests"));

#[tokio::test]
async fn a_budget_ends_the_asking_and_keeps_what_was_read() {
    let model = model(200);
    let mut settings = model.settings();
    settings.budget = Budget {
        points: Some(2),
        ..Budget::default()
    };
    let client = model.client(settings).unwrap();
    let numbers: Vec<u32> = (1..=200).collect();
    let mut kept = 0;
    let keep = |batch: Vec<_>| {
        kept += batch.len();
        Ok::<_, GithubError>(())
    };
    let error = client.pulls(&NAME, &numbers, keep).await.unwrap_err();
    assert!(error.is_pause(), "{error}");
    assert_eq!((kept, client.spent().points, model.asked().len()), (100, 2, 2));
}

#[tokio::test]
async fn a_reserve_is_left_untouched() {
    let model = model(200);
    model.token(TOKEN, 102);
    let mut settings = model.settings();
    settings.budget.reserve = 100;
    let client = model.client(settings).unwrap();
    let numbers: Vec<u32> = (1..=150).collect();
    assert_eq!(pulls(&client, "psf/requests", &numbers).await.len(), 150);
    // Two batches left 100: the third waited for the next hour.
    assert_eq!(passed(&model), 1800);
    assert_eq!(fates(&client, "psf/requests", &[900]).await.len(), 1);
}
