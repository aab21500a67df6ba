//! Python files that configure things (`setup.py`, `noxfile.py`), parsed and never run: constants, functions with their
//! decorators, and calls in the order of the source. The only file outside `strip` that names the parser's crates.
//!
//! Values are worked out where they are plain: literals, names bound to them before, concatenations, f-strings of known
//! parts, `"…".format(…)`-free. What depends on the machine or on a run is unknown, and left out.

use std::cell::Cell;
use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Arguments, Expr, ExprCall, InterpolatedStringElement, Operator, PySourceType, Stmt};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::Ranged;

use crate::domain::settings::value::{Kind, Value};

/// Larger files configure nothing; up to here a file cannot nest deeply enough for the stack below.
const LARGEST: usize = 128 * 1024;
/// Values and bytes of text that one file's names may be copied into, in all.
const MOST_COPIED: usize = 4 << 20;
/// A deep tree is built, walked and dropped by recursion.
const STACK: usize = 512 << 20;

/// A module.
#[derive(Debug, Clone, Default)]
pub(super) struct Module {
    /// Names bound to plain values at the module's level.
    pub(super) names: BTreeMap<String, Value>,
    pub(super) functions: Vec<Function>,
    /// Calls outside functions.
    pub(super) calls: Vec<Call>,
}

/// A function.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) line: u32,
    /// Decorators; one without arguments is a call without any.
    pub(super) decorators: Vec<Call>,
    pub(super) calls: Vec<Call>,
    /// `session.env["A"] = "1"`: what is set, the key, the value, the line.
    pub(super) sets: Vec<(String, String, String, u32)>,
}

/// A call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// `session.install`; empty where it is no plain name.
    pub(super) name: String,
    pub(super) line: u32,
    /// Arguments; one that is unknown is nothing.
    pub(super) args: Vec<Value>,
    pub(super) keywords: Vec<(String, Value)>,
}

impl Call {
    /// A keyword argument's value.
    pub(super) fn keyword(&self, name: &str) -> Option<&Value> {
        self.keywords
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }
}

/// Reads a module; what does not parse is read as far as it does. `None` for a file that is too large.
pub(super) fn read(text: &str) -> Option<Module> {
    if text.len() > LARGEST {
        return None;
    }
    let read = || {
        let parsed = parse_unchecked_source(text, PySourceType::Python);
        let mut reader = Reader {
            lines: Lines::of(text),
            module: Module::default(),
            scope: BTreeMap::new(),
            function: None,
            budget: Cell::new(MOST_COPIED),
        };
        for statement in &parsed.syntax().body {
            reader.visit_stmt(statement);
        }
        reader.module
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, read)
            .ok()?;
        thread.join().ok()
    })
}

struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(
            std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
        )
    }

    fn line(&self, node: &impl Ranged) -> u32 {
        let at = node.start().to_usize();
        u32::try_from(self.0.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }
}

struct Reader {
    lines: Lines,
    module: Module,
    /// Names of the function that is being read, over the module's.
    scope: BTreeMap<String, Value>,
    function: Option<Function>,
    /// What may still be copied out of names: `r = r + r` doubles with every line.
    budget: Cell<usize>,
}

impl<'a> Visitor<'a> for Reader {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(inner) if self.function.is_none() => {
                let decorators = inner
                    .decorator_list
                    .iter()
                    .map(|decorator| match &decorator.expression {
                        Expr::Call(call) => self.call(call),
                        plain => Call {
                            name: dotted(plain),
                            line: self.lines.line(plain),
                            ..Call::default()
                        },
                    });
                let decorators: Vec<Call> = decorators.collect();
                let parameters: Vec<_> = decorators.iter().flat_map(parameters).collect();
                self.scope.extend(parameters);
                self.function = Some(Function {
                    name: inner.name.id.to_string(),
                    line: self.lines.line(&inner.name),
                    decorators,
                    calls: vec![],
                    sets: vec![],
                });
                for statement in &inner.body {
                    self.visit_stmt(statement);
                }
                self.scope.clear();
                self.module.functions.extend(self.function.take());
                return;
            }
            Stmt::Assign(inner) => {
                for target in &inner.targets {
                    self.bind(target, &inner.value);
                }
            }
            Stmt::AnnAssign(inner) => {
                if let Some(value) = &inner.value {
                    self.bind(&inner.target, value);
                }
            }
            Stmt::AugAssign(inner) if inner.op == Operator::Add => {
                if let Expr::Name(name) = inner.target.as_ref() {
                    let sum = self
                        .copy(&name.id)
                        .zip(self.value(&inner.value))
                        .and_then(|(a, b)| add(a, b));
                    self.insert(name.id.to_string(), sum);
                }
            }
            Stmt::For(inner) => {
                // A loop's name stands for its first value: what is installed for one is installed for all.
                let first = self
                    .value(&inner.iter)
                    .and_then(|value| value.members().next().cloned());
                if let Expr::Name(name) = inner.target.as_ref() {
                    self.insert(name.id.to_string(), first);
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression {
            let found = self.call(call);
            match &mut self.function {
                Some(function) => function.calls.push(found),
                None => self.module.calls.push(found),
            }
        }
        walk_expr(self, expression);
    }
}

impl Reader {
    fn bind(&mut self, target: &Expr, value: &Expr) {
        let known = self.value(value);
        match target {
            Expr::Name(name) => self.insert(name.id.to_string(), known),
            Expr::Subscript(inner) => {
                let (Some(key), Some(value)) = (self.value(&inner.slice), known) else {
                    return;
                };
                let holder = dotted(&inner.value);
                if let (Some(function), Some(key), Some(text)) =
                    (&mut self.function, key.text(), value.text())
                {
                    let line = self.lines.line(target);
                    function
                        .sets
                        .push((holder, key.to_owned(), text.to_owned(), line));
                    return;
                }
                // `extras["test"] = […]`
                let table = self.module.names.get_mut(&holder);
                if let (
                    Some(Value {
                        kind: Kind::Table(entries),
                        ..
                    }),
                    Some(key),
                ) = (table, key.text())
                {
                    entries.retain(|(known, ..)| known != key);
                    entries.push((key.to_owned(), self.lines.line(target), value));
                }
            }
            _ => {}
        }
    }

    fn insert(&mut self, name: String, value: Option<Value>) {
        let names = if self.function.is_some() {
            &mut self.scope
        } else {
            &mut self.module.names
        };
        match value {
            Some(value) => {
                names.insert(name, value);
            }
            None => {
                names.remove(&name);
            }
        }
    }

    fn name(&self, name: &str) -> Option<&Value> {
        self.scope.get(name).or_else(|| self.module.names.get(name))
    }

    /// A name's value, while the file's budget lasts.
    fn copy(&self, name: &str) -> Option<Value> {
        let value = self.name(name)?;
        let left = self.budget.get().checked_sub(value.weight())?;
        self.budget.set(left);
        Some(value.clone())
    }

    fn call(&self, call: &ExprCall) -> Call {
        let Arguments { args, keywords, .. } = &call.arguments;
        let mut found = Call {
            name: dotted(&call.func),
            line: self.lines.line(call),
            ..Call::default()
        };
        for arg in args {
            match arg {
                Expr::Starred(inner) => {
                    found
                        .args
                        .extend(self.value(&inner.value).iter().flat_map(Value::members).cloned());
                }
                arg => found.args.push(self.value(arg).unwrap_or_default()),
            }
        }
        for keyword in keywords {
            let Some(value) = self.value(&keyword.value) else {
                continue;
            };
            match &keyword.arg {
                Some(name) => found.keywords.push((name.id.to_string(), value)),
                None => found.keywords.extend(
                    value
                        .entries()
                        .map(|(key, _, value)| (key.to_owned(), value.clone())),
                ),
            }
        }
        found
    }

    fn value(&self, expression: &Expr) -> Option<Value> {
        let kind = match expression {
            Expr::StringLiteral(inner) => Kind::Text(inner.value.to_str().to_owned()),
            Expr::BooleanLiteral(inner) => Kind::Text(inner.value.to_string()),
            Expr::NumberLiteral(_) | Expr::NoneLiteral(_) => Kind::Nothing,
            Expr::FString(inner) => {
                let mut text = String::new();
                for element in inner.value.elements() {
                    match element {
                        InterpolatedStringElement::Literal(inner) => text.push_str(&inner.value),
                        InterpolatedStringElement::Interpolation(inner) => {
                            text.push_str(self.value(&inner.expression)?.text()?);
                        }
                    }
                }
                Kind::Text(text)
            }
            Expr::List(inner) => Kind::List(self.list(&inner.elts)),
            Expr::Tuple(inner) => Kind::List(self.list(&inner.elts)),
            Expr::Set(inner) => Kind::List(self.list(&inner.elts)),
            Expr::Dict(inner) => {
                let mut entries = Vec::new();
                for item in &inner.items {
                    match &item.key {
                        None => entries.extend(self.value(&item.value).into_iter().flat_map(|value| {
                            match value.kind {
                                Kind::Table(entries) => entries,
                                _ => vec![],
                            }
                        })),
                        Some(key) => {
                            let Some(name) = self.value(key) else { continue };
                            let value = self.value(&item.value).unwrap_or_default();
                            let line = self.lines.line(key);
                            entries.extend(name.text().map(|name| (name.to_owned(), line, value)));
                        }
                    }
                }
                Kind::Table(entries)
            }
            Expr::Name(inner) => return self.copy(&inner.id),
            Expr::BinOp(inner) if inner.op == Operator::Add => {
                // A part that is not known leaves the other one: `BASE + read("more.txt")`.
                return match (self.value(&inner.left), self.value(&inner.right)) {
                    (Some(left), Some(right)) => add(left, right),
                    (Some(known), None) | (None, Some(known)) => {
                        matches!(known.kind, Kind::List(_)).then_some(known)
                    }
                    (None, None) => None,
                };
            }
            Expr::Subscript(inner) => {
                let (holder, key) = (self.value(&inner.value)?, self.value(&inner.slice)?);
                return holder.at(&[key.text()?]).cloned();
            }
            // `list(x)`, `dict(a=x)`, `sorted(x)`, `"a b".split()`
            Expr::Call(inner) => return self.plain_call(inner),
            _ => return None,
        };
        Some(Value {
            line: self.lines.line(expression),
            kind,
        })
    }

    fn plain_call(&self, call: &ExprCall) -> Option<Value> {
        if let Expr::Attribute(inner) = call.func.as_ref() {
            let held = self.value(&inner.value)?;
            let text = held.text()?;
            return match inner.attr.id.as_str() {
                "split" | "splitlines" if call.arguments.args.is_empty() => {
                    let words = text.split_ascii_whitespace().map(|word| Value {
                        line: held.line,
                        kind: Kind::Text(word.to_owned()),
                    });
                    Some(Value {
                        line: held.line,
                        kind: Kind::List(words.collect()),
                    })
                }
                "strip" | "lower" => Some(held),
                _ => None,
            };
        }
        let name = dotted(&call.func);
        match name.as_str() {
            "list" | "tuple" | "sorted" | "set" | "frozenset" => self.value(call.arguments.args.first()?),
            "dict" => {
                let call = self.call(call);
                let line = call.line;
                let entries = call
                    .keywords
                    .into_iter()
                    .map(|(name, value)| (name, value.line, value));
                Some(Value {
                    line,
                    kind: Kind::Table(entries.collect()),
                })
            }
            _ => None,
        }
    }

    fn list(&self, members: &[Expr]) -> Vec<Value> {
        let mut list = Vec::new();
        for member in members {
            match member {
                Expr::Starred(inner) => {
                    list.extend(self.value(&inner.value).iter().flat_map(Value::members).cloned());
                }
                member => list.extend(self.value(member)),
            }
        }
        list
    }
}

/// The parameters that a decorator (`nox.parametrize`, `pytest.mark.parametrize`) gives a function, each with its last
/// value: versions are written from the oldest to the newest.
fn parameters(decorator: &Call) -> Vec<(String, Value)> {
    let (Some(names), Some(values)) = (decorator.args.first(), decorator.args.get(1)) else {
        return vec![];
    };
    if decorator.name.rsplit('.').next() != Some("parametrize") {
        return vec![];
    }
    let names: Vec<String> = match names.text() {
        Some(text) => text.split(',').map(|name| name.trim().to_owned()).collect(),
        None => names.texts().map(|(name, _)| name.to_owned()).collect(),
    };
    let Some(last) = values.members().last() else {
        return vec![];
    };
    if let [name] = names.as_slice() {
        return vec![(name.clone(), last.clone())];
    }
    names.into_iter().zip(last.members().cloned()).collect()
}

fn add(left: Value, right: Value) -> Option<Value> {
    let line = left.line;
    let kind = match (left.kind, right.kind) {
        (Kind::Text(a), Kind::Text(b)) => Kind::Text(a + &b),
        (Kind::List(mut a), Kind::List(b)) => {
            a.extend(b);
            Kind::List(a)
        }
        _ => return None,
    };
    Some(Value { line, kind })
}

/// `a.b.c` as text; empty for anything else.
fn dotted(expression: &Expr) -> String {
    match expression {
        Expr::Name(name) => name.id.to_string(),
        Expr::Attribute(inner) => {
            let head = dotted(&inner.value);
            if head.is_empty() {
                head
            } else {
                format!("{head}.{}", inner.attr.id)
            }
        }
        _ => String::new(),
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
