//! What happens when the machine fails under a job.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use quarry::sandbox::{End, Mount, RoomKind};
use tokio_util::sync::CancellationToken;

use crate::daemon::OwnDaemon;
use crate::sandbox::{House, runs, unlikely_seconds};

/// Waits until `done`, at most half a minute.
async fn comes_true(mut done: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        if done() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    done()
}

#[tokio::test]
async fn a_daemon_that_is_killed_is_the_machines_fault_and_nothing_stays() {
    let mut daemon = OwnDaemon::start();
    let house = House::open(RoomKind::Docker, &daemon.settings());
    let seconds = unlikely_seconds(&house);
    let job = house.job(&format!(
        "(setsid sleep {seconds} &); touch begun; sleep {seconds}"
    ));
    let begun = house.tree().join("begun");
    let cancel = CancellationToken::new();
    let killer = async {
        assert!(comes_true(|| begun.exists()).await);
        daemon.kill();
    };
    let (result, ()) = tokio::join!(house.room.run(&job, &cancel), killer);
    let error = result.unwrap_err();
    assert_eq!(error.reason(), "daemon-gone", "{error}");
    assert!(
        comes_true(|| !runs(&seconds)).await,
        "a process outlived the daemon's death"
    );
    let error = house.room.run(&house.job(":"), &cancel).await.unwrap_err();
    assert_eq!(error.reason(), "daemon-gone", "{error}");

    daemon.restart();
    assert_eq!(
        house.sh("true").await.end,
        End::Exited(0),
        "the same room works again"
    );

    // A job that nobody waits for any more.
    std::fs::remove_file(&begun).unwrap();
    {
        let job = house.job(&format!("touch begun; sleep {seconds}"));
        tokio::select! {
            result = house.room.run(&job, &cancel) => panic!("{result:?}"),
            begun = comes_true(|| begun.exists()) => assert!(begun),
        }
    }
    assert!(comes_true(|| !runs(&seconds)).await);
    assert!(comes_true(|| daemon.containers(false).is_empty()).await);
}

#[tokio::test]
async fn a_container_that_is_removed_under_a_job_is_no_result() {
    let daemon = OwnDaemon::start();
    let house = House::open(RoomKind::Docker, &daemon.settings());
    let job = house.job("touch begun; sleep 100");
    let begun = house.tree().join("begun");
    let cancel = CancellationToken::new();
    let remover = async {
        assert!(comes_true(|| begun.exists()).await);
        let container = daemon.containers(false).remove(0);
        let removed = Command::new("docker")
            .args(["--host", &daemon.host(), "rm", "--force", &container])
            .status();
        assert!(removed.unwrap().success());
    };
    let (result, ()) = tokio::join!(house.room.run(&job, &cancel), remover);
    match result {
        Ok(result) => assert_eq!(result.end, End::Signaled(9)),
        Err(error) => assert_eq!(error.reason(), "container-gone", "{error}"),
    }
}

/// A small disk of its own.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, mebibytes: u32) -> Self {
        std::fs::create_dir(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "tmpfs"])
            .arg(at)
            .status();
        assert!(
            mounted.unwrap().success(),
            "this test mounts a disk and has to be root for that"
        );
        Self(at.to_owned())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_stops_a_job() {
    for kind in [RoomKind::Docker, RoomKind::Process] {
        let house = House::new(kind);
        // Quarry keeps 256 MiB free.
        let disk = SmallDisk::mount(&house.folder.path().join("disk"), 300);
        let mut job = house.job("head -c 100000000 /dev/zero > big; sleep 60");
        job.mounts = vec![Mount::writable(&disk.0, "/testbed")];
        assert_eq!(house.run(&job).await.end, End::DiskLimit, "{kind:?}");
        std::fs::remove_file(disk.0.join("big")).unwrap();
        let job = quarry::sandbox::Job {
            argv: ["/bin/sh", "-c", "echo x > small"].map(str::to_owned).into(),
            ..job
        };
        assert_eq!(house.run(&job).await.end, End::Exited(0), "{kind:?}");
    }
}
