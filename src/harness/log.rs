//! A try's log: for each run how it ended, what did not pass and why, and what was printed.

use std::collections::BTreeMap;

use super::channel::Channel;
use crate::domain::outcome::TestStatus;
use crate::sandbox::JobResult;

/// How many messages of tests one run's log holds.
const MESSAGES: usize = 100;

/// The text as it grows.
#[derive(Debug, Default)]
pub struct Log(Vec<u8>);

/// What the head of a run's part begins and ends with.
const HEAD: [&str; 2] = ["==== ", " ===="];
/// What a line begins with that tells of one module or test.
const MARK: &str = "-- ";
/// Where the part begins that tests wrote.
const PRINTED: &str = "-- printed:";
/// A run that came to no test.
const NO_TESTS: &str = "tests: none";
/// What stands for a module's name where it is the whole run that speaks.
const RUN: &str = "the run";

/// What a run said of each module that it could not collect, and of each test that failed: its id and its message, read
/// from a log. It is the first of the `runs`, by their names, that the log has. What was printed is only told for a run
/// that came to no test at all.
pub fn said(log: &str, runs: &[String]) -> Vec<(String, String)> {
    let lines: Vec<&str> = log.lines().collect();
    let start = runs.iter().find_map(|name| {
        let head = format!("{}{name}{}", HEAD[0], HEAD[1]);
        lines.iter().position(|line| *line == head)
    });
    let Some(start) = start else { return vec![] };
    let lines = &lines[start + 1..];
    let end = lines.iter().position(|line| *line == PRINTED);
    let (told, printed) = lines.split_at(end.unwrap_or(lines.len()));
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_told = false;
    let add = |found: &mut Vec<(String, String)>, line: &str| {
        if let Some((_, message)) = found.last_mut() {
            message.push_str(line);
            message.push('\n');
        }
    };
    for line in told {
        if let Some(told) = line.strip_prefix(MARK) {
            let kinds = [
                "not collected: ".to_owned(),
                format!("{:?}: ", TestStatus::Failed),
                format!("{:?}: ", TestStatus::Errored),
            ];
            let id = kinds.iter().find_map(|kind| told.strip_prefix(kind.as_str()));
            found.extend(id.map(|id| (id.to_owned(), String::new())));
            is_told = id.is_some();
        } else if is_told {
            add(&mut found, line);
        }
    }
    if told.contains(&NO_TESTS) {
        found.push((RUN.to_owned(), String::new()));
        let is_head = |line: &&&str| line.starts_with(HEAD[0]) && line.ends_with(HEAD[1]);
        for line in printed.iter().skip(1).take_while(|line| !is_head(line)) {
            add(&mut found, line);
        }
    }
    found
}

impl Log {
    /// The text so far.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'\n');
    }

    /// Adds a run: how it ended, what did not pass and why, what it printed.
    pub fn run(&mut self, name: &str, result: &JobResult, told: &Channel) {
        self.line(&format!("\n{}{name}{}", HEAD[0], HEAD[1]));
        let memory = result
            .peak_memory
            .map_or_else(String::new, |bytes| format!(", {} MiB at most", bytes >> 20));
        self.line(&format!(
            "ended: {}, after {:.2} s{memory}",
            result.end,
            result.wall.as_secs_f64()
        ));
        if let Some(hello) = &told.hello {
            self.line(&format!(
                "runner: {} {} on Python {}",
                hello.runner, hello.version, hello.python
            ));
        }
        let mut counts: BTreeMap<TestStatus, usize> = BTreeMap::new();
        for status in told.outcome.tests.values() {
            *counts.entry(*status).or_default() += 1;
        }
        let counts: Vec<String> = counts
            .iter()
            .map(|(status, count)| format!("{count} {status:?}"))
            .collect();
        if counts.is_empty() {
            self.line(NO_TESTS);
        } else {
            self.line(&format!("tests: {}", counts.join(", ")));
        }
        if told.forged > 0 {
            self.line(&format!(
                "{} lines in the channel were not the runner's",
                told.forged
            ));
        }
        for (test, times) in &told.reruns {
            self.line(&format!("run again {times} times: {test}"));
        }
        for (node, message) in &told.outcome.collection_errors {
            self.line(&format!("{MARK}not collected: {node}\n{message}"));
        }
        for (node, message) in &told.outcome.collection_skips {
            self.line(&format!("{MARK}skipped while collecting: {node}\n{message}"));
        }
        let failed = told.outcome.tests.iter().filter(|(_, status)| !status.is_pass());
        for (test, status) in failed.take(MESSAGES) {
            let message = told.messages.get(test).map_or("", String::as_str);
            self.line(&format!("{MARK}{status:?}: {test}\n{message}"));
        }
        self.line(PRINTED);
        self.0.extend_from_slice(&result.stdout.bytes());
        self.line("");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sandbox::{Captured, End};

    fn told(errors: &[(&str, &str)], failed: &[(&str, TestStatus, &str)]) -> Channel {
        let mut told = Channel::default();
        for (node, message) in errors {
            told.outcome
                .collection_errors
                .insert((*node).to_owned(), (*message).to_owned());
        }
        for (test, status, message) in failed {
            told.outcome.tests.insert((*test).into(), *status);
            told.messages.insert((*test).into(), (*message).to_owned());
        }
        told
    }

    fn result(printed: &str) -> JobResult {
        JobResult {
            end: End::Exited(1),
            wall: Duration::ZERO,
            peak_memory: None,
            stdout: Captured {
                head: printed.as_bytes().to_vec(),
                ..Captured::default()
            },
            stderr: Captured::default(),
            channel: vec![],
        }
    }

    #[test]
    fn what_was_said_after_gold_is_read_back_and_nothing_that_was_printed() {
        let mut log = Log::default();
        log.line("$ tests");
        let before = told(&[("tests/a.py", "before")], &[]);
        log.run("run 1 before", &result(""), &before);
        let after = told(
            &[("tests/a.py", "one\ntwo")],
            &[
                ("tests/b.py::x", TestStatus::Failed, "assert 1"),
                ("tests/b.py::y", TestStatus::Skipped, "not here"),
                ("tests/b.py::z", TestStatus::Errored, ""),
            ],
        );
        let printed = "-- not collected: printed.py\nby a test\n";
        log.run("run 1 after", &result(printed), &after);
        let later = told(&[("tests/c.py", "later")], &[]);
        log.run("run 2 after", &result(""), &later);
        let text = String::from_utf8(log.bytes().to_vec()).unwrap();
        let names = ["run 1 after", "run 1 before"].map(str::to_owned);
        let told = said(&text, &names);
        let known: Vec<_> = told
            .iter()
            .map(|(id, message)| (id.as_str(), message.as_str()))
            .collect();
        assert_eq!(
            known,
            [
                ("tests/a.py", "one\ntwo\n"),
                ("tests/b.py::x", "assert 1\n"),
                ("tests/b.py::z", "\n"),
            ]
        );
        assert_eq!(said("no run at all", &names), []);
    }

    #[test]
    fn a_run_that_came_to_no_test_speaks_by_what_it_printed() {
        let mut log = Log::default();
        let printed = "ImportError while loading conftest\nNo module named 'x'";
        log.run("run 1 before", &result(printed), &Channel::default());
        let text = String::from_utf8(log.bytes().to_vec()).unwrap();
        let told = said(&text, &["run 1 after", "run 1 before"].map(str::to_owned));
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].0, "the run");
        assert!(told[0].1.starts_with(printed), "{told:?}");
    }
}
