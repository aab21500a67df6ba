//! A published patch's files. Reads git's diffs and plain unified ones; a text that is neither has no files.

use bstr::ByteSlice as _;

use crate::domain::patch::{ChangeKind, EntryKind, FileChange};
use crate::domain::path::{RepoPath, unquote};

/// The files of a patch, in its order. What follows a hunk's announced length is no longer its content, so a removed
/// line that reads `--- a` opens no file.
pub fn files(patch: &[u8]) -> Vec<FileChange> {
    let mut reader = Reader::default();
    let mut rest = patch;
    let mut at = 0_u64;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
        let (line, tail) = rest.split_at(end);
        reader.line(line.trim_end_with(|c| c == '\n' || c == '\r'), at);
        at += line.len() as u64;
        rest = tail;
    }
    reader.finish(at);
    reader.files
}

#[derive(Default)]
struct Reader {
    files: Vec<FileChange>,
    current: Option<Current>,
    /// Lines of the hunk still to come: before and after the change.
    left: (u64, u64),
}

struct Current {
    file: FileChange,
    /// Whether a `diff --git` line opened it.
    git: bool,
    old: Option<Side>,
    new: Option<Side>,
}

/// What a `---` or `+++` line names.
enum Side {
    Nothing,
    Path(RepoPath),
}

impl Reader {
    fn line(&mut self, line: &[u8], at: u64) {
        if self.left != (0, 0) && self.hunk_line(line) {
            return;
        }
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            self.open(at, true);
            if let Some(current) = &mut self.current {
                current.header(names);
            }
            return;
        }
        // A plain diff opens a file with its `---` line; in git's, that line belongs to the file that is open.
        let opens = line.starts_with(b"--- ")
            && self
                .current
                .as_ref()
                .is_none_or(|current| current.file.hunks > 0 || (!current.git && current.old.is_some()));
        if opens {
            self.open(at, false);
        }
        let Some(current) = &mut self.current else { return };
        match line.first() {
            Some(b'@') => {
                if let Some(length) = hunk_length(line) {
                    self.left = length;
                    current.file.hunks += 1;
                }
            }
            Some(_) => current.note(line),
            None => {}
        }
    }

    /// Takes a line of the open hunk; false when it cannot be one.
    fn hunk_line(&mut self, line: &[u8]) -> bool {
        let Some(current) = &mut self.current else {
            return false;
        };
        let (before, after) = &mut self.left;
        match line.first() {
            Some(b'+') if *after > 0 => {
                *after -= 1;
                current.file.added += 1;
            }
            Some(b'-') if *before > 0 => {
                *before -= 1;
                current.file.removed += 1;
            }
            // An empty context line may have lost its blank.
            Some(b' ') | None if *before > 0 && *after > 0 => {
                *before -= 1;
                *after -= 1;
            }
            Some(b'\\') => {}
            _ => {
                self.left = (0, 0);
                return false;
            }
        }
        true
    }

    fn open(&mut self, at: u64, git: bool) {
        self.finish(at);
        let file = FileChange {
            path: RepoPath::from(""),
            old_path: None,
            change: ChangeKind::Modified,
            entry: EntryKind::File,
            binary: false,
            mode_changed: false,
            added: 0,
            removed: 0,
            hunks: 0,
            start: at,
            end: at,
        };
        self.current = Some(Current {
            file,
            git,
            old: None,
            new: None,
        });
    }

    fn finish(&mut self, at: u64) {
        self.left = (0, 0);
        if let Some(current) = self.current.take() {
            self.files.extend(current.close(at));
        }
    }
}

impl Current {
    /// `a/x b/x`: both names, which are the same unless the file is renamed (then `rename` lines follow).
    fn header(&mut self, names: &[u8]) {
        let half = names.len() / 2;
        let new = if names.ends_with(b"\"") {
            names.rfind(b" \"").map(|start| path(&names[start + 1..]))
        } else if names.get(half) == Some(&b' ') && names.get(2..half) == names.get(half + 3..) {
            Some(path(&names[half + 1..]))
        } else {
            names
                .rfind(b" b/")
                .or_else(|| names.rfind_byte(b' '))
                .map(|start| path(&names[start + 1..]))
        };
        if let Some(new) = new {
            self.file.path = new;
        }
    }

    /// A line between a file's opening and its first hunk.
    fn note(&mut self, line: &[u8]) {
        if let Some(name) = line.strip_prefix(b"--- ") {
            self.old = Some(side(name));
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            self.new = Some(side(name));
        } else if let Some(mode) = line.strip_prefix(b"new file mode ") {
            self.file.change = ChangeKind::Added;
            self.entry(mode);
        } else if let Some(mode) = line.strip_prefix(b"deleted file mode ") {
            self.file.change = ChangeKind::Deleted;
            self.entry(mode);
        } else if let Some(mode) = line.strip_prefix(b"new mode ") {
            self.file.mode_changed = true;
            self.entry(mode);
        } else if let Some(name) = line.strip_prefix(b"rename from ") {
            self.file.change = ChangeKind::Renamed;
            self.file.old_path = Some(whole(name));
        } else if let Some(name) = line.strip_prefix(b"rename to ") {
            self.file.path = whole(name);
        } else if line.starts_with(b"index ") {
            if let Some(mode) = line
                .rsplit_once_str(b" ")
                .map(|(_, mode)| mode)
                .filter(|mode| mode.len() == 6)
            {
                self.entry(mode);
            }
        } else if line.starts_with(b"Binary files ") || line == b"GIT binary patch" {
            self.file.binary = true;
        }
    }

    fn entry(&mut self, mode: &[u8]) {
        self.file.entry = match mode {
            b"120000" => EntryKind::Symlink,
            b"160000" => EntryKind::Submodule,
            _ => EntryKind::File,
        };
    }

    fn close(mut self, at: u64) -> Option<FileChange> {
        if !self.git && self.new.is_none() {
            return None;
        }
        match (self.old, self.new) {
            (Some(Side::Nothing), Some(Side::Path(new))) => {
                self.file.change = ChangeKind::Added;
                self.file.path = new;
            }
            (Some(Side::Path(old)), Some(Side::Nothing)) => {
                self.file.change = ChangeKind::Deleted;
                self.file.path = old;
            }
            (_, Some(Side::Path(new))) => self.file.path = new,
            _ => {}
        }
        self.file.end = at;
        (!self.file.path.as_bytes().is_empty()).then_some(self.file)
    }
}

/// The name on a `---` or `+++` line; what follows a tab is a date.
fn side(name: &[u8]) -> Side {
    let name = name.split_once_str(b"\t").map_or(name, |(name, _)| name);
    if name == b"/dev/null" {
        Side::Nothing
    } else {
        Side::Path(path(name))
    }
}

/// A name with its `a/` or `b/`, perhaps quoted.
fn path(name: &[u8]) -> RepoPath {
    let bytes = unquoted(name);
    let bare = bytes
        .strip_prefix(b"a/")
        .or_else(|| bytes.strip_prefix(b"b/"))
        .unwrap_or(&bytes);
    RepoPath::from(bare)
}

/// A name without a prefix, perhaps quoted.
fn whole(name: &[u8]) -> RepoPath {
    RepoPath::from(unquoted(name).as_ref())
}

fn unquoted(name: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let quoted = name
        .starts_with(b"\"")
        .then(|| std::str::from_utf8(name).ok().and_then(unquote))
        .flatten();
    quoted.map_or(std::borrow::Cow::Borrowed(name), std::borrow::Cow::Owned)
}

/// The lengths in `@@ -1,2 +3,4 @@`: lines before and after the change.
fn hunk_length(line: &[u8]) -> Option<(u64, u64)> {
    let (before, rest) = range(line.strip_prefix(b"@@ -")?)?;
    let (after, rest) = range(rest.strip_prefix(b" +")?)?;
    rest.starts_with(b" @@").then_some((before, after))
}

/// The length in `1,2` (1 in `1`), and what follows.
fn range(text: &[u8]) -> Option<(u64, &[u8])> {
    let (_, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => number(rest),
        None => Some((1, rest)),
    }
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(patch: &str) -> Vec<String> {
        files(patch.as_bytes())
            .iter()
            .map(|file| {
                let old = file
                    .old_path
                    .as_ref()
                    .map(|old| format!("{old} → "))
                    .unwrap_or_default();
                let more = [(file.binary, " binary"), (file.mode_changed, " mode")];
                let more: String = more.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
                let (added, removed, hunks) = (file.added, file.removed, file.hunks);
                format!(
                    "{old}{} {:?} {:?} +{added} -{removed} @{hunks}{more}",
                    file.path, file.change, file.entry
                )
            })
            .collect()
    }

    #[test]
    fn gits_diffs_are_read() {
        let patch = "\
diff --git a/src/a b.py b/src/a b.py\nindex 1..2 100644\n--- a/src/a b.py\t\n+++ b/src/a b.py\t\n@@ -1,3 +1,3 @@ x\n a\n--- old\n+++ new\n b\n\
diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n\
diff --git a/gone b/gone\ndeleted file mode 120000\nindex 1..0\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
diff --git a/x/old.py b/y/new.py\nsimilarity index 100%\nrename from x/old.py\nrename to y/new.py\n\
diff --git a/run b/run\nold mode 100644\nnew mode 100755\n\
diff --git \"a/caf\\351\" \"b/caf\\351\"\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZo*\n\n\
diff --git a/sub b/sub\nindex 1..2 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n";
        insta::assert_snapshot!(told(patch).join("\n"), @r#"
        src/a b.py Modified File +1 -1 @1
        new.py Added File +1 -0 @1
        gone Deleted Symlink +0 -1 @1
        x/old.py → y/new.py Renamed File +0 -0 @0
        run Modified File +0 -0 @0 mode
        "caf\351" Modified File +0 -0 @0 binary
        sub Modified Submodule +1 -1 @1
        "#);
    }

    #[test]
    fn plain_diffs_are_read_and_other_texts_have_no_files() {
        let patch = "--- old/a.py\t2020-01-01\n+++ b/a.py\t2020-01-02\n@@ -1,2 +1,2 @@\n-x\n+y\n\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n";
        insta::assert_snapshot!(told(patch).join("\n"), @"
        a.py Modified File +1 -1 @1
        b.py Modified File +1 -1 @1
        ");
        assert_eq!(told(""), Vec::<String>::new());
        assert_eq!(told("<html>\n--- x\n<p>diff</p>\n"), Vec::<String>::new());
        assert_eq!(told("@@ -1 +1 @@\n-x\n+y\n"), Vec::<String>::new());
    }

    #[test]
    fn sections_are_where_they_stand() {
        let patch = "diff --git a/a b/a\n@@ -1 +1 @@\n-x\n+y\ndiff --git a/b b/b\n@@ -1 +1 @@\n-x\n+y\n";
        let files = files(patch.as_bytes());
        let cut = |file: &FileChange| {
            &patch[usize::try_from(file.start).unwrap()..usize::try_from(file.end).unwrap()]
        };
        assert!(
            files
                .iter()
                .all(|file| cut(file).starts_with("diff --git ") && cut(file).ends_with("+y\n"))
        );
        assert_eq!(files.iter().map(cut).collect::<String>(), patch);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(patch in "(diff --git |--- |\\+\\+\\+ |@@ -1,2 \\+1 @@|[ab]/x|\"|\n|[+-]| |rename from |é){0,30}") {
            for file in files(patch.as_bytes()) {
                prop_assert!(file.start <= file.end && !file.path.as_bytes().is_empty());
            }
        }
    }
}
