//! The house's laws, read off the sources: the import arrows, the owners of outside crates, and the size cap.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const LINE_CAP: usize = 500;
const STAGES: &[&str] = &[
    "mine", "filter", "strip", "build", "verify", "emit", "evaluate", "audit",
];
const ADAPTERS: &[&str] = &[
    "github",
    "git",
    "sandbox",
    "store",
    "blobs",
    "columnar",
    "workspace",
    "progress",
    "harness",
];
/// What anybody may use: words, time, recipes (a stage's settings).
const COMMON: &[&str] = &["domain", "clock", "recipe"];
/// Outside crates that only these places may name.
const OWNERS: &[(&str, &[&str])] = &[
    ("octocrab", &["src/github/"]),
    ("git2", &["src/git/"]),
    ("bollard", &["src/sandbox/docker/"]),
    ("rusqlite", &["src/store/"]),
    (
        "ruff_python_parser",
        &[
            "src/strip/syntax.rs",
            "src/build/detect/source.rs",
            "src/emit/docs/names.rs",
        ],
    ),
    (
        "ruff_python_ast",
        &[
            "src/strip/syntax.rs",
            "src/build/detect/source.rs",
            "src/emit/docs/names.rs",
        ],
    ),
    ("saphyr_parser", &["src/domain/settings/value.rs"]),
    ("parquet", &["src/columnar", "src/filter/run/"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    sources(&root.join("src"), &mut found);
    found
        .iter()
        .map(|path| {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The top-level module a file belongs to: `src/mine/link.rs` → `mine`, `src/clock.rs` → `clock`.
fn room(file: &str) -> &str {
    let inner = file.strip_prefix("src/").unwrap();
    inner.split('/').next().unwrap().trim_end_matches(".rs")
}

/// Code without its comments and its test modules (a `#[cfg(test)]` module may use what it likes).
fn code(text: &str) -> String {
    let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    shipped
        .lines()
        .map(|line| line.split("//").next().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every module of this crate that the code names: `use crate::a::b` and `crate::a::b` both count, and so do
/// the members of `use crate::{a, b}`.
fn imports(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for tail in code.split("crate::").skip(1) {
        if let Some(group) = tail.strip_prefix('{') {
            let mut depth = 0;
            let mut word = String::new();
            let mut at_start = true;
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => at_start = true,
                    ':' if depth == 0 => at_start = false,
                    c if depth == 0 && at_start && (c.is_alphanumeric() || c == '_') => word.push(c),
                    _ => {}
                }
                if (c == ',' || c == ':') && depth == 0 && !word.is_empty() {
                    names.push(std::mem::take(&mut word));
                }
            }
            names.extend((!word.is_empty()).then_some(word));
        } else {
            names.push(
                tail.chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect(),
            );
        }
    }
    names
}

/// What a file may import from this crate.
fn allowed(file: &str, import: &str) -> bool {
    let room = room(file);
    if import == room || import.is_empty() {
        return true;
    }
    let is_shell = file.ends_with("/run.rs") || file.contains("/run/");
    match room {
        "domain" => false,
        "clock" | "recipe" | "sample" => import == "domain",
        "lib" | "main" | "cli" => true,
        // The pipeline walks a candidate through the stages, so it is the one room that knows them all.
        "pipeline" => import != "cli",
        // A workspace is the adapters that every shell gets, in one bundle.
        "workspace" => matches!(import, "domain" | "clock" | "store" | "blobs"),
        // It runs jobs of rooms, as recipes say.
        "harness" => matches!(import, "domain" | "recipe" | "sandbox" | "workspace"),
        room if ADAPTERS.contains(&room) => matches!(import, "domain" | "clock"),
        room if STAGES.contains(&room) => {
            COMMON.contains(&import) || (is_shell && ADAPTERS.contains(&import))
        }
        other => {
            panic!("`{file}` is in no room of the house: add `{other}` to ARCHITECTURE and to this test")
        }
    }
}

#[test]
fn imports_go_along_the_arrows() {
    let mut against = Vec::new();
    for (file, text) in files() {
        for import in imports(&code(&text)) {
            if !allowed(&file, &import) {
                against.push(format!("{file} imports `{import}`"));
            }
        }
    }
    assert!(against.is_empty(), "against the arrows:\n{}", against.join("\n"));
}

#[test]
fn the_law_would_notice() {
    assert!(!allowed("src/domain/ids.rs", "store"));
    assert!(!allowed("src/mine/link.rs", "git"));
    assert!(allowed("src/mine/run.rs", "git"));
    assert!(!allowed("src/mine/run.rs", "filter"));
    assert!(!allowed("src/git/objects.rs", "mine"));
    assert!(!allowed("src/store/mod.rs", "cli"));
    let code = code("use crate::{domain::ids::A, git};\nlet x = crate::filter::run(); // crate::cli\n");
    assert_eq!(imports(&code), ["domain", "git", "filter"]);
}

#[test]
fn only_shells_are_async() {
    for (file, text) in files() {
        if STAGES.contains(&room(&file)) && !(file.ends_with("/run.rs") || file.contains("/run/")) {
            let code = code(&text);
            assert!(
                !code.contains("async fn") && !code.contains("tokio::"),
                "{file} is async outside run.rs"
            );
        }
    }
}

#[test]
fn outside_crates_have_one_owner() {
    for (file, text) in files() {
        let code = code(&text);
        for (name, owners) in OWNERS {
            let named = code.contains(&format!("{name}::"));
            assert!(
                !named || owners.iter().any(|owner| file.starts_with(owner)),
                "{file} names `{name}`, which belongs to {owners:?}"
            );
        }
    }
}

#[test]
fn files_stay_short() {
    let long: Vec<_> = files()
        .iter()
        .map(|(file, text)| (file.clone(), text.lines().count()))
        .filter(|(_, lines)| *lines > LINE_CAP)
        .collect();
    assert!(long.is_empty(), "longer than {LINE_CAP} lines: {long:?}");
}

#[test]
fn the_top_level_is_fixed() {
    let known = [
        "Cargo.toml",
        "Cargo.lock",
        "src",
        "filters",
        "manifests",
        "data",
        "scripts",
        "tests",
        "benches",
        "fuzz",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "clippy.toml",
        "deny.toml",
        "rustfmt.toml",
        ".ci",
        ".config",
        ".git",
        ".gitignore",
        ".gitattributes",
        "target",
        ".quarry",
    ];
    for entry in fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            known.contains(&name.as_str()),
            "`{name}` has no place at the top level"
        );
    }
}
