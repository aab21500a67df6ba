//! Statements that are strings: docstrings and the like, and which of them go.

use super::as_code::{self, Reads};
use super::policy::{Policy, Remove};
use super::syntax::{self, Dialect, Stmt, Token, TokenKind};

/// What a statement that is a string is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StringKind {
    /// In the run of strings that a module, a class or a function begins with.
    Docstring,
    /// After an assignment.
    AttributeDocstring,
    /// Anywhere else.
    StringStatement,
}

/// One statement that goes, by its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Removal {
    /// Its first token.
    pub(super) first: usize,
    /// The token that ends it: a newline, a semicolon, or one past the last.
    pub(super) end: usize,
    /// Where the tree says it starts.
    pub(super) start: usize,
    /// What it was.
    pub(super) kind: StringKind,
    /// Whether a `pass` takes its place, because nothing else is left of the body.
    pub(super) pass: bool,
}

/// A string statement that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    /// Where it starts.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// What it is.
    pub(super) kind: StringKind,
    /// For a docstring: why it stays.
    pub(super) because: Option<as_code::Use>,
}

/// Every string statement of a file, sorted by place.
#[derive(Debug, Default)]
pub(super) struct Strings {
    /// Those that go.
    pub(super) removals: Vec<Removal>,
    /// Those that stay.
    pub(super) left: Vec<Left>,
    /// What reads docstrings, whether they stay or not.
    pub(super) uses: Vec<as_code::Finding>,
}

/// Whose body a statement list is.
#[derive(Clone, Copy)]
pub(super) enum Owner<'ast> {
    /// The file's.
    Module,
    /// A class's or a function's.
    Named(&'ast Stmt),
    /// Any other compound statement's.
    Block,
}

/// Finds the string statements of a file and decides about each.
pub(super) fn find(
    text: &str,
    body: &[Stmt],
    tokens: &[Token],
    dialect: Dialect,
    policy: &Policy,
) -> Strings {
    let reads = Reads::of(text, tokens);
    let mut strings = Strings::default();
    reads.report(tokens, &mut strings.uses);
    let top = if dialect == Dialect::Cell {
        Owner::Block
    } else {
        Owner::Module
    };
    let mut work = vec![(body, top)];
    while let Some((body, owner)) = work.pop() {
        suite(body, owner, text, tokens, policy, &reads, &mut strings);
        for statement in body {
            let inner = match statement {
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => Owner::Named(statement),
                _ => Owner::Block,
            };
            syntax::suites(statement, |suite| {
                if !suite.is_empty() {
                    work.push((suite, inner));
                }
            });
        }
    }
    strings.removals.sort_unstable_by_key(|removal| removal.first);
    strings.left.sort_unstable_by_key(|left| left.start);
    strings.uses.sort_unstable();
    strings.uses.dedup();
    strings
}

fn suite(
    body: &[Stmt],
    owner: Owner<'_>,
    text: &str,
    tokens: &[Token],
    policy: &Policy,
    reads: &Reads<'_>,
    strings: &mut Strings,
) {
    let run = match owner {
        Owner::Block => 0,
        _ => body
            .iter()
            .take_while(|statement| syntax::is_string(statement))
            .count(),
    };
    let mut keep_run = false;
    if let Some(first) = body.first().filter(|_| run > 0) {
        let docstring = &text[syntax::start(first)..syntax::end(first)];
        as_code::docstring(docstring, syntax::start(first), owner, reads, &mut strings.uses);
        if let Some(because) = as_code::stays(docstring, owner, reads, policy) {
            keep_run = true;
            let (start, end) = (syntax::start(first), syntax::end(first));
            strings.left.push(Left {
                start,
                end,
                kind: StringKind::Docstring,
                because: Some(because),
            });
        }
    }
    let before = strings.removals.len();
    let mut previous: Option<&Stmt> = None;
    let mut after_assignment = false;
    for (place, statement) in body.iter().enumerate() {
        if !syntax::is_string(statement) {
            after_assignment = matches!(
                statement,
                Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::TypeAlias(_)
            );
            previous = Some(statement);
            continue;
        }
        let kind = if place < run && !keep_run {
            StringKind::Docstring
        } else if previous.is_some() && after_assignment {
            StringKind::AttributeDocstring
        } else {
            StringKind::StringStatement
        };
        let goes = match kind {
            StringKind::Docstring => true,
            StringKind::AttributeDocstring => policy.removes(Remove::AttributeDocstrings),
            StringKind::StringStatement => policy.removes(Remove::StringStatements),
        };
        let is_kept_docstring = keep_run && place == 0;
        if goes && !is_kept_docstring {
            strings.removals.push(removal(statement, tokens, kind));
        } else if !is_kept_docstring {
            let (start, end) = (syntax::start(statement), syntax::end(statement));
            strings.left.push(Left {
                start,
                end,
                kind,
                because: None,
            });
        }
    }
    let emptied = !body.is_empty() && strings.removals.len() - before == body.len();
    if emptied && !matches!(owner, Owner::Module) {
        strings.removals[before].pass = true;
    }
}

/// A statement's tokens. The tree's range lacks the parentheses around the string, so the tokens decide.
fn removal(statement: &Stmt, tokens: &[Token], kind: StringKind) -> Removal {
    let start = syntax::start(statement);
    let mut string = tokens.partition_point(|token| syntax::start(token) < start);
    // An indent or a dedent may start at the same place.
    while tokens
        .get(string)
        .is_some_and(|token| !matches!(token.kind(), TokenKind::String | TokenKind::Lpar))
    {
        string += 1;
    }
    let mut first = string;
    while let Some(before) = first.checked_sub(1)
        && (tokens[before].kind() == TokenKind::Lpar || tokens[before].kind().is_trivia())
    {
        first = before;
    }
    while tokens.get(first).is_some_and(|token| token.kind().is_trivia()) {
        first += 1;
    }
    let end = string
        + tokens[string.min(tokens.len())..]
            .iter()
            .take_while(|token| !matches!(token.kind(), TokenKind::Newline | TokenKind::Semi))
            .count();
    Removal {
        first,
        end,
        start,
        kind,
        pass: false,
    }
}
