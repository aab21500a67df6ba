//! `quarry import`: published rows in, the same rows out, and their oracle found again by the sample's own mirror.

use std::fs;
use std::path::Path;
use std::process::Command;

use quarry::audit::diff::Diff;
use quarry::columnar;
use quarry::evaluate::Report;
use quarry::evaluate::result::Class;
use serde_json::{Value, json};

use crate::program::{quarry, sample_run, succeed};

fn rows(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn lines_of(rows: &[Value]) -> String {
    rows.iter()
        .fold(String::new(), |text, row| text + &row.to_string() + "\n")
}

fn import(workspace: &Path, file: &Path, more: &[&str]) -> Command {
    let mut command = quarry(workspace);
    command
        .args(["--json", "import", "swebench"])
        .arg(file)
        .args(more);
    command
}

fn told(command: &mut Command) -> Value {
    serde_json::from_slice(&succeed(command).stdout).unwrap()
}

#[test]
fn what_was_published_is_verified_again_and_comes_back_as_it_was() {
    let temp = tempfile::tempdir().unwrap();
    let workspace = temp.path().join("w");
    succeed(&mut sample_run(&workspace));
    let version = workspace.join("manifests/sample/0.1.0");
    // As another set publishes them: with a column of its own, from whichever test lists.
    let exported = temp.path().join("exported");
    let export = |version: &Path, target: &Path| {
        let mut command = quarry(&workspace);
        succeed(
            command
                .arg("export")
                .arg(version)
                .args(["--to", "swebench"])
                .arg(target),
        );
    };
    export(&version, &exported);
    let mut published = rows(&fs::read_to_string(exported.join("sample.jsonl")).unwrap());
    for row in &mut published {
        row["difficulty"] = json!(0.1);
    }
    let file = temp.path().join("Published Rows.jsonl");
    let lines = lines_of(&published);
    fs::write(&file, &lines).unwrap();

    let first = told(&mut import(&workspace, &file, &[]));
    let imported = workspace.join("manifests/published-rows/1.0.0");
    assert_eq!(first["instances"], published.len());
    assert!(
        first["import"]["other_columns"]
            .as_array()
            .unwrap()
            .contains(&json!("difficulty"))
    );
    assert_eq!(told(&mut import(&workspace, &file, &[]))["new"], false);
    succeed(quarry(&workspace).args(["emit", "--verify"]).arg(&imported));
    succeed(quarry(&workspace).arg("audit").arg(&imported));
    let back = temp.path().join("back");
    export(&imported, &back);
    assert_eq!(
        rows(&fs::read_to_string(back.join("published-rows.jsonl")).unwrap()),
        published
    );

    damage_is_told_with_its_line(&imported, &temp.path().join("damaged"));

    let mut harbor = quarry(&workspace);
    harbor
        .arg("export")
        .arg(&imported)
        .args(["--to", "harbor"])
        .arg(temp.path().join("harbor"));
    let refused = harbor.output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("nobody knows its environment"), "{said}");

    // A table, and a list, say the same.
    let table = temp.path().join("rows.parquet");
    fs::write(&table, columnar::table(lines.as_bytes()).unwrap()).unwrap();
    let list = temp.path().join("rows.json");
    fs::write(&list, serde_json::to_string_pretty(&published).unwrap()).unwrap();
    let instances = |name: &str| {
        fs::read(
            workspace
                .join("manifests")
                .join(name)
                .join("1.0.0/instances.jsonl"),
        )
        .unwrap()
    };
    for (file, name) in [(&table, "table"), (&list, "list")] {
        succeed(&mut import(&workspace, file, &["--name", name]));
        assert_eq!(instances(name), instances("published-rows"), "{name}");
    }

    // Where nobody verified them, nobody knows their environment. (These two name no test that the export wrote as one word.)
    let plain = published
        .iter()
        .filter(|row| !row["PASS_TO_PASS"].as_str().unwrap().contains('%'));
    let plain: Vec<Value> = plain.take(2).cloned().collect();
    let two = temp.path().join("two.jsonl");
    fs::write(&two, lines_of(&plain)).unwrap();
    succeed(&mut import(&workspace, &two, &[]));
    let imported = workspace.join("manifests/two/1.0.0");
    let gold = |workspace: &Path, more: &[&str]| {
        let mut command = quarry(workspace);
        command
            .args(["--json", "evaluate"])
            .arg(&imported)
            .arg("--gold")
            .args(more);
        let output = command.output().unwrap();
        let report: Report = serde_json::from_slice(&output.stdout).unwrap();
        let told = report.outcomes.iter().map(|one| (one.class, one.detail.clone()));
        (output.status.code(), told.collect::<Vec<_>>())
    };
    let (code, told) = gold(&temp.path().join("elsewhere"), &["--sample"]);
    assert_eq!((code, told.len()), (Some(1), 2));
    for (class, detail) in told {
        assert_eq!(class, Class::Infra);
        assert!(
            detail.contains("verify it again here first, by the version's `reverify.toml`"),
            "{detail}"
        );
    }

    // Verified again, each has the oracle that was published; and what was published is evaluated where that was done.
    let recipe = imported.join("reverify.toml");
    succeed(quarry(&workspace).args(["run", recipe.to_str().unwrap()]));
    let verified = workspace.join("manifests/two/1.0.1");
    let mut diff = quarry(&workspace);
    diff.args(["--json", "diff"]).arg(&imported).arg(&verified);
    let diff: Diff = serde_json::from_slice(&succeed(&mut diff).stdout).unwrap();
    assert_eq!(
        (diff.added.as_slice(), diff.dropped.as_slice()),
        (&[][..], &[][..])
    );
    assert!(diff.not_compared.contains(&"lock".to_owned()));
    let moved: Vec<_> = diff
        .changed
        .iter()
        .flat_map(|changed| &changed.tests)
        .filter(|moved| moved.from.is_some())
        .collect();
    assert!(moved.is_empty(), "{moved:?}");

    let (code, told) = gold(&workspace, &[]);
    assert_eq!(code, Some(0), "{told:?}");
}

/// `quarry sample` on the version with this or that broken in it.
fn damage_is_told_with_its_line(version: &Path, damaged: &Path) {
    let whole = |file: &str| fs::read_to_string(version.join(file)).unwrap();
    let (manifest, instances) = (whole("manifest.json"), whole("instances.jsonl"));
    fs::create_dir(damaged).unwrap();
    let told = |manifest: &str, instances: &str| {
        fs::write(damaged.join("manifest.json"), manifest).unwrap();
        fs::write(damaged.join("instances.jsonl"), instances).unwrap();
        let mut sample = quarry(damaged);
        let output = sample.arg("sample").arg(damaged).args(["--seed", "7"]).output();
        String::from_utf8(output.unwrap().stderr).unwrap()
    };
    for (said, what) in [
        (
            told(&manifest, &instances.replacen("\n{", "\n{,", 1)),
            "instances.jsonl`: line 2: key must be a string",
        ),
        (
            told(&manifest.replacen(':', ";", 1), &instances),
            "manifest.json`: line 2: expected `:`",
        ),
        (told("", &instances), "manifest.json`: it is empty"),
        (told(&manifest, ""), "find instances in"),
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
}

#[test]
fn a_faulty_file_is_told_with_its_lines_and_leaves_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("rows.jsonl");
    fs::write(&file, "{\"instance_id\": \"a__b-1\"}\nnot a row\n").unwrap();
    let output = import(temp.path(), &file, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("line 2: ") && error.contains("line 1: it has no `repo`"),
        "{error}"
    );
    assert!(!temp.path().join("manifests").exists());
    let missing = import(temp.path(), Path::new("/nowhere.jsonl"), &[])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(3));
    let cut = temp.path().join("cut.parquet");
    fs::write(&cut, b"PAR1 and no more").unwrap();
    assert_eq!(
        import(temp.path(), &cut, &[]).output().unwrap().status.code(),
        Some(3)
    );
}
