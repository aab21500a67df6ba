//! `kill -9` at any moment, then the same command again, ends in the same manifest bytes.

#![expect(
    clippy::disallowed_methods,
    reason = "a seed comes from the clock, or from a variable to run it again"
)]

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::program::{sample_run, succeed, tree};

/// Kills to survive, over as many workspaces as it takes.
const KILLS: u32 = 50;

/// A small generator of its own, so that a failing sequence can be run again by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

fn start(workspace: &Path) -> Child {
    let said = std::fs::File::create(workspace.with_extension("err")).unwrap();
    sample_run(workspace)
        .stdout(Stdio::null())
        .stderr(said)
        .spawn()
        .unwrap()
}

/// Lets the run go on for `span`; true when it ended by itself before.
fn ended_within(child: &mut Child, workspace: &Path, span: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < span {
        if let Some(status) = child.try_wait().unwrap() {
            let said = std::fs::read_to_string(workspace.with_extension("err")).unwrap();
            assert!(status.success(), "a resumed run ended with {status}: {said}");
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

#[test]
fn fifty_kills_end_in_the_same_bytes() {
    let seed = std::env::var("QUARRY_KILL_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| {
            let now = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap();
            u64::from(now.subsec_nanos())
        });
    println!("QUARRY_KILL_SEED={seed}");
    let mut dice = Dice(seed);
    let folder = tempfile::tempdir().unwrap();

    // What an undisturbed run makes, and how long it takes once everything is downloaded.
    let whole = folder.path().join("whole");
    succeed(&mut sample_run(&whole));
    let expected = tree(&whole.join("manifests"));
    assert!(
        expected.keys().any(|name| name.ends_with("manifest.json")),
        "{:?}",
        expected.keys()
    );
    let begun = Instant::now();
    let second = folder.path().join("second");
    succeed(&mut sample_run(&second));
    assert!(
        tree(&second.join("manifests")) == expected,
        "two undisturbed runs differ"
    );
    let span = begun.elapsed();

    let mut kills = 0;
    let mut round = 0;
    while kills < KILLS {
        round += 1;
        let workspace = folder.path().join(format!("round-{round}"));
        loop {
            let mut child = start(&workspace);
            // Mostly short lives, so that a workspace meets many kills; what earlier lives finished is not done again, so
            // that later ones reach the later stages.
            let reach = if dice.below(4) == 0 { span / 5 } else { span / 20 };
            let life = Duration::from_micros(dice.below(u64::try_from(reach.as_micros()).unwrap()));
            if kills < KILLS && !ended_within(&mut child, &workspace, life) {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
                continue;
            }
            if kills < KILLS {
                break;
            }
            // The last workspace is led to its end.
            assert!(child.wait().unwrap().success());
            break;
        }
        let found = tree(&workspace.join("manifests"));
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            expected.keys().collect::<Vec<_>>()
        );
        for (name, bytes) in &found {
            assert!(
                *bytes == expected[name],
                "{name} differs after kills (seed {seed}, round {round})"
            );
        }
        assert_eq!(left_over(&workspace), Vec::<String>::new());
    }
    println!("{kills} kills over {round} workspaces");
}

/// Half-written files that a killed run left for good.
fn left_over(workspace: &Path) -> Vec<String> {
    let manifests = workspace.join("manifests");
    tree(&manifests)
        .into_keys()
        .filter(|name| name.split('/').any(|part| part.starts_with('.')))
        .collect()
}
