//! What is asked and read, when nothing goes wrong.

use std::collections::BTreeMap;

use quarry::domain::forge::{IssueFate, PullFacts};
use quarry::domain::ids::RepoName;
use quarry::github::ask::{Begun, Step};
use quarry::github::graphql::{self, Query};
use quarry::github::timeline;
use quarry::github::{Client, GithubError};
use serde_json::json;

use super::resolve::Asked;
use super::schema::Schema;
use super::state::{Repo, comment, issue, pull, release, with};
use super::{Model, TOKEN};

pub(super) fn name(text: &str) -> RepoName {
    text.parse().unwrap()
}

pub(super) fn is_context(path: &str) -> bool {
    path == "AGENTS.md" || path.contains("copilot")
}

pub(super) async fn pulls(client: &Client, repo: &str, numbers: &[u32]) -> Vec<(u32, Option<PullFacts>)> {
    let mut found = vec![];
    let keep = |batch| {
        found.extend(batch);
        Ok::<_, GithubError>(())
    };
    client.pulls(&name(repo), numbers, keep).await.unwrap();
    found
}

pub(super) async fn fates(client: &Client, repo: &str, numbers: &[u32]) -> Vec<(u32, IssueFate)> {
    let mut found = BTreeMap::new();
    let keep = |batch: Vec<(u32, Step<IssueFate>)>| {
        found.extend(batch);
        Ok::<_, GithubError>(())
    };
    client
        .issues(&name(repo), numbers, Begun::nothing(), &|_| false, keep)
        .await
        .unwrap();
    let known = found.into_iter().filter_map(|(number, step)| match step {
        Step::Known(fate) => Some((number, fate)),
        Step::Missing => None,
    });
    known.collect()
}

/// One query of each kind, with one and with many of what it asks for.
fn queries() -> Vec<Query> {
    let repo = name("psf/requests");
    let many: Vec<u32> = (1..=50).collect();
    let pages: Vec<_> = (1..=7).map(|number| (number, "x".to_owned())).collect();
    vec![
        graphql::pulls(&repo, &[1]),
        graphql::pulls(&repo, &many),
        graphql::issues(&repo, &[1]),
        graphql::issues(&repo, &many),
        graphql::comments(&repo, &pages),
        timeline::closers(&repo, &[1]),
        timeline::closers(&repo, &many),
        timeline::pages(&repo, &pages),
        graphql::repository(&repo),
        graphql::releases(&repo, "x"),
        graphql::search("language:python", 25, None),
        graphql::search("language:python", 25, Some("x")),
    ]
}

#[test]
fn every_query_fits_githubs_schema_and_costs_what_is_said() {
    let schema = Schema::trimmed();
    for query in queries() {
        assert_eq!(schema.faults(&query.text), Vec::<String>::new(), "{}", query.text);
        let asked = Asked::read(&query.text, query.variables.clone()).unwrap();
        let weight = asked.weight(&schema);
        assert_eq!(weight.points, query.points, "{}", query.what);
        assert!(weight.nodes <= 500_000, "{}: {} nodes", query.what, weight.nodes);
    }
    // The whole published schema, where somebody has it.
    if let Some((_, file)) = std::env::vars().find(|(name, _)| name == "QUARRY_GITHUB_SCHEMA") {
        let whole = Schema::read(&std::fs::read_to_string(file).unwrap());
        for query in queries() {
            assert_eq!(whole.faults(&query.text), Vec::<String>::new(), "{}", query.text);
        }
    }
}

#[test]
fn a_query_that_does_not_fit_is_noticed() {
    let schema = Schema::trimmed();
    let faults = |inner: &str| {
        let text =
            format!("query($owner: String!) {{ repository(owner: $owner, name: \"x\") {{ {inner} }} }}");
        schema.faults(&text).join("; ")
    };
    assert_eq!(faults("nameWithOwner"), "");
    for (inner, fault) in [
        ("stars", "no such field"),
        ("nameWithOwner { x }", "does not fit"),
        ("pullRequest(number: 1)", "does not fit"),
        ("pullRequest { title }", "`number` is missing"),
        ("pullRequest(number: \"1\") { title }", "is no `Int`"),
        ("pullRequest(number: $number) { title }", "not declared"),
        ("pullRequest(number: $owner) { title }", "not a `Int!`"),
        ("pullRequest(id: 1) { title }", "no argument"),
        (
            "pullRequests(states: [DONE]) { totalCount }",
            "is no `PullRequestState`",
        ),
        (
            "issueOrPullRequest(number: 1) { ... on Release { tagName } }",
            "is never",
        ),
        ("...nowhere", "no fragment"),
    ] {
        assert!(faults(inner).contains(fault), "{inner}: {}", faults(inner));
    }
}

#[tokio::test]
async fn a_repository_is_told_with_all_its_releases() {
    let mut repo = Repo::of(
        vec![pull(1, &[]), with(pull(2, &[]), "state", json!("OPEN"))],
        vec![issue(3, &[])],
    );
    repo.releases = (0..230)
        .map(|place| release(&format!("v{place}"), (place == 1).then_some("* feature (#1)")))
        .collect();
    repo.releases[5]["isDraft"] = json!(true);
    let model = Model::new(vec![("psf/requests", repo)]);
    let client = model.client(model.settings()).unwrap();
    let mut whole = client
        .repository(&name("psf/requests"), &is_context)
        .await
        .unwrap();
    while let Some(after) = whole.next {
        let (more, next) = client.releases(&name("psf/requests"), &after).await.unwrap();
        whole.releases.extend(more);
        whole.next = next;
    }
    let facts = &whole.facts;
    assert_eq!(
        facts.context_files,
        [".github/copilot-instructions.md", "AGENTS.md"]
    );
    assert_eq!((facts.pull_requests, facts.merged, facts.issues), (2, 1, 1));
    assert_eq!(
        (facts.stars, facts.licence.as_deref(), facts.language.as_deref()),
        (5000, Some("MIT"), Some("Python"))
    );
    assert_eq!(
        (facts.default_branch.as_deref(), &*facts.topics),
        (Some("main"), &["http".to_owned()][..])
    );
    assert_eq!(
        (whole.releases.len(), &*whole.releases[1].body),
        (229, "* feature (#1)")
    );
    assert_eq!(model.asked().len(), 3);
    let spent = client.spent();
    assert_eq!((spent.requests, spent.points, spent.repeated), (3, 3, 0));
}

#[tokio::test]
async fn pull_requests_come_in_batches_and_comments_in_pages() {
    let said: Vec<_> = (0..230)
        .map(|place| comment(&format!("said {place}"), "2020-01-02T00:00:00Z"))
        .collect();
    let repo = Repo::of(
        (1..=120).map(|number| pull(number, &["500"])).collect(),
        vec![
            issue(500, &said),
            issue(501, &[comment("one", "2020-01-02T00:00:00Z")]),
        ],
    );
    let model = Model::new(vec![("psf/requests", repo)]);
    let client = model.client(model.settings()).unwrap();
    let numbers: Vec<u32> = (1..=121).collect();
    let found = pulls(&client, "PSF/requests", &numbers).await;
    assert_eq!(model.asked(), ["graphql 50", "graphql 50", "graphql 21"]);
    assert_eq!(found.len(), 121);
    assert!(found[120].1.is_none());
    let first = found[0].1.as_ref().unwrap();
    assert_eq!(
        (&*first.title, first.author.as_deref()),
        ("Change 1", Some("ada"))
    );
    assert_eq!(first.closes[0].to_string(), "psf/requests#500");
    assert_eq!((first.hidden, &*first.labels), (0, &["bug".to_owned()][..]));

    let found = fates(&client, "psf/requests", &[500, 501]).await;
    let IssueFate::Issue(long) = &found[0].1 else {
        panic!("{found:?}");
    };
    assert_eq!((long.comments.len(), long.comments_total), (230, 230));
    assert_eq!(long.comments[229].body, "said 229");
    assert_eq!(model.asked(), ["graphql 2", "graphql 1", "graphql 1"]);
    // Points are counted as the model counts them: 1 + 1 + 1 for the pull requests, 1 for each page.
    assert_eq!(client.spent().points, 6);
    assert!(model.askers().iter().all(|asker| asker == TOKEN));
}

#[tokio::test]
async fn a_search_reads_as_many_pages_as_are_wanted() {
    let repos: Vec<_> = (0..60).map(|place| format!("lab/tool-{place:02}")).collect();
    let mut list: Vec<(&str, Repo)> = repos
        .iter()
        .map(|name| (name.as_str(), Repo::of(vec![], vec![])))
        .collect();
    list.push((
        "lab/secret",
        Repo {
            private: true,
            ..Repo::default()
        },
    ));
    let model = Model::new(list);
    let client = model.client(model.settings()).unwrap();
    let found = client.search("lab/", 40, &is_context).await.unwrap();
    assert_eq!((found.total, found.repositories.len()), (60, 40));
    assert_eq!(found.repositories[39].repo, name("lab/tool-39"));
    assert_eq!(model.asked().len(), 2);
    let nothing = client.search("nowhere", 40, &is_context).await.unwrap();
    assert_eq!((nothing.total, nothing.repositories.len()), (0, 0));
}

#[tokio::test]
async fn what_is_wrong_with_the_settings_is_said_without_showing_tokens() {
    let model = Model::new(vec![]);
    let with_tokens = |tokens: &[&str]| {
        let mut settings = model.settings();
        settings.tokens = tokens.iter().map(|token| (*token).into()).collect();
        model.client(settings).map(drop).unwrap_err()
    };
    assert!(matches!(with_tokens(&[]), GithubError::NoToken));
    for odd in ["ghp_a b", "", "ghp_\n", "ghp_\u{e9}"] {
        let error = with_tokens(&["ghp_fine", odd]);
        assert!(
            matches!(error, GithubError::OddToken { place: 2, of: 2 }),
            "{error}"
        );
        assert!(!format!("{error:?}{error}{:?}", error.hints()).contains("ghp_"));
    }
    let client = model.client(model.settings()).unwrap();
    assert!(!format!("{client:?}{:?}", model.settings()).contains(TOKEN));
    let error = client
        .repository(&name("no/where"), &is_context)
        .await
        .unwrap_err();
    assert!(matches!(error, GithubError::NoRepository { .. }), "{error}");
}
