//! The parser, in one place: the only file that names its crates. Everything here works on text that is already
//! decoded and has no byte order mark.

pub(super) use ruff_python_ast::comparable::ComparableModModule;
pub(super) use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::{AtomicNodeIndex, ExceptHandler, PySourceType, StmtPass, Suite};
pub(super) use ruff_python_ast::{Decorator, Expr, ModModule, Stmt};
pub(super) use ruff_python_parser::Parsed;
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, parse_expression, parse_unchecked_source};
use ruff_text_size::{Ranged, TextRange};

/// What a Python file is parsed as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `.py` and everything that is like it.
    Module,
    /// `.pyi`.
    Stub,
    /// A notebook's cell: magics are allowed, and a string at its start is output, no docstring.
    Cell,
}

/// Parses a file, with recovery: the tree and the tokens are there even when the text is not valid.
pub(super) fn parse(text: &str, dialect: Dialect) -> Parsed<ModModule> {
    let source = match dialect {
        Dialect::Module => PySourceType::Python,
        Dialect::Stub => PySourceType::Stub,
        Dialect::Cell => PySourceType::Ipynb,
    };
    parse_unchecked_source(text, source)
}

/// The kinds of the tokens of a text, comments and blank lines among them, without a parse.
pub(super) fn kinds(text: &str, dialect: Dialect) -> impl Iterator<Item = TokenKind> {
    let mode = if dialect == Dialect::Cell {
        Mode::Ipython
    } else {
        Mode::Module
    };
    let mut lexer = lex(text, mode);
    std::iter::from_fn(move || {
        let kind = lexer.next_token();
        (kind != TokenKind::EndOfFile).then_some(kind)
    })
}

/// Whether a text is one valid expression.
pub(super) fn is_expression(text: &str) -> bool {
    parse_expression(text).is_ok()
}

/// Where a token or a node starts, in bytes.
pub(super) fn start(node: &impl Ranged) -> usize {
    node.start().to_usize()
}

/// Where a token or a node ends, in bytes.
pub(super) fn end(node: &impl Ranged) -> usize {
    node.end().to_usize()
}

/// The statement lists inside a compound statement, in the order of the source.
pub(super) fn suites<'ast>(statement: &'ast Stmt, mut each: impl FnMut(&'ast [Stmt])) {
    match statement {
        Stmt::FunctionDef(inner) => each(&inner.body),
        Stmt::ClassDef(inner) => each(&inner.body),
        Stmt::With(inner) => each(&inner.body),
        Stmt::For(inner) => {
            each(&inner.body);
            each(&inner.orelse);
        }
        Stmt::While(inner) => {
            each(&inner.body);
            each(&inner.orelse);
        }
        Stmt::If(inner) => {
            each(&inner.body);
            for clause in &inner.elif_else_clauses {
                each(&clause.body);
            }
        }
        Stmt::Match(inner) => {
            for case in &inner.cases {
                each(&case.body);
            }
        }
        Stmt::Try(inner) => {
            each(&inner.body);
            for ExceptHandler::ExceptHandler(handler) in &inner.handlers {
                each(&handler.body);
            }
            each(&inner.orelse);
            each(&inner.finalbody);
        }
        _ => {}
    }
}

/// Whether a statement is a string and nothing else: not an f-string, not bytes.
pub(super) fn is_string(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(inner) if inner.value.is_string_literal_expr())
}

/// Takes string statements out of a tree by where they start, as the cuts took them out of the text: a body with
/// nothing else left holds a `pass`, except the module's.
pub(super) fn without(module: &mut ModModule, gone: &dyn Fn(usize) -> bool) {
    thin(&mut module.body, gone);
}

fn thin(body: &mut Suite, gone: &dyn Fn(usize) -> bool) {
    body.retain(|statement| !(is_string(statement) && gone(start(statement))));
    for statement in body.iter_mut() {
        suites_mut(statement, &mut |suite| {
            let had = !suite.is_empty();
            thin(suite, gone);
            if had && suite.is_empty() {
                let (node_index, range) = (AtomicNodeIndex::NONE, TextRange::default());
                suite.push(Stmt::Pass(StmtPass { node_index, range }));
            }
        });
    }
}

fn suites_mut(statement: &mut Stmt, each: &mut dyn FnMut(&mut Suite)) {
    match statement {
        Stmt::FunctionDef(inner) => each(&mut inner.body),
        Stmt::ClassDef(inner) => each(&mut inner.body),
        Stmt::With(inner) => each(&mut inner.body),
        Stmt::For(inner) => {
            each(&mut inner.body);
            each(&mut inner.orelse);
        }
        Stmt::While(inner) => {
            each(&mut inner.body);
            each(&mut inner.orelse);
        }
        Stmt::If(inner) => {
            each(&mut inner.body);
            for clause in &mut inner.elif_else_clauses {
                each(&mut clause.body);
            }
        }
        Stmt::Match(inner) => {
            for case in &mut inner.cases {
                each(&mut case.body);
            }
        }
        Stmt::Try(inner) => {
            each(&mut inner.body);
            for ExceptHandler::ExceptHandler(handler) in &mut inner.handlers {
                each(&mut handler.body);
            }
            each(&mut inner.orelse);
            each(&mut inner.finalbody);
        }
        _ => {}
    }
}
