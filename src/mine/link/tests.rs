//! References as people write them.

use proptest::prelude::*;

use super::references;
use crate::domain::candidate::FoundIn;
use crate::domain::ids::RepoName;

fn home() -> RepoName {
    "psf/requests".parse().unwrap()
}

/// `!` marks those that close.
fn show_in(text: &str, place: &FoundIn) -> String {
    let found = references(text, &home(), place);
    let words = found.iter().map(|reference| {
        let mark = if reference.closes { "!" } else { "" };
        format!(
            "{mark}{}#{}",
            reference.repo.as_deref().unwrap_or_default(),
            reference.number
        )
    });
    words.collect::<Vec<_>>().join(" ")
}

fn show(text: &str) -> String {
    show_in(text, &FoundIn::Title)
}

#[test]
fn every_tense_closes() {
    for word in [
        "close",
        "closes",
        "closed",
        "closing",
        "fix",
        "fixes",
        "fixed",
        "fixing",
        "resolve",
        "resolves",
        "resolved",
        "resolving",
    ] {
        for text in [
            format!("{word} #12"),
            format!("{}: #12", word.to_uppercase()),
            format!("x ({word}  #12)"),
        ] {
            assert_eq!(show(&text), "!#12", "{text}");
        }
    }
}

#[test]
fn every_form_is_read() {
    for (text, found) in [
        ("Fixes #1, #2 and #3; see #4", "!#1 !#2 !#3 #4"),
        ("fixes #1, closes #2", "!#1 !#2"),
        ("Fixes #1 & #2/#3 + #4 #5", "!#1 !#2 !#3 !#4 !#5"),
        ("closes: GH-1, gh-2", "!#1 !#2"),
        ("fixes issue #1", "!#1"),
        ("Resolves the issues #1 and #2", "!#1 !#2"),
        ("Fixes:\n- #1\n- #2\n", "!#1 !#2"),
        ("Closes\n#1", "!#1"),
        ("closes\n\n#1", "#1"),
        (
            "**Fixes**: [#1](https://github.com/psf/requests/issues/1), **#2**",
            "!#1 !#2",
        ),
        ("fix pallets/flask#1 and psf/Requests#2", "!pallets/flask#1 !#2"),
        (
            "fixes https://github.com/psf/requests/issues/1, https://github.com/a/b.c/pull/2/files#r3",
            "!#1 !a/b.c#2",
        ),
        (
            "Closes <https://github.com/psf/requests/issues/7#issuecomment-1>.",
            "!#7",
        ),
        ("See #1. Later: fixes #1", "!#1"),
        ("Fix typo (#12)", "#12"),
        ("hotfix #1, prefix #2, bug-fix #3, suffixes #4", "#1 #2 #3 #4"),
        ("Fix the thing (fixes #1) (#2)", "!#1 #2"),
        ("[#1] (#2) \"#3\" #4: #5,", "#1 #2 #3 #4 #5"),
    ] {
        assert_eq!(show(text), found, "{text}");
    }
}

#[test]
fn what_is_no_reference_is_left() {
    for text in [
        "",
        "#0",
        "#01",
        "#12abc",
        "C#1",
        "&#39;",
        "\\#1",
        "page.html#1",
        "https://example.com/#1",
        "x/y/z#1",
        "# 1",
        "##1",
        "gh-1x",
        "high-1",
        "#99999999999",
        "https://github.com/psf/requests/commit/1",
        "#1-beta",
        "fixes 12",
    ] {
        assert_eq!(show(text), "", "{text}");
    }
}

#[test]
fn code_and_comments_say_nothing() {
    let body = "\
<!-- fixes #1
and #2 --> Closes #3 `fixes #4` ``fixes ` #5``
```python
fixes #6
```
~~~
fixes #7
```
~~~~
fixes #8

    fixes #9

not ` closed: fixes #10

```
fixes #11
";
    assert_eq!(show_in(body, &FoundIn::Body), "!#3 !#8 !#10");
    // A commit's message is indented for many reasons.
    assert_eq!(show("Title\n\n    fixes #9"), "!#9");
    assert_eq!(show("a <!-- fixes #1"), "");
}

#[test]
fn the_words_and_the_place_are_kept() {
    let place = FoundIn::MergeMessage;
    let found = references("a\nFixes:  #1, see a/b#2", &home(), &place);
    assert_eq!(found[0].text, "Fixes: #1");
    assert_eq!(found[1].text, "a/b#2");
    assert!(found.iter().all(|reference| reference.found_in == place));
}

fn form() -> impl Strategy<Value = (String, Option<String>, u32)> {
    (0..4, 1_u32..100_000, "[a-z]{2,5}/[a-z]{2,5}").prop_map(|(form, number, repo)| match form {
        0 => (format!("#{number}"), None, number),
        1 => (format!("GH-{number}"), None, number),
        2 => (format!("{repo}#{number}"), Some(repo), number),
        _ => (
            format!("https://github.com/{repo}/issues/{number}"),
            Some(repo),
            number,
        ),
    })
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_fault(text in "[a-z#`~<!>/\n 0-9é-]{0,60}") {
        for place in [FoundIn::Body, FoundIn::Title] {
            references(&text, &home(), &place);
        }
    }

    #[test]
    fn a_list_closes_every_member(
        word in "(close|FIXES|Resolved|fixing)", gap in "( |: |:\n- )", joint in "(, | and |, and | & |/|; )",
        list in proptest::collection::vec(form(), 1..6),
    ) {
        let mut wanted: Vec<(Option<String>, u32)> = vec![];
        for (_, repo, number) in &list {
            if !wanted.contains(&(repo.clone(), *number)) {
                wanted.push((repo.clone(), *number));
            }
        }
        let joint = if joint == "/" { ", " } else { &joint };
        let texts: Vec<_> = list.iter().map(|member| member.0.as_str()).collect();
        let text = format!("Prose before.\n\n{word}{gap}{}. After #0.", texts.join(joint));
        let found = references(&text, &home(), &FoundIn::Body);
        let got: Vec<_> = found.iter().map(|reference| (reference.repo.clone(), reference.number)).collect();
        prop_assert_eq!(got, wanted, "{}", text);
        prop_assert!(found.iter().all(|reference| reference.closes), "{}", text);
    }

    #[test]
    fn reading_twice_finds_the_same(text in "(fixes |#[1-9]|, | and |`|\n|a/b){0,20}") {
        let first = references(&text, &home(), &FoundIn::Body);
        prop_assert_eq!(first, references(&text, &home(), &FoundIn::Body));
    }
}
