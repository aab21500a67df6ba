//! The gold patch by its lines and by its hunks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::domain::diff::{file_changes, hunk_lengths};
use crate::domain::patch::{ChangeKind, FileChange};
use crate::domain::path::RepoPath;
use crate::domain::strength::{Branch, FileLines, Hunk, LineCoverage, Watched};

/// How many lines that did not run, and how many branches that were not taken, are named.
const NAMED: usize = 200;

/// Gold without one of its hunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The hunk.
    pub hunk: Hunk,
    /// The rest of the patch.
    pub rest: Vec<u8>,
}

/// The lines that a patch adds or changes in Python files, by file, numbered as after the patch.
pub fn changed_lines(patch: &[u8]) -> BTreeMap<RepoPath, BTreeSet<u32>> {
    let mut changed: BTreeMap<RepoPath, BTreeSet<u32>> = BTreeMap::new();
    for file in file_changes(patch) {
        if file.change == ChangeKind::Deleted || !file.path.has_extension("py") {
            continue;
        }
        let section = Section::of(patch, &file);
        for hunk in &section.hunks {
            let Some((_, mut number)) = section.starts(hunk) else {
                continue;
            };
            for line in lines(&section.bytes[hunk.clone()]).skip(1) {
                match line.first() {
                    Some(b'+') => {
                        changed.entry(file.path.clone()).or_default().insert(number);
                        number += 1;
                    }
                    Some(b'-' | b'\\') => {}
                    _ => number += 1,
                }
            }
        }
    }
    changed
}

/// Coverage of `changed` lines by what a traced run told of their files.
pub fn cover(changed: &BTreeMap<RepoPath, BTreeSet<u32>>, told: &BTreeMap<String, Watched>) -> LineCoverage {
    let mut coverage = LineCoverage::default();
    let mut named = 0;
    for (path, changed) in changed {
        let Some(watched) = path.to_str().and_then(|path| told.get(path)) else {
            continue;
        };
        let code: BTreeSet<u32> = changed.intersection(&watched.code).copied().collect();
        let missed: Vec<u32> = code.difference(&watched.ran).copied().collect();
        coverage.lines += count(code.len());
        coverage.covered += count(code.len() - missed.len());
        let lines: Vec<u32> = missed.into_iter().take(NAMED - named).collect();
        named += lines.len();
        if !lines.is_empty() {
            let path = path.clone();
            coverage.uncovered.push(FileLines { path, lines });
        }
        for (line, to) in watched.branches.iter().filter(|(line, _)| changed.contains(line)) {
            coverage.branches += 1;
            if watched.taken.contains(&(*line, *to)) {
                coverage.branches_taken += 1;
            } else if coverage.not_taken.len() < NAMED {
                coverage.not_taken.push(Branch {
                    path: path.clone(),
                    line: *line,
                    to: (*to > 0).then_some(*to),
                });
            }
        }
    }
    coverage
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The patch without each of its hunks, in order. Later hunks of the same file move to where they then begin. A file
/// whose only hunk is left out stays as it was, but for its new name or mode where the patch gives it one. Changes
/// without hunks (binary files, mere renames) are always there.
pub fn without_each(patch: &[u8]) -> Vec<Left> {
    let mut all = vec![];
    for file in file_changes(patch) {
        let section = Section::of(patch, &file);
        if section.hunks.is_empty() {
            continue;
        }
        let (start, end) = range(&file, patch.len());
        let around = |section: &[u8]| [&patch[..start], section, &patch[end..]].concat();
        let keeps_head = file.change == ChangeKind::Renamed || file.mode_changed;
        // One hunk, or a file that became a link: two changes that are one.
        if section.hunks.len() == 1 || file.change == ChangeKind::TypeChanged {
            let rest = if keeps_head && file.change != ChangeKind::TypeChanged {
                around(section.bare_head())
            } else {
                around(b"")
            };
            let hunk = section.name(&section.hunks[0], &file);
            all.push(Left { hunk, rest });
            continue;
        }
        for (left, hunk) in section.hunks.iter().enumerate() {
            all.push(Left {
                hunk: section.name(hunk, &file),
                rest: around(&section.without(left)),
            });
        }
    }
    all
}

/// One file's part of a patch.
struct Section<'a> {
    bytes: &'a [u8],
    /// Its hunks, heads included.
    hunks: Vec<Range<usize>>,
}

fn range(file: &FileChange, length: usize) -> (usize, usize) {
    let place = |place: u64| usize::try_from(place).unwrap_or(length).min(length);
    (place(file.start), place(file.end))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

impl<'a> Section<'a> {
    fn of(patch: &'a [u8], file: &FileChange) -> Self {
        let (start, end) = range(file, patch.len());
        let bytes = &patch[start..end];
        let mut hunks: Vec<Range<usize>> = vec![];
        let (mut old, mut new, mut at) = (0, 0, 0);
        for line in lines(bytes) {
            let next = at + line.len();
            let inside = match line.first() {
                Some(b'-') if old > 0 => {
                    old -= 1;
                    true
                }
                Some(b'+') if new > 0 => {
                    new -= 1;
                    true
                }
                Some(b' ' | b'\t' | b'\r' | b'\n') if old > 0 && new > 0 => {
                    old -= 1;
                    new -= 1;
                    true
                }
                Some(b'\\') => !hunks.is_empty(),
                _ => false,
            };
            if inside {
                if let Some(hunk) = hunks.last_mut() {
                    hunk.end = next;
                }
            } else if line.starts_with(b"@@ -") {
                (old, new) = hunk_lengths(line.trim_ascii_end()).unwrap_or((0, 0));
                hunks.push(at..next);
            } else {
                // The hunk is shorter than it says.
                (old, new) = (0, 0);
            }
            at = next;
        }
        Self { bytes, hunks }
    }

    fn head_of(&self, hunk: &Range<usize>) -> &'a [u8] {
        lines(&self.bytes[hunk.clone()]).next().unwrap_or_default()
    }

    fn name(&self, hunk: &Range<usize>, file: &FileChange) -> Hunk {
        Hunk {
            path: file.path.clone(),
            head: String::from_utf8_lossy(self.head_of(hunk).trim_ascii_end()).into_owned(),
        }
    }

    /// Where a hunk begins before and after.
    fn starts(&self, hunk: &Range<usize>) -> Option<(u32, u32)> {
        let mut words = self.head_of(hunk).split(|byte| *byte == b' ').skip(1);
        let mut start = |sign: u8| {
            let range = words.next()?.strip_prefix(&[sign])?;
            let digits = range.split(|byte| !byte.is_ascii_digit()).next()?;
            std::str::from_utf8(digits).ok()?.parse().ok()
        };
        Some((start(b'-')?, start(b'+')?))
    }

    /// The lines before the hunks, without those that announce some.
    fn bare_head(&self) -> &'a [u8] {
        let mut at = 0;
        for line in lines(self.bytes) {
            if line.starts_with(b"index ") || line.starts_with(b"--- ") {
                break;
            }
            at += line.len();
        }
        &self.bytes[..at]
    }

    /// The section without one of its hunks.
    fn without(&self, left: usize) -> Vec<u8> {
        let first = self.hunks.first().map_or(self.bytes.len(), |hunk| hunk.start);
        let mut bytes = self.bytes[..first].to_vec();
        let growth = self
            .hunks
            .get(left)
            .and_then(|hunk| hunk_lengths(self.head_of(hunk).trim_ascii_end()))
            .map_or(0, |(old, new)| i64::from(new) - i64::from(old));
        for (number, hunk) in self.hunks.iter().enumerate() {
            if number < left {
                bytes.extend_from_slice(&self.bytes[hunk.clone()]);
            } else if number > left {
                bytes.extend(self.moved(hunk, growth));
            }
        }
        bytes
    }

    /// A hunk that begins `growth` lines earlier after the patch.
    fn moved(&self, hunk: &Range<usize>, growth: i64) -> Vec<u8> {
        let whole = &self.bytes[hunk.clone()];
        let Some((_, start)) = self.starts(hunk) else {
            return whole.to_vec();
        };
        let Some(plus) = whole.iter().position(|byte| *byte == b'+') else {
            return whole.to_vec();
        };
        let digits = whole[plus + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let start = (i64::from(start) - growth).max(0).to_string();
        [&whole[..=plus], start.as_bytes(), &whole[plus + 1 + digits..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::git::apply::apply;

    const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
    const PATCH: &str = "diff --git a/lib.py b/lib.py
index 1..2 100644
--- a/lib.py
+++ b/lib.py
@@ -1,2 +1,4 @@ def top():
 one
+one and a half
+one and three quarters
 two
@@ -4,3 +6,2 @@
 four
-five
 six
@@ -9,2 +10,2 @@
 nine
-ten
+-- ten
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old.py b/new.py
old mode 100644
new mode 100755
similarity index 50%
rename from old.py
rename to new.py
index 1..2
--- a/old.py
+++ b/new.py
@@ -1,2 +1,2 @@
 a
-b
+c
\\ No newline at end of file
diff --git a/doc.txt b/doc.txt
new file mode 100644
--- /dev/null
+++ b/doc.txt
@@ -0,0 +1,2 @@
+++ text
+@@ -1 +1 @@
";

    #[test]
    fn lines_are_numbered_as_after_the_patch() {
        let expected = [
            (RepoPath::from("lib.py"), BTreeSet::from([2, 3, 11])),
            (RepoPath::from("new.py"), BTreeSet::from([2])),
        ];
        assert_eq!(changed_lines(PATCH.as_bytes()), expected.into());
    }

    #[test]
    fn each_hunk_is_left_out_and_the_rest_applies() {
        let shown: Vec<String> = without_each(PATCH.as_bytes())
            .iter()
            .map(|left| {
                let folder = tempfile::tempdir().unwrap();
                let file = |name: &str| folder.path().join(name);
                std::fs::write(file("lib.py"), BASE).unwrap();
                std::fs::write(file("gone.py"), "x\n").unwrap();
                std::fs::write(file("old.py"), "a\nb\n").unwrap();
                apply(folder.path(), &left.rest).unwrap();
                let heads = String::from_utf8_lossy(&left.rest);
                let heads: Vec<&str> = heads.lines().filter(|line| line.starts_with("@@ -")).collect();
                let state = [
                    std::fs::read_to_string(file("lib.py"))
                        .unwrap()
                        .lines()
                        .count()
                        .to_string(),
                    format!("gone {}", !file("gone.py").exists()),
                    std::fs::read_to_string(file("new.py"))
                        .unwrap()
                        .replace('\n', "/"),
                    format!("doc {}", file("doc.txt").exists()),
                ];
                format!(
                    "{} {}: {} | {}",
                    left.hunk.path,
                    left.hunk.head,
                    heads[..2].join(" "),
                    state.join(", ")
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        lib.py @@ -1,2 +1,4 @@ def top():: @@ -4,3 +4,2 @@ @@ -9,2 +8,2 @@ | 9, gone true, a/c, doc true
        lib.py @@ -4,3 +6,2 @@: @@ -1,2 +1,4 @@ def top(): @@ -9,2 +11,2 @@ | 12, gone true, a/c, doc true
        lib.py @@ -9,2 +10,2 @@: @@ -1,2 +1,4 @@ def top(): @@ -4,3 +6,2 @@ | 11, gone true, a/c, doc true
        gone.py @@ -1 +0,0 @@: @@ -1,2 +1,4 @@ def top(): @@ -4,3 +6,2 @@ | 11, gone false, a/c, doc true
        new.py @@ -1,2 +1,2 @@: @@ -1,2 +1,4 @@ def top(): @@ -4,3 +6,2 @@ | 11, gone true, a/b/, doc true
        doc.txt @@ -0,0 +1,2 @@: @@ -1,2 +1,4 @@ def top(): @@ -4,3 +6,2 @@ | 11, gone true, a/c, doc false
        ");
    }

    #[test]
    fn what_did_not_run_is_named_up_to_a_bound() {
        let changed = BTreeMap::from([
            (RepoPath::from("a.py"), (1..=300).collect()),
            (RepoPath::from("b.py"), BTreeSet::from([1, 2, 3])),
            (RepoPath::from("unseen.py"), BTreeSet::from([1])),
        ]);
        let watched = |code: Range<u32>, ran: &[u32]| Watched {
            code: code.collect(),
            ran: ran.iter().copied().collect(),
            branches: [(2, 3), (2, 0), (400, 1)].into(),
            taken: [(2, 3)].into(),
        };
        let told = BTreeMap::from([
            ("a.py".to_owned(), watched(2..302, &[2, 4, 999])),
            ("b.py".to_owned(), watched(2..10, &[3])),
        ]);
        let coverage = cover(&changed, &told);
        assert_eq!((coverage.lines, coverage.covered), (299 + 2, 3));
        assert_eq!(
            coverage.uncovered.len(),
            1,
            "the bound is reached in the first file"
        );
        assert_eq!(coverage.uncovered[0].lines.len(), 200);
        assert_eq!(coverage.uncovered[0].lines[..3], [3, 5, 6]);
        let few = cover(
            &[(RepoPath::from("b.py"), BTreeSet::from([1, 2, 3]))].into(),
            &told,
        );
        assert_eq!(few.uncovered[0].lines, [2]);
        assert_eq!(
            (few.branches, few.branches_taken),
            (2, 1),
            "a line that gold leaves alone"
        );
        let (path, line) = (RepoPath::from("b.py"), 2);
        assert_eq!(few.not_taken, [Branch { path, line, to: None }]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_cut_without_a_fault(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let patch = [b"diff --git a/x.py b/x.py\n@@ -1,2 +1,3 @@\n", bytes.as_slice()].concat();
            changed_lines(&patch);
            for left in without_each(&patch) {
                prop_assert!(left.rest.len() < patch.len());
            }
        }

        #[test]
        fn any_lines_are_cut_without_a_fault(text in "((@@ -[0-9],[0-9] \\+[0-9],[0-9] @@|[-+ ][a-z]|\\\\ No|diff --git a/y.py b/y.py)\n){0,30}") {
            let patch = format!("diff --git a/x.py b/x.py\n{text}").into_bytes();
            changed_lines(&patch);
            without_each(&patch);
        }
    }
}
