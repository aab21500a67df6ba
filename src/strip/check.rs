//! The proof that a stripped file is the same program. Nothing is written without it.
//!
//! The cheap proof is about tokens. A parser sees tokens and nothing else; so when the stripped text's tokens are the
//! original's, apart from whole statements that are strings (gone, or a `pass` in their place), its tree is the
//! original's apart from those statements. What has to be shown: (a) what goes are string statements; (b) no cut
//! touches any other token; (c) lexing the result gives the kinds that are left, in order. From (b) every token that is
//! left has its bytes, and by (c) none has run into its neighbour. The dear proof parses the result and compares trees.

use super::edit::{self, Plan};
use super::policy::Policy;
use super::strings::{self, Removal};
use super::syntax::{self, ComparableModModule, Dialect, ModModule, Token, TokenKind};
use super::text::line_ends;

/// Why a file is not proven, as a fragment that finishes "the result …".
pub(super) type Doubt = String;

/// Shows by tokens that `out` is `text` without the plan's statements and comments.
pub(super) fn tokens(
    text: &str,
    tokens: &[Token],
    plan: &Plan,
    out: &str,
    dialect: Dialect,
) -> Result<(), Doubt> {
    only_strings_go(text, tokens, plan)?;
    no_cut_touches_code(text, tokens, plan)?;
    kinds_are_left(tokens, plan, out, dialect)
}

/// (a): every statement that goes is made of string literals, parentheses and its end, and is a whole statement.
fn only_strings_go(text: &str, tokens: &[Token], plan: &Plan) -> Result<(), Doubt> {
    for group in &plan.groups {
        let members = &tokens[group.first..group.end];
        for token in members {
            let fits = match token.kind() {
                TokenKind::String => {
                    let literal = &text.as_bytes()[syntax::start(token)..syntax::end(token)];
                    let prefix = literal.iter().take_while(|byte| byte.is_ascii_alphabetic());
                    prefix.into_iter().all(|byte| !matches!(byte, b'b' | b'B'))
                }
                TokenKind::Lpar | TokenKind::Rpar | TokenKind::Semi | TokenKind::Newline => true,
                kind => kind.is_trivia(),
            };
            if !fits {
                return Err(format!(
                    "would lose more than a string at byte {}",
                    syntax::start(token)
                ));
            }
        }
        let before = tokens[..group.first].iter().rev().find(|token| {
            !token.kind().is_trivia() && !matches!(token.kind(), TokenKind::Indent | TokenKind::Dedent)
        });
        let starts = before.is_none_or(|token| {
            matches!(
                token.kind(),
                TokenKind::Newline | TokenKind::Colon | TokenKind::Semi
            ) || tokens[group.first].kind() == TokenKind::Semi
        });
        let ends = members
            .last()
            .is_some_and(|token| matches!(token.kind(), TokenKind::Newline | TokenKind::Semi))
            || tokens
                .get(group.end)
                .is_none_or(|token| token.kind() == TokenKind::Newline)
            || tokens
                .get(group.end)
                .is_some_and(|token| token.kind() == TokenKind::Comment);
        if !starts || !ends {
            return Err(format!(
                "would lose a part of a statement at byte {}",
                syntax::start(&tokens[group.first])
            ));
        }
    }
    Ok(())
}

/// (b): a cut holds whole tokens, and only comments, line ends of comments, indentation and what (a) has shown.
fn no_cut_touches_code(text: &str, tokens: &[Token], plan: &Plan) -> Result<(), Doubt> {
    let mut groups = plan.groups.iter().peekable();
    let mut at = 0;
    let mut previous_end = 0;
    for edit in &plan.edits {
        if edit.start < previous_end || edit.end < edit.start {
            return Err("has cuts that overlap".into());
        }
        previous_end = edit.end;
        while tokens
            .get(at)
            .is_some_and(|token| syntax::end(token) <= edit.start)
        {
            at += 1;
        }
        let mut inside = at;
        while let Some(token) = tokens.get(inside).filter(|token| syntax::start(token) < edit.end) {
            while groups.peek().is_some_and(|group| group.end <= inside) {
                groups.next();
            }
            let goes = groups.peek().is_some_and(|group| group.first <= inside);
            let whole = edit.start <= syntax::start(token) && syntax::end(token) <= edit.end;
            let fits = match token.kind() {
                TokenKind::Indent | TokenKind::Dedent | TokenKind::Comment => true,
                TokenKind::NonLogicalNewline => whole,
                _ => whole && goes,
            };
            if !fits && syntax::start(token) < syntax::end(token) {
                return Err(format!("would lose code at byte {}", syntax::start(token)));
            }
            inside += 1;
        }
        let touch = |byte: Option<&u8>| {
            byte.is_some_and(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'' | b'"' | 0x80..)
            })
        };
        let (before, after) = text.as_bytes().split_at(edit.start);
        if edit.with.is_empty() && touch(before.last()) && touch(after.get(edit.end - edit.start)) {
            return Err(format!("would join words at byte {}", edit.start));
        }
    }
    Ok(())
}

/// Shows that every cut leaves the line ends that it took, and that none ran into its neighbour.
pub(super) fn lines(text: &str, plan: &Plan, out: &str) -> Result<(), Doubt> {
    for edit in &plan.edits {
        if !line_ends(&text[edit.start..edit.end]).eq(line_ends(&edit.with)) {
            return Err(format!("would move lines at byte {}", edit.start));
        }
    }
    if line_ends(text).count() != line_ends(out).count() {
        return Err("has another number of lines".into());
    }
    Ok(())
}

/// (c): the kinds of the result's tokens are the kinds that are left.
fn kinds_are_left(tokens: &[Token], plan: &Plan, out: &str, dialect: Dialect) -> Result<(), Doubt> {
    let mut groups = plan.groups.iter().peekable();
    let mut at = 0;
    let mut expected = std::iter::from_fn(|| {
        loop {
            if let Some(group) = groups.next_if(|group| group.first == at) {
                at = group.end;
                if group.pass {
                    return Some(TokenKind::Pass);
                }
                continue;
            }
            let kind = tokens.get(at)?.kind();
            at += 1;
            if !kind.is_trivia() {
                return Some(plain(kind));
            }
        }
    });
    let mut comments = 0;
    for kind in syntax::kinds(out, dialect) {
        if kind.is_comment() {
            comments += 1;
        }
        if kind.is_trivia() {
            continue;
        }
        let wanted = expected.next();
        if wanted != Some(plain(kind)) {
            return Err(format!("has {kind:?} where {wanted:?} was"));
        }
    }
    if let Some(kind) = expected.next() {
        return Err(format!("lacks {kind:?} at its end"));
    }
    if comments != plan.kept.len() {
        return Err(format!("has {comments} comments instead of {}", plan.kept.len()));
    }
    Ok(())
}

/// A soft keyword is a name until the parser has seen what follows.
fn plain(kind: TokenKind) -> TokenKind {
    if kind.is_soft_keyword() {
        TokenKind::Name
    } else {
        kind
    }
}

/// Shows by parsing that `out` is the original's tree without what went, and that nothing is left to strip.
pub(super) fn tree(
    mut original: ModModule,
    removals: &[Removal],
    out: &str,
    dialect: Dialect,
    policy: &Policy,
) -> Result<(), Doubt> {
    let parsed = syntax::parse(out, dialect);
    if let Some(error) = parsed.errors().first() {
        return Err(format!("does not parse: {error}"));
    }
    let mut gone: Vec<usize> = removals.iter().map(|removal| removal.start).collect();
    gone.sort_unstable();
    syntax::without(&mut original, &|start| gone.binary_search(&start).is_ok());
    if ComparableModModule::from(&original) != ComparableModModule::from(parsed.syntax()) {
        return Err("is another program".into());
    }
    let strings = strings::find(out, parsed.suite(), parsed.tokens(), dialect, policy);
    let again = edit::plan(out, parsed.tokens(), &strings, policy);
    match again.edits.first() {
        None => Ok(()),
        Some(edit) => Err(format!("is not at rest: byte {} would go, too", edit.start)),
    }
}
