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

/// What of the system a closed room shows, as bubblewrap's arguments: programs and libraries, read-only.
pub(super) fn system_folders() -> Vec<String> {
    let mut args = Vec::new();
    bind(&mut args, "/usr");
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
            Ok(target) => args.extend([
                "--symlink".to_owned(),
                target.display().to_string(),
                path.to_owned(),
            ]),
            Err(_) if Path::new(path).is_dir() => bind(&mut args, path),
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
            bind(&mut args, path);
        }
    }
    args
}

fn bind(args: &mut Vec<String>, path: &str) {
    args.extend(["--ro-bind", path, path].map(str::to_owned));
}

/// The files of `/etc` that every room gets alike, whatever the machine says: users, hosts, name services.
pub(super) fn written_files(uid: u32) -> [(&'static str, String); 4] {
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
                "{root}quarry:x:{uid}:{uid}:quarry:{home}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
                home = super::bubblewrap::HOME
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
