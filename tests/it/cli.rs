//! The command line as a person and a script meet it: words, exit codes, hints, JSON.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::program::{QUARRY, quarry, recipe, sample_run, succeed};

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_verb_teaches_and_the_exit_codes_are_documented() {
    let folder = tempfile::tempdir().unwrap();
    let (code, help, _) = run(quarry(folder.path()).arg("--help"));
    assert_eq!(code, Some(0));
    for code in ["0 ", "1 ", "2 ", "3 ", "4 ", "5 ", "6 ", "130 "] {
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(code)),
            "no line for exit code {code}"
        );
    }
    for verb in [
        "init",
        "doctor",
        "check",
        "run",
        "mine",
        "filter",
        "build",
        "verify",
        "emit",
        "status",
        "explain",
        "log",
        "completions",
    ] {
        let (code, text, _) = run(quarry(folder.path()).args([verb, "--help"]));
        assert_eq!(code, Some(0), "{verb}");
        assert!(text.contains("--workspace") && text.contains("--json"), "{verb}");
    }
}

#[test]
fn what_is_missing_is_named_with_a_hint_in_both_forms() {
    let folder = tempfile::tempdir().unwrap();
    let (code, stdout, stderr) = run(quarry(folder.path()).arg("status"));
    assert_eq!((code, stdout.as_str()), (Some(4), ""));
    assert!(stderr.contains("failed to find a workspace at"), "{stderr}");
    assert!(stderr.contains("hint: make one with `quarry init`"), "{stderr}");

    let (code, stdout, _) = run(quarry(folder.path()).args(["status", "--json"]));
    let error: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, Some(4));
    assert_eq!(error["error"]["kind"], "workspace");
    assert!(!error["error"]["hints"].as_array().unwrap().is_empty());
}

#[test]
fn wrong_inputs_have_their_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    let swebench = recipe("swebench.toml");
    let cases: [(&[&str], i32, &str); 8] = [
        (&["frobnicate"], 2, "unrecognized subcommand"),
        (
            &["run", "no-such.toml", "--sample"],
            3,
            "read recipe `no-such.toml`",
        ),
        (&["run", swebench.to_str().unwrap()], 3, "find a mined repository"),
        (
            &[
                "run",
                swebench.to_str().unwrap(),
                "--mirror",
                nowhere.to_str().unwrap(),
            ],
            3,
            "nowhere`: nothing is there",
        ),
        (
            &["run", swebench.to_str().unwrap(), "--sample", "--since", "May"],
            2,
            "read `May` of `--since` as a day",
        ),
        (&["explain", "not-an-id"], 2, "a pull request such as"),
        (
            &[
                "run",
                swebench.to_str().unwrap(),
                "--sample",
                "--install-python",
                "three",
            ],
            2,
            "three",
        ),
        (
            &[
                "run",
                swebench.to_str().unwrap(),
                "--sample",
                "--install-python",
                "3.99",
            ],
            5,
            "install Python 3.99 by uv: ",
        ),
    ];
    for (arguments, expected, words) in cases {
        let (code, _, stderr) = run(quarry(folder.path()).args(arguments));
        assert_eq!(code, Some(expected), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn a_made_workspace_holds_recipes_that_check_and_keeps_edited_ones() {
    let folder = tempfile::tempdir().unwrap();
    succeed(quarry(folder.path()).arg("init"));
    let filters = folder.path().join("filters");
    let edited = filters.join("sample.toml");
    std::fs::write(&edited, "# mine\n").unwrap();
    let again = succeed(quarry(folder.path()).args(["init", "--json"]));
    let report: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(report["written"], serde_json::json!([]));
    assert_eq!(std::fs::read_to_string(&edited).unwrap(), "# mine\n");
    let swebench = filters.join("swebench.toml");
    let checked = succeed(quarry(folder.path()).args(["check", "--plan"]).arg(&swebench));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("after verification"));
    let (code, text, _) = run(quarry(folder.path()).arg("check").arg(&edited));
    assert_eq!(code, Some(1), "an empty recipe is not sound: {text}");
    let status = succeed(quarry(folder.path()).args(["status", "--json"]));
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["repositories"], serde_json::json!([]));
}

#[test]
fn what_fails_or_only_looks_leaves_no_workspace_and_init_makes_one_here() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("a");
    std::fs::create_dir(&here).unwrap();
    std::fs::create_dir(here.join("no-mirror")).unwrap();
    let quarry = |arguments: &[&str]| {
        let mut command = Command::new(QUARRY);
        run(command.current_dir(&here).args(arguments).stdin(Stdio::null()))
    };
    let recipe = recipe("swebench.toml");
    let recipe = recipe.to_str().unwrap();
    for (arguments, code) in [
        (&["mine", "--mirror", "no-mirror", "--repo", "a/b"][..], 3),
        (&["run", recipe, "--mirror", "no-mirror", "--repo", "a/b"], 3),
        (&["filter", recipe], 3),
        (&["gc", "--dry-run"], 4),
        (&["status"], 4),
    ] {
        let (found, _, stderr) = quarry(arguments);
        assert_eq!(found, Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains("hint: "), "{arguments:?}: {stderr}");
        assert!(!here.join(".quarry").exists(), "{arguments:?}");
    }
    // Rows that are none are named, with their line.
    std::fs::write(
        here.join("rows.jsonl"),
        "{\"instance_id\":\"a__b-1\"}\n\n{\"n\": 1}\n",
    )
    .unwrap();
    let (code, stdout, stderr) = quarry(&["filter", recipe, "--input", "rows.jsonl", "--out", "kept.jsonl"]);
    assert_eq!((code, stdout.as_str()), (Some(3), ""), "{stderr}");
    assert!(
        stderr.contains("`rows.jsonl`, line 3") && stderr.contains("no `instance_id`"),
        "{stderr}"
    );
    assert!(!here.join(".quarry").exists() && !here.join("kept.jsonl").exists());

    // A workspace above is no reason to make none here.
    std::fs::create_dir(folder.path().join(".quarry")).unwrap();
    assert_eq!(quarry(&["init"]).0, Some(0));
    assert!(here.join(".quarry/ledger.db").exists() && !folder.path().join("filters").exists());
    let (code, _, stderr) = quarry(&["--workspace", "rows.jsonl", "init"]);
    assert_eq!(code, Some(4));
    assert!(stderr.contains("a file is where a folder must be"), "{stderr}");
    // What is a command to a terminal is shown, not obeyed.
    let (_, stdout, stderr) = quarry(&["--json", "check", "a\u{1b}]0;x\u{7}\u{9b}.toml"]);
    for text in [stdout, stderr] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
    }
}

#[test]
fn a_wrong_rule_is_shown_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(recipe("swebench.toml")).unwrap();
    let wrong = folder.path().join("wrong.toml");
    std::fs::write(&wrong, text.replacen("gold.files >= 1", "gold.fils >= 1", 1)).unwrap();
    let (code, stdout, _) = run(quarry(folder.path()).args(["check", "--json"]).arg(&wrong));
    assert_eq!(code, Some(1));
    let reports: Value = serde_json::from_str(&stdout).unwrap();
    let problem = &reports[0]["problems"][0];
    let line = text
        .lines()
        .position(|line| line.contains("gold.files >= 1"))
        .unwrap()
        + 1;
    assert_eq!(problem["line"], line);
    assert_eq!(problem["column"], 14);
    assert!(
        problem["hints"][0].as_str().unwrap().contains("gold.files"),
        "{problem}"
    );
}

#[test]
fn completions_know_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = succeed(quarry(folder.path()).args(["completions", shell]));
        assert!(
            String::from_utf8_lossy(&script.stdout).contains("explain"),
            "{shell}"
        );
        let told = succeed(quarry(folder.path()).args(["completions", shell, "--json"]));
        let told: Value = serde_json::from_slice(&told.stdout).unwrap();
        assert_eq!(told["shell"], shell);
        assert_eq!(
            told["script"].as_str().unwrap().as_bytes(),
            script.stdout,
            "{shell}"
        );
    }
}

#[test]
fn a_command_line_that_cannot_be_read_is_told_in_both_forms() {
    let folder = tempfile::tempdir().unwrap();
    for line in [
        ["run", "--sample"].as_slice(),
        &["run", "x", "--sandbox", "non"],
        &["status", "extra"],
        &["annotate"],
        &["frobnicate"],
    ] {
        let (code, stdout, stderr) = run(quarry(folder.path()).args(line));
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{line:?}");
        let (code, stdout, told) = run(quarry(folder.path()).arg("--json").args(line));
        assert_eq!(code, Some(2), "{line:?}");
        assert!(!stderr.is_empty() && !told.is_empty(), "{line:?}");
        let error: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(error["error"]["kind"], "usage", "{line:?}");
        assert_eq!(error["error"]["exit_code"], 2);
        assert!(!error["error"]["hints"].as_array().unwrap().is_empty());
    }
    let (code, stdout, _) = run(quarry(folder.path()).args(["--json", "--version"]));
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("quarry "), "{stdout}");
}

#[test]
fn options_that_say_nothing_of_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.jsonl");
    std::fs::write(
        &rows,
        "{\"instance_id\": \"a__b-1\", \"repo\": \"a/b\", \"patch\": \"\", \"test_patch\": \"\"}\n",
    )
    .unwrap();
    for option in [
        ["--since", "2030-01-01"],
        ["--before", "2020-01-01"],
        ["--only", "a/b#2"],
    ] {
        let mut command = quarry(folder.path());
        command
            .arg("filter")
            .arg(recipe("swebench.toml"))
            .arg("--input")
            .arg(&rows)
            .args(option);
        let (code, stdout, stderr) = run(&mut command);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{option:?}: {stderr}");
    }
    let mut command = quarry(folder.path());
    command
        .arg("emit")
        .arg(recipe("sample.toml"))
        .args(["--since", "2025-01-10", "--before", "2024-01-01"]);
    assert_eq!(run(&mut command).0, Some(2));
}

#[test]
fn what_cannot_be_written_at_the_end_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("source")).unwrap();
    std::fs::write(at("source/a.py"), "x = 1  # c\n").unwrap();
    let strip = |report: &std::path::Path| {
        let mut command = quarry(folder.path());
        command.args(["--quiet", "strip"]).arg(at("source"));
        run(command.arg("--out").arg(at("code")).arg("--report").arg(report))
    };
    let (code, _, stderr) = strip(&at("nowhere/report.json"));
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stderr.contains("nowhere/report.json") && stderr.contains("hint: "),
        "{stderr}"
    );
    assert!(!at("code").exists());
    let (code, stdout, stderr) = strip(&at("report.json"));
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "", ""));
    assert!(at("report.json").exists() && at("code/a.py").exists());

    let rows = at("rows.jsonl");
    std::fs::write(&rows, "{\"instance_id\":\"a__b-1\",\"patch\":\"\"}\n").unwrap();
    let (code, _, stderr) = run(quarry(folder.path())
        .arg("filter")
        .arg(recipe("roundtrip.toml"))
        .arg("--input")
        .arg(&rows)
        .arg("--out")
        .arg(at("source")));
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("source`: is a directory"), "{stderr}");

    // A version that another text of the recipe made stays, and nothing is built for it.
    let version = at("manifests/sample/0.1.0");
    std::fs::create_dir_all(&version).unwrap();
    std::fs::write(
        version.join("manifest.json"),
        "{\"recipe\":{\"sha256\":\"other\"}}",
    )
    .unwrap();
    let (code, _, stderr) = run(&mut sample_run(folder.path()));
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("its recipe has another text"), "{stderr}");
    let (_, status, _) = run(quarry(folder.path()).args(["status", "--json"]));
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["attempts"], serde_json::json!({}));
}

#[test]
fn a_version_is_made_of_regular_files() {
    let folder = tempfile::tempdir().unwrap();
    let version = folder.path().join("0.1.0");
    std::fs::create_dir(&version).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        version.join("manifest.json"),
        rustix::fs::Mode::RWXU,
    )
    .unwrap();
    let (code, _, stderr) = run(quarry(folder.path()).args(["emit", "--verify"]).arg(&version));
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("it is no regular file"), "{stderr}");
}

#[test]
fn a_repositorys_name_is_the_same_in_other_letters() {
    let folder = tempfile::tempdir().unwrap();
    let mine = |repo: &[&str]| {
        let mirror = folder
            .path()
            .join(".quarry/mirrors")
            .join("quarry-bench+pantry.git");
        let mut command = quarry(folder.path());
        command
            .arg("mine")
            .arg("--mirror")
            .arg(&mirror)
            .args(repo)
            .arg("--json");
        let told: Value = serde_json::from_slice(&succeed(&mut command).stdout).unwrap();
        (told["repo"].as_str().unwrap().to_owned(), told["known"].clone())
    };
    succeed(quarry(folder.path()).args(["mine", "--sample"]));
    let (repo, known) = mine(&["--repo", "Quarry-Bench/PANTRY"]);
    assert_eq!(repo, "quarry-bench/pantry");
    assert!(known.as_u64().unwrap() > 0, "{known}");
    let status = succeed(quarry(folder.path()).args(["status", "--json"]));
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["repositories"].as_array().unwrap().len(), 1);
    let (code, text, _) = run(quarry(folder.path()).args(["explain", "QUARRY-bench/Pantry#20"]));
    assert_eq!(code, Some(0));
    assert!(text.starts_with("quarry-bench/pantry#20\n"), "{text}");
}

#[test]
fn a_version_that_would_hold_nothing_is_not_released() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(recipe("sample.toml")).unwrap();
    let elsewhere = folder.path().join("elsewhere.toml");
    // No environment, and none is looked for: no candidate can be built.
    std::fs::write(&elsewhere, format!("{text}\n[detection]\nenabled = false\n")).unwrap();
    let done = succeed(quarry(folder.path()).arg("run").arg(&elsewhere).arg("--sample"));
    let stdout = String::from_utf8_lossy(&done.stdout);
    assert!(stdout.contains("15 dropped by build: no-environment"), "{stdout}");
    assert!(
        stdout.contains("nothing is emitted: no candidate is left"),
        "{stdout}"
    );
    assert!(!folder.path().join("manifests").exists());
}

#[test]
fn a_repositorys_own_files_explain_an_environment_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let repo = folder.path().join("pantry");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command
            .current_dir(&repo)
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        let (code, _, stderr) = run(command
            .args(args)
            .env("GIT_COMMITTER_DATE", "2035-01-01T00:00:00Z"));
        assert_eq!(code, Some(0), "{stderr}");
    };
    std::fs::create_dir(&repo).unwrap();
    std::fs::write(
        repo.join("tox.ini"),
        "[testenv]\ndeps =\n    pytest\ncommands = pytest\n",
    )
    .unwrap();
    std::fs::write(
        repo.join("setup.py"),
        "from setuptools import setup\nsetup(name='pantry')\n",
    )
    .unwrap();
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "all"]);

    let mut explain = quarry(folder.path());
    explain
        .args(["build", "--explain", "quarry-bench/pantry@HEAD", "--mirror"])
        .arg(&repo);
    let text = String::from_utf8(succeed(&mut explain).stdout).unwrap();
    assert!(text.contains("tox.ini:3: the tox environment"), "{text}");
    let answer: Value = serde_json::from_slice(&succeed(explain.arg("--json")).stdout).unwrap();
    let first = &answer["proposals"][0];
    assert_eq!(
        first["environment"]["install"],
        serde_json::json!(["pytest", "-e ."])
    );
    let origin = first["because"]
        .as_array()
        .unwrap()
        .iter()
        .find(|origin| origin["what"] == "install pytest");
    assert_eq!(origin.unwrap()["line"], 3);

    let (code, _, stderr) =
        run(quarry(folder.path()).args(["build", "--explain", "pantry", "--mirror", "."]));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("pallets/flask@"), "{stderr}");
    let mut nowhere = quarry(folder.path());
    nowhere
        .args(["build", "--explain", "quarry-bench/pantry@nosuch", "--mirror"])
        .arg(&repo);
    assert_eq!(run(&mut nowhere).0, Some(3));
}

#[test]
fn no_work_begins_on_a_disk_that_is_all_but_full() {
    let workspace = tempfile::tempdir().unwrap();
    let run = |mebibytes: &str| {
        let mut command = crate::program::sample_run(workspace.path());
        command.args(["--min-free", mebibytes, "--only", "quarry-bench/pantry#2"]);
        command.output().unwrap()
    };
    let output = run("1000000000000");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("disk-full") && said.contains("quarry gc"), "{said}");
    let output = run("0");
    assert!(output.status.success(), "the same command goes on: {output:?}");
}
