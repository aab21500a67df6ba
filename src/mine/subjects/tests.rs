//! Messages as forges, bots and people write them.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::{Landing, read, relations};

fn show(message: &str) -> String {
    let words = read(message);
    let mut text = match &words.landing {
        None => "-".to_owned(),
        Some(Landing::Merge { numbers, source }) => {
            format!("merge {numbers:?} {}", source.as_deref().unwrap_or("-"))
        }
        Some(Landing::Squash { number, ends }) => {
            format!("squash {number}{}", if *ends { "" } else { " inside" })
        }
    };
    if !words.origins.is_empty() {
        write!(text, " of {:?}", words.origins).unwrap();
    }
    if let Some(title) = words.title {
        write!(text, " | {title}").unwrap();
    }
    text
}

#[test]
fn the_forms_of_landings() {
    for (message, found) in [
        (
            "Merge pull request #12 from ada/fix\n\nA title\n\nMore",
            "merge [12] ada/fix | A title",
        ),
        ("Merge pull request #12 from ada/fix", "merge [12] ada/fix"),
        (
            "Merge pull request #12 from ada/fix\n\nConflicts:\n\ta.py",
            "merge [12] ada/fix",
        ),
        ("Merge pull request #12 in PROJ/repo from x to y", "-"),
        ("Merged in ada/fix (pull request #12)", "-"),
        ("Merge PR #12: title", "merge [12] -"),
        (
            "Merge #12\n\n12: A title r=bob a=ada\n\ntext",
            "merge [12] - | A title",
        ),
        (
            "Merge #12 #13\n\n12: A r=b a=c\n\n13: D r=b a=c",
            "merge [12, 13] -",
        ),
        (
            "Auto merge of #12 - ada:fix, r=bob\n\nA title\n\ntext",
            "merge [12] ada:fix | A title",
        ),
        (
            "Rollup merge of #12 - ada:fix, r=bob\n\nA title",
            "merge [12] ada:fix | A title",
        ),
        ("Merge branch 'pr/839'", "merge [839] -"),
        ("Merge remote-tracking branch 'origin/pr/839'", "merge [839] -"),
        ("Merge branch 'fix' (#12)", "squash 12"),
        ("Merge branch 'fix-12'", "-"),
        ("A title (#12)", "squash 12 | A title"),
        ("A title (#12)\n\n* a step (#3)", "squash 12 | A title"),
        ("A title (GH-12)", "squash 12 | A title"),
        (
            "A title (#10) (#12). [skip ci]",
            "squash 12 of [10] | A title (#10)",
        ),
        ("Add the notes (#12) again", "squash 12 inside"),
        ("Fix #12", "-"),
        ("Revert \"A title (#10)\"", "-"),
        (
            "Revert \"A title (#10)\" (#12)",
            "squash 12 | Revert \"A title (#10)\"",
        ),
        (
            "Revert \"Revert \"A title (#10)\" (#11)\" (#12)",
            "squash 12 | Revert \"Revert \"A title (#10)\" (#11)\"",
        ),
        ("Reapply \"A title (#10)\"", "-"),
        ("(#0) (#x) #(12)", "-"),
        ("", "-"),
    ] {
        assert_eq!(show(message), found, "{message}");
    }
}

fn tell(title: &str, source: &str, origins: &[u32], messages: &[&str]) -> String {
    let found = relations(
        Some(title).filter(|title| !title.is_empty()),
        Some(source),
        origins,
        messages,
    );
    let lines = found.iter().map(|relation| {
        let number = relation
            .number
            .map_or("-".to_owned(), |number| number.to_string());
        let commit = relation
            .commit
            .map_or(String::new(), |commit| format!(" {}", commit.short()));
        format!("{:?} {number}{commit} ({})", relation.kind, relation.text)
    });
    lines.collect::<Vec<_>>().join("; ")
}

#[test]
fn the_forms_of_relations() {
    let sha = "d16bfe05a744909de4b27f5875fe0d4ed41ce607";
    let picked = format!("Fix\n\n(cherry picked from commit {sha})\n");
    let reverted = format!("Revert \"Fix\"\n\nThis reverts commit {sha}.\n");
    for (title, source, origins, message, found) in [
        ("Fix", "", &[][..], "Fix", ""),
        ("[7.1.x] Fix", "", &[10], "Fix", "BackportOf 10 ([7.1.x])"),
        (
            "[Backport maintenance/3.3.x] Fix",
            "",
            &[],
            "Fix",
            "BackportOf - ([Backport maintenance/3.3.x])",
        ),
        (
            "[PR #10/d16bfe05 backport][3.9] Fix",
            "",
            &[],
            "",
            "BackportOf 10 ([PR #10/d16bfe05 backport])",
        ),
        (
            "Backport PR #10 on branch 1.2.x (Fix)",
            "",
            &[],
            "",
            "BackportOf 10 (Backport PR #10)",
        ),
        (
            "Fix",
            "pytest-dev/backport-9480-to-7.0.x",
            &[],
            "",
            "BackportOf 9480 (backport-9480-to-)",
        ),
        (
            "Fix",
            "x/patchback/backports/7.4.x/d16bfe05/pr-10",
            &[],
            "",
            "BackportOf 10 (patchback/backports/7.4.x/d16bfe05/pr-10)",
        ),
        (
            "Fix",
            "",
            &[],
            "Fix\n\nBackport of #10 to 1.x",
            "BackportOf 10 (Backport of #10)",
        ),
        ("[feature] Add [1.2] x", "", &[9], "", ""),
        (
            "Fix",
            "",
            &[],
            &picked,
            "CherryPickOf - d16bfe05a7 ((cherry picked from commit d16bfe05a744909de4b27f5875fe0d4ed41ce607))",
        ),
        (
            "Revert \"Fix (#10)\"",
            "",
            &[],
            "",
            "Reverts 10 (Revert \"Fix (#10)\")",
        ),
        (
            "Revert \"Merge pull request #10 from a/b\"",
            "",
            &[],
            "",
            "Reverts 10 (Revert \"Merge pull request #10 from a/b\")",
        ),
        (
            "Revert \"Fix\"",
            "a/revert-10-fix",
            &[],
            "",
            "Reverts 10 (Revert \"Fix\")",
        ),
        ("", "", &[], &reverted, "Reverts - d16bfe05a7 (Revert \"Fix\")"),
        ("Fix", "", &[], &reverted, ""),
        ("Revert default to None", "", &[], "", ""),
        ("Reapply \"Fix (#10)\"", "", &[], "", ""),
        (
            "Revert \"Fix\"",
            "",
            &[],
            "Revert \"Fix\"\n\nReverts psf/requests#10",
            "Reverts 10 (Revert \"Fix\")",
        ),
    ] {
        assert_eq!(
            tell(title, source, origins, &[message]),
            found,
            "{title} {source} {message}"
        );
    }
}

proptest! {
    #[test]
    fn any_message_is_read_without_a_fault(message in "(Merge|Revert|pull request|PR|branch|'pr/|#|\\(|\\)|[1-9]| |\"|\n|é|GH-){0,30}") {
        let words = read(&message);
        relations(words.title.as_deref(), Some(&message), &words.origins, &[&message]);
    }

    #[test]
    fn the_last_number_lands(title in "[a-z ]{0,20}", origins in proptest::collection::vec(1_u32..99999, 0..3), number in 1_u32..99999) {
        let before: Vec<String> = origins.iter().map(|origin| format!("(#{origin}) ")).collect();
        let before = before.concat();
        let words = read(&format!("x {title} {before}(#{number})\n\n(#7)"));
        prop_assert_eq!(words.landing, Some(Landing::Squash { number, ends: true }));
        prop_assert_eq!(words.origins, origins.into_iter().filter(|origin| *origin != number).collect::<Vec<_>>());
    }
}
