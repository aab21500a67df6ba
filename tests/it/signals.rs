//! What asks a run to stop, and what becomes of its work.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{QUARRY, quarry, sample_run, succeed, tree};

/// The first Ctrl-C lets running work finish; the same command again goes on to the same bytes.
#[test]
fn an_interrupted_run_drains_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    succeed(&mut sample_run(&whole));
    drains(&broken, Signal::INT);
    succeed(&mut sample_run(&broken));
    assert!(tree(&broken.join("manifests")) == tree(&whole.join("manifests")));
}

/// So does a terminal that is closed.
#[test]
fn a_run_that_is_hung_up_drains() {
    let folder = tempfile::tempdir().unwrap();
    drains(folder.path(), Signal::HUP);
}

fn drains(workspace: &Path, signal: Signal) {
    let ended = signalled(&mut sample_run(workspace), workspace, signal);
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(told, serde_json::json!({ "interrupted": true }));
    assert!(
        !workspace.join("manifests/sample").exists(),
        "nothing is emitted by half a run"
    );
}

/// Who is started by `nohup` goes on when the terminal is closed.
#[test]
fn a_run_that_ignores_hang_ups_is_not_stopped_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("nohup");
    command.arg(QUARRY).args(
        sample_run(folder.path())
            .get_args()
            .map(OsStr::to_owned)
            .collect::<Vec<_>>(),
    );
    let ended = signalled(&mut command, folder.path(), Signal::HUP);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

/// Starts a run, signals it in the middle of its work (some attempt is recorded, and not all), and waits for its end.
fn signalled(command: &mut Command, workspace: &Path, signal: Signal) -> Output {
    let child = command
        .arg("--json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ledger = workspace.join(".quarry/ledger.db");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(1) && !has_attempts(workspace, &ledger) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = Pid::from_child(&child);
    kill_process(pid, signal).unwrap();
    child.wait_with_output().unwrap()
}

fn has_attempts(workspace: &Path, ledger: &Path) -> bool {
    if !ledger.exists() {
        return false;
    }
    let told = quarry(workspace).args(["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&told.stdout).unwrap_or_default();
    status["attempts"]["verify"]["done"].as_u64().unwrap_or(0) > 0
}
