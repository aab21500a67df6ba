//! `quarry strip` on whole trees: folders, commits, archives, and what is hostile in them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};

const QUARRY: &str = env!("CARGO_BIN_EXE_quarry");

/// Runs to the end and insists on success, showing what was printed if not.
fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?} ended with {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Every file below `folder` with its bytes (a link with its text), by relative path.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap().file_type();
            if kind.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            let bytes = if kind.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().as_bytes().to_vec()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(name, bytes);
        }
    }
    found
}

fn strip(arguments: &[&OsStr]) -> Command {
    let mut command = Command::new(QUARRY);
    command
        .arg("strip")
        .args(arguments)
        .stdin(std::process::Stdio::null());
    command
}

fn args<'a>(list: &'a [&'a str]) -> Vec<&'a OsStr> {
    list.iter().map(OsStr::new).collect()
}

fn write(root: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = succeed(
        Command::new("git")
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args([
                "-c",
                "user.name=T",
                "-c",
                "user.email=t@example.org",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments),
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "README.md", "# Read me\n");
    write(root, "CHANGES.rst", "Changes\n");
    write(root, "LICENSE.rst", "Licence\n");
    write(root, "AGENTS.md", "Be good.\n");
    write(root, "sub/CLAUDE.md", "Be good.\n");
    write(root, ".cursor/rules/a.mdc", "Be good.\n");
    write(root, "pyproject.toml", "[project]\nreadme = \"README.md\"\n");
    write(root, "docs/index.rst", "Docs\n");
    write(root, "docs/conf.py", "# conf\nx = 1\n");
    write(root, "pkg/__init__.py", "\"\"\"Doc.\"\"\"\n");
    write(root, "pkg/a.py", "def f():\n    \"doc\"\n    return __doc__\n");
    write(root, "pkg/data/text.rst", "Data\n");
    write(root, "pkg/c.pyx", "# c\ncdef int x\n");
    write(root, "tool", "#!/bin/sh\n# stays\n");
    fs::set_permissions(root.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("pkg/a.py", root.join("link.py")).unwrap();
    symlink("docs/index.rst", root.join("dangling")).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_keys().collect()
}

#[test]
fn a_folder_safely() {
    let source = repository();
    let target = tempfile::tempdir().unwrap();
    let (out, report) = (target.path().join("out"), target.path().join("report.json"));
    let before = tree(source.path());
    let output = succeed(
        strip(&args(&["--out"]))
            .args([&out])
            .arg(source.path())
            .arg("--report")
            .arg(&report),
    );
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("documentation")
    );
    assert_eq!(tree(source.path()), before, "the source is only read");
    assert_eq!(
        names(&out),
        [
            ".cursor/rules/a.mdc",
            "LICENSE.rst",
            "README.md",
            "link.py",
            "pkg/__init__.py",
            "pkg/a.py",
            "pkg/c.pyx",
            "pkg/data/text.rst",
            "pyproject.toml",
            "tool",
        ]
    );
    let text = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(text("README.md"), "");
    assert_eq!(text("pkg/a.py"), "def f():\n    return __doc__\n");
    assert_eq!(text("pkg/c.pyx"), "cdef int x\n");
    assert_eq!(fs::read_link(out.join("link.py")).unwrap(), Path::new("pkg/a.py"));
    assert_eq!(
        fs::metadata(out.join("tool")).unwrap().permissions().mode() & 0o777,
        0o755
    );
    let report: serde_json::Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let schema: serde_json::Value =
        serde_json::from_slice(&succeed(&mut strip(&args(&["--report-schema"]))).stdout).unwrap();
    jsonschema::validate(&schema, &report).unwrap();
    let file = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["path"] == "pkg/a.py")
        .unwrap();
    assert_eq!(
        file["needs"],
        serde_json::json!([{ "line": 3, "kind": "doc-read" }])
    );
    let readme = report["documentation"]
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["path"] == "README.md")
        .unwrap();
    assert_eq!(readme["fate"], "stub");
    assert_eq!(readme["referrers"], serde_json::json!(["pyproject.toml"]));
    assert_eq!(report["totals"]["leaks"]["agent-context"], 1);
}

#[test]
fn a_folder_by_the_papers_rule_and_without_context() {
    let source = repository();
    let target = tempfile::tempdir().unwrap();
    let (paper, context) = (target.path().join("paper"), target.path().join("context"));
    succeed(
        strip(&args(&["--mode", "paper", "--out"]))
            .args([&paper])
            .arg(source.path()),
    );
    assert_eq!(
        names(&paper),
        [
            ".cursor/rules/a.mdc",
            "link.py",
            "pkg/__init__.py",
            "pkg/a.py",
            "pkg/c.pyx",
            "pyproject.toml",
            "tool"
        ]
    );
    assert_eq!(
        fs::read_to_string(paper.join("pkg/c.pyx")).unwrap(),
        "# c\ncdef int x\n"
    );
    succeed(
        strip(&args(&["--variant", "no-context", "--out"]))
            .args([&context])
            .arg(source.path()),
    );
    let mut wanted = tree(source.path());
    wanted.retain(|name, _| !["AGENTS.md", "sub/CLAUDE.md", ".cursor/rules/a.mdc"].contains(&name.as_str()));
    assert_eq!(tree(&context), wanted);
}

#[test]
fn a_commit_is_stripped_as_its_checkout_is() {
    let source = repository();
    git(source.path(), &["init", "-q"]);
    git(source.path(), &["add", "-A"]);
    git(source.path(), &["commit", "-qm", "x"]);
    let target = tempfile::tempdir().unwrap();
    let at = |name: &str| target.path().join(name);
    let git_dir = source.path().join(".git");
    let of_commit = |more: &[&str]| {
        let mut command = strip(&args(&["--commit", "HEAD", "--mirror"]));
        command.arg(&git_dir).args(more);
        command
    };
    succeed(strip(&args(&["--out"])).args([&at("folder")]).arg(source.path()));
    succeed(of_commit(&["--out"]).arg(at("commit")));
    let stripped = tree(&at("folder"));
    assert_eq!(tree(&at("commit")), stripped);
    succeed(of_commit(&["--format", "tar", "--out"]).arg(at("a.tar")));
    succeed(
        strip(&args(&["--format", "tar", "--out"]))
            .arg(at("b.tar"))
            .arg(source.path()),
    );
    assert_eq!(fs::read(at("a.tar")).unwrap(), fs::read(at("b.tar")).unwrap());
    fs::create_dir(at("tar")).unwrap();
    succeed(
        Command::new("tar")
            .arg("-xf")
            .arg(at("a.tar"))
            .arg("-C")
            .arg(at("tar")),
    );
    assert_eq!(tree(&at("tar")), stripped);
    let name = String::from_utf8(succeed(&mut of_commit(&["--format", "tree"])).stdout).unwrap();
    let listed = git(source.path(), &["ls-tree", "-r", "--name-only", name.trim()]);
    assert_eq!(listed.lines().collect::<Vec<_>>(), names(&at("folder")));
    assert_eq!(
        git(source.path(), &["show", &format!("{}:pkg/a.py", name.trim())]),
        "def f():\n    return __doc__"
    );
}

#[test]
fn in_place_only_where_git_can_bring_it_back() {
    let source = repository();
    let in_place = |more: &[&str]| -> Output {
        strip(&args(&["--in-place"]))
            .args(more)
            .arg(source.path())
            .output()
            .unwrap()
    };
    let before = tree(source.path());
    assert_eq!(in_place(&[]).status.code(), Some(3), "no work tree");
    git(source.path(), &["init", "-q"]);
    git(source.path(), &["add", "-A"]);
    git(source.path(), &["commit", "-qm", "x"]);
    write(source.path(), "pkg/a.py", "x = 1  # new\n");
    let output = in_place(&[]);
    assert_eq!(output.status.code(), Some(3), "changes that are not committed");
    assert!(String::from_utf8_lossy(&output.stderr).contains("hint: commit or stash"));
    git(source.path(), &["checkout", "-q", "."]);
    // What git does not look at it cannot bring back.
    git(source.path(), &["update-index", "--assume-unchanged", "pkg/a.py"]);
    assert_eq!(
        in_place(&[]).status.code(),
        Some(3),
        "a file git was told to pass over"
    );
    git(
        source.path(),
        &["update-index", "--no-assume-unchanged", "pkg/a.py"],
    );
    write(
        source.path(),
        ".git/info/exclude",
        "own.*\ndocs/_build\nCLAUDE.md\n*.pyc\n",
    );
    for ignored in [
        "own.py",
        "own.pyw",
        "own.pxi",
        "own.ipynb",
        "docs/_build/index.html",
        "CLAUDE.md",
    ] {
        write(source.path(), ignored, "x = 1  # mine alone\n");
        assert_eq!(in_place(&[]).status.code(), Some(3), "an ignored file: {ignored}");
        fs::remove_file(source.path().join(ignored)).unwrap();
    }
    symlink("docs/index.rst", source.path().join("own.link")).unwrap();
    assert_eq!(in_place(&[]).status.code(), Some(3), "an ignored link");
    fs::remove_file(source.path().join("own.link")).unwrap();
    fs::remove_dir(source.path().join("docs/_build")).unwrap();
    write(source.path(), "pkg/a.pyc", "");
    assert_eq!(in_place(&[]).status.code(), Some(0));
    fs::remove_file(source.path().join("pkg/a.pyc")).unwrap();
    assert_eq!(
        fs::read_to_string(source.path().join("pkg/a.py")).unwrap(),
        "def f():\n    return __doc__\n"
    );
    assert!(!source.path().join("docs").exists());
    assert!(source.path().join(".git").exists());
    assert_eq!(in_place(&["--force"]).status.code(), Some(0));
    git(source.path(), &["checkout", "-q", "."]);
    let mut after = tree(source.path());
    after.retain(|name, _| !name.starts_with(".git/"));
    assert_eq!(after, before);
}

#[test]
fn what_is_hostile_gets_a_status() {
    let source = tempfile::tempdir().unwrap();
    let root = source.path();
    let deep = 100_000;
    write(root, "brackets.py", "[".repeat(deep));
    write(
        root,
        "closed.py",
        format!("x = {}{}\n", "(".repeat(deep), ")".repeat(deep)),
    );
    write(root, "minus.py", format!("x = {}1\n", "-".repeat(deep * 2)));
    write(root, "chain.py", format!("x = 1{}\n", " + 1".repeat(deep)));
    write(root, "calls.py", format!("x{}\n", "()".repeat(deep)));
    write(root, "nul.py", "x = 1 # \0\n");
    write(root, "cookie.py", "# coding: ascii\n# \u{e9}\n");
    write(root, "surrogate.py", b"'\xed\xa0\x80'\n");
    write(root, "empty.py", "");
    write(root, "long.py", format!("x = '{}'  # c\n", "a".repeat(3_000_000)));
    fs::write(root.join(OsStr::from_bytes(b"caf\xe9.py")), "x = 1  # c\n").unwrap();
    symlink("loop.py", root.join("loop.py")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("/etc/passwd", root.join("out.py")).unwrap();
    write(root, "other/.git", "gitdir: elsewhere\n");
    write(root, "other/b.py", "x = 1  # c\n");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe.py"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let target = tempfile::tempdir().unwrap();
    let (out, report) = (target.path().join("out"), target.path().join("report.json"));
    succeed(
        strip(&args(&["--out"]))
            .arg(&out)
            .arg(root)
            .arg("--report")
            .arg(&report),
    );
    let report: serde_json::Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let file = |name: &str| {
        let file = report["files"]
            .as_array()
            .unwrap()
            .iter()
            .find(|file| file["path"] == name)
            .unwrap();
        file["untouched"]["reason"]
            .as_str()
            .unwrap_or_else(|| file["status"].as_str().unwrap())
            .to_owned()
    };
    assert_eq!(file("brackets.py"), "syntax");
    assert_eq!(file("closed.py"), "too-deep");
    assert_eq!(file("minus.py"), "too-deep");
    assert_eq!(file("nul.py"), "nul");
    assert_eq!(file("cookie.py"), "undecodable");
    assert_eq!(file("surrogate.py"), "undecodable");
    assert_eq!(file("empty.py"), "unchanged");
    assert_eq!(file("long.py"), "stripped");
    assert_eq!(file("\"caf\\351.py\""), "stripped");
    assert_eq!(
        fs::read(out.join(OsStr::from_bytes(b"caf\xe9.py"))).unwrap(),
        b"x = 1\n"
    );
    assert_eq!(fs::read_link(out.join("up")).unwrap(), Path::new(".."));
    assert!(
        fs::read_dir(out.join("other")).unwrap().next().is_none(),
        "another repository is not entered"
    );
    let skipped: Vec<&str> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(skipped, ["other", "pipe.py"]);
}

#[test]
fn one_file_and_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.py", "x = 1  # c\n");
    write(folder.path(), "bad.py", "x = = 1  # c\n");
    let file = |name: &str| strip(&[folder.path().join(name).as_os_str()]).output().unwrap();
    assert_eq!(file("a.py").stdout, b"x = 1\n");
    let bad = file("bad.py");
    assert_eq!(
        (bad.status.code(), bad.stdout),
        (Some(1), b"x = = 1  # c\n".to_vec())
    );
    assert!(String::from_utf8_lossy(&bad.stderr).contains("left as it was: line 1"));
    let input = fs::File::open(folder.path().join("a.py")).unwrap();
    let output = Command::new(QUARRY)
        .args(["strip", "-"])
        .stdin(input)
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"x = 1\n");
    let inside = strip(&[
        folder.path().as_os_str(),
        OsStr::new("--out"),
        folder.path().join("o").as_os_str(),
    ]);
    assert_eq!(
        { inside }.output().unwrap().status.code(),
        Some(2),
        "a destination inside the source"
    );
}

#[test]
fn an_interpreter_may_judge_too() {
    let source = repository();
    let target = tempfile::tempdir().unwrap();
    let python = crate::python::python();
    succeed(
        strip(&args(&["--verify-with"]))
            .arg(python)
            .arg(source.path())
            .arg("--out")
            .arg(target.path().join("out")),
    );
    assert!(target.path().join("out/pkg/a.py").exists());
    let wrong = strip(&args(&["--verify-with", "/nowhere/python"]))
        .arg(source.path())
        .arg("--out")
        .arg(target.path().join("no"))
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(5));
}
