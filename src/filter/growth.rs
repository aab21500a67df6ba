//! What more elements in a list known only in part would do to a condition.
//!
//! From git alone the issues a pull request names are known *at least*: more may stand in its description. A condition
//! that more elements can only make true (`size(issues.resolved) > 0`) is decided once it is true; one that they can
//! only make false (`size(issues.resolved) <= 1`) is decided once it is false; anything else stays undecided.

use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue, operators};

use crate::recipe::language::facts::{self, Knows};

/// How a condition's truth follows a list that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// It can only become true.
    Up,
    /// It can only become false.
    Down,
    /// It can become anything.
    Any,
}

impl Growth {
    fn reversed(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
            Self::Any => Self::Any,
        }
    }
}

/// The growth of a leaf, on facts by their names (before they became slots).
pub(super) fn growth(leaf: &IdedExpr) -> Growth {
    match &leaf.expr {
        Expr::Call(call) if call.target.is_none() => comparison(call),
        Expr::Comprehension(inner) if grows(&inner.iter_range) && !partial(&inner.loop_step) => {
            match quantifier(inner) {
                Some(true) => Growth::Down,
                Some(false) => Growth::Up,
                None => Growth::Any,
            }
        }
        _ => Growth::Any,
    }
}

fn comparison(call: &CallExpr) -> Growth {
    let [left, right] = call.args.as_slice() else {
        return Growth::Any;
    };
    match call.func_name.as_str() {
        operators::IN if grows(right) && !partial(left) => Growth::Up,
        operators::GREATER | operators::GREATER_EQUALS => order(left, right),
        operators::LESS | operators::LESS_EQUALS => order(left, right).reversed(),
        operators::NOT_EQUALS => emptiness(left, right),
        operators::EQUALS => emptiness(left, right).reversed(),
        _ => Growth::Any,
    }
}

/// `size(list) > n` and `n > size(list)`.
fn order(left: &IdedExpr, right: &IdedExpr) -> Growth {
    match (size_of_growing(left), size_of_growing(right)) {
        (true, false) if !partial(right) => Growth::Up,
        (false, true) if !partial(left) => Growth::Down,
        _ => Growth::Any,
    }
}

/// `size(list) != 0` and `list != []`.
fn emptiness(left: &IdedExpr, right: &IdedExpr) -> Growth {
    let one_way = |list: &IdedExpr, other: &IdedExpr| match &other.expr {
        Expr::Literal(LiteralValue::Int(number)) => *number.inner() == 0 && size_of_growing(list),
        Expr::List(items) => items.elements.is_empty() && grows(list),
        _ => false,
    };
    if one_way(left, right) || one_way(right, left) {
        Growth::Up
    } else {
        Growth::Any
    }
}

/// Whether it is the size of a list that grows.
fn size_of_growing(node: &IdedExpr) -> bool {
    match &node.expr {
        Expr::Call(call) if call.func_name == "size" => {
            let list = call.target.as_deref().or_else(|| call.args.first());
            list.is_some_and(grows)
        }
        _ => false,
    }
}

/// Whether it is a list that has more elements, and no other, when the facts it reads have: a fact, or what `filter`
/// and `map` make of one.
fn grows(node: &IdedExpr) -> bool {
    match &node.expr {
        Expr::Ident(name) => partial_fact(name),
        Expr::Comprehension(inner) => {
            let builds_list = matches!(&inner.accu_init.expr, Expr::List(list) if list.elements.is_empty());
            builds_list && grows(&inner.iter_range) && !partial(&inner.loop_step)
        }
        _ => false,
    }
}

/// `all` is true of an empty list, `exists` false.
fn quantifier(inner: &ComprehensionExpr) -> Option<bool> {
    let Expr::Literal(LiteralValue::Boolean(start)) = &inner.accu_init.expr else {
        return None;
    };
    let Expr::Call(step) = &inner.loop_step.expr else {
        return None;
    };
    match (*start.inner(), step.func_name.as_str()) {
        (true, operators::LOGICAL_AND) => Some(true),
        (false, operators::LOGICAL_OR) => Some(false),
        _ => None,
    }
}

/// Whether it reads a fact that may be known in part.
fn partial(node: &IdedExpr) -> bool {
    match &node.expr {
        Expr::Ident(name) => partial_fact(name),
        Expr::Select(select) => partial(&select.operand),
        Expr::Call(call) => call.target.as_deref().is_some_and(partial) || call.args.iter().any(partial),
        Expr::List(list) => list.elements.iter().any(partial),
        Expr::Comprehension(inner) => [
            &inner.iter_range,
            &inner.accu_init,
            &inner.loop_cond,
            &inner.loop_step,
            &inner.result,
        ]
        .into_iter()
        .any(partial),
        Expr::Map(_) | Expr::Struct(_) => true,
        Expr::Literal(_) | Expr::Unspecified => false,
    }
}

fn partial_fact(name: &str) -> bool {
    facts::by_name(name).is_some_and(|fact| fact.git == Knows::AtLeast || fact.rows == Knows::AtLeast)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::language::check_condition;

    #[test]
    fn growth_is_seen_in_the_usual_shapes() {
        for (text, expected) in [
            ("size(issues.resolved) > 0", Growth::Up),
            ("issues.resolved.size() >= 2", Growth::Up),
            ("0 < size(issues.resolved)", Growth::Up),
            ("size(issues.resolved) != 0", Growth::Up),
            ("issues.resolved != []", Growth::Up),
            ("5 in issues.mentioned", Growth::Up),
            ("issues.references.exists(r, r.closes)", Growth::Up),
            ("size(issues.references.filter(r, r.closes)) > 0", Growth::Up),
            ("size(issues.resolved) <= 1", Growth::Down),
            ("1 > size(issues.resolved)", Growth::Down),
            ("size(issues.resolved) == 0", Growth::Down),
            ("[] == issues.resolved", Growth::Down),
            ("issues.references.all(r, r.closes)", Growth::Down),
            ("size(issues.resolved) == 1", Growth::Any),
            ("issues.references.exists_one(r, r.closes)", Growth::Any),
            ("size(issues.resolved) > size(issues.mentioned)", Growth::Any),
            ("issues.resolved[0] == 5", Growth::Any),
            (
                "issues.references.exists(r, r.number in issues.resolved)",
                Growth::Any,
            ),
            ("size(gold.paths) > 0", Growth::Any),
        ] {
            assert_eq!(growth(&check_condition(text).unwrap().tree), expected, "{text}");
        }
    }
}
