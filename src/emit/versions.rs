//! A version's folder: it appears whole or not at all, and is written once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::assemble::{Files, MANIFEST};

/// A version that cannot be put in its place.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// It is there already, with other bytes.
    #[error("emit into `{folder}`: this version was emitted before, and differs in {}", names(.differing))]
    Released {
        /// The version's folder.
        folder: Utf8PathBuf,
        /// Files that differ, are new or are missing.
        differing: Vec<String>,
    },
    /// A name that must not become a folder.
    #[error("emit `{name}`: a dataset's name and version are letters, digits, `-`, `_` and `.`")]
    Name {
        /// The name.
        name: String,
    },
    /// A link, a pipe or a device where a version has files.
    #[error("read the version's file `{path}`: it is no regular file")]
    Stranger {
        /// What is there.
        path: Utf8PathBuf,
    },
    /// The file system refused.
    #[error("use `{path}`: {source}")]
    Io {
        /// The file or folder.
        path: Utf8PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
}

fn names(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(shown.len());
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{} and {more} more", shown.join(", "))
    }
}

impl VersionError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Released { folder, .. } => vec![
                "bump `version` under `[dataset]` in the recipe: a released version is never overwritten"
                    .into(),
                format!("if nobody has seen it yet, remove `{folder}` by hand"),
            ],
            Self::Name { .. } => vec!["change `name` or `version` under `[dataset]` in the recipe".into()],
            Self::Stranger { .. } => {
                vec!["a version is made of regular files: give the folder of one, as it was emitted".into()]
            }
            Self::Io { source, .. } if source.kind() == ErrorKind::StorageFull => {
                vec!["free some disk space and run the same command again".into()]
            }
            Self::Io { source, .. } if source.kind() == ErrorKind::NotADirectory => {
                vec!["a file is where a folder must be: name a folder, or move the file away".into()]
            }
            Self::Io { .. } => vec!["check that the folder exists and is writable".into()],
        }
    }

    /// What to do about it where these options of the command line name the version, and no recipe.
    pub fn hints_by(&self, options: &str) -> Vec<String> {
        match self {
            Self::Released { folder, .. } => vec![
                format!("name another version by {options}: a released version is never overwritten"),
                format!("if nobody has seen it yet, remove `{folder}` by hand"),
            ],
            Self::Name { .. } => vec![format!("name another by {options}")],
            Self::Stranger { .. } | Self::Io { .. } => self.hints(),
        }
    }
}

/// Whether a version was written or was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// It is new.
    New,
    /// The same bytes were there already.
    AlreadyThere,
}

/// A version's folder below `manifests`.
///
/// # Errors
/// [`VersionError::Name`] when a name would lead elsewhere.
pub fn folder(manifests: &Utf8Path, dataset: &str, version: &str) -> Result<Utf8PathBuf, VersionError> {
    for name in [dataset, version] {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if name.is_empty() || name.starts_with('.') || !name.bytes().all(is_plain) || name == "schema" {
            return Err(VersionError::Name {
                name: name.to_owned(),
            });
        }
    }
    Ok(manifests.join(dataset).join(version))
}

/// Whether a version made by the recipe of this text could be put in its place: it is not there, or was made by that
/// text, and its place can be written.
///
/// # Errors
/// [`VersionError::Released`] and [`VersionError::Io`].
pub fn admits(folder: &Utf8Path, recipe_text_sha256: &str) -> Result<(), VersionError> {
    let path = folder.join(MANIFEST);
    let there = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let parent = folder.parent().unwrap_or(Utf8Path::new("."));
            let known = parent.ancestors().find(|above| above.exists());
            let known = known.unwrap_or(Utf8Path::new("."));
            tempfile::tempfile_in(known).map_err(io(known))?;
            return Ok(());
        }
        Err(error) => return Err(io(&path)(error)),
    };
    // What cannot be read as a manifest is judged when the bytes are known.
    let there: serde_json::Value = serde_json::from_slice(&there).unwrap_or_default();
    match there["recipe"]["sha256"].as_str() {
        Some(sha256) if sha256 != recipe_text_sha256 => Err(VersionError::Released {
            folder: folder.to_owned(),
            differing: vec![format!("{MANIFEST}: its recipe has another text")],
        }),
        _ => Ok(()),
    }
}

/// Puts a version in its place. What a killed run left is removed; a run killed at any moment leaves either no version
/// or the whole one.
///
/// # Errors
/// [`VersionError::Released`] when the version is there with other bytes.
pub fn release(folder: &Utf8Path, files: &Files) -> Result<Release, VersionError> {
    let parent = folder.parent().unwrap_or(Utf8Path::new("."));
    fs::create_dir_all(parent).map_err(io(parent))?;
    // Two emissions of one dataset wait for each other; the lock is the folder's own and goes with the process.
    let lock = File::open(parent).map_err(io(parent))?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|error| io(parent)(error.into()))?;
    let aside = parent.join(format!(".{}.partial", folder.file_name().unwrap_or_default()));
    match fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(&aside)(error)),
        _ => {}
    }
    let is_empty = folder.symlink_metadata().is_ok_and(|there| there.is_dir())
        && folder
            .read_dir_utf8()
            .is_ok_and(|mut inside| inside.next().is_none());
    // An empty folder gives its place when the whole one is renamed.
    if folder.exists() && !is_empty {
        let there = read(folder)?;
        let differing = differing(&there, files);
        return if differing.is_empty() {
            Ok(Release::AlreadyThere)
        } else {
            Err(VersionError::Released {
                folder: folder.to_owned(),
                differing,
            })
        };
    }
    for (name, bytes) in files {
        let path = aside.join(name);
        let inner = path.parent().unwrap_or(&aside);
        fs::create_dir_all(inner).map_err(io(inner))?;
        let mut file = File::create_new(&path).map_err(io(&path))?;
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(io(&path))?;
        sync(inner)?;
    }
    sync(&aside)?;
    fs::rename(&aside, folder).map_err(io(folder))?;
    sync(parent)?;
    Ok(Release::New)
}

/// Writes one file whole or not at all, if it does not hold these bytes yet.
///
/// # Errors
/// When the file system refuses.
pub fn put(path: &Utf8Path, bytes: &[u8]) -> Result<(), VersionError> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Utf8Path::new("."));
    fs::create_dir_all(parent).map_err(io(parent))?;
    let aside = parent.join(format!(".{}.partial", path.file_name().unwrap_or_default()));
    fs::write(&aside, bytes).map_err(io(&aside))?;
    fs::rename(&aside, path).map_err(io(path))
}

/// Every file below a folder with its bytes, by its path from there with `/`.
///
/// # Errors
/// When something cannot be read, or is neither file nor folder, or has a name that is not UTF-8.
pub fn read(folder: &Utf8Path) -> Result<Files, VersionError> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in next.read_dir_utf8().map_err(io(&next))? {
            let entry = entry.map_err(io(&next))?;
            if entry.file_type().map_err(io(entry.path()))?.is_dir() {
                folders.push(entry.path().to_owned());
            } else if !entry.file_type().map_err(io(entry.path()))?.is_file() {
                return Err(VersionError::Stranger {
                    path: entry.path().to_owned(),
                });
            } else {
                let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
                files.insert(
                    name.to_string(),
                    fs::read(entry.path()).map_err(io(entry.path()))?,
                );
            }
        }
    }
    Ok(files)
}

fn differing(one: &Files, other: &Files) -> Vec<String> {
    let mut names: Vec<_> = one
        .keys()
        .chain(other.keys())
        .filter(|name| one.get(*name) != other.get(*name))
        .collect();
    names.sort();
    names.dedup();
    names.into_iter().cloned().collect()
}

fn sync(folder: &Utf8Path) -> Result<(), VersionError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(io(folder))
}

fn io(path: &Utf8Path) -> impl FnOnce(std::io::Error) -> VersionError {
    let path = path.to_owned();
    move |source| VersionError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> Files {
        list.iter()
            .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn a_version_is_written_once_and_what_a_killed_run_left_goes() {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temp.path()).unwrap();
        let version = folder(root, "sample", "0.1.0").unwrap();
        let left = root.join("sample/.0.1.0.partial");
        fs::create_dir_all(&left).unwrap();
        fs::write(left.join("manifest.json"), "half").unwrap();

        let one = files(&[("manifest.json", "{}"), ("locks/a.txt", "x")]);
        assert_eq!(release(&version, &one).unwrap(), Release::New);
        assert!(!left.exists());
        assert_eq!(read(&version).unwrap(), one);
        assert_eq!(release(&version, &one).unwrap(), Release::AlreadyThere);

        let written = files(&[("manifest.json", r#"{"recipe":{"sha256":"ab"}}"#)]);
        let second = folder(root, "sample", "0.2.0").unwrap();
        assert!(admits(&second, "ab").is_ok());
        release(&second, &written).unwrap();
        assert!(admits(&second, "ab").is_ok());
        let error = admits(&second, "cd").unwrap_err();
        assert!(error.hints()[0].starts_with("bump `version`"), "{error}");
        let stranger = root.join("file");
        fs::write(&stranger, "").unwrap();
        let nowhere = folder(&stranger, "sample", "0.1.0").unwrap();
        assert!(matches!(admits(&nowhere, "ab"), Err(VersionError::Io { .. })));

        let empty = root.join("empty");
        fs::create_dir(&empty).unwrap();
        assert_eq!(release(&empty, &one).unwrap(), Release::New);
        assert_eq!(read(&empty).unwrap(), one);
        let error = release(&stranger, &one).unwrap_err();
        assert!(error.hints()[0].contains("a file is where a folder"), "{error}");

        let other = files(&[("manifest.json", "{ }"), ("locks/b.txt", "x")]);
        let error = release(&version, &other).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("differs in `locks/a.txt`, `locks/b.txt`, `manifest.json`"),
            "{error}"
        );
        assert!(error.hints()[0].starts_with("bump `version`"));
        let named = error.hints_by("`--as NAME@VERSION`");
        assert_eq!(named.len(), 2);
        assert!(named[0].contains("`--as NAME@VERSION`"), "{named:?}");
        assert_eq!(read(&version).unwrap(), one);
    }

    #[test]
    fn names_stay_below_the_folder() {
        let root = Utf8Path::new("manifests");
        for (dataset, version) in [
            ("..", "1"),
            ("a/b", "1"),
            ("", "1"),
            ("a", ".1"),
            ("a", "1/2"),
            ("schema", "1"),
        ] {
            assert!(folder(root, dataset, version).is_err(), "{dataset} {version}");
        }
        assert_eq!(
            folder(root, "swe-bench", "1.0.0").unwrap(),
            "manifests/swe-bench/1.0.0"
        );
    }
}
