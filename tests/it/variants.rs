//! A recipe's variants: named in the manifest, made once, made again to the same bytes, and to be had by hand as well.

use std::path::Path;

use camino::Utf8Path;
use quarry::domain::variant::Variant;
use quarry::emit;
use quarry::emit::manifest::Manifest;
use quarry::emit::variants::VariantRow;

use crate::program::{quarry, recipe, succeed, tree};

/// The sample's first pull requests, with every variant, and one run on each side.
fn small_recipe(folder: &Path) -> std::path::PathBuf {
    let text = std::fs::read_to_string(recipe("sample.toml")).unwrap();
    let first = "[[rule]]\nid = \"first\"\nkeep = \"pr.number <= 8\"\nreason = \"few are enough\"\nsource = \"a test\"\n";
    let text = text
        .replacen(
            "[dataset]",
            "variants = [\"code-only\", \"no-context\", \"full\"]\n\n[dataset]",
            1,
        )
        .replacen("[[rule]]", &format!("{first}\n[[rule]]"), 1)
        .replacen("runs = 3", "runs = 1", 1);
    let path = folder.join("small.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn read(version: &Path, name: &str) -> String {
    std::fs::read_to_string(version.join(name)).unwrap()
}

#[test]
fn a_run_names_every_variant_and_keeps_its_tree() {
    let temp = tempfile::tempdir().unwrap();
    let (workspace, recipe) = (temp.path(), small_recipe(temp.path()));
    let said = succeed(quarry(workspace).arg("run").arg(&recipe).arg("--sample"));
    let said = String::from_utf8(said.stdout).unwrap();
    let version = workspace.join("manifests/sample/0.1.0");
    assert_eq!(
        emit::verify(Utf8Path::from_path(&version).unwrap())
            .unwrap()
            .problems,
        []
    );

    let manifest: Manifest = serde_json::from_str(&read(&version, "manifest.json")).unwrap();
    let wanted = [Variant::Full, Variant::CodeOnly, Variant::NoContext];
    assert_eq!(manifest.variants.as_ref().unwrap().wanted, wanted);
    let step = manifest.funnel.last().unwrap();
    assert_eq!(
        (step.step.as_str(), step.out),
        ("strip", manifest.counts.instances)
    );
    let rows: Vec<VariantRow> = read(&version, "variants.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(manifest.counts.instances >= 2);
    assert_eq!(rows.len() as u64, 3 * manifest.counts.instances);
    assert!(
        said.contains(&format!("variants:       {} trees", rows.len())),
        "{said}"
    );

    // By hand from the mirror: the same tree, the same report.
    let mirror = workspace.join(".quarry/mirrors/quarry-bench+pantry.git");
    let before = tree(&mirror);
    let stripped = &rows[1];
    let report = workspace.join("report.json");
    let mut by_hand = quarry(workspace);
    by_hand
        .args([
            "strip",
            "--format",
            "tree",
            "--commit",
            &stripped.base_commit.to_string(),
            "--mirror",
        ])
        .arg(workspace.join(".quarry/variants/quarry-bench+pantry.git"))
        .arg("--report")
        .arg(&report);
    let printed = succeed(&mut by_hand).stdout;
    assert_eq!(
        String::from_utf8(printed).unwrap().trim(),
        stripped.tree.to_string()
    );
    let report = std::fs::read(&report).unwrap();
    assert_eq!(
        quarry::domain::hash::sha256_hex(&report),
        stripped.report.to_string()
    );
    assert!(stripped.counts.stripped > 0 && stripped.counts.docstrings > 0);
    assert!(stripped.counts.entries < rows[0].counts.entries);

    // Again from the ledger, then with the trees lost: the same bytes, and the mirror is as it was.
    let emitted = tree(&version);
    let trees = workspace.join(".quarry/variants");
    for lose_trees in [false, true] {
        std::fs::remove_dir_all(&version).unwrap();
        if lose_trees {
            std::fs::remove_dir_all(&trees).unwrap();
        }
        let attempts = strip_attempts(workspace);
        succeed(quarry(workspace).args(["--jobs", "1", "emit"]).arg(&recipe));
        assert!(tree(&version) == emitted, "lost trees: {lose_trees}");
        let made = strip_attempts(workspace) - attempts;
        // The other two are the base commit's own trees here, and those are in the mirror.
        let code_only = rows.iter().filter(|row| row.variant == Variant::CodeOnly).count();
        assert_eq!(made, if lose_trees { code_only } else { 0 });
    }
    assert!(tree(&mirror) == before);
}

fn strip_attempts(workspace: &Path) -> usize {
    let ledger = workspace.join(".quarry/ledger.db");
    let store = quarry::store::Store::open_read_only(Utf8Path::from_path(&ledger).unwrap()).unwrap();
    store
        .attempts(Some(quarry::domain::attempt::Stage::Strip), None)
        .unwrap()
        .len()
}
