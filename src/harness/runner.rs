//! The Python side, carried in the binary: `data/runner/`.

use serde::Serialize;

use crate::domain::hash::hex;
use crate::domain::ids::TestId;
use crate::recipe::model::Runner;

/// The runner's files by name; they lie together in one folder, outside the work tree.
pub const FILES: [(&str, &str); 4] = [
    ("quarry_run.py", include_str!("../../data/runner/quarry_run.py")),
    (
        "quarry_pytest.py",
        include_str!("../../data/runner/quarry_pytest.py"),
    ),
    (
        "quarry_unittest.py",
        include_str!("../../data/runner/quarry_unittest.py"),
    ),
    (
        "quarry_script.py",
        include_str!("../../data/runner/quarry_script.py"),
    ),
];

/// A launcher in the place of the first of [`FILES`], which must lie beside it: it watches lines, too.
pub const TRACER: (&str, &str) = (
    "quarry_trace.py",
    include_str!("../../data/runner/quarry_trace.py"),
);

/// The runner's name on its command line.
pub const fn name(runner: Runner) -> &'static str {
    match runner {
        Runner::Pytest => "pytest",
        Runner::Unittest => "unittest",
        Runner::Script => "script",
    }
}

/// What a run is asked beside its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Wishes {
    /// What a random order is made of; without it tests run as they are collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Test ids that are arguments, too; there may be more of them than a command line holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<TestId>,
    /// Of what `ids` select, only these run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<TestId>,
    /// Modules to collect beside what the project's own settings say, for a whole suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Files whose lines are watched, from the work tree; [`TRACER`] alone reads this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
}

/// What goes to the runner's standard input: the secret's hex digits, a line end, the wishes.
pub fn stdin(secret: &[u8], wishes: &Wishes) -> Vec<u8> {
    let mut text = hex(secret).into_bytes();
    text.push(b'\n');
    if *wishes != Wishes::default() {
        text.extend(serde_json::to_vec(wishes).unwrap_or_default());
    }
    text
}

/// The command line of one run: `folder` is where [`FILES`] are, `channel` the file to append to, both as the job
/// sees them. [`stdin`] goes to its standard input.
pub fn command(python: &str, folder: &str, channel: &str, runner: Runner, args: &[String]) -> Vec<String> {
    launch(FILES[0].0, python, folder, channel, runner, args)
}

/// As [`command`], with [`TRACER`] as the launcher.
pub fn trace_command(
    python: &str,
    folder: &str,
    channel: &str,
    runner: Runner,
    args: &[String],
) -> Vec<String> {
    launch(TRACER.0, python, folder, channel, runner, args)
}

fn launch(
    launcher: &str,
    python: &str,
    folder: &str,
    channel: &str,
    runner: Runner,
    args: &[String],
) -> Vec<String> {
    let launcher = format!("{folder}/{launcher}");
    let mut line = [python, "-S", &launcher, channel, name(runner)]
        .map(str::to_owned)
        .to_vec();
    line.extend(args.iter().cloned());
    line
}
