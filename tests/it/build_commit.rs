//! `quarry build OWNER/NAME@SHA`: the environment of one commit, as a run would find it, and its story afterwards.

use std::path::Path;

use quarry::sample::{FOLDER, REPOSITORY};
use serde_json::Value;

use crate::program::{quarry, succeed};

fn json(command: &mut std::process::Command) -> Value {
    serde_json::from_slice(&succeed(command).stdout).unwrap()
}

fn build(workspace: &Path, commit: &str) -> std::process::Command {
    let mut command = quarry(workspace);
    command
        .args(["build", &format!("{REPOSITORY}@{commit}"), "--json", "--mirror"])
        .arg(workspace.join(".quarry/mirrors").join(FOLDER));
    command
}

#[test]
fn a_commits_environment_is_found_built_tried_and_told_again() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path();
    succeed(quarry(workspace).args(["mine", "--sample"]));

    // A commit that no pull request is merged into.
    let told = json(&mut build(workspace, "refs/pull/20/head"));
    assert_eq!(told["candidate"], format!("{REPOSITORY}#0"));
    let chosen = &told["chosen"];
    let passed = chosen["trial"]["passed"].as_u64().unwrap();
    assert!(passed > 0, "{told}");
    let tried = told["search"]["found"]["tried"].as_array().unwrap();
    assert!(
        tried.iter().any(|step| step["trial"]["passed"] == passed),
        "{told}"
    );
    assert_eq!(chosen["environment"]["lock"].as_str().unwrap().len(), 64);
    for place in chosen["folders"].as_array().unwrap() {
        assert!(Path::new(place.as_str().unwrap()).is_dir(), "{place}");
    }
    let story = |id: &str| json(quarry(workspace).args(["explain", "--json", id]));
    let attempts = |story: &Value| story["attempts"].as_array().unwrap().len();
    let stranger = format!("{REPOSITORY}#0");
    let first = story(&stranger);
    let stages: Vec<&str> = (first["attempts"].as_array().unwrap().iter())
        .map(|attempt| attempt["stage"].as_str().unwrap())
        .collect();
    for stage in ["build", "trial", "detect"] {
        assert!(stages.contains(&stage), "{stages:?}");
    }
    let shared = &first["environments"][0]["shared"];
    assert_eq!(shared["search"], told["search"], "explain tells the same");
    let log = succeed(quarry(workspace).args(["log", &stranger]));
    assert!(!log.stdout.is_empty());

    // Again, nothing is built or run.
    assert_eq!(json(&mut build(workspace, "refs/pull/20/head")), told);
    assert_eq!(attempts(&story(&stranger)), attempts(&first));

    // The base of a pull request goes by that pull request's name: a run finds what was tried.
    let mined = story(&format!("{REPOSITORY}#20"));
    let base = mined["candidate"]["base_commit"].as_str().unwrap();
    let told = json(&mut build(workspace, base));
    let id = told["candidate"].as_str().unwrap();
    assert_ne!(id, stranger);
    let named = story(id);
    assert_eq!(named["candidate"]["base_commit"], base);
    assert!(attempts(&named) > 0);
}

#[test]
fn a_commit_that_cannot_be_built_is_not_sound() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path();
    succeed(quarry(workspace).args(["mine", "--sample"]));
    let recipe = workspace.join("strict.toml");
    let text = "[dataset]\nname = \"strict\"\nversion = \"0.1.0\"\n\n[[environment]]\nname = \"none\"\npython = \">=3.8\"\n\
                install = [\"quarry-bench-no-such-distribution==1\"]\nreason = \"a test\"\n";
    std::fs::write(&recipe, text).unwrap();
    let output = build(workspace, "refs/pull/20/head")
        .arg("--recipe")
        .arg(&recipe)
        .output();
    let output = output.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tried = told["search"]["nothing"]["tried"].as_array().unwrap();
    assert_eq!(
        tried.len(),
        1,
        "what a recipe says outright is not repaired: {told}"
    );
    assert_eq!(
        (&tried[0]["build"], &told["chosen"]),
        (&"resolve-failed".into(), &Value::Null)
    );

    let output = build(workspace, "0123456789").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "there is no such commit");
}
