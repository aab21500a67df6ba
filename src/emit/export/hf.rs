//! For `datasets` of Hugging Face: the rows as Parquet (typed columns; what no type holds is JSON), a card with a datasheet
//! of real numbers, and Croissant metadata.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::version::{Exported, Version};
use crate::domain::text::markdown;
use crate::emit::manifest::{Import, Manifest};

/// Where the table is, as `datasets` finds the split by itself.
pub const TABLE: &str = "data/test-00000-of-00001.parquet";
/// Croissant metadata.
pub const METADATA: &str = "croissant.json";

/// A dataset folder.
pub fn export(version: &Version) -> Exported {
    let mut exported = table(version);
    let card = card(version).into_bytes();
    exported.files.insert("README.md".to_owned(), card);
    exported
}

/// The rows as a table, which the shell describes in [`METADATA`].
pub fn table(version: &Version) -> Exported {
    let mut exported = Exported::default();
    exported.tables.insert(TABLE.to_owned(), version.rows.clone());
    exported
}

/// The card's text for rows that were published before: what is known of them, and that nothing was run.
fn imported(manifest: &Manifest, import: &Import, by_repo: &BTreeMap<String, usize>) -> String {
    let mut text = format!(
        "{} instances of {} repositories: rows of {} (SHA-256 `{}`, {} rows) as they were published. Taken over by {} {}, which ran \
         none of their tests: `FAIL_TO_PASS` and `PASS_TO_PASS` are what was published, and what no row says is null.\n\n\
         ## Where the rows come from\n\nEach row's patches are parts of a change to the repository that it names, and are under that \
         repository's licence.\n\n| repository | instances |\n|---|---|\n",
        manifest.counts.instances,
        by_repo.len(),
        markdown(&import.file),
        import.sha256,
        import.rows,
        manifest.tool.name,
        manifest.tool.version
    );
    for (repo, instances) in by_repo {
        let _ = writeln!(text, "| {repo} | {instances} |");
    }
    if !import.left_out.is_empty() {
        text.push_str("\n## Rows that are not here\n\n| row | instance | why |\n|---|---|---|\n");
        for row in &import.left_out {
            let (id, why) = (markdown(&row.instance_id), markdown(&row.why));
            let _ = writeln!(text, "| {} | {id} | {why} |", row.row);
        }
    }
    text
}

/// The card: front matter for the hub, then the datasheet.
fn card(version: &Version) -> String {
    let manifest = &version.manifest;
    let dataset = &manifest.dataset;
    let size = match manifest.counts.instances {
        0..1000 => "n<1K",
        1000..10_000 => "1K<n<10K",
        _ => "10K<n<100K",
    };
    let mut text = format!(
        "---\npretty_name: {}\nlanguage:\n- code\n- en\ntags:\n- code\n- benchmark\n- quarry\nsize_categories:\n- {size}\n\
         configs:\n- config_name: default\n  data_files:\n  - split: test\n    path: {TABLE}\n---\n\n# {} {}\n\n{}\n\n",
        serde_json::Value::from(dataset.name.as_str()),
        markdown(&dataset.name),
        markdown(&dataset.version),
        markdown(&dataset.description)
    );
    let mut by_repo: BTreeMap<String, usize> = BTreeMap::new();
    for instance in &version.instances {
        *by_repo.entry(instance.repo.to_string()).or_default() += 1;
    }
    text.push_str(&match &manifest.import {
        Some(import) => imported(manifest, import, &by_repo),
        None => mined(manifest, &by_repo),
    });
    text.push_str(&selected(manifest));
    if manifest.import.is_none() {
        text.push_str(&environments(manifest));
    }
    text
}

/// Where rows come from that were made of pull requests.
fn mined(manifest: &Manifest, by_repo: &BTreeMap<String, usize>) -> String {
    let counts = &manifest.counts;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} instances out of {} pull requests of {} repositories, {} of them found merged. Made by {} {} by the recipe with \
         SHA-256 `{}`.\n",
        counts.instances,
        counts.pull_requests,
        manifest.sources.len(),
        counts.candidates,
        manifest.tool.name,
        manifest.tool.version,
        manifest.recipe.sha256
    );
    text.push_str("## Where the rows come from\n\nEach row's patches are parts of a change to the repository that it names, and \
                   are under that repository's licence, which its own files name at the commit that was read.\n\n\
                   | repository | licence | read at | instances |\n|---|---|---|---|\n");
    for source in &manifest.sources {
        let repo = source.repo.to_string();
        let instances = by_repo.get(&repo).copied().unwrap_or_default();
        let licence = markdown(source.license.as_deref().unwrap_or("not named there"));
        let _ = writeln!(text, "| {repo} | {licence} | `{}` | {instances} |", source.commit);
    }
    text
}

/// Which step left how many, and what people said.
fn selected(manifest: &Manifest) -> String {
    let mut text = String::new();
    text.push_str("\n## How they were selected\n\n| step | in | dropped | undecided | infra | out |\n|---|---|---|---|---|---|\n");
    for step in &manifest.funnel {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            markdown(&step.step),
            step.entered,
            step.dropped,
            step.undecided,
            step.infra,
            step.out
        );
    }
    if let (Some(parent), Some(annotation)) = (&manifest.parent, &manifest.annotation) {
        let _ = write!(
            text,
            "\nIt is the part of {} {} (`SHA256SUMS` with SHA-256 `{}`) that people let stay.\n\n```text\n{}```\n",
            markdown(&parent.name),
            markdown(&parent.version),
            parent.sha256,
            annotation.text()
        );
    }
    text.push_str("\n`in = dropped + infra + out`.");
    text
}

/// What ran, and in what.
fn environments(manifest: &Manifest) -> String {
    let mut text = String::from(
        " Each instance's tests were run several times on both sides of its gold patch; tests \
         whose outcome varied are in its `flaky` and in no oracle.\n\n## Environments\n\n| key | interpreter | resolver | constraints |\n\
         |---|---|---|---|\n",
    );
    for entry in &manifest.environments {
        let constraints: Vec<&str> = entry
            .constraints
            .iter()
            .map(|constraint| constraint.requirement.as_str())
            .collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            entry.key,
            markdown(&entry.interpreter),
            markdown(&entry.resolver),
            markdown(&constraints.join(", "))
        );
    }
    text
}
