//! The operators of the rule language, by the types they take.

use cel::common::ast::operators;

use super::types::Type;

/// What an operator gives for two operands, if it takes them.
pub(super) fn binary(name: &str, left: &Type, right: &Type) -> Option<Type> {
    let (left, right) = (left.plain(), right.plain());
    let same_number = left.is_number() && right.is_number() && left.fits(right);
    match name {
        operators::EQUALS | operators::NOT_EQUALS => left.equatable(right).then_some(Type::Bool),
        operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS => {
            (left.equatable(right) && left.is_ordered() && right.is_ordered()).then_some(Type::Bool)
        }
        operators::IN => match right {
            Type::List(element) => left.equatable(element).then_some(Type::Bool),
            Type::Any => Some(Type::Bool),
            _ => None,
        },
        operators::INDEX => match (left, right) {
            (Type::List(element), Type::Int | Type::Any) => Some((**element).clone()),
            (Type::Any, _) => Some(Type::Any),
            _ => None,
        },
        operators::ADD => match (left, right) {
            _ if same_number => Some(left.clone().join(right.clone())),
            (Type::String, Type::String) => Some(Type::String),
            (Type::List(_), Type::List(_)) if left.fits(right) => Some(left.clone().join(right.clone())),
            (Type::Timestamp, Type::Duration) | (Type::Duration, Type::Timestamp) => Some(Type::Timestamp),
            (Type::Duration, Type::Duration) => Some(Type::Duration),
            (Type::Any, _) | (_, Type::Any) => Some(Type::Any),
            _ => None,
        },
        operators::SUBSTRACT => match (left, right) {
            _ if same_number => Some(left.clone().join(right.clone())),
            (Type::Timestamp, Type::Timestamp) | (Type::Duration, Type::Duration) => Some(Type::Duration),
            (Type::Timestamp, Type::Duration) => Some(Type::Timestamp),
            (Type::Any, _) | (_, Type::Any) => Some(Type::Any),
            _ => None,
        },
        operators::MULTIPLY | operators::DIVIDE => same_number.then(|| left.clone().join(right.clone())),
        operators::MODULO => (Type::Int.fits(left) && Type::Int.fits(right)).then_some(Type::Int),
        _ => None,
    }
}

/// What to write instead, where the types tell what was meant.
pub(super) fn binary_hint(name: &str, left: &Type, right: &Type) -> Option<String> {
    match (name, left.plain(), right.plain()) {
        (operators::IN, _, Type::String) => Some("a text is searched with `text.contains(…)`".to_owned()),
        (_, Type::List(_), Type::Int) | (_, Type::Int, Type::List(_)) => {
            Some("ask for the list's size, for example `size(…) == 1`".to_owned())
        }
        (_, Type::Timestamp, Type::String) | (_, Type::String, Type::Timestamp) => {
            Some("a moment is written `timestamp('2023-01-01T00:00:00Z')`".to_owned())
        }
        (operators::IN, _, Type::List(_)) => Some("both must be of one type".to_owned()),
        _ => None,
    }
}
