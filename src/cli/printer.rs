//! The one place that writes to standard output and standard error. In errors and notes, which echo what was given, no
//! address keeps its user and its password.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use super::error::CliError;
use crate::domain::{address, text};

/// Writes results, for a person or as one JSON document.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    /// Whether `--json` was given.
    pub json: bool,
    /// Whether `--quiet` was given.
    pub quiet: bool,
}

impl Printer {
    /// Writes a result: as JSON when asked for, else the text.
    ///
    /// # Errors
    /// [`CliError`] when standard output cannot be written; a closed pipe is no error.
    pub fn result(self, json: &impl Serialize, told: &str) -> Result<(), CliError> {
        if self.json {
            let mut line = serde_json::to_string_pretty(json)
                .map_err(|error| CliError::bug(format!("write the result as JSON: {error}")))?;
            line.push('\n');
            out(text::json(&line).as_bytes())
        } else if told.is_empty() {
            Ok(())
        } else {
            let end = if told.ends_with('\n') { "" } else { "\n" };
            out(format!("{}{end}", text::shown(told)).as_bytes())
        }
    }

    /// Writes text as it is, whatever the mode: completion scripts, schemas, tables for programs. On a terminal it is shown.
    ///
    /// # Errors
    /// [`CliError`] when standard output cannot be written; a closed pipe is no error.
    pub fn raw(self, text: &str) -> Result<(), CliError> {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes as they are: a log is not always text. On a terminal they are shown.
    ///
    /// # Errors
    /// [`CliError`] when standard output cannot be written; a closed pipe is no error.
    pub fn bytes(self, bytes: &[u8]) -> Result<(), CliError> {
        if io::stdout().is_terminal() {
            let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
            out(text::shown(&text).as_bytes())
        } else {
            out(bytes)
        }
    }

    /// Writes a line for a person to standard error, unless `--quiet`.
    pub fn note(self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{}", text::shown(&address::shown(text)));
        }
    }

    /// Writes an error as a JSON document, with `--json`; a person is told elsewhere.
    pub fn document(self, error: &CliError) {
        if !self.json {
            return;
        }
        let hints: Vec<String> = error.hints.iter().map(|hint| address::shown(hint)).collect();
        let document = serde_json::json!({
            "error": {
                "kind": error.kind(),
                "message": address::shown(&error.to_string()),
                "hints": hints,
                "exit_code": error.exit as u8,
            }
        });
        let _ = out(text::json(&format!("{document:#}\n")).as_bytes());
    }

    /// Writes an error and its hints to standard error; with `--json` also as a JSON document on standard output.
    pub fn error(self, error: &CliError) {
        self.document(error);
        let mut told = format!("error: failed to {error}\n");
        for hint in &error.hints {
            told.push_str("hint: ");
            told.push_str(hint);
            told.push('\n');
        }
        self.refused(&told);
    }

    /// Writes what is wrong to standard error, also with `--quiet`.
    pub fn refused(self, told: &str) {
        let _ = io::stderr().write_all(text::shown(&address::shown(told)).as_bytes());
    }
}

fn out(bytes: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::workspace(
            format!("write to standard output: {error}"),
            vec![],
        )),
        _ => Ok(()),
    }
}
