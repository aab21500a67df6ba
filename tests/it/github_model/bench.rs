//! What asking costs, beside what SWE-bench's published collector would ask for the same repository.

use serde_json::json;

use super::Model;
use super::client::{is_context, name};
use super::mining::{Site, candidate};
use super::state::{Repo, comment, issue, pull, release, with};
use quarry::mine::run::enrich::{Question, estimate};

const PULLS: u32 = 1000;

/// A thousand merged pull requests as a busy project has them: three of five close an issue, one of twenty closes two, one
/// issue in forty was moved or deleted, one in a hundred has more than a hundred comments.
fn repository() -> Repo {
    let mut pulls = vec![];
    let mut issues = vec![];
    let mut repo = Repo::default();
    for number in 1..=PULLS {
        let (one, other) = (2000 + number, 4000 + number);
        let mut closes = vec![];
        if number % 5 < 3 {
            closes.push(one.to_string());
            let count = if number % 100 == 1 { 130 } else { number % 9 };
            let said: Vec<_> = (0..count)
                .map(|place| comment(&format!("{place} {}", "word ".repeat(40)), "2020-01-02T00:00:00Z"))
                .collect();
            issues.push(issue(one, &said));
        }
        if number % 20 == 0 {
            closes.push(other.to_string());
            issues.push(issue(other, &[]));
        }
        let mut node = pull(number, &closes.iter().map(String::as_str).collect::<Vec<_>>());
        if number % 40 == 3 {
            // Named by hand, and gone since.
            node = with(node, "body", json!(format!("Fixes #{}", 6000 + number)));
            repo.deleted.push(6000 + number);
        }
        pulls.push(node);
    }
    let full = Repo::of(pulls, issues);
    Repo {
        deleted: repo.deleted,
        releases: (0..120)
            .map(|place| release(&format!("v{place}"), None))
            .collect(),
        ..full
    }
}

/// Requests of SWE-bench's collector, by its published logic (`get_tasks_pipeline`): a page of the list for 100 pull
/// requests; for each closed one its commits twice; for each that it accepts 6 to 8 more (diffs, issues, comments, commits).
fn collector(repo: &Repo, accepted: u64) -> (u64, u64) {
    let closed = repo.pulls.len() as u64;
    let base = closed.div_ceil(100) + 2 * closed;
    (base + 6 * accepted, base + 8 * accepted)
}

#[tokio::test]
async fn a_thousand_pull_requests_with_their_issues_cost_at_most_sixty_requests() {
    let repo = repository();
    // Those that link an issue; of them a third change tests too, which the model's GitHub does not know.
    let linked = repo
        .pulls
        .values()
        .filter(|pull| !pull["closingIssuesReferences"].as_array().unwrap().is_empty())
        .count() as u64;
    let model = Model::new(vec![("psf/requests", repo.clone())]);
    let site = Site::new();
    let candidates: Vec<_> = (1..=PULLS).map(|number| candidate(number, &[])).collect();
    let repo_name = name("psf/requests");
    let question = Question {
        repo: &repo_name,
        candidates: &candidates,
        refresh: false,
        is_context: &is_context,
    };
    let settings = model.settings();
    let told = estimate(&site.context, question, 0, settings.batch).unwrap();
    let asked = site.ask(&model, settings, question).await;
    let spent = asked.spent;
    assert_eq!((asked.pulls, asked.missing), (1000, 0));
    // The few that are gone are looked up one by one: they stand apart from the goal, which is on what is there.
    let lookups = repo.deleted.len() as u64;
    let in_batches = spent.requests - lookups;
    assert!(in_batches <= 60, "{spent:?}");
    assert!(
        told.requests.0 <= in_batches && told.points.1 >= spent.points - 20,
        "{told:?} {spent:?}"
    );

    // Again: nothing. A refresh of what did not change: one request, which GitHub does not count.
    let again = site.ask(&model, model.settings(), question).await;
    assert_eq!(again.spent.requests, 0);
    let refresh = Question {
        refresh: true,
        ..question
    };
    let same = site.ask(&model, model.settings(), refresh).await;
    assert_eq!(
        (same.spent.requests, same.spent.unchanged, same.changed),
        (1, 1, Some(0))
    );
    // Ten of a thousand changed: the list, the repository, one batch.
    model.repo("psf/requests", |repo| {
        for number in 1..=10 {
            let pull = repo.pulls.get_mut(&number).unwrap();
            pull["updatedAt"] = json!("2023-01-01T00:00:00Z");
            pull["title"] = json!("Another title");
        }
    });
    let changed = site.ask(&model, model.settings(), refresh).await;
    assert_eq!(
        (changed.changed, changed.pulls, changed.issues),
        (Some(10), 10, 0)
    );

    let (least, most) = collector(&repo, linked / 3);
    println!("for {PULLS} merged pull requests, their issues and all comments of the model repository:");
    println!(
        "  quarry, told before:             {:>5} to {} requests, {} to {} points",
        told.requests.0, told.requests.1, told.points.0, told.points.1
    );
    println!(
        "  quarry:                          {:>5} requests ({} of them REST), {} points",
        spent.requests, spent.rest, spent.points
    );
    println!("    of them look-ups of numbers that are gone: {lookups}");
    println!(
        "  quarry, the same again:          {:>5} requests",
        again.spent.requests
    );
    println!(
        "  quarry, refresh, nothing new:    {:>5} request (304: not counted by GitHub)",
        same.spent.requests
    );
    println!(
        "  quarry, refresh, 10 changed:     {:>5} requests, {} points",
        changed.spent.requests, changed.spent.points
    );
    println!(
        "  SWE-bench's collector (counted): {least:>5} to {most} requests, {} of {linked} linked pull requests accepted",
        linked / 3
    );
}
