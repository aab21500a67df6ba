use super::*;
use crate::domain::notes::Kind;
use crate::git::fixture::{FILE, Files, Fixture};
use crate::mine::release_notes::resolve::Verdict;
use crate::recipe::notes::HeadingRecipe;

struct Story {
    fixture: Fixture,
    files: Files,
    main: CommitSha,
}

impl Story {
    fn new() -> Self {
        let mut fixture = Fixture::new();
        let mut files = Files::new();
        files.insert(b"src/a.py".to_vec(), (FILE, b"a = 1\n".to_vec()));
        files.insert(b"CHANGES.md".to_vec(), (FILE, b"# Changes\n".to_vec()));
        fixture.by("Ivy", "Ivy");
        let main = fixture.commit(&[], &files, "Start");
        Self { fixture, files, main }
    }

    fn put(&mut self, path: &str, text: &str) {
        self.files
            .insert(path.as_bytes().to_vec(), (FILE, text.as_bytes().to_vec()));
    }

    /// A pull request of one commit, merged by a merge commit.
    fn merge(&mut self, number: u32, message: &str) {
        self.fixture.by("Ada", "Ada");
        let head = self.fixture.commit(&[self.main], &self.files, message);
        self.fixture.set_ref(&format!("refs/pull/{number}/head"), head);
        self.fixture.by("Ivy", "Ivy");
        let subject = format!("Merge pull request #{number} from ada/x");
        self.main = self.fixture.commit(&[self.main, head], &self.files, &subject);
    }

    /// The same, with a change of the source.
    fn land(&mut self, number: u32, message: &str) {
        self.put("src/a.py", &format!("a = {number} + 1\n"));
        self.merge(number, message);
    }

    /// A maintainer's own commit.
    fn push(&mut self, message: &str) {
        self.fixture.by("Ivy", "Ivy");
        self.main = self.fixture.commit(&[self.main], &self.files, message);
    }

    fn notes(&self, notes_recipe: NotesRecipe, outside: Outside) -> Notes {
        self.fixture.set_ref("refs/heads/main", self.main);
        notes(&Settings {
            mirror: self.fixture.path().to_owned(),
            repo: Some("ada/lines".parse().unwrap()),
            notes: notes_recipe,
            outside,
            jobs: 1,
        })
        .unwrap()
    }
}

fn show(notes: &Notes) -> String {
    let one = |resolved: &Resolved| {
        let pulls: Vec<String> = resolved
            .pulls
            .iter()
            .filter(|found| found.verdict == Verdict::Chosen)
            .map(|found| {
                let evidence: Vec<_> = found.evidence.iter().map(|evidence| evidence.name()).collect();
                format!("{} {}", found.number, evidence.join("+"))
            })
            .collect();
        let entry = &resolved.entry;
        let version = entry.version.as_deref().unwrap_or("-");
        let words: Vec<&str> = entry.text.split_whitespace().take(3).collect();
        format!(
            "{version} {} {} | {} | {}\n",
            entry.kind.name(),
            resolved.outcome.name(),
            pulls.join(", "),
            words.join(" ")
        )
    };
    notes.entries.iter().map(one).collect::<Vec<_>>().concat()
}

fn story() -> Story {
    let mut story = Story::new();
    story.put("src/a.py", "a = 2\n");
    story.put("changelog/5.feature.rst", "Faster by half, says everybody.\n");
    story.merge(1, "Make it fast");
    story.put("src/a.py", "a = 3\n");
    story.put("changelog/7.feature.rst", "Nobody will ever collect this one.\n");
    story.merge(2, "Add more");
    let log = "# Changes\n\n## Unreleased\n\n### Added\n- A thing without a number that is new.\n";
    story.put("src/a.py", "a = 4\n");
    story.put("CHANGES.md", log);
    story.merge(3, "A new thing");
    story.put("src/a.py", "a = 5\n");
    story.merge(4, "Mend it\n\nFixes #9");
    // The release takes up fragments, and forgets one.
    story.files.remove(b"changelog/5.feature.rst".as_slice());
    story.files.remove(b"changelog/7.feature.rst".as_slice());
    let log = log.replace(
        "## Unreleased\n",
        "## Fresh\n- Not yet. (#4)\n\n## 1.0 (2026-01-02)\n",
    ) + "- Faster by half, says everybody. (#5)\n- Known to the forge alone. (#6)\n### Fixed\n- Mended at last. (#9)\n";
    story.put("CHANGES.md", &log);
    story.push("Release 1.0");
    story.fixture.set_ref("refs/tags/v1.0", story.main);
    story.put("changelog/8.bugfix.rst", "Still waiting for the next release.\n");
    story.put("src/a.py", "a = 6\n");
    story.merge(10, "Fix a thing");
    story
}

#[test]
fn entries_find_their_pull_requests_by_history() {
    let story = story();
    let notes_recipe = NotesRecipe {
        files: vec![],
        headings: vec![HeadingRecipe {
            words: "fresh".to_owned(),
            kind: Kind::Enhancement,
        }],
    };
    let outside = Outside {
        releases: vec![ReleaseBody {
            tag: "v1.0".to_owned(),
            date: None,
            text: "### Features\n* More by @ada in #2\n".to_owned(),
        }],
        closers: [(6, vec![2])].into(),
        commits: std::collections::BTreeMap::new(),
        today: None,
    };
    let read = story.notes(notes_recipe, outside);
    insta::assert_snapshot!(show(&read), @r"
    - enhancement resolved | 4 named | Not yet. (#4)
    1.0 feature resolved | 3 line | A thing without
    1.0 feature resolved | 1 fragment+line | Faster by half,
    1.0 feature resolved | 2 api | Known to the
    1.0 fix resolved | 4 closes | Mended at last.
    unreleased fix resolved | 10 fragment+line | Still waiting for
    1.0 feature resolved | 2 fragment+line | Nobody will ever
    1.0 feature resolved | 2 named | More by @ada
    ");
    assert_eq!(
        (read.summary.features.entries, read.summary.features.pull_requests),
        (6, 4)
    );
}

#[test]
fn what_a_recipe_names_is_read_and_a_bad_glob_is_told() {
    let mut story = story();
    story.put(
        "docs/log/one.rst",
        "1.0\n---\n\n- From a file of another name (#3)\n",
    );
    story.push("Log");
    let named = NotesRecipe {
        files: vec!["docs/log/*.rst".to_owned()],
        headings: vec![],
    };
    let read = story.notes(named, Outside::default());
    assert!(show(&read).contains("1.0 unknown resolved | 3 named | From a file"));
    let settings = Settings {
        mirror: story.fixture.path().to_owned(),
        repo: Some("ada/lines".parse().unwrap()),
        notes: NotesRecipe {
            files: vec!["docs/{".to_owned()],
            headings: vec![],
        },
        ..Settings::default()
    };
    let error = notes(&settings).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("read the glob `docs/{` in `notes.files`"),
        "{error}"
    );
    let missing = Settings::default();
    assert!(matches!(notes(&missing), Err(MineError::NoMirror { .. })));
}

#[test]
fn an_entry_is_its_first_writers_through_rewordings_moves_and_releases() {
    let added = |lines: &str| format!("# Changes\n\n## 1.0\n\n### Added\n{lines}");
    let mut story = Story::new();
    story.put("src/version.py", "version = \"0.9\"\n");
    story.push("Begin a version");
    story.put("src/a.py", "a = 2\n");
    story.put("CHANGES.md", &added("- Reads lines from a file with one call.\n"));
    story.merge(1, "Read lines");
    story.put("src/a.py", "a = 3\n");
    story.put(
        "CHANGES.md",
        &added("- Read lines from a file with one single call.\n"),
    );
    story.merge(2, "Mend typing errors");
    story.put("src/a.py", "a = 4\n");
    story.files.remove(b"CHANGES.md".as_slice());
    let moved = "- Read lines from a file with one single\n  call.\n";
    story.put("CHANGELOG.md", &added(moved));
    story.merge(3, "Move the notes");
    story.put("src/a.py", "a = 5\n");
    story.merge(4, "Count lines\n\nCloses #50");
    story.put("src/a.py", "a = 6\n");
    let counted = format!("{moved}- Counts lines in the file. (#50)\n");
    story.put("CHANGELOG.md", &added(&counted));
    story.merge(5, "Tidy up");
    story.put("src/version.py", "version = \"1.0\"\n");
    let told = format!("{counted}- Cows say moo since this version.\n");
    story.put("CHANGELOG.md", &added(&told));
    story.merge(6, "Release 1.0");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    insta::assert_snapshot!(show(&read), @r"
    1.0 feature resolved | 1 line | Read lines from
    1.0 feature resolved | 4 closes | Counts lines in
    1.0 feature no-reference |  | Cows say moo
    ");
    let moo = &read.entries[2].pulls[0];
    assert_eq!((moo.number, moo.verdict), (6, Verdict::NotesOnly));
}

#[test]
fn what_was_reverted_and_landed_again_is_the_second_landing() {
    let added = |lines: &str| format!("# Changes\n\n## 1.0\n\n### Added\n{lines}");
    let wool = "- A brand new option gives the colour of wool. (#2)\n";
    let mut story = Story::new();
    story.put("src/a.py", "a = 2\n");
    story.put("CHANGES.md", &added(wool));
    story.merge(2, "Wool option");
    story.put("src/a.py", "a = 1\n");
    story.put("CHANGES.md", "# Changes\n");
    story.merge(6, "Revert \"Wool option\"");
    story.put("src/a.py", "a = 2\n");
    story.put("CHANGES.md", &added(wool));
    story.merge(7, "Wool option, again");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    assert_eq!(show(&read), "1.0 feature resolved | 7 line | A brand new\n");
    let first = &read.entries[0].pulls[0];
    assert_eq!((first.number, first.verdict), (2, Verdict::Reverted));
}

#[test]
fn a_landing_that_says_that_it_lands_another_again_is_the_entrys() {
    let mut story = Story::new();
    story.land(2, "Wool");
    story.land(6, "Revert \"Wool\"");
    story.land(7, "Wool, second try\n\nRelands #2");
    story.land(3, "Cows");
    let cows = story.main;
    story.land(8, &format!("Back out cows\n\nThis reverts commit {cows}."));
    let log = "# Changes\n\n## 1.0\n\n### Added\n- Wool of all colours. (#2)\n- Cows of all breeds. (#3)\n";
    story.put("CHANGES.md", log);
    story.push("Write notes");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    insta::assert_snapshot!(show(&read), @r"
    1.0 feature resolved | 7 closes | Wool of all
    1.0 feature resolved | 3 named | Cows of all
    ");
    let undone: Vec<Vec<(u32, bool)>> = read
        .entries
        .iter()
        .map(|resolved| {
            let pulls = resolved.pulls.iter();
            pulls.map(|pull| (pull.number, pull.undone)).collect()
        })
        .collect();
    assert_eq!(undone, [vec![(2, true), (7, false)], vec![(3, true)]]);
}

#[test]
fn who_an_entry_names_landed_where_the_branch_moved_on_to_its_head() {
    let mut story = Story::new();
    story.put("src/a.py", "a = 2\n");
    story.push("Add two");
    story.fixture.set_ref("refs/pull/2/head", story.main);
    let log = "# Changes\n\n## 1.0\n\n### Added\n- Two of them at once. (#2)\n- Four. (#4)\n";
    story.put("CHANGES.md", log);
    story.push("Write notes");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    insta::assert_snapshot!(show(&read), @r"
    1.0 feature resolved | 2 named | Two of them
    1.0 feature issue-only |  | Four. (#4)
    ");
}

#[test]
fn who_is_thanked_in_several_entries_gives_none_to_another() {
    let added = |lines: &str| format!("# Changes\n\n## 1.0\n\n### Added\n{lines}");
    let by = "  By `Ada Somebody Else <https://forge.example/ada>`_.\n";
    let reads = format!("- Reads all lines now.\n{by}");
    let mut story = Story::new();
    story.put("src/a.py", "a = 2\n");
    story.put("CHANGES.md", &added(&reads));
    story.merge(1, "Read");
    story.put("src/a.py", "a = 3\n");
    story.put(
        "CHANGES.md",
        &added(&format!("{reads}- Counts all lines now.\n{by}")),
    );
    story.merge(2, "Count");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    insta::assert_snapshot!(show(&read), @r"
    1.0 feature resolved | 1 line | Reads all lines
    1.0 feature resolved | 2 line | Counts all lines
    ");
}

#[test]
fn an_item_shares_its_lines_with_the_paragraph_around_it_and_keeps_its_writer() {
    let page = |told: &str| format!("v1.2.0\n------\n\nNew functions\n~~~~~~~~~~~~~\n\n{told}");
    let mut story = Story::new();
    story.put(
        "docs/whatsnew/v1.2.0.rst",
        &page("- |Fix| An old thing of before.\n"),
    );
    story.land(1, "Begin");
    story.put(
        "docs/whatsnew/v1.2.0.rst",
        &page(
            "|Feature| |Enhancement|\n\nTwo functions are there (:pr:`1`).\n\nOne counts sheep, and knows:\n\n\
             - flexible sizes of flocks, odd ones too\n- wool that was shorn in another year\n\n\
             The other one counts cows.\n\n- |Fix| An old thing of before.\n",
        ),
    );
    story.land(2, "Count");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    let items = read.entries.iter().filter(|resolved| {
        let text = &resolved.entry.text;
        text.starts_with("flexible sizes") || text.starts_with("wool that")
    });
    let pulls: Vec<Vec<u32>> = items
        .map(|resolved| resolved.pulls.iter().map(|pull| pull.number).collect())
        .collect();
    assert_eq!(pulls, [[2], [2]]);
}

#[test]
fn fragments_without_a_number_are_whose_commits_added_them() {
    let mut story = Story::new();
    story.put("newsfragments/+ab.feature.md", "Less.\n");
    story.land(1, "Less");
    story.put("newsfragments/some-words.feature.md", "More.\n");
    story.land(2, "More");
    story.put("newsfragments/gh-9.feature.md", "Nine.\n");
    story.land(3, "Nine");
    story.put("newsfragments/+lost.feature.md", "Lost.\n");
    story.put("newsfragments/+kept.feature.md", "Kept\nat last.\n");
    story.land(4, "Two more");
    // The release takes up two, and one of them forgets.
    story.files.remove(b"newsfragments/+lost.feature.md".as_slice());
    story.files.remove(b"newsfragments/+kept.feature.md".as_slice());
    story.put(
        "CHANGES.md",
        "# Changes\n\n## 1.0\n\n### Added\n\n- Kept at last.\n",
    );
    story.push("Release 1.0");
    story.fixture.set_ref("refs/tags/v1.0", story.main);
    // Its words are mended by another pull request.
    story.put("newsfragments/+ab.feature.md", "Fewer.\n");
    story.land(5, "Mend words");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    insta::assert_snapshot!(show(&read), @r"
    1.0 feature resolved | 4 fragment | Kept at last.
    unreleased feature resolved | 1 fragment | Fewer.
    unreleased feature resolved | 3 fragment | Nine.
    unreleased feature resolved | 2 fragment | More.
    1.0 feature resolved | 4 fragment | Lost.
    ");
}

#[test]
fn a_fragments_words_stay_whose_they_were_under_another_name() {
    let mut story = Story::new();
    story.put("newsfragments/9.misc.md", "Reads lines with one call now.\n");
    story.land(1, "Read");
    story.files.remove(b"newsfragments/9.misc.md".as_slice());
    story.put("newsfragments/9.feature.md", "Read lines with one call now.\n");
    story.merge(2, "Mend the type");
    story.files.remove(b"newsfragments/9.feature.md".as_slice());
    story.put("newsfragments/8.feature.md", "Read lines with one call now.\n");
    story.land(3, "Mend the number");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    insta::assert_snapshot!(show(&read), @"unreleased feature resolved | 1 fragment+line | Read lines with");
}

#[test]
fn a_release_that_tidies_documentation_tells_of_others_changes_and_a_guide_of_its_own() {
    let begun = "# Changes\n\n## 1.0 (unreleased)\n\n### Added\n- A guide tells how to read all lines.\n";
    let mut story = Story::new();
    story.put("docs/guide.md", "# Guide\n");
    story.put("CHANGES.md", begun);
    story.merge(1, "A guide");
    let released = begun.replace("unreleased", "2030-01-02") + "- Cows say moo since this version.\n";
    story.put("docs/guide.md", "# The guide\n");
    story.put("CHANGES.md", &released);
    story.merge(2, "Release 1.0");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    insta::assert_snapshot!(show(&read), @r"
    1.0 feature resolved | 1 line | A guide tells
    1.0 feature no-reference |  | Cows say moo
    ");
    assert_eq!(read.entries[1].pulls[0].verdict, Verdict::NotesOnly);
}

#[test]
fn towncriers_configuration_tells_folders_and_types_of_today_and_of_the_past() {
    let mut story = Story::new();
    story.put("pyproject.toml", "[tool.towncrier]\ndirectory = \"old\"\n");
    story.put("old/5.feature.md", "Told by the old folder.\n");
    story.put("old/6.feature.md", "Told by it no less than the other.\n");
    story.land(1, "Old");
    story.files.remove(b"old/5.feature.md".as_slice());
    story.files.remove(b"old/6.feature.md".as_slice());
    story.push("Release 1.0");
    story.fixture.set_ref("refs/tags/v1.0", story.main);
    story.put(
        "pyproject.toml",
        "[tool.towncrier]\ndirectory = \"newsfrag\"\nfilename = \"docs/log.md\"\n\
         [[tool.towncrier.type]]\ndirectory = \"shiny\"\nname = \"New features\"\nshowcontent = true\n",
    );
    story.put("newsfrag/7.shiny.md", "Seven.\n");
    story.put("newsfrag/words.shiny.md", "Words.\n");
    story.put("newsfrag/template.md", "{% for version in versions %}\n");
    story.put("docs/log.md", "# 1.0\n- Collected (#1)\n");
    story.land(2, "New");
    let read = story.notes(NotesRecipe::default(), Outside::default());
    insta::assert_snapshot!(show(&read), @r"
    1.0 unknown resolved | 1 named | Collected (#1)
    unreleased feature resolved | 2 fragment | Seven.
    unreleased feature resolved | 2 fragment | Words.
    1.0 feature resolved | 1 fragment+line | Told by the
    1.0 feature resolved | 1 fragment+line | Told by it
    ");
}

#[test]
fn a_recipes_patterns_may_name_fragments_and_those_that_match_nothing_are_told() {
    let mut story = Story::new();
    story.put("newsfrag/7.feature.md", "Seven.\n");
    story.put("newsfrag/+ab.feature.md", "Orphan.\n");
    story.put("once/8.feature.md", "Eight.\n");
    story.land(1, "New");
    story.files.remove(b"once/8.feature.md".as_slice());
    story.push("Taken back");
    let named = NotesRecipe {
        files: ["newsfrag/*", "once/*", "never/*.rst"]
            .map(str::to_owned)
            .to_vec(),
        headings: vec![],
    };
    let read = story.notes(named, Outside::default());
    insta::assert_snapshot!(show(&read), @r"
    unreleased feature resolved | 1 fragment | Orphan.
    unreleased feature resolved | 1 fragment | Seven.
    ");
    assert_eq!(read.unmatched, ["never/*.rst"]);
}
