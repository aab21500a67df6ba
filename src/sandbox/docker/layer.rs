//! One layer of an image: folders of this machine as a tar whose bytes depend on nothing but what is in them.
//!
//! Owners, times, umasks and the order of a folder's entries do not show. Python's bytecode names its source's time, so
//! what fitted keeps fitting: it is told the time that every file of the layer has.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::super::error::SandboxError;
use super::tar::{Entry, Kind, TIME, end, entry, padding};
use crate::domain::hash::hex;

/// Something of this machine that goes into a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The file or folder here.
    pub host: PathBuf,
    /// Its path in the image, absolute.
    pub inside: PathBuf,
    /// Whether the image's user owns it and may write there; else it is root's.
    pub is_users: bool,
    /// Folders of this name are left empty.
    pub without: Option<&'static str>,
}

/// A file of ours that goes into a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its path in the image, absolute.
    pub inside: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A layer that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// `sha256:` and 64 hex digits: the digest of its tar.
    pub(super) digest: String,
    /// The tar's size in bytes.
    pub(super) bytes: u64,
}

struct Hashing<W> {
    to: W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.to.write(bytes)?;
        self.hash.update(&bytes[..taken]);
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes a layer's tar to `file`. `user` is who owns what is the user's.
pub(super) fn write(
    parts: &[Part],
    texts: &[Text],
    folders: &[PathBuf],
    user: u32,
    file: &Path,
) -> Result<Written, SandboxError> {
    let wrong = SandboxError::io("write the layer", file);
    let work = || {
        let to = BufWriter::with_capacity(1 << 20, File::create(file)?);
        let mut layer = Layer {
            out: Hashing {
                to,
                hash: Sha256::new(),
                bytes: 0,
            },
            known: BTreeSet::new(),
            user,
        };
        for folder in folders {
            layer.folder(folder, true)?;
        }
        for text in texts {
            layer.above(&text.inside)?;
            layer.put(&text.inside, Kind::File(text.bytes.len() as u64), 0o644, false)?;
            layer.body(&text.bytes)?;
        }
        for part in parts {
            layer.above(&part.inside)?;
            layer.part(part, &part.host, &part.inside)?;
        }
        layer.out.write_all(&end())?;
        layer.out.flush()?;
        Ok(Written {
            digest: format!("sha256:{}", hex(&layer.out.hash.finalize())),
            bytes: layer.out.bytes,
        })
    };
    work().map_err(wrong)
}

struct Layer<W> {
    out: Hashing<W>,
    /// Folders that it has.
    known: BTreeSet<PathBuf>,
    user: u32,
}

impl<W: Write> Layer<W> {
    /// The folders that lead to `inside`. They are open to everybody, whatever they are here or in the image below.
    fn above(&mut self, inside: &Path) -> io::Result<()> {
        let mut folders: Vec<&Path> = inside.ancestors().skip(1).collect();
        folders.reverse();
        for folder in folders.into_iter().filter(|folder| *folder != Path::new("/")) {
            self.folder(folder, false)?;
        }
        Ok(())
    }

    fn folder(&mut self, inside: &Path, is_users: bool) -> io::Result<()> {
        if is_users {
            self.above(inside)?;
        }
        if self.known.insert(inside.to_owned()) {
            self.put(inside, Kind::Folder, 0o755, is_users)?;
        }
        Ok(())
    }

    fn part(&mut self, part: &Part, host: &Path, inside: &Path) -> io::Result<()> {
        let is_users = part.is_users;
        let data = fs::symlink_metadata(host)?;
        if data.is_dir() {
            self.folder(inside, is_users)?;
            if part.without.is_some() && host.file_name() == part.without.map(OsStr::new) {
                return Ok(());
            }
            let mut names: Vec<_> = fs::read_dir(host)?
                .map(|entry| entry.map(|entry| entry.file_name()))
                .collect::<Result<_, _>>()?;
            names.sort();
            for name in names {
                self.part(part, &host.join(&name), &inside.join(&name))?;
            }
        } else if data.is_symlink() {
            let target = fs::read_link(host)?;
            self.put(inside, Kind::Link(target.as_os_str().as_bytes()), 0o777, is_users)?;
        } else if data.is_file() {
            let mut bytes = fs::read(host)?;
            if inside.extension() == Some(OsStr::new("pyc")) {
                retime(host, &mut bytes);
            }
            let mode = readable(data.permissions().mode());
            self.put(inside, Kind::File(bytes.len() as u64), mode, is_users)?;
            self.body(&bytes)?;
        }
        // Sockets and pipes are nobody's files.
        Ok(())
    }

    fn put(&mut self, inside: &Path, kind: Kind<'_>, mode: u32, is_users: bool) -> io::Result<()> {
        let plain: PathBuf = inside
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let user = if is_users { self.user } else { 0 };
        self.out.write_all(&entry(&Entry {
            path: plain.as_os_str().as_bytes(),
            kind,
            mode,
            user,
        }))
    }

    fn body(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.write_all(padding(bytes.len() as u64))
    }
}

/// Everybody may read, nobody but the owner may write, and nothing lends its owner's rights.
fn readable(mode: u32) -> u32 {
    let mode = (mode & 0o755) | 0o444;
    if mode & 0o100 == 0 {
        mode & 0o644
    } else {
        mode | 0o111
    }
}

/// Tells bytecode that fits its source the time that the source has in the layer.
fn retime(path: &Path, bytes: &mut [u8]) {
    // PEP 552 put four bytes of flags before the time in 3.7, whose first magic number is 3390.
    let Some(magic) = bytes.get(..2).map(|head| u16::from_le_bytes([head[0], head[1]])) else {
        return;
    };
    let at = if magic < 3390 {
        4
    } else if bytes.get(4..8) == Some(&[0; 4]) {
        8
    } else {
        return;
    };
    let Some(source) = source_of(path).and_then(|source| fs::metadata(source).ok()) else {
        return;
    };
    let Some(time) = bytes.get_mut(at..at + 4) else {
        return;
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "Python keeps the low four bytes"
    )]
    let seen = (source.mtime() as u32).to_le_bytes();
    if time == seen {
        time.copy_from_slice(&TIME.to_le_bytes());
    }
}

/// `a/six.py` for `a/__pycache__/six.cpython-311.pyc`.
fn source_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    if folder.file_name()? != "__pycache__" {
        return Some(path.with_extension("py"));
    }
    let stem = path.file_name()?.to_str()?.split('.').next()?;
    Some(folder.parent()?.join(format!("{stem}.py")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn written(folder: &Path) -> (Written, String) {
        let file = folder.join("layer.tar");
        let parts = [Part {
            host: folder.join("tree"),
            inside: "/testbed".into(),
            is_users: true,
            without: Some("left"),
        }];
        let texts = [Text {
            inside: "/etc/passwd".into(),
            bytes: b"x\n".to_vec(),
        }];
        let written = write(&parts, &texts, &["/home/quarry".into()], 65_532, &file).unwrap();
        assert_eq!(written.bytes, fs::metadata(&file).unwrap().len());
        let listed = std::process::Command::new("tar")
            .args(["--numeric-owner", "--utc", "-tvf"])
            .arg(&file)
            .output()
            .unwrap();
        assert!(listed.status.success());
        (written, String::from_utf8(listed.stdout).unwrap())
    }

    #[test]
    fn a_layers_bytes_are_those_of_its_files() {
        let make = |second: u64| {
            let folder = tempfile::tempdir().unwrap();
            let tree = folder.path().join("tree");
            let cache = tree.join("__pycache__");
            fs::create_dir_all(&cache).unwrap();
            fs::write(tree.join("run"), "x").unwrap();
            fs::create_dir(tree.join("left")).unwrap();
            fs::write(tree.join("left/out"), format!("{second}")).unwrap();
            let mode = if second == 1 { 0o700 } else { 0o775 };
            fs::set_permissions(tree.join("run"), fs::Permissions::from_mode(mode)).unwrap();
            symlink("run", tree.join("link")).unwrap();
            fs::write(tree.join("n".repeat(120)), "long").unwrap();
            let source = File::create(tree.join("a.py")).unwrap();
            source
                .set_modified(UNIX_EPOCH + Duration::from_secs(second))
                .unwrap();
            let time = u32::try_from(second).unwrap().to_le_bytes();
            let code = [
                &3495_u16.to_le_bytes()[..],
                b"\r\n",
                &[0; 4],
                &time,
                b"size",
                b"code",
            ]
            .concat();
            fs::write(cache.join("a.cpython-311.pyc"), code).unwrap();
            written(folder.path())
        };
        let (one, listed) = make(1);
        assert_eq!(one, make(1_700_000_000).0, "whenever and by whomever it was made");
        for line in [
            "drwxr-xr-x 0/0               0 2000-01-01 00:00 home/",
            "drwxr-xr-x 65532/65532       0 2000-01-01 00:00 home/quarry/",
            "-rw-r--r-- 0/0               2 2000-01-01 00:00 etc/passwd",
            "drwxr-xr-x 65532/65532       0 2000-01-01 00:00 testbed/",
            "-rwxr-xr-x 65532/65532       1 2000-01-01 00:00 testbed/run",
            "testbed/left/\n",
            "testbed/link -> run",
            &format!("testbed/{}", "n".repeat(120)),
        ] {
            assert!(listed.contains(line), "{line}\n{listed}");
        }
        assert!(!listed.contains("testbed/left/out"), "{listed}");
    }

    #[test]
    fn bytecode_that_fits_keeps_fitting_and_none_is_made_to() {
        let folder = tempfile::tempdir().unwrap();
        let source = File::create(folder.path().join("a.py")).unwrap();
        source.set_modified(UNIX_EPOCH + Duration::from_secs(7)).unwrap();
        let path = folder.path().join("__pycache__/a.cpython-36.pyc");
        let told = |magic: u16, rest: &[u8]| {
            let mut bytes = [&magic.to_le_bytes()[..], b"\r\n", rest].concat();
            let before = bytes.clone();
            retime(&path, &mut bytes);
            (bytes != before).then(|| bytes[4..].to_vec())
        };
        let time = TIME.to_le_bytes();
        assert_eq!(
            told(3379, &[7, 0, 0, 0, 9, 9]),
            Some([&time[..], &[9, 9]].concat())
        );
        assert_eq!(told(3379, &[8, 0, 0, 0, 9, 9]), None, "it was stale before");
        assert_eq!(
            told(3495, &[0, 0, 0, 0, 7, 0, 0, 0]),
            Some([&[0; 4][..], &time].concat())
        );
        assert_eq!(told(3495, &[1, 0, 0, 0, 7, 0, 0, 0]), None, "a hash, no time");
        assert_eq!(told(3495, &[0, 0]), None);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(0_u8.., 0..20)) {
            retime(Path::new("/nowhere/a.pyc"), &mut bytes);
        }
    }
}
