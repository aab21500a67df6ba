//! A small repository in which every pull request lands, or does not, by another road.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Batch, MineError, Read, Reading, read_mirror};
use crate::domain::candidate::Candidate;
use crate::domain::decision::Decision;
use crate::domain::ids::{CommitSha, RepoName};
use crate::git::fixture::{FILE, Files, Fixture};
use crate::mine::plan::{Known, Page};
use crate::mine::sides::Limits;

pub(super) struct Story {
    pub(super) fixture: Fixture,
    pub(super) main: CommitSha,
    pub(super) files: Files,
}

/// Thirty lines with their numbers.
pub(super) fn thirty(name: &str) -> String {
    (1..=30)
        .map(|line| format!("{name} {line}\n"))
        .collect::<Vec<_>>()
        .concat()
}

/// The files with one line of one file replaced.
pub(super) fn edited(files: &Files, path: &str, line: usize, text: &str) -> Files {
    let mut files = files.clone();
    let (_, content) = files.get_mut(path.as_bytes()).unwrap();
    let old = String::from_utf8(content.clone()).unwrap();
    let lines: Vec<&str> = old
        .lines()
        .enumerate()
        .map(|(at, old)| if at + 1 == line { text } else { old })
        .collect();
    *content = (lines.join("\n") + "\n").into_bytes();
    files
}

impl Story {
    pub(super) fn new() -> Self {
        let mut fixture = Fixture::new();
        let mut files = Files::new();
        for name in ["src/a.py", "src/b.py", "src/c.py", "tests/test_a.py"] {
            files.insert(name.as_bytes().to_vec(), (FILE, thirty(name).into_bytes()));
        }
        fixture.by("Ivy", "Ivy");
        let main = fixture.commit(&[], &files, "Start");
        fixture.set_ref("refs/tags/v1.0", main);
        Self { fixture, main, files }
    }

    /// A contributor's commit.
    pub(super) fn work(
        &mut self,
        author: &str,
        parent: CommitSha,
        files: &Files,
        message: &str,
    ) -> CommitSha {
        self.fixture.by(author, author);
        self.fixture.commit(&[parent], files, message)
    }

    /// The head of a pull request.
    pub(super) fn open(&self, number: u32, head: CommitSha) {
        self.fixture.set_ref(&format!("refs/pull/{number}/head"), head);
    }

    /// A commit on the main branch, by the button or by hand.
    pub(super) fn land(&mut self, author: &str, committer: &str, files: Files, message: &str) -> CommitSha {
        let written = self.fixture.now() + 3600;
        self.land_written(author, committer, files, message, written)
    }

    pub(super) fn land_written(
        &mut self,
        author: &str,
        committer: &str,
        files: Files,
        message: &str,
        written: i64,
    ) -> CommitSha {
        self.fixture.by(author, committer);
        self.main = self
            .fixture
            .commit_authored(&[self.main], &files, message, written);
        self.files = files;
        self.main
    }

    /// A merge into the main branch.
    pub(super) fn merge(&mut self, by: &str, heads: &[CommitSha], files: Files, message: &str) -> CommitSha {
        self.fixture.by(by, by);
        let parents: Vec<CommitSha> = std::iter::once(self.main).chain(heads.iter().copied()).collect();
        self.main = self.fixture.commit(&parents, &files, message);
        self.files = files;
        self.main
    }

    pub(super) fn read(&self) -> Told {
        self.fixture.set_ref("refs/heads/main", self.main);
        read(self.fixture.path(), &Known::default(), Limits::default()).unwrap()
    }
}

/// What a reading told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) candidates: BTreeMap<u32, Candidate>,
    pub(super) decisions: BTreeMap<u32, Decision>,
    pub(super) pages: Vec<Page>,
    pub(super) diffs: BTreeMap<String, Vec<u8>>,
    pub(super) read: Option<Read>,
}

impl Told {
    pub(super) fn diff(&self, number: u32) -> &[u8] {
        &self.diffs[self.candidates[&number].diff.as_str()]
    }

    /// One line a pull request.
    pub(super) fn lines(&self) -> String {
        let mut lines: BTreeMap<u32, String> = BTreeMap::new();
        for (number, candidate) in &self.candidates {
            let word = |value: serde_json::Value| value.as_str().unwrap().to_owned();
            let merge = &candidate.merge;
            let kind = word(serde_json::to_value(merge.kind).unwrap());
            let evidence: Vec<String> = merge
                .evidence
                .iter()
                .map(|evidence| word(serde_json::to_value(evidence).unwrap()))
                .collect();
            let source = word(serde_json::to_value(candidate.diff_source).unwrap());
            lines.insert(
                *number,
                format!("{kind} on {} by {}; {source}", merge.branch, evidence.join(", ")),
            );
        }
        for (number, decision) in &self.decisions {
            assert!(
                lines.insert(*number, decision.rule.to_string()).is_none(),
                "{number} has two answers"
            );
        }
        lines
            .iter()
            .map(|(number, line)| format!("{number}: {line}\n"))
            .collect::<Vec<_>>()
            .concat()
    }
}

pub(super) fn repo() -> RepoName {
    "ada/lines".parse().unwrap()
}

pub(super) fn read(mirror: &Path, known: &Known, limits: Limits) -> Result<Told, MineError> {
    let diffs = std::sync::Mutex::new(BTreeMap::new());
    let mut told = Told::default();
    let repo = repo();
    let reading = Reading {
        mirror,
        repo: &repo,
        limits,
        jobs: 2,
        known,
        keep: &|diff| {
            let id = crate::domain::ids::BlobId::of(diff);
            diffs.lock().unwrap().insert(id.to_string(), diff.to_vec());
            Ok(())
        },
        stop: &|| false,
    };
    let mut take = |batch: Batch| {
        told.candidates.extend(
            batch
                .candidates
                .into_iter()
                .map(|candidate| (candidate.id.number, candidate)),
        );
        told.decisions.extend(
            batch
                .decisions
                .into_iter()
                .map(|decision| (decision.candidate.number, decision)),
        );
        told.pages.push(batch.page);
        Ok(())
    };
    let done = read_mirror(&reading, &mut |_| {}, &mut take)?;
    told.read = Some(done);
    told.diffs = diffs.into_inner().unwrap();
    Ok(told)
}
