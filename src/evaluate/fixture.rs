//! Outcomes for tests.

use std::collections::BTreeMap;

use super::result::{Applied, Class, NOT_APPLIED, OK, Outcome, Strategy};

/// An outcome with so many `FAIL_TO_PASS` and `PASS_TO_PASS` tests passed, of how many.
pub(super) fn outcome(id: &str, class: Class, fail: (u64, u64), pass: (u64, u64)) -> Outcome {
    let ran = matches!(class, Class::Resolved | Class::Unresolved);
    Outcome {
        instance_id: id.into(),
        repo: "a/b".to_owned(),
        month: "2024-01".to_owned(),
        split: None,
        class,
        resolved_runs: u32::from(class == Class::Resolved),
        runs: u32::from(ran),
        flaky: false,
        applied: ran.then(|| Applied {
            strategy: Strategy::Exact,
            fixes: vec![],
        }),
        ended: if ran { OK } else { NOT_APPLIED }.to_owned(),
        detail: String::new(),
        fail_to_pass_passed: fail.0,
        fail_to_pass: fail.1,
        pass_to_pass_passed: pass.0,
        pass_to_pass: pass.1,
        has_gold_files: false,
        not_passed: BTreeMap::new(),
        edits: vec![],
        forged_lines: 0,
        patch_sha256: String::new(),
        logs: vec![],
        cost: None,
        steps: None,
    }
}
