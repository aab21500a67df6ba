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

/// Strips one notebook. A cell that does not parse (another language's magic) stays, and is reported as a leak of the
/// whole file only when all do.
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
            "code" => code_cell(&code, policy, &mut facts),
            _ => None,
        };
        let Some(new) = new else { continue };
        // A raw value is a slice of the text it was read from.
        let start = raw.as_ptr() as usize - text.as_ptr() as usize;
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

fn code_cell(code: &str, policy: &Policy, facts: &mut Facts) -> Option<String> {
    // `%%bash` and the like: the cell is not Python.
    if code.trim_start().starts_with("%%") {
        return None;
    }
    let stripped = python::strip(code.as_bytes(), Dialect::Cell, policy);
    if stripped.untouched.is_some() {
        return None;
    }
    facts.add(&stripped.facts);
    stripped.bytes.and_then(|bytes| String::from_utf8(bytes).ok())
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
    fn what_is_no_notebook_stays() {
        for text in ["", "[]", "{\"cells\": 1}", "{\"worksheets\": []}"] {
            assert!(
                strip(text.as_bytes(), &Policy::default()).untouched.is_some(),
                "{text}"
            );
        }
    }
}
