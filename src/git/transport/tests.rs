//! Clones and fetches over `file://`.

use std::cell::Cell;
use std::fs;

use super::{Transfer, mirror, url};
use crate::git::fixture::{Fixture, files};
use crate::git::{GitError, Mirror, mirror_repo_name};

fn silent(_: &str) {}

fn never() -> bool {
    false
}

fn source() -> Fixture {
    let mut fixture = Fixture::new();
    let one = fixture.commit(&[], &files(&[("a", "1\n")]), "One");
    let two = fixture.commit(&[one], &files(&[("a", "2\n")]), "Two");
    fixture.set_ref("refs/heads/trunk", one);
    fixture.set_ref("refs/heads/gone", one);
    fixture.set_ref("refs/tags/v1", one);
    fixture.set_ref("refs/pull/7/head", two);
    fixture.set_ref("refs/pull/7/merge", two);
    fs::write(fixture.path().join("HEAD"), "ref: refs/heads/trunk\n").unwrap();
    fixture
}

fn address(fixture: &Fixture) -> String {
    format!("file://{}", fixture.path().display())
}

fn names(mirror: &Mirror) -> Vec<String> {
    mirror
        .refs("refs/")
        .unwrap()
        .into_iter()
        .map(|tip| tip.name)
        .collect()
}

#[test]
fn a_mirror_follows_its_source() {
    let mut source = source();
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().join("lines.git");
    assert_eq!(
        mirror(&address(&source), &into, &silent, &never).unwrap(),
        Transfer::Done
    );
    let opened = Mirror::open(&into).unwrap();
    assert_eq!(
        names(&opened),
        [
            "refs/heads/gone",
            "refs/heads/trunk",
            "refs/pull/7/head",
            "refs/tags/v1"
        ]
    );
    assert_eq!(opened.default_branch().as_deref(), Some("trunk"));
    // The source moves on: a new pull request, a moved branch, a removed one.
    let head = opened.resolve("refs/pull/7/head").unwrap();
    let next = source.commit(&[head], &files(&[("a", "3\n")]), "Three");
    source.set_ref("refs/pull/8/head", next);
    source.set_ref("refs/heads/trunk", next);
    source.remove_ref("refs/heads/gone");
    assert_eq!(
        mirror(&address(&source), &into, &silent, &never).unwrap(),
        Transfer::Done
    );
    let opened = Mirror::open(&into).unwrap();
    assert_eq!(
        names(&opened),
        [
            "refs/heads/trunk",
            "refs/pull/7/head",
            "refs/pull/8/head",
            "refs/tags/v1"
        ]
    );
    assert_eq!(opened.resolve("trunk").unwrap(), next);
    // With nothing new, nothing is transferred.
    let said = std::sync::Mutex::new(0);
    mirror(&address(&source), &into, &|_| *said.lock().unwrap() += 1, &never).unwrap();
    assert_eq!(*said.lock().unwrap(), 0);
}

#[test]
fn a_stopped_clone_goes_on_where_it_stopped() {
    let source = source();
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().join("lines.git");
    // The first question lets branches and tags through, the later ones stop.
    let asked = Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) > 0;
    let first = mirror(&address(&source), &into, &silent, &stop).unwrap();
    assert_eq!(first, Transfer::Stopped);
    // What a kill leaves behind is in nobody's way.
    fs::create_dir_all(into.join("objects/pack")).unwrap();
    fs::write(into.join("objects/pack/tmp_pack_x"), "half").unwrap();
    fs::write(into.join("packed-refs.lock"), "").unwrap();
    assert_eq!(
        mirror(&address(&source), &into, &silent, &never).unwrap(),
        Transfer::Done
    );
    assert!(!into.join("objects/pack/tmp_pack_x").exists());
    assert_eq!(names(&Mirror::open(&into).unwrap()).len(), 4);
    // So is what a kill in the first moment leaves.
    let begun = dir.path().join("begun.git");
    fs::create_dir_all(begun.join("refs")).unwrap();
    assert_eq!(
        mirror(&address(&source), &begun, &silent, &never).unwrap(),
        Transfer::Done
    );
}

#[test]
fn what_is_no_mirror_is_left_alone_and_a_wrong_address_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.txt"), "years").unwrap();
    let refused = mirror("file:///nowhere", dir.path(), &silent, &never).unwrap_err();
    assert!(matches!(refused, GitError::NotEmpty { .. }), "{refused}");
    let refused = mirror("file:///nowhere/at/all", &dir.path().join("new"), &silent, &never).unwrap_err();
    assert!(
        refused.to_string().contains("`file:///nowhere/at/all`"),
        "{refused}"
    );
    assert!(!refused.hints().is_empty());
}

#[test]
fn a_secret_in_an_address_is_neither_told_nor_kept() {
    let dir = tempfile::tempdir().unwrap();
    for (name, address) in [
        ("both", "https://ann:s3cret@127.0.0.1:1/a/b.git"),
        ("alone", "https://s3cret@127.0.0.1:1/a/b.git"),
    ] {
        let into = dir.path().join(name);
        let refused = mirror(address, &into, &silent, &never).unwrap_err();
        let told = format!("{refused} {refused:?} {:?}", refused.hints());
        assert!(told.contains("`https://127.0.0.1:1/a/b.git`"), "{told}");
        assert!(!told.contains("s3cret") && !told.contains("ann:"), "{told}");
        let kept = fs::read_to_string(into.join("config")).unwrap();
        assert!(kept.contains("url = https://127.0.0.1:1/a/b.git"), "{kept}");
        assert!(!kept.contains("s3cret"), "{kept}");
        assert_eq!(mirror_repo_name(&into).unwrap().to_string(), "a/b");
    }
}

#[test]
fn addresses_are_told_from_paths() {
    for (text, expected) in [
        ("https://example.org/a/b", Some("https://example.org/a/b")),
        ("HTTPS://Example.org/A/b", Some("https://Example.org/A/b")),
        ("ssh://git@host/a/b", Some("ssh://git@host/a/b")),
        ("git@host:a/b.git", Some("git@host:a/b.git")),
        ("file:///x", Some("file:///x")),
        ("/srv/mirrors/x.git", None),
        ("x.git", None),
        ("../x", None),
        ("c:/x", None),
        ("a@b/c:d", None),
        ("https://", None),
        ("", None),
    ] {
        assert_eq!(url(text).unwrap().as_deref(), expected, "{text}");
    }
    for text in ["ftp://ann:s3cret@x/y", "FTP://x/y", "htps://x/y"] {
        let refused = url(text).unwrap_err();
        assert!(matches!(refused, GitError::Scheme { .. }), "{text}");
        assert!(!refused.to_string().contains("s3cret"), "{refused}");
        assert!(
            refused.hints()[0].contains("`https://`") && refused.hints()[0].contains("`file://`"),
            "{text}"
        );
    }
}

#[test]
fn a_mirror_knows_what_it_is_of() {
    let source = source();
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().join("x");
    mirror(&address(&source), &into, &silent, &never).unwrap();
    // A path has no forge to name a repository on; the folder has.
    assert_eq!(mirror_repo_name(&into), None);
    let named = dir.path().join("ada__lines.git");
    mirror(&address(&source), &named, &silent, &never).unwrap();
    assert_eq!(mirror_repo_name(&named).unwrap().to_string(), "ada/lines");
}
