//! `quarry init [DIR]`: a workspace, with the shipped recipes to start from.

use std::fmt::Write as _;
use std::fs;

use super::args::InitArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::output::must_be_no_address;
use super::session::Session;
use crate::recipe::SHIPPED;
use crate::workspace::Workspace;

pub(super) fn run(args: &InitArgs, session: &Session) -> Result<ExitCode, CliError> {
    if let Some(folder) = &args.folder {
        must_be_no_address(folder.as_std_path())?;
    }
    let workspace = match &args.folder {
        Some(folder) => Workspace::at(session.here.join(folder)),
        None if session.is_named => session.workspace.clone(),
        // Also below another workspace.
        None => Workspace::at(&session.here),
    };
    let session = Session {
        workspace,
        ..session.clone()
    };
    let (_context, _lock) = session.open()?;
    let filters = session.workspace.root().join("filters");
    let fail = |error| {
        CliError::workspace(
            format!("write recipes into `{filters}`: {error}"),
            vec!["check its permissions".into()],
        )
    };
    fs::create_dir_all(&filters).map_err(fail)?;
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for (name, text) in SHIPPED {
        let path = filters.join(name);
        // A recipe that is there may have been edited: it is the user's.
        if path.exists() {
            kept.push(path.to_string());
        } else {
            fs::write(&path, text).map_err(fail)?;
            written.push(path.to_string());
        }
    }
    let root = session.workspace.root();
    let mut text = format!("workspace {root}\n");
    for path in &written {
        let _ = writeln!(text, "  wrote {path}");
    }
    for path in &kept {
        let _ = writeln!(text, "  kept  {path} (it was there)");
    }
    text.push_str("next: quarry run filters/sample.toml --sample\n");
    let json = serde_json::json!({ "workspace": root, "written": written, "kept": kept });
    session.printer.result(&json, &text)?;
    Ok(ExitCode::Success)
}
