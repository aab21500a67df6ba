//! Names of files that have a say in how tests run, whatever a project is about: what evaluation undoes, and what an exported
//! test script restores, are the same.

/// Read by pytest for the tests in their folder and below.
pub const CONFTEST: &str = "conftest.py";

/// Run by an interpreter that starts.
pub const CUSTOMIZE: [&str; 2] = ["sitecustomize.py", "usercustomize.py"];

/// Read by pytest alone.
pub const PYTEST_INI: [&str; 2] = ["pytest.ini", ".pytest.ini"];

/// Top-level modules that runners are made of.
pub const RUNNERS: [&str; 8] = [
    "_pytest",
    "iniconfig",
    "nose",
    "pluggy",
    "py",
    "pytest",
    "trial",
    "unittest",
];

/// Whether a folder of this name holds tests and what they read, in any case.
pub fn is_test_folder(name: &[u8]) -> bool {
    [&b"test"[..], b"tests", b"testing"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word))
}

/// Whether pytest (or unittest) collects tests from a file of this name by its usual patterns.
pub fn is_test_module(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.strip_suffix(".py").is_some_and(|stem| {
        stem.starts_with("test_")
            || stem.ends_with("_test")
            || stem.ends_with("_tests")
            || matches!(stem, "test" | "tests")
    })
}

/// Whether a file's name is one of these.
pub fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|one| one.as_bytes() == name)
}
