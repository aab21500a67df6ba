//! Keys: what an environment, a lock and a build depend on, and nothing else.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::python::PythonVersion;
use crate::domain::environment::Constraint;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::CommitSha;
use crate::recipe::model::EnvironmentRecipe;

/// Bumped when the same recipe and commit would be built into something else.
pub const STAGE_VERSION: u32 = 1;

/// Bumped when a layer of the same lock is laid out in another way.
const LAYOUT: u32 = 1;

/// What one candidate's build reads.
#[derive(Debug, Clone, Copy)]
pub struct BuildInputs<'a> {
    /// The commit whose tree is built.
    pub base_commit: CommitSha,
    /// "Now" for the resolver.
    pub base_date: Timestamp,
    /// The nearest release below it: build tools are told a version after it.
    pub release: Option<&'a str>,
    /// How to install.
    pub recipe: &'a EnvironmentRecipe,
    /// The interpreter chosen on this machine.
    pub interpreter: &'a PythonVersion,
}

/// The attempt's key. Reasons, names and test-time variables of the recipe are no part of it: they change no byte of
/// what is built. The room is none either: a lock is the same wherever it is used.
pub fn input_key(inputs: &BuildInputs<'_>) -> String {
    let constraints: Vec<&str> = inputs
        .recipe
        .constraints
        .iter()
        .map(|Constraint { requirement, .. }| requirement.as_str())
        .collect();
    KeyHasher::new("build", STAGE_VERSION)
        .part("commit", inputs.base_commit.as_bytes())
        .json("date", &inputs.base_date)
        .json("release", &inputs.release)
        .part("interpreter", inputs.interpreter.to_string().as_bytes())
        .json("install", &inputs.recipe.install)
        .json("constraints", &constraints)
        .finish()
}

/// The environment's key: candidates with the same one share the layer of dependencies. The date is a part only where
/// something is built from source, because build tools are resolved as of it.
pub fn environment_key(
    interpreter: &PythonVersion,
    lock: &str,
    from_source: &BTreeSet<String>,
    date: Timestamp,
) -> String {
    let key = KeyHasher::new("environment", LAYOUT)
        .part("interpreter", interpreter.to_string().as_bytes())
        .part("lock", lock.as_bytes());
    if from_source.is_empty() {
        key
    } else {
        key.json("from-source", from_source).json("date", &date)
    }
    .finish()
}

/// The key of a candidate's own layer: its packages, installed into an environment. `place` separates rooms that see
/// it at different paths.
pub fn project_key(input_key: &str, environment: &str, place: &str) -> String {
    KeyHasher::new("project-layer", LAYOUT)
        .part("input", input_key.as_bytes())
        .part("environment", environment.as_bytes())
        .part("place", place.as_bytes())
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe() -> EnvironmentRecipe {
        EnvironmentRecipe {
            name: "a".into(),
            repo: None,
            when: None,
            python: "3.11".into(),
            install: vec![".".into()],
            constraints: vec![],
            env: std::collections::BTreeMap::new(),
        }
    }

    fn key(change: impl FnOnce(&mut EnvironmentRecipe)) -> String {
        let mut recipe = recipe();
        change(&mut recipe);
        input_key(&BuildInputs {
            base_commit: CommitSha::from_bytes([1; 20]),
            base_date: Timestamp::UNIX_EPOCH,
            release: None,
            recipe: &recipe,
            interpreter: &"3.11.7".parse().unwrap(),
        })
    }

    #[test]
    fn what_changes_no_built_byte_changes_no_key() {
        let constraint = |reason: &str| {
            vec![Constraint {
                requirement: "a<1".into(),
                reason: reason.into(),
            }]
        };
        let same = key(|_| {});
        assert_eq!(key(|recipe| recipe.name = "b".into()), same);
        assert_eq!(
            key(|recipe| recipe.python = ">=3.9".into()),
            same,
            "only the interpreter chosen counts"
        );
        assert_ne!(key(|recipe| recipe.install.push("pytest".into())), same);
        let constrained = key(|recipe| recipe.constraints = constraint("one"));
        assert_ne!(constrained, same);
        assert_eq!(key(|recipe| recipe.constraints = constraint("two")), constrained);
    }

    #[test]
    fn an_environment_depends_on_the_date_only_where_sources_are_built() {
        let python = "3.11.7".parse().unwrap();
        let later = Timestamp::from_second(1).unwrap();
        let of = |from_source: &[&str], date| {
            let names = from_source.iter().map(|name| (*name).to_owned()).collect();
            environment_key(&python, "a==1\n", &names, date)
        };
        assert_eq!(of(&[], Timestamp::UNIX_EPOCH), of(&[], later));
        assert_ne!(of(&["a"], Timestamp::UNIX_EPOCH), of(&["a"], later));
        assert_ne!(
            of(&[], later),
            environment_key(&"3.11.8".parse().unwrap(), "a==1\n", &BTreeSet::new(), later)
        );
    }
}
