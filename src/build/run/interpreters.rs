//! The interpreters and the uv of this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::build::error::BuildError;
use crate::build::python::{Interpreter, PythonVersion};

/// Where programs are looked for: plain settings, read from the environment by the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPaths {
    /// Folders that hold one installed Python each (`~/.pyenv/versions`): searched first.
    pub python_homes: Vec<PathBuf>,
    /// Folders of programs, in order (`PATH`).
    pub folders: Vec<PathBuf>,
}

impl SearchPaths {
    /// Where a user with these environment variables has programs.
    pub fn of(variables: &BTreeMap<String, String>) -> Self {
        let at = |name: &str| {
            variables
                .get(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = at("HOME");
        let in_home = |rest: &str| home.as_ref().map(|home| home.join(rest));
        let data = at("XDG_DATA_HOME").or_else(|| in_home(".local/share"));
        let python_homes = [
            at("PYENV_ROOT")
                .or_else(|| in_home(".pyenv"))
                .map(|root| root.join("versions")),
            at("UV_PYTHON_INSTALL_DIR").or_else(|| data.map(|data| data.join("uv/python"))),
        ];
        let path = variables.get("PATH").map_or("", String::as_str);
        let mut folders: Vec<PathBuf> = path
            .split(':')
            .filter(|folder| folder.starts_with('/'))
            .map(PathBuf::from)
            .collect();
        folders.extend(
            [in_home(".local/bin"), in_home(".cargo/bin")]
                .into_iter()
                .flatten(),
        );
        let mut seen = BTreeSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        Self {
            python_homes: python_homes.into_iter().flatten().collect(),
            folders,
        }
    }

    fn python_folders(&self) -> Vec<PathBuf> {
        self.python_homes
            .iter()
            .flat_map(|home| children(home))
            .map(|version| version.join("bin"))
            .collect()
    }

    /// The uv program: on the path first, then beside the interpreters. Shims (scripts) are passed over.
    ///
    /// # Errors
    /// [`BuildError::NoUv`].
    pub fn uv(&self) -> Result<PathBuf, BuildError> {
        let everywhere = self.folders.iter().cloned().chain(self.python_folders());
        everywhere
            .map(|folder| folder.join("uv"))
            .find(|path| is_program(path))
            .ok_or(BuildError::NoUv)
    }

    /// Every interpreter that works, in search order, none twice. Starts each one once (some 20 ms, side by side).
    pub fn interpreters(&self) -> Vec<Interpreter> {
        let mut known = BTreeSet::new();
        asked(&self.named(is_python), ask)
            .into_iter()
            .filter(|found| known.insert(found.executable.clone()))
            .collect()
    }

    /// The versions of Python 2 here, in order. No environment is made for them; `quarry strip --verify-with` takes one.
    pub fn older(&self) -> Vec<PythonVersion> {
        let mut versions = asked(&self.named(is_python2), ask_version);
        versions.sort();
        versions.dedup();
        versions
    }

    /// Programs of these names, in search order, none twice.
    fn named(&self, is_one: fn(&str) -> bool) -> Vec<PathBuf> {
        let mut seen = BTreeSet::new();
        self.python_folders()
            .into_iter()
            .chain(self.folders.iter().cloned())
            .flat_map(|folder| children(&folder))
            .filter(|path| {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(is_one)
            })
            .filter(|path| is_program(path))
            .filter(|path| path.canonicalize().is_ok_and(|real| seen.insert(real)))
            .collect()
    }
}

/// What programs answer, in their order; asked side by side.
fn asked<T: Send>(programs: &[PathBuf], ask: fn(&Path) -> Option<T>) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = programs
            .iter()
            .map(|path| scope.spawn(move || ask(path)))
            .collect();
        let answers = threads.into_iter().map(|thread| thread.join().ok().flatten());
        answers.flatten().collect()
    })
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return vec![];
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// `python`, `python3`, `python3.11`: not `python3-config`, not `python2`.
fn is_python(name: &str) -> bool {
    name.strip_prefix("python").is_some_and(|rest| {
        rest.is_empty()
            || rest == "3"
            || rest
                .strip_prefix("3.")
                .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// `python2`, `python2.7`.
fn is_python2(name: &str) -> bool {
    matches!(name, "python2" | "python2.7")
}

/// Whether a file is a program itself: a script may be a version manager's shim, which decides anew each time.
fn is_program(path: &Path) -> bool {
    let mut head = [0; 2];
    path.is_file()
        && fs::File::open(path)
            .and_then(|mut file| file.read_exact(&mut head))
            .is_ok()
        && head != *b"#!"
}

#[derive(Deserialize)]
struct Answer {
    version: String,
    implementation: String,
    prefixes: Vec<PathBuf>,
    executable: PathBuf,
}

/// Asks an interpreter who it is; it answers with one line of JSON.
pub(super) const QUESTION: &str = "import json, os, sys
print(json.dumps({'version': sys.version.split()[0], 'implementation': sys.implementation.name,
    'prefixes': [sys.base_prefix, sys.base_exec_prefix], 'executable': os.path.realpath(sys.executable)}))";

fn ask(path: &Path) -> Option<Interpreter> {
    let output = Command::new(path)
        .args(["-I", "-S", "-c", QUESTION])
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    read_answer(&output.stdout, None)
}

/// What an interpreter answered to the [`QUESTION`]; `image` is the one that it is in.
pub(super) fn read_answer(said: &[u8], image: Option<&str>) -> Option<Interpreter> {
    let answer: Answer = serde_json::from_slice(said).ok()?;
    if answer.implementation != "cpython" {
        return None;
    }
    let mut prefixes = answer.prefixes;
    prefixes.dedup();
    Some(Interpreter {
        version: answer.version.parse().ok()?,
        executable: answer.executable,
        prefixes,
        image: image.map(str::to_owned),
    })
}

/// The version that `--version` tells, on whichever stream.
fn ask_version(path: &Path) -> Option<PythonVersion> {
    let output = Command::new(path)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = [output.stdout, output.stderr].concat();
    python2_said(&String::from_utf8_lossy(&said))
}

/// The version of a Python 2 in its own words; a `python2` that links to something else is none.
fn python2_said(words: &str) -> Option<PythonVersion> {
    let version: PythonVersion = words.trim().strip_prefix("Python ")?.parse().ok()?;
    (version.release[0] == 2).then_some(version)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn the_usual_places_come_from_the_environment() {
        let variables = [
            ("HOME", "/h"),
            ("PATH", "/a:relative::/b:/a"),
            ("UV_PYTHON_INSTALL_DIR", "/u"),
        ];
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let paths = SearchPaths::of(&variables);
        assert_eq!(
            paths.python_homes,
            [PathBuf::from("/h/.pyenv/versions"), PathBuf::from("/u")]
        );
        let folders: Vec<_> = paths
            .folders
            .iter()
            .map(|folder| folder.to_str().unwrap())
            .collect();
        assert_eq!(folders, ["/a", "/b", "/h/.local/bin", "/h/.cargo/bin"]);
    }

    #[test]
    fn names_of_interpreters() {
        for yes in ["python", "python3", "python3.6", "python3.13"] {
            assert!(is_python(yes), "{yes}");
        }
        for no in [
            "python2",
            "python2.7",
            "python3-config",
            "python3.11-config",
            "pythonw",
            "python3.",
            "ipython",
        ] {
            assert!(!is_python(no), "{no}");
        }
        assert!(is_python2("python2") && is_python2("python2.7") && !is_python2("python2-config"));
    }

    #[test]
    fn shims_are_passed_over_and_links_are_followed_once() {
        let folder = tempfile::tempdir().unwrap();
        let shims = folder.path().join("shims");
        let links = folder.path().join("links");
        fs::create_dir_all(&shims).unwrap();
        fs::create_dir_all(&links).unwrap();
        fs::write(shims.join("python3"), "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(shims.join("python3"), fs::Permissions::from_mode(0o755)).unwrap();
        let real = crate::build::run::tests::any_python();
        symlink(&real, links.join("python3")).unwrap();
        symlink(&real, links.join("python")).unwrap();
        symlink(&real, links.join("python2.7")).unwrap();
        let paths = SearchPaths {
            python_homes: vec![],
            folders: vec![shims, links],
        };
        let found = paths.interpreters();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].executable, real.canonicalize().unwrap());
        // A name is not enough.
        assert_eq!(paths.named(is_python2).len(), 1);
        assert_eq!(paths.older(), []);
        let said = python2_said("Python 2.7.18\n").unwrap();
        assert_eq!(said.to_string(), "2.7.18");
        assert!(matches!(paths.uv(), Err(BuildError::NoUv)));
    }
}
