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
    let sha = told["commit"].as_str().unwrap().to_owned();
    assert_eq!(told["candidate"], format!("{REPOSITORY}@{sha}"));
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
    // By the beginning of its name, and whatever the letters of the repository's.
    let stranger = format!("{}@{}", REPOSITORY.to_ascii_uppercase(), &sha[..8]);
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

    // Another commit has another story.
    let other = json(&mut build(workspace, "refs/pull/18/head"));
    let id = other["candidate"].as_str().unwrap();
    assert_ne!(id, told["candidate"], "{other}");
    assert_eq!(attempts(&story(&stranger)), attempts(&first));
    assert!(attempts(&story(id)) > 0);
    let own_log = succeed(quarry(workspace).args(["log", id]));
    assert_ne!(own_log.stdout, log.stdout);
    let status = json(quarry(workspace).args(["status", "--json"]));
    assert_eq!(status["environments"]["commits"].as_array().unwrap().len(), 2);

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

#[test]
fn what_is_wrong_leaves_no_workspace_and_what_is_unknown_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mined = folder.path().join("mined");
    succeed(quarry(&mined).args(["mine", "--sample"]));
    let mirror = mined.join(".quarry/mirrors").join(FOLDER);
    let fresh = folder.path().join("fresh");
    std::fs::create_dir(&fresh).unwrap();
    let build = |target: &str, mirror: &Path, more: &[&str]| {
        let mut command = quarry(&fresh);
        command.args(["build", target, "--mirror"]).arg(mirror).args(more);
        let told = command.output().unwrap();
        let said = String::from_utf8(told.stderr).unwrap();
        (
            told.status.code().unwrap(),
            String::from_utf8(told.stdout).unwrap() + &said,
        )
    };
    let known = format!("{REPOSITORY}@refs/pull/20/head");
    for (target, mirror, more) in [
        (format!("{REPOSITORY}@0123456789"), mirror.as_path(), &[][..]),
        (known.clone(), folder.path(), &[]),
        (
            known.clone(),
            &mirror,
            &["--room", "docker", "--base-image", "sha256:00"],
        ),
    ] {
        let (code, said) = build(&target, mirror, more);
        assert!(code > 1, "{said}");
        assert!(!fresh.join(".quarry").exists(), "{target} {more:?}: {said}");
    }
    let (_, said) = build("a/other@refs/pull/20/head", &mirror, &["--explain"]);
    assert!(said.contains("and not of a/other"), "{said}");

    let asked = |args: &[&str]| {
        let told = quarry(&mined).args(args).output().unwrap();
        assert_eq!(told.status.code(), Some(3), "{args:?}");
        String::from_utf8(told.stderr).unwrap()
    };
    let said = asked(&["log", &format!("{REPOSITORY}#999")]);
    assert!(said.contains("no head of this number was mined"), "{said}");
    let said = asked(&["log", &format!("{REPOSITORY}#20")]);
    assert!(said.contains("nothing was tried for it"), "{said}");
    let said = asked(&["explain", &format!("{REPOSITORY}@00000000")]);
    assert!(said.contains("hint: `quarry build"), "{said}");
}
