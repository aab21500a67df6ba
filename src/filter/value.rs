//! What a source says of a fact, and how rules and logs see it.

use std::borrow::Cow;
use std::collections::HashMap;

use cel::ExecutionError;
use cel::common::types::{CelBool, CelInt, CelList, CelMap, CelMapKey, CelString};
use cel::common::value::{CowVal, Val};
use jiff::Timestamp;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::recipe::language::check::ENVIRONMENT;

/// A fact's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datum<'a> {
    /// A truth.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A text.
    Text(Cow<'a, str>),
    /// A moment.
    Time(Timestamp),
    /// A list.
    List(Vec<Self>),
    /// A record's fields, in the order of its type.
    Record(Vec<(&'static str, Self)>),
}

/// What a source says of a fact. Unknown is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen<'a> {
    /// The source knows it.
    Known(Datum<'a>),
    /// The source knows a part of this list; more may exist.
    AtLeast(Datum<'a>),
    /// The source cannot know it.
    Unknown,
}

impl<'a> Seen<'a> {
    /// Known when there is a value.
    pub fn known(value: Option<Datum<'a>>) -> Self {
        value.map_or(Self::Unknown, Self::Known)
    }

    /// The value, whole or in part.
    pub fn datum(&self) -> Option<&Datum<'a>> {
        match self {
            Self::Known(datum) | Self::AtLeast(datum) => Some(datum),
            Self::Unknown => None,
        }
    }
}

impl<'a> Datum<'a> {
    /// A count as a number.
    pub fn count(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// A borrowed text.
    pub const fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// A list of texts.
    pub fn texts<T: Into<Cow<'a, str>>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(|text| Self::Text(text.into())).collect())
    }

    /// The value as the evaluator takes it.
    ///
    /// # Errors
    /// When the evaluator has no such moment (years outside its range).
    pub fn to_cel(&self) -> Result<Box<dyn Val + '_>, ExecutionError> {
        Ok(match self {
            Self::Bool(truth) => Box::new(CelBool::from(*truth)),
            Self::Int(number) => Box::new(CelInt::from(*number)),
            Self::Text(text) => Box::new(CelString::from(text.as_ref())),
            Self::Time(moment) => timestamp(*moment)?,
            Self::List(items) => {
                let items = items.iter().map(Self::to_cel).collect::<Result<Vec<_>, _>>()?;
                Box::new(CelList::from(items))
            }
            Self::Record(fields) => {
                let entries = fields
                    .iter()
                    .map(|(name, value)| Ok((CelMapKey::from(*name), value.to_cel()?)));
                Box::new(CelMap::from(
                    entries.collect::<Result<HashMap<_, _>, ExecutionError>>()?,
                ))
            }
        })
    }
}

/// The evaluator's own timestamp, made by its own function: its representation stays its own affair.
fn timestamp(moment: Timestamp) -> Result<Box<dyn Val>, ExecutionError> {
    let text: CowVal<'_, '_> = CowVal::owned(CelString::from(moment.to_string()));
    let arguments = vec![text];
    let function = ENVIRONMENT
        .find_overload("timestamp", &arguments)
        .ok_or_else(|| ExecutionError::undeclared_reference("timestamp"))?;
    Ok(function(arguments)?.into_owned())
}

impl Serialize for Datum<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Time(moment) => serializer.collect_str(moment),
            Self::List(items) => serializer.collect_seq(items),
            Self::Record(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, value))),
        }
    }
}

/// How many elements of a list, and how many characters of a text, a log shows.
const SHOWN: (usize, usize) = (20, 400);

/// A value as logs show it: a fact that is unknown is `null`, a list known in part is `{"at_least": […]}`, and what is
/// long is cut, with its size (`{"size": 5000, "first": […]}`).
pub struct Shown<'s, 'a>(pub &'s Seen<'a>);

struct Cut<'s, 'a>(&'s Datum<'a>);

impl Serialize for Shown<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Seen::Known(datum) => Cut(datum).serialize(serializer),
            Seen::AtLeast(datum) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("at_least", &Cut(datum))?;
                map.end()
            }
            Seen::Unknown => serializer.serialize_none(),
        }
    }
}

impl Serialize for Cut<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Datum::Text(text) if text.len() > SHOWN.1 && text.chars().count() > SHOWN.1 => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("size", &text.chars().count())?;
                map.serialize_entry("first", &text.chars().take(SHOWN.1).collect::<String>())?;
                map.end()
            }
            Datum::List(items) if items.len() > SHOWN.0 => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("size", &items.len())?;
                let first: Vec<_> = items[..SHOWN.0].iter().map(Cut).collect();
                map.serialize_entry("first", &first)?;
                map.end()
            }
            Datum::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items
                    .iter()
                    .try_for_each(|item| list.serialize_element(&Cut(item)))?;
                list.end()
            }
            other => other.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_show_what_is_unknown_partial_or_long() {
        let shown = |seen: &Seen<'_>| serde_json::to_string(&Shown(seen)).unwrap();
        assert_eq!(shown(&Seen::Unknown), "null");
        assert_eq!(
            shown(&Seen::AtLeast(Datum::List(vec![Datum::Int(5)]))),
            r#"{"at_least":[5]}"#
        );
        let long = Seen::Known(Datum::List((0..5000).map(Datum::Int).collect()));
        assert!(shown(&long).starts_with(r#"{"size":5000,"first":[0,1,"#));
        assert!(shown(&long).len() < 120);
        let text = "é".repeat(1000);
        assert!(shown(&Seen::Known(Datum::text(&text))).starts_with(r#"{"size":1000,"#));
    }

    #[test]
    fn a_moment_is_the_evaluators_moment() {
        let moment: Timestamp = "2023-05-06T07:08:09Z".parse().unwrap();
        let value = Datum::Time(moment);
        let mut context = cel::Context::with_env(std::sync::Arc::clone(&ENVIRONMENT));
        context.add_variable_as_val("moment", value.to_cel().unwrap());
        let program = ENVIRONMENT
            .compile("moment == timestamp('2023-05-06T07:08:09Z') && moment.getFullYear() == 2023")
            .unwrap();
        assert_eq!(program.execute(&context), Ok(cel::Value::Bool(true)));
    }
}
