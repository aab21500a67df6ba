//! Jupyter notebooks (format 4): code cells lose docstrings and comments, markdown cells their text. Only the `source`
//! of such cells is written anew; every other byte of the file stays.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::policy::Policy;
use super::python::{self, Dialect, Facts, Stripped, Untouched};

#[derive(Deserialize)]
struct Notebook<'text> {
    #[serde(borrow)]
    cells: Vec<Cell<'text>>,
}

#[derive(Deserialize)]
struct Cell<'text> {
    #[serde(borrow)]
    cell_type: Cow<'text, str>,
    #[serde(borrow)]
    source: &'text RawValue,
}

/// A cell's text, in either of the format's two shapes.
enum Source {
    Whole(String),
    Lines(Vec<String>),
}

/// Strips one notebook. A cell that does not parse (another language's magic) stays, and is told by its line.
pub fn strip(bytes: &[u8], policy: &Policy) -> Stripped {
    let wrong = |message: String| Stripped {
        untouched: Some(Untouched::Syntax { line: 1, message }),
        ..Stripped::default()
    };
    let Ok(text) = str::from_utf8(bytes) else {
        return Stripped {
            untouched: Some(Untouched::Undecodable {
                codec: "utf-8".into(),
            }),
            ..Stripped::default()
        };
    };
    let notebook: Notebook<'_> = match serde_json::from_str(text) {
        Ok(notebook) => notebook,
        Err(error) => return wrong(format!("no notebook of format 4: {error}")),
    };
    let mut facts = Facts::default();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for cell in &notebook.cells {
        let raw = cell.source.get();
        let lines = || serde_json::from_str(raw).map(Source::Lines);
        let Ok(source) = serde_json::from_str(raw).map(Source::Whole).or_else(|_| lines()) else {
            return wrong("a cell whose source is neither text nor lines".into());
        };
        let code = match &source {
            Source::Whole(text) => text.clone(),
            Source::Lines(lines) => lines.concat(),
        };
        let new = match &*cell.cell_type {
            "markdown" if !code.is_empty() => Some(String::new()),
            "code" => match code_cell(&code, policy, &mut facts) {
                CodeCell::Python(new) => new,
                CodeCell::Other => {
                    let before = &text.as_bytes()[..place(raw, text)];
                    let line = 1 + memchr::memchr_iter(b'\n', before).count();
                    facts.unread_cells.push(u32::try_from(line).unwrap_or(u32::MAX));
                    None
                }
            },
            _ => None,
        };
        let Some(new) = new else { continue };
        let start = place(raw, text);
        out.push_str(&text[at..start]);
        out.push_str(&render(&new, &source, raw));
        at = start + raw.len();
    }
    if at == 0 {
        return Stripped {
            facts,
            ..Stripped::default()
        };
    }
    out.push_str(&text[at..]);
    if serde_json::from_str::<Notebook<'_>>(&out).is_ok_and(|after| after.cells.len() == notebook.cells.len())
    {
        Stripped {
            bytes: Some(out.into_bytes()),
            untouched: None,
            facts,
        }
    } else {
        let doubt = "is no notebook any more".to_owned();
        Stripped {
            untouched: Some(Untouched::Unproven { doubt }),
            ..Stripped::default()
        }
    }
}

/// Where a raw value stands: it is a slice of the text it was read from.
fn place(raw: &str, text: &str) -> usize {
    raw.as_ptr() as usize - text.as_ptr() as usize
}

/// A code cell.
enum CodeCell {
    /// Its new text, where that differs.
    Python(Option<String>),
    /// It is not Python.
    Other,
}

fn code_cell(code: &str, policy: &Policy, facts: &mut Facts) -> CodeCell {
    // `%%bash` and the like: the cell is not Python.
    if code.trim_start().starts_with("%%") {
        return CodeCell::Other;
    }
    let stripped = python::strip(code.as_bytes(), Dialect::Cell, policy);
    if stripped.untouched.is_some() {
        return CodeCell::Other;
    }
    facts.add(&stripped.facts);
    CodeCell::Python(stripped.bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

/// A cell's new text in the shape and with the spacing of the old.
fn render(new: &str, old: &Source, raw: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    match old {
        Source::Whole(_) => quoted(new),
        Source::Lines(_) if new.is_empty() => "[]".to_owned(),
        Source::Lines(_) => {
            let spacing =
                |text: &str| -> String { text.chars().take_while(char::is_ascii_whitespace).collect() };
            let inner = spacing(&raw[1..]);
            let last: String = {
                let body = &raw[..raw.len() - 1];
                body[body.trim_end().len()..].to_owned()
            };
            let between = if inner.is_empty() { " " } else { inner.as_str() };
            let lines: Vec<String> = new.split_inclusive('\n').map(quoted).collect();
            format!("[{inner}{}{last}]", lines.join(&format!(",{between}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> String {
        let stripped = strip(text.as_bytes(), &Policy::default());
        assert_eq!(stripped.untouched, None);
        stripped
            .bytes
            .map_or(text.to_owned(), |bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn sources_change_and_every_other_byte_stays() {
        let before = r##"{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "text"]},
  {"cell_type": "code", "outputs": [1.50], "source": [
    "%matplotlib inline\n",
    "x = 1  # é\n",
    "\"shown\""
   ]},
  {"cell_type": "code", "source": "%%bash\n# stays\nls"},
  {"cell_type": "code", "source": "def f():\n    'doc'\n"}
 ],
 "nbformat": 4
}
"##;
        let after = r#"{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": []},
  {"cell_type": "code", "outputs": [1.50], "source": [
    "%matplotlib inline\n",
    "x = 1\n",
    "\"shown\""
   ]},
  {"cell_type": "code", "source": "%%bash\n# stays\nls"},
  {"cell_type": "code", "source": "def f():\n    pass\n"}
 ],
 "nbformat": 4
}
"#;
        assert_eq!(run(before), after);
        assert_eq!(run(after), after);
    }

    #[test]
    fn a_cell_may_be_empty_or_all_comment() {
        let before =
            r##"{"cells": [{"cell_type": "code", "source": []}, {"cell_type": "code", "source": ["# c"]}]}"##;
        let after =
            r#"{"cells": [{"cell_type": "code", "source": []}, {"cell_type": "code", "source": []}]}"#;
        assert_eq!(run(before), after);
    }

    #[test]
    fn a_cell_that_is_no_python_stays_and_is_told_by_its_line() {
        let text = "{\n \"cells\": [\n  {\"cell_type\": \"code\", \"source\": \"x = 1 # a\"},\n  \
            {\"cell_type\": \"code\", \"source\": \"x = 1 # b\\nprint 'x'\"},\n  \
            {\"cell_type\": \"code\", \"source\": \"%%bash\\nls # c\"}\n ],\n \"nbformat\": 4}";
        let stripped = strip(text.as_bytes(), &Policy::default());
        assert_eq!(stripped.facts.unread_cells, [4, 5]);
        let new = String::from_utf8(stripped.bytes.unwrap()).unwrap();
        assert!(
            !new.contains("# a") && new.contains("# b") && new.contains("# c"),
            "{new}"
        );
    }

    #[test]
    fn what_is_no_notebook_stays() {
        for text in ["", "[]", "{\"cells\": 1}", "{\"worksheets\": []}"] {
            assert!(
                strip(text.as_bytes(), &Policy::default()).untouched.is_some(),
                "{text}"
            );
        }
    }
}
