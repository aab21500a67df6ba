//! How deeply a text nests, before a tree is built of it. Dropping a deep tree recurses, and a stack that overflows
//! ends the whole process; so files that nest beyond all reason are never parsed.

use super::syntax::{self, Dialect, TokenKind};

/// Files up to this many bytes cannot nest deeply enough to matter.
pub(super) const HARMLESS_BYTES: usize = 128 * 1024;

/// Levels that are parsed. Python itself refuses more than 200 brackets, and ends some thousand levels into a chain.
pub(super) const MAX_LEVELS: usize = 60_000;

/// Whether a text may be parsed on a stack made for [`MAX_LEVELS`].
pub(super) fn is_bearable(text: &str) -> bool {
    text.len() <= HARMLESS_BYTES || levels(text) <= MAX_LEVELS
}

/// A bound on how deep the tree of a text is: brackets around it, and operators, calls and keywords chained since the
/// last comma, added up over all open brackets. Blocks count by their indentation.
pub(super) fn levels(text: &str) -> usize {
    let mut deepest = 0;
    let mut blocks = 0_usize;
    let mut open: Vec<usize> = vec![0];
    let mut total = 0;
    for kind in syntax::kinds(text, Dialect::Module) {
        match kind {
            TokenKind::Indent => blocks += 1,
            TokenKind::Dedent => blocks = blocks.saturating_sub(1),
            TokenKind::Newline => {
                open.clear();
                open.push(0);
                total = 0;
            }
            TokenKind::Comma => total -= open.last_mut().map_or(0, std::mem::take),
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                open.push(1);
                total += 1;
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                if open.len() > 1 {
                    total -= open.pop().unwrap_or(0);
                }
                // What was closed may be called or indexed once more.
                if let Some(last) = open.last_mut() {
                    *last += 1;
                    total += 1;
                }
            }
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline => {}
            _ => {
                if let Some(last) = open.last_mut() {
                    *last += 1;
                    total += 1;
                }
            }
        }
        deepest = deepest.max(total + blocks);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn brackets_and_chains_are_deep_and_tables_are_not() {
        assert!(levels(&"[".repeat(1000)) >= 1000);
        assert!(levels(&format!("x = {}1", "-".repeat(1000))) >= 1000);
        assert!(levels(&format!("x = 1{}", " + 1".repeat(1000))) >= 1000);
        assert!(levels(&format!("x{}", "()".repeat(1000))) >= 1000);
        assert!(levels(&format!("x = [{}]", "[-1, 2 + 3], ".repeat(1000))) < 10);
        assert!(levels(&"x = f(1)\n".repeat(1000)) < 10);
    }
}
