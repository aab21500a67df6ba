//! The documentation's diff as a task's statement.
//!
//! It is git's own diff, with three changes: each hunk's head ends with the headings that its first change stands under; a hunk that
//! begins or ends inside a paragraph holds all of it (at most [`MORE`] lines more on each side); lines with objects'
//! names are left out. It still applies. Notebooks are compared cell by cell, outputs left out.

use std::fmt::Write as _;

use super::headings;
use super::notebook;
use crate::domain::charset::Charset;
use crate::domain::diff::hunk_lengths;
use crate::domain::path::RepoPath;

/// How many more lines of a paragraph a hunk takes, at most, on each side.
pub const MORE: usize = 12;

/// A documentation file of a change.
#[derive(Debug, Clone)]
pub struct DocsFile {
    /// Its path after the change (before it, for a deletion).
    pub path: RepoPath,
    /// Its section of the diff.
    pub section: Vec<u8>,
    /// Its bytes before the change; `None` for a new file, or where they are not known.
    pub before: Option<Vec<u8>>,
    /// Its bytes after the change; `None` for a deleted file, or where they are not known.
    pub after: Option<Vec<u8>>,
}

/// Renders the statement; what is not UTF-8 is read in the encoding that its file names, else as Windows-1252.
pub fn render(files: &[DocsFile]) -> String {
    let mut out = String::new();
    for file in files {
        if file.path.has_extension("ipynb")
            && let Some(cells) = notebook::diff(
                &file.path.to_string(),
                file.before.as_deref(),
                file.after.as_deref(),
            )
        {
            out.push_str(&cells);
        } else {
            section(&mut out, file);
        }
    }
    out
}

fn section(out: &mut String, file: &DocsFile) {
    let whole = file.after.as_deref().or(file.before.as_deref());
    let charset = Charset::of(whole.unwrap_or(&file.section));
    let before = file.before.as_deref().map(|bytes| charset.decode(bytes));
    let after = file.after.as_deref().map(|bytes| charset.decode(bytes));
    let old: Vec<&str> = before.as_deref().map(lines).unwrap_or_default();
    let diff = charset.decode(&file.section);
    let mut rest = diff.split_inclusive('\n').peekable();
    while let Some(line) = rest.next_if(|line| !line.starts_with("@@ ")) {
        if line.starts_with("GIT binary patch") {
            let _ = writeln!(out, "Binary file {} changes", file.path);
            return;
        }
        if !line.starts_with("index ") {
            out.push_str(line);
        }
    }
    let mut hunks = vec![];
    while let Some(head) = rest.next() {
        let Some(mut hunk) = Hunk::new(head) else { return };
        while let Some(line) = rest.next_if(|line| !line.starts_with("@@ ")) {
            hunk.lines.push(line.to_owned());
        }
        hunks.push(hunk);
    }
    for place in 0..hunks.len() {
        let from = place.checked_sub(1).map_or(0, |before| hunks[before].old_end());
        let to = hunks.get(place + 1).map_or(old.len(), Hunk::old_begin);
        hunks[place].widen(&old, from, to);
    }
    for hunk in hunks {
        let titles = match (&after, &before) {
            (Some(after), _) => headings::path(&file.path, after, hunk.new_start + hunk.before_change()),
            (None, Some(before)) => headings::path(&file.path, before, hunk.old_start + hunk.before_change()),
            (None, None) => vec![],
        };
        hunk.write(out, &titles.join(" > "));
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

struct Hunk {
    old_start: usize,
    old: usize,
    new_start: usize,
    new: usize,
    lines: Vec<String>,
}

impl Hunk {
    fn new(head: &str) -> Option<Self> {
        let (old, new) = hunk_lengths(head.trim_end().as_bytes())?;
        let start = |mark: char| {
            let from = head.find(mark)? + 1;
            let digits = &head[from..];
            digits[..digits.find(|c: char| !c.is_ascii_digit())?]
                .parse::<usize>()
                .ok()
        };
        Some(Self {
            old_start: start('-')?,
            old: usize::try_from(old).ok()?,
            new_start: start('+')?,
            new: usize::try_from(new).ok()?,
            lines: vec![],
        })
    }

    /// How many lines stand before its first change.
    fn before_change(&self) -> usize {
        self.lines.iter().take_while(|line| line.starts_with(' ')).count()
    }

    /// The place of its first line in the old file, from 0.
    fn old_begin(&self) -> usize {
        self.old_start.saturating_sub(usize::from(self.old > 0))
    }

    /// The place after its last line in the old file, from 0.
    fn old_end(&self) -> usize {
        if self.old == 0 {
            self.old_start
        } else {
            self.old_begin() + self.old
        }
    }

    /// Takes in the rest of the paragraphs at its ends; `old` is the old file, of which `from..to` is nobody else's.
    fn widen(&mut self, old: &[&str], from: usize, to: usize) {
        let is_words = |line: &&str| !line.trim().is_empty();
        if self.old == 0 || self.new == 0 || self.old_start == 0 || self.old_end() > old.len() {
            return;
        }
        let context =
            |line: Option<&String>| line.is_some_and(|line| line.starts_with(' ') && !line.trim().is_empty());
        let above = if context(self.lines.first()) {
            let before = old.get(from..self.old_begin()).unwrap_or_default();
            before
                .iter()
                .rev()
                .take_while(|line| is_words(line))
                .take(MORE)
                .count()
        } else {
            0
        };
        let ended = self.lines.iter().any(|line| line.starts_with('\\'));
        let below = if context(self.lines.last()) && !ended {
            let after = old.get(self.old_end()..to).unwrap_or_default();
            // A last line without an end would need git's remark.
            after
                .iter()
                .take_while(|line| is_words(line) && line.ends_with('\n'))
                .take(MORE)
                .count()
        } else {
            0
        };
        let start = self.old_begin();
        let added = |lines: &[&str]| lines.iter().map(|line| format!(" {line}")).collect::<Vec<_>>();
        let end = self.old_end();
        let mut all = added(&old[start - above..start]);
        all.append(&mut self.lines);
        all.extend(added(&old[end..end + below]));
        self.lines = all;
        self.old_start -= above;
        self.new_start = self.new_start.saturating_sub(above);
        self.old += above + below;
        self.new += above + below;
    }

    fn write(&self, out: &mut String, titles: &str) {
        let range = |start: usize, length: usize| {
            if length == 1 {
                start.to_string()
            } else {
                format!("{start},{length}")
            }
        };
        let (old, new) = (range(self.old_start, self.old), range(self.new_start, self.new));
        let gap = if titles.is_empty() { "" } else { " " };
        let _ = writeln!(out, "@@ -{old} +{new} @@{gap}{titles}");
        for line in &self.lines {
            out.push_str(line);
        }
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(section: &str, before: &str, after: &str) -> DocsFile {
        DocsFile {
            path: RepoPath::from(b"doc/a.rst".as_slice()),
            section: section.as_bytes().to_vec(),
            before: Some(before.as_bytes().to_vec()),
            after: Some(after.as_bytes().to_vec()),
        }
    }

    #[test]
    fn hunks_tell_their_section_and_hold_whole_paragraphs() {
        let before =
            "Title\n=====\n\nPart\n----\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n\nlast\n";
        let after = before.replace("six\n", "six and more\n");
        let section = "diff --git a/doc/a.rst b/doc/a.rst\nindex 1..2 100644\n--- a/doc/a.rst\n+++ b/doc/a.rst\n\
            @@ -9,7 +9,7 @@ two\n three\n four\n five\n-six\n+six and more\n seven\n eight\n nine\n";
        insta::assert_snapshot!(render(&[file(section, before, &after)]), @r"
        diff --git a/doc/a.rst b/doc/a.rst
        --- a/doc/a.rst
        +++ b/doc/a.rst
        @@ -7,9 +7,9 @@ Title > Part
         one
         two
         three
         four
         five
        -six
        +six and more
         seven
         eight
         nine
        ");
    }

    fn text() -> impl Strategy<Value = String> {
        let line = prop::sample::select(vec!["", "a", "b", "c", "d", "e", "Title", "====="]);
        prop::collection::vec(line, 0..30)
            .prop_map(|lines| lines.iter().map(|line| [line, "\n"].concat()).collect())
    }

    proptest! {
        #[test]
        fn what_is_rendered_still_applies(before in text(), after in text()) {
            let hunks = notebook::hunks(&before, &after);
            let section = format!("diff --git a/doc/a.rst b/doc/a.rst\n--- a/doc/a.rst\n+++ b/doc/a.rst\n{hunks}");
            let shown = render(&[file(&section, &before, &after)]);
            if before != after {
                let made = crate::mine::patch::apply(shown.as_bytes(), before.as_bytes());
                prop_assert_eq!(made.map(|bytes| String::from_utf8(bytes).unwrap()), Some(after), "{}\n{}", section, shown);
            }
        }
    }

    #[test]
    fn letters_of_another_encoding_are_shown() {
        let section = b"diff --git a/doc/a.rst b/doc/a.rst\n--- a/doc/a.rst\n+++ b/doc/a.rst\n@@ -4 +4 @@\n-caf\xe9\r\n+caf\xc3\xa9s\r\n";
        let text = render(&[DocsFile {
            path: RepoPath::from("doc/a.rst"),
            section: section.to_vec(),
            before: Some(b"\xc9t\xe9\n===\n\ncaf\xe9\r\n".to_vec()),
            after: Some(b"\xc9t\xe9\n===\n\ncaf\xc3\xa9s\r\n".to_vec()),
        }]);
        assert!(text.ends_with("@@ -4 +4 @@ Été\n-café\r\n+cafés\r\n"), "{text}");
    }

    #[test]
    fn new_deleted_and_binary_files_are_told() {
        let new = "diff --git a/n.md b/n.md\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n.md\n@@ -0,0 +1,2 @@\n+# N\n+x\n";
        let text = render(&[DocsFile {
            path: RepoPath::from("n.md"),
            before: None,
            ..file(new, "", "# N\nx\n")
        }]);
        assert!(text.contains("@@ -0,0 +1,2 @@ N\n+# N\n+x\n"), "{text}");
        let binary = "diff --git a/i.png b/i.png\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 3\nKcmZ\n";
        let text = render(&[DocsFile {
            before: None,
            after: None,
            ..file(binary, "", "")
        }]);
        assert!(text.ends_with("Binary file doc/a.rst changes\n"), "{text}");
    }
}
