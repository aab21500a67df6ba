//! Helpers and tests of the shell.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::SearchPaths;

/// Where this machine has programs: the tests' own look at the environment.
#[expect(
    clippy::disallowed_methods,
    reason = "a test reads the environment that the command line would"
)]
pub(crate) fn search_paths() -> SearchPaths {
    let names = [
        "PATH",
        "HOME",
        "PYENV_ROOT",
        "UV_PYTHON_INSTALL_DIR",
        "XDG_DATA_HOME",
    ];
    let variables: BTreeMap<String, String> = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    SearchPaths::of(&variables)
}

/// Some interpreter of this machine.
pub(crate) fn any_python() -> PathBuf {
    search_paths()
        .interpreters()
        .first()
        .expect("a Python 3 on this machine")
        .executable
        .clone()
}
