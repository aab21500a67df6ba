//! Byte-range cuts: which bytes of the original go, and what little takes their place.

use super::comments::{self, KeptComment, Place};
use super::policy::{Keep, Policy, Remove};
use super::strings::{Removal, Strings};
use super::syntax::{self, Token, TokenKind};
use super::text::{line_end, line_ends};

/// One cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// First byte that goes.
    pub(super) start: usize,
    /// First byte that stays.
    pub(super) end: usize,
    /// What takes its place: nothing, `pass`, or line ends.
    pub(super) with: String,
}

/// A comment, or a part of it, that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    /// Where it starts.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Why it stays.
    pub(super) why: KeptComment,
}

/// Neighbouring statements on one logical line that go together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// The first token that goes.
    pub(super) first: usize,
    /// One past the last token that goes.
    pub(super) end: usize,
    /// Whether a `pass` takes its place.
    pub(super) pass: bool,
}

/// What is done to a file.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The cuts, sorted, apart from each other.
    pub(super) edits: Vec<Edit>,
    /// The statements that go, as token ranges, sorted.
    pub(super) groups: Vec<Group>,
    /// Comments that stay.
    pub(super) kept: Vec<Kept>,
    /// How many comments go.
    pub(super) comments: u64,
}

/// Plans the cuts of one file.
pub(super) fn plan(text: &str, tokens: &[Token], strings: &Strings, policy: &Policy) -> Plan {
    let mut plan = Plan::default();
    let cutter = Cutter {
        text,
        tokens,
        keep_lines: policy.keep_lines,
    };
    let mut rest = strings.removals.as_slice();
    while !rest.is_empty() {
        let mut size = 1;
        while let (Some(one), Some(next)) = (rest.get(size - 1), rest.get(size))
            && cutter.kind(one.end) == Some(TokenKind::Semi)
            && next.first == one.end + 1
        {
            size += 1;
        }
        let (group, edit) = cutter.statements(&rest[..size], rest[..size].iter().any(|one| one.pass));
        plan.groups.push(group);
        plan.edits.push(edit);
        rest = &rest[size..];
    }
    cutter.comments(policy, &mut plan);
    plan.edits.sort_by_key(|edit| edit.start);
    if policy.keep_lines {
        for edit in &mut plan.edits {
            hold_apart(text, edit);
        }
    }
    plan
}

/// Where a cut brings `\r` and `\n` together that ended two lines, a blank keeps them two.
fn hold_apart(text: &str, edit: &mut Edit) {
    let (before, after) = (&text.as_bytes()[..edit.start], &text.as_bytes()[edit.end..]);
    let next = edit.with.as_bytes().first().or(after.first());
    if before.last() == Some(&b'\r') && next == Some(&b'\n') && edit.start < edit.end {
        edit.with.insert(0, ' ');
    }
    if edit.with.ends_with('\r') && after.first() == Some(&b'\n') {
        edit.with.push(' ');
    }
}

/// Makes the cuts; `None` when they overlap or split a character, which no plan may.
pub(super) fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.start)?);
        out.push_str(&edit.with);
        at = edit.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

struct Cutter<'text> {
    text: &'text str,
    tokens: &'text [Token],
    keep_lines: bool,
}

impl Cutter<'_> {
    fn kind(&self, token: usize) -> Option<TokenKind> {
        self.tokens.get(token).map(Token::kind)
    }

    fn start(&self, token: usize) -> usize {
        self.tokens.get(token).map_or(self.text.len(), syntax::start)
    }

    fn end(&self, token: usize) -> usize {
        self.tokens.get(token).map_or(self.text.len(), syntax::end)
    }

    /// The nearest token before `token` that has text of its own.
    fn before(&self, token: usize) -> Option<usize> {
        let mut at = token.checked_sub(1)?;
        while matches!(self.kind(at), Some(TokenKind::Indent | TokenKind::Dedent)) {
            at = at.checked_sub(1)?;
        }
        Some(at)
    }

    /// The line ends between two offsets, when lines are kept.
    fn ends(&self, start: usize, end: usize) -> String {
        let mut kept = String::new();
        if self.keep_lines {
            for end in line_ends(&self.text[start..end]) {
                if kept.ends_with('\r') && end == "\n" {
                    kept.push(' ');
                }
                kept.push_str(end);
            }
        }
        kept
    }

    /// The cut for one group of statements.
    fn statements(&self, members: &[Removal], pass: bool) -> (Group, Edit) {
        let first = members[0].first;
        let mut end = members[members.len() - 1].end;
        let before = self.before(first);
        let opener = before.filter(|at| matches!(self.kind(*at), Some(TokenKind::Colon | TokenKind::Semi)));
        let mut last = end.saturating_sub(1);
        while last > first && self.tokens[last].kind().is_trivia() {
            last -= 1;
        }
        let mut follows = false;
        if self.kind(end) == Some(TokenKind::Semi) {
            last = end;
            end += 1;
            follows = !matches!(
                self.kind(end),
                None | Some(TokenKind::Newline | TokenKind::Comment)
            );
            while !follows && !matches!(self.kind(end), None | Some(TokenKind::Newline)) {
                end += 1;
            }
        }
        let start = self.start(first);
        if pass {
            let stop = self.end(last);
            let with = format!("pass{}", self.ends(start, stop));
            return (
                Group { first, end, pass },
                Edit {
                    start,
                    end: stop,
                    with,
                },
            );
        }
        if follows {
            let stop = self.start(end);
            let ends = self.ends(start, stop);
            let edit = match opener {
                _ if ends.is_empty() => Edit {
                    start,
                    end: stop,
                    with: ends,
                },
                Some(_) => {
                    let with = line_ends(&ends).flat_map(|end| ["\\", end]).collect();
                    Edit {
                        start,
                        end: stop,
                        with,
                    }
                }
                None => {
                    let line = self.line_start(start, 0);
                    let with = ends + &self.text[line..start];
                    Edit {
                        start: line,
                        end: stop,
                        with,
                    }
                }
            };
            return (Group { first, end, pass }, edit);
        }
        if let Some(opener) = opener {
            // `x = 1; "text"`: the semicolon goes with it.
            let start = self.trim(
                self.start(opener),
                before.map_or(0, |at| self.end(at.saturating_sub(1))),
            );
            let stop = self.end(last);
            let edit = Edit {
                start,
                end: stop,
                with: self.ends(start, stop),
            };
            return (
                Group {
                    first: opener,
                    end: last + 1,
                    pass,
                },
                edit,
            );
        }
        // The logical line is all theirs, from where the last one ended: a continuation before the string goes too.
        let start = before.map_or(0, |at| self.end(at));
        let stop = self.end(end);
        let edit = Edit {
            start,
            end: stop,
            with: self.ends(start, stop),
        };
        (
            Group {
                first,
                end: (end + 1).min(self.tokens.len()),
                pass,
            },
            edit,
        )
    }

    /// Where the physical line begins that `offset` is on; not before `floor`.
    fn line_start(&self, offset: usize, floor: usize) -> usize {
        let head = &self.text.as_bytes()[floor..offset];
        memchr::memrchr2(b'\n', b'\r', head).map_or(floor, |at| floor + at + 1)
    }

    /// Where the blanks begin that end at `offset`; not before `floor`.
    fn trim(&self, offset: usize, floor: usize) -> usize {
        floor
            + self.text[floor..offset]
                .trim_end_matches([' ', '\t', '\x0c'])
                .len()
    }

    fn comments(&self, policy: &Policy, plan: &mut Plan) {
        let mut groups = 0;
        let mut nested = 0_u32;
        let mut block_end = 0;
        let mut licence_run = (0, false);
        let keeps_scripts = !policy.removes(Remove::ScriptMetadata);
        for (at, token) in self.tokens.iter().enumerate() {
            match token.kind() {
                TokenKind::FStringStart | TokenKind::TStringStart => nested += 1,
                TokenKind::FStringEnd | TokenKind::TStringEnd => nested = nested.saturating_sub(1),
                _ => {}
            }
            if token.kind() != TokenKind::Comment {
                continue;
            }
            while plan.groups.get(groups).is_some_and(|group| group.end <= at) {
                groups += 1;
            }
            let (start, end) = (syntax::start(token), syntax::end(token));
            // A comment inside a statement that goes, goes with it; one behind a `pass` is on its own.
            if let Some(group) = plan.groups.get(groups)
                && group.first <= at
                && (!group.pass || self.is_inside(at, group))
            {
                plan.comments += 1;
                continue;
            }
            let floor = at.checked_sub(1).map_or(0, |before| self.end(before));
            let line = self.line_start(start, floor);
            let full = self.text[line..start]
                .bytes()
                .all(|byte| matches!(byte, b' ' | b'\t' | 0x0c))
                && (line > floor || self.begins_line(at));
            let mut keep = |start: usize, end: usize, why| plan.kept.push(Kept { start, end, why });
            if nested > 0 {
                keep(start, end, KeptComment::InString);
                continue;
            }
            if start < block_end {
                keep(start, end, KeptComment::ScriptMetadata);
                continue;
            }
            if keeps_scripts
                && full
                && start == line
                && self.text[start..end].starts_with("# /// ")
                && let Some(length) = comments::script_block(&self.text[start..])
            {
                block_end = start + length;
                keep(start, end, KeptComment::ScriptMetadata);
                continue;
            }
            if full && policy.keeps(Keep::Licence) {
                if at >= licence_run.0 {
                    licence_run = self.licence_run(at);
                }
                if licence_run.1 {
                    keep(start, end, KeptComment::Licence);
                    continue;
                }
            }
            let comment = &self.text[start..end];
            let place = self.place(start, end);
            match comments::kept(comment, place, policy) {
                None => {
                    plan.comments += 1;
                    plan.edits.push(if full {
                        self.line(at, line, end)
                    } else {
                        self.inline(start, end, floor)
                    });
                }
                Some((range, why)) => {
                    keep(start + range.start, start + range.end, why);
                    if range.start > 0 {
                        let edit = Edit {
                            start,
                            end: start + range.start,
                            with: String::new(),
                        };
                        plan.edits.push(edit);
                    }
                    if start + range.end < end {
                        plan.edits.push(Edit {
                            start: start + range.end,
                            end,
                            with: String::new(),
                        });
                    }
                }
            }
        }
    }

    /// Whether a comment token stands between the tokens of a statement that becomes `pass`.
    fn is_inside(&self, comment: usize, group: &Group) -> bool {
        self.tokens[comment..group.end.min(self.tokens.len())]
            .iter()
            .any(|token| {
                matches!(
                    token.kind(),
                    TokenKind::String | TokenKind::Rpar | TokenKind::Semi
                )
            })
    }

    /// Whether the token before a comment is a line's end (or there is none): nothing precedes it on its line.
    fn begins_line(&self, comment: usize) -> bool {
        self.before(comment).is_none_or(|before| {
            matches!(
                self.kind(before),
                Some(TokenKind::Newline | TokenKind::NonLogicalNewline)
            )
        })
    }

    fn place(&self, start: usize, end: usize) -> Place<'_> {
        // Line 2 at most: looking for one line end before it is enough, and only near the top.
        let head = &self.text[..start];
        let mut ends = line_ends(if start < 2048 { head } else { "\n\n\n" });
        let cookie_line = match (ends.next(), ends.next()) {
            (None, _) => true,
            (Some(first), None) => {
                let line = head.split(['\n', '\r']).next().unwrap_or_default();
                let line = line.trim_start_matches([' ', '\t', '\x0c']);
                !first.is_empty() && (line.is_empty() || line.starts_with('#'))
            }
            _ => false,
        };
        let line = if cookie_line {
            self.line_start(start, 0)
        } else {
            start
        };
        Place {
            line: &self.text[line..end],
            offset: start,
            cookie_line,
        }
    }

    /// The run of comment lines that a comment begins: the first token after it, and whether it is a licence.
    fn licence_run(&self, comment: usize) -> (usize, bool) {
        let mut at = comment;
        let mut licence = false;
        loop {
            licence |= comments::is_licence(&self.text[self.start(at)..self.end(at)]);
            let next = at + 2;
            let adjoins = self.kind(at + 1) == Some(TokenKind::NonLogicalNewline)
                && self.kind(next) == Some(TokenKind::Comment);
            if !adjoins {
                return (at + 1, licence);
            }
            at = next;
        }
    }

    /// The cut for a comment that has its line to itself.
    fn line(&self, comment: usize, line: usize, end: usize) -> Edit {
        let bytes = self.text.as_bytes();
        let floor = comment.checked_sub(1).map_or(0, |before| self.end(before));
        if line <= floor {
            let stop = end + line_end(&bytes[end..]);
            return Edit {
                start: line,
                end: stop,
                with: self.ends(line, stop),
            };
        }
        // It ends a line that a backslash continued: the line itself must stay.
        if end < bytes.len() {
            return Edit {
                start: line,
                end,
                with: String::new(),
            };
        }
        Edit {
            start: floor,
            end,
            with: self.ends(floor, end),
        }
    }

    /// The cut for a comment behind code.
    fn inline(&self, start: usize, end: usize, floor: usize) -> Edit {
        Edit {
            start: self.trim(start, floor),
            end,
            with: String::new(),
        }
    }
}
