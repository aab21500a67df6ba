//! The image of empty folders: what a container needs before the machine's own programs are mounted into it.

use std::path::Path;

use super::super::process::system::{HOME, Piece};
use super::tar::{Entry, Kind, end, entry};

/// Folders that every container has.
const FOLDERS: [&str; 13] = [
    "dev", "etc", "etc/ssl", "home", "proc", "quarry", "root", "run", "sys", "testbed", "tmp", "usr", "var",
];

/// The image's files as a tar: the same bytes on every machine with the same links at its root.
pub(super) fn tar(pieces: &[Piece]) -> Vec<u8> {
    let mut entries: Vec<(String, Option<String>)> = FOLDERS
        .iter()
        .map(|folder| ((*folder).to_owned(), None))
        .collect();
    entries.push((HOME.trim_start_matches('/').to_owned(), None));
    let text = |path: &Path| path.display().to_string();
    for piece in pieces {
        if let Piece::Link { path, target } = piece {
            entries.push((text(path).trim_start_matches('/').to_owned(), Some(text(target))));
        }
    }
    entries.push((
        "etc/localtime".to_owned(),
        Some("/usr/share/zoneinfo/UTC".to_owned()),
    ));
    entries.push(("var/tmp".to_owned(), Some("/tmp".to_owned())));
    let mut bytes: Vec<u8> = entries
        .iter()
        .flat_map(|(path, target)| {
            entry(&Entry {
                path: path.as_bytes(),
                kind: match target {
                    Some(target) => Kind::Link(target.as_bytes()),
                    None => Kind::Folder,
                },
                mode: if path == "tmp" { 0o1777 } else { 0o755 },
                user: 0,
            })
        })
        .collect();
    bytes.extend(end());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_tar_of_folders_and_links() {
        let pieces = [
            Piece::Shown("/usr".into()),
            Piece::Link {
                path: "/bin".into(),
                target: "usr/bin".into(),
            },
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("image.tar");
        std::fs::write(&file, tar(&pieces)).unwrap();
        let listed = std::process::Command::new("tar")
            .args(["--numeric-owner", "-tvf"])
            .arg(&file)
            .output()
            .unwrap();
        assert!(
            listed.status.success(),
            "{}",
            String::from_utf8_lossy(&listed.stderr)
        );
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert_eq!(listed.lines().count(), FOLDERS.len() + 4, "{listed}");
        assert!(listed.contains("bin -> usr/bin"), "{listed}");
        assert!(listed.contains("drwxrwxrwt 0/0"), "{listed}");
        assert!(listed.contains("var/tmp -> /tmp"), "{listed}");
    }
}
