//! Docstrings that the program reads: taking them away changes what it does.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use super::policy::{DocstringsAsCode, Policy};
use super::strings::Owner;
use super::syntax::{self, Decorator, Expr, Stmt, Token, TokenKind};

/// Who reads a docstring, or the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// A grammar rule of PLY (or of SPARK).
    PlyRule,
    /// A token's pattern of PLY.
    PlyToken,
    /// `docopt(__doc__)`.
    Docopt,
    /// `description=__doc__` and the like.
    Argparse,
    /// The help of a command of click or typer.
    ClickHelp,
    /// A decorator with a name that speaks of documentation or deprecation.
    Decorator,
    /// `__doc__ += …`: an error when there is none.
    DocAugmented,
    /// `__doc__ % …`, `in __doc__`, `__doc__.strip()`: an error when there is none.
    DocOperand,
    /// Any other read of `__doc__`.
    DocRead,
    /// `inspect.getdoc` and the like.
    Getdoc,
    /// `inspect.getsource`, `linecache` and the like: they see other text.
    Source,
    /// A literal ends like the name of a Python file: what is read from such a file has lost its comments.
    PythonFile,
    /// Line numbers of frames and tracebacks: they move unless lines are kept.
    LineNumber,
    /// `PYTEST_DONT_REWRITE` in a module's docstring.
    PytestRewrite,
    /// `>>>` in a docstring: a test that is gone.
    Doctest,
}

/// The words that give a reader of docstrings or of the source away, found in one pass.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        "__doc__|PYTEST_DONT_REWRITE|def t_|getsource|getdoc|getcomments|findsource|linecache|f_lineno|tb_lineno|\
         co_firstlineno|open\\(__file__|\\.pyi?[\"']",
    )
    .ok()
});

/// A place where a docstring or the source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    /// Byte offset in the original.
    pub(super) offset: usize,
    /// Who reads.
    pub(super) kind: Use,
}

/// What a file's tokens say about reading docstrings.
#[derive(Debug, Default)]
pub(super) struct Reads<'text> {
    findings: Vec<Finding>,
    /// `__doc__` by itself is read: the module's docstring is in use.
    module: Option<Use>,
    /// `X.__doc__` is read.
    named: BTreeSet<&'text str>,
    /// `self.__doc__` or `cls.__doc__` is read.
    classes: bool,
    /// The module looks like a lexer of PLY.
    ply: bool,
    pytest: bool,
}

impl<'text> Reads<'text> {
    pub(super) fn of(text: &'text str, tokens: &[Token]) -> Self {
        let mut reads = Self::default();
        let (mut doc, mut lexer) = (false, false);
        for found in WORDS.iter().flat_map(|words| words.find_iter(text.as_bytes())) {
            let offset = found.start();
            let kind = match found.as_bytes() {
                b"__doc__" => {
                    doc = true;
                    continue;
                }
                b"def t_" => {
                    lexer = true;
                    continue;
                }
                b"PYTEST_DONT_REWRITE" => {
                    reads.pytest = true;
                    Use::PytestRewrite
                }
                b"getdoc" => Use::Getdoc,
                [b'.', ..] => Use::PythonFile,
                b"f_lineno" | b"tb_lineno" | b"co_firstlineno" => Use::LineNumber,
                _ => Use::Source,
            };
            reads.findings.push(Finding { offset, kind });
        }
        if doc {
            reads.doc_names(text, tokens);
        }
        reads.ply = lexer && is_lexer(text, tokens);
        reads
    }

    /// Adds what was found to a report; words inside comments and strings do not count, and names of files only there.
    pub(super) fn report(&self, tokens: &[Token], uses: &mut Vec<Finding>) {
        uses.extend(self.findings.iter().filter(|finding| {
            let at = tokens.partition_point(|token| syntax::end(token) <= finding.offset);
            let kind = tokens
                .get(at)
                .filter(|token| syntax::start(token) <= finding.offset)
                .map(Token::kind);
            match finding.kind {
                Use::PytestRewrite => true,
                // A string at the start of a statement is not used, most likely a docstring.
                Use::PythonFile => match kind {
                    Some(TokenKind::String) => tokens[..at]
                        .iter()
                        .rfind(|token| {
                            !matches!(token.kind(), TokenKind::NonLogicalNewline | TokenKind::Comment)
                        })
                        .is_some_and(|token| {
                            !matches!(
                                token.kind(),
                                TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent
                            )
                        }),
                    kind => kind == Some(TokenKind::FStringMiddle),
                },
                _ => kind == Some(TokenKind::Name),
            }
        }));
    }

    fn doc_names(&mut self, text: &'text str, tokens: &[Token]) {
        let significant = |from: usize, step: fn(usize) -> Option<usize>| {
            let mut at = step(from)?;
            while tokens.get(at)?.kind().is_trivia() {
                at = step(at)?;
            }
            Some(at)
        };
        let back = |from| significant(from, |at| at.checked_sub(1));
        let on = |from| significant(from, |at| Some(at + 1));
        let word = |at: usize| &text[syntax::start(&tokens[at])..syntax::end(&tokens[at])];
        let kind_of = |at: Option<usize>| at.map(|at| tokens[at].kind());
        for (at, token) in tokens.iter().enumerate() {
            if token.kind() != TokenKind::Name || word(at) != "__doc__" {
                continue;
            }
            let (before, after) = (back(at), on(at));
            let is_attribute = kind_of(before) == Some(TokenKind::Dot);
            // What stands before the whole `a.b.__doc__`.
            let mut head = at;
            while let Some(dot) = back(head).filter(|dot| tokens[*dot].kind() == TokenKind::Dot)
                && let Some(name) = back(dot)
            {
                head = name;
            }
            let left = kind_of(back(head));
            let caller = back(head).and_then(back).map(word).unwrap_or_default();
            let kind = match (left, kind_of(after)) {
                (_, Some(TokenKind::Equal))
                    if left != Some(TokenKind::Lpar) && left != Some(TokenKind::Comma) =>
                {
                    continue;
                }
                (_, Some(TokenKind::PlusEqual | TokenKind::PercentEqual)) => Use::DocAugmented,
                (Some(TokenKind::Lpar), _) if caller.ends_with("docopt") => Use::Docopt,
                (Some(TokenKind::Equal), _)
                    if matches!(caller, "description" | "usage" | "epilog" | "help") =>
                {
                    Use::Argparse
                }
                (
                    _,
                    Some(
                        TokenKind::Dot
                        | TokenKind::Percent
                        | TokenKind::Plus
                        | TokenKind::Lsqb
                        | TokenKind::Star,
                    ),
                )
                | (Some(TokenKind::In | TokenKind::Plus | TokenKind::Percent), _) => Use::DocOperand,
                _ => Use::DocRead,
            };
            self.findings.push(Finding {
                offset: syntax::start(token),
                kind,
            });
            if !is_attribute {
                self.module = Some(self.module.map_or(kind, |known| known.min(kind)));
            } else if let Some(name) = before.and_then(back) {
                match word(name) {
                    "self" | "cls" | "__class__" => self.classes = true,
                    other => {
                        self.named.insert(other);
                    }
                }
            }
        }
    }
}

/// Whether a module assigns `tokens` or `t_NAME`, or imports PLY: then functions `t_NAME` are token rules.
fn is_lexer(text: &str, tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| {
        let name = &text[syntax::start(&pair[0])..syntax::end(&pair[0])];
        pair[0].kind() == TokenKind::Name
            && match pair[1].kind() {
                TokenKind::Equal => name == "tokens" || name.starts_with("t_"),
                _ => name == "ply",
            }
    })
}

/// Reports what a docstring itself says about who reads it.
pub(super) fn docstring(
    text: &str,
    offset: usize,
    owner: Owner<'_>,
    reads: &Reads<'_>,
    uses: &mut Vec<Finding>,
) {
    if memmem::find(text.as_bytes(), b">>> ").is_some() {
        uses.push(Finding {
            offset,
            kind: Use::Doctest,
        });
    }
    if let Some(kind) = owner_reads(text, owner, reads) {
        uses.push(Finding { offset, kind });
    }
}

/// Why a docstring stays; `None` when it goes.
pub(super) fn stays(text: &str, owner: Owner<'_>, reads: &Reads<'_>, policy: &Policy) -> Option<Use> {
    match policy.code_docstrings() {
        DocstringsAsCode::Remove => None,
        DocstringsAsCode::ByMode | DocstringsAsCode::Ply => {
            owner_reads(text, owner, reads).filter(|kind| matches!(kind, Use::PlyRule | Use::PlyToken))
        }
        DocstringsAsCode::Keep => owner_reads(text, owner, reads).or_else(|| match owner {
            Owner::Module if reads.pytest => Some(Use::PytestRewrite),
            Owner::Module => reads.module,
            Owner::Named(Stmt::ClassDef(class)) => {
                (reads.classes || reads.named.contains(class.name.as_str())).then_some(Use::DocRead)
            }
            Owner::Named(Stmt::FunctionDef(function)) => reads
                .named
                .contains(function.name.as_str())
                .then_some(Use::DocRead),
            _ => None,
        }),
    }
}

fn owner_reads(text: &str, owner: Owner<'_>, reads: &Reads<'_>) -> Option<Use> {
    let (name, decorators): (&str, &[Decorator]) = match owner {
        Owner::Named(Stmt::FunctionDef(function)) => (function.name.as_str(), &function.decorator_list),
        Owner::Named(Stmt::ClassDef(class)) => ("", &class.decorator_list),
        _ => return None,
    };
    if name.starts_with("p_") && is_grammar(text) {
        return Some(Use::PlyRule);
    }
    if reads.ply && name.starts_with("t_") && name != "t_error" {
        return Some(Use::PlyToken);
    }
    decorators.iter().find_map(|decorator| {
        let last = last_name(&decorator.expression)?;
        let lower = last.to_ascii_lowercase();
        match lower.as_str() {
            // A command's help is its docstring, unless it is given.
            "command" | "group" | "callback" => Some(Use::ClickHelp),
            "token" => Some(Use::PlyToken).filter(|_| reads.ply),
            "appender" | "substitution" | "interpd" | "array_function_dispatch" => Some(Use::Decorator),
            _ if lower.contains("doc") || lower.contains("deprecat") => Some(Use::Decorator),
            _ => None,
        }
    })
}

/// Whether a docstring is a grammar rule: `name :` or `name ::=` comes first.
fn is_grammar(text: &str) -> bool {
    let body = text
        .trim_start_matches(|c: char| c.is_ascii_alphabetic())
        .trim_start_matches(['"', '\'']);
    let body = body.trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
    let rest = body.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
    rest.len() < body.len() && rest.trim_start().starts_with(':')
}

fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Call(call) => last_name(&call.func),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        Expr::Name(name) => Some(name.id.as_str()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strip::python::{Dialect, strip};

    fn uses(source: &str) -> Vec<(u32, Use)> {
        strip(source.as_bytes(), Dialect::Module, &Policy::default())
            .facts
            .uses
    }

    #[test]
    fn who_reads_docstrings_or_the_source_is_told_by_line() {
        assert_eq!(uses("import inspect\ninspect.getsource(f)\n"), [(2, Use::Source)]);
        assert_eq!(uses("print(__doc__ % 1)\n"), [(1, Use::DocOperand)]);
        assert_eq!(uses("x = 'f_lineno'  # f_lineno\n"), []);
    }

    #[test]
    fn a_name_of_python_files_is_told_where_it_is_used() {
        let told = [(2, Use::PythonFile)];
        assert_eq!(uses("import glob\nfor x in glob.glob('*.py'): pass\n"), told);
        assert_eq!(uses("x = (\n    f\"{name}.pyi\")\n"), told);
        assert_eq!(uses("x = [ # c\n  'a.py', 'b']\n"), told);
        for silent in [
            "'''Like a.py'''\n",
            "def f():\n    'a.py'\n",
            "# 'a.py'\nx = 1\n",
            "x = 'a.pyc'\n",
            "a.py\n",
        ] {
            assert_eq!(uses(silent), [], "{silent}");
        }
    }
}
