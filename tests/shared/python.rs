//! Where tests find a Python: `$PYENV_ROOT/versions`, then `PATH`.

use std::path::PathBuf;
use std::process::Command;

/// A Python 3.8 or newer that really runs; a test that needs one fails without it.
#[expect(
    clippy::disallowed_methods,
    reason = "a test finds its interpreter in the environment"
)]
pub(crate) fn python() -> PathBuf {
    let versions = std::env::var_os("PYENV_ROOT").map(|root| PathBuf::from(root).join("versions"));
    let mut found: Vec<PathBuf> = versions
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path().join("bin/python3"))
        .collect();
    found.sort();
    found.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.extend(std::env::split_paths(&path).map(|folder| folder.join("python3")));
    found
        .into_iter()
        .find(|python| {
            let asked = Command::new(python)
                .args(["-c", "import sys; sys.exit(sys.version_info < (3, 8))"])
                .output();
            asked.is_ok_and(|output| output.status.success())
        })
        .expect("tests need Python 3.8 or newer on `PATH`")
}
