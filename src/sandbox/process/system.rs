//! Which programs and folders a system has.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::error::SandboxError;

/// Where a room's own programs are looked for: never in a caller's `PATH`.
const PROGRAM_FOLDERS: [&str; 6] = [
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/bin",
    "/run/current-system/sw/bin",
];

/// The `PATH` a job has after its toolchain's folders.
pub const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Finds one of the room's programs.
pub(in super::super) fn program(name: &'static str) -> Result<PathBuf, SandboxError> {
    PROGRAM_FOLDERS
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file())
        .ok_or(SandboxError::Missing { program: name })
}

/// `prlimit`'s part of a command line, when the system has that program.
pub(super) fn prlimit(file_bytes: u64) -> Vec<String> {
    match program("prlimit") {
        Ok(path) => vec![
            path.display().to_string(),
            format!("--fsize={file_bytes}"),
            "--core=0".to_owned(),
            "--".to_owned(),
        ],
        Err(_) => Vec::new(),
    }
}

/// The home folder inside a closed room: empty, private, gone with the job.
pub(in super::super) const HOME: &str = "/home/quarry";

/// One thing of the host's system that a closed room shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Piece {
    /// A file or folder, read-only, at its own path.
    Shown(PathBuf),
    /// A link of the host's own.
    Link {
        /// Where it is.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
}

/// What of the system a closed room shows: programs and libraries, read-only.
pub(in super::super) fn pieces() -> Vec<Piece> {
    let mut pieces = vec![Piece::Shown("/usr".into())];
    for path in [
        "/bin",
        "/sbin",
        "/lib",
        "/lib32",
        "/lib64",
        "/libx32",
        "/nix/store",
    ] {
        match fs::read_link(path) {
            Ok(target) => pieces.push(Piece::Link {
                path: path.into(),
                target,
            }),
            Err(_) if Path::new(path).is_dir() => pieces.push(Piece::Shown(path.into())),
            Err(_) => {}
        }
    }
    // Of /etc only what programs need to start and to check certificates; `private` keys stay out.
    for path in [
        "/etc/ld.so.cache",
        "/etc/alternatives",
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/etc/ca-certificates",
        "/etc/pki/tls/certs",
        "/etc/pki/tls/cert.pem",
        "/etc/pki/ca-trust/extracted",
    ] {
        if Path::new(path).exists() {
            pieces.push(Piece::Shown(path.into()));
        }
    }
    pieces
}

/// [`pieces`] as bubblewrap's arguments.
pub(super) fn system_folders() -> Vec<String> {
    let words = |piece: Piece| match piece {
        Piece::Shown(path) => {
            let path = path.display().to_string();
            ["--ro-bind".to_owned(), path.clone(), path]
        }
        Piece::Link { path, target } => [
            "--symlink".to_owned(),
            target.display().to_string(),
            path.display().to_string(),
        ],
    };
    pieces().into_iter().flat_map(words).collect()
}

/// The files of `/etc` that every room gets alike, whatever the machine says: users, hosts, name services.
pub(in super::super) fn written_files(uid: u32) -> [(&'static str, String); 4] {
    let root = if uid == 0 {
        ""
    } else {
        "root:x:0:0:root:/root:/bin/sh\n"
    };
    let group = if uid == 0 { "" } else { "root:x:0:\n" };
    [
        (
            "passwd",
            format!(
                "{root}quarry:x:{uid}:{uid}:quarry:{HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
            ),
        ),
        ("group", format!("{group}quarry:x:{uid}:\nnogroup:x:65534:\n")),
        ("hosts", "127.0.0.1 localhost quarry\n::1 localhost\n".to_owned()),
        (
            "nsswitch.conf",
            "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n".to_owned(),
        ),
    ]
}
