use std::path::Path;
use std::process::Command;

use super::container::{dockerfile, quoted, restore};
use super::{Format, Version, export, swebench};
use crate::domain::patch::Part;
use crate::domain::path::RepoPath;
use crate::emit::assemble::{assemble, select};
use crate::emit::fixture;
use crate::emit::instance::SplitFile;

fn version() -> Version {
    let input = fixture::input();
    let selection = select(&input).unwrap();
    Version::read(&assemble(&input, &selection).unwrap()).unwrap()
}

#[test]
fn every_instance_is_exported_or_named_with_its_reason() {
    let version = version();
    for format in [Format::Swebench, Format::Harbor, Format::Inspect] {
        let exported = export(&version, format).unwrap();
        for instance in &version.instances {
            let id = instance.instance_id.to_string();
            let is_left_out = exported.left_out.contains_key(&instance.instance_id);
            let is_there = exported
                .files
                .iter()
                .any(|(name, bytes)| name.contains(&id) || String::from_utf8_lossy(bytes).contains(&id));
            assert!(is_left_out != is_there, "{format:?} {id}");
        }
    }
}

#[test]
fn without_a_statement_no_solver_is_asked_anything() {
    let mut version = version();
    for instance in &mut version.instances {
        instance.problem_statement = None;
    }
    for format in [Format::Swebench, Format::Harbor, Format::Inspect] {
        let exported = export(&version, format).unwrap();
        assert_eq!(exported.left_out.len(), version.instances.len(), "{format:?}");
    }
}

#[test]
fn a_cards_words_are_no_markup() {
    let mut version = version();
    version.manifest.dataset.description = "<b>bold</b> | *more*\n# and a heading".into();
    version.manifest.sources[0].license = Some("MIT | <i>".into());
    let exported = export(&version, Format::Hf).unwrap();
    let card = String::from_utf8(exported.files["README.md"].clone()).unwrap();
    for escaped in [
        "&lt;b&gt;bold&lt;/b&gt; \\| \\*more\\* # and",
        "| MIT \\| &lt;i&gt; |",
    ] {
        assert!(card.contains(escaped), "{escaped}\n{card}");
    }
}

#[test]
fn a_runner_that_the_shell_cannot_start_and_a_version_that_does_not_say_are_left_out() {
    let mut version = version();
    version.instances[0].setup.runner = "script".into();
    version.instances[1].setup.runner = String::new();
    let exported = export(&version, Format::Swebench).unwrap();
    let reason = |index: usize| &exported.left_out[&version.instances[index].instance_id];
    assert!(reason(0).contains("`script`"), "{}", reason(0));
    assert!(reason(1).contains("emit it again"), "{}", reason(1));
}

#[test]
fn an_images_file_names_the_version_the_lock_and_the_commit() {
    let version = version();
    let instance = &version.instances[0];
    let dockerfile = dockerfile(&version, instance);
    for line in [
        "FROM python:3.11.7-slim",
        "RUN pip install --no-cache-dir uv==0.9.1",
        "ENV TZ=UTC",
        "RUN uv pip install --no-deps --require-hashes -r /opt/quarry/lock.txt",
        "uv pip install --no-deps -e .",
        &instance.base_commit.to_string(),
    ] {
        assert!(dockerfile.contains(line), "{line}\n{dockerfile}");
    }
    assert_eq!(version.lock(instance), fixture::LOCK);
    let row = swebench::row(instance);
    let script = row["eval_script"].as_str().unwrap();
    let start = script.find(": '>>>>> Start Test Output'").unwrap();
    let end = script.find(": '>>>>> End Test Output'").unwrap();
    assert!(script[start..end].contains("python -m pytest"), "{script}");
    assert!(script[..start].contains(&restore(instance)), "{script}");
}

#[test]
fn the_same_version_gives_the_same_bytes() {
    let version = version();
    for format in [
        Format::Swebench,
        Format::Hf,
        Format::Croissant,
        Format::Harbor,
        Format::Inspect,
    ] {
        let (one, two) = (
            export(&version, format).unwrap(),
            export(&version, format).unwrap(),
        );
        assert_eq!((one.files, one.tables), (two.files, two.tables), "{format:?}");
    }
}

/// Runs a program in a folder; what it printed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program)
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn before_tests_run_what_a_model_made_of_the_oracle_is_gone_and_golds_files_stay() {
    let mut instance = version().instances[0].clone();
    let split = |path: &str, part| SplitFile {
        path: RepoPath::from(path),
        part: Some(part),
        ..instance.splits[0].clone()
    };
    instance.splits = vec![
        split("lib/conftest.py", Part::Gold),
        split("tests/test_new.py", Part::Test),
        split("checks/test_alone.py", Part::Test),
    ];
    instance.fail_to_pass = vec!["tests/unit/test_a.py::test_one".into()];
    instance.pass_to_pass = vec![];
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let base = [
        "conftest.py",
        "lib/a.py",
        "lib/conftest.py",
        "tests/unit/test_a.py",
        "tests/data.txt",
        "setup.cfg",
    ];
    for path in base {
        write(path, "base\n");
    }
    run(root, "git", &["init", "-q"]);
    run(root, "git", &["add", "-A"]);
    run(
        root,
        "git",
        &[
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "commit",
            "-qm",
            "Base",
        ],
    );
    std::fs::remove_file(root.join("tests/data.txt")).unwrap();
    for path in [
        "conftest.py",
        "lib/a.py",
        "lib/conftest.py",
        "lib/more/conftest.py",
        "lib/pytest.py",
        "tests/unit/test_a.py",
        "tests/unit/conftest.py",
        "tests/new data.txt",
        "tests/test_new.py",
        "checks/test_alone.py",
        "setup.cfg",
        "pytest.py",
        "_pytest/__init__.py",
        "pytest.ini",
        ".gitignore",
    ] {
        write(path, "model\n");
    }
    write(".gitignore", "conftest.py\npytest.*\n");
    let script = format!("set -euo pipefail\n{}", restore(&instance));
    run(root, "bash", &["-c", &script]);
    let status = run(
        root,
        "git",
        &[
            "-c",
            "core.excludesFile=/dev/null",
            "status",
            "--porcelain",
            "-uall",
            "--ignored",
        ],
    );
    let mut left: Vec<&str> = status.lines().collect();
    left.sort_unstable();
    assert_eq!(
        left,
        [
            " M lib/a.py",
            " M lib/conftest.py",
            " M setup.cfg",
            "!! lib/pytest.py",
            "?? .gitignore",
        ]
    );
}

#[test]
fn words_are_quoted_for_the_shell() {
    assert_eq!(quoted("tests/a.py"), "tests/a.py");
    assert_eq!(quoted("a b"), "'a b'");
    assert_eq!(quoted("it's"), "'it'\\''s'");
    assert_eq!(quoted(""), "''");
}
