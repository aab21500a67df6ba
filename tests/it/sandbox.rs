//! The rooms, by what a hostile or broken job can do in them. Every job here is small and bounded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quarry::sandbox::{End, Job, JobResult, Limits, Mount, OutputMode, Room, RoomKind, SYSTEM_PATH};
use tokio_util::sync::CancellationToken;

struct House {
    folder: tempfile::TempDir,
    room: Room,
}

impl House {
    fn new(kind: RoomKind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tree")).unwrap();
        let room = Room::detect(kind, &folder.path().join("scratch")).unwrap();
        Self { folder, room }
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn job(&self, script: &str) -> Job {
        let mounts = vec![Mount::writable(self.tree(), "/testbed")];
        let mut job = Job::new(["/bin/sh", "-c", script], self.room.path(&mounts, "/testbed"));
        job.mounts = mounts;
        job.env = BTreeMap::from([("PATH".to_owned(), SYSTEM_PATH.to_owned())]);
        job.limits = Limits {
            wall: Duration::from_secs(20),
            silence: None,
            ..Limits::default()
        };
        job
    }

    async fn run(&self, job: &Job) -> JobResult {
        self.room.run(job, &CancellationToken::new()).await.unwrap()
    }

    async fn sh(&self, script: &str) -> JobResult {
        self.run(&self.job(script)).await
    }
}

const BOTH: [RoomKind; 2] = [RoomKind::Process, RoomKind::None];

#[tokio::test]
async fn a_job_has_its_exit_code_output_input_and_environment() {
    for kind in BOTH {
        let house = House::new(kind);
        let mut job =
            house.job("read line; echo \"$line $NAME\"; echo err >&2; pwd > where; env | sort; exit 3");
        job.env.insert("NAME".to_owned(), "a b\n\"c\"".to_owned());
        job.stdin = b"hello\n".to_vec();
        job.output = OutputMode::Split;
        let result = house.run(&job).await;
        assert_eq!(result.end, End::Exited(3), "{kind:?}: {}", result.stderr.text());
        assert!(
            result.stdout.text().starts_with("hello a b\n\"c\"\n"),
            "{}",
            result.stdout.text()
        );
        assert_eq!(result.stderr.text(), "err\n");
        let mut names: Vec<&str> = result
            .stdout
            .text()
            .leak()
            .lines()
            .skip(2)
            .filter_map(|line| Some(line.split_once('=')?.0))
            .collect();
        names.sort_unstable();
        let known = [
            "HOME",
            "NAME",
            "PATH",
            "PWD",
            "QUARRY_JOB",
            "TMPDIR",
            "OLDPWD",
            "SHLVL",
            "_",
        ];
        assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
        let seen = std::fs::read_to_string(house.tree().join("where")).unwrap();
        assert_eq!(Path::new(seen.trim()), job.cwd);
    }
}

#[tokio::test]
async fn signals_are_told_apart_from_codes() {
    for kind in BOTH {
        let house = House::new(kind);
        assert_eq!(house.sh("kill -SEGV $$").await.end, End::Signaled(11), "{kind:?}");
        assert_eq!(house.sh("exit 1").await.end, End::Exited(1), "{kind:?}");
    }
}
