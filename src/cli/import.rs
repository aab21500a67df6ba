//! `quarry import FORMAT FILE`.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::emit::Release;
use crate::emit::run::import::{ImportReport, ImportRequest, import_rows};

/// How many rows that were left out are told on a terminal.
const TOLD: usize = 20;

/// `quarry import`.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Rows are JSON lines, a JSON list or a Parquet table with the columns of SWE-bench. A row that is not what a row must be \
        ends the import with its line; one that is sound and no task (an id that is there already, a patch that is none, \
        no gold patch, no FAIL_TO_PASS) is left out, named and counted. Columns that mean nothing here are kept, and the export \
        to swebench gives every row back as it was published.\n\n\
        What no row says stays unknown: there is no environment, so what is imported is evaluated only after it was verified \
        again. For that the version holds a recipe, reverify.toml: it keeps the pull requests that the instances were.\n\n\
        Examples:\n  \
        quarry import swebench lite.jsonl --name swebench-lite\n  \
        quarry diff manifests/swebench-lite/1.0.0 manifests/swebench-verified/1.0.0\n  \
        quarry run manifests/swebench-lite/1.0.0/reverify.toml --mirror pallets+flask.git\n  \
        quarry diff manifests/swebench-lite/1.0.0 manifests/swebench-lite/1.0.1    what the published oracle has otherwise"
)]
pub struct ImportArgs {
    /// Whose rows they are
    #[arg(value_name = "FORMAT", value_enum)]
    pub format: ImportFormat,
    /// The file of rows
    #[arg(value_name = "FILE")]
    pub file: Utf8PathBuf,
    /// What to call the dataset: lower-case words joined by `-` [default: the file's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Which version of it this is; verifying it again makes the next one
    #[arg(long, value_name = "VERSION", default_value = "1.0.0")]
    pub release: String,
}

/// What rows are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// SWE-bench, and the sets that have its columns
    Swebench,
}

pub(super) fn run(args: &ImportArgs, session: &Session) -> Result<ExitCode, CliError> {
    let ImportFormat::Swebench = args.format;
    let report = import_rows(
        &session.workspace.manifests(),
        ImportRequest {
            file: args.file.clone(),
            name: args.name.clone(),
            version: args.release.clone(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        },
    )?;
    let json = serde_json::json!({
        "folder": report.folder,
        "new": report.release == Release::New,
        "instances": report.manifest.counts.instances,
        "import": report.manifest.import,
    });
    session.printer.result(&json, &text(&report))?;
    Ok(ExitCode::Success)
}

fn text(report: &ImportReport) -> String {
    let mut text = String::new();
    let Some(import) = &report.manifest.import else {
        return text;
    };
    for row in import.left_out.iter().take(TOLD) {
        let _ = writeln!(text, "left out {}, row {}: {}", row.instance_id, row.row, row.why);
    }
    if import.left_out.len() > TOLD {
        let _ = writeln!(text, "and {} more", import.left_out.len() - TOLD);
    }
    if !import.other_columns.is_empty() {
        let _ = writeln!(
            text,
            "kept as they are: the columns {}",
            import.other_columns.join(", ")
        );
    }
    if import.repeated_tests > 0 {
        let _ = writeln!(
            text,
            "names of tests that a list gives twice: {}",
            import.repeated_tests
        );
    }
    let there = match report.release {
        Release::New => "written",
        Release::AlreadyThere => "there already, the same",
    };
    let _ = writeln!(
        text,
        "{}: {} of {} rows are instances, {there}",
        report.folder, report.manifest.counts.instances, import.rows
    );
    let _ = writeln!(
        text,
        "verify them again: quarry run {}/reverify.toml --mirror MIRROR",
        report.folder
    );
    text
}
