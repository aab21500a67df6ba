use super::super::channel::Hello;
use super::*;
use crate::domain::ids::TestId;
use crate::domain::outcome::TestStatus;

fn complete() -> Channel {
    let mut channel = Channel {
        hello: Some(Hello {
            runner: "pytest".to_owned(),
            version: "8".to_owned(),
            python: "3.11.7".to_owned(),
        }),
        collected: [TestId::from("t")].into(),
        finish: Some(1),
        ..Channel::default()
    };
    channel.outcome.tests.insert("t".into(), TestStatus::Failed);
    channel
}

/// As pytest told it of a project whose plugin could not be loaded.
fn broken_start(channel: &mut Channel, said: &str) {
    channel.collected.clear();
    channel.outcome.tests.clear();
    channel.finish = Some(3);
    channel.internal_error = Some(format!("Traceback (most recent call last):\n{said}\n"));
}

fn reason(ended: Ended, channel: &Channel) -> (AttemptOutcome, &'static str) {
    judge(ended, channel).map_or_else(
        |fault| (fault.outcome, fault.reason),
        |()| (AttemptOutcome::Done, "ok"),
    )
}

#[test]
fn only_a_run_that_came_to_its_end_is_complete() {
    use AttemptOutcome::{Done, Infra, Project};
    type Change = fn(&mut Channel);
    let table: &[(Ended, Change, (AttemptOutcome, &str))] = &[
        (Ended::Exited(1), |_| {}, (Done, "ok")),
        (Ended::Exited(0), |c| c.finish = Some(0), (Done, "ok")),
        (Ended::Exited(5), |c| c.finish = Some(5), (Done, "ok")),
        (Ended::Exited(1), |c| c.forged = 9, (Done, "ok")),
        (Ended::Exited(0), |c| c.finish = None, (Infra, "lost-channel")),
        (Ended::Exited(7), |_| {}, (Infra, "lost-channel")),
        (Ended::Exited(1), |c| c.hello = None, (Infra, "no-start")),
        (
            Ended::Exited(97),
            |c| c.missing = Some("pytest: no".to_owned()),
            (Project, "no-runner"),
        ),
        (Ended::Exited(1), |c| c.damaged = true, (Infra, "damaged-channel")),
        (Ended::Exited(4), |c| c.finish = Some(4), (Project, "usage-error")),
        (Ended::Exited(2), |c| c.finish = Some(2), (Infra, "interrupted")),
        (
            Ended::Exited(1),
            |c| c.interrupted = Some("Exit".to_owned()),
            (Infra, "interrupted"),
        ),
        (
            Ended::Exited(3),
            |c| c.finish = Some(3),
            (Infra, "internal-error"),
        ),
        (
            Ended::Exited(1),
            |c| c.internal_error = Some("a\nb".to_owned()),
            (Infra, "internal-error"),
        ),
        (
            Ended::Exited(3),
            |c| {
                broken_start(
                    c,
                    "ImportError: Error importing plugin \"pdm.pytest\": No module named 'dep_logic'",
                );
            },
            (Project, "broken-start"),
        ),
        (
            Ended::Exited(3),
            |c| broken_start(c, "OSError: [Errno 28] No space left on device"),
            (Infra, "internal-error"),
        ),
        (
            Ended::Exited(3),
            |c| {
                broken_start(c, "ImportError: No module named 'late'");
                c.collected.insert("t".into());
            },
            (Infra, "internal-error"),
        ),
        (
            Ended::Exited(1),
            |c| {
                c.crashed.insert("t".into(), String::new());
            },
            (Infra, "crash"),
        ),
        (
            Ended::Exited(1),
            |c| {
                c.collected.insert("u".into());
            },
            (Infra, "incomplete"),
        ),
        (Ended::Signaled(11), |_| {}, (Infra, "crash")),
        (Ended::TimeOut, |_| {}, (Infra, "time-out")),
        (Ended::Silence, |_| {}, (Infra, "silence")),
        (Ended::OutputLimit, |_| {}, (Infra, "output-limit")),
        (Ended::MemoryLimit, |_| {}, (Infra, "memory-limit")),
        (Ended::ProcessLimit, |_| {}, (Infra, "process-limit")),
        (Ended::DiskFull, |_| {}, (Infra, "disk-full")),
        (Ended::Cancelled, |_| {}, (Infra, "cancelled")),
    ];
    for (index, (ended, change, expected)) in table.iter().enumerate() {
        let mut channel = complete();
        change(&mut channel);
        assert_eq!(reason(*ended, &channel), *expected, "row {index}: {ended:?}");
    }
}

#[test]
fn the_test_that_was_running_is_named() {
    let mut channel = complete();
    channel.finish = None;
    channel.running = vec!["a".into(), "b".into()];
    let fault = judge(Ended::Exited(0), &channel).unwrap_err();
    assert!(fault.detail.contains("`b` (and 1 more)"), "{}", fault.detail);
    let fault = judge(Ended::TimeOut, &channel).unwrap_err();
    assert!(fault.detail.contains("`b`"), "{}", fault.detail);
}

#[test]
fn what_the_machine_lacks_is_held_against_nobody() {
    for reason in [
        "daemon-gone",
        "image-gone",
        "disk-full",
        "network-refused",
        "out-of-memory",
    ] {
        assert!(is_machines(AttemptOutcome::Infra, reason), "{reason}");
    }
    for reason in ["memory-limit", "time-out", "lost-channel", "crash", "sandbox"] {
        assert!(
            !is_machines(AttemptOutcome::Infra, reason),
            "{reason}: it may be the candidate's own doing"
        );
    }
    assert!(!is_machines(AttemptOutcome::Project, "disk-full"));
}
