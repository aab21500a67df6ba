//! The types of values in the rule language.

use std::fmt;

/// A value's type. A subset of CEL's: no bytes, no unsigned numbers, no maps, no null — no fact has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A 64-bit whole number.
    Int,
    /// A 64-bit floating-point number.
    Double,
    /// Text.
    String,
    /// Text that is one of these words.
    Word(&'static [&'static str]),
    /// A moment, in UTC.
    Timestamp,
    /// A length of time.
    Duration,
    /// A list of values of one type.
    List(Box<Self>),
    /// A value with named fields.
    Record(&'static Record),
    /// Not known: the element of an empty list, or what follows an error already reported. Fits everything.
    Any,
}

static STRING: Type = Type::String;

/// A value with named fields.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// What such a value is called.
    pub name: &'static str,
    /// Its fields: name, type and meaning.
    pub fields: &'static [Field],
}

/// One field of a [`Record`].
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
    /// What it says.
    pub meaning: &'static str,
}

impl Record {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Type {
    /// A list of `element`.
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element))
    }

    /// What operators see of it: a word is text.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Word(_) => &STRING,
            other => other,
        }
    }

    /// The words that its values, or its list's elements, are among; `None` where any may be.
    pub fn words(&self) -> Option<&'static [&'static str]> {
        match self {
            Self::Word(words) => Some(*words),
            Self::List(element) => element.words(),
            _ => None,
        }
    }

    /// Whether a value of this type can stand where `other` is wanted, or the other way round.
    pub fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::List(left), Self::List(right)) => left.fits(right),
            _ => self.plain() == other.plain(),
        }
    }

    /// Whether values of both types can be compared with `==`: the same type, or both numbers.
    pub fn equatable(&self, other: &Self) -> bool {
        self.fits(other) || (self.is_number() && other.is_number())
    }

    /// Whether it is a whole or a floating-point number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Double | Self::Any)
    }

    /// Whether its values have an order (`<`).
    pub fn is_ordered(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Record(_))
    }

    /// The more exact of two types that fit, with every value of both: `list<any>` with `list<int>` is `list<int>`.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, known) | (known, Self::Any) => known,
            (Self::List(left), Self::List(right)) => Self::list(left.join(*right)),
            (left @ Self::Word(_), right) if left == right => left,
            // Other words may be among them.
            (Self::Word(_), _) => Self::String,
            (left, _) => left,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Double => f.write_str("double"),
            Self::String | Self::Word(_) => f.write_str("string"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Duration => f.write_str("duration"),
            Self::List(element) => write!(f, "list<{element}>"),
            Self::Record(record) => f.write_str(record.name),
            Self::Any => f.write_str("any"),
        }
    }
}
