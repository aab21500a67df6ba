//! What may be mended in a patch before it is said not to apply: how it ends, and its line ends. Nothing else.
//!
//! 1. **The end.** A patch whose last line has no line end gets one. Where that last line was cut short together with
//!    blank context lines below it (`.strip()` on a diff does both), the last hunk lacks as many lines on both sides: these
//!    blank lines are put back.
//! 2. **Line ends**, only when the patch does not apply as it is. If every line of its heads ends with CR LF, the patch was
//!    converted on its way: each CR LF becomes LF. Then the lines of each file's hunks get the line ends of that file,
//!    when these are the same on all its lines.
//!
//! What was mended is recorded with the result.

use serde::{Deserialize, Serialize};

use crate::domain::diff::{file_changes, hunk_lengths};
use crate::domain::path::RepoPath;

/// Something that was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fix {
    /// The last line got its line end.
    FinalNewline,
    /// Blank context lines at the end were put back.
    TrailingContext,
    /// Line ends became those of the files.
    LineEnds,
}

/// A file's line ends, when all are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// LF.
    Lf,
    /// CR LF.
    CrLf,
}

/// The line ends of these bytes; `None` when they are mixed, or there are none.
pub fn line_end(bytes: &[u8]) -> Option<LineEnd> {
    let (mut lf, mut crlf) = (false, false);
    for at in memchr::memchr_iter(b'\n', bytes) {
        if at > 0 && bytes[at - 1] == b'\r' {
            crlf = true;
        } else {
            lf = true;
        }
    }
    match (lf, crlf) {
        (true, false) => Some(LineEnd::Lf),
        (false, true) => Some(LineEnd::CrLf),
        _ => None,
    }
}

/// The patch with a whole end.
pub fn ended(patch: &[u8]) -> (Vec<u8>, Vec<Fix>) {
    let (mut whole, mut fixes) = (patch.to_vec(), vec![]);
    if !patch.is_empty() && !patch.ends_with(b"\n") {
        whole.push(b'\n');
        fixes.push(Fix::FinalNewline);
        let (old, new) = lacking(&whole);
        if old == new && old > 0 {
            for _ in 0..old {
                whole.extend_from_slice(b" \n");
            }
            fixes.push(Fix::TrailingContext);
        }
    }
    (whole, fixes)
}

/// How many lines the last hunk lacks on each side.
fn lacking(patch: &[u8]) -> (u32, u32) {
    let mut left = (0, 0);
    for line in lines(patch) {
        match line.first() {
            Some(b'+') if left.1 > 0 => left.1 -= 1,
            Some(b'-') if left.0 > 0 => left.0 -= 1,
            Some(b' ' | b'\n' | b'\r' | b'\t') if left.0 > 0 && left.1 > 0 => {
                left = (left.0 - 1, left.1 - 1);
            }
            Some(b'@') => left = hunk_lengths(line).unwrap_or_default(),
            _ => {}
        }
    }
    left
}

/// The patch with the line ends of the files that it is for (`line_end_of` says them); `None` when that is what it is.
pub fn with_line_ends(patch: &[u8], line_end_of: impl Fn(&RepoPath) -> Option<LineEnd>) -> Option<Vec<u8>> {
    let plain = if is_converted(patch) {
        unconverted(patch)
    } else {
        patch.to_vec()
    };
    let mut fitted = Vec::with_capacity(plain.len());
    let mut at = 0;
    for file in file_changes(&plain) {
        let place = |place: u64| usize::try_from(place).unwrap_or(plain.len()).min(plain.len());
        let (start, end) = (place(file.start), place(file.end));
        let target = line_end_of(file.old_path.as_ref().unwrap_or(&file.path));
        fitted.extend_from_slice(&plain[at..start]);
        fit(&plain[start..end], target, &mut fitted);
        at = end;
    }
    fitted.extend_from_slice(&plain[at..]);
    (fitted != patch).then_some(fitted)
}

/// Whether every line of the files' heads ends with CR LF.
fn is_converted(patch: &[u8]) -> bool {
    let is_head = |line: &&[u8]| {
        [&b"diff --git "[..], b"--- ", b"+++ ", b"@@ "]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let mut heads = lines(patch).filter(is_head).peekable();
    heads.peek().is_some() && heads.all(|line| line.ends_with(b"\r\n"))
}

fn unconverted(patch: &[u8]) -> Vec<u8> {
    lines(patch).fold(Vec::with_capacity(patch.len()), |mut plain, line| {
        match line.strip_suffix(b"\r\n") {
            Some(text) => {
                plain.extend_from_slice(text);
                plain.push(b'\n');
            }
            None => plain.extend_from_slice(line),
        }
        plain
    })
}

/// One file's section, with the lines of its hunks ending as `target` says.
fn fit(section: &[u8], target: Option<LineEnd>, out: &mut Vec<u8>) {
    let mut left = (0, 0);
    for line in lines(section) {
        let inside = match line.first() {
            Some(b'+') if left.1 > 0 => {
                left.1 -= 1;
                true
            }
            Some(b'-') if left.0 > 0 => {
                left.0 -= 1;
                true
            }
            Some(b' ' | b'\n' | b'\r' | b'\t') if left.0 > 0 && left.1 > 0 => {
                left = (left.0 - 1, left.1 - 1);
                true
            }
            Some(b'@') => {
                left = hunk_lengths(line).unwrap_or_default();
                false
            }
            _ => false,
        };
        let text = line
            .strip_suffix(b"\n")
            .map(|text| text.strip_suffix(b"\r").unwrap_or(text));
        match (inside, target, text) {
            (true, Some(end), Some(text)) => {
                // An empty line stands for an empty context line.
                out.extend_from_slice(if text.is_empty() { b" " } else { text });
                out.extend_from_slice(match end {
                    LineEnd::Lf => b"\n",
                    LineEnd::CrLf => b"\r\n",
                });
            }
            _ => out.extend_from_slice(line),
        }
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATCH: &str = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n-b\n+c\n \n \n";

    #[test]
    fn a_cut_end_is_put_back() {
        assert_eq!(ended(PATCH.as_bytes()), (PATCH.into(), vec![]));
        let (whole, fixes) = ended(PATCH.trim_end().as_bytes());
        assert_eq!(String::from_utf8(whole).unwrap(), PATCH);
        assert_eq!(fixes, [Fix::FinalNewline, Fix::TrailingContext]);
        let (whole, fixes) = ended(&PATCH.as_bytes()[..PATCH.len() - 1]);
        assert_eq!(
            (String::from_utf8(whole).unwrap().as_str(), fixes),
            (PATCH, vec![Fix::FinalNewline])
        );
        // More is missing than blank context: that is another matter.
        let (whole, fixes) = ended(b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n-b");
        assert!(whole.ends_with(b"-b\n") && fixes == [Fix::FinalNewline]);
    }

    #[test]
    fn line_ends_become_those_of_the_file() {
        let crlf = PATCH.replace('\n', "\r\n");
        let back = with_line_ends(crlf.as_bytes(), |_| Some(LineEnd::Lf)).unwrap();
        assert_eq!(String::from_utf8(back).unwrap(), PATCH);
        // Of a file that has CR LF itself, only the heads are LF.
        let own = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\r\n-b\r\n+c\r\n \r\n \r\n";
        for given in [PATCH, &crlf, own] {
            let fitted = with_line_ends(given.as_bytes(), |_| Some(LineEnd::CrLf));
            let fitted = fitted.unwrap_or_else(|| given.into());
            assert_eq!(String::from_utf8(fitted).unwrap(), own);
        }
        assert_eq!(with_line_ends(PATCH.as_bytes(), |_| Some(LineEnd::Lf)), None);
        assert_eq!(with_line_ends(own.as_bytes(), |_| None), None);
        assert_eq!(line_end(b"a\r\nb\r\n"), Some(LineEnd::CrLf));
        assert_eq!((line_end(b"a\r\nb\n"), line_end(b"a")), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_mended_once(bytes in proptest::collection::vec(
            proptest::sample::select(&b"@ -+1,2\n\r \\diff--git a/f b/f"[..]), 0..200)) {
            let (whole, _) = ended(&bytes);
            prop_assert!(whole.starts_with(&bytes));
            prop_assert_eq!(ended(&whole).1, vec![]);
            let fitted = with_line_ends(&bytes, |_| Some(LineEnd::Lf));
            if let Some(fitted) = fitted {
                let lines = memchr::memchr_iter(b'\n', &bytes).count();
                prop_assert!(fitted.len() <= bytes.len() + lines);
            }
        }
    }
}
