//! TOML and YAML as one kind of tree that knows its lines. Every scalar is its text.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// How deep a document may nest; what is deeper is left out.
const DEEPEST: usize = 64;
/// How many values a document may have, aliases followed; what is beyond is left out.
const LARGEST: usize = 200_000;

/// A value and the line it stands in, from 1. A text of several lines has the line its content starts in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) line: u32,
    pub(crate) kind: Kind,
}

/// The kinds of values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Nothing,
    Text(String),
    List(Vec<Value>),
    /// Keys in their order, with their lines.
    Table(Vec<(String, u32, Value)>),
}

impl Value {
    /// How many values and bytes of text it holds.
    pub(crate) fn weight(&self) -> usize {
        1 + match &self.kind {
            Kind::Nothing => 0,
            Kind::Text(text) => text.len(),
            Kind::List(list) => list.iter().map(Self::weight).sum(),
            Kind::Table(entries) => entries
                .iter()
                .map(|(key, _, value)| key.len() + value.weight())
                .sum(),
        }
    }

    /// Whether any text in it has another one in it.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Nothing => false,
            Kind::Text(own) => own.contains(text),
            Kind::List(list) => list.iter().any(|member| member.mentions(text)),
            Kind::Table(entries) => entries.iter().any(|(.., value)| value.mentions(text)),
        }
    }

    /// The value at a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| {
            value
                .entries()
                .find(|(name, ..)| name == key)
                .map(|(_, _, value)| value)
        })
    }

    /// The text at a path of keys.
    pub(crate) fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.text()
    }

    /// The text, of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The members of a list; a scalar is a list of itself.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Self> {
        let (list, single): (&[Self], _) = match &self.kind {
            Kind::List(list) => (list, None),
            Kind::Text(_) => (&[], Some(self)),
            _ => (&[], None),
        };
        list.iter().chain(single)
    }

    /// The texts of a list, with their lines.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, u32)> {
        self.members()
            .filter_map(|member| Some((member.text()?, member.line)))
    }

    /// A table's entries: key, the key's line, value.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, u32, &Self)> {
        let entries: &[_] = match &self.kind {
            Kind::Table(entries) => entries,
            _ => &[],
        };
        entries
            .iter()
            .map(|(key, line, value)| (key.as_str(), *line, value))
    }
}

/// Reads TOML; `Err` says what is wrong and where.
pub(crate) fn read_toml(text: &str) -> Result<Value, String> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let line = |at: usize| u32::try_from(starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX);
    match DeTable::parse(text) {
        Ok(table) => Ok(Value {
            line: 1,
            kind: of_table(table.get_ref(), text, &line, 0),
        }),
        Err(error) => {
            let place = error.span().map_or(1, |span| line(span.start));
            Err(format!("line {place}: {}", error.message()))
        }
    }
}

fn of_table(table: &DeTable<'_>, text: &str, line: &dyn Fn(usize) -> u32, depth: usize) -> Kind {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| {
            let at = line(key.span().start);
            (
                key.span().start,
                key.get_ref().to_string(),
                at,
                of_value(value, text, line, depth + 1),
            )
        })
        .collect();
    entries.sort_by_key(|(at, ..)| *at);
    Kind::Table(
        entries
            .into_iter()
            .map(|(_, key, at, value)| (key, at, value))
            .collect(),
    )
}

fn of_value(value: &Spanned<DeValue<'_>>, text: &str, line: &dyn Fn(usize) -> u32, depth: usize) -> Value {
    let start = value.span().start;
    let mut at = line(start);
    if depth > DEEPEST {
        return Value::default();
    }
    let kind = match value.get_ref() {
        DeValue::String(inner) => {
            let opening = text.get(start..).unwrap_or("");
            let fenced = ["\"\"\"\n", "'''\n", "\"\"\"\r\n", "'''\r\n"];
            at += u32::from(fenced.iter().any(|fence| opening.starts_with(fence)));
            Kind::Text(inner.to_string())
        }
        DeValue::Integer(inner) => Kind::Text(inner.as_str().to_owned()),
        DeValue::Float(inner) => Kind::Text(inner.as_str().to_owned()),
        DeValue::Boolean(inner) => Kind::Text(inner.to_string()),
        DeValue::Datetime(inner) => Kind::Text(inner.to_string()),
        DeValue::Array(inner) => Kind::List(
            inner
                .iter()
                .map(|member| of_value(member, text, line, depth + 1))
                .collect(),
        ),
        DeValue::Table(inner) => of_table(inner, text, line, depth),
    };
    Value { line: at, kind }
}

/// Reads the first document of a YAML file; `Err` says what is wrong and where.
///
/// A closing bracket that stands alone no deeper than its key is against YAML 1.2 and taken by most readers: where a
/// text cannot be read as it is, such brackets are moved in and it is read again.
pub(crate) fn read_yaml(text: &str) -> Result<Value, String> {
    parse_yaml(text).or_else(|problem| {
        let is_alone = |line: &str| matches!(line.trim(), "]" | "}" | "]," | "},");
        let mended: Vec<String> = text
            .lines()
            .map(|line| {
                if is_alone(line) {
                    format!("{:64}{}", "", line.trim())
                } else {
                    line.to_owned()
                }
            })
            .collect();
        parse_yaml(&(mended.join("\n") + "\n")).map_err(|_| problem)
    })
}

fn parse_yaml(text: &str) -> Result<Value, String> {
    let mut reader = YamlReader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| format!("line {}: {}", error.marker().line(), error.info()))?;
        let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain && matches!(text.as_ref(), "" | "~" | "null");
                let kind = if plain {
                    Kind::Nothing
                } else {
                    Kind::Text(text.into_owned())
                };
                reader.add(Value { line, kind }, anchor);
            }
            Event::SequenceStart(anchor, _) => reader.open(line, anchor, false),
            Event::MappingStart(anchor, _) => reader.open(line, anchor, true),
            Event::SequenceEnd | Event::MappingEnd => reader.close(),
            Event::Alias(anchor) => {
                let value = reader.anchors.get(&anchor).cloned().unwrap_or_default();
                reader.size += value_size(&value);
                if reader.size > LARGEST {
                    return Err(format!(
                        "line {line}: the document grows beyond all bounds by its aliases"
                    ));
                }
                reader.add(value, 0);
            }
            Event::DocumentEnd => break,
            _ => {}
        }
    }
    Ok(reader.root.unwrap_or_default())
}

fn value_size(value: &Value) -> usize {
    match &value.kind {
        Kind::List(list) => 1 + list.iter().map(value_size).sum::<usize>(),
        Kind::Table(entries) => 1 + entries.iter().map(|(.., value)| value_size(value)).sum::<usize>(),
        _ => 1,
    }
}

/// A list or a table that is being read.
struct Open {
    line: u32,
    anchor: usize,
    is_table: bool,
    values: Vec<Value>,
}

#[derive(Default)]
struct YamlReader {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Value>,
    root: Option<Value>,
    size: usize,
}

impl YamlReader {
    fn open(&mut self, line: u32, anchor: usize, is_table: bool) {
        self.open.push(Open {
            line,
            anchor,
            is_table,
            values: vec![],
        });
    }

    fn close(&mut self) {
        let Some(done) = self.open.pop() else { return };
        let kind = if done.is_table {
            table_of(done.values)
        } else {
            Kind::List(done.values)
        };
        let line = done.line;
        // What nests too deep is read and left out, so that no later walk can run out of stack.
        let kind = if self.open.len() > DEEPEST {
            Kind::Nothing
        } else {
            kind
        };
        self.add(Value { line, kind }, done.anchor);
    }

    fn add(&mut self, value: Value, anchor: usize) {
        self.size += 1;
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            Some(open) => open.values.push(value),
            None => self.root = Some(value),
        }
    }
}

/// Keys and values in turn, as a table; a merge key's entries (`<<`) come after the table's own.
fn table_of(values: Vec<Value>) -> Kind {
    let mut entries: Vec<(String, u32, Value)> = Vec::new();
    let mut merged = Vec::new();
    let mut values = values.into_iter();
    while let (Some(key), Some(value)) = (values.next(), values.next()) {
        let name = key.text().unwrap_or_default().to_owned();
        if name == "<<" {
            let tables = if let Kind::List(list) = value.kind {
                list
            } else {
                vec![value]
            };
            for table in tables {
                if let Kind::Table(more) = table.kind {
                    merged.extend(more);
                }
            }
        } else {
            entries.push((name, key.line, value));
        }
    }
    for (name, line, value) in merged {
        if !entries.iter().any(|(known, ..)| *known == name) {
            entries.push((name, line, value));
        }
    }
    Kind::Table(entries)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn toml_keeps_order_and_lines() {
        let value =
            read_toml("[b]\nx = [\n  'one',\n  'two',\n]\n[a]\ny = \"\"\"\nfirst\n\"\"\"\nz = 3.10\n")
                .unwrap();
        let names: Vec<_> = value.entries().map(|(name, line, _)| (name, line)).collect();
        assert_eq!(names, [("b", 1), ("a", 6)]);
        assert_eq!(
            value.at(&["b", "x"]).unwrap().texts().collect::<Vec<_>>(),
            [("one", 3), ("two", 4)]
        );
        let text = value.at(&["a", "y"]).unwrap();
        assert_eq!((text.text(), text.line), (Some("first\n"), 8));
        assert_eq!(value.text_at(&["a", "z"]), Some("3.10"));
        assert_eq!(
            read_toml("a = 1\nb = \n").unwrap_err().split(':').next(),
            Some("line 2")
        );
    }

    #[test]
    fn yaml_keeps_text_lines_anchors_and_merges() {
        let text = "on: push\njobs:\n  a: &one\n    python: [3.9, \"3.10\"]\n    run: |\n      pip install x\n      pytest\n  b:\n    <<: *one\n    run: make\n";
        let value = read_yaml(text).unwrap();
        assert_eq!(value.text_at(&["on"]), Some("push"));
        let run = value.at(&["jobs", "a", "run"]).unwrap();
        assert_eq!((run.text(), run.line), (Some("pip install x\npytest\n"), 6));
        let python = value.at(&["jobs", "b", "python"]).unwrap();
        assert_eq!(python.texts().collect::<Vec<_>>(), [("3.9", 4), ("3.10", 4)]);
        assert_eq!(value.text_at(&["jobs", "b", "run"]), Some("make"));
        let loose = read_yaml("a:\n  b: [\n    1,\n  ]\n  c: 2\n").unwrap();
        assert_eq!(
            loose.at(&["a", "b"]).unwrap().texts().collect::<Vec<_>>(),
            [("1", 3)]
        );
        assert_eq!(loose.text_at(&["a", "c"]), Some("2"));
        assert!(read_yaml("a: [1\nb: 2").unwrap_err().starts_with("line "));
    }

    #[test]
    fn aliases_cannot_grow_without_bounds_and_depth_is_cut() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let one = format!("*a{}", level - 1);
            let _ = writeln!(bomb, "a{level}: &a{level} [{}]", vec![one; 9].join(", "));
        }
        assert!(read_yaml(&bomb).unwrap_err().contains("bounds"));
        let deep = format!("a: {}{}", "[".repeat(200), "]".repeat(200));
        assert!(read_yaml(&deep).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in "([a-z]{1,3}: ?|- |\\[|\\]|\\{|\\}|&a |\\*a|\\||\n|  |\"|'|=|#|.){0,60}") {
            let _ = read_yaml(&text);
            let _ = read_toml(&text);
        }
    }
}
