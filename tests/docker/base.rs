//! Base images for tests, of what this machine has: no network, no registry.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use quarry::build::SearchPaths;
use quarry::build::python::Interpreter;

use crate::daemon::OwnDaemon;
use crate::images::docker;

/// Programs that the room's first process and the test need in a base image.
const PROGRAMS: [&str; 8] = ["sh", "cat", "env", "git", "head", "kill", "sleep", "uname"];

pub(crate) fn interpreters() -> Vec<Interpreter> {
    SearchPaths::of(&std::env::vars().collect()).interpreters()
}

/// Whether all that this machine has lies in its system's folders, which no image is lent.
pub(crate) fn only_of_system() -> bool {
    interpreters()
        .iter()
        .all(|python| python.prefixes == [PathBuf::from("/usr")])
}

pub(crate) fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            below(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

/// A root file system of a few of this machine's programs, with the libraries that they and its interpreters link to;
/// perhaps with one of these as its own.
pub(crate) fn small_base(daemon: &OwnDaemon, folder: &Path, own: Option<&Interpreter>) -> String {
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for name in PROGRAMS {
        files.extend(
            ["/bin", "/usr/bin"]
                .map(|folder| Path::new(folder).join(name))
                .into_iter()
                .filter(|path| path.is_file()),
        );
    }
    let mut linked: Vec<PathBuf> = files.iter().cloned().collect();
    // The room lends uv, and not what it links to.
    linked.push(SearchPaths::of(&std::env::vars().collect()).uv().unwrap());
    for prefix in interpreters().into_iter().flat_map(|python| python.prefixes) {
        let of_system = prefix == Path::new("/usr");
        if of_system && !only_of_system() {
            continue;
        }
        for folder in std::fs::read_dir(prefix.join("lib"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = folder.file_name().into_string().unwrap();
            if !name.starts_with("python3") {
                continue;
            }
            let mut own = vec![prefix.join("bin").join(&name)];
            let modules = if of_system {
                folder.path()
            } else {
                folder.path().join("lib-dynload")
            };
            below(&modules, &mut own);
            linked.extend(own.iter().filter(|path| is_program(path)).cloned());
            // The room lends an interpreter of the machine's, but none of its system's: that is the image's own then.
            files.extend(own.into_iter().filter(|path| of_system && path.is_file()));
        }
    }
    let listed = Command::new("ldd").args(&linked).output().unwrap();
    for line in String::from_utf8(listed.stdout).unwrap().lines() {
        let path = line.split_whitespace().find(|word| word.starts_with('/'));
        files.extend(path.map(|path| PathBuf::from(path.trim_end_matches(':'))));
    }
    let root = folder.join("root");
    for path in files.iter().filter(|path| path.is_file()) {
        let to = root.join(path.strip_prefix("/").unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(path, to).unwrap();
    }
    for name in ["tmp", "var/tmp", "proc", "sys", "dev", "etc"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    for name in ["tmp", "var/tmp"] {
        std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(0o1777)).unwrap();
    }
    if let Some(python) = own {
        let (prefix, short) = (&python.prefixes[0], python.version.short());
        let local = root.join("usr/local");
        for name in ["bin", "lib"] {
            std::fs::create_dir_all(local.join(name)).unwrap();
        }
        std::fs::copy(&python.executable, local.join(format!("bin/python{short}"))).unwrap();
        for shared in std::fs::read_dir(prefix.join("lib")).unwrap().flatten() {
            let name = shared.file_name().into_string().unwrap();
            if name.starts_with("libpython") {
                std::fs::copy(shared.path(), local.join("lib").join(name)).unwrap();
            }
        }
        // No more than the standard library: a machine's may have all kinds of things installed.
        let modules = format!("lib/python{short}");
        for module in std::fs::read_dir(prefix.join(&modules)).unwrap().flatten() {
            let name = module.file_name().into_string().unwrap();
            if matches!(
                &*name,
                "site-packages" | "dist-packages" | "test" | "idlelib" | "__pycache__"
            ) {
                continue;
            }
            let to = local.join(&modules);
            std::fs::create_dir_all(&to).unwrap();
            let copied = Command::new("cp").arg("-a").arg(module.path()).arg(&to).status();
            assert!(copied.unwrap().success());
        }
    }
    import(daemon, folder)
}

/// The image of what lies in a folder's `root`.
pub(crate) fn import(daemon: &OwnDaemon, folder: &Path) -> String {
    let (root, tar) = (folder.join("root"), folder.join("root.tar"));
    let made = Command::new("tar")
        .arg("-C")
        .arg(&root)
        .arg("-cf")
        .arg(&tar)
        .arg(".")
        .status();
    assert!(made.unwrap().success());
    let id = docker(daemon, &["import", tar.to_str().unwrap()]);
    String::from_utf8(id.stdout).unwrap().trim().to_owned()
}

/// Whether something may link it: a shared library, or a program.
fn is_program(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap_or_default();
    path.is_file() && (name.contains(".so") || path.parent().unwrap().ends_with("bin"))
}
