//! What the workspace makes of it: asked once, kept, joined with what git knows, gone on with where it stopped.

use std::path::Path;
use std::process::Command;

use camino::Utf8PathBuf;
use quarry::clock::{Clock as _, SystemClock};
use quarry::domain::candidate::{
    Candidate, CommitNote, DiffSource, FoundIn, IssueReference, Merge, MergeEvidence, MergeKind,
};
use quarry::domain::ids::BlobId;
use quarry::github::Settings;
use quarry::mine::run::enrich::{Asked, Question, enrich};
use quarry::workspace::{Context, Workspace, WorkspaceLock};
use serde_json::{Value, json};

use super::client::{is_context, name};
use super::state::{Repo, comment, issue, pull, with};
use super::{Fault, Model, TOKEN};
use crate::program::{quarry, recipe, succeed, tree};

pub(super) struct Site {
    _folder: tempfile::TempDir,
    pub(super) context: Context,
    _lock: WorkspaceLock,
}

impl Site {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let (context, lock) = Context::open(&Workspace::at(root)).unwrap();
        Self {
            _folder: folder,
            context,
            _lock: lock,
        }
    }

    pub(super) async fn ask(&self, model: &Model, settings: Settings, question: Question<'_>) -> Asked {
        let client = model.client(settings).unwrap();
        enrich(&self.context, &client, question).await.unwrap()
    }

    /// Records candidates and asks about them.
    pub(super) async fn know(&self, model: &Model, candidates: &[Candidate]) -> Asked {
        self.context
            .store
            .put_mined(candidates.to_vec(), vec![], None)
            .unwrap();
        let repo = name("psf/requests");
        let question = Question {
            repo: &repo,
            candidates,
            refresh: false,
            is_context: &is_context,
        };
        self.ask(model, model.settings(), question).await
    }

    pub(super) fn candidate(&self, number: u32) -> Candidate {
        let id = format!("psf/requests#{number}").parse().unwrap();
        self.context.candidate(&id).unwrap().unwrap()
    }
}

/// A merged pull request whose first commit was written on the first of February 2020; git says that it closes these.
pub(super) fn candidate(number: u32, closes: &[u32]) -> Candidate {
    let sha = "d16bfe05a744909de4b27f5875fe0d4ed41ce607".parse().unwrap();
    let moment = |text: &str| text.parse().unwrap();
    Candidate {
        id: format!("psf/requests#{number}").parse().unwrap(),
        head: sha,
        merge: Merge {
            commit: sha,
            branch: "main".to_owned(),
            kind: MergeKind::Merge,
            evidence: vec![MergeEvidence::Ancestry],
            relations: vec![],
        },
        base_commit: sha,
        merge_base: sha,
        diff_source: DiffSource::Head,
        applies: true,
        title: None,
        body: None,
        author: None,
        labels: None,
        commits: vec![CommitNote {
            sha,
            subject: "Change".to_owned(),
            author: "Ada".to_owned(),
            authored_at: moment("2020-02-01T00:00:00Z"),
        }],
        commit_count: 1,
        merged_at: moment("2020-02-03T00:00:00Z"),
        base_date: moment("2020-01-31T00:00:00Z"),
        references: closes
            .iter()
            .map(|number| IssueReference {
                repo: None,
                number: *number,
                closes: true,
                found_in: FoundIn::CommitMessage(sha),
                text: format!("fixes #{number}"),
            })
            .collect(),
        release: None,
        files: vec![],
        diff: BlobId::of(b""),
        forge: None,
    }
}

#[tokio::test]
async fn a_candidate_knows_its_issues_and_what_was_said_before_work_began() {
    let said = vec![
        comment("before", "2020-01-15T00:00:00Z"),
        with(
            comment("spam", "2020-01-16T00:00:00Z"),
            "isMinimized",
            json!(true),
        ),
        with(
            comment("edited", "2020-01-17T00:00:00Z"),
            "lastEditedAt",
            json!("2020-02-05T00:00:00Z"),
        ),
        comment("after: fixed by #1", "2020-02-02T00:00:00Z"),
    ];
    let repo = Repo::of(
        vec![
            with(
                pull(1, &["10"]),
                "body",
                json!("Resolves #11 and closes #2. See #12."),
            ),
            pull(2, &[]),
        ],
        vec![issue(10, &said), issue(11, &[]), issue(12, &[])],
    );
    let model = Model::new(vec![("psf/requests", repo)]);
    let site = Site::new();
    let asked = site.know(&model, &[candidate(1, &[]), candidate(2, &[])]).await;
    assert_eq!(
        serde_json::to_value(&asked.fates).unwrap(),
        json!({ "issue": 2, "pull request": 1 })
    );
    let one = site.candidate(1);
    assert_eq!(
        (one.title.as_deref(), one.author.as_deref()),
        (Some("Change 1"), Some("ada"))
    );
    let forge = one.forge.as_ref().unwrap();
    let numbers: Vec<u32> = forge.issues().unwrap().map(|(id, _)| id.number).collect();
    assert_eq!(numbers, [10, 11]);
    assert_eq!(forge.hints().unwrap(), "before\nedited");
    assert_eq!(forge.edited_later().unwrap().len(), 1);
    assert_eq!(
        forge.texts().unwrap(),
        ["Problem 10\nIt breaks 10.", "Problem 11\nIt breaks 11."]
    );
    let places: Vec<_> = one
        .references
        .iter()
        .map(|found| (found.number, found.closes, found.found_in == FoundIn::Linked))
        .collect();
    assert_eq!(
        places,
        [
            (11, true, false),
            (2, true, false),
            (12, false, false),
            (10, true, true)
        ]
    );
    // The other one closes nothing, and that is known.
    assert_eq!(site.candidate(2).forge.unwrap().texts(), Some(vec![]));
}

#[tokio::test]
async fn a_moved_issue_is_read_where_it_went_and_a_hidden_one_leaves_the_list_open() {
    let mut repo = Repo::of(
        vec![
            with(pull(1, &[]), "body", json!("Fixes #20")),
            pull(2, &["lab/secret#5"]),
        ],
        vec![],
    );
    repo.moved = [(20, ("lab/tools".to_owned(), 4))].into();
    let secret = Repo {
        private: true,
        ..Repo::of(vec![], vec![issue(5, &[])])
    };
    let tools = Repo::of(vec![], vec![issue(4, &[])]);
    let model = Model::new(vec![
        ("psf/requests", repo),
        ("lab/tools", tools),
        ("lab/secret", secret),
    ]);
    let site = Site::new();
    site.know(&model, &[candidate(1, &[]), candidate(2, &[])]).await;
    let one = site.candidate(1).forge.unwrap();
    assert_eq!(one.texts().unwrap(), ["Problem 4\nIt breaks 4."]);
    assert!(!one.may_close_more());
    let two = site.candidate(2).forge.unwrap();
    assert!(two.may_close_more() && two.texts() == Some(vec![]));
}

#[tokio::test]
async fn asking_goes_on_where_it_stopped() {
    let count = 130;
    let repo = || {
        Repo::of(
            (1..=count)
                .map(|number| pull(number, &[&(500 + number).to_string()]))
                .collect(),
            (501..=500 + count).map(|number| issue(number, &[])).collect(),
        )
    };
    let candidates: Vec<_> = (1..=count).map(|number| candidate(number, &[])).collect();
    let name = name("psf/requests");
    let question = Question {
        repo: &name,
        candidates: &candidates,
        refresh: false,
        is_context: &is_context,
    };
    let whole = Site::new();
    let model = Model::new(vec![("psf/requests", repo())]);
    let at_once = whole.ask(&model, model.settings(), question).await;
    let state = |site: &Site| site.context.store.replies("").unwrap();

    // With a budget of one point a time, with faults in between, and then once more: the same is known, for as much.
    let parts = Site::new();
    let model = Model::new(vec![("psf/requests", repo())]);
    let (mut points, mut faults) = (0, 0);
    for turn in 0..40 {
        let mut settings = model.settings();
        settings.budget.points = Some(1);
        if turn % 3 == 1 {
            model.faults([Fault::status(502)]);
            faults += 1;
        }
        let asked = parts.ask(&model, settings, question).await;
        points += asked.spent.points;
        if asked.stopped.is_none() {
            break;
        }
    }
    assert_eq!(state(&parts), state(&whole));
    // A fault makes the next batch smaller: one more for each, at most.
    assert!(
        (at_once.spent.points..=at_once.spent.points + faults).contains(&points),
        "{points}"
    );
    let nothing = parts.ask(&model, model.settings(), question).await;
    assert_eq!((nothing.spent.requests, nothing.stopped), (0, None));
}

/// The program, with the model as GitHub and its token.
pub(super) fn program(workspace: &Path, model: &Model) -> Command {
    let mut command = quarry(workspace);
    for name in ["GITHUB_TOKENS", "GH_TOKEN"] {
        command.env_remove(name);
    }
    command
        .env("GITHUB_TOKEN", TOKEN)
        .env("GITHUB_API_URL", &model.address);
    command
}

/// The sample's repository, as a mirror and as the model has it.
pub(super) struct Sample {
    pub(super) folder: tempfile::TempDir,
    pub(super) mirror: std::path::PathBuf,
    pub(super) model: Model,
}

pub(super) fn sample() -> Sample {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("first");
    succeed(quarry(&workspace).args(["mine", "--sample"]));
    let mirrors = std::fs::read_dir(workspace.join(".quarry/mirrors")).unwrap();
    let mirror = mirrors.map(|entry| entry.unwrap().path()).next().unwrap();
    let pulls = (1..=40)
        .map(|number| {
            let closes = (number % 2 == 0).then(|| (100 + number).to_string());
            pull(number, &closes.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .collect();
    let issues = (101..=140)
        .map(|number| issue(number, &[comment("Have you tried it?", "2001-01-01T00:00:00Z")]))
        .collect();
    let model = Model::at(
        SystemClock.now(),
        vec![(quarry::sample::REPOSITORY, Repo::of(pulls, issues))],
    );
    Sample {
        folder,
        mirror,
        model,
    }
}

pub(super) fn json(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn survivors_alone_are_asked_and_rules_are_decided_by_what_was_said() {
    let Sample {
        folder,
        mirror,
        model,
    } = sample();
    let workspace = folder.path().join("work");
    let mine = || {
        let mut command = program(&workspace, &model);
        command.args(["--json", "mine", "--repo", quarry::sample::REPOSITORY, "--mirror"]);
        command.arg(&mirror);
        command
    };
    // A mirror alone asks nobody.
    let alone = json(&succeed(&mut mine()));
    assert!(alone.get("github").is_none() && model.asked().is_empty());
    let filter = || {
        let mut command = program(&workspace, &model);
        command.arg("--json").arg("filter").arg(recipe("swebench.toml"));
        let funnel = json(&succeed(&mut command))["funnel"]["rules"].clone();
        funnel
            .as_array()
            .unwrap()
            .iter()
            .find(|line| line["rule"] == "resolves-issue")
            .unwrap()
            .clone()
    };
    let before = filter();
    assert!(before["undecided"].as_u64().unwrap() > 0, "{before}");

    let mut ask = mine();
    ask.arg("--recipe")
        .arg(recipe("swebench.toml"))
        .args(["--enrich", "survivors"]);
    let mut dry = mine();
    dry.arg("--recipe")
        .arg(recipe("swebench.toml"))
        .args(["--enrich", "survivors", "--dry-run"]);
    let would = json(&succeed(&mut dry))["github"]["would-cost"].clone();
    assert!(model.asked().is_empty(), "{would}");
    let told = json(&succeed(&mut ask))["github"]["asked"].clone();
    assert_eq!(told["wanted"], would["pulls"]);
    assert!(
        told["wanted"].as_u64().unwrap() < alone["heads"].as_u64().unwrap(),
        "{told}"
    );
    assert_eq!(told["repository"]["stars"], 5000);
    let after = filter();
    // Undecided are only those that other rules stop anyway, so that nobody was asked about them.
    let not_asked = after["in"].as_u64().unwrap() - told["wanted"].as_u64().unwrap();
    assert!(after["undecided"].as_u64().unwrap() <= not_asked, "{after}");
    assert!(
        after["undecided"].as_u64() < before["undecided"].as_u64(),
        "{before} {after}"
    );
    assert!(after["dropped"].as_u64().unwrap() > 0, "{after}");
    model.asked();
    succeed(&mut ask);
    assert_eq!(model.asked(), Vec::<String>::new());
}

#[test]
fn no_token_is_in_anything_that_is_written_or_said() {
    let Sample {
        folder,
        mirror,
        model,
    } = sample();
    let workspace = folder.path().join("work");
    let mut said = Vec::new();
    let mut run = |arguments: &[&str], faults: Vec<Fault>| {
        model.faults(faults);
        let mut command = program(&workspace, &model);
        command.args(arguments).env("QUARRY_LOG", "trace");
        let output = command.output().unwrap();
        said.extend(output.stdout);
        said.extend(output.stderr);
        output.status.code()
    };
    let repo = quarry::sample::REPOSITORY;
    let mirror = mirror.to_str().unwrap();
    let mine = [
        "-vvv", "mine", "--mirror", mirror, "--repo", repo, "--enrich", "all",
    ];
    assert_eq!(run(&mine, vec![Fault::status(401)]), Some(5));
    let scope = json!({ "message": "Resource not accessible by personal access token" });
    assert_eq!(run(&mine, vec![Fault::with(403, &[], &scope)]), Some(5));
    let budget: Vec<&str> = mine.iter().copied().chain(["--budget", "1"]).collect();
    assert_eq!(run(&budget, vec![]), Some(130));
    let json: Vec<&str> = std::iter::once("--json").chain(mine).collect();
    assert_eq!(run(&json, vec![]), Some(0));
    let missing = [
        "-vvv", "mine", "--mirror", mirror, "--repo", "no/where", "--enrich", "all",
    ];
    assert_eq!(run(&missing, vec![]), Some(3));
    assert_eq!(run(&["-vvv", "mine", "--search", "pantry"], vec![]), Some(0));
    let one = format!("{repo}#2");
    assert_eq!(run(&["-vvv", "--json", "explain", &one], vec![]), Some(0));
    let swebench = recipe("swebench.toml");
    assert_eq!(
        run(&["-vvv", "filter", swebench.to_str().unwrap()], vec![]),
        Some(0)
    );
    assert!(
        String::from_utf8_lossy(&said).contains("asking GitHub"),
        "the log is on"
    );

    let holds = |bytes: &[u8]| {
        let needle = &TOKEN.as_bytes()[..20];
        bytes.windows(needle.len()).any(|window| window == needle)
    };
    assert!(!holds(&said), "said: {}", String::from_utf8_lossy(&said));
    let mut blobs = 0;
    for (file, bytes) in tree(&workspace) {
        assert!(!holds(&bytes), "{file}");
        if file.contains(".quarry/blobs/") {
            blobs += 1;
            assert!(
                !holds(&zstd::stream::decode_all(bytes.as_slice()).unwrap()),
                "{file}"
            );
        }
    }
    assert!(blobs > 20);
}

#[test]
fn a_budget_may_be_a_file_and_nobody_is_asked_without_a_token() {
    let Sample {
        folder,
        mirror,
        model,
    } = sample();
    let workspace = folder.path().join("work");
    let file = folder.path().join("budget.toml");
    let run = |budget: &str, token: bool| {
        std::fs::write(&file, budget).unwrap();
        let mut command = program(&workspace, &model);
        if !token {
            command.env_remove("GITHUB_TOKEN").env("PATH", "/usr/bin:/bin");
        }
        command.args([
            "mine",
            "--enrich",
            "all",
            "--repo",
            quarry::sample::REPOSITORY,
            "--budget",
        ]);
        command.arg(&file).arg("--mirror").arg(&mirror);
        let output = command.output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    let (code, text) = run("points = 1\nrequests = 40\n", true);
    assert_eq!(code, Some(130), "{text}");
    assert!(
        text.contains("1 of 1 points are spent") && text.contains("goes on"),
        "{text}"
    );
    let (code, text) = run("point = 1\n", true);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("unknown field `point`"), "{text}");
    let (code, text) = run("reserve = 10\n", true);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("cost: ") && text.contains("for 1,000 pull requests"),
        "{text}"
    );
    let gh = Path::new("/usr/bin/gh").exists();
    if !gh {
        let (code, text) = run("", false);
        assert_eq!(code, Some(5), "{text}");
        assert!(
            text.contains("there is no token") && text.contains("GITHUB_TOKEN"),
            "{text}"
        );
    }
}
