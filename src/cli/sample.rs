//! `quarry sample MANIFEST`: which instances people should look at.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::emit::assemble::INSTANCES;
use crate::emit::instance::Instance;
use crate::emit::sample::{Sample, Wanted, sample};
use crate::emit::versions;

/// `quarry sample`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The size is Cochran's for a proportion, corrected for the number of instances; each stratum gets its share, and one at
least. The same seed draws the same instances.

Examples:
  quarry sample manifests/doc2feat/0.1.0 --seed 7
  quarry sample manifests/doc2feat/0.1.0 --margin 0.1 --seed 7 --json")]
pub struct SampleArgs {
    /// The folder of an emitted version
    #[arg(value_name = "MANIFEST")]
    pub manifest: Utf8PathBuf,
    /// What each share is taken of
    #[arg(long, value_enum, default_value_t = Stratum::Repo)]
    pub stratify: Stratum,
    /// How often the interval must hold the truth
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub confidence: f64,
    /// Half the interval's width
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub margin: f64,
    /// Any text; the sample is drawn by it
    #[arg(long, value_name = "TEXT")]
    pub seed: String,
}

/// What instances are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stratum {
    /// Their repositories
    Repo,
    /// Nothing: all are one stratum
    None,
}

pub(super) fn run(args: &SampleArgs, session: &Session) -> Result<ExitCode, CliError> {
    if !(args.confidence > 0.5 && args.confidence < 1.0 && args.margin > 0.0 && args.margin < 1.0) {
        let hint =
            "`--confidence` lies between 0.5 and 1, `--margin` between 0 and 1: 0.95 and 0.05".to_owned();
        return Err(CliError::usage(
            "draw a sample of that confidence and margin",
            vec![hint],
        ));
    }
    let files =
        versions::read(&args.manifest).map_err(|error| CliError::input(error.to_string(), error.hints()))?;
    let lines = files.get(INSTANCES).map(Vec::as_slice).unwrap_or_default();
    let rows = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows: Result<Vec<Instance>, _> = rows.map(serde_json::from_slice).collect();
    let rows = rows.map_err(|error| {
        let hint = format!(
            "`quarry emit --verify {}` says what is wrong with it",
            args.manifest
        );
        CliError::input(
            format!("read `{}/{INSTANCES}`: {error}", args.manifest),
            vec![hint],
        )
    })?;
    if rows.is_empty() {
        let hint = "give the folder of one version: `manifests/<dataset>/<version>`".to_owned();
        return Err(CliError::input(
            format!("find instances in `{}`", args.manifest),
            vec![hint],
        ));
    }
    let instances: Vec<_> = rows
        .into_iter()
        .map(|row| {
            let stratum = match args.stratify {
                Stratum::Repo => row.repo.to_string(),
                Stratum::None => "all".to_owned(),
            };
            (row.instance_id, stratum)
        })
        .collect();
    let wanted = Wanted {
        confidence: args.confidence,
        margin: args.margin,
    };
    let drawn = sample(&instances, wanted, &args.seed);
    session.printer.result(&drawn, &text(&drawn))?;
    Ok(ExitCode::Success)
}

fn text(drawn: &Sample) -> String {
    let mut text = String::new();
    for id in &drawn.instances {
        let _ = writeln!(text, "{id}");
    }
    let _ = writeln!(
        text,
        "\n{} of {} instances, seed `{}`",
        drawn.size, drawn.population, drawn.seed
    );
    for (stratum, (there, taken)) in &drawn.strata {
        let _ = writeln!(text, "  {taken:>5} of {there:>5}  {stratum}");
    }
    text
}
