//! The same recipe in the process room and in the Docker room is the same dataset, whatever happens on the way.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::daemon::OwnDaemon;
use crate::program::{quarry, recipe, succeed, tree};

fn run(workspace: &Path, recipe: &Path, daemon: Option<&OwnDaemon>) -> Command {
    let mut command = quarry(workspace);
    command.arg("run").arg(recipe).arg("--sample");
    if let Some(daemon) = daemon {
        command
            .args(["--room", "docker"])
            .env("DOCKER_HOST", daemon.host());
    }
    command
}

fn start(command: &mut Command, log: &Path) -> Child {
    let said = std::fs::File::create(log).unwrap();
    command.stdout(Stdio::null()).stderr(said).spawn().unwrap()
}

/// Waits for a container that runs `what`.
fn container_runs(daemon: &OwnDaemon, child: &mut Child, what: &str) {
    let begun = Instant::now();
    loop {
        let answer = daemon.ask("/containers/json").unwrap_or_default();
        if answer.contains(what) {
            return;
        }
        let ended = child.try_wait().unwrap();
        assert_eq!(ended, None, "it ended before it was killed");
        assert!(
            begun.elapsed() < Duration::from_secs(400),
            "no container runs `{what}`"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn two_killed_quarries_and_a_killed_daemon_end_in_the_process_rooms_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // The test's own daemon routes nothing.
    let text = std::fs::read_to_string(recipe("sample.toml")).unwrap();
    let sample = at("sample.toml");
    std::fs::write(&sample, format!("{text}\n[room]\nnetwork = \"host\"\n")).unwrap();

    let (process, docker) = (at("process"), at("docker"));
    let mut daemon = OwnDaemon::start();
    let mut other = start(&mut run(&process, &sample, None), &at("process.err"));

    // In the middle of a build, then in the middle of a test run.
    for what in ["/quarry/uv", "/quarry/runner"] {
        let mut child = start(&mut run(&docker, &sample, Some(&daemon)), &at("docker.err"));
        container_runs(&daemon, &mut child, what);
        child.kill().unwrap();
        child.wait().unwrap();
        let begun = Instant::now();
        while !daemon.containers(false).is_empty() {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "a container outlived its Quarry"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    let mut child = start(&mut run(&docker, &sample, Some(&daemon)), &at("docker.err"));
    container_runs(&daemon, &mut child, "/quarry/runner");
    daemon.kill();
    let status = child.wait().unwrap();
    let said = std::fs::read_to_string(at("docker.err")).unwrap();
    assert_eq!(status.code(), Some(5), "{said}");
    assert!(said.contains("daemon-gone"), "{said}");
    assert!(!docker.join("manifests/sample").exists(), "nothing is emitted");

    daemon.restart();
    succeed(&mut run(&docker, &sample, Some(&daemon)));
    assert_eq!(daemon.containers(true), [""; 0], "what was left is removed");

    let status = other.wait().unwrap();
    let said = std::fs::read_to_string(at("process.err")).unwrap();
    assert!(status.success(), "{said}");
    let (found, expected) = (tree(&docker.join("manifests")), tree(&process.join("manifests")));
    assert!(expected.keys().any(|name| name.ends_with("manifest.json")));
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>()
    );
    for (name, bytes) in &found {
        assert!(*bytes == expected[name], "{name} differs between the rooms");
    }
}
