//! Where in an expression's text a node stands.

use std::ops::Range;

use cel::common::ast::{Expr, IdedExpr, SourceInfo};

/// The bytes that stand for a node: a name for names, facts and calls, the operator for operators.
pub(super) fn place(node: &IdedExpr, info: &SourceInfo) -> Range<usize> {
    let text = info.source.as_str();
    let Some((start, last)) = info.offset_for(node.id) else {
        return 0..text.len();
    };
    let (start, end) = (start as usize, last as usize + 1);
    let range = match &node.expr {
        // A selection stands on its dot: the name follows.
        Expr::Select(select) if select.test => {
            let from = place(&select.operand, info).end;
            find_after(text, from, &select.field).unwrap_or(start..end)
        }
        Expr::Select(select) => find_after(text, start, &select.field).unwrap_or(start..end),
        // A call or a macro stands on its opening parenthesis: the name is before it.
        Expr::Call(_) | Expr::Comprehension(_)
            if text.get(start..).is_some_and(|rest| rest.starts_with('(')) =>
        {
            let before = text[..start].trim_end();
            let name = before.len() - before.bytes().rev().take_while(|byte| is_word(*byte)).count();
            if name < before.len() {
                name..before.len()
            } else {
                start..end
            }
        }
        _ => start..end,
    };
    clamp(text, range)
}

/// The bytes of the whole expression under a node.
pub(super) fn extent(node: &IdedExpr, info: &SourceInfo) -> Range<usize> {
    let mut range = place(node, info);
    let mut widen = |child: &IdedExpr| {
        let inner = extent(child, info);
        range = range.start.min(inner.start)..range.end.max(inner.end);
    };
    match &node.expr {
        Expr::Select(select) => widen(&select.operand),
        Expr::Call(call) => {
            call.target.iter().for_each(|target| widen(target));
            call.args.iter().for_each(&mut widen);
        }
        Expr::Comprehension(inner) => widen(&inner.iter_range),
        _ => {}
    }
    range
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The first place of `word` at or after `from`, if only dots and blanks stand between.
fn find_after(text: &str, from: usize, word: &str) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let skipped = rest.len()
        - rest
            .trim_start_matches(|c: char| c == '.' || c == '?' || c.is_whitespace())
            .len();
    rest[skipped..]
        .starts_with(word)
        .then(|| from + skipped..from + skipped + word.len())
}

/// The range cut to whole characters of the text.
fn clamp(text: &str, range: Range<usize>) -> Range<usize> {
    let mut start = range.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = range.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// The byte at a line and column (both from 1, columns in characters).
pub(super) fn offset_of(text: &str, line: isize, column: isize) -> usize {
    let mut start = 0;
    let wanted = usize::try_from(line - 1).unwrap_or(0);
    for (index, content) in text.split_inclusive('\n').enumerate() {
        if index == wanted {
            let skip = usize::try_from(column - 1).unwrap_or(0);
            return start
                + content
                    .char_indices()
                    .nth(skip)
                    .map_or(content.len(), |(offset, _)| offset);
        }
        start += content.len();
    }
    text.len()
}
