//! Whether a row's patch is one: every line of it belongs to a file's head or to a hunk that is as long as it says.

use crate::domain::diff::{file_changes, hunk_lengths};
use crate::domain::path::RepoPath;

const START: &[u8] = b"diff --git ";
/// What may stand in the head of a file, before its hunks.
const HEAD: &[&[u8]] = &[
    b"index ",
    b"old mode ",
    b"new mode ",
    b"new file mode ",
    b"deleted file mode ",
    b"similarity index ",
    b"dissimilarity index ",
    b"rename from ",
    b"rename to ",
    b"copy from ",
    b"copy to ",
    b"--- ",
    b"+++ ",
    b"Binary files ",
];

/// Where the next line may be.
enum Place {
    /// Before the first file.
    Start,
    /// In a file's head.
    Head,
    /// In a hunk, with so many lines left of the old and the new side.
    Hunk(u32, u32),
    /// In the data of a binary file, which ends with the next file.
    Data,
}

/// What is wrong with a patch: the line, from 1, and why. An empty one is nobody's and sound.
pub(super) fn fault(patch: &[u8]) -> Option<String> {
    let mut place = Place::Start;
    for (number, line) in (1..).zip(patch.split_inclusive(|byte| *byte == b'\n')) {
        let wrong = |what: &str| Some(format!("line {number} {what}"));
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        place = match (place, line.first()) {
            // Git says so of the line before, whichever side it is of.
            (Place::Hunk(old, new), Some(b'\\')) => Place::Hunk(old, new),
            (Place::Hunk(0, 0) | Place::Head, _) if line.starts_with(b"@@ ") => match hunk_lengths(line) {
                Some((old, new)) => Place::Hunk(old, new),
                None => return wrong("is no head of a hunk"),
            },
            (Place::Hunk(0, 0) | Place::Start | Place::Head | Place::Data, _) if line.starts_with(START) => {
                Place::Head
            }
            (Place::Start, _) => return wrong("stands before the first file"),
            (Place::Head, _) if line == b"GIT binary patch" => Place::Data,
            (Place::Head, _) if HEAD.iter().any(|word| line.starts_with(word)) => Place::Head,
            (Place::Head, _) => return wrong("is of no file and of no hunk"),
            (Place::Data, _) => Place::Data,
            (Place::Hunk(0, 0), _) => return wrong("is beyond the lines that its hunk announces"),
            (Place::Hunk(old, new), first) => {
                let left = match first {
                    Some(b' ') => old.checked_sub(1).zip(new.checked_sub(1)),
                    Some(b'-') => old.checked_sub(1).map(|old| (old, new)),
                    Some(b'+') => new.checked_sub(1).map(|new| (old, new)),
                    _ => None,
                };
                match left {
                    Some((old, new)) => Place::Hunk(old, new),
                    None => return wrong("does not fit what its hunk announces"),
                }
            }
        };
    }
    match place {
        Place::Hunk(0, 0) | Place::Start | Place::Head | Place::Data => None,
        Place::Hunk(..) => Some("its last hunk is shorter than it announces".to_owned()),
    }
}

/// The files that a patch is about, by their path after it (before it, for a deletion), in order.
pub(super) fn paths(patch: &[u8]) -> Vec<RepoPath> {
    file_changes(patch).into_iter().map(|file| file.path).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATCH: &str = "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@ def f():\n a\n-b\n\
        \\ No newline at end of file\n+c\n+d\n@@ -9 +10,0 @@\n-x\ndiff --git a/b.png b/b.png\nnew file mode 100644\n\
        index 0..1\nGIT binary patch\nliteral 3\nKcmZQzU|?VX00031\n\nliteral 0\nHcmV?d00001\n\n\
        diff --git a/c b/d\nsimilarity index 100%\nrename from c\nrename to d\n";

    #[test]
    fn a_sound_patch_is_sound_and_each_fault_has_its_line() {
        assert_eq!(fault(PATCH.as_bytes()), None);
        assert_eq!(fault(b""), None);
        let paths: Vec<_> = paths(PATCH.as_bytes()).iter().map(ToString::to_string).collect();
        assert_eq!(paths, ["a.py", "b.png", "d"]);
        for (old, new, what) in [
            ("+d\n", "", "line 10 does not fit what its hunk announces"),
            (
                "+d\n",
                "+d\n+e\n",
                "line 11 is beyond the lines that its hunk announces",
            ),
            (" a\n", "\n", "line 6 does not fit what its hunk announces"),
            ("@@ -9 +10,0", "@@ -9 ~10,0", "line 11 is no head of a hunk"),
            ("-x\n", "", "line 12 does not fit what its hunk announces"),
            (
                "rename from c",
                "moved from c",
                "line 25 is of no file and of no hunk",
            ),
            (
                "diff --git a/a.py",
                "# a\ndiff --git a/a.py",
                "line 1 stands before the first file",
            ),
        ] {
            let broken = PATCH.replacen(old, new, 1);
            assert_eq!(fault(broken.as_bytes()).as_deref(), Some(what), "{new:?}");
        }
        let cut = &PATCH[..PATCH.find("-x").unwrap()];
        assert_eq!(
            fault(cut.as_bytes()).as_deref(),
            Some("its last hunk is shorter than it announces")
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop::sample::select(b"diff -git@+,0123 \\\n".to_vec()), 0..80)) {
            let _ = fault(&bytes);
        }
    }
}
