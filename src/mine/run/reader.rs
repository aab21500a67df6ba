//! Git as mining's source: bulk comparisons, spread over processes.

use std::path::{Path, PathBuf};

use crate::domain::history::TreeChange;
use crate::domain::ids::CommitSha;
use crate::git::GitError;
use crate::git::bulk::{self, Depth, TreeDiff};
use crate::mine::source::{Compared, FullDiff, Source, TreePair};

/// Fewer pairs than this are not worth another process.
const SHARE: usize = 256;

/// A mirror's objects.
pub(super) struct Reader {
    git_dir: PathBuf,
    jobs: usize,
}

impl Reader {
    pub(super) fn new(git_dir: &Path, jobs: usize) -> Self {
        Self {
            git_dir: git_dir.to_owned(),
            jobs: jobs.max(1),
        }
    }

    fn compare(&self, pairs: &[TreePair], depth: Depth) -> Result<Vec<Compared<TreeDiff>>, GitError> {
        let share = pairs.len().div_ceil(self.jobs).max(SHARE);
        let one = |pairs: &[TreePair]| {
            let mut found = Vec::with_capacity(pairs.len());
            bulk::diffs(&self.git_dir, pairs, depth, |_, compared| found.push(compared))?;
            Ok(found)
        };
        let parts: Vec<&[TreePair]> = pairs.chunks(share).collect();
        let [first, others @ ..] = parts.as_slice() else {
            return Ok(vec![]);
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = others.iter().map(|part| scope.spawn(move || one(part))).collect();
            let mut found = one(first)?;
            for other in others {
                let part = other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                found.extend(part?);
            }
            Ok(found)
        })
    }
}

impl Source for Reader {
    type Error = GitError;

    fn entries(&self, pairs: &[TreePair]) -> Result<Vec<Compared<Vec<TreeChange>>>, GitError> {
        let found = self.compare(pairs, Depth::Entries)?;
        Ok(found
            .into_iter()
            .map(|compared| compared.map(|diff| diff.changes))
            .collect())
    }

    fn diffs(&self, pairs: &[TreePair], limit: usize) -> Result<Vec<Compared<FullDiff>>, GitError> {
        let found = self.compare(pairs, Depth::Diff { limit })?;
        let full = |diff: TreeDiff| FullDiff {
            changes: diff.changes,
            text: diff.text,
        };
        Ok(found.into_iter().map(|compared| compared.map(full)).collect())
    }

    fn contents(&self, objects: &[CommitSha], limit: usize) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        bulk::contents(&self.git_dir, objects, limit)
    }
}
