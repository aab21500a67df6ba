//! A Python with a runner in a closed room, and what its channel told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use quarry::build::SearchPaths;
use quarry::build::python::Interpreter;
use quarry::domain::outcome::TestStatus;
use quarry::harness::{Channel, Ended, Fault, command, judge, read};
use quarry::recipe::model::Runner;
use quarry::sandbox::{End, Job, JobResult, Limits, Mount, Room, RoomKind, SYSTEM_PATH};
use tokio_util::sync::CancellationToken;

const SECRET: &[u8] = b"a secret of this test";

fn search_paths() -> SearchPaths {
    SearchPaths::of(&std::env::vars().collect())
}

/// The interpreters here, one for each minor version.
pub(super) fn interpreters() -> BTreeMap<String, Interpreter> {
    let mut found = BTreeMap::new();
    for python in search_paths().interpreters() {
        found.entry(python.version.short()).or_insert(python);
    }
    assert!(
        !found.is_empty(),
        "tests need a Python 3 in `PYENV_ROOT` or on `PATH`"
    );
    found
}

fn projects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/runner")
}

/// A Python with a runner, and the room.
pub(super) struct Bench {
    folder: tempfile::TempDir,
    room: Room,
    python: PathBuf,
    mounts: Vec<Mount>,
}

impl Bench {
    pub(super) fn new(interpreter: &Interpreter, packages: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::detect(RoomKind::Process, &folder.path().join("room")).unwrap();
        let environment = folder.path().join("env");
        let uv = search_paths().uv().unwrap();
        let run = |args: &[&str]| {
            let output = Command::new(&uv)
                .args(args)
                .env("UV_PYTHON_DOWNLOADS", "never")
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{args:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        };
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        run(&[
            "venv",
            "--python",
            &text(&interpreter.executable),
            &text(&environment),
        ]);
        let python = environment.join("bin/python");
        if !packages.is_empty() {
            let mut args = vec!["pip", "install", "--python"];
            let python = text(&python);
            args.push(&python);
            args.extend(packages);
            run(&args);
        }
        let runner = folder.path().join("runner");
        std::fs::create_dir(&runner).unwrap();
        for (name, text) in quarry::harness::FILES {
            std::fs::write(runner.join(name), text).unwrap();
        }
        let prefix = interpreter.executable.parent().unwrap().parent().unwrap();
        let mut mounts = vec![
            Mount::read_only(&environment, &environment),
            Mount::read_only(runner, "/quarry/runner"),
        ];
        if !prefix.starts_with("/usr") {
            mounts.push(Mount::read_only(prefix, prefix));
        }
        Self {
            folder,
            room,
            python,
            mounts,
        }
    }

    /// Runs the tests of a copy of one project.
    pub(super) async fn run(
        &self,
        project: &str,
        runner: Runner,
        args: &[&str],
        change: impl Fn(&mut Job),
    ) -> (JobResult, Channel) {
        let place = tempfile::tempdir_in(self.folder.path()).unwrap();
        let (tree, channel) = (place.path().join("tree"), place.path().join("channel"));
        let copied = Command::new("cp")
            .arg("-r")
            .arg(projects().join(project))
            .arg(&tree)
            .status()
            .unwrap();
        assert!(copied.success());
        std::fs::write(&channel, "").unwrap();
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let python = self.python.to_str().unwrap();
        let mut job = Job::new(
            command(python, "/quarry/runner", "/quarry/channel", runner, &args),
            "/testbed",
        );
        job.mounts.clone_from(&self.mounts);
        job.mounts.push(Mount::writable(&tree, "/testbed"));
        job.mounts.push(Mount::writable(&channel, "/quarry/channel"));
        let env = [
            ("PATH", SYSTEM_PATH),
            ("LANG", "C.UTF-8"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ];
        job.env = env
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let hex: Vec<String> = SECRET.iter().map(|byte| format!("{byte:02x}")).collect();
        job.stdin = format!("{}\n", hex.concat()).into_bytes();
        job.channel = Some(channel);
        job.limits = Limits {
            wall: Duration::from_mins(2),
            ..Limits::default()
        };
        change(&mut job);
        let result = self.room.run(&job, &CancellationToken::new()).await.unwrap();
        let told = read(&result.channel, SECRET);
        (result, told)
    }

    pub(super) async fn pytest(&self, project: &str, more: &[&str]) -> (JobResult, Channel) {
        let args = [
            "-p",
            "no:cacheprovider",
            "-o",
            "addopts=",
            "--continue-on-collection-errors",
        ];
        self.run(project, Runner::Pytest, &[&args[..], more].concat(), |_| {})
            .await
    }
}

pub(super) fn verdict(result: &JobResult, told: &Channel) -> Result<(), Fault> {
    let ended = match result.end {
        End::Exited(code) => Ended::Exited(code),
        End::Signaled(signal) => Ended::Signaled(signal),
        End::WallClock => Ended::TimeOut,
        other => panic!("{other:?}: {}", result.stdout.text()),
    };
    judge(ended, told)
}

pub(super) fn reason(result: &JobResult, told: &Channel) -> (&'static str, String) {
    verdict(result, told).map_or_else(|fault| (fault.reason, fault.detail), |()| ("ok", String::new()))
}

/// A test of these projects says in its name how it ends.
pub(super) fn promised(id: &str) -> TestStatus {
    let name = id.split('[').next().unwrap();
    match name.rsplit(['_', '.']).next().unwrap() {
        "passes" | "pass" => TestStatus::Passed,
        "fails" => TestStatus::Failed,
        "errors" => TestStatus::Errored,
        "skips" => TestStatus::Skipped,
        "xfails" => TestStatus::Xfailed,
        "xpasses" => TestStatus::Xpassed,
        other => panic!("`{id}` promises `{other}`"),
    }
}

pub(super) fn check_promises(which: &str, told: &Channel, count: usize) {
    let wrong: Vec<_> = told
        .outcome
        .tests
        .iter()
        .filter(|(id, status)| promised(id.as_str()) != **status)
        .collect();
    assert!(wrong.is_empty(), "{which}: {wrong:#?}");
    assert_eq!(
        told.outcome.tests.len(),
        count,
        "{which}: {:#?}",
        told.outcome.tests.keys()
    );
}
