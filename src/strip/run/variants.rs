//! The variants of one commit, as git trees.

use std::path::Path;

use super::{CommitSource, Settings, StripError, TreeSink, run};
use crate::domain::hash::KeyHasher;
use crate::domain::ids::CommitSha;
use crate::strip::{Policy, Report, Variant};

/// Bumped when the same input would give another tree.
pub const STAGE_VERSION: u32 = 1;

/// One variant of a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantTree {
    /// Which.
    pub variant: Variant,
    /// The name of its tree.
    pub tree: CommitSha,
    /// Its files, links and submodules.
    pub entries: u64,
    /// What was done, and what is left.
    pub report: Report,
}

/// What a variant depends on: the same key, the same tree.
pub fn input_key(commit: CommitSha, variant: Variant, policy: &Policy) -> String {
    KeyHasher::new("strip", STAGE_VERSION)
        .part("commit", commit.as_bytes())
        .json("variant", &variant)
        .json("policy", policy)
        .finish()
}

/// Makes the variants of one commit of `mirror`, in the order asked for, and writes their trees into the repository
/// `target`, which sees the mirror's objects (the mirror itself, or one that [borrows](crate::git::borrow()) from it).
///
/// # Errors
/// [`StripError`] when the mirror cannot be read, or `target` cannot be written. A file that cannot be stripped is in
/// the report.
pub fn variants(
    mirror: &Path,
    target: &Path,
    commit: CommitSha,
    wanted: &[Variant],
    policy: &Policy,
    jobs: usize,
) -> Result<Vec<VariantTree>, StripError> {
    wanted
        .iter()
        .map(|variant| {
            let source = CommitSource::new(mirror, &commit.to_string())?;
            let mut sink = TreeSink::new(target, source.objects())?;
            let settings = Settings {
                variant: *variant,
                policy: policy.clone(),
                jobs,
                verify_with: None,
            };
            let report = run(&source, &mut sink, &settings)?;
            let entries = sink.entries();
            let tree = sink.finish()?;
            Ok(VariantTree {
                variant: *variant,
                tree,
                entries,
                report,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Mirror;
    use crate::git::fixture::{Fixture, files};

    #[test]
    fn each_variant_is_a_tree_of_the_mirror() {
        let mut fixture = Fixture::new();
        let tree = files(&[
            ("a.py", "x = 1  # c\n"),
            ("AGENTS.md", "Be good.\n"),
            ("docs/a.rst", "Docs\n"),
        ]);
        let commit = fixture.commit(&[], &tree, "start");
        let wanted = [Variant::Full, Variant::CodeOnly, Variant::NoContext];
        let made = variants(
            fixture.path(),
            fixture.path(),
            commit,
            &wanted,
            &Policy::default(),
            1,
        )
        .unwrap();
        let trees: Vec<_> = made.iter().map(|one| one.tree).collect();
        assert_eq!(made.iter().map(|one| one.variant).collect::<Vec<_>>(), wanted);
        assert_eq!(made.iter().map(|one| one.entries).collect::<Vec<_>>(), [3, 1, 2]);
        assert_eq!(
            trees[0],
            Mirror::open(fixture.path()).unwrap().tree_of(commit).unwrap()
        );
        assert_ne!(trees[0], trees[1]);
        assert_ne!(trees[0], trees[2]);
        let again = variants(
            fixture.path(),
            fixture.path(),
            commit,
            &wanted,
            &Policy::default(),
            2,
        )
        .unwrap();
        assert_eq!(made, again);
    }

    #[test]
    fn a_key_names_all_that_matters() {
        let commit = CommitSha::from_bytes([1; 20]);
        let key = |variant, policy: &Policy| input_key(commit, variant, policy);
        let plain = Policy::default();
        let lines = Policy {
            keep_lines: true,
            ..Policy::default()
        };
        assert_ne!(key(Variant::CodeOnly, &plain), key(Variant::NoContext, &plain));
        assert_ne!(key(Variant::CodeOnly, &plain), key(Variant::CodeOnly, &lines));
    }
}
