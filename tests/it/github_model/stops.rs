//! Stops: whatever comes in between, the same command asked again goes on, and ends.

use std::collections::BTreeSet;
use std::process::Command;

use quarry::domain::forge::IssueFate;
use quarry::github::ask::{Begun, Step};
use quarry::github::{Budget, GithubError};
use quarry::mine::release_notes::run::outside;
use quarry::mine::run::MineError;
use quarry::mine::run::enrich::{Question, estimate};
use serde_json::{Value, json};

use super::client::{fates, is_context, name};
use super::mining::{Sample, Site, candidate, json, program, sample};
use super::state::{Repo, comment, event, issue, pull, release, with};
use super::{Fault, Model};
use crate::notes::mirror_with;
use crate::program::{quarry, recipe, succeed, tree};

/// An issue with many comments beside short ones, one that was moved, one that was deleted, and many releases.
fn model() -> Model {
    let said: Vec<_> = (0..250)
        .map(|place| comment(&format!("said {place}"), "2020-01-02T00:00:00Z"))
        .collect();
    let mut repo = Repo::of(
        vec![
            pull(1, &["10"]),
            pull(2, &["11"]),
            with(pull(3, &[]), "body", json!("Fixes #20")),
            with(pull(4, &[]), "body", json!("Fixes #22")),
        ],
        vec![issue(10, &said), issue(11, &[])],
    );
    repo.moved = [(20, ("lab/tools".to_owned(), 4))].into();
    repo.deleted = vec![22];
    repo.releases = (0..230)
        .map(|place| release(&format!("v{place}"), None))
        .collect();
    let tools = Repo::of(vec![], vec![issue(4, &said[..120])]);
    Model::new(vec![("psf/requests", repo), ("lab/tools", tools)])
}

#[tokio::test]
async fn any_budget_gets_on_each_time_and_asks_nothing_twice() {
    let candidates: Vec<_> = (1..=4).map(|number| candidate(number, &[])).collect();
    let repo = name("psf/requests");
    let question = Question {
        repo: &repo,
        candidates: &candidates,
        refresh: false,
        is_context: &is_context,
    };
    let known = |site: &Site| site.context.store.replies("").unwrap();
    let (at_once, whole) = (model(), Site::new());
    let all = whole.ask(&at_once, at_once.settings(), question).await;
    assert_eq!(all.stopped, None);
    let one = |points, requests| Budget {
        points,
        requests,
        reserve: 0,
    };
    // A request a time is what kills leave of a run.
    for budget in [one(Some(1), None), one(None, Some(1)), one(Some(2), Some(3))] {
        let (model, site) = (model(), Site::new());
        let (mut points, mut requests) = (0, 0);
        loop {
            let before = known(&site);
            let settings = quarry::github::Settings {
                budget: budget.clone(),
                ..model.settings()
            };
            let asked = site.ask(&model, settings, question).await;
            points += asked.spent.points;
            requests += asked.spent.requests;
            if asked.stopped.is_none() {
                break;
            }
            assert_ne!(
                known(&site),
                before,
                "{budget:?} got nowhere: {:?}",
                model.asked()
            );
        }
        assert_eq!(known(&site), known(&whole), "{budget:?}");
        assert_eq!(
            (points, requests),
            (all.spent.points, all.spent.requests),
            "{budget:?}"
        );
    }
}

#[tokio::test]
async fn a_refresh_of_much_gets_on_each_time() {
    let model = || {
        let repo = Repo::of((1..=250).map(|number| pull(number, &[])).collect(), vec![]);
        Model::new(vec![("psf/requests", repo)])
    };
    let change = |model: &Model| {
        model.repo("psf/requests", |repo| {
            for pull in repo.pulls.values_mut() {
                pull["updatedAt"] = json!("2023-01-01T00:00:00Z");
                pull["title"] = json!("Another title");
            }
        });
    };
    let candidates: Vec<_> = (1..=250).map(|number| candidate(number, &[])).collect();
    let repo = name("psf/requests");
    let mut question = Question {
        repo: &repo,
        candidates: &candidates,
        refresh: false,
        is_context: &is_context,
    };
    let known = |site: &Site| site.context.store.replies("").unwrap();
    let (new, fresh) = (model(), Site::new());
    change(&new);
    fresh.ask(&new, new.settings(), question).await;

    let (model, site) = (model(), Site::new());
    site.ask(&model, model.settings(), question).await;
    change(&model);
    question.refresh = true;
    loop {
        let before = known(&site);
        let mut settings = model.settings();
        settings.budget.requests = Some(1);
        let asked = site.ask(&model, settings, question).await;
        if asked.stopped.is_none() {
            break;
        }
        assert_ne!(known(&site), before, "it got nowhere: {:?}", model.asked());
    }
    assert_eq!(known(&site), known(&fresh));
}

#[tokio::test]
async fn what_is_half_read_decides_nothing_and_is_told_beforehand() {
    let (model, site) = (model(), Site::new());
    let candidates = [candidate(1, &[])];
    site.context
        .store
        .put_mined(candidates.to_vec(), vec![], None)
        .unwrap();
    let repo = name("psf/requests");
    let question = Question {
        repo: &repo,
        candidates: &candidates,
        refresh: false,
        is_context: &is_context,
    };
    let mut settings = model.settings();
    // Three pages of releases, the pull request, the issue with its first page.
    settings.budget.points = Some(5);
    let asked = site.ask(&model, settings, question).await;
    assert!(asked.stopped.is_some());
    assert_eq!((asked.issues, asked.fates["issue, half read"]), (1, 1));
    let forge = site.candidate(1).forge.unwrap();
    assert!(forge.closes.is_none() && forge.hints().is_none() && forge.may_close_more());
    let told = estimate(&site.context, question, 0, 50).unwrap();
    assert_eq!(
        (told.issues_named, told.issues_begun, told.comment_pages),
        (0, 1, 2)
    );
    model.asked();
    site.ask(&model, model.settings(), question).await;
    assert_eq!(
        model.asked(),
        ["graphql 1", "graphql 1"],
        "two pages, and nothing else"
    );
    let hints = site.candidate(1).forge.unwrap().hints().unwrap();
    assert_eq!(
        (hints.lines().count(), hints.lines().last()),
        (250, Some("said 249"))
    );
}

#[tokio::test]
async fn a_place_that_github_does_not_know_any_longer_is_read_from_the_start() {
    let model = model();
    let client = model.client(model.settings()).unwrap();
    let found = fates(&client, "psf/requests", &[10]).await;
    let IssueFate::Issue(facts) = &found[0].1 else {
        panic!("{found:?}");
    };
    let mut half = facts.clone();
    half.comments.truncate(100);
    half.comments_next = Some("cursor:100".to_owned());
    let error =
        json!({ "type": "INVALID_CURSOR_ARGUMENTS", "message": "`x` does not appear to be a valid cursor." });
    model.faults([Fault::with(200, &[], &json!({ "data": null, "errors": [error] }))]);
    let begun = Begun {
        pages: vec![(10, half)],
        missing: vec![],
    };
    let mut last = None;
    let keep = |batch: Vec<(u32, Step<IssueFate>)>| {
        last = batch.into_iter().next_back();
        Ok::<_, GithubError>(())
    };
    model.asked();
    client
        .issues(&name("psf/requests"), &[], begun, &|_| false, keep)
        .await
        .unwrap();
    assert_eq!(last, Some((10, Step::Known(found[0].1.clone()))));
    assert_eq!(
        model.asked(),
        ["fault 200", "graphql 1", "graphql 1", "graphql 1"]
    );
}

#[tokio::test]
async fn a_long_timeline_is_gone_on_with_page_by_page() {
    let chatter = |count: usize| {
        let mut events: Vec<Value> = (0..count)
            .map(|_| {
                with(
                    event("CrossReferencedEvent", "1"),
                    "willCloseTarget",
                    json!(false),
                )
            })
            .collect();
        events.push(event("ClosedEvent", "1"));
        events
    };
    let long = |number, count| with(issue(number, &[]), "timelineItems", chatter(count).into());
    let model = || {
        let mut repo = Repo::of(
            vec![pull(1, &[])],
            vec![long(10, 230), long(11, 3), long(12, 120)],
        );
        repo.deleted = vec![22];
        Model::new(vec![("psf/requests", repo)])
    };
    let open = BTreeSet::from([10, 11, 12, 22]);
    let repo = name("psf/requests");
    let known = |site: &Site| site.context.store.replies("").unwrap();
    let (at_once, whole) = (model(), Site::new());
    let client = at_once.client(at_once.settings()).unwrap();
    let told = outside::ask(&whole.context, &client, &repo, &open).await.unwrap();
    assert_eq!((told.open, told.asked), (4, 4));

    let (model, site) = (model(), Site::new());
    let mut requests = 0;
    loop {
        let before = known(&site);
        let mut settings = model.settings();
        settings.budget.requests = Some(1);
        let client = model.client(settings).unwrap();
        let ended = outside::ask(&site.context, &client, &repo, &open).await;
        requests += client.spent().requests;
        match ended {
            Ok(_) => break,
            Err(MineError::Github(error)) if error.is_pause() => {}
            Err(error) => panic!("{error}"),
        }
        assert_ne!(known(&site), before, "it got nowhere: {:?}", model.asked());
    }
    assert_eq!((known(&site), requests), (known(&whole), client.spent().requests));
}

#[test]
fn a_spent_budget_is_a_stop_and_only_some_are_asked_where_only_some_are_wanted() {
    let Sample {
        folder,
        mirror,
        model,
    } = sample();
    let repo = quarry::sample::REPOSITORY;
    let workspace = folder.path().join("work");
    let with_source = |verb: &[&str]| {
        let mut command = program(&workspace, &model);
        command.arg("--json").args(verb).arg("--mirror").arg(&mirror);
        command.args(["--repo", repo, "--enrich", "all"]);
        command
    };
    let stopped = with_source(&["mine"]).args(["--budget", "1"]).output().unwrap();
    assert_eq!(stopped.status.code(), Some(130));
    assert_eq!(json(&stopped)["stopped"], true);
    let swebench = recipe("swebench.toml");
    let run = ["run", swebench.to_str().unwrap()];
    let would = |command: &mut Command| {
        let told = json(&succeed(command.arg("--dry-run")));
        told["would-cost"]["pulls"].as_u64().unwrap()
    };
    let all = would(&mut with_source(&run));
    // In other letters, too.
    let only = format!("{}#2", repo.to_uppercase());
    let some = would(with_source(&run).args(["--only", &only]));
    assert!(all > 1 && some == 1, "{all} {some}");
    let whole = json(&succeed(&mut with_source(&["mine"])));
    assert_eq!(whole["stopped"], false);
}

#[test]
fn for_some_pull_requests_alone_nobody_asks_what_all_notes_name() {
    let temp = tempfile::tempdir().unwrap();
    let (bare, workspace) = (temp.path().join("ada__lines.git"), temp.path().join("work"));
    std::fs::create_dir_all(&bare).unwrap();
    mirror_with(
        &bare,
        "- Lines are counted, said somebody. (#50)\n- Lines are sorted at last. (#51)\n",
    );
    let model = Model::new(vec![(
        "ada/lines",
        Repo::of(vec![pull(1, &[]), pull(2, &[])], vec![]),
    )]);
    let would = |only: &[&str]| {
        let mut command = program(&workspace, &model);
        command.args(["--json", "run"]).arg(recipe("doc2feat.toml"));
        command.args(["--repo", "ada/lines", "--mirror"]).arg(&bare);
        command.args(["--enrich", "survivors", "--dry-run"]).args(only);
        json(&succeed(&mut command))
    };
    assert_eq!(would(&[])["would-cost"]["issues_in_notes"], 2);
    let some = &would(&["--only", "ada/lines#1"])["would-cost"];
    assert_eq!(
        (&some["issues_in_notes"], &some["pulls"]),
        (&json!(0), &json!(1)),
        "{some}"
    );
    // It changes no test, whatever the notes tell of it.
    let dropped = json!({ "settled": { "ada/lines#2": "changes-tests" } });
    assert_eq!(would(&["--only", "ada/lines#2"]), dropped);
    assert!(model.asked().is_empty());

    let mut run = program(&workspace, &model);
    run.arg("run").arg(recipe("doc2feat.toml"));
    run.args(["--repo", "ada/lines", "--mirror"]).arg(&bare);
    run.args(["--enrich", "survivors", "--only", "ada/lines#2"]);
    let output = run.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("ada/lines#2: dropped by `changes-tests`"), "{said}");
    assert!(model.asked().is_empty());
}

#[test]
fn notes_take_an_address_as_mining_does_and_say_what_they_need() {
    let temp = tempfile::tempdir().unwrap();
    let (bare, workspace) = (temp.path().join("ada__lines.git"), temp.path().join("work"));
    std::fs::create_dir_all(&bare).unwrap();
    mirror_with(&bare, "");
    let notes = |mirror: &str| {
        let mut command = quarry(&workspace);
        command.args(["--json", "notes", "--repo", "ada/lines", "--mirror", mirror]);
        json(&succeed(&mut command))
    };
    let folder = notes(bare.to_str().unwrap());
    let address = notes(&format!("file://{}", bare.display()));
    assert!(!folder["entries"].as_array().unwrap().is_empty());
    assert_eq!(address["entries"], folder["entries"]);
    assert!(workspace.join(".quarry/mirrors/ada__lines.git").exists());

    let alone = quarry(&workspace).arg("notes").output().unwrap();
    let said = String::from_utf8(alone.stderr).unwrap();
    assert_eq!(alone.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--mirror URL") && said.contains("--repo OWNER/NAME"),
        "{said}"
    );
}

#[test]
fn no_user_or_password_of_an_address_is_told_or_kept() {
    let temp = tempfile::tempdir().unwrap();
    let workspace = temp.path().join("work");
    let mirror = "https://ann:s3cret@127.0.0.1:1/a/b.git";
    let odd = "ftp://ann:s3cret@127.0.0.1:1/a/b.git";
    let api = "https://ann:s3cret@127.0.0.1:1/api/v3";
    for arguments in [
        &["mine", "--mirror", mirror][..],
        &["notes", "--mirror", mirror],
        &["mine", "--mirror", odd, "--repo", "a/b"],
        &["notes", "--mirror", odd, "--repo", "a/b"],
        &["mine", "--repo", "a/b", "--github-api", api],
        &["import", "swebench", mirror],
        &["evaluate", mirror, "--gold"],
        &["explain", mirror],
        &["export", mirror, "--to", "hf", mirror],
        &["doctor", "--base-image", mirror],
        &["mine", "--search", "x", "--budget", mirror],
        &[
            "notes",
            "--repo",
            "a/b",
            "--mirror",
            "git://ann:s3cret@127.0.0.1:1/a/b",
        ],
        &[
            "mine",
            "--repo",
            "a/b",
            "--github-api",
            "http://127.0.0.1:1/?token=s3cret",
        ],
        &[
            "notes",
            "--repo",
            "a/b",
            "--mirror",
            "//ann:s3cret@127.0.0.1:1/a/b",
        ],
        &[
            "notes",
            "--repo",
            "a/b",
            "--mirror",
            "ann:s3cret@127.0.0.1:a/b.git",
        ],
        &["mine", "--repo", "a/b", "--github-api", "ann:s3cret@127.0.0.1:1"],
        &[
            "mine",
            "--repo",
            "a/b",
            "--dry-run",
            "--github-api",
            "ann:s3cret@127.0.0.1:1",
        ],
    ] {
        let mut command = quarry(&workspace);
        command
            .args(["--json", "-vv"])
            .args(arguments)
            .env("GITHUB_TOKEN", "ghp_x");
        let output = command.output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let is_whole = arguments.iter().any(|word| word.contains("://"));
        let host = if is_whole { "://127.0.0.1:1/" } else { "127.0.0.1" };
        assert!(said.contains(host), "{said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
    for (file, bytes) in tree(&workspace) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("s3cret"), "{file}");
    }
}
