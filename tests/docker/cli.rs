//! The Docker room on the command line.

use std::path::Path;

use crate::program::sample_run;

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
