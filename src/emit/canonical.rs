//! The one way in which values become bytes: fields in their declared order, keys of free objects sorted, nothing
//! left out, UTF-8, `\n` at each line's end.

use serde::Serialize;
use serde_json::Value;

/// A value as one compact line, with its line end.
///
/// # Errors
/// When the value has no JSON form.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    Ok(text)
}

/// Values as lines.
///
/// # Errors
/// When a value has no JSON form.
pub fn lines<T: Serialize>(values: &[T]) -> serde_json::Result<Vec<u8>> {
    let mut bytes = vec![];
    for value in values {
        serde_json::to_writer(&mut bytes, value)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// A value as a document for readers: indented by two spaces, with a line end.
///
/// # Errors
/// When the value has no JSON form.
pub fn document(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The same value with the keys of every object sorted, however it was built.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(map) => {
            let mut entries: Vec<_> = map
                .iter()
                .map(|(key, inner)| (key.clone(), sorted(inner)))
                .collect();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(entries.into_iter().collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in values()) {
            let text = line(&value).unwrap();
            prop_assert_eq!(text.matches('\n').count(), 1);
            prop_assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), &value);
            let bytes = document(&value).unwrap();
            prop_assert_eq!(&serde_json::from_slice::<Value>(&bytes).unwrap(), &value);
        }

        #[test]
        fn sorting_changes_no_value_and_is_done_once(value in values()) {
            let once = sorted(&value);
            prop_assert_eq!(&once, &value);
            prop_assert_eq!(line(&sorted(&once)).unwrap(), line(&once).unwrap());
        }
    }

    #[test]
    fn many_values_are_their_lines() {
        let values = [json!({"b": 1, "a": "\r\n"}), json!([])];
        let joined: String = values.iter().map(|value| line(value).unwrap()).collect();
        assert_eq!(lines(&values).unwrap(), joined.as_bytes());
        assert_eq!(joined, "{\"a\":\"\\r\\n\",\"b\":1}\n[]\n");
    }
}
