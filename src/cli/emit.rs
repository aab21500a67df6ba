//! `quarry emit RECIPE`, `quarry emit --verify DIR`.

use std::fmt::Write as _;

use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::emit;

pub(super) fn verify(folder: &camino::Utf8Path, session: &Session) -> Result<ExitCode, CliError> {
    let checked = emit::verify(folder)?;
    let mut text = String::new();
    for problem in &checked.problems {
        let _ = writeln!(text, "{problem}");
    }
    let _ = writeln!(
        text,
        "{folder}: {}",
        if checked.problems.is_empty() {
            "sound"
        } else {
            "not sound"
        }
    );
    session.printer.result(&checked, &text)?;
    Ok(if checked.problems.is_empty() {
        ExitCode::Success
    } else {
        ExitCode::Unsound
    })
}
