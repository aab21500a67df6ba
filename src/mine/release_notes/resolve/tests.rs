use super::*;
use crate::domain::path::RepoPath;
use crate::mine::release_notes::{Headings, read_document};

fn known() -> Known {
    let landed = |commit, second_hand| LandedAt {
        commit,
        base: commit - 1,
        at: i64::from(commit),
        second_hand,
        undone: None,
    };
    let name = "ada/lines".parse().unwrap();
    let mut fragments = Fragments::default();
    fragments.add(1, "By its fragment.", Some(11));
    Known {
        repo: Some(name),
        today: Some("ada/rows".parse().unwrap()),
        pulls: [7, 8, 9, 10, 11, 12].into(),
        landed: [
            (7, landed(3, false)),
            (8, landed(4, false)),
            (9, landed(5, true)),
            (11, landed(6, false)),
        ]
        .into(),
        by_head: [(12, landed(7, false)), (13, landed(7, false))].into(),
        namers: [
            (1, [(7, false), (8, true)].into()),
            (2, [(9, true), (8, true), (11, true)].into()),
            (5, [(8, true)].into()),
            (6, [(7, false), (8, true)].into()),
        ]
        .into(),
        closers: [(3, vec![9]), (14, vec![13])].into(),
        orphans: Orphans::default(),
        fragments,
        slight: BTreeSet::new(),
        lines: [
            ("Who closes it is meant. (#5)".to_owned(), Some(7)),
            ("Two words are better. (#6)".to_owned(), Some(7)),
            ("Landed once more by another. (#8)".to_owned(), Some(11)),
            ("An unnamed change of mine.".to_owned(), Some(8)),
            ("Nobody wrote this line.".to_owned(), None),
            ("Thanks to Cleo Tables and Dan Rows.".to_owned(), Some(7)),
            ("Taken in by another one. (#12)".to_owned(), Some(8)),
        ]
        .into(),
        timeline: Timeline::default(),
    }
}

fn told(text: &str) -> String {
    told_by(&known(), text)
}

fn told_by(known: &Known, text: &str) -> String {
    let file = format!("# 1.0\n- {text}\n");
    let lines: Vec<&str> = text.lines().collect();
    let entry = read_document(
        &RepoPath::from(b"CHANGES.md".as_slice()),
        file.as_bytes(),
        &Headings::default(),
    );
    let resolved = known.resolve(entry.into_iter().next().unwrap(), &lines);
    let pulls: Vec<String> = resolved
        .pulls
        .iter()
        .map(|found| {
            let mark = match found.verdict {
                Verdict::Chosen => "!",
                Verdict::NotMerged => "x",
                Verdict::NotesOnly => "n",
                Verdict::Reverted => "r",
                _ => "",
            };
            let evidence: Vec<_> = found.evidence.iter().map(|evidence| evidence.name()).collect();
            format!("{}{mark} {}", found.number, evidence.join("+"))
        })
        .collect();
    let ambiguous = if resolved.ambiguous { " ambiguous" } else { "" };
    format!("{}{ambiguous}: {}", resolved.outcome.name(), pulls.join(", "))
}

#[test]
fn the_best_evidence_is_chosen_and_all_is_kept() {
    for (text, found) in [
        ("Both. (#7, #8)", "resolved: 7! named, 8! named"),
        ("Old place. (https://host/bob/lines/pull/7)", "resolved: 7! named"),
        ("New place. (https://host/ada/rows/pull/7)", "resolved: 7! named"),
        ("Who closes it is meant. (#5)", "resolved: 7 line, 8! closes"),
        (
            "Two words are better. (#6)",
            "resolved: 7! line+mentions, 8 closes",
        ),
        (
            "By its fragment. (#1)",
            "resolved: 7 mentions, 8 closes, 11! fragment",
        ),
        (
            "One of several. (#2)",
            "resolved ambiguous: 8! closes, 9 closes, 11 closes",
        ),
        ("As the forge says. (#3)", "resolved: 9! api"),
        ("An unnamed change of mine.", "resolved: 8! line"),
        ("Nobody wrote this line.", "no-reference: "),
        (
            "Nobody wrote this line.\nThanks to Cleo Tables and Dan Rows.",
            "resolved: 7! line",
        ),
        (
            "An unnamed change of mine.\nThanks to Cleo Tables and Dan Rows.",
            "resolved: 8! line",
        ),
        ("Moved on to its head. (#12)", "resolved: 12! named"),
        ("Taken in by another one. (#12)", "resolved: 8! line, 12 named"),
        (
            "Its head is there, and nobody names it. (#14)",
            "not-merged: 13x api",
        ),
        ("Closed. (#10)", "not-merged: 10x named"),
        ("Known to nobody. (#4)", "issue-only: "),
        ("Not ours: eve/other#7", "elsewhere: "),
    ] {
        assert_eq!(told(text), found, "{text}");
    }
}

#[test]
fn who_only_tells_of_others_changes_made_none() {
    let mut known = known();
    known.slight = [8, 11].into();
    for (text, found) in [
        (
            "By its fragment. (#1)",
            "resolved: 7 mentions, 8! closes, 11n fragment",
        ),
        ("An unnamed change of mine.", "no-reference: 8n line"),
        (
            "An unnamed change of mine.\nThanks to Cleo Tables and Dan Rows.",
            "resolved: 7! line, 8n line",
        ),
        ("Itself. (#8)", "resolved: 8! named"),
    ] {
        assert_eq!(told_by(&known, text), found, "{text}");
    }
}

#[test]
fn of_what_was_reverted_the_landing_that_stands_is_chosen() {
    let mut known = known();
    known.landed.get_mut(&8).unwrap().undone = Some(5);
    for (text, found) in [
        (
            "One of several. (#2)",
            "resolved: 8r closes, 9 closes, 11! closes",
        ),
        ("Both. (#7, #8)", "resolved: 7! named, 8r named"),
        (
            "Landed once more by another. (#8)",
            "resolved: 8r named, 11! line",
        ),
        ("Gone, and still told of. (#8)", "resolved: 8! named"),
    ] {
        assert_eq!(told_by(&known, text), found, "{text}");
    }
}
