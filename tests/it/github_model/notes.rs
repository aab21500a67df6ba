//! What GitHub tells for release notes: who closed an issue, and texts of releases.

use std::collections::BTreeMap;

use quarry::domain::forge::{Closers, IssueFate, IssueId};
use quarry::github::ask::{Begun, Step};
use quarry::github::timeline::Told;
use quarry::github::{Client, GithubError};
use serde_json::{Value, json};

use super::client::name;
use super::mining::program;
use super::state::{Repo, event, issue, pull, release, with};
use super::{Fault, Model};
use crate::notes::mirror_with;
use crate::program::{recipe, succeed};

const COMMIT: &str = "d16bfe05a744909de4b27f5875fe0d4ed41ce607";

async fn closers(client: &Client, numbers: &[u32]) -> BTreeMap<u32, Closers> {
    let mut found = BTreeMap::new();
    let keep = |batch: Vec<(u32, Step<Told>)>| {
        for (number, step) in batch {
            if let Step::Known(Told::Whole(told)) = step {
                found.insert(number, told);
            }
        }
        Ok::<_, GithubError>(())
    };
    client
        .closers(&name("psf/requests"), numbers, Begun::nothing(), keep)
        .await
        .unwrap();
    found
}

fn of(events: Vec<Value>, number: u32) -> Value {
    with(issue(number, &[]), "timelineItems", events.into())
}

/// Issues with every kind of link, beside numbers that are none.
fn model() -> Model {
    let chatter = |count: usize| {
        (0..count)
            .map(|_| event("CrossReferencedEvent", "3"))
            .collect::<Vec<_>>()
    };
    let mut long: Vec<Value> = chatter(230)
        .into_iter()
        .map(|event| with(event, "willCloseTarget", json!(false)))
        .collect();
    long.push(event("ClosedEvent", "1"));
    let linked = vec![
        event("ConnectedEvent", "1"),
        event("ConnectedEvent", "2"),
        event("DisconnectedEvent", "2"),
        event("CrossReferencedEvent", "lab/tools#7"),
        json!({ "__typename": "LabeledEvent" }),
    ];
    let by_hand = json!({ "__typename": "ClosedEvent", "closer": null });
    let mut repo = Repo::of(
        vec![pull(1, &[]), pull(2, &[]), pull(3, &[])],
        vec![
            of(long, 10),
            of(linked, 11),
            of(vec![event("ClosedEvent", COMMIT)], 12),
            of(vec![by_hand], 13),
            of(
                vec![event("ClosedEvent", "lab/secret#5"), event("ClosedEvent", "2")],
                14,
            ),
        ],
    );
    repo.moved = [(20, ("lab/tools".to_owned(), 4))].into();
    repo.deleted = vec![22];
    let secret = Repo {
        private: true,
        ..Repo::of(vec![pull(5, &[])], vec![])
    };
    let tools = Repo::of(vec![pull(7, &[])], vec![issue(4, &[])]);
    Model::new(vec![
        ("psf/requests", repo),
        ("lab/tools", tools),
        ("lab/secret", secret),
    ])
}

#[tokio::test]
async fn who_closed_an_issue_is_read_to_the_last_page_and_every_other_number_has_its_fate() {
    let model = model();
    let client = model.client(model.settings()).unwrap();
    let found = closers(&client, &[1, 10, 11, 12, 13, 14, 20, 22, 99]).await;
    let id = |repo: &str, number| IssueId {
        repo: name(repo),
        number,
    };
    let issue = |pulls: Vec<IssueId>, commits: &[&str]| Closers::Issue {
        pulls,
        commits: commits.iter().map(|commit| commit.parse().unwrap()).collect(),
    };
    let home = |number| id("psf/requests", number);
    assert_eq!(found[&10], issue(vec![home(1)], &[]));
    assert_eq!(found[&11], issue(vec![id("lab/tools", 7), home(1)], &[]));
    assert_eq!(found[&12], issue(vec![], &[COMMIT]));
    assert_eq!(found[&13], issue(vec![], &[]));
    assert_eq!(
        found[&14],
        issue(vec![home(2)], &[]),
        "what must not be seen is left out"
    );
    let fate = |number: u32| match &found[&number] {
        Closers::Other { fate } => fate.clone(),
        other @ Closers::Issue { .. } => panic!("{number}: {other:?}"),
    };
    assert_eq!(fate(1), IssueFate::PullRequest);
    let to = Some(id("lab/tools", 4));
    assert_eq!(fate(20), IssueFate::Transferred { to });
    assert_eq!((fate(22), fate(99)), (IssueFate::Deleted, IssueFate::Absent));
    // One query for all, three look-ups (the one that moved takes two), and two more pages of one timeline.
    let asked = model.asked();
    let queries: Vec<&String> = asked
        .iter()
        .filter(|asked| asked.starts_with("graphql"))
        .collect();
    assert_eq!(queries, ["graphql 9", "graphql 1", "graphql 1"]);
    assert_eq!(client.spent().points, 3);
}

fn json_of(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_git_does_not_resolve_is_asked_once_and_counts_for_notes_and_rules() {
    let temp = tempfile::tempdir().unwrap();
    let (bare, workspace) = (temp.path().join("ada__lines.git"), temp.path().join("work"));
    std::fs::create_dir_all(&bare).unwrap();
    let entries = "- Lines are counted, said somebody. (#50)\n- Lines are sorted at last. (#51)\n- Lines went elsewhere. (#52)\n- Lines of the deleted. (#53)\n";
    mirror_with(&bare, entries);
    let head = std::process::Command::new("git")
        .arg("--git-dir")
        .arg(&bare)
        .args(["rev-parse", "refs/pull/1/head"])
        .output()
        .unwrap();
    let head = String::from_utf8(head.stdout).unwrap();
    let mut repo = Repo::of(
        vec![pull(1, &[]), pull(2, &[])],
        vec![
            of(vec![event("ClosedEvent", "2")], 50),
            of(vec![event("ClosedEvent", head.trim())], 51),
        ],
    );
    repo.moved = [(52, ("lab/tools".to_owned(), 4))].into();
    repo.deleted = vec![53];
    let text = "### Features\n* The very first lines, by @ada in #1\n";
    repo.releases = vec![with(
        release("v0.1", Some(text)),
        "publishedAt",
        json!("2021-01-01T00:00:00Z"),
    )];
    let tools = Repo::of(vec![], vec![of(vec![event("ClosedEvent", "ada/lines#1")], 4)]);
    let model = Model::at(
        quarry::clock::Clock::now(&quarry::clock::SystemClock),
        vec![("ada/lines", repo), ("lab/tools", tools)],
    );
    let run = |verb: &str, more: &[&str]| {
        let mut command = program(&workspace, &model);
        command.args(["--json", verb, "--mirror"]).arg(&bare);
        command.args(["--repo", "ada/lines"]).args(more);
        command
    };
    let outcomes = |told: &Value| {
        let mut found = BTreeMap::new();
        for one in told["entries"].as_array().unwrap() {
            let text = one["entry"]["text"].as_str().unwrap().to_owned();
            let pulls = one["pulls"].as_array().unwrap().iter();
            let chosen = pulls.filter(|pull| pull["verdict"] == "chosen");
            let chosen: Vec<String> = chosen
                .map(|pull| format!("{} {}", pull["number"], pull["evidence"][0].as_str().unwrap()))
                .collect();
            found.insert(
                text.split_whitespace().take(3).collect::<Vec<_>>().join(" "),
                chosen.join(" "),
            );
        }
        found
    };
    // A mirror alone asks nobody, and git does not tell.
    let alone = json_of(&succeed(&mut run("notes", &[])));
    assert!(model.asked().is_empty() && alone.get("github").is_none());
    assert_eq!(outcomes(&alone)["Lines are counted,"], "");
    let doc2feat = recipe("doc2feat.toml");
    let doc2feat = doc2feat.to_str().unwrap();
    let enrich = ["--recipe", doc2feat, "--enrich", "survivors"];
    let dry = json_of(&succeed(run("mine", &enrich).arg("--dry-run")))["github"]["would-cost"].clone();
    assert_eq!(dry["issues_in_notes"], 4, "{dry}");
    assert!(model.asked().is_empty());

    // A stop in between loses nothing.
    model.faults([Fault::status(502), Fault::status(502)]);
    let stopped = run("mine", &enrich).args(["--budget", "1"]).output().unwrap();
    assert_eq!(stopped.status.code(), Some(130));
    let told = json_of(&succeed(&mut run("mine", &enrich)))["github"]["asked"].clone();
    assert_eq!(told["closers"]["open"], 4, "{told}");
    assert_eq!(
        told["closers"]["fates"],
        json!({ "deleted": 1, "issue": 2, "transferred": 1 })
    );
    model.asked();
    let again = json_of(&succeed(&mut run("mine", &enrich)))["github"]["asked"].clone();
    assert_eq!(
        (model.asked().len(), &again["closers"]["asked"]),
        (0, &json!(0)),
        "{again}"
    );

    // What was asked is used from now on, by whoever reads notes here.
    let known = json_of(&succeed(&mut run("notes", &[])));
    let found = outcomes(&known);
    assert_eq!(found["Lines are counted,"], "2 api");
    assert_eq!(found["Lines are sorted"], "1 api", "by the commit that closed it");
    assert_eq!(
        found["Lines went elsewhere."], "1 api",
        "by its timeline where it went"
    );
    assert_eq!(found["Lines of the"], "");
    assert_eq!(found["The very first"], "1 named");
    assert_eq!((&known["releases"], &known["closers"]), (&json!(1), &json!(3)));
    let asked = json_of(&succeed(&mut run("notes", &["--enrich", "all"])));
    assert_eq!(
        (outcomes(&asked), &asked["github"]["asked"]["spent"]["requests"]),
        (found, &json!(0))
    );
}

#[test]
fn doctor_tells_where_tokens_are_from_and_what_is_left_of_them() {
    let temp = tempfile::tempdir().unwrap();
    let model = Model::at(quarry::clock::Clock::now(&quarry::clock::SystemClock), vec![]);
    let doctor = |arguments: &[&str]| {
        let mut command = program(temp.path(), &model);
        command.env("GITHUB_TOKENS", "one_that_nobody_knows");
        // Other lines depend on the machine, and with them how it ends.
        let output = command
            .args(["--json", "doctor"])
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            !text.contains(super::TOKEN) && !text.contains("one_that_nobody_knows"),
            "{text}"
        );
        let lines: Vec<Value> = serde_json::from_str(&text).unwrap();
        lines
            .into_iter()
            .filter(|line| line["what"].as_str().unwrap().contains("oken"))
            .collect::<Vec<_>>()
    };
    let told = doctor(&[]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["found"], "1 in GITHUB_TOKENS, 1 in GITHUB_TOKEN");
    assert!(model.asked().is_empty(), "nobody is asked");
    let told = doctor(&["--github-api", &model.address]);
    let states: Vec<&str> = told.iter().map(|line| line["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["good", "bad", "good"], "{told:?}");
    let left = told[2]["found"].as_str().unwrap();
    assert!(
        left.starts_with("5000 of 5000 points left until ") && left.contains("5000 of 5000 requests left"),
        "{left}"
    );
}
