//! The second judge: a Python interpreter's own `ast` and `compile`, as one long-lived process a thread.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::StripError;
use crate::domain::path::RepoPath;
use crate::strip::Remove;
use crate::strip::policy::Policy;
use crate::strip::python::{Facts, Stripped, Untouched};
use crate::strip::tree::{Language, language};

const SCRIPT: &str = include_str!("../../../data/strip/judge.py");

/// A running interpreter that compares programs.
pub struct Judge {
    python: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// What it says of two programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Same tree apart from docstrings, same instructions.
    Same,
    /// This interpreter does not take the original (a newer or an older syntax).
    NoOpinion,
    /// They differ, and how.
    Differs(String),
}

impl Judge {
    /// Starts an interpreter.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(python: &str) -> Result<Self, StripError> {
        let failed = |message: String| StripError::Judge {
            python: python.to_owned(),
            message,
        };
        let mut child = Command::new(python)
            .args(["-E", "-s", "-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("it has no input or output".into()));
        };
        Ok(Self {
            python: python.to_owned(),
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Compares an original and its stripped text.
    ///
    /// # Errors
    /// When the interpreter ends or says what is not understood.
    pub fn compare(
        &mut self,
        original: &[u8],
        stripped: &[u8],
        policy: &Policy,
    ) -> Result<Verdict, StripError> {
        let failed = |message: String| StripError::Judge {
            python: self.python.clone(),
            message,
        };
        let strings = policy.removes(Remove::AttributeDocstrings) || policy.removes(Remove::StringStatements);
        let head = format!("{} {} {}\n", original.len(), stripped.len(), u8::from(strings));
        let mut line = String::new();
        let asked = self
            .input
            .write_all(head.as_bytes())
            .and_then(|()| self.input.write_all(original))
            .and_then(|()| self.input.write_all(stripped))
            .and_then(|()| self.input.flush())
            .and_then(|()| self.output.read_line(&mut line));
        if let Err(error) = asked {
            return Err(failed(error.to_string()));
        }
        match line.trim_end().split_once(' ').unwrap_or((line.trim_end(), "")) {
            ("same", _) => Ok(Verdict::Same),
            ("skip", _) => Ok(Verdict::NoOpinion),
            ("differs", why) => Ok(Verdict::Differs(format!("differs for {}: {why}", self.python))),
            _ => Err(failed("it ended, or is no Python".into())),
        }
    }
}

/// A stripped file, as the second judge leaves it: a Python file that it takes for another program stays as it was.
///
/// # Errors
/// When the judge ends.
pub fn judged(
    path: &RepoPath,
    bytes: &[u8],
    stripped: Stripped,
    judge: &mut Judge,
    policy: &Policy,
) -> Result<Stripped, StripError> {
    if let (Some(new), Language::Python(_)) = (&stripped.bytes, language(path))
        && let Verdict::Differs(doubt) = judge.compare(bytes, new, policy)?
    {
        return Ok(Stripped {
            bytes: None,
            untouched: Some(Untouched::Unproven { doubt }),
            facts: Facts::default(),
        });
    }
    Ok(stripped)
}

impl Drop for Judge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
