use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const SECRET: &[u8] = b"secret";

/// The bytes that the Python side would write for these events.
fn sealed(events: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (n, event) in events.iter().enumerate() {
        let mut event = event.clone();
        event["n"] = json!(n);
        let body = serde_json::to_vec(&event).unwrap();
        bytes.extend_from_slice(seal::seal(SECRET, &body).as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(&body);
        bytes.push(b'\n');
    }
    bytes
}

fn phase(id: &str, phase: &str, outcome: &str) -> Value {
    json!({"e": "phase", "id": id, "phase": phase, "outcome": outcome, "seconds": 0.5})
}

fn start(id: &str) -> Value {
    json!({"e": "start", "id": id})
}

fn status(events: &[Value]) -> Option<TestStatus> {
    read(&sealed(events), SECRET)
        .outcome
        .tests
        .get(&TestId::from("t"))
        .copied()
}

fn whole_run() -> Vec<Value> {
    vec![
        json!({"e": "hello", "protocol": 1, "runner": "pytest", "version": "8.3.5", "python": "3.11.7"}),
        json!({"e": "collect-error", "node": "b.py", "message": "ImportError"}),
        json!({"e": "collected", "ids": ["t", "a.py::x[a b\n\u{e9}]"]}),
        start("t"),
        phase("t", "setup", "passed"),
        phase("t", "call", "failed"),
        phase("t", "teardown", "passed"),
        start("a.py::x[a b\n\u{e9}]"),
        phase("a.py::x[a b\n\u{e9}]", "setup", "passed"),
        phase("a.py::x[a b\n\u{e9}]", "call", "passed"),
        phase("a.py::x[a b\n\u{e9}]", "teardown", "passed"),
        json!({"e": "finish", "status": 1}),
    ]
}

#[test]
fn phases_make_a_status() {
    use TestStatus::{Errored, Failed, Passed, Skipped, Xfailed, Xpassed};
    type Row<'a> = (&'a [(&'a str, &'a str)], Option<TestStatus>);
    let table: &[Row] = &[
        (
            &[("setup", "passed"), ("call", "passed"), ("teardown", "passed")],
            Some(Passed),
        ),
        (
            &[("setup", "passed"), ("call", "failed"), ("teardown", "passed")],
            Some(Failed),
        ),
        (
            &[("setup", "passed"), ("call", "failed"), ("teardown", "failed")],
            Some(Failed),
        ),
        (
            &[("setup", "passed"), ("call", "passed"), ("teardown", "failed")],
            Some(Errored),
        ),
        (
            &[("setup", "passed"), ("call", "skipped"), ("teardown", "failed")],
            Some(Errored),
        ),
        (&[("setup", "failed"), ("teardown", "passed")], Some(Errored)),
        (&[("setup", "skipped"), ("teardown", "passed")], Some(Skipped)),
        (
            &[("setup", "passed"), ("call", "skipped"), ("teardown", "passed")],
            Some(Skipped),
        ),
        (&[("setup", "xfailed"), ("teardown", "passed")], Some(Xfailed)),
        (
            &[("setup", "passed"), ("call", "xfailed"), ("teardown", "passed")],
            Some(Xfailed),
        ),
        (
            &[("setup", "passed"), ("call", "xpassed"), ("teardown", "passed")],
            Some(Xpassed),
        ),
        (
            &[
                ("setup", "passed"),
                ("call", "a-plugin's-word"),
                ("teardown", "passed"),
            ],
            None,
        ),
        (&[("setup", "passed")], None),
        (&[("call", "passed")], Some(Passed)),
        (&[("call", "failed"), ("call", "passed")], Some(Failed)),
    ];
    for (phases, expected) in table {
        let mut events = vec![start("t")];
        events.extend(phases.iter().map(|(step, outcome)| phase("t", step, outcome)));
        assert_eq!(status(&events), *expected, "{phases:?}");
    }
}

#[test]
fn the_last_try_stands_and_tries_are_counted() {
    let events = [
        start("t"),
        phase("t", "setup", "passed"),
        phase("t", "call", "rerun"),
        phase("t", "setup", "rerun"),
        phase("t", "setup", "passed"),
        phase("t", "call", "passed"),
        phase("t", "teardown", "passed"),
    ];
    let channel = read(&sealed(&events), SECRET);
    assert_eq!(channel.outcome.tests[&"t".into()], TestStatus::Passed);
    assert_eq!(channel.reruns[&"t".into()], 2);
}

#[test]
fn of_two_tests_with_one_id_the_worse_stands() {
    let round = |outcome| {
        [
            start("t"),
            phase("t", "call", outcome),
            phase("t", "teardown", "passed"),
        ]
    };
    assert_eq!(
        status(&[round("failed"), round("passed")].concat()),
        Some(TestStatus::Failed)
    );
    assert_eq!(
        status(&[round("passed"), round("failed")].concat()),
        Some(TestStatus::Failed)
    );
    assert_eq!(
        status(&[round("passed"), round("skipped")].concat()),
        Some(TestStatus::Skipped)
    );
}

#[test]
fn a_failed_subtest_fails_its_test() {
    let subtest = |outcome: &str| json!({"e": "subtest", "id": "t", "outcome": outcome, "message": "i=1"});
    let rest = [phase("t", "call", "passed"), phase("t", "teardown", "passed")];
    assert_eq!(
        status(&[&[start("t"), subtest("failed"), subtest("passed")], &rest[..]].concat()),
        Some(TestStatus::Failed)
    );
    assert_eq!(
        status(&[&[start("t"), subtest("skipped"), subtest("passed")], &rest[..]].concat()),
        Some(TestStatus::Passed)
    );
}

#[test]
fn a_whole_run_is_read() {
    let channel = read(&sealed(&whole_run()), SECRET);
    assert_eq!(channel.finish, Some(1));
    assert_eq!(channel.outcome.tests.len(), 2);
    assert_eq!(channel.outcome.collection_errors["b.py"], "ImportError");
    assert_eq!((channel.forged, channel.torn, channel.damaged), (0, false, false));
    assert_eq!(channel.unfinished().count(), 0);
    assert!(channel.running.is_empty());
    assert!((channel.seconds[&"t".into()] - 1.5).abs() < 1e-9);
}

#[test]
fn who_was_running_is_known_when_the_run_dies() {
    let events = whole_run();
    let channel = read(&sealed(&events[..5]), SECRET);
    assert_eq!(channel.running, ["t".into()]);
    assert_eq!(channel.finish, None);
}

#[test]
fn forged_lost_and_doubled_lines_are_noticed() {
    let good = sealed(&whole_run());
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    let forged = [
        &good[..],
        b"{\"e\":\"phase\"}\n",
        b"00000000000000000000000000000000 {\"e\":\"finish\",\"n\":12}\n",
        b"\n",
    ];
    let channel = read(&forged.concat(), SECRET);
    assert_eq!((channel.forged, channel.damaged), (3, false));
    assert_eq!(channel.outcome, read(&good, SECRET).outcome);

    let lost = [&lines[..4], &lines[5..]].concat().concat();
    assert!(read(&lost, SECRET).damaged);
    let doubled = [&lines[..4], &lines[3..]].concat().concat();
    assert!(read(&doubled, SECRET).damaged);
    assert_eq!(read(&good, b"another").forged, lines.len() as u64);
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let channel = read(&bytes, SECRET);
        prop_assert_eq!(channel.finish, None);
        prop_assert!(channel.outcome.tests.is_empty());
    }

    #[test]
    fn a_channel_cut_anywhere_is_torn_and_never_finished(cut in 0_usize..2000) {
        let whole = sealed(&whole_run());
        let cut = cut % whole.len();
        let channel = read(&whole[..cut], SECRET);
        prop_assert_eq!(channel.finish, None);
        prop_assert!(!channel.damaged && channel.forged == 0);
        prop_assert_eq!(channel.torn, cut != 0 && whole[cut - 1] != b'\n');
    }

    #[test]
    fn a_changed_byte_never_changes_an_outcome(at in 0_usize..2000, to in any::<u8>()) {
        let whole = sealed(&whole_run());
        let mut changed = whole.clone();
        let at = at % whole.len();
        changed[at] = to;
        let (channel, good) = (read(&changed, SECRET), read(&whole, SECRET));
        let intact = !channel.damaged && channel.forged == 0 && !channel.torn && channel.finish.is_some();
        prop_assert!(!intact || channel.outcome == good.outcome);
    }
}
