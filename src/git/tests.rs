//! Reading, exporting and applying, on repositories that hold what real ones do.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::apply::{ApplyError, apply, apply_fuzzy, apply_three_way, check};
use super::fixture::{EXEC, FILE, Files, Fixture, LINK, MODULE, files};
use super::program::{Settings, git, in_dir, succeed};
use super::{GitError, Mirror};
use crate::domain::path::RepoPath;

fn odd_files() -> Files {
    let mut files = files(&[
        ("src/a.py", "print('a')\n"),
        ("crlf.txt", "one\r\ntwo\r\n"),
        ("bare.txt", "no end"),
    ]);
    files.insert(b"caf\xe9/t\tab.py".to_vec(), (FILE, b"# caf\xe9\n".to_vec()));
    files.insert(b"run.sh".to_vec(), (EXEC, b"#!/bin/sh\n".to_vec()));
    files.insert(b"link".to_vec(), (LINK, b"../outside".to_vec()));
    files.insert(b"module".to_vec(), (MODULE, vec![7; 20]));
    files.insert(
        b"bin.dat".to_vec(),
        (FILE, (0..=255).cycle().take(3000).collect()),
    );
    files.insert(
        b".gitattributes".to_vec(),
        (FILE, b"* text=auto eol=crlf\n*.py ident\n".to_vec()),
    );
    files
}

/// Every entry under a folder: its path, and `x`, `-`, `l` or `d` with its bytes.
fn snapshot(dir: &Path) -> Vec<(Vec<u8>, char, Vec<u8>)> {
    let mut found = vec![];
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        if entries.is_empty() && folder != dir {
            let path = folder.strip_prefix(dir).unwrap().as_os_str().as_bytes().to_vec();
            found.push((path, 'd', vec![]));
        }
        for entry in entries {
            let meta = fs::symlink_metadata(&entry).unwrap();
            let path = entry.strip_prefix(dir).unwrap().as_os_str().as_bytes().to_vec();
            if meta.is_dir() {
                folders.push(entry);
            } else if meta.is_symlink() {
                found.push((
                    path,
                    'l',
                    fs::read_link(&entry).unwrap().as_os_str().as_bytes().to_vec(),
                ));
            } else {
                let kind = if meta.permissions().mode() & 0o100 == 0 {
                    '-'
                } else {
                    'x'
                };
                found.push((path, kind, fs::read(&entry).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn export(mirror: &Mirror, commit: crate::domain::ids::CommitSha) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    mirror.export(commit, dir.path()).unwrap();
    dir
}

#[test]
fn a_mirror_without_config_is_read() {
    let mut fixture = Fixture::new();
    let commit = fixture.commit(&[], &odd_files(), "first");
    fixture.set_ref("refs/heads/main", commit);
    fs::remove_file(fixture.path().join("config")).unwrap();
    let mirror = Mirror::open(fixture.path()).unwrap();
    assert_eq!(mirror.default_branch().as_deref(), Some("main"));
    assert_eq!(mirror.resolve("main").unwrap(), commit);
    assert!(matches!(mirror.resolve("nope"), Err(GitError::Unresolved { .. })));
    assert_eq!(mirror.refs("refs/heads/").unwrap().len(), 1);
    let odd = RepoPath::from(&b"caf\xe9/t\tab.py"[..]);
    assert_eq!(mirror.read(commit, &odd).unwrap().unwrap(), b"# caf\xe9\n");
    assert_eq!(
        mirror.read(commit, &"link".into()).unwrap().unwrap(),
        b"../outside"
    );
    for absent in ["src", "module", "src/a.py/b", "nope", ""] {
        assert_eq!(mirror.read(commit, &absent.into()).unwrap(), None, "{absent}");
    }
    let listed: Vec<Vec<u8>> = mirror
        .files(commit)
        .unwrap()
        .into_iter()
        .map(|file| file.path.as_bytes().to_vec())
        .collect();
    assert_eq!(listed, odd_files().into_keys().collect::<Vec<_>>());
}

#[test]
fn an_export_is_the_tree_byte_for_byte() {
    let mut fixture = Fixture::new();
    let commit = fixture.commit(&[], &odd_files(), "first");
    let mirror = Mirror::open(fixture.path()).unwrap();
    let dir = export(&mirror, commit);
    let expected: Vec<_> = odd_files()
        .into_iter()
        .map(|(path, (mode, content))| match mode {
            EXEC => (path, 'x', content),
            LINK => (path, 'l', content),
            MODULE => (path, 'd', vec![]),
            _ => (path, '-', content),
        })
        .collect();
    assert_eq!(snapshot(dir.path()), expected);
    assert!(matches!(
        mirror.export(commit, dir.path()),
        Err(GitError::NotEmpty { .. })
    ));
}

#[test]
fn an_export_never_leaves_its_folder() {
    let fixture = Fixture::new();
    let blob = fixture.blob(b"evil");
    let entry = |mode: &str, name: &str, id: git2::Oid| {
        [format!("{mode} {name}\0").as_bytes(), id.as_bytes()].concat()
    };
    let raw = |bytes: &[u8]| fixture.raw_object(git2::ObjectType::Tree, bytes);
    let inner = raw(&entry("100644", "x", blob));
    let outside = tempfile::tempdir().unwrap();
    let link = fixture.blob(outside.path().as_os_str().as_bytes());
    let trees = [
        raw(&entry("40000", "..", inner)),
        raw(&entry("100644", "../x", blob)),
        raw(&entry("40000", ".GIT", inner)),
        raw(&[entry("120000", "a", link), entry("40000", "a", inner)].concat()),
        raw(&[entry("40000", "a", inner), entry("120000", "a", link)].concat()),
    ];
    let mirror = Mirror::open(fixture.path()).unwrap();
    for tree in trees {
        let dir = tempfile::tempdir().unwrap();
        let dest = dir.path().join("in");
        assert!(mirror.export(fixture.commit_of_tree(tree), &dest).is_err());
        assert!(fs::read_dir(dir.path()).unwrap().count() == 1);
        assert!(fs::read_dir(outside.path()).unwrap().next().is_none());
    }
}

#[test]
fn a_patch_of_everything_applies_byte_exactly() {
    let mut fixture = Fixture::new();
    let old = odd_files();
    let mut new = old.clone();
    new.insert(b"crlf.txt".to_vec(), (FILE, b"one\r\ntwo\r\nthree".to_vec()));
    new.insert(b"bare.txt".to_vec(), (FILE, b"no end\nbut more".to_vec()));
    new.insert(b"run.sh".to_vec(), (FILE, b"#!/bin/sh\n".to_vec()));
    new.insert(b"link".to_vec(), (LINK, b"elsewhere".to_vec()));
    new.insert(
        b"bin.dat".to_vec(),
        (FILE, (0..=255).rev().cycle().take(4000).collect()),
    );
    new.insert(b"new/deep/\xff".to_vec(), (EXEC, b"x".to_vec()));
    let moved = new.remove(&b"caf\xe9/t\tab.py"[..]).unwrap();
    new.insert(b"moved \"q\".py".to_vec(), moved);
    new.remove(&b"src/a.py"[..]);
    let before = fixture.commit(&[], &old, "before");
    let after = fixture.commit(&[before], &new, "after");
    let mut diff = in_dir(git(Settings::Isolated), fixture.path());
    diff.args([
        "diff",
        "--binary",
        "--full-index",
        "-M",
        &before.to_string(),
        &after.to_string(),
    ]);
    let patch = succeed(diff, "diff", b"").unwrap();
    let mirror = Mirror::open(fixture.path()).unwrap();
    let dir = export(&mirror, before);
    check(dir.path(), &patch).unwrap();
    apply(dir.path(), &patch).unwrap();
    assert_eq!(snapshot(dir.path()), snapshot(export(&mirror, after).path()));
}

#[test]
fn a_patch_is_taken_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "1\n").unwrap();
    fs::write(dir.path().join("b"), "1\n").unwrap();
    let hunk = |file: &str, old: &str| {
        format!("diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{old}\n+2\n")
    };
    let half = hunk("a", "1") + &hunk("b", "other");
    let before = snapshot(dir.path());
    let error = apply(dir.path(), half.as_bytes()).unwrap_err();
    assert!(
        matches!(&error, ApplyError::DoesNotApply { detail } if detail.contains("b:1")),
        "{error}"
    );
    for bad in [
        "not a patch\n",
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,3 @@\n-1\n+2\n",
    ] {
        assert!(
            matches!(
                apply(dir.path(), bad.as_bytes()),
                Err(ApplyError::DoesNotApply { .. })
            ),
            "{bad}"
        );
    }
    assert_eq!(snapshot(dir.path()), before);
    apply(dir.path(), b"").unwrap();
    apply(dir.path(), hunk("b", "1").as_bytes()).unwrap();
    assert_eq!(fs::read(dir.path().join("b")).unwrap(), b"2\n");
}

#[test]
fn a_patch_cannot_leave_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("in");
    fs::create_dir(&dir).unwrap();
    symlink(outer.path(), dir.join("up")).unwrap();
    let before = snapshot(outer.path());
    for path in ["../x", "up/x", ".git/hooks/x"] {
        let patch = format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
        );
        assert!(
            matches!(
                apply(&dir, patch.as_bytes()),
                Err(ApplyError::DoesNotApply { .. })
            ),
            "{path}"
        );
    }
    assert_eq!(snapshot(outer.path()), before);
}

#[test]
fn links_are_followed_inside_a_tree_and_no_further() {
    let mut fixture = Fixture::new();
    let mut list = files(&[("requirements/tests.txt", "pytest\n"), ("a/b/c.txt", "six\n")]);
    for (path, target) in [
        ("tests.txt", "requirements/tests.txt"),
        ("a/up.txt", "../tests.txt"),
        ("folder", "a/b"),
        ("out.txt", "../../etc/passwd"),
        ("root.txt", "/etc/passwd"),
        ("loop.txt", "loop.txt"),
        ("gone.txt", "no/such.txt"),
    ] {
        list.insert(path.as_bytes().to_vec(), (LINK, target.as_bytes().to_vec()));
    }
    let commit = fixture.commit(&[], &list, "links");
    let mirror = Mirror::open(fixture.path()).unwrap();
    let read = |path: &str| {
        let bytes = mirror.read_through(commit, &RepoPath::from(path)).unwrap();
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    };
    for path in ["requirements/tests.txt", "tests.txt", "a/up.txt"] {
        assert_eq!(read(path).as_deref(), Some("pytest\n"), "{path}");
    }
    assert_eq!(read("folder/c.txt").as_deref(), Some("six\n"));
    for path in ["out.txt", "root.txt", "loop.txt", "gone.txt", "folder", "a", "no"] {
        assert_eq!(read(path), None, "{path}");
    }
}

#[test]
fn a_patch_on_another_commit_is_merged_whole_or_not_at_all() {
    let mut fixture = Fixture::new();
    let text = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n7\n8\n{last}\n");
    let old = fixture.commit(&[], &files(&[("a.py", &text("1", "9")), ("b.py", "b\n")]), "m");
    let new = fixture.commit(
        &[old],
        &files(&[("a.py", &text("1", "ten")), ("b.py", "b\n")]),
        "m",
    );
    let git_dir = fixture.path().to_owned();
    let diff = |from, to| {
        let mut command = in_dir(git(Settings::Isolated), &git_dir);
        command.args(["diff", "--full-index", &format!("{from}"), &format!("{to}")]);
        succeed(command, "diff", b"").unwrap()
    };
    // Made on `old`, where the last line was another one; its context does not match there.
    let mine = fixture.commit(
        &[old],
        &files(&[
            ("a.py", &text("one", "9").replace("8\n9", "8\n8.5\n9")),
            ("b.py", "b\n"),
        ]),
        "m",
    );
    let clash = diff(old, mine);
    let mine = fixture.commit(
        &[old],
        &files(&[("a.py", &text("one", "9")), ("b.py", "c\n")]),
        "m",
    );
    let fits = diff(old, mine);
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    Mirror::open(&git_dir).unwrap().export(new, &tree).unwrap();
    let before = snapshot(&tree);
    let objects = git_dir.join("objects");
    assert!(matches!(
        apply_three_way(&tree, &clash, &objects),
        Err(ApplyError::DoesNotApply { .. })
    ));
    assert_eq!(snapshot(&tree), before, "a conflict leaves nothing behind");
    apply_three_way(&tree, &fits, &objects).unwrap();
    assert_eq!(fs::read_to_string(tree.join("a.py")).unwrap(), text("one", "ten"));
    assert_eq!(fs::read_to_string(tree.join("b.py")).unwrap(), "c\n");
    let garbage = apply_three_way(&tree, b"no patch", &objects);
    assert!(
        matches!(garbage, Err(ApplyError::DoesNotApply { .. })),
        "{garbage:?}"
    );
}

#[test]
fn fuzz_lets_context_and_counts_be_wrong() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "1\n2\n3\n4\n5\n6\n7\n").unwrap();
    let patch = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n x\n 2\n 3\n-4\n+four\n 5\n 6\n y\n";
    assert!(apply(dir.path(), patch).is_err());
    assert!(apply_fuzzy(dir.path(), patch, 3).is_err());
    apply_fuzzy(dir.path(), patch, 2).unwrap();
    assert_eq!(
        fs::read_to_string(dir.path().join("f")).unwrap(),
        "1\n2\n3\nfour\n5\n6\n7\n"
    );
}
