//! One table: how a run ended and what its channel told → a complete run, or the reason why it is none.

use super::channel::Channel;
use crate::domain::attempt::AttemptOutcome;

/// Why a run's job was over, in the words of this stage. The shell translates the sandbox's words into these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that nobody here sent.
    Signaled(i32),
    /// Stopped: it ran too long.
    TimeOut,
    /// Stopped: it was silent too long.
    Silence,
    /// Stopped: it printed too much.
    OutputLimit,
    /// Stopped: it needed too much memory.
    MemoryLimit,
    /// Stopped: it had too many processes.
    ProcessLimit,
    /// Stopped: the disk was all but full.
    DiskFull,
    /// Stopped: the user said so.
    Cancelled,
}

/// A run without a verdict on any test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Whose fault it is.
    pub outcome: AttemptOutcome,
    /// A stable word.
    pub reason: &'static str,
    /// A sentence for a reader.
    pub detail: String,
}

/// The outside's fault.
pub fn infra(reason: &'static str, detail: impl Into<String>) -> Fault {
    Fault {
        outcome: AttemptOutcome::Infra,
        reason,
        detail: detail.into(),
    }
}

/// The project's own fault.
pub fn project(reason: &'static str, detail: impl Into<String>) -> Fault {
    Fault {
        outcome: AttemptOutcome::Project,
        reason,
        detail: detail.into(),
    }
}

/// Says whether a run is complete: its runner came to its end, nothing of its channel is lost, and every test that was
/// collected has an outcome. Anything else is a fault, and none of its outcomes count.
///
/// # Errors
/// The fault, with the test that was running where one was.
pub fn judge(ended: Ended, channel: &Channel) -> Result<(), Fault> {
    let at = running(channel);
    match ended {
        Ended::TimeOut => Err(infra("time-out", format!("the run took too long{at}"))),
        Ended::Silence => Err(infra(
            "silence",
            format!("the run neither printed nor told anything for too long{at}"),
        )),
        Ended::OutputLimit => Err(infra("output-limit", format!("the run printed too much{at}"))),
        Ended::MemoryLimit => Err(infra(
            "memory-limit",
            format!("the run needed too much memory{at}"),
        )),
        Ended::ProcessLimit => Err(infra(
            "process-limit",
            format!("the run had too many processes{at}"),
        )),
        Ended::DiskFull => Err(infra("disk-full", format!("the disk was all but full{at}"))),
        Ended::Cancelled => Err(infra("cancelled", "the run was cancelled")),
        Ended::Signaled(signal) => Err(infra("crash", format!("signal {signal} ended the runner{at}"))),
        Ended::Exited(code) => told(code, channel, &at),
    }
}

/// A run whose process ended by itself.
fn told(code: i32, channel: &Channel, at: &str) -> Result<(), Fault> {
    if let Some(what) = &channel.missing {
        return Err(project("no-runner", format!("the environment has no {what}")));
    }
    if channel.hello.is_none() {
        return Err(infra(
            "no-start",
            format!("the runner never said hello (exit code {code})"),
        ));
    }
    if channel.damaged {
        return Err(infra(
            "damaged-channel",
            "lines of the channel are missing or out of order",
        ));
    }
    let Some(status) = channel.finish else {
        return Err(infra(
            "lost-channel",
            format!("the runner's process ended (exit code {code}) before the run did{at}"),
        ));
    };
    if status != code {
        return Err(infra(
            "lost-channel",
            format!("the runner finished with {status}, its process with {code}"),
        ));
    }
    if let Some((test, message)) = channel.crashed.first_key_value() {
        return Err(infra("crash", format!("a worker died in `{test}`: {message}")));
    }
    if let Some(message) = &channel.internal_error {
        let said = last_line(message);
        let is_loading = LOADING.iter().any(|name| said.starts_with(name));
        return Err(if is_loading && channel.collected.is_empty() {
            project(
                "broken-start",
                format!("the runner does not start with the project's code: {said}"),
            )
        } else {
            infra("internal-error", format!("the runner failed: {said}"))
        });
    }
    if let Some(message) = &channel.interrupted {
        return Err(infra(
            "interrupted",
            format!("the run was broken off{at}: {message}"),
        ));
    }
    match status {
        // Passed, failed, nothing collected.
        0 | 1 | 5 => {}
        2 => return Err(infra("interrupted", format!("the run was broken off{at}"))),
        4 => {
            return Err(project(
                "usage-error",
                "the runner does not take its arguments (see the log)",
            ));
        }
        other => {
            return Err(infra(
                "internal-error",
                format!("the runner ended with status {other}"),
            ));
        }
    }
    let unfinished: Vec<_> = channel.unfinished().collect();
    match unfinished.as_slice() {
        [] => Ok(()),
        [first, rest @ ..] => Err(infra(
            "incomplete",
            format!(
                "`{first}` and {} more tests were collected and came to no outcome",
                rest.len()
            ),
        )),
    }
}

/// What Python says of code that it cannot load: a plugin of the project's own that needs what is not there fails so each
/// time, before any test is met.
const LOADING: [&str; 6] = [
    "ImportError: ",
    "ModuleNotFoundError: ",
    "SyntaxError: ",
    "IndentationError: ",
    "NameError: ",
    "AttributeError: ",
];

/// Words for what the whole machine lacked, whoever's run it was: such a fault uses up no try of a candidate's.
const MACHINES: [&str; 5] = [
    "daemon-gone",
    "image-gone",
    "disk-full",
    "network-refused",
    "out-of-memory",
];

/// Whether a fault is the machine's as a whole: when it is mended, the next command tries again.
pub fn is_machines(outcome: AttemptOutcome, reason: &str) -> bool {
    outcome == AttemptOutcome::Infra && MACHINES.contains(&reason)
}

fn running(channel: &Channel) -> String {
    match channel.running.as_slice() {
        [] => String::new(),
        [one] => format!(" in `{one}`"),
        [.., last] => format!(" in `{last}` (and {} more)", channel.running.len() - 1),
    }
}

fn last_line(text: &str) -> &str {
    text.trim().lines().last().unwrap_or("no message")
}

#[cfg(test)]
mod tests;
