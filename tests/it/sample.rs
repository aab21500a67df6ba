//! The sample is what its script makes, and git builds from it what its table says.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use quarry::git::{Mirror, fast_import};
use quarry::sample;

use crate::python::python;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn table() -> toml::Table {
    let path = root().join("data/sample/expected.toml");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn rows(table: &toml::Table) -> &[toml::Value] {
    table["pull_request"].as_array().unwrap()
}

fn text<'a>(row: &'a toml::Value, key: &str) -> &'a str {
    row[key]
        .as_str()
        .unwrap_or_else(|| panic!("`{key}` of {row} is no text"))
}

fn mirror(folder: &Path) -> Mirror {
    let target = folder.join(sample::FOLDER);
    fast_import(sample::STREAM, &target).unwrap();
    Mirror::open(&target).unwrap()
}

#[test]
fn the_stream_and_the_table_are_what_the_script_makes() {
    let output = Command::new(python())
        .arg("-B")
        .arg(root().join("data/sample/generate.py"))
        .arg("--check")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{said}\nhint: run `python3 data/sample/generate.py`"
    );
    assert!(sample::STREAM.len() < 300_000, "the sample is meant to be small");
}

#[test]
fn git_builds_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = mirror(folder.path());
    let table = table();
    assert_eq!(table["repository"].as_str(), Some(sample::REPOSITORY));
    assert_eq!(mirror.default_branch().as_deref(), Some("main"));
    assert_eq!(
        mirror.resolve("main").unwrap().to_string(),
        table["main"].as_str().unwrap()
    );

    let heads: BTreeMap<String, String> = mirror
        .refs("refs/pull/")
        .unwrap()
        .into_iter()
        .map(|tip| (tip.name, tip.commit.to_string()))
        .collect();
    let expected = rows(&table)
        .iter()
        .map(|row| {
            (
                format!("refs/pull/{}/head", row["number"]),
                text(row, "head").to_owned(),
            )
        })
        .collect();
    assert_eq!(heads, expected);
    for row in rows(&table).iter().filter(|row| text(row, "merge") != "none") {
        for key in ["merge_commit", "base_commit", "merge_base"] {
            assert_eq!(
                mirror.resolve(text(row, key)).unwrap().to_string(),
                text(row, key)
            );
        }
    }
}

#[test]
fn its_recipe_is_sound() {
    if let Err(error) = quarry::recipe::parse("filters/sample.toml", sample::RECIPE) {
        panic!("{error}");
    }
}

#[test]
fn every_kind_of_outcome_is_there() {
    let table = table();
    let mut merges: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows(&table) {
        *merges.entry(text(row, "merge")).or_default() += 1;
        let end = match text(row, "outcome") {
            "dropped" => format!("dropped by {}", text(row, "rule")),
            "infra" => format!("infra: {}", text(row, "reason")),
            other => other.to_owned(),
        };
        *ends.entry(end).or_default() += 1;
    }
    let recipe: toml::Table = sample::RECIPE.parse().unwrap();
    for rule in recipe["rule"].as_array().unwrap() {
        let end = format!("dropped by {}", text(rule, "id"));
        assert!(ends.contains_key(&end), "no pull request is {end}: {ends:?}");
    }
    for end in [
        "instance",
        "unmerged",
        "infra: time-out",
        "infra: crash",
        "infra: lost-channel",
    ] {
        assert!(ends.contains_key(end), "{end}");
    }
    for merge in ["merge", "squash", "rebase", "fast-forward", "none"] {
        assert!(merges.contains_key(merge), "{merge}");
    }
    assert!(rows(&table).len() - merges["none"] >= 15);
}
