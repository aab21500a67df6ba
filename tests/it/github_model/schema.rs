//! A GraphQL schema, and whether a query fits it.

use std::collections::{BTreeMap, BTreeSet};

use graphql_parser::query as q;
use graphql_parser::schema::{Definition, Document, InputValue, Type, TypeDefinition, Value, parse_schema};

pub(super) struct FieldDef {
    pub(super) arguments: BTreeMap<String, ArgumentDef>,
    pub(super) ty: Type<'static, String>,
}

pub(super) struct ArgumentDef {
    pub(super) ty: Type<'static, String>,
    pub(super) has_default: bool,
}

pub(super) enum TypeDef {
    /// Objects and interfaces: fields, and the interfaces that it is.
    Fields(BTreeMap<String, FieldDef>, BTreeSet<String>),
    Union(BTreeSet<String>),
    Enum(BTreeSet<String>),
    Input(BTreeMap<String, ArgumentDef>),
    Scalar,
}

pub(super) struct Schema {
    pub(super) types: BTreeMap<String, TypeDef>,
}

/// The innermost type's name.
pub(super) fn named<'t>(ty: &'t Type<'static, String>) -> &'t str {
    match ty {
        Type::NamedType(name) => name,
        Type::ListType(inner) | Type::NonNullType(inner) => named(inner),
    }
}

pub(super) fn is_non_null(ty: &Type<'static, String>) -> bool {
    matches!(ty, Type::NonNullType(_))
}

fn arguments(list: Vec<InputValue<'static, String>>) -> BTreeMap<String, ArgumentDef> {
    list.into_iter()
        .map(|value| {
            let def = ArgumentDef {
                has_default: value.default_value.is_some(),
                ty: value.value_type,
            };
            (value.name, def)
        })
        .collect()
}

impl Schema {
    /// The trimmed schema beside the tests.
    pub(super) fn trimmed() -> Self {
        Self::read(include_str!("../../data/github/schema.graphql"))
    }

    pub(super) fn read(text: &str) -> Self {
        let document: Document<'static, String> = parse_schema::<String>(text).unwrap().into_static();
        let mut types = BTreeMap::new();
        for name in ["Int", "Float", "String", "Boolean", "ID"] {
            types.insert(name.to_owned(), TypeDef::Scalar);
        }
        let fields = |list: Vec<graphql_parser::schema::Field<'static, String>>| {
            list.into_iter()
                .map(|field| {
                    let def = FieldDef {
                        arguments: arguments(field.arguments),
                        ty: field.field_type,
                    };
                    (field.name, def)
                })
                .collect()
        };
        for definition in document.definitions {
            let Definition::TypeDefinition(definition) = definition else {
                continue;
            };
            let (name, def) = match definition {
                TypeDefinition::Object(object) => (
                    object.name,
                    TypeDef::Fields(
                        fields(object.fields),
                        object.implements_interfaces.into_iter().collect(),
                    ),
                ),
                TypeDefinition::Interface(interface) => (
                    interface.name,
                    TypeDef::Fields(fields(interface.fields), BTreeSet::new()),
                ),
                TypeDefinition::Union(union) => {
                    (union.name, TypeDef::Union(union.types.into_iter().collect()))
                }
                TypeDefinition::Enum(list) => (
                    list.name,
                    TypeDef::Enum(list.values.into_iter().map(|value| value.name).collect()),
                ),
                TypeDefinition::InputObject(input) => (input.name, TypeDef::Input(arguments(input.fields))),
                TypeDefinition::Scalar(scalar) => (scalar.name, TypeDef::Scalar),
            };
            types.insert(name, def);
        }
        Self { types }
    }

    pub(super) fn field(&self, ty: &str, field: &str) -> Option<&FieldDef> {
        match self.types.get(ty)? {
            TypeDef::Fields(fields, _) => fields.get(field),
            _ => None,
        }
    }

    /// Whether a value of the object type `concrete` is one of `condition`.
    pub(super) fn is_a(&self, concrete: &str, condition: &str) -> bool {
        concrete == condition
            || match self.types.get(condition) {
                Some(TypeDef::Union(members)) => members.contains(concrete),
                Some(TypeDef::Fields(..)) => {
                    matches!(self.types.get(concrete), Some(TypeDef::Fields(_, of)) if of.contains(condition))
                }
                _ => false,
            }
    }

    /// The object types that a value of this type may be.
    fn possible(&self, ty: &str) -> BTreeSet<&str> {
        let objects = self
            .types
            .iter()
            .filter(|(_, def)| matches!(def, TypeDef::Fields(..)));
        objects
            .map(|(name, _)| name.as_str())
            .filter(|name| self.is_a(name, ty))
            .collect()
    }

    /// Everything in which a query does not fit, by place.
    pub(super) fn faults(&self, text: &str) -> Vec<String> {
        let document = match q::parse_query::<String>(text) {
            Ok(document) => document.into_static(),
            Err(error) => return vec![error.to_string()],
        };
        let mut check = Check {
            schema: self,
            fragments: BTreeMap::new(),
            variables: BTreeMap::new(),
            used: BTreeSet::new(),
            faults: vec![],
        };
        for definition in &document.definitions {
            if let q::Definition::Fragment(fragment) = definition {
                check.fragments.insert(&fragment.name, fragment);
            }
        }
        for definition in &document.definitions {
            match definition {
                q::Definition::Operation(q::OperationDefinition::Query(query)) => {
                    for variable in &query.variable_definitions {
                        if !self.types.contains_key(named(&variable.var_type)) {
                            check.fault("$", &format!("no type `{}`", named(&variable.var_type)));
                        }
                        check.variables.insert(&variable.name, &variable.var_type);
                    }
                    check.selection("query", "Query", &query.selection_set);
                }
                q::Definition::Operation(_) => check.fault("", "not a query"),
                q::Definition::Fragment(_) => {}
            }
        }
        let unused = check.variables.keys().filter(|name| !check.used.contains(**name));
        let unused: Vec<_> = unused.map(|name| format!("${name} is not used")).collect();
        check.faults.extend(unused);
        check.faults
    }
}

struct Check<'s> {
    schema: &'s Schema,
    fragments: BTreeMap<&'s str, &'s q::FragmentDefinition<'static, String>>,
    variables: BTreeMap<&'s str, &'s Type<'static, String>>,
    used: BTreeSet<String>,
    faults: Vec<String>,
}

impl<'s> Check<'s> {
    fn fault(&mut self, place: &str, what: &str) {
        self.faults.push(format!("{place}: {what}"));
    }

    fn selection(&mut self, place: &str, ty: &str, set: &'s q::SelectionSet<'static, String>) {
        for item in &set.items {
            match item {
                q::Selection::Field(field) => self.field(place, ty, field),
                q::Selection::FragmentSpread(spread) => {
                    match self.fragments.get(spread.fragment_name.as_str()) {
                        Some(fragment) => {
                            let q::TypeCondition::On(on) = &fragment.type_condition;
                            self.inside(place, ty, on, &fragment.selection_set);
                        }
                        None => self.fault(place, &format!("no fragment `{}`", spread.fragment_name)),
                    }
                }
                q::Selection::InlineFragment(inline) => {
                    let on = match &inline.type_condition {
                        Some(q::TypeCondition::On(on)) => on.as_str(),
                        None => ty,
                    };
                    self.inside(place, ty, on, &inline.selection_set);
                }
            }
        }
    }

    fn inside(&mut self, place: &str, ty: &str, on: &str, set: &'s q::SelectionSet<'static, String>) {
        let (possible, wanted) = (self.schema.possible(ty), self.schema.possible(on));
        if possible.is_disjoint(&wanted) {
            self.fault(place, &format!("`{ty}` is never a `{on}`"));
        }
        self.selection(place, on, set);
    }

    fn field(&mut self, place: &str, ty: &str, field: &'s q::Field<'static, String>) {
        let place = format!("{place}.{}", field.name);
        if field.name == "__typename" {
            return;
        }
        let Some(def) = self.schema.field(ty, &field.name) else {
            return self.fault(&place, &format!("`{ty}` has no such field"));
        };
        for (name, value) in &field.arguments {
            match def.arguments.get(name) {
                Some(argument) => self.value(&format!("{place}({name})"), &argument.ty, value),
                None => self.fault(&place, &format!("no argument `{name}`")),
            }
        }
        for (name, argument) in &def.arguments {
            let given = field.arguments.iter().any(|(given, _)| given == name);
            if is_non_null(&argument.ty) && !argument.has_default && !given {
                self.fault(&place, &format!("the argument `{name}` is missing"));
            }
        }
        let inner = named(&def.ty);
        let is_leaf = matches!(
            self.schema.types.get(inner),
            Some(TypeDef::Scalar | TypeDef::Enum(_))
        );
        if is_leaf != field.selection_set.items.is_empty() {
            self.fault(&place, &format!("a selection does not fit `{inner}`"));
        } else if !is_leaf {
            self.selection(&place, inner, &field.selection_set);
        }
    }

    fn value(&mut self, place: &str, ty: &Type<'static, String>, value: &Value<'static, String>) {
        if let Value::Variable(name) = value {
            self.used.insert(name.clone());
            return match self.variables.get(name.as_str()) {
                None => self.fault(place, &format!("${name} is not declared")),
                Some(declared) if !fits(declared, ty) => {
                    self.fault(place, &format!("${name} is a `{declared}`, not a `{ty}`"));
                }
                Some(_) => {}
            };
        }
        if let Type::NonNullType(inner) = ty {
            return self.value(place, inner, value);
        }
        if let Type::ListType(inner) = ty {
            return match value {
                Value::List(items) => items.iter().for_each(|item| self.value(place, inner, item)),
                one => self.value(place, inner, one),
            };
        }
        let name = named(ty);
        let good = match (self.schema.types.get(name), value) {
            (Some(TypeDef::Enum(values)), Value::Enum(value)) => values.contains(value),
            (Some(TypeDef::Input(fields)), Value::Object(given)) => {
                for (field, value) in given {
                    match fields.get(field) {
                        Some(def) => self.value(&format!("{place}.{field}"), &def.ty, value),
                        None => self.fault(place, &format!("`{name}` has no `{field}`")),
                    }
                }
                true
            }
            (Some(TypeDef::Scalar), Value::Int(_)) => name == "Int",
            (Some(TypeDef::Scalar), Value::Boolean(_)) => name == "Boolean",
            (Some(TypeDef::Scalar), Value::String(_)) => !matches!(name, "Int" | "Float" | "Boolean"),
            _ => false,
        };
        if !good {
            self.fault(place, &format!("{value} is no `{name}`"));
        }
    }
}

/// Whether a variable of type `has` may stand where `wants` is.
fn fits(has: &Type<'static, String>, wants: &Type<'static, String>) -> bool {
    match (has, wants) {
        (Type::NonNullType(has), Type::NonNullType(wants)) | (Type::ListType(has), Type::ListType(wants)) => {
            fits(has, wants)
        }
        (Type::NonNullType(has), wants) => fits(has, wants),
        (Type::NamedType(has), Type::NamedType(wants)) => has == wants,
        _ => false,
    }
}
