//! A work tree's own repository: one root commit, the tree it holds, and nothing else.
//!
//! An instance must not show what came after it. Its repository has one commit with a fixed author, date and message and
//! the very tree of the base commit, as loose objects: no other object, no pack, no alternate, no other ref, no tag, no
//! remote, no reflog. [`strangers`] reads the store and says what is against that.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository};

use super::error::GitError;
use super::mirror::{Mirror, oid, sha};
use super::program::{Settings, git, succeed};
use crate::domain::ids::CommitSha;
use crate::domain::path::RepoPath;

/// The repository's settings: none that name anything outside, and bytes as they are.
const CONFIG: &str =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tautocrlf = false\n";
/// Outranks every `.gitattributes`: a file's bytes are its object's.
const ATTRIBUTES: &str = "* -text !eol !crlf -ident !filter !working-tree-encoding\n";
const HEAD: &str = "ref: refs/heads/main\n";
/// Who made the commit, and when: the same for every instance.
const BY: &str = "quarry <quarry@localhost> 946684800 +0000";
const MESSAGE: &str = "base\n";

fn commit_bytes(tree: Oid) -> String {
    format!("tree {tree}\nauthor {BY}\ncommitter {BY}\n\n{MESSAGE}")
}

/// Makes the repository of `work_tree`, which holds the files of `commit` as [`Mirror::export`] wrote them, and gives its
/// one commit. `products` are files beside them that its own exclude list passes over.
///
/// # Errors
/// When `mirror` lacks an object, or the folder cannot be written.
pub fn seal(
    mirror: &Mirror,
    commit: CommitSha,
    work_tree: &Path,
    products: &[RepoPath],
) -> Result<CommitSha, GitError> {
    let place = work_tree.join(".git");
    let write = |path: &str, text: &[u8]| {
        let path = place.join(path);
        let put = || {
            fs::create_dir_all(path.parent().unwrap_or(&place))?;
            fs::write(&path, text)
        };
        put().map_err(|source| GitError::Write {
            path: path.clone(),
            source,
        })
    };
    write("HEAD", HEAD.as_bytes())?;
    write("config", CONFIG.as_bytes())?;
    write("info/attributes", ATTRIBUTES.as_bytes())?;
    write("info/exclude", &excluded(products))?;
    for folder in ["objects", "refs/heads"] {
        fs::create_dir_all(place.join(folder)).map_err(|source| GitError::Write {
            path: place.join(folder),
            source,
        })?;
    }
    let tree = mirror.tree(commit)?.id();
    let root = fill(mirror, tree, &place).map_err(GitError::library("copy a commit's objects"))?;
    write("refs/heads/main", format!("{root}\n").as_bytes())?;
    Ok(sha(root))
}

/// Copies a tree's objects, makes the commit of it, and an index that holds it.
fn fill(mirror: &Mirror, tree: Oid, place: &Path) -> Result<Oid, git2::Error> {
    let repo = Repository::open_bare(place)?;
    let (from, to) = (mirror.repo.odb()?, repo.odb()?);
    for (object, _) in reachable(&mirror.repo, tree)? {
        let object = from.read(object)?;
        to.write(object.kind(), object.data())?;
    }
    let root = to.write(ObjectType::Commit, commit_bytes(tree).as_bytes())?;
    let mut index = git2::Index::open(&place.join("index"))?;
    index.read_tree(&repo.find_tree(tree)?)?;
    index.write()?;
    Ok(root)
}

/// A tree and everything below it. A submodule's commit is no object of this repository.
fn reachable(repo: &Repository, tree: Oid) -> Result<BTreeSet<(Oid, bool)>, git2::Error> {
    let mut found = BTreeSet::from([(tree, true)]);
    let mut trees = vec![tree];
    while let Some(next) = trees.pop() {
        for entry in &repo.find_tree(next)? {
            let is_tree = match entry.kind() {
                Some(ObjectType::Tree) => true,
                Some(ObjectType::Commit) => continue,
                _ => false,
            };
            if found.insert((entry.id(), is_tree)) && is_tree {
                trees.push(entry.id());
            }
        }
    }
    Ok(found)
}

/// The exclude list that passes over just these files.
fn excluded(products: &[RepoPath]) -> Vec<u8> {
    let mut text = Vec::new();
    for path in products {
        text.push(b'/');
        for byte in path.as_bytes() {
            match byte {
                // A line cannot hold one; any other sign there would be as good.
                b'\n' => text.push(b'?'),
                b'*' | b'?' | b'[' | b']' | b'\\' | b'!' | b'#' | b' ' | b'\r' => {
                    text.extend([b'\\', *byte]);
                }
                byte => text.push(*byte),
            }
        }
        text.push(b'\n');
    }
    text
}

/// What is in the repository of `work_tree`, or different in its files, that [`seal`] did not put there; empty when it is
/// sealed. A sentence each.
///
/// # Errors
/// When the folder cannot be read.
pub fn strangers(work_tree: &Path) -> Result<Vec<String>, GitError> {
    let place = work_tree.join(".git");
    let read = |path: &Path| {
        fs::read(path).map_err(|source| GitError::Write {
            path: path.to_owned(),
            source,
        })
    };
    let mut found = Vec::new();
    for (name, expected) in [
        ("HEAD", HEAD),
        ("config", CONFIG),
        ("info/attributes", ATTRIBUTES),
    ] {
        if read(&place.join(name))? != expected.as_bytes() {
            found.push(format!("`.git/{name}` says something else"));
        }
    }
    let main = read(&place.join("refs/heads/main"))?;
    let root = Oid::from_str(String::from_utf8_lossy(&main).trim())
        .map_err(GitError::library("read the commit of a sealed repository"))?;
    let mut known = objects_of(&place, root, &mut found)
        .map_err(GitError::library("read the objects of a sealed repository"))?;
    for path in files(&place)? {
        let name = path.strip_prefix(&place).unwrap_or(&path);
        let is_known = match object_name(name) {
            Some(object) => known.remove(&object),
            None => [
                "HEAD",
                "config",
                "index",
                "info/attributes",
                "info/exclude",
                "refs/heads/main",
            ]
            .iter()
            .any(|file| name == Path::new(file)),
        };
        if !is_known {
            found.push(format!("`.git/{}` does not belong there", name.display()));
        }
    }
    found.extend(
        known
            .iter()
            .map(|object| format!("the object {object} is missing")),
    );
    let mut status = git(Settings::Isolated);
    status
        .current_dir(work_tree)
        .args(["status", "--porcelain", "-z", "--untracked-files=all"]);
    let status = succeed(status, "status", &[])?;
    for entry in status.split(|byte| *byte == 0).filter(|entry| entry.len() > 3) {
        let path = RepoPath::from(&entry[3..]);
        found.push(format!("`{path}` is not as it was committed"));
    }
    Ok(found)
}

/// The objects that the root commit needs, itself among them. What is wrong with it is told.
fn objects_of(place: &Path, root: Oid, found: &mut Vec<String>) -> Result<BTreeSet<Oid>, git2::Error> {
    let repo = Repository::open_bare(place)?;
    let odb = repo.odb()?;
    let commit = odb.read(root)?;
    let tree = repo.find_commit(root)?.tree_id();
    if commit.data() != commit_bytes(tree).as_bytes() {
        found.push(format!("the commit {root} is none of ours"));
    }
    let mut objects: BTreeSet<Oid> = reachable(&repo, tree)?
        .into_iter()
        .map(|(object, _)| object)
        .collect();
    objects.insert(root);
    Ok(objects)
}

/// The loose object that a file below `.git` is.
fn object_name(name: &Path) -> Option<Oid> {
    let name = name.strip_prefix("objects").ok()?.to_str()?;
    let (folder, rest) = name.split_once('/')?;
    let is_loose = folder.len() == 2 && rest.len() == 38;
    is_loose.then(|| Oid::from_str(&format!("{folder}{rest}")).ok())?
}

fn files(root: &Path) -> Result<Vec<PathBuf>, GitError> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let wrong = |source| GitError::Write {
            path: folder.clone(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            if entry.file_type().map_err(wrong)?.is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

impl Mirror {
    /// The name of the commit that [`seal`] makes of this one; nothing is written.
    ///
    /// # Errors
    /// When the mirror lacks the commit.
    pub fn sealed_name(&self, commit: CommitSha) -> Result<CommitSha, GitError> {
        let tree = self.tree_of(commit)?;
        Oid::hash_object(ObjectType::Commit, commit_bytes(oid(tree)).as_bytes())
            .map(sha)
            .map_err(GitError::library("name a commit"))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;
    use crate::git::fixture::{EXEC, FILE, Fixture, LINK, MODULE};

    fn sealed(products: &[&str]) -> (Fixture, tempfile::TempDir, CommitSha) {
        let mut fixture = Fixture::new();
        let first = fixture.commit(&[], &crate::git::fixture::files(&[("old.py", "secret\n")]), "old");
        let files = [
            (&b"a.py"[..], FILE, &b"x = 1\n"[..]),
            (b"crlf.txt", FILE, b"one\r\ntwo\r\n"),
            (b"caf\xe9/run", EXEC, b"#!/bin/sh\n"),
            (b"link", LINK, b"a.py"),
            (b"module", MODULE, &[7; 20]),
            (b".gitattributes", FILE, b"* text=auto eol=lf\n*.py ident\n"),
            (b".gitignore", FILE, b"*.so\n"),
        ];
        let files = files.map(|(path, mode, content)| (path.to_vec(), (mode, content.to_vec())));
        let commit = fixture.commit(&[first], &files.into(), "new");
        let folder = tempfile::tempdir().unwrap();
        let mirror = Mirror::open(fixture.path()).unwrap();
        mirror.export(commit, folder.path()).unwrap();
        let products: Vec<RepoPath> = products.iter().map(|path| RepoPath::from(*path)).collect();
        for path in &products {
            let path = folder.path().join(OsStr::from_bytes(path.as_bytes()));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "made").unwrap();
        }
        let root = seal(&mirror, commit, folder.path(), &products).unwrap();
        assert_eq!(mirror.sealed_name(commit).unwrap(), root);
        (fixture, folder, root)
    }

    #[test]
    fn one_commit_and_its_tree_are_all_there_is() {
        let (fixture, folder, root) = sealed(&["a.egg-info/PKG-INFO", "fast.so", "odd [1]*? .txt"]);
        assert_eq!(strangers(folder.path()).unwrap(), [""; 0]);
        let mirror = Mirror::open(folder.path()).unwrap();
        assert_eq!(mirror.resolve("HEAD").unwrap(), root);
        let head = Mirror::open(fixture.path()).unwrap();
        let newest = head.resolve("main");
        assert!(newest.is_err() || newest.unwrap() != root);
        assert_eq!(sealed(&[]).2, root, "the same tree has the same name");
    }

    #[test]
    fn whatever_else_is_there_is_told() {
        let (fixture, folder, root) = sealed(&[]);
        let place = folder.path().join(".git");
        let told = |what: &str| {
            let found = strangers(folder.path()).unwrap();
            assert!(found.len() == 1 && found[0].contains(what), "{what}: {found:?}");
        };
        let old = fixture.blob(b"secret\n").to_string();
        let object = format!("objects/{}/{}", &old[..2], &old[2..]);
        for (name, bytes) in [
            ("packed-refs", format!("{root} refs/tags/v1\n").into_bytes()),
            ("refs/tags/v2", format!("{root}\n").into_bytes()),
            ("logs/HEAD", b"x".to_vec()),
            ("objects/pack/pack-1.pack", b"PACK".to_vec()),
            ("objects/info/alternates", b"/nowhere\n".to_vec()),
            ("FETCH_HEAD", b"x".to_vec()),
            (&*object, fs::read(fixture.path().join(&object)).unwrap()),
        ] {
            let path = place.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, bytes).unwrap();
            told(name);
            fs::remove_file(&path).unwrap();
        }
        let remote = format!("{CONFIG}[remote \"origin\"]\n\turl = https://example.org/a.git\n");
        fs::write(place.join("config"), remote).unwrap();
        told("config");
        fs::write(place.join("config"), CONFIG).unwrap();
        fs::write(folder.path().join("a.py"), "x = 2\n").unwrap();
        told("a.py");
        fs::write(folder.path().join("a.py"), "x = 1\n").unwrap();
        fs::write(folder.path().join("new.txt"), "").unwrap();
        told("new.txt");
    }
}
