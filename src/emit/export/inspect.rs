//! For `inspect_ai`: one file of samples as its `json_dataset` reads it. A sample's `input` is the task, its `target` the
//! gold patch, and `metadata` what a scorer needs.

use serde_json::json;

use super::version::{Exported, Version, line};
use crate::domain::test_name;
use crate::emit::error::EmitError;
use crate::emit::instance::PatchField;

/// Why a format that gives a task to a model cannot hold an instance.
pub(super) const NO_STATEMENT: &str = "nothing says what is asked: its problem statement is not known";

/// `DATASET.jsonl`.
///
/// # Errors
/// [`EmitError::Json`] when something has no JSON form.
pub fn export(version: &Version) -> Result<Exported, EmitError> {
    let dataset = &version.manifest.dataset;
    let mut exported = Exported::default();
    let mut samples = vec![];
    for instance in &version.instances {
        let id = &instance.instance_id;
        let Some(statement) = &instance.problem_statement else {
            exported.left_out.insert(id.clone(), NO_STATEMENT.to_owned());
            continue;
        };
        let is_base64 = |field| instance.base64_fields.contains(&field);
        samples.extend(line(&json!({
            "id": id,
            "input": statement,
            "target": instance.patch,
            "metadata": {
                "dataset": dataset.name,
                "dataset_version": dataset.version,
                "repo": instance.repo,
                "base_commit": instance.base_commit,
                "version": instance.version,
                "created_at": instance.created_at.to_string(),
                "hints_text": instance.hints_text,
                "test_patch": instance.test_patch,
                "patch_is_base64": is_base64(PatchField::Patch),
                "test_patch_is_base64": is_base64(PatchField::TestPatch),
                "FAIL_TO_PASS": test_name::words(&instance.fail_to_pass),
                "PASS_TO_PASS": test_name::words(&instance.pass_to_pass),
                "interpreter": instance.interpreter,
                "exclude_newer": instance.exclude_newer.map(|moment| moment.to_string()),
                "setup": instance.setup,
            },
        }))?);
    }
    exported.files.insert(format!("{}.jsonl", dataset.name), samples);
    Ok(exported)
}
