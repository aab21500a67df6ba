//! The recipes of an import, as texts: the one that stands in its manifest, and the one that verifies its instances again.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::version::Named;
use crate::domain::ids::CandidateId;
use crate::emit::manifest::Import;

/// The recipe of the import itself: what the dataset is called, and the repositories.
pub fn imported(named: &Named, import: &Import, ids: &[CandidateId]) -> String {
    let about = format!(
        "Rows of `{}` as they were published, {} of {}",
        import.file,
        ids.len(),
        import.rows
    );
    format!(
        "# Written by `quarry import`: no rule chose these rows, and no run of quarry's judged them.\n\n{}",
        head(named, &named.version, &about, ids)
    )
}

/// The recipe that verifies the instances again, as the version after this one: it keeps the pull requests that they were.
pub fn reverify(named: &Named, ids: &[CandidateId]) -> String {
    let mut numbers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for id in ids {
        let of_repo = numbers.entry(id.repo.to_string()).or_default();
        of_repo.push(id.number.to_string());
    }
    let kept: Vec<String> = numbers
        .iter()
        .map(|(repo, numbers)| format!("(repo.full == '{repo}' && pr.number in [{}])", numbers.join(", ")))
        .collect();
    let about = format!(
        "The instances of {} {}, verified again",
        named.name, named.version
    );
    let mut text = format!(
        "# Written by `quarry import`. For each repository: quarry run reverify.toml --mirror MIRROR\n# Then `quarry diff` tells \
         in what the outcome is not what was published.\n\n{}",
        head(named, &next(&named.version), &about, ids)
    );
    let _ = write!(
        text,
        "\n[[rule]]\nid = \"published\"\nkeep = \"\"\"{}\"\"\"\nreason = \"only what was published is verified again\"\n\
         source = \"{} {}\"\n\n[[rule]]\nid = \"fails-before\"\nkeep = \"size(oracle.fail_to_pass) >= 1\"\n\
         reason = \"at least one test must fail before the gold patch and pass after it, in every run\"\n\
         source = \"SWE-bench (arXiv 2310.06770), section 2.1, stage III: at least one test goes from fail to pass\"\n",
        kept.join(" ||\n"),
        named.name,
        named.version
    );
    text
}

fn head(named: &Named, version: &str, about: &str, ids: &[CandidateId]) -> String {
    let mut repositories: Vec<String> = ids.iter().map(|id| id.repo.to_string()).collect();
    repositories.sort();
    repositories.dedup();
    let text = |text: &str| toml::Value::from(text).to_string();
    let repositories: Vec<String> = repositories.iter().map(|repo| text(repo)).collect();
    format!(
        "[dataset]\nname = {}\nversion = {}\ndescription = {}\n\n[source]\nrepositories = [{}]\n",
        text(&named.name),
        text(version),
        text(about),
        repositories.join(", ")
    )
}

/// The version after this one: its last number, and one more.
pub fn next(version: &str) -> String {
    let (start, last) = version.rsplit_once('.').unwrap_or(("", version));
    let last = last.parse::<u64>().map_or(1, |last| last + 1);
    format!("{start}.{last}")
}
