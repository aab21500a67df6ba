//! The refs of a mirror, and what tells one state of them from another.

use std::fmt::Write as _;

use super::error::MineError;
use crate::domain::hash::sha256_hex;
use crate::domain::ids::CommitSha;
use crate::git::mirror::{Mirror, OddRef, PullHead};
use crate::mine::roots::Named;

/// The refs of a mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refs {
    /// The default branch's name.
    pub branch: String,
    /// Its commit.
    pub commit: CommitSha,
    /// Every branch, tag and pull-request head by its full name, sorted.
    pub all: Vec<(String, CommitSha)>,
}

pub(super) fn short(mirror: &Mirror, prefix: &str) -> Result<Vec<Named>, MineError> {
    let refs = mirror.refs(prefix)?.into_iter();
    Ok(refs
        .map(|tip| (tip.name[prefix.len()..].to_owned(), tip.commit))
        .collect())
}

pub(super) fn all_refs(
    mirror: &Mirror,
    pulls: &[PullHead],
    odd: &[OddRef],
) -> Result<Vec<(String, CommitSha)>, MineError> {
    let mut all: Vec<(String, CommitSha)> = vec![];
    for prefix in ["refs/heads/", "refs/remotes/", "refs/tags/"] {
        all.extend(mirror.refs(prefix)?.into_iter().map(|tip| (tip.name, tip.commit)));
    }
    all.extend(
        pulls
            .iter()
            .map(|pull| (format!("refs/pull/{}/head", pull.number), pull.object)),
    );
    all.extend(odd.iter().map(|odd| (odd.name.clone(), odd.object)));
    all.sort();
    Ok(all)
}

pub(super) fn fingerprint(refs: &Refs) -> String {
    let mut text = format!("HEAD {}\n", refs.branch);
    for (name, commit) in &refs.all {
        let _ = writeln!(text, "{commit} {name}");
    }
    sha256_hex(text.as_bytes())
}
