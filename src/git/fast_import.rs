//! A bare repository out of a `git fast-import` stream.

use std::path::Path;

use super::error::GitError;
use super::program::{Settings, git, in_dir, succeed};

/// Makes a bare repository at `target` from `stream` (as `git fast-export` writes it, ended by `done`), with `HEAD` on
/// `main`. The folder appears whole or not at all; one that is there already is left as it is.
///
/// # Errors
/// When the folder cannot be written, or git refuses the stream.
pub fn fast_import(stream: &[u8], target: &Path) -> Result<(), GitError> {
    if target.exists() {
        return Ok(());
    }
    let write = |source| GitError::Write {
        path: target.to_owned(),
        source,
    };
    let folder = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(write)?;
    let aside = tempfile::Builder::new()
        .prefix(".import-")
        .tempdir_in(folder)
        .map_err(write)?;
    let made = aside.path().join("repo");

    let mut init = git(Settings::Isolated);
    init.args(["init", "--quiet", "--bare", "--template="])
        .arg(&made)
        .env("GIT_DEFAULT_HASH", "sha1");
    succeed(init, "init", b"")?;
    let mut head = in_dir(git(Settings::Isolated), &made);
    head.args(["symbolic-ref", "HEAD", "refs/heads/main"]);
    succeed(head, "symbolic-ref", b"")?;
    let mut import = in_dir(git(Settings::Isolated), &made);
    import.args(["fast-import", "--quiet", "--done"]);
    succeed(import, "fast-import", stream)?;

    match std::fs::rename(&made, target) {
        // Another process was faster: its repository is as good.
        Err(_) if target.exists() => Ok(()),
        renamed => renamed.map_err(write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Mirror;

    const STREAM: &[u8] = b"feature done\n\
        commit refs/heads/main\nmark :1\n\
        committer Ada <ada@example.org> 1700000000 +0000\ndata 6\nStart\n\
        M 100644 inline caf\xc3\xa9.txt\ndata 3\n\xe9\r\n\n\
        reset refs/pull/1/head\nfrom :1\n\ndone\n";

    #[test]
    fn a_stream_becomes_a_mirror_and_a_cut_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("mirrors/one.git");
        let cut = &STREAM[..STREAM.len() - b"done\n".len()];
        assert!(matches!(fast_import(cut, &target), Err(GitError::Program { .. })));
        assert!(!target.exists());

        fast_import(STREAM, &target).unwrap();
        fast_import(b"not read again", &target).unwrap();
        let mirror = Mirror::open(&target).unwrap();
        assert_eq!(mirror.default_branch().as_deref(), Some("main"));
        let main = mirror.resolve("main").unwrap();
        assert_eq!(mirror.resolve("refs/pull/1/head").unwrap(), main);
        let left: Vec<_> = std::fs::read_dir(target.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1);
    }
}
