//! For the Harbor runner: a folder a task with `task.toml` (schema 1.4), `instruction.md`, `environment/Dockerfile`,
//! `tests/test.sh` (which writes the reward) and `solution/solve.sh` (the gold patch).

use serde_json::json;

use super::container;
use super::inspect::NO_STATEMENT;
use super::version::{Exported, Version, document};
use crate::domain::test_name;
use crate::emit::error::EmitError;
use crate::emit::instance::{Instance, PatchField};

const GRADE: &[u8] = include_bytes!("../../../data/export/grade.py");

/// What the agent changed, as a patch where the runner collects files: tests run in a fresh container, which the agent has
/// never touched.
const COLLECT: &str = "mkdir -p /logs/artifacts && cd /testbed && git add -A && \
    git diff --cached --binary $(cat /opt/quarry/base) > /logs/artifacts/model.patch";
/// And its way onto the fresh tree; what does not apply is not there, and its tests fail.
const APPLY_MODEL: &str = "if [ -s /logs/artifacts/model.patch ]; then git apply --verbose --whitespace=nowarn \
    /logs/artifacts/model.patch; fi\n";

/// One folder an instance.
///
/// # Errors
/// [`EmitError::Json`] when something has no JSON form.
pub fn export(version: &Version) -> Result<Exported, EmitError> {
    let mut exported = Exported::default();
    for instance in &version.instances {
        let id = instance.instance_id.clone();
        let statement = match (container::refusal(instance), &instance.problem_statement) {
            (Some(why), _) => {
                exported.left_out.insert(id, why);
                continue;
            }
            (None, None) => {
                exported.left_out.insert(id, NO_STATEMENT.to_owned());
                continue;
            }
            (None, Some(statement)) => statement,
        };
        task(version, instance, statement, &mut exported)?;
    }
    Ok(exported)
}

fn task(
    version: &Version,
    instance: &Instance,
    statement: &str,
    exported: &mut Exported,
) -> Result<(), EmitError> {
    let tests = document(&json!({
        "FAIL_TO_PASS": test_name::words(&instance.fail_to_pass),
        "PASS_TO_PASS": test_name::words(&instance.pass_to_pass),
    }))?;
    let instruction = format!(
        "The repository {} is at {}. Change it so that this is done:\n\n{statement}",
        instance.repo,
        container::TREE
    );
    let test = format!(
        "#!/bin/bash\nset -uo pipefail\nexport PATH=/usr/local/bin:$PATH\ngit config --global --add safe.directory {tree}\n\
         cd {tree}\n{model}{report}{restore}{apply}export QUARRY_REPORT=/logs/verifier/tests.json\n\
         mkdir -p /logs/verifier\n{command}\npython /tests/grade.py /tests/tests.json \"$QUARRY_REPORT\" /logs/verifier/reward.txt\n",
        tree = container::TREE,
        model = APPLY_MODEL,
        report = container::install_report(),
        restore = container::restore(instance),
        apply = container::apply(instance, PatchField::TestPatch),
        command = container::command(instance),
    );
    let solve = format!(
        "#!/bin/bash\nset -euo pipefail\ngit config --global --add safe.directory {tree}\ncd {tree}\n{apply}",
        tree = container::TREE,
        apply = container::apply(instance, PatchField::Patch),
    );
    let mut put = |name: &str, bytes: Vec<u8>| {
        let path = format!("{}/{name}", instance.instance_id);
        exported.files.insert(path, bytes);
    };
    put("task.toml", config(version, instance).into_bytes());
    put("instruction.md", instruction.into_bytes());
    put(
        "environment/Dockerfile",
        container::dockerfile(version, instance).into_bytes(),
    );
    put("environment/lock.txt", version.lock(instance).to_vec());
    put("tests/test.sh", test.into_bytes());
    put("tests/grade.py", GRADE.to_vec());
    put("tests/tests.json", tests);
    put("solution/solve.sh", solve.into_bytes());
    Ok(())
}

/// `task.toml`. Its texts are TOML basic strings, which JSON's are, too.
fn config(version: &Version, instance: &Instance) -> String {
    let dataset = &version.manifest.dataset;
    let text = |value: &str| serde_json::Value::from(value).to_string();
    let name = format!("quarry/{}", instance.instance_id.to_string().to_lowercase());
    format!(
        "schema_version = \"1.4\"\n\n[task]\nname = {}\nversion = {}\ndescription = {}\nkeywords = [\"swe-bench\", {}]\n\n\
         [metadata]\ndataset = {}\nrepo = {}\nbase_commit = {}\ncreated_at = {}\n\n[verifier]\ntimeout_sec = 1800.0\n\
         network_mode = \"no-network\"\nenvironment_mode = \"separate\"\n\n\
         [[verifier.collect]]\ncommand = {}\ntimeout_sec = 300.0\n\n[agent]\ntimeout_sec = 3600.0\n\n[environment]\nbuild_timeout_sec = 1800.0\n\
         workdir = {}\n",
        text(&name),
        text(&dataset.version),
        text(instance.title.as_deref().unwrap_or_default()),
        text(&instance.repo.to_string()),
        text(&dataset.name),
        text(&instance.repo.to_string()),
        text(&instance.base_commit.to_string()),
        text(&instance.created_at.to_string()),
        text(COLLECT),
        text(container::TREE),
    )
}
