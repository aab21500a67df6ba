//! Reading a git diff: which files it touches, and which bytes of it each file's section takes.
//!
//! Nothing is decoded: a diff is bytes. The reader takes what `git diff`, `git format-patch`, GitHub and the
//! published datasets write; lines before the first section (a mail's head) belong to no file.

use memchr::memchr;

use super::patch::{ChangeKind, EntryKind, FileChange};
use super::path::{RepoPath, unquote_prefix};

const START: &[u8] = b"diff --git ";

/// The files of a diff, in its order, each with its byte range. Sections of one path that follow each other (git
/// writes a change of kind, file ↔ link, as a deletion and an addition) are one file.
pub fn file_changes(diff: &[u8]) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = vec![];
    let mut reader = Reader { diff, at: 0 };
    let mut open: Option<Section> = None;
    while let Some((start, line)) = reader.line() {
        if let Some(names) = line.strip_prefix(START) {
            close(&mut files, open.take(), start);
            open = Some(Section::new(start, names));
        } else if let Some(section) = &mut open {
            section.take(line, &mut reader);
        }
    }
    close(&mut files, open, diff.len());
    files
}

fn close(files: &mut Vec<FileChange>, section: Option<Section>, end: usize) {
    let Some(file) = section.and_then(|section| section.finish(end)) else {
        return;
    };
    if let Some(last) = files.last_mut()
        && last.path == file.path
        && last.end == file.start
        && last.change == ChangeKind::Deleted
        && file.change == ChangeKind::Added
    {
        last.change = ChangeKind::TypeChanged;
        last.entry = file.entry;
        last.binary |= file.binary;
        last.mode_changed = true;
        last.added += file.added;
        last.removed += file.removed;
        last.hunks += file.hunks;
        last.end = file.end;
        return;
    }
    files.push(file);
}

struct Reader<'a> {
    diff: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next line without its `\n`, and where it begins.
    fn line(&mut self) -> Option<(usize, &'a [u8])> {
        let rest = self.diff.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        let start = self.at;
        self.at = (start + length + 1).min(self.diff.len());
        Some((start, &rest[..length]))
    }
}

/// One file's section while it is read.
struct Section<'a> {
    start: usize,
    names: &'a [u8],
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
    change: ChangeKind,
    copied: bool,
    old_mode: Option<EntryKind>,
    new_mode: Option<EntryKind>,
    mode_changed: bool,
    binary: bool,
    added: u32,
    removed: u32,
    hunks: u32,
}

impl<'a> Section<'a> {
    fn new(start: usize, names: &'a [u8]) -> Self {
        Self {
            start,
            names,
            old: None,
            new: None,
            change: ChangeKind::Modified,
            copied: false,
            old_mode: None,
            new_mode: None,
            mode_changed: false,
            binary: false,
            added: 0,
            removed: 0,
            hunks: 0,
        }
    }

    /// Takes one line of the section's head; for a hunk's head, the whole hunk.
    fn take(&mut self, line: &[u8], reader: &mut Reader<'_>) {
        if line.starts_with(b"@@ -") {
            self.hunk(line, reader);
        } else if let Some(name) = line.strip_prefix(b"--- ") {
            self.old = self.old.take().or_else(|| side_name(name, b"a/"));
            if name == b"/dev/null" {
                self.change = ChangeKind::Added;
            }
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            self.new = self.new.take().or_else(|| side_name(name, b"b/"));
            if name == b"/dev/null" {
                self.change = ChangeKind::Deleted;
            }
        } else if let Some(mode) = line.strip_prefix(b"new file mode ") {
            self.change = ChangeKind::Added;
            self.new_mode = Some(kind_of(mode));
        } else if let Some(mode) = line.strip_prefix(b"deleted file mode ") {
            self.change = ChangeKind::Deleted;
            self.old_mode = Some(kind_of(mode));
        } else if let Some(mode) = line.strip_prefix(b"old mode ") {
            self.old_mode = Some(kind_of(mode));
        } else if let Some(mode) = line.strip_prefix(b"new mode ") {
            self.new_mode = Some(kind_of(mode));
            self.mode_changed = true;
        } else if let Some(name) = line.strip_prefix(b"rename from ") {
            self.change = ChangeKind::Renamed;
            self.old = Some(whole_name(name));
        } else if let Some(name) = line.strip_prefix(b"rename to ") {
            self.new = Some(whole_name(name));
        } else if let Some(name) = line.strip_prefix(b"copy from ") {
            self.copied = true;
            self.old = Some(whole_name(name));
        } else if let Some(name) = line.strip_prefix(b"copy to ") {
            self.new = Some(whole_name(name));
        } else if let Some(ids) = line.strip_prefix(b"index ") {
            // `index old..new mode` when the mode stays.
            if let Some(mode) = ids
                .rsplit(|byte| *byte == b' ')
                .next()
                .filter(|mode| mode.len() == 6)
            {
                self.new_mode = self.new_mode.or(Some(kind_of(mode)));
            }
        } else if line.starts_with(b"GIT binary patch") || line.starts_with(b"Binary files ") {
            self.binary = true;
        }
    }

    /// Counts a hunk by the lines its head announces, so that a removed `-- x` is no head of a file.
    fn hunk(&mut self, head: &[u8], reader: &mut Reader<'_>) {
        self.hunks += 1;
        let (mut old, mut new) = hunk_lengths(head).unwrap_or((0, 0));
        while old > 0 || new > 0 {
            let before = reader.at;
            let Some((_, line)) = reader.line() else { return };
            match line.first() {
                Some(b'-') if old > 0 => {
                    old -= 1;
                    self.removed += 1;
                }
                Some(b'+') if new > 0 => {
                    new -= 1;
                    self.added += 1;
                }
                // Some tools strip the blank of an empty context line.
                Some(b' ' | b'\t' | b'\r') | None if old > 0 && new > 0 => {
                    old -= 1;
                    new -= 1;
                }
                Some(b'\\') => {}
                _ => {
                    // The hunk is shorter than it says: whoever reads on sees the line again.
                    reader.at = before;
                    return;
                }
            }
        }
    }

    fn finish(self, end: usize) -> Option<FileChange> {
        let (old, new) = match (self.old, self.new) {
            (Some(old), Some(new)) => (old, new),
            (Some(only), None) | (None, Some(only)) => (only.clone(), only),
            (None, None) => names_of(self.names)?,
        };
        let path = if self.change == ChangeKind::Deleted {
            &old
        } else {
            &new
        };
        let entry = self.new_mode.or(self.old_mode).unwrap_or(EntryKind::File);
        let change = match self.change {
            // A copy's target is a new file; a file whose name alone differs was renamed, whatever the head says.
            _ if self.copied => ChangeKind::Added,
            ChangeKind::Modified if old != new => ChangeKind::Renamed,
            ChangeKind::Modified if self.old_mode.is_some_and(|mode| mode != entry) => {
                ChangeKind::TypeChanged
            }
            change => change,
        };
        Some(FileChange {
            path: RepoPath::from(path.as_slice()),
            old_path: (change == ChangeKind::Renamed).then(|| RepoPath::from(old.as_slice())),
            change,
            entry,
            binary: self.binary,
            mode_changed: self.mode_changed,
            added: self.added,
            removed: self.removed,
            hunks: self.hunks,
            start: self.start as u64,
            end: end as u64,
        })
    }
}

/// `@@ -a,b +c,d @@` → `(b, d)`.
pub fn hunk_lengths(head: &[u8]) -> Option<(u32, u32)> {
    let mut words = head.split(|byte| *byte == b' ').skip(1);
    let mut length = |sign: u8| {
        let range = words.next()?.strip_prefix(&[sign])?;
        let text = std::str::from_utf8(range).ok()?;
        match text.split_once(',') {
            Some((_, length)) => length.parse().ok(),
            None => text.parse::<u32>().ok().map(|_| 1),
        }
    };
    Some((length(b'-')?, length(b'+')?))
}

fn kind_of(mode: &[u8]) -> EntryKind {
    match mode.get(..2) {
        Some(b"12") => EntryKind::Symlink,
        Some(b"16") => EntryKind::Submodule,
        _ => EntryKind::File,
    }
}

/// A name after `--- ` or `+++ `: quoted or bare, with a side's prefix; what a tab ends is a time or nothing.
fn side_name(text: &[u8], prefix: &[u8]) -> Option<Vec<u8>> {
    if text == b"/dev/null" {
        return None;
    }
    let quoted = unquote_prefix(text).map(|(name, _)| name);
    let name = quoted.unwrap_or_else(|| {
        let name = text.split(|byte| *byte == b'\t').next().unwrap_or(text);
        name.strip_suffix(b"\r").unwrap_or(name).to_vec()
    });
    Some(
        name.strip_prefix(prefix)
            .map_or_else(|| name.clone(), <[u8]>::to_vec),
    )
}

fn whole_name(text: &[u8]) -> Vec<u8> {
    unquote_prefix(text).map_or_else(|| text.to_vec(), |(name, _)| name)
}

/// Both names of `a/X b/Y` where nothing else in the section tells: then X and Y are the same, so the line is its own
/// half twice; a quoted half says where it ends.
fn names_of(names: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let bare = |side: &[u8], prefix: &[u8]| side.strip_prefix(prefix).unwrap_or(side).to_vec();
    if let Some((old, length)) = unquote_prefix(names) {
        let rest = names.get(length + 1..)?;
        let new = unquote_prefix(rest).map_or_else(|| rest.to_vec(), |(name, _)| name);
        return Some((bare(&old, b"a/"), bare(&new, b"b/")));
    }
    let middle = names.len() / 2;
    let (old, new) = (names.get(..middle)?, names.get(middle + 1..)?);
    if names.get(middle) == Some(&b' ') && bare(old, b"a/") == bare(new, b"b/") {
        return Some((bare(old, b"a/"), bare(new, b"b/")));
    }
    // Another prefix, or two names: the last ` b/` is the best guess there is.
    let at = names.windows(3).rposition(|three| three == b" b/")?;
    Some((bare(&names[..at], b"a/"), bare(&names[at + 1..], b"b/")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(diff: &[u8]) -> String {
        use std::fmt::Write as _;
        let mut text = String::new();
        for file in file_changes(diff) {
            let old = file
                .old_path
                .map(|path| format!("{path} -> "))
                .unwrap_or_default();
            let flags = [(file.binary, " binary"), (file.mode_changed, " mode")];
            let flags: String = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
            writeln!(
                text,
                "{:?} {:?} {old}{} +{} -{} @{} {}..{}{flags}",
                file.change,
                file.entry,
                file.path,
                file.added,
                file.removed,
                file.hunks,
                file.start,
                file.end
            )
            .unwrap();
        }
        text
    }

    #[test]
    fn every_kind_of_section_is_read() {
        let diff = b"From: mail head\n\
diff --git a/a.py b/a.py\nindex 1..2 100755\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@ def f():\n--- old\n+++ new\n x\n\
diff --git a/empty file b/empty file\nnew file mode 100755\nindex 0..1\n\
diff --git a/x b/x\nold mode 100644\nnew mode 100755\n\
diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n\
diff --git \"a/caf\\351 b/x\" \"b/caf\\351 b/x\"\ndeleted file mode 120000\nindex 1..0\n--- \"a/caf\\351 b/x\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-t\n\\ No newline at end of file\n\
diff --git a/b.bin b/b.bin\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 1\nIcmZPo00aO50RR91\n\nliteral 0\nHcmV?d00001\n\n\
diff --git a/l b/l\ndeleted file mode 100644\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-t\n\
diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+t\n\\ No newline at end of file\n\
diff --git a/m b/m\nindex 1..2 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n";
        insta::assert_snapshot!(show(diff), @r#"
        Modified File a.py +1 -1 @1 16..125
        Added File empty file +0 -0 @0 125..194
        Modified File x +0 -0 @0 194..245 mode
        Renamed File old.py -> new.py +0 -0 @0 245..332
        Deleted Symlink "caf\351 b/x" +0 -1 @1 332..490
        Added File b.bin +0 -0 @0 490..617 binary
        TypeChanged Symlink l +1 -1 @2 617..807 mode
        Modified Submodule m +1 -1 @1 807..914
        "#);
    }

    #[test]
    fn strange_diffs_are_read_as_far_as_they_go() {
        let cases: [&[u8]; 6] = [
            b"",
            b"no diff at all\n",
            b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n-short\ndiff --git a/y b/y\n",
            b"diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n\r\n-a\r\n+b\r\n",
            b"diff --git x x\n--- x\t2020-01-01\n+++ x\t2020-01-01\n@@ -1 +1 @@\n-a\n+b",
            b"diff --git \n",
        ];
        let shown: Vec<String> = cases.iter().map(|diff| show(diff)).collect();
        insta::assert_snapshot!(shown.join("--\n"), @r#"
        --
        --
        Modified File x +0 -1 @1 0..58
        Modified File y +0 -0 @0 58..77
        --
        Modified File x +1 -1 @1 0..65
        --
        Modified File x +1 -1 @1 0..66
        --
        "#);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_fault(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            file_changes(&bytes);
            file_changes(&[b"diff --git ", bytes.as_slice()].concat());
        }

        #[test]
        fn sections_tile_the_diff(lines in proptest::collection::vec("(diff --git a/[xy] b/[xy]|@@ -1 \\+1 @@|[-+ ][a-z]|--- a/x|new mode 100755)", 0..30)) {
            let diff = lines.join("\n");
            let files = file_changes(diff.as_bytes());
            for pair in files.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
            }
            for file in &files {
                prop_assert!(diff[usize::try_from(file.start).unwrap()..].starts_with("diff --git "));
            }
            prop_assert!(files.last().is_none_or(|file| file.end == diff.len() as u64));
        }
    }
}
