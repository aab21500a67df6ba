//! For the `swebench` package (5.0): rows as JSON lines that its dataset loader and its `make_test_spec` take, and the tree
//! of its task repositories (`swebench.task.repo`): one folder an instance. An import's rows are those that were published,
//! column by column and in their order; it has no task tree, for nobody knows their environments.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::container;
use super::inspect::NO_STATEMENT;
use super::version::{Exported, Version, document, line};
use crate::domain::test_name;
use crate::emit::error::EmitError;
use crate::emit::import::published::Columns;
use crate::emit::instance::{Instance, PatchField};

/// The split that every task is in.
const SPLIT: &str = "test";

/// Rows in `DATASET.jsonl`, tasks in `tasks/`, and what describes them in `sweb.yaml`.
///
/// # Errors
/// [`EmitError::Json`] when something has no JSON form.
pub fn export(version: &Version) -> Result<Exported, EmitError> {
    let dataset = &version.manifest.dataset;
    let name = format!("quarry/{}", dataset.name);
    let mut exported = Exported::default();
    if let Some(published) = &version.published {
        exported
            .files
            .insert(format!("{}.jsonl", dataset.name), there(version, published));
        return Ok(exported);
    }
    let mut rows = vec![];
    for instance in &version.instances {
        let patches = [PatchField::Patch, PatchField::TestPatch];
        if let Some(why) = container::refusal(instance) {
            exported.left_out.insert(instance.instance_id.clone(), why);
            continue;
        }
        if instance.problem_statement.is_none() {
            exported
                .left_out
                .insert(instance.instance_id.clone(), NO_STATEMENT.to_owned());
            continue;
        }
        if patches.iter().any(|field| instance.base64_fields.contains(field)) {
            let why = "a patch is not UTF-8, and the package reads text".to_owned();
            exported.left_out.insert(instance.instance_id.clone(), why);
            continue;
        }
        let row = row(instance);
        task(version, instance, &row, &name, &mut exported)?;
        rows.extend(line(&row)?);
    }
    exported.files.insert(format!("{}.jsonl", dataset.name), rows);
    let config = format!("datasets:\n- {name}\nsplits:\n- {SPLIT}\n");
    exported.files.insert("sweb.yaml".to_owned(), config.into_bytes());
    Ok(exported)
}

/// Of the published rows those that are instances.
fn there(version: &Version, published: &[u8]) -> Vec<u8> {
    let ids: BTreeSet<&str> = version
        .instances
        .iter()
        .map(|row| row.instance_id.as_str())
        .collect();
    let lines = published.split_inclusive(|byte| *byte == b'\n');
    let is_there = |line: &&[u8]| {
        serde_json::from_slice::<Columns>(line).is_ok_and(|columns| {
            let id = columns
                .get("instance_id")
                .and_then(|id| serde_json::from_str::<String>(id).ok());
            id.is_some_and(|id| ids.contains(id.as_str()))
        })
    };
    lines.filter(is_there).collect::<Vec<_>>().concat()
}

/// The image's name as the package derives it from the instance.
fn image(instance: &Instance) -> String {
    let id = instance.instance_id.to_string().to_lowercase();
    format!("swebench/sweb.eval.x86_64.{}:latest", id.replace("__", "_1776_"))
}

/// A row with the columns of SWE-bench, and those that its harness has needed since 5.0.
pub fn row(instance: &Instance) -> Value {
    json!({
        "repo": instance.repo,
        "instance_id": instance.instance_id,
        "base_commit": instance.base_commit,
        "patch": instance.patch,
        "test_patch": instance.test_patch,
        "problem_statement": instance.problem_statement.clone().unwrap_or_default(),
        "hints_text": instance.hints_text.clone().unwrap_or_default(),
        "created_at": instance.created_at.to_string(),
        "version": instance.version.clone().unwrap_or_default(),
        "FAIL_TO_PASS": serde_json::to_string(&test_name::words(&instance.fail_to_pass)).unwrap_or_default(),
        "PASS_TO_PASS": serde_json::to_string(&test_name::words(&instance.pass_to_pass)).unwrap_or_default(),
        "environment_setup_commit": instance.base_commit,
        "image": image(instance),
        "log_parser": "parse_log_pytest",
        "eval_type": "pass_and_fail",
        "eval_script": eval_script(instance),
    })
}

/// The script that the harness runs in the image after the model's patch.
fn eval_script(instance: &Instance) -> String {
    format!(
        "#!/bin/bash\nset -uxo pipefail\ngit config --global --add safe.directory {tree}\ncd {tree}\n{report}{restore}{apply}\
         : '{start}'\n{command}\n: '{end}'\n{restore}",
        tree = container::TREE,
        report = container::install_report(),
        restore = container::restore(instance),
        apply = container::apply(instance, PatchField::TestPatch),
        command = container::command(instance),
        start = test_name::START,
        end = test_name::END,
    )
}

/// One folder of the task tree.
fn task(
    version: &Version,
    instance: &Instance,
    row: &Value,
    dataset: &str,
    exported: &mut Exported,
) -> Result<(), EmitError> {
    let mut put = |name: &str, bytes: Vec<u8>| {
        let path = format!("tasks/{}/{name}", instance.instance_id);
        exported.files.insert(path, bytes);
    };
    let text = |name: &str| row[name].as_str().unwrap_or_default().as_bytes().to_vec();
    // JSON is YAML.
    let meta = json!({
        "instance_id": instance.instance_id,
        "repo": instance.repo,
        "version": row["version"],
        "base_commit": instance.base_commit,
        "created_at": row["created_at"],
        "environment_setup_commit": instance.base_commit,
        "split": SPLIT,
        "datasets": [dataset],
        "image": row["image"],
        "log_parser": row["log_parser"],
        "eval_type": row["eval_type"],
    });
    let tests = json!({
        "FAIL_TO_PASS": test_name::words(&instance.fail_to_pass),
        "PASS_TO_PASS": test_name::words(&instance.pass_to_pass),
    });
    put("task.yaml", document(&meta)?);
    put("tests.json", document(&tests)?);
    put("problem_statement.md", text("problem_statement"));
    if instance
        .hints_text
        .as_ref()
        .is_some_and(|hints| !hints.is_empty())
    {
        put("hints.md", text("hints_text"));
    }
    put("gold.patch", text("patch"));
    put("test.patch", text("test_patch"));
    put("eval.sh", text("eval_script"));
    put(
        "Dockerfile",
        container::dockerfile(version, instance).into_bytes(),
    );
    put("lock.txt", version.lock(instance).to_vec());
    Ok(())
}
