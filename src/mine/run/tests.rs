//! Whole readings of small mirrors.

mod bytes;

use std::collections::BTreeMap;

use super::story::{Story, edited, read};
use crate::domain::candidate::{DiffSource, RelationKind};
use crate::domain::ids::CommitSha;
use crate::domain::path::RepoPath;
use crate::git::Mirror;
use crate::git::apply::apply;
use crate::git::fixture::{EXEC, FILE, LINK, MODULE};
use crate::mine::plan::Known;
use crate::mine::sides::Limits;

#[test]
fn pull_requests_land_by_every_road() {
    let mut story = Story::new();
    let start = story.main;
    // 1: a merge by the button, with the trunk moved on elsewhere in the same file.
    let files = edited(&story.files, "src/a.py", 20, "fixed 1");
    let head = story.work("Ada", start, &files, "Fix a\n\nCloses #100");
    story.open(1, head);
    story.land("Ivy", "Ivy", edited(&story.files, "src/a.py", 2, "moved"), "Tidy");
    let merged = edited(&story.files, "src/a.py", 20, "fixed 1");
    story.merge(
        "Ivy",
        &[head],
        merged,
        "Merge pull request #1 from ada/fix\n\nFix the a of #99",
    );
    // 2: squashed by the button.
    let files = edited(&story.files, "src/b.py", 5, "squashed");
    let head = story.work("Bob", story.main, &files, "Step");
    story.open(2, head);
    let squash = story.land("Bob", "GitHub", files, "Squash b (#2)\n\n* Step, fixes #101");
    // 3: rebased, two commits.
    let base = story.files.clone();
    let (one, two) = (
        edited(&base, "src/c.py", 3, "one"),
        edited(&base, "src/c.py", 3, "one"),
    );
    let two = edited(&two, "src/c.py", 9, "two");
    let first = story.work(
        "Cy",
        start,
        &edited(&Story::new().files, "src/c.py", 3, "one"),
        "One",
    );
    let written = story.fixture.now() - 3600;
    let last = edited(
        &edited(&Story::new().files, "src/c.py", 3, "one"),
        "src/c.py",
        9,
        "two",
    );
    let head = story.work("Cy", first, &last, "Two");
    let written_too = story.fixture.now() - 3600;
    story.open(3, head);
    story.land_written("Cy", "Ivy", one, "One", written);
    story.land_written("Cy", "Ivy", two, "Two", written_too);
    // 4: squashed by the button, without its number.
    let files = edited(&story.files, "src/b.py", 12, "four");
    let head = story.work("Dee", story.main, &files, "wip");
    story.open(4, head);
    story.land("Dee", "GitHub", files, "Improve b");
    // 5: the branch moved on to it.
    let files = edited(&story.files, "src/b.py", 14, "five");
    let head = story.work("Eve", story.main, &files, "Five");
    story.open(5, head);
    (story.main, story.files) = (head, files);
    story.land("Ivy", "Ivy", edited(&story.files, "src/b.py", 29, "next"), "Next");
    // 6: merged by hand from a fork, without its number.
    let files = edited(&story.files, "src/c.py", 20, "six");
    let head = story.work("Flo", story.main, &files, "Six");
    story.open(6, head);
    story.land(
        "Ivy",
        "Ivy",
        edited(&story.files, "src/a.py", 30, "apart"),
        "Apart",
    );
    let files = edited(&story.files, "src/c.py", 20, "six");
    story.merge(
        "Ivy",
        &[head],
        files,
        "Merge branch 'six' of https://example.org/flo/lines",
    );
    // 7: carried back to an older line.
    let old = edited(&Story::new().files, "src/b.py", 5, "squashed");
    let picked = format!("Squash b (#2)\n\n(cherry picked from commit {squash})");
    let head = story.work("Bob", start, &old, &picked);
    story.open(7, head);
    story.fixture.by("Bob", "GitHub");
    let line = story.fixture.commit(&[start], &old, "[1.x] Squash b (#2) (#7)");
    story.fixture.set_ref("refs/heads/1.x", line);
    // 8: undoes 2.
    let files = edited(&story.files, "src/b.py", 5, "src/b.py 5");
    let message = format!("Revert \"Squash b (#2)\"\n\nThis reverts commit {squash}.");
    let head = story.work("Ivy", story.main, &files, &message);
    story.open(8, head);
    story.land("Ivy", "GitHub", files, "Revert \"Squash b (#2)\" (#8)");
    // 9, 10: a merge bot's batch, both in one file.
    let files = edited(&story.files, "src/a.py", 9, "nine");
    let nine = story.work("Ada", story.main, &files, "Nine");
    let files = edited(&story.files, "src/a.py", 25, "ten");
    let ten = story.work("Bob", story.main, &files, "Ten");
    story.open(9, nine);
    story.open(10, ten);
    let files = edited(
        &edited(&story.files, "src/a.py", 9, "nine"),
        "src/a.py",
        25,
        "ten",
    );
    story.merge(
        "bors",
        &[nine, ten],
        files,
        "Merge #9 #10\n\n9: Nine r=ivy a=ada\n\n10: Ten r=ivy a=bob",
    );
    // 11: squashed after the maintainer changed it.
    let files = edited(&story.files, "src/c.py", 25, "eleven");
    let head = story.work("Gus", story.main, &files, "Eleven");
    story.open(11, head);
    story.land(
        "Gus",
        "GitHub",
        edited(&story.files, "src/c.py", 25, "eleven, polished"),
        "Eleven (#11)",
    );
    // 12: merged with conflicts.
    let head = story.work(
        "Hal",
        story.main,
        &edited(&story.files, "src/a.py", 15, "twelve"),
        "Twelve",
    );
    story.open(12, head);
    story.land(
        "Ivy",
        "Ivy",
        edited(&story.files, "src/a.py", 15, "other"),
        "Other",
    );
    let files = edited(&story.files, "src/a.py", 15, "other and twelve");
    story.merge("Ivy", &[head], files, "Merge pull request #12 from hal/x");

    let told = story.read();
    insta::assert_snapshot!(told.lines(), @r#"
        1: merge on main by merge-subject, ancestry; head
        2: squash on main by squash-subject, patch-id; head
        3: rebase on main by patch-id, commit-identity; head
        4: squash on main by patch-id; head
        5: fast-forward on main by ancestry; head
        6: merge on main by ancestry; head
        7: squash on 1.x by squash-subject, patch-id; head
        8: squash on main by squash-subject, patch-id; head
        9: merge on main by merge-subject, ancestry; head
        10: merge on main by merge-subject, ancestry; head
        11: squash on main by squash-subject; landed
        12: merge on main by merge-subject, ancestry; landed
        "#);
    let of = |number: u32| &told.candidates[&number];
    assert_eq!(of(1).title.as_deref(), Some("Fix the a of #99"));
    let references: Vec<_> = of(1)
        .references
        .iter()
        .map(|found| (found.number, found.closes))
        .collect();
    assert_eq!(references, [(99, false), (100, true)]);
    assert_eq!(
        (of(2).title.as_deref(), of(2).references[0].number),
        (Some("Squash b"), 101)
    );
    assert_eq!((of(3).commit_count, of(3).title.as_deref()), (2, None));
    assert_eq!(of(4).title.as_deref(), Some("Improve b"));
    assert!(
        told.candidates
            .values()
            .all(|candidate| candidate.applies && candidate.release.as_deref() == Some("v1.0"))
    );
    let ties = |number: u32| {
        let ties = of(number).merge.relations.iter();
        ties.map(|tie| (tie.kind, tie.number)).collect::<Vec<_>>()
    };
    assert_eq!(
        ties(7),
        [
            (RelationKind::BackportOf, Some(2)),
            (RelationKind::CherryPickOf, Some(2))
        ]
    );
    assert_eq!(ties(8), [(RelationKind::Reverts, Some(2))]);
    assert!(of(8).is_revert());
    assert!(
        told.candidates
            .values()
            .filter(|candidate| !candidate.merge.relations.is_empty())
            .count()
            == 2
    );
    // What each diff makes of its base is what landed (of a batch: the pull request's own part).
    let mirror = Mirror::open(story.fixture.path()).unwrap();
    for (number, candidate) in &told.candidates {
        let dir = tempfile::tempdir().unwrap();
        mirror.export(candidate.base_commit, dir.path()).unwrap();
        apply(dir.path(), told.diff(*number)).unwrap();
        for file in &candidate.files {
            let landed = mirror.read(candidate.merge.commit, &file.path).unwrap().unwrap();
            let made = std::fs::read(dir.path().join(file.path.to_str().unwrap())).unwrap();
            assert_eq!(made == landed, ![9, 10].contains(number), "{number}");
        }
    }
}

#[test]
fn what_did_not_land_says_why() {
    let mut story = Story::new();
    let start = story.main;
    // 1: open.
    let head = story.work("Ada", start, &edited(&story.files, "src/a.py", 3, "open"), "Open");
    story.open(1, head);
    // 2: opened from the branch's own commit.
    let own = story.land("Ivy", "Ivy", edited(&story.files, "src/b.py", 3, "own"), "Own");
    story.open(2, own);
    // 3 within 4, by the same hand.
    let files = edited(&story.files, "src/a.py", 7, "three");
    let three = story.work("Bob", story.main, &files, "Three");
    let four = story.work("Bob", three, &edited(&files, "src/a.py", 8, "four"), "Four");
    story.open(3, three);
    story.open(4, four);
    let files = edited(&files, "src/a.py", 8, "four");
    story.merge("Ivy", &[four], files, "Merge pull request #4 from bob/x");
    // 5: the same head as 4.
    story.open(5, four);
    // 6: a maintainer names it and does otherwise.
    let head = story.work(
        "Cy",
        story.main,
        &edited(&story.files, "src/c.py", 3, "six"),
        "Six",
    );
    story.open(6, head);
    story.land(
        "Ivy",
        "Ivy",
        edited(&story.files, "src/c.py", 3, "another way"),
        "Do it another way (#6)",
    );
    // 7: a fork's number.
    let head = story.work(
        "Dee",
        story.main,
        &edited(&story.files, "src/b.py", 9, "seven"),
        "Seven",
    );
    story.open(7, head);
    let inner = story.work(
        "Eve",
        story.main,
        &edited(&story.files, "src/c.py", 9, "eve"),
        "Eve",
    );
    let files = edited(
        &edited(&story.files, "src/c.py", 9, "eve"),
        "src/c.py",
        10,
        "and more",
    );
    let fork = story.work("Eve", inner, &files, "Merge pull request #7 from eve/eve");
    story.open(8, fork);
    story.merge("Ivy", &[fork], files, "Merge pull request #8 from eve/main");
    // 9: squashed into nothing.
    let head = story.work(
        "Flo",
        story.main,
        &edited(&story.files, "src/a.py", 29, "nine"),
        "Nine",
    );
    story.open(9, head);
    let same = story.files.clone();
    story.land("Flo", "GitHub", same, "Nine (#9)");
    // 10: its head is missing.
    story
        .fixture
        .set_broken_ref("refs/pull/10/head", CommitSha::from_bytes([9; 20]));
    // 11: opened again as 12, which landed.
    let files = edited(&story.files, "src/a.py", 22, "eleven");
    let eleven = story.work("Gus", story.main, &files, "Eleven");
    let twelve = story.work("Gus", story.main, &files, "Eleven, again");
    story.open(11, eleven);
    story.open(12, twelve);
    story.land("Gus", "GitHub", files, "Eleven, again (#12)");
    // 13: on somebody's branch in progress only.
    let head = story.work(
        "Hal",
        story.main,
        &edited(&story.files, "src/a.py", 1, "wip"),
        "Thirteen",
    );
    story.open(13, head);
    story.fixture.set_ref("refs/heads/hal-wip", head);

    let told = story.read();
    insta::assert_snapshot!(told.lines(), @r#"
        1: mine-not-merged
        2: mine-branch-commit
        3: mine-carried-by-another
        4: merge on main by merge-subject, ancestry; head
        5: mine-duplicate
        6: mine-name-only
        7: mine-name-only
        8: merge on main by merge-subject, ancestry; head
        9: mine-empty
        10: mine-head-missing
        11: mine-duplicate
        12: squash on main by squash-subject, patch-id; head
        13: mine-not-merged
        "#);
    let three = &told.decisions[&3];
    assert_eq!(three.observed["carried_by"], "ada/lines#4");
    assert!(
        told.decisions
            .values()
            .all(|decision| !decision.kept && decision.observed["head"].is_string())
    );
    let heads: usize = told.pages.iter().map(|page| page.heads.len()).sum();
    assert_eq!(heads, 13);
}

#[test]
fn refs_that_name_no_pull_request_are_told_with_a_reason() {
    let mut story = Story::new();
    let files = edited(&story.files, "src/a.py", 3, "one");
    let one = story.work("Ada", story.main, &files, "One");
    story.open(1, one);
    story.land("Ada", "GitHub", files, "One (#1)");
    let blob = story.fixture.blob(b"no commit").to_string();
    story
        .fixture
        .set_broken_ref("refs/pull/2/head", blob.parse().unwrap());
    for name in ["007/head", "4294967296/head", "x/head", "3", "1/merge", "5/merge"] {
        story.fixture.set_ref(&format!("refs/pull/{name}"), one);
    }
    let told = story.read();
    assert_eq!(
        told.lines(),
        "0: mine-odd-refs\n1: squash on main by squash-subject, patch-id; head\n2: mine-head-no-commit\n"
    );
    assert_eq!(
        told.decisions[&2].evidence,
        "its ref leads to a blob, not to a commit"
    );
    insta::assert_snapshot!(told.decisions[&0].evidence.replace("; ", "\n"), @"
    no pull request is named by `refs/pull/007/head`: its number begins with a zero, as no forge writes it
    `refs/pull/3`: it is not `refs/pull/N/head`
    `refs/pull/4294967296/head`: its number is greater than any that a forge gives
    `refs/pull/x/head`: its number is none
    ");
    // Another reading of the same is told nothing; one without them, that they are gone.
    let known = Known::new(told.pages);
    let again = read(story.fixture.path(), &known, Limits::default()).unwrap();
    assert_eq!(again.lines(), "");
    for name in ["007/head", "4294967296/head", "x/head", "3"] {
        story.fixture.remove_ref(&format!("refs/pull/{name}"));
    }
    let clean = read(story.fixture.path(), &known, Limits::default()).unwrap();
    assert_eq!(clean.lines(), "0: mine-head-gone\n");
}

#[test]
fn what_a_mirror_has_lost_is_told_and_all_the_rest_is_as_if_it_had_never_been() {
    let mut story = Story::new();
    let files = edited(&story.files, "src/a.py", 3, "one");
    let one = story.work("Ada", story.main, &files, "One");
    story.open(1, one);
    // 2 has the same head: a duplicate, as long as 1 is there.
    story.open(2, one);
    story.land("Ada", "GitHub", files, "One (#1)");
    let first = story.read();
    assert_eq!(first.lines().lines().count(), 2);
    story.fixture.remove_ref("refs/pull/1/head");
    let known = Known::new(first.pages.clone());
    let second = read(story.fixture.path(), &known, Limits::default()).unwrap();
    let fresh = story.read();
    assert_eq!(second.lines(), format!("1: mine-head-gone\n{}", fresh.lines()));
    assert_eq!(second.candidates, fresh.candidates);
    // Told once; and when it comes back, it is one again.
    let known = Known::new(first.pages.into_iter().chain(second.pages));
    let third = read(story.fixture.path(), &known, Limits::default()).unwrap();
    assert_eq!(third.lines(), "");
    story.open(1, one);
    let fourth = read(story.fixture.path(), &known, Limits::default()).unwrap();
    assert!(
        fourth.lines().starts_with("1: squash on main"),
        "{}",
        fourth.lines()
    );
}

#[test]
fn a_second_reading_sees_only_what_is_new() {
    let mut story = Story::new();
    let files = edited(&story.files, "src/a.py", 3, "one");
    let one = story.work("Ada", story.main, &files, "One");
    story.open(1, one);
    let two = story.work(
        "Bob",
        story.main,
        &edited(&story.files, "src/b.py", 3, "two"),
        "Two",
    );
    story.open(2, two);
    story.land("Ada", "GitHub", files, "One (#1)");
    let first = story.read();
    assert_eq!(
        first.lines(),
        "1: squash on main by squash-subject, patch-id; head\n2: mine-not-merged\n"
    );
    let known = Known::new(first.pages.clone());
    let nothing = read(story.fixture.path(), &known, Limits::default()).unwrap();
    assert_eq!((nothing.lines().as_str(), nothing.pages.len()), ("", 0));
    assert_eq!(nothing.read.unwrap().known, 2);
    // A new one, and one that lands late.
    let files = edited(&story.files, "src/c.py", 3, "three");
    let three = story.work("Cy", story.main, &files, "Three");
    story.open(3, three);
    let files = edited(&story.files, "src/b.py", 3, "two");
    story.merge("Ivy", &[two], files, "Merge pull request #2 from bob/two");
    story.fixture.set_ref("refs/heads/main", story.main);
    let second = read(story.fixture.path(), &known, Limits::default()).unwrap();
    assert_eq!(
        second.lines(),
        "2: merge on main by merge-subject, ancestry; head\n3: mine-not-merged\n"
    );
    // Both readings together are what one reading of everything gives.
    let mut together: BTreeMap<_, _> = first.candidates;
    together.extend(second.candidates);
    assert_eq!(together, story.read().candidates);
    let known = Known::new(first.pages.into_iter().chain(second.pages));
    let third = read(story.fixture.path(), &known, Limits::default()).unwrap();
    assert_eq!(third.lines(), "");
}
