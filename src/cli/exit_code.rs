//! The documented exit codes. Scripts depend on them: a code is never given another meaning.

use std::process::ExitCode as ProcessCode;

/// How a command ended, for the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// Done.
    Success = 0,
    /// The command did its work, and what it looked at is not sound (`check`, `emit --verify`, `doctor`), annotators disagree
    /// (`annotate import`), or gold or the empty patch gave what it must not (`evaluate`, `emit`).
    Unsound = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The input is wrong: a recipe, a dataset, a mirror, an id.
    Input = 3,
    /// The workspace cannot be used: locked, unreadable, from a newer version, disk full.
    Workspace = 4,
    /// The machine lacks something: uv, an interpreter, a sandbox.
    Machine = 5,
    /// A released version would have been overwritten with other bytes.
    Released = 6,
    /// Interrupted: what was begun is finished and recorded; run the same command again to go on.
    Interrupted = 130,
}

impl ExitCode {
    /// The table that `quarry --help` ends with.
    pub const TABLE: &'static str = "\
Exit codes:
  0    done
  1    what was looked at is not sound (check, doctor, emit --verify),
       annotators disagree (annotate import), or gold was not resolved, or the
       empty patch was (evaluate --gold, --null, emit)
  2    the command line is wrong
  3    an input is wrong: a recipe, a dataset, a mirror, an id
  4    the workspace cannot be used: locked, unreadable, newer, disk full
  5    the machine lacks something: uv, git, an interpreter, a sandbox
  6    a released version would have been overwritten with other bytes
  130  interrupted; run the same command again to go on";
}

impl From<ExitCode> for ProcessCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
