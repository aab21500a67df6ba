//! The walk over an expression's tree: names, types, and what it reads.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue, SourceInfo, operators};
use cel::{Context, Value};

use super::check::{ENVIRONMENT, Fault};
use super::facts::{self, FactId};
use super::functions::{Function, MACROS};
use super::names;
use super::operators::{binary, binary_hint};
use super::place::{extent, place};
use super::types::Type;

/// A type with its article: `an int`, `a list<string>`.
pub(super) fn article(ty: &Type) -> String {
    let article = if matches!(ty, Type::Int | Type::Any) {
        "an"
    } else {
        "a"
    };
    format!("{article} {ty}")
}

/// Walks a tree: finds faults, collects the facts it reads, and turns each fact's selection into one identifier.
pub(super) struct Walk<'a> {
    info: &'a SourceInfo,
    /// Variables of the macros around, innermost last.
    scope: Vec<(String, Type)>,
    pub(super) faults: Vec<Fault>,
    pub(super) reads: BTreeSet<FactId>,
    pub(super) probes: BTreeSet<FactId>,
}

impl<'a> Walk<'a> {
    pub(super) fn over(info: &'a SourceInfo) -> Self {
        Self {
            info,
            scope: Vec::new(),
            faults: Vec::new(),
            reads: BTreeSet::new(),
            probes: BTreeSet::new(),
        }
    }

    pub(super) fn fault(
        &mut self,
        range: Range<usize>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Type {
        self.faults.push(Fault {
            range,
            message: message.into(),
            hint,
        });
        Type::Any
    }

    pub(super) fn node(&mut self, node: &mut IdedExpr) -> Type {
        let here = place(node, self.info);
        match &mut node.expr {
            Expr::Literal(literal) => match literal {
                LiteralValue::Boolean(_) => Type::Bool,
                LiteralValue::Int(_) => Type::Int,
                LiteralValue::Double(_) => Type::Double,
                LiteralValue::String(_) => Type::String,
                LiteralValue::UInt(_) => {
                    self.fault(here, "no fact is unsigned", Some("leave the `u` away".to_owned()))
                }
                LiteralValue::Bytes(_) => {
                    self.fault(here, "no fact is bytes", Some("write a string".to_owned()))
                }
                LiteralValue::Null => {
                    let hint = "a fact is never null; `has(…)` asks whether it is known".to_owned();
                    self.fault(here, "`null` is not part of the rule language", Some(hint))
                }
            },
            Expr::Ident(name) => self.ident(name, here),
            Expr::Select(_) => self.select(node, here),
            Expr::Call(call) => self.call(call, here),
            Expr::List(list) => {
                let mut element = Type::Any;
                for item in &mut list.elements {
                    let at = extent(item, self.info);
                    let ty = self.node(item);
                    if ty.fits(&element) {
                        element = element.join(ty);
                    } else {
                        let message = format!(
                            "a list holds values of one type: this is {}, the first is {}",
                            article(&ty),
                            article(&element)
                        );
                        self.fault(at, message, None);
                    }
                }
                Type::list(element)
            }
            Expr::Comprehension(inner) => self.comprehension(inner, here),
            Expr::Map(_) | Expr::Struct(_) => {
                self.fault(here, "maps are not part of the rule language", None)
            }
            Expr::Unspecified => self.fault(here, "this is no expression", None),
        }
    }

    fn variable(&self, name: &str) -> Option<&Type> {
        self.scope
            .iter()
            .rev()
            .find(|(variable, _)| variable == name)
            .map(|(_, ty)| ty)
    }

    fn ident(&mut self, name: &str, here: Range<usize>) -> Type {
        if let Some(ty) = self.variable(name) {
            return ty.clone();
        }
        let groups = facts::groups();
        if groups.contains(&name) {
            let hint = format!("name one of its facts: {}", names::members(name));
            return self.fault(
                here,
                format!("`{name}` is a group of facts, not a value"),
                Some(hint),
            );
        }
        let hint = names::for_word(name, self.scope.iter().map(|(variable, _)| variable.as_str()));
        self.fault(here, format!("`{name}` is not known"), Some(hint))
    }

    fn select(&mut self, node: &mut IdedExpr, here: Range<usize>) -> Type {
        let Expr::Select(select) = &mut node.expr else {
            return Type::Any;
        };
        let group = match &select.operand.expr {
            Expr::Ident(name)
                if self.variable(name).is_none() && facts::groups().contains(&name.as_str()) =>
            {
                Some(name.clone())
            }
            _ => None,
        };
        if let Some(group) = group {
            let Some(fact) = facts::by_name(&format!("{group}.{}", select.field)) else {
                let hint = names::for_fact(&group, &select.field);
                return self.fault(
                    here,
                    format!("there is no fact `{group}.{}`", select.field),
                    Some(hint),
                );
            };
            let test = select.test;
            if test {
                self.probes.insert(fact.id);
            } else {
                self.reads.insert(fact.id);
            }
            node.expr = Expr::Ident(if test {
                format!("{}?", fact.name)
            } else {
                fact.name.clone()
            });
            return if test { Type::Bool } else { fact.ty.clone() };
        }
        if select.test {
            let hint = "it asks whether a fact is known: `has(pr.body)`".to_owned();
            return self.fault(here, "`has` takes one fact", Some(hint));
        }
        let field = select.field.clone();
        match self.node(&mut select.operand) {
            Type::Record(record) => {
                if let Some(found) = record.field(&field) {
                    return found.ty.clone();
                }
                let hint = names::for_field(record, &field);
                self.fault(
                    here,
                    format!("a {} has no field `{field}`", record.name),
                    Some(hint),
                )
            }
            Type::Any => Type::Any,
            other => self.fault(here, format!("{} has no fields", article(&other)), None),
        }
    }

    fn call(&mut self, call: &mut CallExpr, here: Range<usize>) -> Type {
        if call.target.is_none() && is_operator(&call.func_name) {
            return self.operator(call, here);
        }
        let method = call.target.is_some();
        let name = call.func_name.clone();
        let Some(function) = Function::named(&name) else {
            return self.unknown_function(call, here);
        };
        let types: Vec<Type> = call
            .target
            .as_deref_mut()
            .into_iter()
            .chain(&mut call.args)
            .map(|argument| self.node(argument))
            .collect();
        if let Some(ty) = function.call(method, &types) {
            self.literals(call, &here);
            return ty;
        }
        let given = types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        self.fault(
            here,
            format!("`{name}` does not take ({given})"),
            Some(format!("write {}", function.usage())),
        )
    }

    fn unknown_function(&mut self, call: &mut CallExpr, here: Range<usize>) -> Type {
        let name = call.func_name.clone();
        if MACROS.contains(&name.as_str()) {
            let hint = match name.as_str() {
                "has" => "write `has(pr.body)`".to_owned(),
                _ => {
                    format!("write `list.{name}(x, …)` with a name for the element and an expression over it")
                }
            };
            return self.fault(here, format!("`{name}` is not used like this"), Some(hint));
        }
        let hint = names::for_function(&name);
        // Its arguments may name a variable of the macro it was meant to be: only the receiver is looked at.
        if let Some(target) = call.target.as_deref_mut() {
            self.node(target);
        }
        self.fault(here, format!("there is no function `{name}`"), Some(hint))
    }

    /// Values written out must be ones that the function can read: a date, a pattern.
    fn literals(&mut self, call: &CallExpr, here: &Range<usize>) {
        if call.func_name == "matches" {
            let Some(pattern) = call.args.last() else { return };
            if let Expr::Literal(LiteralValue::String(text)) = &pattern.expr
                && let Err(error) = regex::Regex::new(text.inner())
            {
                let reason = error.to_string();
                let reason = reason
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .to_owned();
                self.fault(
                    place(pattern, self.info),
                    format!("this is no regular expression: {reason}"),
                    None,
                );
            }
            return;
        }
        if call.target.is_some()
            || call.args.is_empty()
            || !call
                .args
                .iter()
                .all(|argument| matches!(argument.expr, Expr::Literal(_)))
        {
            return;
        }
        let node = IdedExpr {
            id: 0,
            expr: Expr::Call(call.clone()),
        };
        let context = Context::with_env(Arc::clone(&ENVIRONMENT));
        if let Err(error) = Value::resolve(&node, &context) {
            let hint = match call.func_name.as_str() {
                "timestamp" => Some("a moment is written `timestamp('2023-01-01T00:00:00Z')`".to_owned()),
                "duration" => Some("a length of time is written `duration('36h')`".to_owned()),
                _ => None,
            };
            let range = here.start..extent(&call.args[0], self.info).end;
            self.fault(
                range,
                format!("this cannot be read: {}", lower_first(&error.to_string())),
                hint,
            );
        }
    }

    fn comprehension(&mut self, inner: &mut ComprehensionExpr, here: Range<usize>) -> Type {
        let at = extent(&inner.iter_range, self.info);
        let range = self.node(&mut inner.iter_range);
        let name = self.info.source.get(here.clone()).unwrap_or_default().to_owned();
        let element = match range {
            Type::List(element) => *element,
            Type::Any => Type::Any,
            other => self.fault(
                at,
                format!("`{name}` goes over a list, this is {}", article(&other)),
                None,
            ),
        };
        if facts::groups().contains(&inner.iter_var.as_str()) {
            let message = format!("the name `{}` would hide the facts of that group", inner.iter_var);
            self.fault(
                here,
                message,
                Some("take another name for the element".to_owned()),
            );
        }
        let start = self.node(&mut inner.accu_init);
        self.scope.push((inner.accu_var.clone(), start.clone()));
        self.node(&mut inner.loop_cond);
        self.scope.push((inner.iter_var.clone(), element));
        let step = self.node(&mut inner.loop_step);
        self.scope.truncate(self.scope.len() - 2);
        self.scope.push((inner.accu_var.clone(), start.join(step)));
        let result = self.node(&mut inner.result);
        self.scope.pop();
        result
    }

    fn operator(&mut self, call: &mut CallExpr, here: Range<usize>) -> Type {
        let name = call.func_name.clone();
        match (name.as_str(), call.args.as_mut_slice()) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [left, right]) => {
                self.expect_bool(left);
                self.expect_bool(right);
                Type::Bool
            }
            (operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE, [operand]) => {
                self.expect_bool(operand);
                Type::Bool
            }
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.expect_bool(condition);
                let (yes, no) = (self.node(yes), self.node(no));
                if yes.fits(&no) {
                    return yes.join(no);
                }
                self.fault(
                    here,
                    format!("both sides of `:` must be of one type, these are {yes} and {no}"),
                    None,
                )
            }
            (operators::NEGATE, [operand]) => match self.node(operand) {
                ty if ty.is_number() || ty == Type::Duration => ty,
                ty => self.fault(here, format!("`-` does not take {}", article(&ty)), None),
            },
            (_, [left, right]) => {
                let (left_type, right_type) = (self.node(left), self.node(right));
                if matches!(
                    name.as_str(),
                    operators::EQUALS | operators::NOT_EQUALS | operators::IN
                ) {
                    self.compared(&left_type, right);
                    self.compared(&right_type, left);
                }
                binary(&name, &left_type, &right_type).unwrap_or_else(|| {
                    let shown = name.trim_matches('_').trim_start_matches('@');
                    let hint = binary_hint(&name, &left_type, &right_type);
                    self.fault(
                        here,
                        format!("`{shown}` does not take ({left_type}, {right_type})"),
                        hint,
                    )
                })
            }
            _ => self.fault(here, format!("`{name}` is not part of the rule language"), None),
        }
    }

    /// A word that is compared with a value of few words must be one of them: with any other, the rule never holds, or always.
    fn compared(&mut self, ty: &Type, other: &IdedExpr) {
        let Some(words) = ty.words() else { return };
        match &other.expr {
            Expr::Literal(LiteralValue::String(text)) if !words.contains(&text.inner()) => {
                let word = text.inner();
                self.fault(
                    place(other, self.info),
                    format!("`{word}` is none of the values that this can have"),
                    Some(names::for_value(words, word)),
                );
            }
            Expr::List(list) => {
                for element in &list.elements {
                    self.compared(ty, element);
                }
            }
            Expr::Call(call) if call.func_name == operators::CONDITIONAL => {
                for side in call.args.iter().skip(1) {
                    self.compared(ty, side);
                }
            }
            _ => {}
        }
    }

    fn expect_bool(&mut self, node: &mut IdedExpr) {
        // Taken before the walk, which turns a fact's selection into a single name.
        let at = extent(node, self.info);
        let ty = self.node(node);
        if !Type::Bool.fits(&ty) {
            self.fault(at, format!("expected a bool, this is {}", article(&ty)), None);
        }
    }
}

fn is_operator(name: &str) -> bool {
    name.starts_with(['_', '@', '!', '-'])
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
