use proptest::prelude::*;

use super::*;

/// The faults of an expression, each as the words it stands on, what is wrong, and the hint.
fn faults(text: &str) -> String {
    match check_condition(text) {
        Ok(checked) => format!(
            "fine: reads {:?}",
            checked.reads.iter().map(|id| id.name()).collect::<Vec<_>>()
        ),
        Err(faults) => faults
            .iter()
            .map(|fault| {
                let hint = fault.hint.as_deref().unwrap_or("-");
                format!("[{}] {} ({hint})", &text[fault.range.clone()], fault.message)
            })
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

#[test]
fn a_sound_condition_names_what_it_reads() {
    for (text, reads, phase) in [
        ("gold.files == 1", vec!["gold.files"], Phase::Git),
        (
            "pr.merged && size(issues.resolved) > 0",
            vec!["pr.merged", "issues.resolved"],
            Phase::Git,
        ),
        (
            "gold.paths.all(p, p.startsWith('src/')) || test.files >= 1",
            vec!["gold.paths", "test.files"],
            Phase::Git,
        ),
        (
            "gold.changes.exists_one(c, c.change == 'added' && c.added > 3)",
            vec!["gold.changes"],
            Phase::Git,
        ),
        (
            "oracle.fail_to_pass.map(t, t + '!').filter(t, size(t) > 3).size() > 0",
            vec!["oracle.fail_to_pass"],
            Phase::Oracle,
        ),
        (
            "dates.base - dates.created < duration('36h')",
            vec!["dates.base", "dates.created"],
            Phase::Git,
        ),
        (
            "dates.base >= timestamp('2023-01-01T00:00:00Z')",
            vec!["dates.base"],
            Phase::Git,
        ),
        (
            "'bug' in pr.labels ? gold.added > 3 : gold.added > 30",
            vec!["pr.labels", "gold.added"],
            Phase::Git,
        ),
        (
            "gold.suffixes == ['py'] && pr.title.matches('^[Ff]ix')",
            vec!["gold.suffixes", "pr.title"],
            Phase::Git,
        ),
        (
            "double(gold.added) / 2.0 > 1.5 && -gold.removed % 2 == 0",
            vec!["gold.added", "gold.removed"],
            Phase::Git,
        ),
    ] {
        let checked = check_condition(text).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
        let mut names: Vec<&str> = checked.reads.iter().map(|id| id.name()).collect();
        let mut reads = reads;
        names.sort_unstable();
        reads.sort_unstable();
        assert_eq!(names, reads, "{text}");
        assert_eq!(checked.phase(), phase, "{text}");
    }
}

#[test]
fn has_asks_without_reading() {
    let checked = check_condition("has(pr.body) ? size(issues.resolved) > 0 : true").unwrap();
    assert_eq!(
        checked.probes.iter().map(|id| id.name()).collect::<Vec<_>>(),
        ["pr.body"]
    );
    assert_eq!(
        checked.reads.iter().map(|id| id.name()).collect::<Vec<_>>(),
        ["issues.resolved"]
    );
}

#[test]
fn names_that_do_not_exist_are_answered_with_the_nearest() {
    insta::assert_snapshot!(faults("gold.fiels == 1 && tset.files > 0"), @"
    [fiels] there is no fact `gold.fiels` (did you mean `gold.files`? `quarry check --facts` lists every fact)
    [tset] `tset` is not known (did you mean `test`?)
    ");
    insta::assert_snapshot!(faults("size(fail_to_pass) > 0"), @"[fail_to_pass] `fail_to_pass` is not known (did you mean `oracle.fail_to_pass`?)");
    insta::assert_snapshot!(faults("gold.paths.exist(p, p == 'a')"), @"[exist] there is no function `exist` (did you mean `exists`?)");
    insta::assert_snapshot!(faults("gold.changes.exists(c, c.pth == 'a')"), @"[pth] a change has no field `pth` (did you mean `path`?)");
    insta::assert_snapshot!(faults("len(gold.paths) == 1"), @"[len] there is no function `len` (did you mean `size`?)");
    insta::assert_snapshot!(faults("gold == 1"), @"[gold] `gold` is a group of facts, not a value (name one of its facts: `gold.files`, `gold.paths`, `gold.python_files`, `gold.suffixes`, `gold.added`, `gold.removed`, `gold.hunks`, `gold.new_files`, `gold.deleted_files`, `gold.renamed_files`, `gold.binary_files`, `gold.changes`)");
}

#[test]
fn types_that_do_not_fit_are_pointed_at() {
    insta::assert_snapshot!(faults("gold.files"), @"[gold.files] this gives an int, a condition must give bool (compare it, for example `… > 0`)");
    insta::assert_snapshot!(faults("gold.files == '1'"), @"[==] `==` does not take (int, string) (-)");
    insta::assert_snapshot!(faults("gold.paths > 1 || pr.title && true"), @"
    [>] `>` does not take (list<string>, int) (ask for the list's size, for example `size(…) == 1`)
    [pr.title] expected a bool, this is a string (-)
    ");
    insta::assert_snapshot!(faults("gold.files.exists(f, f == 1)"), @"[gold.files] `exists` goes over a list, this is an int (-)");
    insta::assert_snapshot!(faults("gold.paths.all(p, p.size())"), @"[p.size] expected a bool, this is an int (-)");
    insta::assert_snapshot!(faults("gold.paths.exists(p, p.endsWith(1))"), @"[endsWith] `endsWith` does not take (string, int) (write `string.endsWith(string)`)");
    insta::assert_snapshot!(faults("'a' in pr.title"), @"[in] `in` does not take (string, string) (a text is searched with `text.contains(…)`)");
    insta::assert_snapshot!(faults("(pr.merged ? 1 : 'a') == 1"), @"[?] both sides of `:` must be of one type, these are int and string (-)");
    insta::assert_snapshot!(faults("pr.title == null || gold.paths == [1]"), @"
    [null] `null` is not part of the rule language (a fact is never null; `has(…)` asks whether it is known)
    [==] `==` does not take (list<string>, list<int>) (-)
    ");
}

#[test]
fn values_written_out_must_be_readable() {
    insta::assert_snapshot!(faults("dates.base > timestamp('2023-13-01') && pr.title.matches('[a')"), @"
    [timestamp('2023-13-01'] this cannot be read: error executing function 'timestamp': premature end of input (a moment is written `timestamp('2023-01-01T00:00:00Z')`)
    ['[a'] this is no regular expression: unclosed character class (-)
    ");
    insta::assert_snapshot!(faults("dates.base > '2023-01-01'"), @"[>] `>` does not take (timestamp, string) (a moment is written `timestamp('2023-01-01T00:00:00Z')`)");
}

#[test]
fn a_word_that_no_value_is_is_answered_with_the_nearest() {
    insta::assert_snapshot!(faults("notes.kinds.exists(k, k == 'featur')"), @"['featur'] `featur` is none of the values that this can have (did you mean `feature`?)");
    insta::assert_snapshot!(faults("'fixs' in notes.kinds || pr.merge_kind != 'Squash'"), @"
    ['fixs'] `fixs` is none of the values that this can have (did you mean `fix`?)
    ['Squash'] `Squash` is none of the values that this can have (did you mean `squash`?)
    ");
    insta::assert_snapshot!(faults("notes.entries.exists(n, n.kind in ['feature', 'bug'] && n.evidence == 'lines')"), @"
    ['bug'] `bug` is none of the values that this can have (it is one of `'feature'`, `'enhancement'`, `'new-check'`, `'extension'`, `'performance'`, `'fix'`, `'security'`, `'deprecation'`, `'removal'`, `'breaking'`, `'change'`, `'documentation'`, `'dependencies'`, `'internal'`, `'unknown'`)
    ['lines'] `lines` is none of the values that this can have (did you mean `line`?)
    ");
    insta::assert_snapshot!(faults("pr.review == 'APPROVE' || notes.kinds.filter(k, k != 'fix')[0] == 'feat'"), @"
    ['APPROVE'] `APPROVE` is none of the values that this can have (did you mean `APPROVED`?)
    ['feat'] `feat` is none of the values that this can have (did you mean `feature`?)
    ");
    insta::assert_snapshot!(faults("gold.changes.all(c, (c.binary ? 'add' : 'added') == c.change) && issues.references.map(r, r.found_in) == ['bodies']"), @"
    ['add'] `add` is none of the values that this can have (did you mean `added`?)
    ['bodies'] `bodies` is none of the values that this can have (it is one of `'title'`, `'body'`, `'merge-message'`, `'commit-message'`, `'linked'`)
    ");
}

#[test]
fn words_are_text_that_may_be_searched_and_mixed_with_other_text() {
    for text in [
        "pr.review == '' || pr.review == 'APPROVED'",
        "pr.merge_kind.startsWith('squ') && size(pr.merge_kind) > 3 && pr.merge_kind + '!' == 'squash!'",
        "notes.kinds.exists(k, k == pr.title) && pr.title in notes.kinds",
        "(pr.merged ? pr.merge_kind : 'none') == 'none' && [pr.merge_kind, 'none'][0] == 'none'",
        "(pr.merged ? 'none' : pr.merge_kind) == 'none' && string(pr.merge_kind) == 'none'",
        "notes.kinds.map(k, k + 's') == ['features'] && pr.merge_kind < 'n'",
        "notes.entries.exists(n, n.version == 'unreleased' && n.kind in notes.kinds)",
    ] {
        assert!(faults(text).starts_with("fine"), "{text}: {}", faults(text));
    }
}

#[test]
fn what_does_not_parse_is_said_in_plain_words() {
    insta::assert_snapshot!(faults("gold.files = 1"), @"[=] this is not part of the language (two values are compared with `==`)");
    insta::assert_snapshot!(faults("gold.files == "), @"[] the expression ends too early (-)");
    insta::assert_snapshot!(faults(" "), @"[] the expression is empty (-)");
    insta::assert_snapshot!(faults("gold.files == 1)"), @"[)] syntax error: extraneous input `)` (-)");
    insta::assert_snapshot!(faults("has(gold) && gold.paths.exists(gold, gold == 'a')"), @"[g] `has` takes one fact, as in `has(pr.body)` (-)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever is written, the checker answers with a type or with places inside the text.
    #[test]
    fn no_text_makes_it_panic(text in r#"([a-z.()\[\]'"=<>!&|?:,+ 0-9é\\-]|gold\.|paths|pr\.body|exists\(p, |has\(){0,14}"#) {
        if let Err(faults) = check_condition(&text) {
            prop_assert!(!faults.is_empty());
            for fault in faults {
                prop_assert!(text.get(fault.range.clone()).is_some(), "{:?} in {:?}", fault, text);
            }
        }
    }
}
