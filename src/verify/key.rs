//! The attempt's key: what a verification depends on, and nothing else.

use std::collections::BTreeMap;

use crate::domain::hash::KeyHasher;
use crate::domain::ids::CommitSha;
use crate::domain::path::RepoPath;
use crate::domain::runner_files::is_test_module;
use crate::recipe::model::Verification;

/// Bumped when the same inputs would be judged in another way.
pub(super) const STAGE_VERSION: u32 = 2;

/// What one candidate's verification reads.
#[derive(Debug, Clone, Copy)]
pub struct VerifyInputs<'a> {
    /// The commit that the patches are laid on.
    pub base_commit: CommitSha,
    /// The test patch's bytes.
    pub test: &'a [u8],
    /// The gold patch's bytes.
    pub gold: &'a [u8],
    /// The files that the test patch touches.
    pub touched: &'a [RepoPath],
    /// The environment's key.
    pub environment: &'a str,
    /// The recipe's variables for test runs.
    pub variables: &'a BTreeMap<String, String>,
    /// How tests are run and judged.
    pub settings: &'a Verification,
    /// The room's name: what ran without walls is not what ran within.
    pub room: &'a str,
    /// The runner's files.
    pub runner: &'a [(&'a str, &'a str)],
}

/// The key. How often an outside fault may be tried again, and what is measured of the
/// oracle afterwards, is no part of it.
pub fn input_key(inputs: &VerifyInputs<'_>) -> String {
    let settings = Verification {
        infra_tries: 0,
        // What is measured of an oracle afterwards; left out of the JSON at these values.
        coverage: true,
        ablation: 0,
        ..inputs.settings.clone()
    };
    // Since version 2 a project's settings say what a test module is, which changes nothing where all have the usual names.
    let usual = |path: &RepoPath| path.to_str().is_some_and(is_test_module);
    let version = if inputs.touched.iter().all(usual) {
        1
    } else {
        STAGE_VERSION
    };
    KeyHasher::new("verify", version)
        .part("commit", inputs.base_commit.as_bytes())
        .part("test", inputs.test)
        .part("gold", inputs.gold)
        .json("touched", &inputs.touched)
        .part("environment", inputs.environment.as_bytes())
        .json("variables", inputs.variables)
        .json("settings", &settings)
        .part("room", inputs.room.as_bytes())
        .json("runner", &inputs.runner)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_follows_what_is_read() {
        let settings = Verification::default();
        let variables = BTreeMap::new();
        let commit = "d16bfe05a744909de4b27f5875fe0d4ed41ce607".parse().unwrap();
        let inputs = VerifyInputs {
            base_commit: commit,
            test: b"t",
            gold: b"g",
            touched: &[],
            environment: "e",
            variables: &variables,
            settings: &settings,
            room: "process",
            runner: &[("run.py", "pass")],
        };
        let key = input_key(&inputs);
        assert_ne!(
            input_key(&VerifyInputs {
                test: b"tg",
                gold: b"",
                ..inputs
            }),
            key
        );
        assert_ne!(
            input_key(&VerifyInputs {
                room: "none",
                ..inputs
            }),
            key
        );
        assert_ne!(
            input_key(&VerifyInputs {
                runner: &[("run.py", "exit")],
                ..inputs
            }),
            key
        );
        let other = Verification {
            runs: 4,
            ..settings.clone()
        };
        assert_ne!(
            input_key(&VerifyInputs {
                settings: &other,
                ..inputs
            }),
            key
        );
        let patient = Verification {
            infra_tries: 9,
            coverage: false,
            ablation: 7,
            ..settings.clone()
        };
        assert_eq!(
            input_key(&VerifyInputs {
                settings: &patient,
                ..inputs
            }),
            key
        );
    }
}
