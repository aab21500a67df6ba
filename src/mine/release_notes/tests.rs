use std::collections::BTreeSet;
use std::fmt::Write as _;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::domain::path::RepoPath;

fn path(name: &str) -> RepoPath {
    RepoPath::from(name.as_bytes())
}

/// One line an entry: version, date, kind, section, references, first words, lines.
fn show(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        let references: Vec<String> = entry
            .references
            .iter()
            .map(|found| found.number.to_string())
            .collect();
        let words: Vec<&str> = entry.text.split_whitespace().take(4).collect();
        let _ = writeln!(
            out,
            "{} {} | {} | {} | {} | {} | {}-{}",
            entry.version.as_deref().unwrap_or("-"),
            entry.date.as_deref().unwrap_or("-"),
            entry.kind.name(),
            entry.section.join(" > "),
            references.join(" "),
            words.join(" "),
            entry.place.line,
            entry.place.last,
        );
    }
    out
}

fn read(name: &str, text: &str) -> String {
    show(&read_document(&path(name), text.as_bytes(), &Headings::default()))
}

#[test]
fn bold_words_are_headings_in_markdown() {
    let text = "Release History\n===\n\n2.34.0 (2026-05-11)\n---\n\n**Improvements**\n- Digest. (#7310)\n- More\n  words. (#7422)\n\n\
        **Bugfixes**\n- Fixed `#12`\n\n## [1.0] - 2019-02-03\n### Added\n* One\n  - inner [#5](https://host/o/n/pull/5)\n\n<!-- * hidden #9 -->\n";
    assert_snapshot!(read("HISTORY.md", text), @r"
    2.34.0 2026-05-11 | enhancement | Improvements | 7310 | Digest. (#7310) | 8-8
    2.34.0 2026-05-11 | enhancement | Improvements | 7422 | More words. (#7422) | 9-10
    2.34.0 2026-05-11 | fix | Bugfixes |  | Fixed `#12` | 13-13
    1.0 2019-02-03 | feature | Added | 5 | One - inner [#5](https://host/o/n/pull/5) | 17-18
    ");
}

#[test]
fn versions_and_kinds_may_be_headings_of_one_level() {
    let text = "*****\n What's New in Lint 4.0\n*****\n\n.. toctree::\n   :maxdepth: 2\n\n:Release:4.0\n:Date: 2025-10-12\n\nSummary -- Release highlights\n=====\n\n\
        - Supports ``#3``.\n\n.. towncrier release notes start\n\nWhat's new in Lint 4.0.7?\n-----\nRelease date: 2026-08-09\n\n\nNew Checks\n-----\n\n\
        - Add ``a``.\n\n  Closes #11231 (`#11231 <https://host/o/n/issues/11231>`_)\n\n* Misplaced\n\nCloses #5\n";
    assert_snapshot!(read("doc/whatsnew/4/4.0/index.rst", text), @r"
    4.0 2025-10-12 | unknown | Summary -- Release highlights |  | Supports ``#3``. | 14-14
    4.0.7 2026-08-09 | new-check | New Checks | 11231 | Add ``a``. Closes #11231 | 26-28
    4.0.7 2026-08-09 | new-check | New Checks | 5 | Misplaced Closes #5 | 30-32
    ");
}

#[test]
fn a_versions_heading_may_be_deeper_than_the_one_before_it() {
    let text = "# [1.1.0](https://host/compare/v1.0.1...v1.1.0) (2024-02-01)\n\n\n### Features\n\n* more (#5)\n\n\
        ## [1.0.1](https://host/compare/v1.0.0...v1.0.1) (2024-01-02)\n\n\n### Bug Fixes\n\n* less (#4)\n\n\
        # 1.0.0 (2024-01-01)\n\n\n### Changes since 0.9\n\n* all (#3)\n";
    assert_snapshot!(read("CHANGELOG.md", text), @r"
    1.1.0 2024-02-01 | feature | Features | 5 | more (#5) | 6-6
    1.0.1 2024-01-02 | fix | Bug Fixes | 4 | less (#4) | 13-13
    1.0.0 2024-01-01 | unknown | Changes since 0.9 | 3 | all (#3) | 20-20
    ");
}

#[test]
fn a_heading_that_is_but_a_date_is_a_version_or_the_date_of_the_one_above() {
    let text = "# Changes\n\n## 2024-02-01\n\n### Added\n- One (#2)\n\n## January 5, 2024\n- Two (#1)\n";
    assert_snapshot!(read("CHANGELOG.md", text), @r"
    2024-02-01 2024-02-01 | feature | Added | 2 | One (#2) | 6-6
    2024-01-05 2024-01-05 | unknown |  | 1 | Two (#1) | 9-9
    ");
    let text = "# 1.2\n## 2024-02-01\n### Added\n- One (#2)\n## 2023-01-01\n- Two (#1)\n";
    assert_snapshot!(read("CHANGELOG.md", text), @r"
    1.2 2024-02-01 | feature | Added | 2 | One (#2) | 4-4
    1.2 2024-02-01 | unknown | 2023-01-01 | 1 | Two (#1) | 6-6
    ");
}

#[test]
fn badges_count_for_an_item_or_for_a_section() {
    let text = "\nv0.12.0 (September 2022)\n------\n\nProse of no number.\n\nFlexible errorbars\n~~~~~~~~~~~~~~~~~\n\n|API| |Feature|\n\n\
        Increased (:pr:`2407`).\n\nAs a consequence.\n\nOther updates\n~~~~~~~~~~~~~\n\n- |Fix| One (:pr:`1`).\n\n- |Enhancement| Two\n  (:pr:`2,3`).\n\nOnly words, and :issue:`4`.\n";
    assert_snapshot!(read("doc/whatsnew/v0.12.0.rst", text), @r"
    0.12.0 2022-09 | feature | Flexible errorbars | 2407 | Increased (:pr:`2407`). As a | 12-14
    0.12.0 2022-09 | fix | Other updates | 1 | |Fix| One (:pr:`1`). | 19-19
    0.12.0 2022-09 | enhancement | Other updates | 2 3 | |Enhancement| Two (:pr:`2,3`). | 21-22
    0.12.0 2022-09 | unknown | Other updates | 4 | Only words, and :issue:`4`. | 24-24
    ");
}

#[test]
fn inner_items_are_entries_where_each_names_its_own() {
    let text = "Release 1.3 (released Feb 29, 2016)\n====\n\nFeatures added\n----\n\n* Works with pandas:\n\n  - Fix a (#1549).\n  - Fix b\n    (#1548).\n\n  By X.\n\n\
        * #7: options\n\n  - ``--a``\n  - ``--b``, see #8\n\n.. note::\n\n   A note on #9.\n\n.. a comment on #10\n   that goes on\n\n* Code::\n\n    - no item #11\n";
    assert_snapshot!(read("CHANGES", text), @r"
    1.3 2016-02-29 | feature | Features added > Works with pandas: | 1549 | Fix a (#1549). | 9-9
    1.3 2016-02-29 | feature | Features added > Works with pandas: | 1548 | Fix b (#1548). | 10-11
    1.3 2016-02-29 | feature | Features added | 7 8 | #7: options - ``--a`` | 15-18
    1.3 2016-02-29 | feature | Features added | 9 | A note on #9. | 22-22
    1.3 2016-02-29 | feature | Features added |  | Code:: - no item | 27-29
    ");
}

#[test]
fn a_paragraph_may_name_the_list_below_it() {
    let text = "2.0 (2024-01-02)\n----------------\n\nThanks to all:\n\nNew features:\n\n- One (#1)\n- Two\n\nBug fixes:\n\n- Three (#3)\n\n\
        And then some.\n\n- Four (#4)\n\nEnhancements:\n\n1.0\n---\n\n- Five (#5)\n";
    let told = "2.0 2024-01-02 | feature | New features: | 1 | One (#1) | 8-8
2.0 2024-01-02 | feature | New features: |  | Two | 9-9
2.0 2024-01-02 | fix | Bug fixes: | 3 | Three (#3) | 13-13
2.0 2024-01-02 | unknown |  | 4 | Four (#4) | 17-17
1.0 - | unknown |  | 5 | Five (#5) | 24-24
";
    assert_eq!(read("CHANGES.rst", text), told);
    assert_eq!(read("CHANGES.md", text), told);
}

#[test]
fn numbers_in_code_are_no_references() {
    let text = "Version 2.0\n===========\n\n* Code (#1)::\n\n    x = 1  # see #2\n\n* Role :code:`#3` and ``#4``, not `#5`_\n\n\
        .. code-block:: python\n\n    x = \"#6\"\n\n>>> f()  # see #7\n\nWords of #8\n";
    assert_snapshot!(read("CHANGES.rst", text), @r"
    2.0 - | unknown |  | 1 | Code (#1):: x = | 4-6
    2.0 - | unknown |  | 5 | Role :code:`#3` and ``#4``, | 8-8
    2.0 - | unknown |  | 8 | Words of #8 | 16-16
    ");
    let text =
        "# 2.0\n- Code (#1)\n  ```python\n  x = 1  # see #2\n  ```\n- Span `#3`, {pr}`4`\n\n```\n#5\n```\n";
    assert_snapshot!(read("CHANGES.md", text), @r"
    2.0 - | unknown |  | 1 | Code (#1) x = | 2-4
    2.0 - | unknown |  | 4 | Span `#3`, {pr}`4` | 6-6
    ");
    for (name, text) in [
        ("news/1.feature.md", "Add.\n\n```\nx = 2  # see #2\n```\n`#3`\n"),
        ("news/1.feature.rst", "Add::\n\n    x = 2  # see #2\n"),
    ] {
        let name = path(name);
        let Some(Source::Fragment(found)) = source(&name) else {
            panic!("no fragment")
        };
        let entry = read_fragment(&name, &found, text.as_bytes(), &Headings::default()).unwrap();
        let numbers: Vec<u32> = entry.references.iter().map(|found| found.number).collect();
        assert_eq!(numbers, [1], "{text}");
        assert!(entry.text.contains("#2"), "what is code is kept: {}", entry.text);
    }
}

#[test]
fn addresses_that_stand_apart_are_no_entries_and_tell_what_labels_name() {
    let text = "# Changes\n\n## [1.0] - 2024-01-02\n\n### Added\n\n- One ([#10])\n- Two ([18][])\n- Three [here][there]\n- [x] Four\n\n\
        [#10]: https://host/o/n/pull/10\n[18]: https://host/o/n/pull/18\n[there]: https://host/o/n/issues/3\n[1.0]: https://host/o/n/tree/1.0\n\n## 0.9\n\n- Old\n";
    assert_snapshot!(read("CHANGELOG.md", text), @r"
    1.0 2024-01-02 | feature | Added | 10 | One ([#10]) | 7-7
    1.0 2024-01-02 | feature | Added | 18 | Two ([18][]) | 8-8
    1.0 2024-01-02 | feature | Added | 3 | Three [here][there] | 9-9
    1.0 2024-01-02 | feature | Added |  | [x] Four | 10-10
    0.9 - | unknown |  |  | Old | 19-19
    ");
    let text = "1.0\n---\n\n- One `PR 22`_\n- Two, see there_\n\n.. _PR 22: https://host/o/n/pull/22\n.. _there:\n   https://host/o/n/issues/4\n";
    assert_snapshot!(read("CHANGES.rst", text), @r"
    1.0 - | unknown |  | 22 | One `PR 22`_ | 4-4
    1.0 - | unknown |  | 4 | Two, see there_ | 5-5
    ");
}

#[test]
fn what_says_that_there_is_nothing_to_tell_is_no_entry() {
    let text =
        "# 1.0\n### Added\n- Nothing.\n### Fixed\n- *N/A*\n- None of the lines is lost.\n- No changes\n";
    assert_snapshot!(read("CHANGES.md", text), @"1.0 - | fix | Fixed |  | None of the lines | 6-6");
}

#[test]
fn fragments_and_releases_are_entries_too() {
    let name = path("doc/changes/units/12.feature.rst");
    let Some(Source::Fragment(found)) = source(&name) else {
        panic!("no fragment")
    };
    let one = read_fragment(&name, &found, b"Faster.\n\nCloses #13\n", &Headings::default()).unwrap();
    let body = ReleaseBody {
        tag: "v1.2.0".to_owned(),
        date: Some("2024-05-06".to_owned()),
        text: "## What's Changed\r\n### Features\r\n* More by @ada in https://host/o/n/pull/7\r\n### Bug fixes\r\n* Less by @bob in #8\r\n\r\n**Full Changelog**: https://host/o/n/compare/v1...v2\r\n".to_owned(),
    };
    let entries = [vec![one], read_release(&body, &Headings::default())].concat();
    assert_snapshot!(show(&entries), @r"
    unreleased - | feature | units | 12 13 | Faster. Closes #13 | 1-3
    1.2.0 2024-05-06 | feature | What's Changed > Features | 7 | More by @ada in | 3-3
    1.2.0 2024-05-06 | fix | What's Changed > Bug fixes | 8 | Less by @bob in | 5-5
    ");
    assert_eq!(entries[1].authors, ["ada"]);
}

#[test]
fn words_about_templates_make_no_template() {
    let text = "Version 3.2\n-----------\n\n-   Add ``{% set %}`` blocks with ``{{ name }}``. (#12)\n";
    assert_snapshot!(read("CHANGES.rst", text), @"3.2 - | unknown |  | 12 | Add ``{% set %}`` | 4-4");
    let text = "{% for version in versions %}\n## {{ version }}\n- {{ text }} (#1)\n{% endfor %}\n";
    assert_snapshot!(read("CHANGELOG.md", text), @"");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_heading() {
    let text = "\u{feff}# 1.1.0\n- One (#2)\n";
    assert_snapshot!(read("CHANGELOG.md", text), @"1.1.0 - | unknown |  | 2 | One (#2) | 2-2");
    let name = path("news/3.feature.md");
    let Some(Source::Fragment(found)) = source(&name) else {
        panic!("no fragment")
    };
    let one = read_fragment(
        &name,
        &found,
        "\u{feff}Faster.\n".as_bytes(),
        &Headings::default(),
    );
    assert_eq!(one.unwrap().text, "Faster.");
}

#[test]
fn bytes_that_are_not_utf8_are_read_as_latin_1_line_by_line() {
    let bytes = b"# 1.0\n- Caf\xe9 (#1)\n- caf\xc3\xa9 (#2)\n";
    let entries = read_document(&path("CHANGES.md"), bytes, &Headings::default());
    let told: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(told, ["Caf\u{e9} (#1)", "caf\u{e9} (#2)"]);
}

#[test]
fn release_notes_are_told_by_their_paths() {
    let kind = |name: &str| match source(&path(name)) {
        Some(Source::Document) => "document",
        Some(Source::Fragment(_)) => "fragment",
        None => "-",
    };
    for (name, told) in [
        ("HISTORY.md", "document"),
        ("CHANGES", "document"),
        ("CHANGES.rst", "document"),
        ("doc/en/changelog.rst", "document"),
        ("doc/whats-new.rst", "document"),
        ("doc/whatsnew/v0.12.0.rst", "document"),
        ("doc/whatsnew/4/4.0/index.rst", "document"),
        ("doc/whats_new/v1.2.rst", "document"),
        ("doc/users/prev_whats_new/whats_new_3.5.0.rst", "document"),
        ("docs/releases/4.2.txt", "document"),
        ("doc/changes/1.3.rst", "document"),
        ("changelog/1.feature.rst", "fragment"),
        ("doc/whatsnew/fragments/1.new_check", "fragment"),
        ("doc/whatsnew/fragments/_template.rst", "-"),
        ("changelog/README.rst", "-"),
        ("src/pkg/release_notes.py", "-"),
        ("tests/roots/test-changes/CHANGES", "-"),
        ("docs/index.rst", "-"),
        (".github/release.yml", "-"),
        ("docs/changelog_template.md", "-"),
        ("news/towncrier_template.md", "-"),
        ("changelog.d/new.md.j2", "-"),
        ("news/new-template.feature.md", "fragment"),
        ("CHANGES.rst.jinja", "-"),
        ("doc/whatsnew/templates.rst", "document"),
        ("src/_vendor/lines/CHANGELOG.md", "-"),
        ("vendored/lines/changelog/1.feature.rst", "-"),
        ("ui/node_modules/left/CHANGELOG.md", "-"),
        ("third_party/lines/HISTORY.rst", "-"),
        ("examples/shop/CHANGELOG.md", "-"),
        ("packages/lines/CHANGELOG.md", "document"),
    ] {
        assert_eq!(kind(name), told, "{name}");
    }
}

/// Numbers that a plain look at a text finds.
fn naive(text: &str) -> BTreeSet<String> {
    static FORM: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
        regex::Regex::new(r"(?:^|[\s(\[,])(#[1-9][0-9]{0,6})(?:[\s)\],.:]|$)").unwrap()
    });
    FORM.captures_iter(text)
        .map(|found| found[1].to_owned())
        .collect()
}

/// Lines of documents, good and bad.
fn line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "",
        "",
        "  ",
        "1.2 (2020-01-02)",
        "====",
        "----",
        "~~~~",
        "# 1.2",
        "## Features",
        "**Added**",
        "- a #1",
        "* b",
        "  - c (#2)",
        "    more #3",
        "text #4",
        "  deeper #5",
        "\t- tab #6",
        "1. d #7",
        "|Feature|",
        "|Fix| e #8",
        "Closes #9",
        "Released 2020-01-02",
        ":Date: 2020-01-02",
        ":x: y #10",
        "f:",
        "      g #11",
        "> h #12",
        "(#13)",
        "####",
        "..",
        "- é #14",
        "+++",
        "* * *",
        ":pr:`15`",
        "[#16]",
        "-",
        "  Closes #17, #18",
        "What's new in Lint 1.2.1?",
        "\u{a0}- i #19",
        "-\t#20",
    ]);
    words.prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_line_with_a_reference_is_lost(lines in prop::collection::vec(line(), 0..24)) {
        // Their names tell a version: a document without any holds no release notes.
        for (name, aside) in [("doc/whatsnew/v1.2.rst", ".."), ("doc/whatsnew/v1.2.md", "~~~~")] {
            // Comments and code are nobody's words.
            let kept: Vec<&str> = lines.iter().map(String::as_str).filter(|line| *line != aside).collect();
            let text = kept.join("\n") + "\n";
            let entries = read_document(&path(name), text.as_bytes(), &Headings::default());
            let words = |entry: &Entry| [entry.section.join("
"), entry.text.clone()].concat();
            let told = entries.iter().map(words).collect::<Vec<_>>().concat();
            let missing: Vec<_> = naive(&text).into_iter().filter(|number| !told.contains(number)).collect();
            prop_assert!(missing.is_empty(), "{}: {:?} of\n{}\n{}", name, missing, text, show(&entries));
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), name in "[a-z0-9+._/-]{0,30}") {
        let name = path(&name);
        let _ = source(&name);
        for name in [name, path("CHANGES.rst"), path("NEWS.md"), path("changelog/1.feature")] {
            let _ = read_document(&name, &bytes, &Headings::default());
            if let Some(Source::Fragment(found)) = source(&name) {
                let _ = read_fragment(&name, &found, &bytes, &Headings::default());
            }
        }
    }
}
