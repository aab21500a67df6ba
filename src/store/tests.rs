use camino::Utf8PathBuf;
use serde_json::json;

use super::*;
use crate::domain::attempt::{Attempt, AttemptOutcome, Stage};
use crate::domain::decision::{Decision, Verdict};
use crate::domain::ids::BlobId;

fn ledger() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().join("ledger.db")).unwrap();
    (folder, path)
}

fn decision(candidate: &str, rule: &str, key: &str) -> Decision {
    Decision {
        candidate: candidate.parse().unwrap(),
        rule: rule.into(),
        verdict: Verdict::Drop,
        kept: false,
        observed: json!({"gold.files": 2}),
        evidence: "because".into(),
        input_key: key.into(),
    }
}

#[test]
fn decisions_come_back_by_number_and_a_repeated_one_stays_one() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    let batch = vec![decision("a/b#10", "one", "k"), decision("a/b#9", "one", "k")];
    store.append_decisions("sample", batch.clone()).unwrap();
    store.append_decisions("sample", batch).unwrap();
    store
        .append_decisions("sample", vec![decision("a/b#9", "one", "other key")])
        .unwrap();
    let rows = store.decisions(Some("sample"), None).unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|(_, row)| (row.candidate.number, row.input_key.as_str()))
        .collect();
    assert_eq!(seen, [(9, "k"), (9, "other key"), (10, "k")]);
    assert_eq!(rows[0].1, decision("a/b#9", "one", "k"));
}

#[test]
fn attempts_survive_reopening_and_cannot_be_changed() {
    let (_folder, path) = ledger();
    let attempt = Attempt {
        candidate: "a/b#1".parse().unwrap(),
        stage: Stage::Verify,
        input_key: "k".into(),
        outcome: AttemptOutcome::Infra,
        reason: "time-out".into(),
        detail: "no end after 3 s".into(),
        log: None,
        result: Some(json!({"x": 1})),
    };
    Store::open(&path)
        .unwrap()
        .append_attempt(attempt.clone())
        .unwrap();
    let store = Store::open(&path).unwrap();
    let kept = std::slice::from_ref(&attempt);
    assert_eq!(store.attempts(Some(Stage::Verify), None).unwrap(), kept);
    assert_eq!(store.attempts_by_key(Stage::Verify, "k").unwrap(), kept);
    for (stage, key) in [(Stage::Verify, "other"), (Stage::Build, "k")] {
        assert!(store.attempts_by_key(stage, key).unwrap().is_empty());
    }
    assert!(store.attempts(Some(Stage::Build), None).unwrap().is_empty());
    for change in [
        "UPDATE attempts SET reason = 'x'",
        "DELETE FROM attempts",
        "DELETE FROM attempts WHERE 1",
    ] {
        let refused = store
            .transact(move |transaction| transaction.execute(change, []))
            .unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[test]
fn a_ledger_from_the_future_is_refused_with_a_hint() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    store
        .transact(|transaction| transaction.pragma_update(None, "user_version", 99))
        .unwrap();
    drop(store);
    for refused in [Store::open(&path), Store::open_read_only(&path)] {
        let error = refused.err().unwrap();
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
        assert!(!error.hints().is_empty());
    }
}

#[test]
fn a_failed_transaction_leaves_nothing() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    let failed = store.transact(|transaction| {
        transaction.execute("INSERT INTO cursors (name, data) VALUES ('x', '1')", [])?;
        transaction.execute("INSERT INTO nowhere VALUES (1)", [])
    });
    assert!(failed.is_err());
    assert_eq!(store.cursor("x").unwrap(), None);
    store.put_cursor("x", json!([1])).unwrap();
    assert_eq!(store.cursor("x").unwrap(), Some(json!([1])));
    assert_eq!(store.cursors("x").unwrap().len(), 1);
}

#[test]
fn a_file_that_is_no_ledger_is_named() {
    let (_folder, path) = ledger();
    std::fs::write(
        &path,
        "not a database, but long enough to look like one ".repeat(50),
    )
    .unwrap();
    let error = Store::open(&path).err().unwrap();
    assert!(error.to_string().contains("ledger.db"), "{error}");
    assert!(error.hints()[0].contains("damaged"), "{:?}", error.hints());
}

#[test]
fn a_candidate_that_is_dropped_later_is_one_no_longer() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    store
        .transact(|transaction| {
            transaction.execute(
                "INSERT INTO candidates (id, repo, number, data) VALUES ('a/b#1', 'a/b', 1, '{}')",
                [],
            )
        })
        .unwrap();
    store
        .put_mined(vec![], vec![decision("a/b#1", "mine-duplicate", "k")], None)
        .unwrap();
    assert_eq!(store.candidates(None).unwrap(), []);
}

#[test]
fn a_ledger_where_nothing_can_be_written_is_read() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    store
        .append_decisions("sample", vec![decision("a/b#9", "one", "k")])
        .unwrap();
    drop(store);
    // A folder in its place keeps SQLite from making the file that readers and writers share, also for root.
    std::fs::create_dir(format!("{path}-shm")).unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.decisions(None, None).unwrap().len(), 1);
}

#[test]
fn a_ledger_of_the_first_shape_is_brought_to_the_newest_and_keeps_its_rows() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    store
        .append_decisions("sample", vec![decision("a/b#9", "one", "k")])
        .unwrap();
    store
        .transact(|transaction| {
            transaction.execute("DROP INDEX attempts_by_key", [])?;
            transaction.execute("DROP TABLE forge", [])?;
            transaction.pragma_update(None, "user_version", 1)
        })
        .unwrap();
    drop(store);
    // Reading beside an older ledger needs no change to it.
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.decisions(None, None).unwrap().len(), 1);
    assert_eq!(
        (reader.reply("pull:a/b#1").unwrap(), reader.replies("").unwrap()),
        (None, vec![])
    );
    drop(reader);
    let store = Store::open(&path).unwrap();
    let (version, indexed) = store
        .transact(|transaction| {
            let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            let mut plan = transaction.prepare(
                "EXPLAIN QUERY PLAN SELECT * FROM attempts WHERE stage = 'detect' AND input_key = 'k'",
            )?;
            let plan: String = plan.query_row([], |row| row.get("detail"))?;
            Ok((version, plan.contains("attempts_by_key")))
        })
        .unwrap();
    assert_eq!((version, indexed), (LEDGER_VERSION, true));
    assert_eq!(store.decisions(None, None).unwrap().len(), 1);
}

#[test]
fn the_last_decision_of_mining_is_the_one_that_holds_however_often_it_turns() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    let put = |rule: &str| {
        let decisions = vec![decision("a/b#1", rule, "k")];
        store.put_mined(vec![], decisions, None).unwrap();
        let rows = store.decisions(Some(MINE_SCOPE), None).unwrap();
        (rows.len(), rows.last().unwrap().1.rule.to_string())
    };
    for (rule, rows) in [
        ("mine-a", 1),
        ("mine-a", 1),
        ("mine-b", 2),
        ("mine-a", 3),
        ("mine-a", 3),
        ("mine-b", 4),
        ("mine-a", 5),
    ] {
        assert_eq!(put(rule), (rows, rule.to_owned()));
    }
}

#[test]
fn a_repository_keeps_the_letters_it_was_first_mined_under() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    let spelled = |text: &str| store.spelled(&text.parse().unwrap()).unwrap().to_string();
    assert_eq!(spelled("PSF/Requests"), "PSF/Requests");
    store
        .put_mined(
            vec![],
            vec![],
            Some(("mine:psf/requests/1".to_owned(), json!({}))),
        )
        .unwrap();
    assert_eq!(spelled("PSF/Requests"), "psf/requests");
    assert_eq!(spelled("psf/requests"), "psf/requests");
    assert_eq!(spelled("psf/requests2"), "psf/requests2");
}

#[test]
fn replies_stand_by_name_and_are_replaced_and_forgotten_at_once() {
    let (_folder, path) = ledger();
    let store = Store::open(&path).unwrap();
    let reply = |name: &str, text: &str| Reply {
        name: name.to_owned(),
        updated_at: Some("2020-01-01T00:00:00Z".to_owned()),
        etag: None,
        reply: BlobId::of(text.as_bytes()),
    };
    let names = |prefix: &str| -> Vec<String> {
        let replies = store.replies(prefix).unwrap();
        replies.into_iter().map(|reply| reply.name).collect()
    };
    store
        .put_replies(vec![
            reply("pull:a/b#2", "x"),
            reply("pull:a/b#10", "x"),
            reply("pull:a/bc#1", "x"),
        ])
        .unwrap();
    assert_eq!(names("pull:a/b#"), ["pull:a/b#10", "pull:a/b#2"]);
    store
        .replace_replies(vec!["pull:a/b#2".to_owned()], vec![reply("pull:a/b#10", "y")])
        .unwrap();
    assert_eq!(names(""), ["pull:a/b#10", "pull:a/bc#1"]);
    assert_eq!(
        store.reply("pull:a/b#10").unwrap(),
        Some(reply("pull:a/b#10", "y"))
    );
}
