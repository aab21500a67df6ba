//! The functions of the rule language, by the types they take. Operators are in [`super::check`].

use super::types::Type;

/// One function with its overloads.
pub(super) struct Function {
    pub(super) name: &'static str,
    style: Style,
    overloads: &'static [Overload],
}

/// How a function may be called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `f(x)`
    Global,
    /// `x.f()`
    Method,
    /// Either.
    Both,
}

struct Overload {
    takes: &'static [Shape],
    gives: Shape,
}

/// What an argument must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Bool,
    Int,
    Double,
    String,
    Timestamp,
    Duration,
    List,
}

impl Shape {
    fn accepts(self, ty: &Type) -> bool {
        match self {
            Self::List => matches!(ty, Type::List(_) | Type::Any),
            _ => self.ty().fits(ty),
        }
    }

    fn ty(self) -> Type {
        match self {
            Self::Bool => Type::Bool,
            Self::Int => Type::Int,
            Self::Double => Type::Double,
            Self::String => Type::String,
            Self::Timestamp => Type::Timestamp,
            Self::Duration => Type::Duration,
            Self::List => Type::list(Type::Any),
        }
    }
}

macro_rules! functions {
    ($($name:literal $style:ident $(($($takes:ident),+) $gives:ident)+;)+) => {
        &[$(Function {
            name: $name,
            style: Style::$style,
            overloads: &[$(Overload { takes: &[$(Shape::$takes),+], gives: Shape::$gives },)+],
        },)+]
    };
}

/// CEL's standard functions over the types that facts have.
pub(super) static FUNCTIONS: &[Function] = functions! {
    "size" Both (String) Int (List) Int;
    "contains" Method (String, String) Bool;
    "startsWith" Method (String, String) Bool;
    "endsWith" Method (String, String) Bool;
    "matches" Both (String, String) Bool;
    "int" Global (Int) Int (Double) Int (String) Int (Timestamp) Int;
    "double" Global (Double) Double (Int) Double (String) Double;
    "string" Global (String) String (Bool) String (Int) String (Double) String (Timestamp) String (Duration) String;
    "bool" Global (Bool) Bool (String) Bool;
    "timestamp" Global (String) Timestamp (Timestamp) Timestamp (Int) Timestamp;
    "duration" Global (String) Duration (Duration) Duration;
    "getFullYear" Method (Timestamp) Int (Timestamp, String) Int;
    "getMonth" Method (Timestamp) Int (Timestamp, String) Int;
    "getDate" Method (Timestamp) Int (Timestamp, String) Int;
    "getDayOfMonth" Method (Timestamp) Int (Timestamp, String) Int;
    "getDayOfWeek" Method (Timestamp) Int (Timestamp, String) Int;
    "getDayOfYear" Method (Timestamp) Int (Timestamp, String) Int;
    "getHours" Method (Timestamp) Int (Timestamp, String) Int (Duration) Int;
    "getMinutes" Method (Timestamp) Int (Timestamp, String) Int (Duration) Int;
    "getSeconds" Method (Timestamp) Int (Timestamp, String) Int (Duration) Int;
    "getMilliseconds" Method (Timestamp) Int (Timestamp, String) Int (Duration) Int;
};

/// The names of the macros over lists, and of `has`.
pub(super) const MACROS: [&str; 6] = ["all", "exists", "exists_one", "filter", "map", "has"];

impl Function {
    /// The function of that name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// What a call gives, if the call's style and argument types fit (a method's receiver is the first argument).
    pub(super) fn call(&self, method: bool, arguments: &[Type]) -> Option<Type> {
        let style_fits = match self.style {
            Style::Both => true,
            Style::Method => method,
            Style::Global => !method,
        };
        self.overloads
            .iter()
            .find(|overload| {
                style_fits
                    && overload.takes.len() == arguments.len()
                    && overload
                        .takes
                        .iter()
                        .zip(arguments)
                        .all(|(shape, ty)| shape.accepts(ty))
            })
            .map(|overload| overload.gives.ty())
    }

    /// How it may be called, for a reader: `string.contains(string)`.
    pub(super) fn usage(&self) -> String {
        let names = |shapes: &[Shape]| {
            shapes
                .iter()
                .map(|shape| shape.ty().to_string().replace("<any>", ""))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let one = |overload: &Overload| match self.style {
            Style::Method => format!(
                "`{}.{}({})`",
                names(&overload.takes[..1]),
                self.name,
                names(&overload.takes[1..])
            ),
            Style::Global | Style::Both => format!("`{}({})`", self.name, names(overload.takes)),
        };
        self.overloads.iter().map(one).collect::<Vec<_>>().join(" or ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(shape: Shape) -> &'static str {
        match shape {
            Shape::Bool => "true",
            Shape::Int => "1",
            Shape::Double => "1.0",
            Shape::String => "'1'",
            Shape::Timestamp => "timestamp('2023-01-01T00:00:00Z')",
            Shape::Duration => "duration('1s')",
            Shape::List => "[1]",
        }
    }

    /// The table claims nothing that the evaluator does not have.
    #[test]
    fn the_evaluator_has_every_overload() {
        let env = std::sync::Arc::new(cel::Env::stdlib());
        for function in FUNCTIONS {
            for overload in function.overloads {
                let arguments: Vec<&str> = overload
                    .takes
                    .iter()
                    .enumerate()
                    .map(|(index, shape)| match (function.name, *shape, index) {
                        ("timestamp", Shape::String, _) => "'2023-01-01T00:00:00Z'",
                        ("duration", Shape::String, _) => "'1s'",
                        ("bool", Shape::String, _) => "'true'",
                        (name, Shape::String, 1) if name.starts_with("get") => "'UTC'",
                        (_, shape, _) => sample(shape),
                    })
                    .collect();
                let mut forms = Vec::new();
                if function.style != Style::Method {
                    forms.push(format!("{}({})", function.name, arguments.join(", ")));
                }
                if function.style != Style::Global {
                    forms.push(format!(
                        "{}.{}({})",
                        arguments[0],
                        function.name,
                        arguments[1..].join(", ")
                    ));
                }
                for form in forms {
                    let context = cel::Context::with_env(std::sync::Arc::clone(&env));
                    let value = env.compile(&form).unwrap().execute(&context);
                    assert!(value.is_ok(), "{form}: {value:?}");
                }
            }
        }
    }
}
