//! What does not parse, in plain words.

use super::check::Fault;
use super::place::offset_of;

/// The parser's first error in words of ours (the ones after it are usually its echo).
pub(super) fn faults(text: &str, errors: &cel::ParseErrors) -> Vec<Fault> {
    let Some(first) = errors.errors.first() else {
        return vec![Fault {
            range: 0..text.len(),
            message: "this is no expression".to_owned(),
            hint: None,
        }];
    };
    let start = offset_of(text, first.pos.0, first.pos.1);
    let width = text[start..].chars().next().map_or(0, char::len_utf8);
    let message = first.msg.trim_start_matches("Syntax error: ");
    let at_end = text[start..].trim().is_empty();
    let hint = (text[start..].starts_with('=') && !text[start..].starts_with("=="))
        .then(|| "two values are compared with `==`".to_owned());
    let message = match message.split_once(" expecting ") {
        _ if text.trim().is_empty() => "the expression is empty".to_owned(),
        _ if at_end => "the expression ends too early".to_owned(),
        _ if message.contains("has() macro") => "`has` takes one fact, as in `has(pr.body)`".to_owned(),
        _ if message.starts_with("token recognition error") => "this is not part of the language".to_owned(),
        Some((what, _)) => format!("syntax error: {}", what.replace('\'', "`")),
        None => format!("syntax error: {}", message.replace('\'', "`")),
    };
    vec![Fault {
        range: start..start + width,
        message,
        hint,
    }]
}
