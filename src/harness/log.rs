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
        self.line(&format!("\n==== {name} ===="));
        let memory = result
            .peak_memory
            .map_or_else(String::new, |bytes| format!(", {} MiB at most", bytes >> 20));
        self.line(&format!(
            "ended: {:?} after {:.2} s{memory}",
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
        self.line(&format!(
            "tests: {}",
            if counts.is_empty() {
                "none".to_owned()
            } else {
                counts.join(", ")
            }
        ));
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
            self.line(&format!("-- not collected: {node}\n{message}"));
        }
        for (node, message) in &told.outcome.collection_skips {
            self.line(&format!("-- skipped while collecting: {node}\n{message}"));
        }
        let failed = told.outcome.tests.iter().filter(|(_, status)| !status.is_pass());
        for (test, status) in failed.take(MESSAGES) {
            let message = told.messages.get(test).map_or("", String::as_str);
            self.line(&format!("-- {status:?}: {test}\n{message}"));
        }
        self.line("-- printed:");
        self.0.extend_from_slice(&result.stdout.bytes());
        self.line("");
    }
}
