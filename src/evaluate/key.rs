//! A run's key: what it depends on, and nothing else. An unchanged prediction costs nothing, a changed one is always run.

use std::collections::BTreeMap;

use crate::domain::hash::KeyHasher;
use crate::domain::ids::{CommitSha, TestId};
use crate::domain::oracle::RanScope;
use crate::recipe::model::Verification;

/// Bumped when the same inputs would be judged in another way.
const STAGE_VERSION: u32 = 1;

/// What one run of one prediction reads.
#[derive(Debug, Clone, Copy)]
pub struct RunInputs<'a> {
    /// The prediction's patch, as given.
    pub patch: &'a [u8],
    /// The commit that it is laid on.
    pub base_commit: CommitSha,
    /// The test patch.
    pub test: &'a [u8],
    /// The gold patch: what it touches is no oracle's.
    pub gold: &'a [u8],
    /// What the oracle's runs selected.
    pub scope: RanScope,
    /// FAIL_TO_PASS.
    pub fail_to_pass: &'a [TestId],
    /// PASS_TO_PASS.
    pub pass_to_pass: &'a [TestId],
    /// The environment's key.
    pub environment: &'a str,
    /// The recipe's variables for test runs.
    pub variables: &'a BTreeMap<String, String>,
    /// How tests are run.
    pub settings: &'a Verification,
    /// How many lines of context may be missing.
    pub fuzz: u8,
    /// The room's name.
    pub room: &'a str,
    /// The runner's files.
    pub runner: &'a [(&'a str, &'a str)],
    /// Which run, from 1.
    pub number: u32,
}

/// Bumped when the same files would select other tests.
const SELECTION: u32 = 2;

/// The key. How often an outside fault may be tried again, and what only an oracle's making asks, is no part of it.
pub fn input_key(inputs: &RunInputs<'_>) -> String {
    let settings = inputs.settings.of_one_run();
    KeyHasher::new("evaluate", STAGE_VERSION)
        .part("patch", inputs.patch)
        .part("commit", inputs.base_commit.as_bytes())
        .part("test", inputs.test)
        .part("gold", inputs.gold)
        .json("scope", &inputs.scope)
        .json("fail_to_pass", &inputs.fail_to_pass)
        .json("pass_to_pass", &inputs.pass_to_pass)
        .part("environment", inputs.environment.as_bytes())
        .json("variables", inputs.variables)
        .json("settings", &settings)
        .json("fuzz", &inputs.fuzz)
        .part("room", inputs.room.as_bytes())
        .json("runner", &inputs.runner)
        .json("number", &inputs.number)
        .json("selection", &SELECTION)
        .finish()
}

/// What names an oracle and its environment: two evaluations with the same one asked the same of a patch.
pub fn oracle_key(environment: &str, fail_to_pass: &[TestId], pass_to_pass: &[TestId]) -> String {
    KeyHasher::new("evaluate-oracle", STAGE_VERSION)
        .part("environment", environment.as_bytes())
        .json("fail_to_pass", &fail_to_pass)
        .json("pass_to_pass", &pass_to_pass)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_follows_what_is_read() {
        let (settings, variables) = (Verification::default(), BTreeMap::new());
        let inputs = RunInputs {
            patch: b"p",
            base_commit: CommitSha::from_bytes([1; 20]),
            test: b"t",
            gold: b"g",
            scope: RanScope::Modules,
            fail_to_pass: &["f".into()],
            pass_to_pass: &["p".into()],
            environment: "env",
            variables: &variables,
            settings: &settings,
            fuzz: 0,
            room: "process",
            runner: &[("run.py", "")],
            number: 1,
        };
        let key = input_key(&inputs);
        assert_eq!(input_key(&inputs), key);
        let slower = Verification {
            timeout_seconds: 1,
            ..settings.clone()
        };
        let patient = Verification {
            infra_tries: 9,
            runs: 9,
            ..settings.clone()
        };
        let others = [
            RunInputs {
                patch: b"q",
                ..inputs
            },
            RunInputs { test: b"u", ..inputs },
            RunInputs { gold: b"h", ..inputs },
            RunInputs {
                scope: RanScope::Suite,
                ..inputs
            },
            RunInputs {
                fail_to_pass: &[],
                ..inputs
            },
            RunInputs {
                pass_to_pass: &[],
                ..inputs
            },
            RunInputs {
                environment: "vne",
                ..inputs
            },
            RunInputs {
                settings: &slower,
                ..inputs
            },
            RunInputs { fuzz: 1, ..inputs },
            RunInputs {
                room: "none",
                ..inputs
            },
            RunInputs {
                runner: &[("run.py", "x")],
                ..inputs
            },
            RunInputs { number: 2, ..inputs },
        ];
        for other in others {
            assert_ne!(input_key(&other), key, "{other:?}");
        }
        assert_eq!(
            input_key(&RunInputs {
                settings: &patient,
                ..inputs
            }),
            key
        );
    }
}
