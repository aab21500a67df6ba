//! Exports of a real version, each read by the program that it is made for (`scripts/readers`, installed by
//! `scripts/setup --tests`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use camino::Utf8Path;
use quarry::domain::ids::TestId;
use quarry::domain::outcome::TestStatus;
use quarry::domain::test_name;
use quarry::emit::instance::Instance;
use quarry::evaluate::result::{Class, Outcome};
use quarry::evaluate::run::write_logs;
use quarry::evaluate::{Report, swebench};
use serde_json::Value;

use crate::program::{QUARRY, quarry, root, sample_run, succeed};

/// One run of the sample and its version, for every test of this process.
struct Sample {
    temp: tempfile::TempDir,
    version: PathBuf,
    instances: Vec<Instance>,
}

fn sample() -> &'static Sample {
    static SAMPLE: OnceLock<Sample> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let temp = tempfile::tempdir().unwrap();
        succeed(&mut sample_run(temp.path()));
        let version = temp.path().join("manifests/sample/0.1.0");
        let rows = fs::read_to_string(version.join("instances.jsonl")).unwrap();
        let instances = rows
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        Sample {
            temp,
            version,
            instances,
        }
    })
}

fn export(format: &str, target: &Path) -> Value {
    let mut command = Command::new(QUARRY);
    command
        .args(["--json", "export"])
        .arg(&sample().version)
        .args(["--to", format])
        .arg(target);
    serde_json::from_slice(&succeed(&mut command).stdout).unwrap()
}

/// What a format's own program reads.
fn read(format: &str, arguments: &[&Path]) -> Value {
    let python = root().join("target/readers/bin/python");
    assert!(
        python.exists(),
        "the readers are not installed\nhint: run `scripts/setup --tests`, as `scripts/test` does"
    );
    let mut command = Command::new(python);
    command
        .arg(root().join("scripts/readers/read.py"))
        .arg(format)
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    serde_json::from_slice(&succeed(&mut command).stdout).unwrap()
}

#[test]
fn every_reader_accepts_its_export() {
    let temp = tempfile::tempdir().unwrap();
    let instances = &sample().instances;
    the_swebench_package_reads_and_grades(&temp.path().join("swebench"), instances);
    datasets_gives_the_rows_back(&temp.path().join("hf"));
    croissant_is_valid_and_its_records_are_the_rows(&temp.path().join("croissant"));
    harbor_reads_its_tasks(&temp.path().join("harbor"), instances);
    inspect_reads_its_samples(&temp.path().join("inspect"), instances);
    the_swebench_package_grades_runs_as_we_do(temp.path(), instances);

    // A bare name is a folder here.
    let mut bare = Command::new(QUARRY);
    bare.current_dir(temp.path()).arg("export").arg(&sample().version);
    succeed(bare.args(["--to", "inspect", "bare"]));
    assert!(temp.path().join("bare").is_dir());

    // The same once more is no fault; another format in its place is.
    let again = export("inspect", &temp.path().join("inspect"));
    assert_eq!(again["new"], false);
    let mut other = Command::new(QUARRY);
    other
        .arg("export")
        .arg(&sample().version)
        .args(["--to", "hf"])
        .arg(temp.path().join("inspect"));
    let refused = other.output().unwrap();
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("does not exist yet"));
}

/// Those that the format holds.
fn held<'rows>(instances: &'rows [Instance], told: &Value) -> Vec<&'rows Instance> {
    let left_out = told["left_out"].as_object().unwrap();
    let held = instances
        .iter()
        .filter(|instance| !left_out.contains_key(&instance.instance_id.to_string()));
    held.collect()
}

fn the_swebench_package_reads_and_grades(target: &Path, instances: &[Instance]) {
    let told = export("swebench", target);
    let held = held(instances, &told);
    // One patch of the sample is not UTF-8.
    assert_eq!(held.len() + 1, instances.len(), "{told}");
    let seen = read("swebench", &[target]);
    assert_eq!(seen["problems"], serde_json::json!([]), "{seen}");
    assert_eq!(seen["published"], held.len());
    assert_eq!(seen["dockerfiles"], held.len());
    for (instance, row) in held.iter().zip(seen["instances"].as_array().unwrap()) {
        assert_eq!(row["id"], instance.instance_id.to_string());
        assert_eq!(
            row["fail_to_pass"],
            serde_json::json!(test_name::words(&instance.fail_to_pass))
        );
        assert_eq!(
            row["pass_to_pass"],
            serde_json::json!(test_name::words(&instance.pass_to_pass))
        );
        assert_eq!(
            (&row["parser"], &row["task_agrees"]),
            (&true.into(), &true.into())
        );
    }

    // The package grades logs of ours: gold resolves all, the base none, and one failure undoes an instance.
    let logs = target.with_extension("logs");
    let statuses =
        |instance: &Instance, fail: TestStatus, pass: TestStatus| -> BTreeMap<TestId, TestStatus> {
            let fails = instance.fail_to_pass.iter().map(|test| (test.clone(), fail));
            let passes = instance.pass_to_pass.iter().map(|test| (test.clone(), pass));
            fails.chain(passes).collect()
        };
    let put = |model: &str, instance: &Instance, outcomes: &BTreeMap<TestId, TestStatus>| {
        let folder = logs.join(model);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{}.log", instance.instance_id));
        fs::write(file, test_name::log(outcomes)).unwrap();
    };
    for instance in &held {
        put(
            "gold",
            instance,
            &statuses(instance, TestStatus::Passed, TestStatus::Passed),
        );
        put(
            "null",
            instance,
            &statuses(instance, TestStatus::Failed, TestStatus::Passed),
        );
        put(
            "marked",
            instance,
            &statuses(instance, TestStatus::Xfailed, TestStatus::Passed),
        );
        let mut absent = statuses(instance, TestStatus::Passed, TestStatus::Passed);
        absent.insert(instance.fail_to_pass[0].clone(), TestStatus::Absent);
        put("absent", instance, &absent);
    }
    let graded = read("grade", &[target, &logs]);
    for (model, resolved) in [
        ("gold", true),
        ("null", false),
        ("marked", false),
        ("absent", false),
    ] {
        let verdicts = graded[model].as_object().unwrap();
        assert_eq!(verdicts.len(), held.len());
        for (instance, verdict) in verdicts {
            assert_eq!(verdict, resolved, "{model} {instance}");
        }
    }
}

/// Evaluations of gold, of the empty patch and of a mixed lot, for real: the package grades each instance as we do.
fn the_swebench_package_grades_runs_as_we_do(temp: &Path, instances: &[Instance]) {
    let logs = temp.join("run-logs");
    let mixed = temp.join("mixed.jsonl");
    fs::write(&mixed, mixed_predictions(instances)).unwrap();
    let mut reports = BTreeMap::new();
    for (model, what) in [
        ("gold", vec!["--gold"]),
        ("null", vec!["--null"]),
        ("mixed", vec!["--predictions", mixed.to_str().unwrap()]),
    ] {
        let mut command = quarry(sample().temp.path());
        command
            .args(["--json", "evaluate"])
            .arg(&sample().version)
            .args(what);
        command
            .arg("--out")
            .arg(temp.join(model))
            .arg("--swebench-logs")
            .arg(&logs);
        let report: Report = serde_json::from_slice(&succeed(&mut command).stdout).unwrap();
        reports.insert(model, report);
    }
    // And one run in which a test that must still pass was skipped.
    let mut skipped = reports["gold"].outcomes[0].clone();
    let row = instances
        .iter()
        .find(|row| row.instance_id == skipped.instance_id)
        .unwrap();
    skipped.class = Class::Unresolved;
    skipped
        .not_passed
        .insert(row.pass_to_pass[0].clone(), TestStatus::Skipped);
    let judged = swebench::Judged {
        outcome: &skipped,
        patch: Some(b"a patch"),
        fail_to_pass: &row.fail_to_pass,
        pass_to_pass: &row.pass_to_pass,
    };
    let made = swebench::logs("skipping", "skipping", [judged]);
    assert_eq!(made.differing, [skipped.instance_id.clone()]);
    write_logs(Utf8Path::from_path(&logs).unwrap(), &made).unwrap();

    let graded = read("grade_run", &[&temp.join("swebench"), &logs]);
    let classes: std::collections::BTreeSet<&str> = reports["mixed"]
        .outcomes
        .iter()
        .map(|one| one.class.name())
        .collect();
    assert_eq!(
        Vec::from_iter(classes),
        ["empty", "missing", "not_applied", "resolved", "unresolved"]
    );
    for (model, report) in &reports {
        let told = &graded[*model];
        assert_eq!(told["theirs"], told["ours"], "{model}");
        let held = |outcome: &&Outcome| {
            let row = instances
                .iter()
                .find(|row| row.instance_id == outcome.instance_id)
                .unwrap();
            // The package reads text.
            row.base64_fields.is_empty()
        };
        let resolved: Vec<_> = report
            .outcomes
            .iter()
            .filter(held)
            .filter(|outcome| outcome.class == Class::Resolved)
            .map(|outcome| outcome.instance_id.to_string())
            .collect();
        assert_eq!(
            told["summary"]["resolved_ids"],
            serde_json::json!(resolved),
            "{model}"
        );
        assert_eq!(resolved.is_empty(), *model == "null");
    }
    let id = skipped.instance_id.to_string();
    assert_eq!(graded["skipping"]["theirs"][&id]["resolved"], true);
    assert_eq!(graded["skipping"]["ours"][&id]["resolved"], false);
}

/// Gold for some; for others a patch that leaves the fault, one that does not apply, an empty one, and none.
fn mixed_predictions(instances: &[Instance]) -> String {
    let mut lines = String::new();
    for (index, row) in instances.iter().enumerate() {
        let patch = match index % 5 {
            0 => row.patch.clone(),
            1 => "diff --git a/NOTES b/NOTES\nnew file mode 100644\n--- /dev/null\n+++ b/NOTES\n@@ -0,0 +1 @@\n+PASSED\n".to_owned(),
            2 => "diff --git a/none.py b/none.py\n--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            3 => String::new(),
            _ => continue,
        };
        let line = serde_json::json!({"instance_id": row.instance_id, "model_patch": patch, "model_name_or_path": "mixed"});
        lines += &(line.to_string() + "\n");
    }
    lines
}

/// The rows as they stand in the version's file.
fn rows() -> Vec<Value> {
    let text = fs::read_to_string(sample().version.join("instances.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A table has every column in every row: what a row lacks is null there.
fn without_nulls(mut row: Value) -> Value {
    row.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    row
}

/// Whether two values are the same, apart from the last digit of a number: the reader's own parser is not exact there.
fn is_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            (one.as_f64().unwrap() - other.as_f64().unwrap()).abs() < 1e-12
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| is_alike(one, other)))
        }
        _ => one == other,
    }
}

fn datasets_gives_the_rows_back(target: &Path) {
    export("hf", target);
    let seen = read("hf", &[target]);
    let given = seen["rows"].as_array().unwrap();
    assert_eq!(given.len(), rows().len());
    for (given, row) in given.iter().zip(rows()) {
        let (given, row) = (without_nulls(given.clone()), without_nulls(row));
        assert!(is_alike(&given, &row), "{given}\n{row}");
    }
    assert_eq!(seen["types"]["FAIL_TO_PASS"], "List(Value('string'))");
    assert_eq!(seen["types"]["pull_number"], "Value('int64')");
    let card = fs::read_to_string(target.join("README.md")).unwrap();
    assert!(card.contains("| quarry-bench/pantry |"), "{card}");
}

fn croissant_is_valid_and_its_records_are_the_rows(target: &Path) {
    export("croissant", target);
    let seen = read("croissant", &[target]);
    assert_eq!(seen["errors"], serde_json::json!([]));
    let records = seen["records"].as_array().unwrap();
    assert_eq!(records.len(), rows().len());
    for (record, row) in records.iter().zip(rows()) {
        for column in [
            "instance_id",
            "patch",
            "version",
            "pull_number",
            "FAIL_TO_PASS",
            "created_at",
        ] {
            assert_eq!(record[column], row[column], "{column}");
        }
    }
}

fn harbor_reads_its_tasks(target: &Path, instances: &[Instance]) {
    let told = export("harbor", target);
    let seen = read("harbor", &[target]);
    let tasks = seen.as_array().unwrap();
    assert_eq!(tasks.len(), held(instances, &told).len());
    for task in tasks {
        assert_eq!(task["findings"], serde_json::json!([]), "{task}");
        assert!(task["instruction"].as_str().unwrap().contains("/testbed"));
    }
}

fn inspect_reads_its_samples(target: &Path, instances: &[Instance]) {
    let told = export("inspect", target);
    let seen = read("inspect", &[target]);
    let held = held(instances, &told);
    for (instance, sample) in held.iter().zip(seen.as_array().unwrap()) {
        assert_eq!(sample["id"], instance.instance_id.to_string());
        assert_eq!(sample["target"], instance.patch);
        assert_eq!(sample["input"], instance.problem_statement.clone().unwrap());
        assert_eq!(
            sample["metadata"]["FAIL_TO_PASS"],
            serde_json::json!(test_name::words(&instance.fail_to_pass))
        );
    }
    assert_eq!(seen.as_array().unwrap().len(), held.len());
}
