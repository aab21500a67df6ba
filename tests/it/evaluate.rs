//! `quarry evaluate` on the sample's version, as a user runs it, and killed at any moment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use quarry::audit::diff::Diff;
use quarry::audit::funnel::Audit;
use quarry::domain::attempt::Stage;
use quarry::domain::hash::sha256_hex;
use quarry::emit::instance::Instance;
use quarry::evaluate::Report;
use quarry::evaluate::result::{Class, RunResult};
use quarry::evaluate::run::read_report;
use quarry::store::Store;

use crate::program::{quarry, recipe, sample_run, succeed};

fn report(folder: &Path) -> Report {
    read_report(Utf8Path::from_path(folder).unwrap()).unwrap()
}

fn classes(report: &Report) -> BTreeMap<String, Class> {
    report
        .outcomes
        .iter()
        .map(|outcome| (outcome.instance_id.to_string(), outcome.class))
        .collect()
}

/// What must not depend on when a run was made: everything but its log, which tells how long it took.
fn timeless(mut report: Report) -> Report {
    for outcome in &mut report.outcomes {
        outcome.logs.clear();
    }
    report
}

#[test]
fn gold_resolves_all_the_empty_patch_none_and_a_killed_evaluation_goes_on() {
    let temp = tempfile::tempdir().unwrap();
    let workspace = temp.path().join("w");
    succeed(&mut sample_run(&workspace));
    let version = workspace.join("manifests/sample/0.1.0");
    let rows = std::fs::read_to_string(version.join("instances.jsonl")).unwrap();
    let rows: Vec<Instance> = rows
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let evaluate = |what: &[&str], out: &str| {
        let mut command = quarry(&workspace);
        command
            .args(["evaluate", version.to_str().unwrap()])
            .args(what)
            .arg("--out")
            .arg(temp.path().join(out));
        command
    };

    // What would keep the report from its place is said before any run: a version stays as it was.
    let long = temp.path().join("long.jsonl");
    let model = "m".repeat(300);
    let patch = serde_json::json!({"instance_id": rows[0].instance_id, "model_patch": "x", "model_name_or_path": model});
    std::fs::write(&long, patch.to_string()).unwrap();
    let refused = |command: &mut Command| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        String::from_utf8(output.stderr).unwrap()
    };
    let inside = version.join("report");
    let said = refused(&mut evaluate(&["--gold"], inside.to_str().unwrap()));
    assert!(
        said.contains("it lies in the emitted version") && !inside.exists(),
        "{said}"
    );
    let said = refused(&mut evaluate(&["--null"], "long.jsonl/report"));
    assert!(said.contains("is a file, not a folder"), "{said}");
    let mut command = quarry(&workspace);
    command.args([
        "evaluate",
        version.to_str().unwrap(),
        "--predictions",
        long.to_str().unwrap(),
    ]);
    let said = refused(&mut command);
    assert!(said.contains("the name has 300 bytes"), "{said}");

    // Killed and started again until it comes to its end.
    let begun = Instant::now();
    succeed(&mut evaluate(
        &["--gold", "--only", rows[0].instance_id.as_str(), "--again"],
        "one",
    ));
    let span = begun.elapsed();
    let mut starts = 0;
    loop {
        starts += 1;
        let mut child = evaluate(&["--gold", "--runs", "2"], "gold")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let life = span / 2 + span / 5 * starts;
        let start = Instant::now();
        let mut ended = None;
        while start.elapsed() < life && ended.is_none() {
            std::thread::sleep(Duration::from_millis(5));
            ended = child.try_wait().unwrap();
        }
        if let Some(status) = ended {
            assert!(status.success(), "{status}");
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let gold = report(&temp.path().join("gold"));
    assert!(
        gold.outcomes
            .iter()
            .all(|outcome| outcome.class == Class::Resolved),
        "{:?}",
        classes(&gold)
    );
    assert_eq!(gold.outcomes.len(), rows.len());
    // Gold of some is told as that, and does not take the place of gold of all.
    assert_eq!(
        report(&temp.path().join("one")).conditions.only,
        [rows[0].instance_id.clone()]
    );
    let said = refused(&mut evaluate(
        &["--gold", "--only", rows[0].instance_id.as_str()],
        "gold",
    ));
    assert!(said.contains("over that of all"), "{said}");
    assert_eq!(gold.scores.files.value, Some(1.0));
    let ledger = workspace.join(".quarry/ledger.db");
    let attempts = Store::open_read_only(Utf8Path::from_path(&ledger).unwrap())
        .unwrap()
        .attempts(Some(Stage::Evaluate), None)
        .unwrap();
    let keys: BTreeSet<_> = attempts.iter().map(|attempt| &attempt.input_key).collect();
    // The first was run by itself and again, which is another attempt under its key.
    assert!(
        attempts.len() <= keys.len() + 1,
        "{} attempts, {} keys",
        attempts.len(),
        keys.len()
    );
    assert_eq!(keys.len(), 2 * rows.len());
    succeed(&mut evaluate(
        &["--gold", "--runs", "2", "--again"],
        "undisturbed",
    ));
    assert_eq!(
        timeless(report(&temp.path().join("undisturbed"))),
        timeless(gold.clone())
    );
    succeed(&mut evaluate(&["--gold", "--runs", "2"], "recorded"));

    succeed(&mut evaluate(&["--null"], "null"));
    let null = report(&temp.path().join("null"));
    assert!(
        null.outcomes
            .iter()
            .all(|outcome| outcome.class == Class::Unresolved),
        "{:?}",
        classes(&null)
    );
    assert_eq!(null.scores.success.value, Some(0.0));

    // Predictions of every kind, and ones that are none.
    let line = |id: &str, patch: &str| {
        serde_json::json!({"instance_id": id, "model_patch": patch, "model_name_or_path": "m"}).to_string()
    };
    let id = |index: usize| rows[index].instance_id.as_str();
    let wrong = rows[1].patch.replace("\n ", "\n never ");
    let lines = [
        line(id(0), "nonsense"),
        line(id(0), &rows[0].patch),
        line(id(1), &wrong),
        line(id(2), " \n"),
        line("nobody__nothing-1", "x"),
    ];
    let file = temp.path().join("predictions.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let predictions = file.to_str().unwrap();
    let output = succeed(&mut evaluate(&["--predictions", predictions], "mixed"));
    let text = String::from_utf8(output.stdout).unwrap();
    let mixed = report(&temp.path().join("mixed"));
    let found = classes(&mixed);
    assert_eq!(found[id(0)], Class::Resolved, "{text}");
    assert_eq!(found[id(1)], Class::NotApplied, "{text}");
    assert_eq!(found[id(2)], Class::Empty, "{text}");
    assert_eq!(found[id(3)], Class::Missing, "{text}");
    assert_eq!(mixed.scores.success.denominator, rows.len() as u64);
    assert!(
        text.contains("1 for no instance of this version: nobody__nothing-1 (line 5)"),
        "{text}"
    );
    assert!(
        text.contains(&format!(
            "1 replaced by a later one for the same instance: {} (line 1)",
            id(0)
        )),
        "{text}"
    );
    for name in ["report.md", "report.html"] {
        let page = std::fs::read_to_string(temp.path().join("mixed").join(name)).unwrap();
        assert!(
            rows.iter()
                .all(|row| page.replace('\\', "").contains(row.instance_id.as_str())),
            "{name}"
        );
    }

    // Everybody who is not in the version is told, and a version does not differ from itself.
    let output = succeed(quarry(&workspace).args(["audit", version.to_str().unwrap(), "--near", "--json"]));
    let near: Audit = serde_json::from_slice(&output.stdout).unwrap();
    let output = succeed(quarry(&workspace).args(["audit", version.to_str().unwrap(), "--json"]));
    let all: Audit = serde_json::from_slice(&output.stdout).unwrap();
    let pulls = all.funnel[0].entered;
    assert_eq!(
        all.kept as u64 + all.dropped.len() as u64,
        pulls,
        "nobody is left out"
    );
    assert!(!near.dropped.is_empty() && near.dropped.len() < all.dropped.len());
    let mut distances = near.dropped.iter().filter_map(|one| one.near.as_ref()).flatten();
    assert!(distances.any(|one| one.distance >= 1.0), "{:?}", near.dropped);
    let why = quarry(&workspace)
        .args(["audit", version.to_str().unwrap(), "--why", "nothing"])
        .output()
        .unwrap();
    assert_eq!(why.status.code(), Some(3));
    let (one, other) = (version.to_str().unwrap(), version.to_str().unwrap());
    let output = succeed(quarry(&workspace).args(["diff", one, other, "--json"]));
    let differs: Diff = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (differs.same, differs.changed.len(), differs.added.len()),
        (rows.len(), 0, 0)
    );

    people_judge_it(&workspace, &version, &rows);

    // A gold patch that was seen to fail keeps its instance out of any version.
    let emit = || {
        let mut command = quarry(&workspace);
        command.arg("emit").arg(recipe("sample.toml"));
        command
    };
    succeed(&mut emit());
    let mut bad = attempts
        .iter()
        .find(|attempt| attempt.candidate.instance() == rows[1].instance_id)
        .unwrap()
        .clone();
    let mut result: RunResult = serde_json::from_value(bad.result.take().unwrap()).unwrap();
    let status = quarry::domain::outcome::TestStatus::Failed;
    result.not_passed.insert(rows[1].fail_to_pass[0].clone(), status);
    bad.result = Some(serde_json::to_value(result).unwrap());
    let store = Store::open(Utf8Path::from_path(&ledger).unwrap()).unwrap();
    store.append_attempt(bad).unwrap();
    drop(store);
    let output = emit().output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("its gold patch was not resolved"), "{said}");

    // A workspace that knows nothing needs the mirror, and builds each environment again of the version's lock.
    let elsewhere = temp.path().join("elsewhere");
    let there = |more: &[&str]| {
        let mut command = quarry(&elsewhere);
        let only = rows[..2]
            .iter()
            .flat_map(|row| ["--only", row.instance_id.as_str()]);
        command
            .args(["--json", "evaluate", version.to_str().unwrap(), "--gold"])
            .args(only)
            .args(more);
        command
    };
    let refused = there(&[]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("quarry mine --mirror"), "{said}");
    assert!(
        !elsewhere.join(".quarry").exists(),
        "what failed leaves no workspace"
    );
    let told: Report = serde_json::from_slice(&succeed(&mut there(&["--sample"])).stdout).unwrap();
    assert!(
        told.outcomes.iter().all(|one| one.class == Class::Resolved),
        "{:?}",
        classes(&told)
    );
    let ledger = elsewhere.join(".quarry/ledger.db");
    let store = Store::open_read_only(Utf8Path::from_path(&ledger).unwrap()).unwrap();
    let built = store.attempts(Some(Stage::Build), None).unwrap();
    let keys: BTreeSet<_> = built
        .iter()
        .map(|attempt| attempt.result.as_ref().unwrap()["environment"]["key"].to_string())
        .collect();
    let named: BTreeSet<_> = rows[..2]
        .iter()
        .map(|row| serde_json::json!(row.environment).to_string())
        .collect();
    assert_eq!(keys, named);

    // A bad line stops everything before anything runs.
    std::fs::write(&file, "{\"instance_id\": 1}\n").unwrap();
    let output = evaluate(&["--predictions", predictions], "bad").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("line 1: invalid type"), "{said}");
}

/// Two people look at a sample of the version, disagree once, and what stays is a version that names its parent.
fn people_judge_it(workspace: &Path, version: &Path, rows: &[Instance]) {
    let run = |args: &[&str]| {
        let mut command = quarry(workspace);
        command
            .arg("annotate")
            .args(args)
            .arg("--json")
            .current_dir(workspace);
        command
    };
    let version = version.to_str().unwrap();
    let drawn =
        succeed(quarry(workspace).args(["sample", version, "--margin", "0.3", "--seed", "7", "--json"]));
    let sample: serde_json::Value = serde_json::from_slice(&drawn.stdout).unwrap();
    std::fs::write(workspace.join("sample.json"), &drawn.stdout).unwrap();
    let told = (&sample["confidence"], &sample["margin"], &sample["stratify"]);
    assert_eq!(told, (&0.95_f64.into(), &0.3_f64.into(), &"repo".into()));
    let sums = sha256_hex(&std::fs::read(format!("{version}/SHA256SUMS")).unwrap());
    assert_eq!(sample["parent"]["sha256"], sums);
    let drawn: Vec<&str> = sample["instances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    assert!(drawn.len() >= 2 && drawn.len() < rows.len(), "{drawn:?}");
    let export = || {
        run(&[
            "export",
            version,
            "--sample",
            "sample.json",
            "--annotators",
            "ada,ben",
            "--out",
            "sheets",
        ])
    };
    let mut edited = sample.clone();
    edited["instances"].as_array_mut().unwrap().pop();
    std::fs::write(workspace.join("sample.json"), edited.to_string()).unwrap();
    let refused = export().output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    let hint = said["error"]["hints"][0].as_str().unwrap();
    assert!(hint.contains("--confidence 0.95 --margin 0.3 --seed 7"), "{hint}");
    std::fs::write(workspace.join("sample.json"), sample.to_string()).unwrap();

    succeed(&mut export());
    assert!(workspace.join("sheets/ben.html").exists() && workspace.join("sheets/questions.toml").exists());

    // The first one stays for ada alone, the second for nobody, the others for both.
    for (annotator, first) in [("ada", "1"), ("ben", "2")] {
        let file = workspace.join("sheets").join(format!("{annotator}.csv"));
        fill(&file, &|id, question| match question {
            "task-clarity" if id == drawn[0] => first,
            "task-clarity" if id == drawn[1] => "3",
            "other-problem" => "no",
            _ => "0",
        });
    }
    let refused = export().output().unwrap();
    assert_eq!(
        refused.status.code(),
        Some(3),
        "a filled sheet is not overwritten"
    );
    let sheets = [
        "import",
        version,
        "sheets/ada.csv",
        "sheets/ben.csv",
        "--sample",
        "sample.json",
        "--out",
        "manifests",
    ];
    let output = run(&sheets).output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said["disputed"], serde_json::json!({drawn[0]: ["task-clarity"]}));

    let decided = "manifests/adjudication/adjudication.csv";
    fill(&workspace.join(decided), &|_, question| {
        if question == "task-clarity" { "1" } else { "" }
    });
    let mut whole = run(&sheets);
    whole.args(["--adjudicated", decided]);
    let said: serde_json::Value = serde_json::from_slice(&succeed(&mut whole).stdout).unwrap();
    assert_eq!(said["annotation"]["kept"], drawn.len() as u64 - 1, "{said}");
    let recorded = &said["annotation"]["sample"];
    for key in ["confidence", "margin", "stratify", "seed", "population", "size"] {
        assert_eq!(recorded[key], sample[key], "{key}");
    }
    let child = workspace.join("manifests/sample-verified/0.1.0");
    succeed(quarry(workspace).arg("emit").arg("--verify").arg(&child));
    let again: serde_json::Value = serde_json::from_slice(&succeed(&mut whole).stdout).unwrap();
    assert_eq!((&said["new"], &again["new"]), (&true.into(), &false.into()));

    let output = succeed(quarry(workspace).args(["diff", version, child.to_str().unwrap(), "--json"]));
    let differs: Diff = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((differs.same, differs.added.len()), (drawn.len() - 1, 0));
    assert_eq!(differs.dropped.len(), rows.len() - drawn.len() + 1);
    for id in &differs.dropped {
        let why = differs.why[id].as_str();
        if *id == drawn[1] {
            assert_eq!(why, "annotation: unclear-task");
        } else {
            assert!(why.starts_with("annotation-sample: it was not drawn"), "{why}");
        }
    }
    let output = run(&[
        "export",
        child.to_str().unwrap(),
        "--annotators",
        "cy",
        "--out",
        "more",
    ])
    .output()
    .unwrap();
    assert_eq!(
        output.status.code(),
        Some(3),
        "what was annotated is not annotated again"
    );

    // What is wrong with its name is mended by `--as`: the parent's own name, and one that is taken for other answers.
    let refused = |import: &mut Command, code: i32| {
        let output = import.output().unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        let hints = said["error"]["hints"].to_string();
        assert!(hints.contains("`--as NAME@VERSION`"), "{said}");
    };
    refused(run(&sheets).args(["--as", "sample@0.1.0"]), 3);
    fill(
        &workspace.join("sheets/ada.csv"),
        &|id, question| match question {
            "task-clarity" if id == drawn[1] => "3",
            "other-problem" => "no",
            _ => "0",
        },
    );
    refused(run(&sheets).args(["--adjudicated", decided]), 6);
}

/// Fills the cells of a sheet's questions, by instance and question.
fn fill(file: &Path, answer: &dyn Fn(&str, &str) -> &'static str) {
    let text = std::fs::read_to_string(file).unwrap();
    let is_filled = text.lines().next().is_some_and(|head| head.contains(';'));
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(if is_filled { b';' } else { b',' })
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::WriterBuilder::new().delimiter(b';').from_path(file).unwrap();
    for (place, record) in records.iter().enumerate() {
        let cells = record
            .iter()
            .zip(records[0].iter())
            .map(|(cell, head)| match head {
                "task-clarity" | "test-accuracy" | "other-problem" if place > 0 => answer(&record[0], head),
                _ => cell,
            });
        writer.write_record(cells).unwrap();
    }
    writer.flush().unwrap();
}
