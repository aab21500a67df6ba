//! The Python side, carried in the binary: `data/runner/`.

use crate::recipe::model::Runner;

/// The runner's files by name; they lie together in one folder, outside the work tree.
pub const FILES: [(&str, &str); 3] = [
    ("quarry_run.py", include_str!("../../data/runner/quarry_run.py")),
    (
        "quarry_pytest.py",
        include_str!("../../data/runner/quarry_pytest.py"),
    ),
    (
        "quarry_unittest.py",
        include_str!("../../data/runner/quarry_unittest.py"),
    ),
];

/// The runner's name on its command line.
pub const fn name(runner: Runner) -> &'static str {
    match runner {
        Runner::Pytest => "pytest",
        Runner::Unittest => "unittest",
    }
}

/// The command line of one run: `folder` is where [`FILES`] are, `channel` the file to append to, both as the job
/// sees them. The secret's hex digits and a line end go to its standard input.
pub fn command(python: &str, folder: &str, channel: &str, runner: Runner, args: &[String]) -> Vec<String> {
    let launcher = format!("{folder}/{}", FILES[0].0);
    let mut line = [python, "-S", &launcher, channel, name(runner)]
        .map(str::to_owned)
        .to_vec();
    line.extend(args.iter().cloned());
    line
}
