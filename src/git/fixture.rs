//! Small repositories for tests, made with fixed authors and dates so that their object names never change.

use std::collections::BTreeMap;
use std::path::Path;

use git2::{Index, IndexEntry, IndexTime, Oid, Repository, Signature, Time};
use tempfile::TempDir;

use super::mirror::{oid, sha};
use crate::domain::ids::CommitSha;

pub(crate) const FILE: u32 = 0o100_644;
pub(crate) const EXEC: u32 = 0o100_755;
pub(crate) const LINK: u32 = 0o120_000;
pub(crate) const MODULE: u32 = 0o160_000;

/// Path → mode and content (a submodule's content is its commit's 20 bytes).
pub(crate) type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

pub(crate) fn files(list: &[(&str, &str)]) -> Files {
    list.iter()
        .map(|(path, text)| (path.as_bytes().to_vec(), (FILE, text.as_bytes().to_vec())))
        .collect()
}

pub(crate) struct Fixture {
    pub(crate) dir: TempDir,
    repo: Repository,
    clock: i64,
    author: String,
    committer: String,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(dir.path()).unwrap();
        repo.set_head("refs/heads/main").unwrap();
        Self {
            dir,
            repo,
            clock: 1_600_000_000,
            author: "Ada".to_owned(),
            committer: "Ada".to_owned(),
        }
    }

    /// Sets who writes the next commits, and who puts them there.
    pub(crate) fn by(&mut self, author: &str, committer: &str) {
        (self.author, self.committer) = (author.to_owned(), committer.to_owned());
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn blob(&self, content: &[u8]) -> Oid {
        self.repo.blob(content).unwrap()
    }

    pub(crate) fn tree(&self, files: &Files) -> Oid {
        let mut index = Index::new().unwrap();
        for (path, (mode, content)) in files {
            let id = if *mode == MODULE {
                Oid::from_bytes(content).unwrap()
            } else {
                self.blob(content)
            };
            let zero = IndexTime::new(0, 0);
            index
                .add(&IndexEntry {
                    ctime: zero,
                    mtime: zero,
                    dev: 0,
                    ino: 0,
                    mode: *mode,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    id,
                    flags: 0,
                    flags_extended: 0,
                    path: path.clone(),
                })
                .unwrap();
        }
        index.write_tree_to(&self.repo).unwrap()
    }

    /// A commit an hour after the last one.
    pub(crate) fn commit(&mut self, parents: &[CommitSha], files: &Files, message: &str) -> CommitSha {
        self.clock += 3600;
        let authored = self.clock;
        self.commit_authored(parents, files, message, authored)
    }

    /// A commit an hour after the last one, written by its author at another time (as a rebase leaves it).
    pub(crate) fn commit_authored(
        &mut self,
        parents: &[CommitSha],
        files: &Files,
        message: &str,
        authored: i64,
    ) -> CommitSha {
        self.clock += 3600;
        let tree = self.repo.find_tree(self.tree(files)).unwrap();
        let author = Signature::new(&self.author, &address(&self.author), &Time::new(authored, 0)).unwrap();
        let committer = Signature::new(
            &self.committer,
            &address(&self.committer),
            &Time::new(self.clock, 0),
        )
        .unwrap();
        let parents: Vec<_> = parents
            .iter()
            .map(|parent| self.repo.find_commit(oid(*parent)).unwrap())
            .collect();
        let parents: Vec<_> = parents.iter().collect();
        sha(self
            .repo
            .commit(None, &author, &committer, message, &tree, &parents)
            .unwrap())
    }

    pub(crate) fn set_ref(&self, name: &str, commit: CommitSha) {
        self.repo.reference(name, oid(commit), true, "test").unwrap();
    }

    pub(crate) fn remove_ref(&self, name: &str) {
        self.repo.find_reference(name).unwrap().delete().unwrap();
    }

    /// A ref to an object that is not there.
    pub(crate) fn set_broken_ref(&self, name: &str, object: CommitSha) {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{object}\n")).unwrap();
    }

    /// When the last commit was put there.
    pub(crate) fn now(&self) -> i64 {
        self.clock
    }

    pub(crate) fn raw_object(&self, kind: git2::ObjectType, bytes: &[u8]) -> Oid {
        self.repo.odb().unwrap().write(kind, bytes).unwrap()
    }

    pub(crate) fn commit_of_tree(&self, tree: Oid) -> CommitSha {
        let text = format!(
            "tree {tree}\nauthor A <a@b> 1600000000 +0000\ncommitter A <a@b> 1600000000 +0000\n\nraw\n"
        );
        sha(self.raw_object(git2::ObjectType::Commit, text.as_bytes()))
    }
}

fn address(name: &str) -> String {
    format!("{}@example.org", name.to_lowercase().replace(' ', "."))
}
