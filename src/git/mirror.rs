//! A mirror opened for reading.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Once;

use git2::{ObjectType, Oid, Repository, Sort};
use jiff::Timestamp;

use super::error::GitError;
use crate::domain::ids::CommitSha;
use crate::domain::patch::EntryKind;
use crate::domain::path::RepoPath;

/// A git repository, opened for reading. One handle serves one thread; open another for another thread.
pub struct Mirror {
    pub(super) repo: Repository,
    path: PathBuf,
}

/// One file of a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeFile {
    /// Where.
    pub path: RepoPath,
    /// What kind of entry.
    pub entry: EntryKind,
    /// Whether a regular file is executable.
    pub executable: bool,
    /// Its object's name (for a submodule, the other repository's commit).
    pub object: CommitSha,
}

/// One ref and the commit it leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefTip {
    /// The full name (`refs/heads/main`); refs that are not UTF-8 are left out.
    pub name: String,
    /// The commit it leads to, through tag objects.
    pub commit: CommitSha,
}

/// The head of a pull request: `refs/pull/N/head`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PullHead {
    /// Its number.
    pub number: u32,
    /// The object that the ref names.
    pub object: CommitSha,
    /// What that object is.
    pub target: PullTarget,
}

/// What a pull request's ref leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PullTarget {
    /// A commit that the mirror holds.
    Commit,
    /// An object that the mirror does not hold.
    Missing,
    /// Something that no pull request can be: a tree, a blob, a tag.
    Other(&'static str),
}

/// A ref among the pull requests' that names none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OddRef {
    /// The full name; bytes that are not UTF-8 are replaced.
    pub name: String,
    /// The object that it leads to; all zeros when it leads to none.
    pub object: CommitSha,
    /// Why it names no pull request.
    pub why: &'static str,
}

pub(super) fn oid(sha: CommitSha) -> Oid {
    // 20 bytes are always an object name.
    Oid::from_bytes(sha.as_bytes()).unwrap_or(Oid::ZERO_SHA1)
}

pub(super) fn sha(oid: Oid) -> CommitSha {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(oid.as_bytes());
    CommitSha::from_bytes(bytes)
}

pub(super) fn entry_kind(mode: i32) -> EntryKind {
    match mode & 0o170_000 {
        0o120_000 => EntryKind::Symlink,
        0o160_000 => EntryKind::Submodule,
        _ => EntryKind::File,
    }
}

impl Mirror {
    /// Opens a bare mirror, or the repository of a work tree. No `config` file is needed.
    ///
    /// # Errors
    /// When there is no repository at `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, GitError> {
        // As git itself does: an object's hash is checked when it comes in, not each time that it is read. (A pack's bytes
        // have checksums of their own.)
        static AS_GIT: Once = Once::new();
        AS_GIT.call_once(|| {
            git2::opts::strict_hash_verification(false);
            git2::opts::strict_object_creation(false);
        });
        let path = path.as_ref();
        let repo = Repository::open_bare(path)
            .or_else(|_| Repository::open_bare(path.join(".git")))
            .or_else(|_| Repository::open(path))
            .map_err(|source| GitError::Open {
                path: path.to_owned(),
                source,
            })?;
        let path = repo.path().to_owned();
        Ok(Self { repo, path })
    }

    /// The repository's own folder: the one with `HEAD` and `objects`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The commit that a branch, a tag or a (perhaps abbreviated) object name leads to.
    ///
    /// # Errors
    /// When nothing has that name, or something else than a commit.
    pub fn resolve(&self, name: &str) -> Result<CommitSha, GitError> {
        let (name, path) = (name.to_owned(), self.path.clone());
        let Ok(object) = self.repo.revparse_single(&name) else {
            return Err(GitError::Unresolved { name, path });
        };
        match object.peel_to_commit() {
            Ok(commit) => Ok(sha(commit.id())),
            Err(_) => Err(GitError::NoCommit {
                name,
                path,
                found: object.kind().map_or("broken object", |kind| kind.str()),
            }),
        }
    }

    /// The branch `HEAD` names (`main`), if it is there.
    pub fn default_branch(&self) -> Option<String> {
        let head = self.repo.find_reference("HEAD").ok()?;
        let target = head.symbolic_target().ok().flatten()?.to_owned();
        self.repo.find_reference(&target).ok()?;
        target.strip_prefix("refs/heads/").map(str::to_owned)
    }

    /// Every ref with a name that starts with `prefix` and leads to a commit, sorted by name.
    ///
    /// # Errors
    /// When the refs cannot be listed.
    pub fn refs(&self, prefix: &str) -> Result<Vec<RefTip>, GitError> {
        let mut tips = vec![];
        self.each_ref(prefix, |name, reference| {
            // A ref whose object a partial or shallow mirror lacks names no commit here.
            if let Ok(commit) = reference.peel_to_commit() {
                tips.push(RefTip {
                    name: name.to_owned(),
                    commit: sha(commit.id()),
                });
            }
        })?;
        tips.sort();
        Ok(tips)
    }

    /// Every pull request's head, by number, and the refs beside them that name none, by name. (`refs/pull/N/merge` is a
    /// forge's own try at a merge and neither.)
    ///
    /// # Errors
    /// When the refs cannot be listed.
    pub fn pull_heads(&self) -> Result<(Vec<PullHead>, Vec<OddRef>), GitError> {
        let list = || -> Result<_, git2::Error> {
            let (mut heads, mut odd) = (vec![], vec![]);
            for reference in self.repo.references_glob("refs/pull/*")? {
                let reference = reference?;
                let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
                let why = match (pull_ref(&name), reference.target()) {
                    (PullRef::Merge, _) => continue,
                    (PullRef::Head(number), Some(object)) => {
                        heads.push(PullHead {
                            number,
                            object: sha(object),
                            target: self.pull_target(object),
                        });
                        continue;
                    }
                    (PullRef::Head(_), None) => "it leads to another ref",
                    (PullRef::Odd(why), _) => why,
                };
                let object = reference.resolve().ok().and_then(|direct| direct.target());
                odd.push(OddRef {
                    name,
                    object: sha(object.unwrap_or(Oid::ZERO_SHA1)),
                    why,
                });
            }
            heads.sort();
            odd.sort();
            Ok((heads, odd))
        };
        list().map_err(GitError::library("list the refs"))
    }

    fn pull_target(&self, object: Oid) -> PullTarget {
        let found = self.repo.find_object(object, None);
        match found.ok().and_then(|found| found.kind()) {
            Some(ObjectType::Commit) => PullTarget::Commit,
            Some(ObjectType::Tree) => PullTarget::Other("a tree"),
            Some(ObjectType::Blob) => PullTarget::Other("a blob"),
            Some(_) => PullTarget::Other("a tag"),
            None => PullTarget::Missing,
        }
    }

    fn each_ref(
        &self,
        prefix: &str,
        mut each: impl FnMut(&str, &git2::Reference<'_>),
    ) -> Result<(), GitError> {
        let mut walk = || -> Result<(), git2::Error> {
            for reference in self.repo.references_glob(&format!("{prefix}*"))? {
                let reference = reference?;
                if let Ok(name) = reference.name() {
                    each(name, &reference);
                }
            }
            Ok(())
        };
        walk().map_err(GitError::library("list the refs"))
    }

    /// A commit's committer date.
    ///
    /// # Errors
    /// When the commit is not in the mirror, or its date is beyond what a calendar holds.
    pub fn committed_at(&self, commit: CommitSha) -> Result<Timestamp, GitError> {
        let found = self.commit(commit)?;
        Timestamp::from_second(found.committer().when().seconds()).map_err(|error| GitError::Commit {
            commit,
            source: git2::Error::from_str(&error.to_string()),
        })
    }

    pub(super) fn commit(&self, commit: CommitSha) -> Result<git2::Commit<'_>, GitError> {
        self.repo
            .find_commit(oid(commit))
            .map_err(|source| GitError::Commit { commit, source })
    }

    pub(super) fn tree(&self, commit: CommitSha) -> Result<git2::Tree<'_>, GitError> {
        self.commit(commit)?
            .tree()
            .map_err(|source| GitError::Commit { commit, source })
    }

    /// The first of `wanted` in the history of a commit, itself included, the youngest first.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn first_at_or_below(
        &self,
        commit: CommitSha,
        wanted: &BTreeSet<CommitSha>,
    ) -> Result<Option<CommitSha>, GitError> {
        let failed = |source| GitError::Commit { commit, source };
        let mut walk = self.repo.revwalk().map_err(failed)?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME).map_err(failed)?;
        walk.push(oid(commit)).map_err(failed)?;
        for next in walk {
            let next = sha(next.map_err(failed)?);
            if wanted.contains(&next) {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// Every file of a commit, sorted as git sorts them.
    ///
    /// # Errors
    /// When the commit or one of its trees is not in the mirror.
    pub fn files(&self, commit: CommitSha) -> Result<Vec<TreeFile>, GitError> {
        let mut files = vec![];
        let mut folders = vec![(Vec::new(), self.tree(commit)?)];
        while let Some((prefix, tree)) = folders.pop() {
            for entry in &tree {
                let path = join(&prefix, entry.name_bytes());
                if entry.kind() == Some(ObjectType::Tree) {
                    let inner = self
                        .repo
                        .find_tree(entry.id())
                        .map_err(|source| GitError::Commit { commit, source })?;
                    folders.push((path, inner));
                } else {
                    files.push(TreeFile {
                        path: RepoPath::from(path.as_slice()),
                        entry: entry_kind(entry.filemode_raw()),
                        executable: entry.filemode_raw() == 0o100_755,
                        object: sha(entry.id()),
                    });
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// A file's bytes at a commit (a symbolic link's target); `None` when the path is absent, a folder or a submodule.
    ///
    /// # Errors
    /// When the commit is not in the mirror, or the content of a file that is there is not.
    pub fn read(&self, commit: CommitSha, path: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
        let mut tree = self.tree(commit)?;
        let mut parts = path.components().peekable();
        let failed = |source| GitError::File {
            commit,
            path: path.clone(),
            source,
        };
        while let Some(part) = parts.next() {
            let Some((id, kind)) = find(&tree, part) else {
                return Ok(None);
            };
            match (kind, parts.peek()) {
                (Some(ObjectType::Blob), None) => {
                    return self
                        .repo
                        .find_blob(id)
                        .map(|blob| Some(blob.content().to_vec()))
                        .map_err(failed);
                }
                (Some(ObjectType::Tree), Some(_)) => tree = self.repo.find_tree(id).map_err(failed)?,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// As [`Mirror::read`], but symbolic links on the way, and at its end, are followed inside the tree; `None`, too, when
    /// one leads out of it.
    ///
    /// # Errors
    /// As for [`Mirror::read`].
    pub fn read_through(&self, commit: CommitSha, path: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
        let mut left: Vec<Vec<u8>> = path.components().rev().map(<[u8]>::to_vec).collect();
        let mut trees = vec![self.tree(commit)?];
        let failed = |source| GitError::File {
            commit,
            path: path.clone(),
            source,
        };
        let mut links = 0;
        while let Some(part) = left.pop() {
            let Some(tree) = trees.last() else { return Ok(None) };
            if matches!(part.as_slice(), b"" | b".") {
                continue;
            }
            if part == b".." {
                trees.pop();
                continue;
            }
            let found = tree.iter().find(|entry| entry.name_bytes() == part);
            let found = found.map(|entry| (entry_kind(entry.filemode_raw()), entry.kind(), entry.id()));
            let Some((entry, kind, id)) = found else {
                return Ok(None);
            };
            match (entry, kind) {
                (EntryKind::Symlink, _) => {
                    let target = self.repo.find_blob(id).map_err(failed)?.content().to_vec();
                    links += 1;
                    if links > MOST_LINKS || target.starts_with(b"/") {
                        return Ok(None);
                    }
                    left.extend(target.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec));
                }
                (_, Some(ObjectType::Tree)) if !left.is_empty() => {
                    let inner = self.repo.find_tree(id).map_err(failed)?;
                    trees.push(inner);
                }
                (EntryKind::File, Some(ObjectType::Blob)) if left.is_empty() => {
                    let blob = self.repo.find_blob(id).map_err(failed)?;
                    return Ok(Some(blob.content().to_vec()));
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}

enum PullRef {
    Head(u32),
    Merge,
    Odd(&'static str),
}

/// What a name below `refs/pull/` says: as a forge writes it, so `007` is not 7.
fn pull_ref(name: &str) -> PullRef {
    let rest = name.strip_prefix("refs/pull/").unwrap_or(name);
    let Some((digits, kind @ ("head" | "merge"))) = rest.split_once('/') else {
        return PullRef::Odd("it is not `refs/pull/N/head`");
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return PullRef::Odd("its number is none");
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return PullRef::Odd("its number begins with a zero, as no forge writes it");
    }
    match digits.parse() {
        Ok(number) if kind == "head" => PullRef::Head(number),
        Ok(_) => PullRef::Merge,
        Err(_) => PullRef::Odd("its number is greater than any that a forge gives"),
    }
}

/// How many symbolic links are followed for one path, as Linux has it.
const MOST_LINKS: u32 = 40;

fn find(tree: &git2::Tree<'_>, name: &[u8]) -> Option<(Oid, Option<ObjectType>)> {
    tree.iter()
        .find(|entry| entry.name_bytes() == name)
        .map(|entry| (entry.id(), entry.kind()))
}

pub(super) fn join(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    if prefix.is_empty() {
        name.to_vec()
    } else {
        [prefix, b"/", name].concat()
    }
}
