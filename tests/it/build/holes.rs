//! A mirror that lacks an object of one commit's tree: that candidate is told, and proven once the object is there.

use std::path::Path;
use std::process::Command;

use super::index::Index;
use super::pantry::{self, Files, mirror, module, printed, tried};
use crate::program::{quarry, succeed};

fn run(workspace: &Path, index: &Index, version: &str) -> (String, serde_json::Value) {
    let mut command = pantry::run(workspace, index, version);
    let report = serde_json::from_slice(&succeed(command.arg("--json")).stdout).unwrap();
    let rows = workspace
        .join("manifests/found")
        .join(version)
        .join("instances.jsonl");
    let rows = std::fs::read_to_string(rows).unwrap_or_else(|_| panic!("{}", tried(workspace)));
    (rows, report)
}

#[test]
fn a_hole_in_a_mirror_is_its_candidates_matter() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open();
    let test = module("self.assertTrue(pantry.twice(2))");
    let base = pantry::base(&[("data.txt", "one\n"), ("tests/test_pantry.py", &test)]);
    let doubles = module("self.assertEqual(pantry.twice(2), 4)");
    let halves = module("self.assertEqual(pantry.half(4), 2)");
    let source = "def twice(number):\n    return 2 * number\n";
    let grown = format!("{source}\n\ndef half(number):\n    return number // 2\n");
    let changes: [Files<'_>; 3] = [
        &[("src/pantry.py", source), ("tests/test_pantry.py", &doubles)],
        &[("data.txt", "two\n")],
        &[("src/pantry.py", &grown), ("tests/test_pantry.py", &halves)],
    ];
    let root = folder.path().join("mirror");
    mirror(&root, &base, &changes);
    // What the last pull request begins from, and does not touch.
    let blob = printed(
        Command::new("git")
            .current_dir(&root)
            .args(["rev-parse", "HEAD:data.txt"]),
    );
    let object = root.join(".git/objects").join(&blob[..2]).join(blob[2..].trim());
    let aside = folder.path().join("aside");
    std::fs::rename(&object, &aside).unwrap();

    let (rows, report) = run(folder.path(), &index, "0.1.0");
    assert_eq!(rows.lines().count(), 1, "{rows}");
    assert!(rows.contains("pantry-1\""), "{rows}");
    assert_eq!(report["infra"]["mirror-incomplete"], 1, "{report}");
    let story = printed(quarry(folder.path()).args(["explain", "quarry-bench/pantry#3"]));
    assert!(
        story.contains("mirror-incomplete") && story.contains("`data.txt` of commit"),
        "{story}"
    );

    std::fs::rename(&aside, &object).unwrap();
    let (rows, report) = run(folder.path(), &index, "0.2.0");
    assert_eq!(rows.lines().count(), 2, "{rows}\n{report}");
    assert_eq!(report["infra"], serde_json::json!({}), "{report}");
}
