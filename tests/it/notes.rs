//! `quarry notes`, and a recipe that reads release notes, on a small repository.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{quarry, recipe, succeed};

/// One commit of a `git fast-import` stream.
fn commit(stream: &mut String, place: (&str, u32), parents: &[u32], message: &str, files: &[(&str, &str)]) {
    let (name, mark) = place;
    let at = 1_600_000_000 + mark * 86_400;
    let _ = write!(
        stream,
        "commit {name}\nmark :{mark}\nauthor Ada <ada@example.org> {at} +0000\ncommitter Ada <ada@example.org> {at} +0000\n\
         data {}\n{message}\n",
        message.len()
    );
    for (place, parent) in parents.iter().enumerate() {
        let _ = writeln!(stream, "{} :{parent}", if place == 0 { "from" } else { "merge" });
    }
    for (path, text) in files {
        let _ = write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len());
    }
}

/// A bare repository of a stream of commits.
fn import_into(folder: &Path, stream: &str) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(["-c", "init.defaultBranch=main"])
            .args(args)
            .current_dir(folder);
        command
    };
    assert!(
        git(&["init", "--quiet", "--bare", "."])
            .status()
            .unwrap()
            .success()
    );
    let mut import = git(&["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    import.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
}

/// A mirror with two pull requests: one that adds a feature with its documentation, and one that only mends.
fn mirror(folder: &Path) {
    mirror_with(folder, "");
}

/// The same, with these entries of features that a commit of no pull request wrote.
pub(crate) fn mirror_with(folder: &Path, entries: &str) {
    let mut stream = String::new();
    let start = [
        ("src/lines.py", "def one():\n    return 1\n"),
        ("tests/test_lines.py", "def test_one():\n    assert True\n"),
        (
            "docs/use.rst",
            "Use\n===\n\nOne\n---\n\nCall it once.\nIt is one.\n",
        ),
        ("CHANGES.md", "# Changes\n"),
    ];
    commit(&mut stream, ("refs/heads/main", 1), &[], "Start", &start);
    let feature = [
        (
            "src/lines.py",
            "def one():\n    return 1\n\ndef many(count):\n    return count\n",
        ),
        (
            "tests/test_lines.py",
            "def test_many():\n    assert many(count=2) == 2\n",
        ),
        (
            "docs/use.rst",
            "Use\n===\n\nOne\n---\n\nCall it once.\nIt is many, too (see :pr:`1`).\n",
        ),
        (
            "CHANGES.md",
            "# Changes\n\n## Unreleased\n\n### Added\n- There are many now. (#1)\n",
        ),
    ];
    commit(&mut stream, ("refs/pull/1/head", 2), &[1], "Add many", &feature);
    let merge = "Merge pull request #1 from ada/many";
    commit(&mut stream, ("refs/heads/main", 3), &[1, 2], merge, &feature);
    let fix = [
        (
            "src/lines.py",
            "def one():\n    return 1\n\ndef many(count):\n    return int(count)\n",
        ),
        (
            "CHANGES.md",
            "# Changes\n\n## Unreleased\n\n### Added\n- There are many now. (#1)\n\n### Fixed\n- Many are whole, whatever is asked.\n",
        ),
    ];
    commit(&mut stream, ("refs/pull/2/head", 4), &[3], "Mend many", &fix);
    commit(
        &mut stream,
        ("refs/heads/main", 5),
        &[3, 4],
        "Merge pull request #2 from ada/whole",
        &fix,
    );
    if !entries.is_empty() {
        let log = fix[1].1.replace("### Fixed", &format!("{entries}\n### Fixed"));
        commit(
            &mut stream,
            ("refs/heads/main", 6),
            &[5],
            "Tell of more",
            &[("CHANGES.md", &log)],
        );
    }
    import_into(folder, &stream);
}

fn json(command: &mut Command) -> serde_json::Value {
    serde_json::from_slice(&succeed(command).stdout).unwrap()
}

#[test]
fn notes_are_told_and_choose_what_documentation_tells() {
    let temp = tempfile::tempdir().unwrap();
    let (bare, work) = (temp.path().join("ada__lines.git"), temp.path().join("work"));
    std::fs::create_dir_all(&bare).unwrap();
    mirror(&bare);

    let told = json(
        quarry(&work)
            .arg("notes")
            .arg("--mirror")
            .arg(&bare)
            .arg("--json"),
    );
    let chosen = |place: usize| &told["entries"][place]["pulls"][0];
    assert_eq!(told["summary"]["entries"], 2);
    assert_eq!(
        (&chosen(0)["number"], &chosen(0)["evidence"][0]),
        (&1.into(), &"named".into())
    );
    assert_eq!(
        (&chosen(1)["number"], &chosen(1)["evidence"][0]),
        (&2.into(), &"line".into())
    );
    let text = succeed(quarry(&work).args(["notes", "--features", "--mirror"]).arg(&bare)).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("#1 (named)") && !text.contains("whole"), "{text}");

    succeed(quarry(&work).args(["mine", "--quiet", "--mirror"]).arg(&bare));
    for _ in 0..2 {
        // The second time from what was kept.
        let filtered = json(
            quarry(&work)
                .args(["filter", "--json"])
                .arg(recipe("doc2feat.toml")),
        );
        assert_eq!(filtered["kept"], serde_json::json!(["ada/lines#1"]));
        assert_eq!(filtered["characteristics"][""]["tasks"], 1);
        assert_eq!(
            filtered["characteristics"]["ada/lines"]["single_file_percent"],
            100.0
        );
    }
    let story = succeed(quarry(&work).args(["explain", "ada/lines#1"])).stdout;
    let story = String::from_utf8(story).unwrap();
    assert!(
        story
            .contains("release notes\n  unreleased  feature (named), under Added\n      There are many now."),
        "{story}"
    );
}

#[test]
fn a_tag_that_names_no_version_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let bare = temp.path().join("ada__lines.git");
    std::fs::create_dir_all(&bare).unwrap();
    mirror(&bare);
    let output = quarry(temp.path())
        .args(["notes", "--since", "nightly", "--mirror"])
        .arg(&bare)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("read `nightly` of `--since` as a version") && said.contains("hint: "),
        "{said}"
    );
}

#[test]
fn documentation_without_a_text_is_asked_of_nobody() {
    let temp = tempfile::tempdir().unwrap();
    let (bare, work) = (temp.path().join("ada__lines.git"), temp.path().join("work"));
    std::fs::create_dir_all(&bare).unwrap();
    let notebook = |words: &str, output: u32| {
        format!(
            r#"{{"cells":[{{"cell_type":"markdown","source":"{words}"}},{{"cell_type":"code","source":"x","outputs":[{output}]}}],"nbformat":4}}"#
        )
    };
    // By number: the documents that come with each change, the same source and tests.
    let shown = [notebook("It is", 1), notebook("It is", 2), notebook("It was", 2)];
    let documents = [
        [("docs/conf.py", "a = 1\n"), ("docs/n.ipynb", shown[0].as_str())],
        [("docs/conf.py", "a = 2\n"), ("docs/n.ipynb", shown[0].as_str())],
        [("docs/conf.py", "a = 2\n"), ("docs/n.ipynb", shown[1].as_str())],
        [("docs/conf.py", "a = 2\n"), ("docs/n.ipynb", shown[2].as_str())],
    ];
    let mut stream = String::new();
    let mut log = "# Changes\n\n## Unreleased\n\n### Added\n".to_owned();
    let (mut source, mut tests) = (String::new(), String::new());
    for (number, changed) in (0_u32..).zip(&documents) {
        let _ = writeln!(source, "def f{number}():\n    return {number}\n");
        let _ = writeln!(
            tests,
            "def test_{number}():\n    assert f{number}() == {number}\n"
        );
        let mut files = vec![
            ("src/lines.py", source.as_str()),
            ("tests/test_lines.py", tests.as_str()),
        ];
        files.extend_from_slice(changed);
        if number == 0 {
            files.push(("CHANGES.md", log.as_str()));
            commit(&mut stream, ("refs/heads/main", 1), &[], "Start", &files);
            continue;
        }
        let _ = writeln!(log, "- There is f{number}. (#{number})");
        files.push(("CHANGES.md", log.as_str()));
        let (parent, mark) = (2 * number - 1, 2 * number);
        let head = format!("refs/pull/{number}/head");
        commit(&mut stream, (head.as_str(), mark), &[parent], "Add one", &files);
        let merge = format!("Merge pull request #{number} from ada/f{number}");
        commit(
            &mut stream,
            ("refs/heads/main", mark + 1),
            &[parent, mark],
            &merge,
            &files,
        );
    }
    import_into(&bare, &stream);
    succeed(quarry(&work).args(["mine", "--quiet", "--mirror"]).arg(&bare));
    let filtered = json(
        quarry(&work)
            .args(["filter", "--json"])
            .arg(recipe("doc2feat.toml")),
    );
    assert_eq!(filtered["kept"], serde_json::json!(["ada/lines#3"]), "{filtered}");
    let rules = filtered["funnel"]["rules"].as_array().unwrap();
    let rule = rules
        .iter()
        .find(|rule| rule["rule"] == "docs-have-text")
        .unwrap();
    assert_eq!((&rule["in"], &rule["dropped"]), (&3.into(), &2.into()), "{rule}");
}

#[test]
fn that_there_is_nothing_to_read_is_told() {
    let temp = tempfile::tempdir().unwrap();
    let bare = temp.path().join("ada__lines.git");
    std::fs::create_dir_all(&bare).unwrap();
    let mut stream = String::new();
    let files = [("src/lines.py", "def one():\n    return 1\n")];
    commit(&mut stream, ("refs/heads/main", 1), &[], "Start", &files);
    import_into(&bare, &stream);
    let recipe = temp.path().join("recipe.toml");
    std::fs::write(
        &recipe,
        "[dataset]\nname = \"lines\"\nversion = \"0.1.0\"\n\n[notes]\nfiles = [\"never/*.md\"]\n",
    )
    .unwrap();
    let output = quarry(temp.path())
        .args(["notes", "--json", "--recipe"])
        .arg(&recipe)
        .arg("--mirror")
        .arg(&bare)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let warnings = told["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    for (warning, words) in warnings
        .iter()
        .zip(["`never/*.md`", "no release notes found in ada/lines"])
    {
        let warning = warning.as_str().unwrap();
        assert!(warning.contains(words), "{warning}");
        assert!(said.contains(&format!("warning: {warning}")), "{said}");
    }
}

#[test]
fn since_a_version_is_its_own_release_and_what_follows() {
    let temp = tempfile::tempdir().unwrap();
    let bare = temp.path().join("ada__lines.git");
    std::fs::create_dir_all(&bare).unwrap();
    let mut stream = String::new();
    let log = "# Changes\n## 1.1\n- e\n## 1.0.0\n- d\n## 1.0.0-rc.2\n- c\n## 1.0.0-rc.1\n- b\n## 0.9\n- a\n";
    commit(
        &mut stream,
        ("refs/heads/main", 1),
        &[],
        "Start",
        &[("CHANGES.md", log)],
    );
    commit(
        &mut stream,
        ("refs/tags/v1.2rc1", 2),
        &[1],
        "Try it",
        &[("CHANGES.md", log)],
    );
    import_into(&bare, &stream);
    let told = |tag: &str| {
        let mut command = quarry(temp.path());
        command
            .args(["notes", "--json", "--since", tag, "--mirror"])
            .arg(&bare);
        let told = json(&mut command);
        let entries = told["entries"].as_array().unwrap();
        entries
            .iter()
            .map(|resolved| resolved["entry"]["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .concat()
    };
    for (tag, entries) in [
        ("v1.0.0-rc.1", "edcb"),
        ("1.0rc2", "edc"),
        ("v1.0", "ed"),
        ("1.1.0", "e"),
        ("0.9", "edcba"),
        ("1", "ed"),
        ("v1", "ed"),
        ("0", "edcba"),
        // The notes name neither.
        ("1.2rc1", ""),
        ("unreleased", ""),
    ] {
        assert_eq!(told(tag), entries, "{tag}");
    }
    let output = quarry(temp.path())
        .args(["notes", "--since", "5", "--mirror"])
        .arg(&bare)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("find the version `5` of `--since`") && said.contains("tell of 1.1, 1.0.0, "),
        "{said}"
    );
    assert!(
        said.contains("rc.1, 0.9") && !said.contains("older ones"),
        "{said}"
    );
}
