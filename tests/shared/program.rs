//! How tests run the real program: a workspace of their own, and what it printed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program under test.
pub(crate) const QUARRY: &str = env!("CARGO_BIN_EXE_quarry");

/// The repository's root: shipped recipes and data are below it.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A shipped recipe.
pub(crate) fn recipe(name: &str) -> PathBuf {
    root().join("filters").join(name)
}

/// The program in this workspace, quiet on progress.
pub(crate) fn quarry(workspace: &Path) -> Command {
    let mut command = Command::new(QUARRY);
    command.arg("--workspace").arg(workspace).stdin(Stdio::null());
    command
}

/// The sample's whole run in this workspace.
pub(crate) fn sample_run(workspace: &Path) -> Command {
    let mut command = quarry(workspace);
    command.arg("run").arg(recipe("sample.toml")).arg("--sample");
    command
}

/// Runs to the end and insists on success, showing what was printed if not.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?} ended with {}\n--- stdout\n{}\n--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Every file below `folder` with its bytes, by relative path.
pub(crate) fn tree(folder: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}
