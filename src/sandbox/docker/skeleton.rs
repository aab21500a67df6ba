//! The image of empty folders: what a container needs before the machine's own programs are mounted into it.

use std::path::Path;

use super::super::process::system::{HOME, Piece};

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
        .flat_map(|(path, target)| header(path, target.as_deref()))
        .collect();
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

/// One entry of a POSIX.1-1988 tar (ustar): a folder, or a link.
fn header(path: &str, target: Option<&str>) -> [u8; 512] {
    let mut block = [0_u8; 512];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, &path.as_bytes()[..path.len().min(100)]);
    put(100, if path == "tmp" { b"0001777\0" } else { b"0000755\0" });
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, b"00000000000\0");
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, if target.is_some() { b"2" } else { b"5" });
    if let Some(target) = target {
        put(157, &target.as_bytes()[..target.len().min(100)]);
    }
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
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
