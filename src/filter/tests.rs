use super::value::{Datum, Seen};
use super::*;
use crate::domain::candidate::{
    Candidate, DiffSource, FoundIn, IssueReference, Merge, MergeEvidence, MergeKind,
};
use crate::domain::decision::Verdict;
use crate::domain::ids::BlobId;
use crate::domain::oracle::Oracle;
use crate::domain::patch::{ChangeKind, EntryKind, FileChange, Part};
use crate::recipe::language::{FactId, facts};
use crate::recipe::model::Recipe;

fn file(path: &str, change: ChangeKind) -> FileChange {
    FileChange {
        path: path.into(),
        old_path: None,
        change,
        entry: EntryKind::File,
        binary: false,
        mode_changed: false,
        added: 3,
        removed: 1,
        hunks: 1,
        start: 0,
        end: 10,
    }
}

pub(super) fn candidate() -> Candidate {
    let sha = "d16bfe05a744909de4b27f5875fe0d4ed41ce607".parse().unwrap();
    Candidate {
        id: "psf/requests#6629".parse().unwrap(),
        head: sha,
        merge: Merge {
            commit: sha,
            branch: "main".into(),
            kind: MergeKind::Merge,
            evidence: vec![MergeEvidence::MergeSubject],
            relations: vec![],
        },
        base_commit: sha,
        merge_base: sha,
        diff_source: DiffSource::Head,
        applies: true,
        title: None,
        body: None,
        author: None,
        labels: None,
        commits: vec![],
        commit_count: 2,
        merged_at: "2024-02-22T00:00:00Z".parse().unwrap(),
        base_date: "2024-02-21T00:00:00Z".parse().unwrap(),
        references: vec![],
        release: None,
        files: vec![
            file("src/a.py", ChangeKind::Modified),
            file("docs/a.rst", ChangeKind::Modified),
            file("tests/test_a.py", ChangeKind::Added),
        ],
        diff: BlobId::of(b""),
        forge: None,
    }
}

const PARTS: [Option<Part>; 3] = [Some(Part::Gold), Some(Part::Docs), Some(Part::Test)];

fn reference(number: u32, closes: bool) -> IssueReference {
    IssueReference {
        repo: None,
        number,
        closes,
        found_in: FoundIn::MergeMessage,
        text: format!("#{number}"),
    }
}

pub(super) fn recipe(rules: &[(&str, &str)]) -> Recipe {
    let head = "[dataset]\nname = \"t\"\nversion = \"1.0.0\"\n".to_owned();
    let rule = |(index, (keep, undecided)): (usize, &(&str, &str))| {
        format!(
            "[[rule]]\nid = \"r{index}\"\nkeep = '''{keep}'''\nreason = \"why {index}\"\n\
             source = \"ours\"\nundecided = \"{undecided}\"\n"
        )
    };
    let text = head + &rules.iter().enumerate().map(rule).collect::<String>();
    crate::recipe::parse("t.toml", &text).unwrap().recipe
}

fn verdict_of(keep: &str, candidate: &Candidate) -> Result<Verdict, EvalError> {
    let program = compile(&recipe(&[(keep, "drop")])).unwrap();
    let facts = CandidateFacts {
        candidate,
        parts: &PARTS,
        oracle: None,
        utf8: None,
        notes: None,
        text_lines: None,
    };
    let sight = Sight::new(&program, &facts);
    program
        .judge(&program.rules()[0], &sight)
        .map(|judgement| judgement.verdict)
}

#[test]
fn a_recipe_needs_fail_to_pass_where_a_rule_stops_all_without_it() {
    for (keep, undecided, needs) in [
        ("size(oracle.fail_to_pass) >= 1", "keep", true),
        (
            "size(oracle.fail_to_pass) >= 1 && size(oracle.pass_to_pass) >= 1",
            "drop",
            true,
        ),
        (
            "size(oracle.fail_to_pass) >= 1 || size(oracle.pass_to_pass) >= 1",
            "drop",
            false,
        ),
        ("size(oracle.fail_to_pass) >= 0", "drop", false),
        ("size(oracle.pass_to_pass) >= 1", "drop", false),
        ("gold.files >= 1", "drop", false),
    ] {
        let program = compile(&recipe(&[("pr.merged", "keep"), (keep, undecided)])).unwrap();
        assert_eq!(program.needs_fail_to_pass(), needs, "{keep}");
    }
}

#[test]
fn known_facts_decide() {
    let candidate = candidate();
    for (keep, expected) in [
        ("gold.files == 1 && test.files >= 1", Verdict::Keep),
        ("gold.python_files == 2", Verdict::Drop),
        (
            "gold.paths == ['src/a.py'] && docs.suffixes == ['rst']",
            Verdict::Keep,
        ),
        (
            "test.new_files == 1 && patch.files == 3 && patch.added == 9",
            Verdict::Keep,
        ),
        (
            "test.changes.exists(c, c.change == 'added' && c.path.startsWith('tests/'))",
            Verdict::Keep,
        ),
        ("repo.full == 'psf/requests' && pr.number == 6629", Verdict::Keep),
        (
            "dates.base < timestamp('2024-02-22T00:00:00Z') && dates.merged - dates.base == duration('24h')",
            Verdict::Keep,
        ),
        ("pr.merge_kind == 'squash' || pr.is_revert", Verdict::Drop),
    ] {
        assert_eq!(verdict_of(keep, &candidate), Ok(expected), "{keep}");
    }
}

/// A rule may compare only the words that checking knows: these are all that a candidate can have.
#[test]
fn every_word_that_a_candidate_can_have_may_be_compared() {
    let keeps = |keep: &str, candidate: &Candidate| {
        assert_eq!(verdict_of(keep, candidate), Ok(Verdict::Keep), "{keep}");
    };
    let mut candidate = candidate();
    for (kind, word) in [
        (MergeKind::Merge, "merge"),
        (MergeKind::Squash, "squash"),
        (MergeKind::Rebase, "rebase"),
        (MergeKind::FastForward, "fast-forward"),
    ] {
        candidate.merge.kind = kind;
        keeps(&format!("(pr.merge_kind == '{word}')"), &candidate);
    }
    for (change, word) in [
        (ChangeKind::Added, "added"),
        (ChangeKind::Deleted, "deleted"),
        (ChangeKind::Modified, "modified"),
        (ChangeKind::Renamed, "renamed"),
        (ChangeKind::TypeChanged, "type-changed"),
    ] {
        candidate.files[0].change = change;
        keeps(&format!("gold.changes.all(c, c.change == '{word}')"), &candidate);
    }
    for (entry, word) in [
        (EntryKind::File, "file"),
        (EntryKind::Symlink, "symlink"),
        (EntryKind::Submodule, "submodule"),
    ] {
        candidate.files[0].entry = entry;
        keeps(&format!("gold.changes.all(c, c.entry == '{word}')"), &candidate);
    }
    for (place, word) in [
        (FoundIn::Title, "title"),
        (FoundIn::Body, "body"),
        (FoundIn::MergeMessage, "merge-message"),
        (FoundIn::CommitMessage(candidate.head), "commit-message"),
        (FoundIn::Linked, "linked"),
    ] {
        candidate.references = vec![reference(5, true)];
        candidate.references[0].found_in = place;
        keeps(
            &format!("issues.references.exists(r, r.found_in == '{word}')"),
            &candidate,
        );
    }
}

#[test]
fn what_is_unknown_is_undecided_unless_the_rest_settles_it() {
    let candidate = candidate();
    for (keep, expected) in [
        ("pr.body.contains('x')", Verdict::Undecided),
        ("!pr.body.contains('x')", Verdict::Undecided),
        ("pr.body.contains('x') && gold.files == 2", Verdict::Drop),
        ("gold.files == 1 || pr.body.contains('x')", Verdict::Keep),
        ("pr.body.contains('x') || gold.files == 1", Verdict::Keep),
        ("pr.body.contains('x') || gold.files == 2", Verdict::Undecided),
        ("pr.body.contains('x') ? true : gold.files == 1", Verdict::Keep),
        (
            "pr.body.contains('x') ? true : gold.files == 2",
            Verdict::Undecided,
        ),
        (
            "has(pr.body) ? pr.body.contains('x') : gold.files == 1",
            Verdict::Keep,
        ),
        ("has(gold.files)", Verdict::Keep),
        ("'bug' in pr.labels", Verdict::Undecided),
        ("size(pr.subjects) == 2", Verdict::Undecided),
    ] {
        assert_eq!(verdict_of(keep, &candidate), Ok(expected), "{keep}");
    }
}

#[test]
fn an_issue_that_was_found_counts_and_one_that_was_not_may_still_exist() {
    let mut candidate = candidate();
    let rule = "size(issues.resolved) > 0";
    assert_eq!(verdict_of(rule, &candidate), Ok(Verdict::Undecided));
    candidate.references = vec![reference(7, false)];
    assert_eq!(verdict_of(rule, &candidate), Ok(Verdict::Undecided));
    candidate.references.push(reference(5, true));
    candidate.references.push(IssueReference {
        repo: Some("other/one".into()),
        ..reference(9, true)
    });
    assert_eq!(verdict_of(rule, &candidate), Ok(Verdict::Keep));
    assert_eq!(
        verdict_of("size(issues.resolved) == 1", &candidate),
        Ok(Verdict::Undecided)
    );
    assert_eq!(
        verdict_of("issues.mentioned.all(n, n == 5)", &candidate),
        Ok(Verdict::Drop)
    );
    // Once the description is known, the list is whole.
    candidate.body = Some(String::new());
    assert_eq!(
        verdict_of("size(issues.resolved) == 1", &candidate),
        Ok(Verdict::Keep)
    );
    candidate.references.clear();
    assert_eq!(verdict_of(rule, &candidate), Ok(Verdict::Drop));
}

#[test]
fn a_rule_that_cannot_be_computed_is_an_error_with_its_name() {
    let candidate = candidate();
    let error = verdict_of("gold.paths[3] == 'a'", &candidate).unwrap_err();
    insta::assert_snapshot!(error, @"evaluate rule `r0`: index out of bounds: Int(3)");
    assert_eq!(
        verdict_of("gold.paths[3] == 'a' && gold.files == 2", &candidate),
        Ok(Verdict::Drop)
    );
    assert_eq!(
        verdict_of("gold.files == 1 || 1 / (gold.files - 1) == 1", &candidate),
        Ok(Verdict::Keep)
    );
    assert_eq!(
        verdict_of("pr.body == 'a' && gold.paths[3] == 'a'", &candidate),
        Ok(Verdict::Undecided)
    );
}

#[test]
fn rules_run_by_phase_and_stop_at_the_first_that_drops() {
    let recipe = recipe(&[
        ("size(oracle.fail_to_pass) >= 1", "drop"),
        ("pr.body != ''", "keep"),
        ("gold.files == 2", "drop"),
        ("true", "drop"),
    ]);
    let program = compile(&recipe).unwrap();
    let order: Vec<&str> = program.rules().iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(order, ["r1", "r2", "r3", "r0"]);
    let candidate = candidate();
    let facts = CandidateFacts {
        candidate: &candidate,
        parts: &PARTS,
        oracle: None,
        utf8: None,
        notes: None,
        text_lines: None,
    };
    let sight = Sight::new(&program, &facts);
    let judgements = program.judge_until_dropped(program.git_rules(), &sight).unwrap();
    let decisions: Vec<_> = judgements
        .iter()
        .map(|judgement| judgement.decision(&candidate.id))
        .collect();
    let lines: Vec<String> = decisions
        .iter()
        .map(|decision| {
            let (verdict, kept) = (decision.verdict.name(), decision.kept);
            format!(
                "{} {verdict} {kept} {} ({})",
                decision.rule, decision.observed, decision.evidence
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    r1 undecided true {"pr.body":null} (`pr.body` not known here; the rule's `undecided` says keep)
    r2 drop false {"gold.files":1} (why 2)
    "#);
    let mut funnel = Funnel::of(&program);
    funnel.count(decisions.iter().map(|decision| (decision.verdict, decision.kept)));
    insta::assert_snapshot!(funnel.text(), @"
    rule        in  dropped undecided      out
    r1           1        0         1        1
    r2           1        1         0        0
    r3           0        0         0        0
    r0           0        0         0        0
    total        1        1                  0
    ");
}

#[test]
fn a_decision_is_taken_again_only_when_what_it_saw_changes() {
    let key = |keep: &str, candidate: &Candidate, oracle: Option<&Oracle>| {
        let program = compile(&recipe(&[(keep, "drop")])).unwrap();
        let facts = CandidateFacts {
            candidate,
            parts: &PARTS,
            oracle,
            utf8: None,
            notes: None,
            text_lines: None,
        };
        program
            .judge(&program.rules()[0], &Sight::new(&program, &facts))
            .unwrap()
            .input_key()
    };
    let plain = candidate();
    let mut other = candidate();
    other.body = Some(String::new());
    let rule = "gold.files == 1 || pr.body == ''";
    assert_eq!(key(rule, &plain, None), key(rule, &candidate(), None));
    assert_ne!(key(rule, &plain, None), key(rule, &other, None));
    assert_ne!(
        key(rule, &plain, None),
        key("gold.files == 1 || pr.body == '' ", &plain, None)
    );
    assert_eq!(
        key("gold.files == 1", &plain, None),
        key("gold.files == 1", &other, None)
    );
    assert_ne!(
        key("has(pr.body)", &plain, None),
        key("has(pr.body)", &other, None)
    );
    // What was found is the same, but it has become complete.
    assert_ne!(
        key("size(issues.resolved) > 0", &plain, None),
        key("size(issues.resolved) > 0", &other, None)
    );
    let oracle = Oracle {
        fail_to_pass: vec!["t".into()],
        ..Oracle::default()
    };
    let rule = "size(oracle.fail_to_pass) > 0";
    assert_ne!(
        key(rule, &plain, Some(&Oracle::default())),
        key(rule, &plain, Some(&oracle))
    );
}

#[test]
fn the_first_environment_that_fits_is_used() {
    let text = r#"
[dataset]
name = "t"
version = "1.0.0"
[[environment]]
name = "other"
reason = "a test"
repo = "pallets/flask"
python = "3.11"
[[environment]]
name = "unknown"
reason = "a test"
when = "pr.body == ''"
python = "3.11"
[[environment]]
name = "late"
reason = "a test"
when = "dates.base >= timestamp('2024-02-21T00:00:01Z')"
python = "3.12"
[[environment]]
name = "early"
reason = "a test"
repo = "psf/requests"
when = "dates.base < timestamp('2024-02-21T00:00:01Z')"
python = "3.11"
"#;
    let program = compile(&crate::recipe::parse("t.toml", text).unwrap().recipe).unwrap();
    let candidate = candidate();
    let facts = CandidateFacts {
        candidate: &candidate,
        parts: &PARTS,
        oracle: None,
        utf8: None,
        notes: None,
        text_lines: None,
    };
    assert_eq!(program.environment(&candidate.id.repo, &facts), Ok(Some(3)));
    assert_eq!(
        program.environment(&"pallets/flask".parse().unwrap(), &facts),
        Ok(Some(0))
    );
}

/// Whatever the table promises of a fact's type and availability, a candidate keeps.
#[test]
fn every_fact_of_a_candidate_is_as_the_table_says() {
    fn fits(datum: &Datum<'_>, ty: &crate::recipe::language::Type) -> bool {
        use crate::recipe::language::Type;
        match (datum, ty) {
            (Datum::Bool(_), Type::Bool)
            | (Datum::Int(_), Type::Int)
            | (Datum::Text(_), Type::String)
            | (Datum::Time(_), Type::Timestamp) => true,
            (Datum::Text(text), Type::Word(words)) => words.iter().any(|word| **word == **text),
            (Datum::List(items), Type::List(element)) => items.iter().all(|item| fits(item, element)),
            (Datum::Record(fields), Type::Record(record)) => {
                fields.len() == record.fields.len()
                    && fields
                        .iter()
                        .zip(record.fields)
                        .all(|((name, value), field)| *name == field.name && fits(value, &field.ty))
            }
            _ => false,
        }
    }
    let mut candidate = candidate();
    candidate.references = vec![reference(5, true)];
    let oracle = Oracle {
        fail_to_pass: vec!["t".into()],
        ..Oracle::default()
    };
    let before = CandidateFacts {
        candidate: &candidate,
        parts: &PARTS,
        oracle: None,
        utf8: Some(true),
        notes: None,
        text_lines: Some(1),
    };
    let after = CandidateFacts {
        oracle: Some(&oracle),
        notes: Some(&[]),
        ..before
    };
    for fact in facts::table() {
        let seen = after.see(fact.id);
        let known = match &seen {
            Seen::Known(_) => facts::Knows::Yes,
            Seen::AtLeast(_) => facts::Knows::AtLeast,
            Seen::Unknown => facts::Knows::No,
        };
        assert!(
            known == fact.git || fact.git == facts::Knows::Sometimes,
            "{}: {seen:?}",
            fact.name
        );
        assert!(
            seen.datum().is_none_or(|datum| fits(datum, &fact.ty)),
            "{}: {seen:?}",
            fact.name
        );
        let oracle_fact = fact.phase == crate::recipe::language::Phase::Oracle;
        assert!(
            !oracle_fact || before.see(fact.id) == Seen::Unknown,
            "{}",
            fact.name
        );
    }
    assert_eq!(after.see(FactId::PrBody), Seen::Unknown);
}
