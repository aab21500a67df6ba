//! What an evaluation's folder is called: every one its own, whatever its model is called.

use std::fmt::Write as _;

use super::Kind;
use crate::domain::hash::sha256_hex;
use crate::domain::ids::InstanceId;

/// Names that no model's folder has, in whatever letters: those of gold, of the empty patch and of a model without a name.
const TAKEN: [&str; 3] = [GOLD, NULL, UNNAMED];
const GOLD: &str = "gold";
const NULL: &str = "null";
const UNNAMED: &str = "unnamed";

/// The name of the folder for an evaluation of `model`, and of `only` these instances when there are any. Two evaluations that
/// differ in any of the three have different names.
pub fn folder_name(kind: Kind, model: &str, only: &[InstanceId]) -> String {
    let mut name = match kind {
        Kind::Gold => GOLD.to_owned(),
        Kind::Null => NULL.to_owned(),
        Kind::Predictions if model.is_empty() => UNNAMED.to_owned(),
        Kind::Predictions => escaped(model),
    };
    if !only.is_empty() {
        let ids: Vec<&str> = only.iter().map(InstanceId::as_str).collect();
        // No model's name holds a plus as itself.
        name.push_str("+only-");
        name.extend(sha256_hex(ids.join("\n").as_bytes()).chars().take(12));
    }
    name
}

/// A model's name as one word: other bytes than letters, digits and `-_.` stand as `%2F`; so does the first one of a name that
/// would be hidden or is taken.
fn escaped(model: &str) -> String {
    let is_taken = TAKEN.iter().any(|name| name.eq_ignore_ascii_case(model));
    let mut name = String::with_capacity(model.len());
    for (index, byte) in model.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if is_plain && !(index == 0 && (is_taken || byte == b'.')) {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_model_has_the_folder_of_another_of_gold_or_of_a_part() {
        let of = |model: &str| folder_name(Kind::Predictions, model, &[]);
        assert_eq!(of("gpt-4.1_mini"), "gpt-4.1_mini");
        assert_eq!(
            (of("org/model"), of("org-model")),
            ("org%2Fmodel".into(), "org-model".into())
        );
        assert_eq!((of("gold"), of("..")), ("%67old".into(), "%2E.".into()));
        assert_eq!((of(""), of("unnamed")), ("unnamed".into(), "%75nnamed".into()));
        let gold = |only: &[InstanceId]| folder_name(Kind::Gold, "gold", only);
        let (one, other) = (gold(&["a__b-1".into()]), gold(&["a__b-2".into()]));
        assert_eq!(gold(&[]), "gold");
        assert!(one.starts_with("gold+only-") && one != other, "{one} {other}");
        assert_ne!(of(&one), one);
    }

    proptest! {
        #[test]
        fn a_model_can_be_told_by_its_folder(model in ".{1,20}") {
            let name = escaped(&model);
            let mut bytes = vec![];
            let mut rest = name.as_bytes();
            while let Some((&first, tail)) = rest.split_first() {
                if first == b'%' {
                    bytes.push(u8::from_str_radix(std::str::from_utf8(&tail[..2]).unwrap(), 16).unwrap());
                    rest = &tail[2..];
                } else {
                    bytes.push(first);
                    rest = tail;
                }
            }
            prop_assert_eq!(String::from_utf8(bytes).unwrap(), model);
            prop_assert!(!["gold", "null", "unnamed"].contains(&name.as_str()) && !name.starts_with('.'));
            prop_assert!(!name.contains(['/', '+']));
        }
    }
}
