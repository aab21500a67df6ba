//! Odd states, each with its own result.

use quarry::domain::forge::{IssueFate, IssueId};
use quarry::github::rest::Changes;
use serde_json::{Value, json};

use super::Model;
use super::client::{fates, is_context, name, pulls};
use super::mining::{Site, candidate};
use super::state::{Repo, comment, issue, pull, with};

fn id(text: &str) -> IssueId {
    let (repo, number) = text.split_once('#').unwrap();
    IssueId {
        repo: name(repo),
        number: number.parse().unwrap(),
    }
}

/// Two repositories that may be seen, and one that must not.
fn model() -> Model {
    let mut repo = Repo::of(
        vec![
            pull(1, &["10", "lab/tools#4", "lab/secret#5"]),
            with(pull(2, &[]), "author", Value::Null),
            with(pull(3, &[]), "headRepository", Value::Null),
            with(
                with(pull(4, &[]), "locked", json!(true)),
                "reviewDecision",
                Value::Null,
            ),
        ],
        vec![
            with(
                issue(
                    10,
                    &[with(comment("x", "2020-01-02T00:00:00Z"), "author", Value::Null)],
                ),
                "author",
                Value::Null,
            ),
            with(issue(11, &[]), "locked", json!(true)),
            with(
                with(issue(12, &[]), "lastEditedAt", json!("2020-03-01T00:00:00Z")),
                "userContentEdits",
                json!([{ "editedAt": "2020-03-01T00:00:00Z" }, { "editedAt": "2020-01-02T00:00:00Z" }]),
            ),
        ],
    );
    repo.moved = [
        (20, ("lab/tools".to_owned(), 4)),
        (21, ("lab/secret".to_owned(), 5)),
    ]
    .into();
    repo.deleted = vec![22];
    let secret = Repo {
        private: true,
        ..Repo::of(vec![], vec![issue(5, &[])])
    };
    Model::new(vec![
        ("psf/requests", repo),
        ("lab/tools", Repo::of(vec![], vec![issue(4, &[])])),
        ("lab/secret", secret),
    ])
}

#[tokio::test]
async fn odd_pull_requests() {
    let model = model();
    let client = model.client(model.settings()).unwrap();
    let found = pulls(&client, "psf/requests", &[1, 2, 3, 4, 5]).await;
    let of = |place: usize| found[place].1.as_ref().unwrap();
    // A private reference is counted and not shown; another repository's issue keeps its place.
    assert_eq!(of(0).closes, [id("lab/tools#4"), id("psf/requests#10")]);
    assert_eq!(of(0).hidden, 1);
    assert_eq!(
        (of(1).author.as_deref(), of(0).author.as_deref()),
        (None, Some("ada"))
    );
    assert_eq!(of(2).head_repository, None);
    assert_eq!(of(0).head_repository, Some(name("ada/fork")));
    assert!(of(3).locked && of(3).review.is_none() && !of(0).locked);
    // One that is not there is told as such, beside the others.
    assert_eq!(found[4], (5, None));
    assert_eq!(model.asked(), ["graphql 5"]);
}

#[tokio::test]
async fn odd_issues() {
    let model = model();
    let client = model.client(model.settings()).unwrap();
    let found = fates(&client, "psf/requests", &[1, 10, 11, 12, 20, 21, 22, 99]).await;
    let of = |number: u32| &found.iter().find(|(of, _)| *of == number).unwrap().1;
    let facts = |number: u32| match of(number) {
        IssueFate::Issue(facts) => facts,
        other => panic!("{number}: {other:?}"),
    };
    assert_eq!(*of(1), IssueFate::PullRequest);
    assert_eq!(
        (
            facts(10).author.as_deref(),
            facts(10).comments[0].author.as_deref()
        ),
        (None, None)
    );
    assert!(facts(11).locked && !facts(10).locked);
    assert_eq!(facts(12).edits.len(), 2);
    let moment = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
    let later = facts(12).edited_since(moment("2020-02-01T00:00:00Z"));
    assert_eq!(later, [moment("2020-03-01T00:00:00Z")]);
    assert_eq!(
        *of(20),
        IssueFate::Transferred {
            to: Some(id("lab/tools#4"))
        }
    );
    // Moved to where the token must not look: GitHub answers as if it had never been.
    assert_eq!(*of(21), IssueFate::Absent);
    assert_eq!(*of(22), IssueFate::Deleted);
    assert_eq!(*of(99), IssueFate::Absent);
    // One query for all, and one REST request for each number that GraphQL knows nothing of (two for the one that moved).
    let asked = model.asked();
    assert_eq!((asked.len(), &*asked[0]), (6, "graphql 8"));
}

#[tokio::test]
async fn a_renamed_repository_is_found_and_says_its_name() {
    let model = model();
    model.rename("psf/requests", "psf/httpkit");
    let client = model.client(model.settings()).unwrap();
    let whole = client
        .repository(&name("psf/requests"), &is_context)
        .await
        .unwrap();
    assert_eq!(whole.facts.repo, name("psf/httpkit"));
    let found = pulls(&client, "psf/requests", &[1]).await;
    // Its own issues are told under today's name.
    assert_eq!(found[0].1.as_ref().unwrap().closes[1], id("psf/httpkit#10"));
    // REST leads on to where it is.
    let changes = client
        .changes(&name("psf/requests"), 1, None, None)
        .await
        .unwrap();
    let Changes::Some { etag, changed, .. } = changes else {
        panic!("{changes:?}");
    };
    assert_eq!(changed.len(), 7);
    let again = client
        .changes(&name("psf/requests"), 1, etag.as_deref(), None)
        .await
        .unwrap();
    assert_eq!((again, client.spent().unchanged), (Changes::Nothing, 1));
}

#[tokio::test]
async fn the_two_names_of_a_renamed_repository_are_one() {
    let text = "Closes psf/httpkit#11, psf/requests#12 and psf/first#13. See psf/httpkit#14.";
    let repo = Repo::of(
        vec![with(pull(1, &["10"]), "body", json!(text))],
        (10..=14).map(|number| issue(number, &[])).collect(),
    );
    let model = Model::new(vec![("psf/first", repo)]);
    model.rename("psf/first", "psf/httpkit");
    model.rename_also("psf/requests", "psf/httpkit");
    let site = Site::new();
    let asked = site.know(&model, &[candidate(1, &[10])]).await;
    assert_eq!(serde_json::to_value(&asked.fates).unwrap(), json!({ "issue": 4 }));
    assert_eq!(asked.issues, 4);
    let one = site.candidate(1);
    let forge = one.forge.as_ref().unwrap();
    let ids: Vec<String> = forge.issues().unwrap().map(|(id, _)| id.to_string()).collect();
    let own = |number: u32| format!("psf/requests#{number}");
    assert_eq!(ids, [10, 11, 12, 13].map(own));
    // By whichever name they are called, they are the repository's own.
    assert!(one.references.iter().all(|found| found.repo.is_none()));
    let mut numbers: Vec<u32> = one.references.iter().map(|found| found.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [10, 10, 11, 12, 13, 14]);
    // What is known is not asked again.
    let again = site.know(&model, &[candidate(1, &[10])]).await;
    assert_eq!((again.issues, again.spent.requests), (0, 0));
}
