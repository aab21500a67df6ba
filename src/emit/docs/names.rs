//! Names that Python files define, and names that they use. The only file here that names the parser's crates.

use std::collections::BTreeSet;
use std::ops::Range;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_keyword, walk_stmt};
use ruff_python_ast::{Arguments, Expr, Keyword, PySourceType, Stmt};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::Ranged;

use super::hints::{Hint, HintKind};

/// Functions and methods that reach something by the names in their first two arguments.
const REACHES: &[&str] = &[
    "__import__",
    "attrgetter",
    "delattr",
    "find_spec",
    "getattr",
    "hasattr",
    "import_module",
    "importorskip",
    "methodcaller",
    "multiple",
    "object",
    "patch",
    "resolve_name",
    "setattr",
    "spy",
];
const QUOTES: [char; 2] = ['"', '\''];

/// The lines (from 0, the end excluded) of a file's docstring.
pub(super) fn docstring(text: &str) -> Option<Range<usize>> {
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let first = parsed.syntax().body.first()?;
    let Stmt::Expr(expression) = first else {
        return None;
    };
    matches!(&*expression.value, Expr::StringLiteral(_)).then(|| lines(text, first))
}

/// The words of a docstring on these lines, one line each.
pub(super) fn words(text: &str, docstring: &Range<usize>) -> String {
    let count = docstring.len();
    let lines = text.lines().skip(docstring.start).take(count);
    let words = lines.enumerate().map(|(place, line)| {
        let line = if place == 0 {
            line.trim_start_matches(|c: char| c.is_ascii_alphabetic())
                .trim_start_matches(QUOTES)
        } else {
            line
        };
        if place + 1 == count {
            line.trim_end().trim_end_matches(QUOTES)
        } else {
            line
        }
    });
    words.collect::<Vec<_>>().join("\n")
}

/// The names of the classes and functions that a line (from 1) stands in, outermost first.
pub(super) fn around(text: &str, line: usize) -> Vec<String> {
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let mut names = vec![];
    let mut body: &[Stmt] = &parsed.syntax().body;
    let is_there = |statement: &&Stmt| lines(text, *statement).contains(&line.saturating_sub(1));
    while let Some(statement) = body.iter().find(is_there) {
        match statement {
            Stmt::FunctionDef(function) => {
                names.push(function.name.to_string());
                body = &function.body;
            }
            Stmt::ClassDef(class) => {
                names.push(class.name.to_string());
                body = &class.body;
            }
            _ => break,
        }
    }
    names
}

fn lines(text: &str, node: &impl Ranged) -> Range<usize> {
    let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count();
    line(node.start().to_usize())..line(node.end().to_usize()) + 1
}

/// What a file defines for others: functions, classes, methods, fields, parameters, and messages of errors that it
/// raises. Names local to a function are none.
pub(super) fn defined(text: &str) -> BTreeSet<Hint> {
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let mut reader = Definitions {
        found: BTreeSet::new(),
        scopes: vec![],
    };
    parsed
        .syntax()
        .body
        .iter()
        .for_each(|statement| reader.visit_stmt(statement));
    reader.found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Class,
    Function,
}

struct Definitions {
    found: BTreeSet<Hint>,
    scopes: Vec<Scope>,
}

impl Definitions {
    fn add(&mut self, kind: HintKind, name: &str) {
        if !name.is_empty() {
            self.found.insert(Hint {
                kind,
                name: name.to_owned(),
            });
        }
    }

    fn is_in_function(&self) -> bool {
        self.scopes.contains(&Scope::Function)
    }

    fn target(&mut self, target: &Expr) {
        match (target, self.scopes.last()) {
            (Expr::Name(name), Some(Scope::Class)) if !self.is_in_function() => {
                self.add(HintKind::Field, &name.id);
            }
            (Expr::Name(name), None) => self.add(HintKind::Field, &name.id),
            (Expr::Attribute(attribute), Some(Scope::Function)) => {
                if matches!(&*attribute.value, Expr::Name(name) if name.id.as_str() == "self" || name.id.as_str() == "cls")
                {
                    self.add(HintKind::Field, &attribute.attr);
                }
            }
            (Expr::Tuple(tuple), _) => tuple.elts.iter().for_each(|inner| self.target(inner)),
            _ => {}
        }
    }

    /// Texts in what is raised.
    fn raised(&mut self, exception: &Expr) {
        if let Expr::Call(call) = exception {
            for argument in &call.arguments.args {
                if let Expr::StringLiteral(text) = argument {
                    self.add(HintKind::Message, text.value.to_str());
                }
            }
        }
    }
}

impl<'a> Visitor<'a> for Definitions {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                let local = self.is_in_function();
                if !local {
                    let kind = match self.scopes.last() {
                        Some(Scope::Class) => HintKind::Method,
                        _ => HintKind::Function,
                    };
                    self.add(kind, &function.name);
                    for parameter in &*function.parameters {
                        let name = parameter.name().as_str();
                        if name != "self" && name != "cls" {
                            self.add(HintKind::Parameter, name);
                        }
                    }
                }
                self.scopes.push(Scope::Function);
                walk_stmt(self, statement);
                self.scopes.pop();
            }
            Stmt::ClassDef(class) => {
                if !self.is_in_function() {
                    self.add(HintKind::Class, &class.name);
                }
                self.scopes.push(Scope::Class);
                walk_stmt(self, statement);
                self.scopes.pop();
            }
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.target(target));
                walk_stmt(self, statement);
            }
            Stmt::AnnAssign(assign) => {
                self.target(&assign.target);
                walk_stmt(self, statement);
            }
            Stmt::Raise(raise) => {
                raise.exc.iter().for_each(|exception| self.raised(exception));
                walk_stmt(self, statement);
            }
            _ => walk_stmt(self, statement),
        }
    }
}

/// What a file uses: names, attributes, keywords of calls, parts of modules that it imports, and its texts.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub(super) names: BTreeSet<String>,
    pub(super) modules: BTreeSet<String>,
    pub(super) texts: Vec<String>,
}

impl Used {
    /// Takes the names by which a call reaches something: `setattr("pkg.mod.name", …)`.
    fn reached(&mut self, function: &Expr, arguments: &Arguments) {
        let name = match function {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return,
        };
        if !REACHES.contains(&name) {
            return;
        }
        let named = arguments.keywords.iter().filter(|keyword| {
            keyword
                .arg
                .as_ref()
                .is_some_and(|name| matches!(name.as_str(), "target" | "name" | "attribute"))
        });
        let given = arguments.args.iter().take(2);
        for argument in given.chain(named.map(|keyword| &keyword.value)) {
            if let Expr::StringLiteral(text) = argument
                && text.value.to_str().split(['.', ':']).all(is_identifier)
            {
                let text = text.value.to_str();
                self.names.extend(text.split(['.', ':']).map(str::to_owned));
                self.modules.insert(text.replace(':', "."));
            }
        }
    }
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// What a file uses.
pub(super) fn used(text: &str) -> Used {
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let mut used = Used::default();
    parsed
        .syntax()
        .body
        .iter()
        .for_each(|statement| used.visit_stmt(statement));
    used
}

impl<'a> Visitor<'a> for Used {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                self.modules
                    .extend(import.names.iter().map(|alias| alias.name.to_string()));
            }
            Stmt::ImportFrom(import) => {
                let module = import
                    .module
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                for alias in &import.names {
                    self.names.insert(alias.name.to_string());
                    self.modules.insert(format!("{module}.{}", alias.name));
                }
                self.modules.insert(module);
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => {
                self.names.insert(name.id.to_string());
            }
            Expr::Attribute(attribute) => {
                self.names.insert(attribute.attr.to_string());
            }
            Expr::Call(call) => self.reached(&call.func, &call.arguments),
            Expr::StringLiteral(text) => self.texts.push(text.value.to_str().to_owned()),
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_keyword(&mut self, keyword: &'a Keyword) {
        if let Some(name) = &keyword.arg {
            self.names.insert(name.to_string());
        }
        walk_keyword(self, keyword);
    }
}
