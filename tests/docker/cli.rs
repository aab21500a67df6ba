//! The Docker room on the command line.

use std::path::Path;

use crate::program::{quarry, sample_run, succeed};

fn refused(change: impl FnOnce(&mut std::process::Command)) -> (Option<i32>, String) {
    let workspace = tempfile::tempdir().unwrap();
    let mut command = sample_run(workspace.path());
    command.args(["--room", "docker"]);
    change(&mut command);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_image_is_named_by_its_digest() {
    let (code, said) = refused(|command| {
        command.args(["--base-image", "quarry/skeleton:none"]);
    });
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("it has no digest") && said.contains("docker pull quarry/skeleton:none"),
        "{said}"
    );

    let missing = format!("sha256:{}", "1".repeat(64));
    let (code, said) = refused(|command| {
        command.args(["--base-image", &missing]);
    });
    assert_eq!(code, Some(5), "{said}");
    assert!(
        said.contains(&missing) && said.contains("scripts/base-image"),
        "{said}"
    );
}

#[test]
fn a_daemon_that_is_not_there_or_not_here_is_said_so() {
    let (code, said) = refused(|command| {
        command.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
    });
    assert_eq!(code, Some(5), "{said}");
    assert!(
        said.contains("/nowhere/docker.sock") && said.contains("--room process"),
        "{said}"
    );
    assert!(!Path::new("/nowhere").exists());

    let (code, said) = refused(|command| {
        command.env("DOCKER_HOST", "tcp://192.0.2.1:2375");
    });
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("on another machine"), "{said}");
}

#[test]
fn what_can_be_made_again_is_removed_when_asked() {
    let workspace = tempfile::tempdir().unwrap();
    let layer = workspace.path().join(".quarry/envs/deps/0123");
    std::fs::create_dir_all(&layer).unwrap();
    std::fs::write(layer.join("module.py"), "x = 1\n").unwrap();
    let gc = |args: &[&str]| -> serde_json::Value {
        let output = succeed(quarry(workspace.path()).args(["gc", "--json"]).args(args));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(gc(&[])["layers"].as_array().unwrap().len(), 0, "it was just used");
    let told = gc(&["--unused-for", "0", "--dry-run"]);
    assert_eq!(
        (&told["layers"][0], &told["bytes"]),
        (&"deps/0123".into(), &6.into())
    );
    assert!(told["daemon"]["containers"].is_u64(), "{told}");
    assert!(layer.exists());
    gc(&["--unused-for", "0"]);
    assert!(!layer.exists());
}

#[test]
fn a_missing_image_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let version = folder.path().join("manifests/sample/0.1.0");
    std::fs::create_dir_all(&version).unwrap();
    let check = |text: &str| {
        let manifest = serde_json::json!({
            "schema_version": 1,
            "dataset": {"name": "sample", "version": "0.1.0", "description": ""},
            "tool": {"name": "quarry", "version": "0"},
            "recipe": {"sha256": "", "text": text},
            "sources": [],
            "window": {"merged_since": null, "merged_before": null},
            "counts": {
                "pull_requests": 0, "candidates": 0, "instances": 0, "infra": 0, "log_entries": 0, "not_mined": []
            },
            "funnel": [],
            "failures": [],
            "environments": [],
        });
        std::fs::write(version.join("manifest.json"), manifest.to_string()).unwrap();
        let mut command = quarry(folder.path());
        let output = command.args(["images", "check"]).arg(&version).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    let plain = "[dataset]\nname = \"sample\"\nversion = \"0.1.0\"\n";
    let (code, said) = check(plain);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("present  skeleton"), "{said}");
    let image = format!("sha256:{}", "1".repeat(64));
    let (code, said) = check(&format!("{plain}[room]\nbase_image = \"{image}\"\n"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.starts_with(&format!("missing  {image}")), "{said}");
}
