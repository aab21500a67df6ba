//! The search for an environment, end to end: what a tree asks for is built, what fails is repaired, the repair is told.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use quarry::build::BuildSettings;
use quarry::domain::attempt::Stage;
use quarry::domain::event::{Event, EventSink};
use quarry::pipeline::explain::explain;
use quarry::pipeline::source::{self, MinedSource, Place};
use quarry::pipeline::{Outcome, Settings};
use quarry::recipe::LoadedRecipe;
use quarry::workspace::{Context, Workspace, WorkspaceLock};
use tokio_util::sync::CancellationToken;

use super::index::{Index, metadata};
use super::pantry::{self, Files, RECIPE, mirror, module, printed, tried};
use crate::program::{quarry, succeed};
use crate::python::python;

/// `late` 2 came after the base commit, which asks for it. `larder` takes a name from `shelf` that `shelf` 2 no longer has; nothing in its metadata says so.
fn stock(index: &Index) {
    let python = python();
    for (version, moment, source) in [
        (
            "1.4",
            "2020-01-01T00:00:00Z",
            "def quote(text):\n    return text\n",
        ),
        (
            "2.0",
            "2021-01-01T00:00:00Z",
            "def escape(text):\n    return text\n",
        ),
    ] {
        index.wheel(&python, "shelf", version, moment, &[("shelf.py", source)]);
    }
    for (version, moment) in [("1.0", "2020-01-04T00:00:00Z"), ("2.0", "2022-01-01T00:00:00Z")] {
        index.wheel(&python, "late", version, moment, &[("late.py", "")]);
    }
    index.wheel(
        &python,
        "larder",
        "0.3",
        "2020-01-02T00:00:00Z",
        &[
            ("larder.py", "from shelf import quote\n"),
            (
                "larder-0.3.dist-info/METADATA",
                &metadata("larder", "0.3", &["shelf"]),
            ),
        ],
    );
    index.wheel(
        &python,
        "pyyaml",
        "5.4",
        "2020-01-03T00:00:00Z",
        &[("yaml.py", "")],
    );
}

#[test]
fn what_a_build_and_its_first_run_lack_is_repaired_and_the_reasons_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open();
    stock(&index);
    let more = [
        (
            "package.txt",
            "name=pantry\nversion=1.0\nrequires=larder\nrequires=late==2.0\n",
        ),
        (
            "tests/test_pantry.py",
            "import unittest\nimport larder, yaml, pantry\n\n\nclass T(unittest.TestCase):\n    def test_none(self):\n        \
             self.assertEqual(pantry.twice(0), 0)\n\n    def test_two(self):\n        self.assertTrue(pantry.twice(2))\n",
        ),
    ];
    let base = pantry::base(&more);
    let test = more[1]
        .1
        .replace("assertTrue(pantry.twice(2))", "assertEqual(pantry.twice(2), 4)");
    let change = [
        ("src/pantry.py", "def twice(number):\n    return 2 * number\n"),
        ("tests/test_pantry.py", test.as_str()),
    ];
    mirror(&folder.path().join("mirror"), &base, &[&change]);
    let done = succeed(pantry::run(folder.path(), &index, "0.1.0").arg("-v"));
    let told = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    let version = folder.path().join("manifests/found/0.1.0");
    assert!(version.exists(), "{told}\n{}", tried(folder.path()));
    let manifest = std::fs::read_to_string(version.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let environment = &manifest["environments"][0];
    let constraint = &environment["constraints"][0];
    assert_eq!(constraint["requirement"], "shelf<2", "{environment}");
    let reason = constraint["reason"].as_str().unwrap();
    assert!(
        reason.contains("cannot import name 'quote' from 'shelf'"),
        "{reason}"
    );
    let newer = &environment["newer"][0];
    assert_eq!(newer["distribution"], "late", "{environment}");
    assert_eq!(newer["until"], "2022-01-01T01:00:00Z", "{environment}");
    let instances = std::fs::read_to_string(version.join("instances.jsonl")).unwrap();
    let instance: serde_json::Value = serde_json::from_str(instances.lines().next().unwrap()).unwrap();
    assert_eq!(instances.lines().count(), 1);
    assert_eq!(
        instance["FAIL_TO_PASS"].as_array().unwrap().len(),
        1,
        "{instance}"
    );
    assert_eq!(
        instance["PASS_TO_PASS"].as_array().unwrap().len(),
        1,
        "{instance}"
    );
    told_by_the_ledger(folder.path());
}

/// The story of the search above: every way tried, what came of it, what was done about it, and the logs.
fn told_by_the_ledger(workspace: &Path) {
    let id = "quarry-bench/pantry#1";
    let story = printed(quarry(workspace).args(["explain", id]));
    for words in [
        "environment, shared by the 1 candidate of group",
        "searched for quarry-bench/pantry#1",
        "install -e .",
        "run unittest",
        "not built: resolve-failed",
        "because of",
        "cannot import name 'quote' from 'shelf'",
        "2 passed, 0 failed",
        ", the touched modules: 2 passed",
        "with 2 passing tests: next to nothing failed in it",
        "not tried: ",
    ] {
        assert!(story.contains(words), "{words}\n{story}");
    }
    let detected = story.lines().filter(|line| line.contains(" detect "));
    assert_eq!(detected.count(), 1, "{story}");

    let told: serde_json::Value =
        serde_json::from_str(&printed(quarry(workspace).args(["explain", id, "--json"]))).unwrap();
    let found = &told["environments"][0]["shared"]["search"]["found"];
    let tried = found["tried"].as_array().unwrap();
    let chosen = &tried[usize::try_from(found["chosen"].as_u64().unwrap()).unwrap()];
    assert_eq!(chosen["environment"], found["environment"]);
    assert_eq!(chosen["trial"]["passed"], 2);
    assert_eq!(told["environments"][0]["own"], serde_json::Value::Null);

    // The same log by its attempt, by its stage, by its address and by the beginning of that.
    let log = chosen["log"].as_str().unwrap();
    let whole = printed(quarry(workspace).args(["log", log]));
    assert!(whole.contains("tests: 2 Passed"), "{whole}");
    let attempts = told["attempts"].as_array().unwrap();
    let number = attempts.iter().position(|attempt| attempt["log"] == log).unwrap() + 1;
    let number = number.to_string();
    for target in [
        vec![&log[..12]],
        vec![id, "--attempt", &number],
        vec![id, "--stage", "trial"],
    ] {
        assert_eq!(
            printed(quarry(workspace).arg("log").args(&target)),
            whole,
            "{target:?}"
        );
    }
    let told = printed(quarry(workspace).args(["log", id, "--stage", "trial", "--json"]));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["text"], &told["log"]), (&whole.into(), &log.into()));
    assert_eq!(told["stage"], "trial");
    for (target, code) in [
        (vec!["ffffffff"], 3),
        (vec!["no-address"], 3),
        (vec![id, "--attempt", "99"], 3),
        (vec![id, "--stage", "strip"], 3),
        (vec!["ffffffff", "--stage", "trial"], 2),
        (vec!["pantry#1"], 2),
    ] {
        let ended = quarry(workspace).arg("log").args(&target).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{target:?}: {said}");
        assert!(said.contains("hint: "), "{said}");
    }
}

/// A run in this process, which a sink may stop.
struct Inside {
    context: Context,
    loaded: LoadedRecipe,
    sources: Vec<MinedSource>,
    index: Index,
    _lock: WorkspaceLock,
}

impl Inside {
    async fn new(root: &Path, changes: &[Files<'_>], test: &str) -> Self {
        let base = pantry::base(&[("tests/test_pantry.py", test)]);
        let path = root.join("mirror");
        mirror(&path, &base, changes);
        let recipe = root.join("found.toml");
        std::fs::write(&recipe, RECIPE).unwrap();
        let workspace = Workspace::at(camino::Utf8Path::from_path(root).unwrap().join("work"));
        let (context, lock) = Context::open(&workspace).unwrap();
        let place = Place::Mirror(path.to_str().unwrap().to_owned());
        let repo = "quarry-bench/pantry".parse().unwrap();
        let (source, _) = source::mine(&context, place, Some(repo), false).await.unwrap();
        Self {
            context,
            loaded: quarry::recipe::load(&recipe).unwrap(),
            sources: vec![source],
            index: Index::open(),
            _lock: lock,
        }
    }

    async fn run(&self, context: &Context) -> Outcome {
        let mut variables = super::variables();
        variables.insert("UV_DEFAULT_INDEX".to_owned(), self.index.url());
        variables.insert("UV_HTTP_RETRIES".to_owned(), "0".to_owned());
        let settings = Settings {
            build: BuildSettings::of(&variables),
            ..Settings::default()
        };
        quarry::pipeline::run(context, &self.loaded, &self.sources, settings, false)
            .await
            .unwrap()
    }

    /// How many attempts the ledger has at a stage, and how many different things they were about.
    fn attempts(&self, stage: Stage) -> (usize, usize) {
        let attempts = self.context.store.attempts(Some(stage), None).unwrap();
        let keys: BTreeSet<_> = attempts.iter().map(|attempt| &attempt.input_key).collect();
        (attempts.len(), keys.len())
    }
}

/// Asks to stop as soon as something of this stage is told.
struct StopsAt(CancellationToken, Stage);

impl EventSink for StopsAt {
    fn emit(&self, event: Event) {
        let is_it = match event {
            Event::Attempted { stage, .. } => stage == self.1,
            Event::StageFinished { stage, .. } => stage == self.1.name(),
            _ => false,
        };
        if is_it {
            self.0.cancel();
        }
    }
}

#[tokio::test]
async fn a_stop_takes_effect_at_the_next_step_of_a_search_and_nothing_done_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    // One test always fails: after the first way, there is something left to look for.
    let sour = |about| module(about) + "\n    def test_sour(self):\n        self.fail()\n";
    let (before, after) = (sour("self.fail()"), sour("self.assertEqual(pantry.twice(2), 4)"));
    let first = [
        ("src/pantry.py", "def twice(number):\n    return 2 * number\n"),
        ("tests/test_pantry.py", after.as_str()),
    ];
    let more = after.clone() + "\n    def test_three(self):\n        self.assertEqual(pantry.thrice(1), 3)\n";
    let second = [
        (
            "src/pantry.py",
            "def twice(number):\n    return 2 * number\n\n\ndef thrice(number):\n    return 3 * number\n",
        ),
        ("tests/test_pantry.py", more.as_str()),
    ];
    let inside = Inside::new(folder.path(), &[&first, &second], &before).await;
    let stopped_at = |stage| {
        let cancel = CancellationToken::new();
        Context {
            events: Arc::new(StopsAt(cancel.clone(), stage)),
            cancel,
            ..inside.context.clone()
        }
    };
    // Before any tree is read.
    let outcome = inside.run(&stopped_at(Stage::Filter)).await;
    assert!(matches!(outcome, Outcome::Interrupted), "{outcome:?}");
    assert_eq!(inside.attempts(Stage::Ask), (0, 0));
    // After the first way was tried; it is the same for both candidates, so one tree is tried.
    let outcome = inside.run(&stopped_at(Stage::Trial)).await;
    assert!(matches!(outcome, Outcome::Interrupted), "{outcome:?}");
    let steps = [
        Stage::Ask,
        Stage::Build,
        Stage::Trial,
        Stage::Detect,
        Stage::Verify,
    ];
    assert_eq!(
        steps.map(|stage| inside.attempts(stage).0),
        [2, 1, 1, 0, 0],
        "{}",
        tried(folder.path().join("work").as_path())
    );
    let outcome = inside.run(&inside.context).await;
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    for stage in [Stage::Ask, Stage::Trial, Stage::Detect] {
        let (count, different) = inside.attempts(stage);
        let expected = if stage == Stage::Ask { 2 } else { different };
        assert_eq!(count, expected, "{stage:?}");
    }
    let story = explain(&inside.context, &"quarry-bench/pantry#1".parse().unwrap(), None).unwrap();
    let shared = story.environments[0].shared.as_ref().unwrap();
    assert_eq!(story.environments[0].members, 2);
    assert_eq!(shared.of, "quarry-bench/pantry#2".parse().unwrap());
    assert!(shared.search.environment().is_some());
}

#[tokio::test]
async fn what_was_searched_for_the_group_on_this_very_tree_is_not_searched_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let before = module("self.fail()").replace("twice(0), 0", "twice(0), 1");
    let after = module("pass");
    let change = [
        ("src/pantry.py", "def twice(number):\n    return 2 * number\n"),
        ("tests/test_pantry.py", after.as_str()),
    ];
    let inside = Inside::new(folder.path(), &[&change], &before).await;
    let outcome = inside.run(&inside.context).await;
    let Outcome::Done(report) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(report.project["build: no-environment-found"], 1, "{report:?}");
    // Nothing is emitted, and every step is counted all the same.
    let steps: Vec<_> = report
        .funnel
        .iter()
        .map(|step| (step.step.as_str(), step.entered, step.dropped, step.out))
        .collect();
    assert_eq!(
        steps,
        [
            ("mine", 1, 0, 1),
            ("build", 1, 1, 0),
            ("verify", 0, 0, 0),
            ("fails-before", 0, 0, 0)
        ]
    );
    assert_eq!(inside.attempts(Stage::Detect), (1, 1));
    let story = explain(&inside.context, &"quarry-bench/pantry#1".parse().unwrap(), None).unwrap();
    let text = story.text();
    assert!(text.contains("in none did a test pass"), "{text}");
    assert!(text.contains("0 passed, 2 failed"), "{text}");
}
