//! Markdown (and `MyST`) as lines that are understood.

use super::links;
use super::pieces::{Mark, Piece, after_bullet, bold_line, indented};

/// Fences of `MyST` whose body is words.
const WORDS: &[&str] = &[
    "note",
    "warning",
    "admonition",
    "tip",
    "important",
    "caution",
    "versionadded",
    "versionchanged",
    "deprecated",
    "dropdown",
    "only",
];

/// Reads a document.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut reader = Reader {
        out: vec![],
        fence: None,
        comment: false,
    };
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        reader.line(at, line);
    }
    reader.out
}

struct Reader<'t> {
    out: Vec<Piece<'t>>,
    /// The mark and the length of the fence that is open.
    fence: Option<(char, usize)>,
    /// Inside a comment of HTML.
    comment: bool,
}

impl<'t> Reader<'t> {
    fn line(&mut self, at: usize, line: &'t str) {
        let (mut indent, mut words) = indented(line);
        if let Some((mark, length)) = self.fence {
            let closes = fence(words)
                .is_some_and(|(other, longer, info)| other == mark && longer >= length && info.is_empty());
            if closes {
                self.fence = None;
                self.out.push(Piece::blank(at));
            } else if words.is_empty() {
                self.out.push(Piece::blank(at));
            } else {
                self.push(at, indent, Mark::Literal, words);
            }
            return;
        }
        if self.comment {
            let Some((_, rest)) = line.split_once("-->") else {
                self.out.push(Piece::blank(at));
                return;
            };
            self.comment = false;
            (indent, words) = (0, rest.trim());
        }
        // What stands before a comment is words; what stands in it is not.
        if let Some(start) = words.find("<!--") {
            match words[start..].find("-->") {
                Some(end) if start == 0 => words = words[end + 3..].trim(),
                Some(_) => {}
                None => {
                    self.comment = true;
                    words = words[..start].trim_end();
                }
            }
        }
        while let Some(rest) = words.strip_prefix('>') {
            words = rest.trim();
        }
        if words.is_empty() {
            self.out.push(Piece::blank(at));
        } else {
            self.content(at, indent, words);
        }
    }

    fn content(&mut self, at: usize, indent: usize, words: &'t str) {
        if let Some((mark, length, info)) = fence(words) {
            let name = info.trim_start_matches('{').split('}').next().unwrap_or_default();
            if info.starts_with('{') && WORDS.contains(&name) || mark == ':' {
                self.out.push(Piece::blank(at));
            } else {
                self.fence = Some((mark, length));
                self.out.push(Piece::blank(at));
            }
            return;
        }
        if indent < 4
            && let Some((level, title)) = atx(words)
        {
            self.push(at, 0, Mark::Heading(level), title);
            return;
        }
        if let Some(target) = links::of_markdown(words) {
            self.out.push(Piece::target(at, target));
            return;
        }
        if let Some(level) = underline(words) {
            if self.is_lone_text() && indent < 4 {
                if let Some(title) = self.out.last_mut() {
                    title.mark = Mark::Heading(level);
                }
            } else {
                self.out.push(Piece::blank(at));
            }
            return;
        }
        if indent == 0
            && let Some(title) = bold_line(words)
        {
            self.push(at, 0, Mark::Bold, title);
            return;
        }
        let (mark, text) = after_bullet(words).map_or((Mark::Text, words), |text| (Mark::Item, text));
        self.push(at, indent, mark, text);
    }

    fn push(&mut self, at: usize, indent: usize, mark: Mark, text: &'t str) {
        self.out.push(Piece::new(at, indent, mark, text));
    }

    /// Whether the last line is a paragraph of one line.
    fn is_lone_text(&self) -> bool {
        let is_text = |piece: &Piece<'_>| piece.mark == Mark::Text && piece.indent < 4;
        let mut last = self.out.iter().rev();
        last.next().is_some_and(is_text)
            && last
                .next()
                .is_none_or(|before| !matches!(before.mark, Mark::Text | Mark::Item | Mark::Literal))
    }
}

/// A fence's mark, its length, and what follows.
fn fence(words: &str) -> Option<(char, usize, &str)> {
    let mark = words.chars().next().filter(|mark| "`~:".contains(*mark))?;
    let length = words.chars().take_while(|c| *c == mark).count();
    let info = words[length..].trim();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length, info))
}

/// `## Title ##`.
fn atx(words: &str) -> Option<(usize, &str)> {
    let level = words.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &words[level..];
    let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    is_heading.then(|| (level, rest.trim().trim_end_matches('#').trim()))
}

/// A line below a title.
fn underline(words: &str) -> Option<usize> {
    let all = |mark: u8| words.len() >= 2 && words.bytes().all(|byte| byte == mark);
    match () {
        () if all(b'=') => Some(1),
        () if all(b'-') => Some(2),
        () => None,
    }
}
