//! `quarry strip` of one file, or of standard input.

use std::io::{Read as _, Write as _};
use std::path::Path;

use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use super::strip::{StripArgs, is_standard, write_report};
use super::strip_policy::Form;
use crate::domain::path::RepoPath;
use crate::strip::Report;
use crate::strip::run::{Judge, Settings, StripError, is_restorable, judged, pool, replace, strip_file};

/// Strips one file, or standard input.
pub(super) fn one(
    args: &StripArgs,
    session: &Session,
    settings: &Settings,
    source: &Path,
) -> Result<ExitCode, CliError> {
    let from_stdin = source == Path::new("-");
    let refuse = |what: &str, hint: &str| Err(CliError::usage(what, vec![hint.to_owned()]));
    if args.format != Form::Folder {
        return refuse(
            "write one file as a tree",
            "leave --format out: it is for folders and commits",
        );
    }
    if args.in_place && from_stdin {
        return refuse(
            "change standard input in place",
            "leave --in-place out: the result goes to standard output",
        );
    }
    if let Some(out) = &args.out
        && !args.in_place
        && let (Ok(out), Ok(source)) = (out.canonicalize(), source.canonicalize())
        && out == source
    {
        return refuse(
            "write the result over its source",
            "say --in-place when that is meant",
        );
    }
    let read = |error: std::io::Error| {
        CliError::from(StripError::Read {
            path: source.to_owned(),
            source: error,
        })
    };
    let mut bytes = vec![];
    let name = if from_stdin {
        std::io::stdin().read_to_end(&mut bytes).map_err(read)?;
        RepoPath::from("<stdin>.py")
    } else {
        bytes = std::fs::read(source).map_err(read)?;
        RepoPath::from(source.as_os_str().as_encoded_bytes())
    };
    let mut judge = settings.verify_with.as_deref().map(Judge::start).transpose()?;
    let stripped = pool(1)?.install(|| strip_file(&name, &bytes, &settings.policy));
    let Some(mut stripped) = stripped else {
        let hint = "Python (.py, .pyi), and in safe mode Cython and notebooks, can be stripped".to_owned();
        return Err(CliError::input(
            format!("strip `{name}`: its name says it is none of these"),
            vec![hint],
        ));
    };
    if let Some(judge) = &mut judge {
        stripped = judged(&name, &bytes, stripped, judge, &settings.policy)?;
    }
    let result = stripped.bytes.as_deref().unwrap_or(&bytes);
    let target = if args.in_place {
        Some(source)
    } else {
        args.out.as_deref().filter(|out| *out != Path::new("-"))
    };
    match target {
        None => {
            let mut stdout = std::io::stdout().lock();
            let written = stdout.write_all(result).and_then(|()| stdout.flush());
            written
                .map_err(|error| CliError::workspace(format!("write to standard output: {error}"), vec![]))?;
        }
        Some(target) => {
            if args.in_place && !args.force {
                is_restorable(
                    target
                        .parent()
                        .filter(|parent| !parent.as_os_str().is_empty())
                        .unwrap_or(Path::new(".")),
                )?;
            }
            let written = if args.in_place {
                replace(target, result)
            } else {
                std::fs::write(target, result)
            };
            written.map_err(|source| StripError::Write {
                path: target.to_owned(),
                source,
            })?;
        }
    }
    let report = Report::of_one(name.clone(), &bytes, &stripped, &settings.policy);
    if let Some(why) = &stripped.untouched {
        session
            .printer
            .note(&format!("`{name}` is left as it was: {why}"));
    }
    write_report(args, session, &report)?;
    if target.is_some() && args.report.as_deref().is_none_or(|path| !is_standard(path)) {
        let totals = serde_json::json!({ "totals": report.totals });
        session.printer.result(&totals, "")?;
    }
    Ok(match stripped.untouched {
        Some(_) => ExitCode::Unsound,
        None => ExitCode::Success,
    })
}
