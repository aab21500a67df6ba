//! `quarry export MANIFEST --to FORMAT DIR`.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::error::CliError;
use super::exit_code::ExitCode;
use super::output::must_be_no_address;
use super::session::Session;
use crate::emit::Release;
use crate::emit::export::Format;
use crate::emit::run::export::export_version;

/// `quarry export`.
#[derive(Debug, Args)]
#[command(
    after_long_help = "swebench   DATASET.jsonl for `swebench eval`, and the task tree of its task repositories (tasks/, sweb.yaml)\n\
        hf         Parquet, a card and Croissant metadata: datasets.load_dataset(\"DIR\")\n\
        croissant  croissant.json beside the table that it describes: mlcroissant.Dataset(\"DIR/croissant.json\")\n\
        harbor     a folder a task: harbor run --path DIR\n\
        inspect    DATASET.jsonl of samples: inspect_ai.dataset.json_dataset\n\n\
        An id of a test with white space has it percent-encoded in formats whose graders split lines at it. Instances that a \
        format cannot hold are named with the reason.\n\nExample: quarry export manifests/sample/0.1.0 --to hf sample-hf"
)]
pub struct ExportArgs {
    /// The folder of an emitted version
    #[arg(value_name = "MANIFEST")]
    pub manifest: Utf8PathBuf,
    /// Whose files to write
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub to: FormatArg,
    /// The folder to write: a new one, or an empty one
    #[arg(value_name = "DIR")]
    pub folder: Utf8PathBuf,
}

/// A format's name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FormatArg {
    /// The swebench package's rows and task tree
    Swebench,
    /// A dataset folder for Hugging Face
    Hf,
    /// Croissant metadata and its table
    Croissant,
    /// Tasks for the Harbor runner
    Harbor,
    /// Samples for `inspect_ai`
    Inspect,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Swebench => Self::Swebench,
            FormatArg::Hf => Self::Hf,
            FormatArg::Croissant => Self::Croissant,
            FormatArg::Harbor => Self::Harbor,
            FormatArg::Inspect => Self::Inspect,
        }
    }
}

pub(super) fn run(args: &ExportArgs, session: &Session) -> Result<ExitCode, CliError> {
    must_be_no_address(args.folder.as_std_path())?;
    let report = export_version(&args.manifest, args.to.into(), &args.folder)?;
    let mut text = String::new();
    for (instance, why) in &report.left_out {
        let _ = writeln!(text, "left out {instance}: {why}");
    }
    let there = match report.release {
        Release::New => "written",
        Release::AlreadyThere => "there already, the same",
    };
    let kept = report.instances - report.left_out.len();
    let _ = writeln!(
        text,
        "{}: {kept} of {} instances, {} files, {there}",
        report.folder, report.instances, report.files
    );
    let json = serde_json::json!({
        "folder": report.folder,
        "instances": report.instances,
        "exported": kept,
        "left_out": report.left_out,
        "files": report.files,
        "new": report.release == Release::New,
    });
    session.printer.result(&json, &text)?;
    Ok(ExitCode::Success)
}
