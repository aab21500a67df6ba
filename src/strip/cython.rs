//! Cython (`.pyx`, `.pxd`, `.pxi`): comments and docstrings, by tokens alone, for there is no parser for it here.
//! A string that opens the body of a `def`, `cdef`, `cpdef` or `class`, on a line of its own or behind the colon, or the
//! file, is a docstring; the C code that opens the body of a `cdef extern from` is none.

use std::ops::Range;

use super::comments::{self, Place};
use super::edit::{Edit, apply};
use super::policy::Policy;
use super::python::{Facts, Stripped, Untouched};
use super::strings::StringKind;
use super::text::{self, Lines, line_end, line_ends};

/// What a piece of source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A string literal with its prefix; not bytes, not an f-string.
    Text,
    /// Any other literal, word or sign.
    Code,
    Comment,
    /// A line end outside brackets and literals.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    kind: Kind,
    start: usize,
    end: usize,
}

/// Strips one Cython file.
pub fn strip(bytes: &[u8], policy: &Policy) -> Stripped {
    let left = |untouched| Stripped {
        untouched: Some(untouched),
        ..Stripped::default()
    };
    if memchr::memchr(0, bytes).is_some() {
        return left(Untouched::Nul);
    }
    let Ok(source) = text::decode(bytes) else {
        return left(Untouched::Undecodable {
            codec: "as its cookie says".into(),
        });
    };
    let original = source.body.as_ref();
    let Some(pieces) = pieces(original) else {
        let message = "a string that does not end".to_owned();
        return left(Untouched::Syntax { line: 1, message });
    };
    let (edits, expected, facts) = plan(original, &pieces, policy);
    if edits.is_empty() {
        return Stripped {
            facts,
            ..Stripped::default()
        };
    }
    let doubt = |doubt: &str| {
        left(Untouched::Unproven {
            doubt: doubt.to_owned(),
        })
    };
    let Some(out) = apply(original, &edits) else {
        return doubt("has cuts that overlap");
    };
    if !is_proven(&out, &expected, policy) {
        return doubt("has other tokens");
    }
    match source.encode(&out) {
        Some(bytes) if source.same_codec(&bytes) => Stripped {
            bytes: Some(bytes),
            untouched: None,
            facts,
        },
        _ => doubt("would be read in another codec"),
    }
}

/// The proof: the pieces of the result are those that were meant to be left, and nothing is left to strip.
fn is_proven(out: &str, expected: &[&str], policy: &Policy) -> bool {
    let Some(after) = pieces(out) else { return false };
    let words = after
        .iter()
        .filter(|piece| matches!(piece.kind, Kind::Code | Kind::Text));
    words
        .map(|piece| &out[piece.start..piece.end])
        .eq(expected.iter().copied())
        && plan(out, &after, policy).0.is_empty()
}

/// Splits a source; `None` when a literal does not end.
fn pieces(text: &str) -> Option<Vec<Piece>> {
    let bytes = text.as_bytes();
    let mut found = vec![];
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        let kind = match byte {
            b' ' | b'\t' | 0x0c => {
                at += 1;
                continue;
            }
            b'\\' if line_end(&bytes[at + 1..]) > 0 => {
                at += 1 + line_end(&bytes[at + 1..]);
                continue;
            }
            b'\r' | b'\n' => {
                at += line_end(&bytes[at..]);
                if depth > 0 {
                    continue;
                }
                Kind::End
            }
            b'#' => {
                at = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |length| at + length);
                Kind::Comment
            }
            b'"' | b'\'' => {
                at = literal_end(bytes, at)?;
                Kind::Text
            }
            byte if byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80 => {
                while bytes
                    .get(at)
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80)
                {
                    at += 1;
                }
                let prefix = &text[start..at];
                let opens = matches!(bytes.get(at), Some(b'"' | b'\''))
                    && prefix.len() <= 2
                    && prefix.bytes().all(|byte| b"rRbBuUfFcC".contains(&byte));
                if opens {
                    at = literal_end(bytes, at)?;
                    if prefix.bytes().all(|byte| b"rRuU".contains(&byte)) {
                        Kind::Text
                    } else {
                        Kind::Code
                    }
                } else {
                    Kind::Code
                }
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
                Kind::Code
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
                Kind::Code
            }
            _ => {
                at += 1;
                Kind::Code
            }
        };
        found.push(Piece { kind, start, end: at });
    }
    Some(found)
}

/// Where a literal ends whose quote is at `at`.
fn literal_end(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let triple = bytes[at..].starts_with(&[quote; 3]);
    let mut next = at + if triple { 3 } else { 1 };
    loop {
        match bytes.get(next)? {
            b'\\' => next += 1 + line_end(&bytes[(next + 1).min(bytes.len())..]).max(1),
            b'\n' | b'\r' if !triple => return None,
            byte if *byte == quote && !triple => return Some(next + 1),
            _ if triple && bytes[next..].starts_with(&[quote; 3]) => return Some(next + 3),
            _ => next += 1,
        }
    }
}

/// The cuts, the words that are left, and what was seen.
fn plan<'text>(text: &'text str, pieces: &[Piece], policy: &Policy) -> (Vec<Edit>, Vec<&'text str>, Facts) {
    let lines = Lines::new(text);
    let mut edits = vec![];
    let mut facts = Facts::default();
    let mut expected = vec![];
    let keep = |edit: Edit| {
        let with = if policy.keep_lines {
            let ends: String = line_ends(&text[edit.start..edit.end]).collect();
            edit.with + &ends
        } else {
            edit.with
        };
        Edit { with, ..edit }
    };
    let mut docstrings = 0;
    let logical = logical_lines(pieces);
    let code_after = |number: usize| {
        logical[number + 1..].iter().find(|line| {
            line.iter()
                .any(|piece| matches!(piece.kind, Kind::Code | Kind::Text))
        })
    };
    let mut is_first = true;
    let indent_of_code = |line: &[Piece]| {
        let word = line
            .iter()
            .find(|piece| matches!(piece.kind, Kind::Code | Kind::Text));
        word.map_or(0, |piece| piece.start - line_start(text, piece.start))
    };
    let mut opener: Option<usize> = Some(0);
    for (number, line) in logical.iter().enumerate() {
        let words: Vec<&Piece> = line
            .iter()
            .filter(|piece| matches!(piece.kind, Kind::Code | Kind::Text))
            .collect();
        let is_text = !words.is_empty() && words.iter().all(|piece| piece.kind == Kind::Text);
        if let Some(margin) = opener.filter(|_| is_text) {
            docstrings += 1;
            let is_module = is_first;
            let follows = code_after(number).is_some_and(|next| indent_of_code(next) > margin);
            let start = line_start(text, words[0].start);
            let stop = words[words.len() - 1].end;
            if is_module || follows {
                let end = line.last().map_or(stop, |piece| piece.end);
                edits.push(keep(Edit {
                    start,
                    end,
                    with: String::new(),
                }));
                // The next string would be the docstring now.
                continue;
            }
            facts.passes += 1;
            expected.push("pass");
            edits.push(keep(Edit {
                start: words[0].start,
                end: stop,
                with: "pass".into(),
            }));
            for comment in line
                .iter()
                .filter(|piece| piece.kind == Kind::Comment && piece.start > stop)
            {
                cut_comment(text, comment, &lines, policy, &mut edits, &mut facts);
            }
            opener = None;
            continue;
        }
        let short = short_body(text, &words);
        if let Some(body) = &short {
            docstrings += 1;
            facts.passes += 1;
            edits.push(keep(Edit {
                start: words[body.start].start,
                end: words[body.end - 1].end,
                with: "pass".into(),
            }));
        }
        for (index, piece) in words.iter().enumerate() {
            match &short {
                Some(body) if body.contains(&index) => {
                    if index == body.start {
                        expected.push("pass");
                    }
                }
                _ => expected.push(&text[piece.start..piece.end]),
            }
        }
        for comment in line.iter().filter(|piece| piece.kind == Kind::Comment) {
            cut_comment(text, comment, &lines, policy, &mut edits, &mut facts);
        }
        if words.is_empty() {
            continue;
        }
        let opens = words
            .last()
            .is_some_and(|last| &text[last.start..last.end] == ":")
            && has_docstring(text, &words);
        opener = opens.then(|| indent_of_code(line));
        is_first = false;
    }
    if docstrings > 0 {
        facts.removed.push((StringKind::Docstring, docstrings));
    }
    edits.sort_by_key(|edit| edit.start);
    (edits, expected, facts)
}

/// Whether a line's words begin what may have a docstring.
fn has_docstring(text: &str, words: &[&Piece]) -> bool {
    let heads: Vec<&str> = words
        .iter()
        .take(8)
        .map(|piece| &text[piece.start..piece.end])
        .collect();
    let opens = heads
        .first()
        .is_some_and(|head| matches!(*head, "def" | "cdef" | "cpdef" | "class" | "async"));
    opens && !heads.contains(&"extern")
}

/// The words that are the docstring in `def f(): "docstring"`.
fn short_body(text: &str, words: &[&Piece]) -> Option<Range<usize>> {
    let is = |piece: &Piece, sign: &str| &text[piece.start..piece.end] == sign;
    if !has_docstring(text, words) {
        return None;
    }
    let mut depth = 0_usize;
    let colon = words.iter().position(|piece| {
        match &text[piece.start..piece.end] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is(piece, ":")
    })?;
    let start = colon + 1;
    let length = words[start..]
        .iter()
        .take_while(|piece| piece.kind == Kind::Text)
        .count();
    let end = start + length;
    let ends = words.get(end).is_none_or(|next| is(next, ";"));
    (length > 0 && ends).then_some(start..end)
}

/// Splits pieces into logical lines; a comment line is one of its own.
fn logical_lines(pieces: &[Piece]) -> Vec<&[Piece]> {
    let mut lines = vec![];
    let mut from = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if piece.kind == Kind::End {
            if from < at {
                lines.push(&pieces[from..=at]);
            }
            from = at + 1;
        }
    }
    if from < pieces.len() {
        lines.push(&pieces[from..]);
    }
    lines
}

fn line_start(text: &str, offset: usize) -> usize {
    memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[..offset]).map_or(0, |at| at + 1)
}

fn cut_comment(
    text: &str,
    comment: &Piece,
    lines: &Lines<'_>,
    policy: &Policy,
    edits: &mut Vec<Edit>,
    facts: &mut Facts,
) {
    let line = lines.of(comment.start);
    let start = line_start(text, comment.start);
    let place = Place {
        line: &text[start..comment.end],
        offset: comment.start,
        cookie_line: line <= 2,
    };
    if let Some((_, why)) = comments::kept(&text[comment.start..comment.end], place, policy) {
        facts.kept_comments.push((line, why));
        return;
    }
    let before = &text[start..comment.start];
    let bytes = text.as_bytes();
    facts.comments += 1;
    let is_continued = start > 1 && {
        let head = text[..start].trim_end_matches(['\n', '\r']);
        head.ends_with('\\')
    };
    let edit = if !before.trim_matches([' ', '\t', '\x0c']).is_empty() {
        let trimmed = start + before.trim_end_matches([' ', '\t', '\x0c']).len();
        Edit {
            start: trimmed,
            end: comment.end,
            with: String::new(),
        }
    } else if is_continued || policy.keep_lines {
        Edit {
            start,
            end: comment.end,
            with: String::new(),
        }
    } else {
        Edit {
            start,
            end: comment.end + line_end(&bytes[comment.end..]),
            with: String::new(),
        }
    };
    edits.push(edit);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> String {
        let stripped = strip(text.as_bytes(), &Policy::default());
        assert_eq!(stripped.untouched, None, "{text}");
        stripped
            .bytes
            .map_or(text.to_owned(), |bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn comments_and_docstrings_go_and_c_code_stays() {
        let before = "# cython: language_level=3\n# why\n\"\"\"doc\"\"\"\ncimport x  # y\ncdef extern from \"a.h\":\n    \"\"\"\n    int f();\n    \"\"\"\n    int f()\ncdef class A:\n    'doc'\n    cdef int x\n    def f(self):\n        '''doc\n        # no comment'''\n    cpdef g(self, s='#'):\n        # c\n        'doc'\n        return <int>1\n";
        let after = "# cython: language_level=3\ncimport x\ncdef extern from \"a.h\":\n    \"\"\"\n    int f();\n    \"\"\"\n    int f()\ncdef class A:\n    cdef int x\n    def f(self):\n        pass\n    cpdef g(self, s='#'):\n        return <int>1\n";
        assert_eq!(run(before), after);
        assert_eq!(run(after), after);
    }

    #[test]
    fn a_docstring_behind_the_colon_goes_and_other_strings_stay() {
        let before = "def f(x=':'): 'doc' # c\nclass A: r\"\"\"a\nb\"\"\" 'c'\ncpdef int g(int x): 'doc'; return 1\ncdef h(): return 'x'\ndef k(): 'a' + f()\ncdef extern from \"a.h\": 'int x;'\n";
        let after = "def f(x=':'): pass\nclass A: pass\ncpdef int g(int x): pass; return 1\ncdef h(): return 'x'\ndef k(): 'a' + f()\ncdef extern from \"a.h\": 'int x;'\n";
        assert_eq!(run(before), after);
        assert_eq!(run(after), after);
    }

    #[test]
    fn lines_can_be_kept() {
        let policy = Policy {
            keep_lines: true,
            ..Policy::default()
        };
        let text = "\"\"\"doc\nmore\"\"\"\n# c\ncdef int x\n";
        let out = strip(text.as_bytes(), &policy).bytes.unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\n\n\ncdef int x\n");
    }

    #[test]
    fn an_open_string_is_left_alone() {
        assert!(strip(b"x = '''a # b\n", &Policy::default()).untouched.is_some());
    }
}
