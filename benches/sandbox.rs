//! What a room costs: one job that does nothing, beside the bare command and beside `docker run`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its table and fails loudly"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use quarry::sandbox::{End, Job, Mount, Room, RoomKind, SYSTEM_PATH};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 15;

fn median(mut once: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| once()).collect();
    times.sort();
    times[ROUNDS / 2]
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn line(what: &str, time: Duration, bare: Duration) {
    println!(
        "{what:<44} {:>8.1} ms  {:>8.1} ms over the bare command",
        time.as_secs_f64() * 1e3,
        (time.saturating_sub(bare)).as_secs_f64() * 1e3
    );
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let bare = median(|| timed(|| assert!(Command::new("/bin/true").status().unwrap().success())));
    println!("one job that does nothing, median of {ROUNDS}");
    line("the bare command", bare, bare);
    for kind in [RoomKind::None, RoomKind::Process, RoomKind::Docker] {
        let opening = Instant::now();
        let room = match Room::detect(kind, &folder.path().join(kind.name())) {
            Ok(room) => room,
            Err(error) => {
                println!(
                    "{:<44} none: failed to {error}",
                    format!("the {} room", kind.name())
                );
                continue;
            }
        };
        let opening = opening.elapsed();
        let mounts = vec![Mount::writable(&tree, "/testbed")];
        let mut job = Job::new(["/bin/true"], room.path(&mounts, "/testbed"));
        job.mounts = mounts;
        job.env.insert("PATH".to_owned(), SYSTEM_PATH.to_owned());
        let cancel = CancellationToken::new();
        let time = median(|| {
            timed(|| {
                let result = runtime.block_on(room.run(&job, &cancel)).unwrap();
                assert_eq!(result.end, End::Exited(0));
            })
        });
        line(&format!("the {} room", kind.name()), time, bare);
        println!("  opened in {:.0} ms", opening.as_secs_f64() * 1e3);
        if kind == RoomKind::Docker {
            docker_run(&tree, bare);
        }
    }
}

/// What a user would write by hand.
fn docker_run(tree: &Path, bare: Duration) {
    let Ok(output) = Command::new("docker")
        .args(["images", "-q", "quarry/skeleton"])
        .output()
    else {
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let Some(image) = text.lines().next() else {
        return;
    };
    let time = median(|| {
        timed(|| {
            let status = Command::new("docker")
                .args([
                    "run",
                    "--rm",
                    "--network",
                    "none",
                    "--volume",
                    "/usr:/usr:ro",
                    "--volume",
                ])
                .arg(format!("{}:/testbed", tree.display()))
                .args([image, "/bin/true"])
                .stdout(Stdio::null())
                .status();
            assert!(status.unwrap().success());
        })
    });
    line("`docker run --rm`, the same image", time, bare);
}
