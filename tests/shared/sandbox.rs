//! The rooms, by what a hostile or broken job can do in them. Every job here is small and bounded.
//!
//! Each harness has this file as its module `sandbox`, and says in `ROOMS` which rooms it is about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quarry::sandbox::{
    DockerSettings, End, Job, JobResult, Limits, Mount, OutputMode, Room, RoomKind, SYSTEM_PATH,
};
use tokio_util::sync::CancellationToken;

use crate::{CLOSED, ROOMS};

pub(crate) struct House {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) room: Room,
}

impl House {
    pub(crate) fn new(kind: RoomKind) -> Self {
        Self::open(kind, &DockerSettings::default())
    }

    pub(crate) fn open(kind: RoomKind, docker: &DockerSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tree")).unwrap();
        let room = Room::open(kind, docker, &folder.path().join("scratch"))
            .unwrap_or_else(|error| panic!("failed to {error}\nhints: {:?}", error.hints()));
        Self { folder, room }
    }

    /// Every room, and each way of counting.
    fn each() -> Vec<(String, Self)> {
        let mut houses = Vec::new();
        for kind in ROOMS {
            houses.push((format!("{kind:?}"), Self::new(kind)));
            if kind == RoomKind::Docker {
                // Its daemon counts.
                continue;
            }
            let mut house = Self::new(kind);
            house.room = house.room.polling();
            houses.push((format!("{kind:?}, polling"), house));
        }
        houses
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    pub(crate) fn job(&self, script: &str) -> Job {
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

    pub(crate) async fn run(&self, job: &Job) -> JobResult {
        self.room.run(job, &CancellationToken::new()).await.unwrap()
    }

    pub(crate) async fn sh(&self, script: &str) -> JobResult {
        self.run(&self.job(script)).await
    }
}

#[tokio::test]
async fn a_job_has_its_exit_code_output_input_and_environment() {
    for kind in ROOMS {
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
async fn a_temporary_folder_has_room_for_a_sockets_address() {
    for kind in ROOMS {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a-deep-workspace".repeat(6));
        let room = Room::open(kind, &DockerSettings::default(), &deep).unwrap();
        let mut job = Job::new(
            [
                "/bin/sh",
                "-c",
                "echo \"${TMPDIR:-/tmp}\"; touch \"${TMPDIR:-/tmp}/x\"",
            ],
            "/",
        );
        job.env = BTreeMap::from([("PATH".to_owned(), SYSTEM_PATH.to_owned())]);
        let result = room.run(&job, &CancellationToken::new()).await.unwrap();
        assert_eq!(result.end, End::Exited(0), "{kind:?}");
        let told = result.stdout.text();
        assert!(told.trim().len() <= 64, "{kind:?}: {told}");
        assert!(
            told.trim() == "/tmp" || !Path::new(told.trim()).exists(),
            "{kind:?}: {told}"
        );
    }
}

#[tokio::test]
async fn signals_are_told_apart_from_codes() {
    for kind in ROOMS {
        let house = House::new(kind);
        assert_eq!(house.sh("kill -SEGV $$").await.end, End::Signaled(11), "{kind:?}");
        assert_eq!(house.sh("exit 1").await.end, End::Exited(1), "{kind:?}");
    }
}

#[tokio::test]
async fn every_limit_stops_a_job_and_is_named() {
    for (which, house) in House::each() {
        let mut hang = house.job("echo a; sleep 100");
        hang.limits.wall = Duration::from_millis(300);
        let result = house.run(&hang).await;
        assert_eq!(
            (result.end, result.stdout.text().as_str()),
            (End::WallClock, "a\n"),
            "{which}"
        );

        hang.limits = Limits {
            silence: Some(Duration::from_millis(300)),
            ..Limits::default()
        };
        assert_eq!(house.run(&hang).await.end, End::Silence, "{which}");

        let mut endless = house.job("yes");
        endless.limits.output_bytes = 4 << 20;
        let result = house.run(&endless).await;
        assert_eq!(result.end, End::OutputLimit, "{which}");
        assert!(
            result.stdout.bytes().len() < 3 << 20,
            "{which}: what is kept is capped"
        );

        let mut hog = house.job("head -c 400000000 /dev/zero | tail -n 1 | tail -n 1 | wc -c; sleep 5");
        hog.limits.memory_bytes = 100 << 20;
        assert_eq!(house.run(&hog).await.end, End::MemoryLimit, "{which}");

        let mut bomb = house.job("for i in $(seq 200); do sleep 100 & done; wait");
        bomb.limits.processes = 40;
        let result = house.run(&bomb).await;
        assert_eq!(result.end, End::ProcessLimit, "{which}: {}", result.stdout.text());
    }
}

#[tokio::test]
async fn a_growing_channel_is_a_sign_of_life() {
    let houses = House::each();
    let tries = houses.iter().map(async |(which, house)| {
        let channel = house.folder.path().join("channel");
        std::fs::write(&channel, "").unwrap();
        let mut job = house.job("for i in $(seq 12); do echo $i >> \"$CHANNEL\"; sleep 0.25; done");
        job.mounts.push(Mount::writable(&channel, "/quarry/channel"));
        let seen = house.room.path(&job.mounts, "/quarry/channel");
        job.env.insert("CHANNEL".to_owned(), seen.display().to_string());
        job.limits.silence = Some(Duration::from_secs(2));
        job.channel = Some(channel);
        let result = house.run(&job).await;
        assert_eq!(result.end, End::Exited(0), "{which}: {}", result.stdout.text());
        assert_eq!(
            result.channel, b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
            "{which}"
        );
    });
    futures::future::join_all(tries).await;
}

/// Whether a `sleep` of this many seconds runs.
pub(crate) fn runs(seconds: &str) -> bool {
    let line = format!("sleep\0{seconds}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|found| found == line.as_bytes())
}

/// A length of sleep that no other process on this machine has.
pub(crate) fn unlikely_seconds(house: &House) -> String {
    let digest = quarry::domain::hash::sha256_hex(house.folder.path().as_os_str().as_encoded_bytes());
    let digits: String = digest
        .bytes()
        .map(|byte| char::from(b'0' + byte % 10))
        .take(12)
        .collect();
    format!("600.{digits}")
}

#[tokio::test]
async fn daemons_do_not_outlive_their_job() {
    for (which, house) in House::each() {
        let seconds = unlikely_seconds(&house);
        let result = house
            .sh(&format!(
                "(setsid sleep {seconds} &) ; (setsid sleep {seconds} >/dev/null 2>&1 &) ; echo done"
            ))
            .await;
        assert_eq!(
            (result.end, result.stdout.text().as_str()),
            (End::Exited(0), "done\n"),
            "{which}"
        );
        assert!(!runs(&seconds), "{which}: a daemon lives");
        assert!(
            result.wall < Duration::from_secs(15),
            "{which}: the daemon's pipe was waited for"
        );
    }
}

#[tokio::test]
async fn a_cancelled_job_is_gone() {
    for (which, house) in House::each() {
        let seconds = unlikely_seconds(&house);
        let cancel = CancellationToken::new();
        let job = house.job(&format!("touch begun; sleep {seconds}"));
        let begun = house.tree().join("begun");
        let canceller = async {
            while !begun.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(house.room.run(&job, &cancel), canceller);
        assert_eq!(result.unwrap().end, End::Cancelled, "{which}");
        assert!(!runs(&seconds), "{which}");
        assert_eq!(
            house.room.run(&job, &cancel).await.unwrap().end,
            End::Cancelled,
            "{which}: before it begins"
        );
    }
}

/// This test has two roles: itself, and (when it starts itself again with a folder in `VICTIM`) a program that is
/// killed in the middle of a job.
#[test]
#[expect(clippy::disallowed_methods, reason = "how the test tells its two roles apart")]
fn jobs_die_with_a_killed_quarry() {
    const VICTIM: &str = "QUARRY_TEST_VICTIM";
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    if let Some(which) = std::env::var_os(VICTIM) {
        let kind = ROOMS.into_iter().find(|kind| which == kind.name()).unwrap();
        let script = "(setsid sleep $SECONDS_TO_SLEEP &); sleep $SECONDS_TO_SLEEP & sleep 100";
        let house = House::new(kind);
        let mut job = house.job(script);
        let seconds = std::env::var("SECONDS_TO_SLEEP").unwrap();
        job.env.insert("SECONDS_TO_SLEEP".to_owned(), seconds);
        runtime().block_on(house.run(&job));
        return;
    }
    for kind in ROOMS {
        let house = House::new(kind);
        let seconds = unlikely_seconds(&house);
        let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sandbox::jobs_die_with_a_killed_quarry"])
            .env(VICTIM, kind.name())
            .env("SECONDS_TO_SLEEP", &seconds)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let wait_until = |state: bool| {
            let patience = std::time::Instant::now();
            while runs(&seconds) != state && patience.elapsed() < Duration::from_secs(30) {
                std::thread::sleep(Duration::from_millis(10));
            }
            runs(&seconds) == state
        };
        assert!(wait_until(true), "{kind:?}: the job never began");
        victim.kill().unwrap();
        victim.wait().unwrap();
        assert!(wait_until(false), "{kind:?}: the job outlived its Quarry");
    }
}

#[tokio::test]
async fn a_closed_room_shows_and_lets_write_only_what_was_lent() {
    let house = House::new(CLOSED);
    let secret = house.folder.path().join("secret");
    std::fs::write(&secret, "s").unwrap();
    let lent = house.folder.path().join("lent");
    std::fs::write(&lent, "lent").unwrap();
    let mut job = house.job(
        "id -u; echo $HOME; hostname
         for path in / /usr /etc /dev /quarry /quarry/lent /proc /sys \"$SECRET\"; do touch $path/x 2>/dev/null && echo wrote $path; done
         cat \"$SECRET\" 2>/dev/null; cat /quarry/lent; echo
         echo x > /quarry/lent || echo lent is read-only
         ls -A /tmp $HOME /root /home/* 2>/dev/null | tr '\\n' ' '; echo
         touch /tmp/x $HOME/x /dev/shm/x /testbed/x && echo private places are writable
         kill -0 1 && ls -d /proc/[0-9]* | wc -l",
    );
    job.mounts.push(Mount::read_only(&lent, "/quarry/lent"));
    job.env.insert("SECRET".to_owned(), secret.display().to_string());
    let said = house.run(&job).await.stdout.text();
    let said: Vec<&str> = said
        .lines()
        .filter(|line| !line.contains("cannot create"))
        .collect();
    let uid = said[0].to_owned();
    assert!(
        uid == "1000" || uid == "65532" || uid == rustix::process::getuid().as_raw().to_string(),
        "{said:?}"
    );
    assert_eq!(
        &said[1..5],
        ["/home/quarry", "quarry", "lent", "lent is read-only"],
        "{said:?}"
    );
    assert_eq!(said[6], "private places are writable", "{said:?}");
    // Bubblewrap's own process, the shell, and what counts.
    assert!(
        said[7].parse::<u32>().unwrap() <= 6,
        "other processes are seen: {said:?}"
    );
    assert_eq!(std::fs::read_to_string(&lent).unwrap(), "lent");
    assert!(house.tree().join("x").exists());
}

#[tokio::test]
async fn the_network_is_cut_unless_it_is_asked_for() {
    let house = House::new(CLOSED);
    let script = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort";
    assert_eq!(house.sh(script).await.stdout.text(), "lo\n");
    let mut online = house.job(script);
    online.network = true;
    if CLOSED == RoomKind::Docker {
        assert_eq!(house.run(&online).await.stdout.text(), "eth0\nlo\n");
        return;
    }
    let mut devices: Vec<String> = std::fs::read_to_string("/proc/net/dev")
        .unwrap()
        .lines()
        .skip(2)
        .map(|line| line.split(':').next().unwrap().trim().to_owned())
        .collect();
    devices.sort();
    let seen = house.run(&online).await.stdout.text();
    assert_eq!(seen.lines().collect::<Vec<_>>(), devices);
}

#[tokio::test]
async fn disk_is_bounded_file_by_file_and_in_private_places() {
    for kind in ROOMS {
        let house = House::new(kind);
        let mut job = house.job("head -c 3000000 /dev/zero > big; ls -l big | awk '{print $5}'; i=0; while [ $i -lt 3000 ]; do : > f$i; i=$((i+1)); done; ls | wc -l");
        job.limits.file_bytes = 1 << 20;
        let result = house.run(&job).await;
        assert_eq!(result.end, End::Exited(0), "{kind:?}");
        let said = result.stdout.text();
        assert!(
            said.contains("1048576") && said.ends_with("3001\n"),
            "{kind:?}: {said}"
        );
    }
    let house = House::new(CLOSED);
    let mut job = house.job("head -c 9000000 /dev/zero > /tmp/full 2>/dev/null; head -c 9000000 /dev/zero > $HOME/full 2>/dev/null; cat /tmp/full $HOME/full | wc -c");
    job.limits.tmp_bytes = 1 << 20;
    assert_eq!(house.run(&job).await.stdout.text().trim(), (2 << 20).to_string());
}

#[tokio::test]
async fn a_job_that_cannot_begin_is_an_error_that_says_so() {
    for kind in ROOMS {
        let house = House::new(kind);
        let run = async |job: Job| house.room.run(&job, &CancellationToken::new()).await;
        let mut job = house.job(":");
        job.mounts.push(Mount::read_only("/nowhere/at/all", "/quarry/x"));
        let error = run(job).await.unwrap_err().to_string();
        assert!(error.contains("`/nowhere/at/all`"), "{error}");
        let mut job = house.job(":");
        job.argv = vec!["/nowhere/program".to_owned()];
        let error = run(job).await.unwrap_err().to_string();
        assert!(error.contains("/nowhere/program"), "{kind:?}: {error}");
        let mut job = house.job(":");
        job.env.insert("A=B".to_owned(), "c".to_owned());
        assert!(run(job).await.is_err(), "{kind:?}");
    }
}
