//! A pull request whose tests need what it begins to ask for itself.

use super::index::Index;
use super::pantry::{self, mirror, printed, tried};
use crate::program::{quarry, succeed};
use crate::python::python;

const MAKEFILE: &str =
    "test:\n\tpip install -r requirements/tests.txt\n\tpython -m unittest discover -s tests\n";

#[test]
fn what_a_pull_request_begins_to_ask_for_is_in_its_environment_and_its_source_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open();
    let python = python();
    for name in ["tonic", "shelf"] {
        let file = format!("{name}.py");
        index.wheel(&python, name, "1.0", "2020-01-01T00:00:00Z", &[(&file, "")]);
    }
    let test = |import: &str, twice: u32| {
        format!(
            "import unittest\n{import}import pantry\n\n\nclass T(unittest.TestCase):\n    def test_none(self):\n        \
             self.assertEqual(pantry.twice(0), 0)\n\n    def test_two(self):\n        \
             self.assertEqual(pantry.twice(2), {twice})\n"
        )
    };
    let (before, after) = (test("", 2), test("import tonic\n", 4));
    let base = pantry::base(&[
        ("Makefile", MAKEFILE),
        ("requirements/tests.txt", "shelf\n"),
        ("tests/test_pantry.py", before.as_str()),
    ]);
    let change = [
        ("src/pantry.py", "def twice(number):\n    return 2 * number\n"),
        ("requirements/tests.txt", "shelf\ntonic\n"),
        ("tests/test_pantry.py", after.as_str()),
    ];
    // It asks for nothing new, and its tests lack the same: nothing is asked again.
    let more = after.clone() + "\n    def test_three(self):\n        import nowhere\n";
    let plain = [
        ("src/pantry.py", "def twice(number):\n    return 1 + number\n"),
        ("tests/test_pantry.py", more.as_str()),
    ];
    mirror(&folder.path().join("mirror"), &base, &[&change, &plain]);
    let run = || succeed(&mut pantry::run(folder.path(), &index, "0.1.0"));
    run();
    let version = folder.path().join("manifests/found/0.1.0");
    assert!(version.exists(), "{}", tried(folder.path()));
    let read = |name: &str| std::fs::read_to_string(version.join(name)).unwrap();
    let instances = read("instances.jsonl");
    let rows: Vec<serde_json::Value> = instances
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 1, "{instances}\n{}", tried(folder.path()));
    assert_eq!(rows[0]["FAIL_TO_PASS"].as_array().unwrap().len(), 1);
    assert_eq!(rows[0]["PASS_TO_PASS"].as_array().unwrap().len(), 1);

    let manifest: serde_json::Value = serde_json::from_str(&read("manifest.json")).unwrap();
    let environment = &manifest["environments"][0];
    let told = &environment["requirements_after"][0];
    assert_eq!(told["files"], serde_json::json!(["requirements/tests.txt"]));
    let reason = told["reason"].as_str().unwrap();
    assert!(reason.contains("No module named 'tonic'"), "{reason}");
    let lock = read(&format!("locks/{}.txt", environment["lock"].as_str().unwrap()));
    assert!(
        lock.contains("tonic==1.0") && lock.contains("shelf==1.0"),
        "{lock}"
    );

    let story = |id: &str| printed(quarry(folder.path()).args(["explain", id]));
    let first = story("quarry-bench/pantry#1");
    for words in [
        "again, with its own requirements/tests.txt: ",
        "requirements as the pull request leaves them: ",
    ] {
        assert!(first.contains(words), "{words}\n{first}");
    }
    let second = story("quarry-bench/pantry#2");
    assert!(!second.contains("again, with its own"), "{second}");
    let log = printed(quarry(folder.path()).args(["log", "quarry-bench/pantry#1", "--stage", "build"]));
    assert!(
        log.contains("# as the pull request leaves them: requirements/tests.txt ("),
        "{log}"
    );
    run();
    assert_eq!(story("quarry-bench/pantry#1"), first, "nothing is done again");
}

#[test]
fn what_only_tests_ask_for_and_cannot_be_built_is_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open();
    let python = python();
    index.wheel(
        &python,
        "shelf",
        "1.0",
        "2020-01-01T00:00:00Z",
        &[("shelf.py", "")],
    );
    let broken =
        "raise SystemExit('brick.c:1:10: fatal error: libbrick/brick.h: No such file or directory')\n";
    index.source(
        &python,
        "brick",
        "1.0",
        "2020-01-01T00:00:00Z",
        &[
            (
                "pyproject.toml",
                "[build-system]\nrequires = []\nbuild-backend = 'broken'\nbackend-path = ['.']\n",
            ),
            ("broken.py", broken),
        ],
    );
    let test = |twice: u32| {
        format!(
            "import unittest\nimport pantry\n\n\nclass T(unittest.TestCase):\n    def test_none(self):\n        \
             self.assertEqual(pantry.twice(0), 0)\n\n    def test_two(self):\n        \
             self.assertEqual(pantry.twice(2), {twice})\n\n    def test_brick(self):\n        import brick\n"
        )
    };
    let (before, after) = (test(2), test(4));
    let base = pantry::base(&[
        ("Makefile", MAKEFILE),
        ("requirements/tests.txt", "shelf\nbrick\n"),
        ("tests/test_pantry.py", before.as_str()),
    ]);
    let change = [
        ("src/pantry.py", "def twice(number):\n    return 2 * number\n"),
        ("tests/test_pantry.py", after.as_str()),
    ];
    mirror(&folder.path().join("mirror"), &base, &[&change]);
    succeed(&mut pantry::run(folder.path(), &index, "0.1.0"));
    let version = folder.path().join("manifests/found/0.1.0");
    assert!(version.exists(), "{}", tried(folder.path()));
    let manifest = std::fs::read_to_string(version.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let left_out = manifest["environments"][0]["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 1, "{manifest}");
    assert_eq!(left_out[0]["distribution"], "brick");
    let reason = left_out[0]["reason"].as_str().unwrap();
    assert!(reason.contains("libbrick/brick.h"), "{reason}");
    let story = printed(quarry(folder.path()).args(["explain", "quarry-bench/pantry#1"]));
    let without = story.find("repaired: without brick").expect("the remedy is told");
    // All else had its turn before.
    let last = story.rfind("its steps are followed").unwrap();
    assert!(last < without, "{story}");
}
