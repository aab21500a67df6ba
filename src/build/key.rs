//! Keys: what an environment, a lock and a build depend on, and nothing else.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::after::PackagingAfter;
use super::lock::Pin;
use crate::domain::environment::Constraint;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::CommitSha;
use crate::recipe::model::EnvironmentRecipe;

/// Bumped when the same recipe and commit would be built into something else.
pub const STAGE_VERSION: u32 = 2;

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
    /// The chosen interpreter's identity.
    pub interpreter: &'a str,
    /// Packaging files in the place of the tree's own.
    pub after: Option<&'a PackagingAfter>,
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
    let newer: Vec<_> = (inputs.recipe.newer.iter())
        .map(|newer| (newer.distribution.as_str(), newer.until.as_str()))
        .collect();
    let mut key = KeyHasher::new("build", STAGE_VERSION)
        .part("commit", inputs.base_commit.as_bytes())
        .json("date", &inputs.base_date)
        .json("release", &inputs.release)
        .part("interpreter", inputs.interpreter.as_bytes())
        .json("install", &inputs.recipe.install)
        .json("constraints", &constraints);
    if !newer.is_empty() {
        key = key.json("newer", &newer);
    }
    let left_out = inputs.recipe.left_out.iter();
    let left_out: Vec<&str> = left_out.map(|left| left.distribution.as_str()).collect();
    if !left_out.is_empty() {
        key = key.json("left-out", &left_out);
    }
    if let Some(after) = inputs.after {
        key = key.json("after", &after.fingerprint());
    }
    key.finish()
}

/// The environment's key: candidates with the same one share the layer of dependencies. `sources` are the distributions
/// that are built from source, each with the moment whose build tools build it.
pub fn environment_key(interpreter: &str, lock: &str, sources: &BTreeMap<String, Timestamp>) -> String {
    let key = KeyHasher::new("environment", LAYOUT)
        .part("interpreter", interpreter.as_bytes())
        .part("lock", lock.as_bytes());
    if sources.is_empty() {
        key
    } else {
        key.json("sources", sources)
    }
    .finish()
}

/// The key of one unpacked distribution.
pub fn distribution_key(interpreter: &str, name: &str, pin: &Pin, built_as_of: Option<Timestamp>) -> String {
    KeyHasher::new("distribution", LAYOUT)
        .part("interpreter", interpreter.as_bytes())
        .part("name", name.as_bytes())
        .part("version", pin.version.as_bytes())
        .json("hashes", &pin.hashes)
        .json("built-as-of", &built_as_of)
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
            python: "3.11".into(),
            install: vec![".".into()],
            ..EnvironmentRecipe::default()
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
            interpreter: "3.11.7",
            after: None,
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
    fn packaging_files_of_the_pull_request_change_the_key() {
        let recipe = recipe();
        let key = |content: Option<&str>| {
            let file = content.map(|text| ("tox.ini".into(), Some(text.as_bytes().to_vec())));
            input_key(&BuildInputs {
                base_commit: CommitSha::from_bytes([1; 20]),
                base_date: Timestamp::UNIX_EPOCH,
                release: None,
                recipe: &recipe,
                interpreter: "3.11.7",
                after: PackagingAfter::new(file).as_ref(),
            })
        };
        assert_ne!(key(None), key(Some("a")));
        assert_ne!(key(Some("b")), key(Some("a")));
    }

    #[test]
    fn an_environment_depends_on_a_date_only_where_sources_are_built() {
        let later = Timestamp::from_second(1).unwrap();
        let sources = |moment| BTreeMap::from([("a".to_owned(), moment)]);
        let of = |sources: &BTreeMap<String, Timestamp>| environment_key("3.11.7", "a==1\n", sources);
        assert_ne!(of(&sources(Timestamp::UNIX_EPOCH)), of(&sources(later)));
        assert_ne!(of(&sources(later)), of(&BTreeMap::new()));
        let other = environment_key("3.11.8", "a==1\n", &BTreeMap::new());
        assert_ne!(of(&BTreeMap::new()), other);
    }

    #[test]
    fn a_distribution_is_known_by_its_hashes() {
        let python = "3.11.7";
        let pin = |hash: &str| Pin {
            version: "1".into(),
            hashes: [hash.to_owned()].into(),
        };
        let key = distribution_key(python, "a", &pin("sha256:a"), None);
        assert_ne!(key, distribution_key(python, "a", &pin("sha256:b"), None));
        assert_ne!(key, distribution_key(python, "b", &pin("sha256:a"), None));
        assert_ne!(
            key,
            distribution_key(python, "a", &pin("sha256:a"), Some(Timestamp::UNIX_EPOCH))
        );
    }
}
