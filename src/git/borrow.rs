//! A repository of our own that reads a mirror's objects and keeps what is written: the mirror itself is never changed.

use std::fs;
use std::path::Path;

use git2::{Repository, RepositoryInitOptions};

use super::error::GitError;
use super::mirror::Mirror;

/// Makes a bare repository at `target`, unless it is there, whose objects are its own and those of `mirror` (git's
/// alternates).
///
/// # Errors
/// When there is no such mirror, or `target` cannot be written.
pub fn borrow(mirror: &Path, target: &Path) -> Result<(), GitError> {
    let write = |source| GitError::Write {
        path: target.to_owned(),
        source,
    };
    let objects = Mirror::open(mirror)?.path().join("objects");
    let objects = objects.canonicalize().map_err(write)?;
    if !target.join("HEAD").is_file() {
        // The user's template folder has no say here.
        let mut options = RepositoryInitOptions::new();
        options.bare(true).external_template(false);
        Repository::init_opts(target, &options)
            .map_err(GitError::library("make a repository for variants"))?;
    }
    let line = [objects.as_os_str().as_encoded_bytes(), b"\n"].concat();
    let info = target.join("objects/info");
    let alternates = info.join("alternates");
    if fs::read(&alternates).is_ok_and(|there| there == line) {
        return Ok(());
    }
    fs::create_dir_all(&info)
        .and_then(|()| fs::write(&alternates, &line))
        .map_err(write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::TreeObjects;
    use crate::git::fixture::{Fixture, files};

    /// Every file below a folder.
    fn count(folder: &Path) -> usize {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .map(|path| if path.is_dir() { count(&path) } else { 1 })
            .sum()
    }

    #[test]
    fn what_is_written_stays_out_of_the_mirror() {
        let mut fixture = Fixture::new();
        let commit = fixture.commit(
            &[],
            &files(&[("a.py", "x = 1\n"), ("b/c.py", "y = 2\n")]),
            "start",
        );
        let own = tempfile::tempdir().unwrap();
        let target = own.path().join("variants.git");
        let before = count(fixture.path());
        borrow(fixture.path(), &target).unwrap();
        borrow(fixture.path(), &target).unwrap();

        let mirror = Mirror::open(&target).unwrap();
        let mut objects = TreeObjects::default();
        for file in mirror.files(commit).unwrap() {
            objects.insert(file);
        }
        let whole = mirror.write_tree(&objects).unwrap();
        assert_eq!(whole, mirror.tree_of(commit).unwrap());
        objects.remove(&"b/c.py".into());
        let less = mirror.write_tree(&objects).unwrap();
        assert!(mirror.has_tree(less) && !Mirror::open(fixture.path()).unwrap().has_tree(less));
        assert_eq!(count(fixture.path()), before);
        assert!(borrow(&own.path().join("nowhere"), &target).is_err());
    }
}
