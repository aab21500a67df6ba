//! `quarry sample MANIFEST`: which instances people should look at.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};
use serde::de::DeserializeOwned;

use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::domain::text::without_line;
use crate::emit::annotate::Parent;
use crate::emit::assemble::{INSTANCES, MANIFEST};
use crate::emit::instance::Instance;
use crate::emit::manifest::Manifest;
use crate::emit::sample::{Draw, Level, Sample, Stratify, Wanted, sample};
use crate::emit::{RunError, verify, versions};

/// `quarry sample`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The size is Cochran's for a proportion, corrected for the number of instances; each stratum gets its share, and one at
least. The same seed draws the same instances. With --json the sample says all that it was drawn by, and which version it
was drawn from; `quarry annotate` draws it again, and takes no other list.

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
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.95,
        allow_negative_numbers = true
    )]
    pub confidence: f64,
    /// Half the interval's width
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.05,
        allow_negative_numbers = true
    )]
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

impl From<Stratum> for Stratify {
    fn from(stratum: Stratum) -> Self {
        match stratum {
            Stratum::Repo => Self::Repo,
            Stratum::None => Self::None,
        }
    }
}

/// What the sample must be good for.
fn wanted(args: &SampleArgs) -> Result<Wanted, CliError> {
    let levels = Level::nearest(args.confidence).zip(Level::nearest(args.margin));
    let Some((confidence, margin)) = levels.filter(|_| args.confidence > 0.5) else {
        let hint = "`--confidence` lies between 0.5 and 1, `--margin` between 0 and 1: 0.95 and 0.05";
        return Err(CliError::usage(
            "draw a sample of that confidence and margin",
            vec![hint.to_owned()],
        ));
    };
    Ok(Wanted { confidence, margin })
}

/// What is wrong with a file of the version.
fn wrong(args: &SampleArgs, file: &str, what: &str) -> CliError {
    let hint = format!(
        "`quarry emit --verify {}` says what is wrong with it",
        args.manifest
    );
    CliError::input(format!("read `{}/{file}`: {what}", args.manifest), vec![hint])
}

/// What stands in a file of the version, the first of these bytes on this line of it.
fn read<T: DeserializeOwned>(
    args: &SampleArgs,
    file: &str,
    first: usize,
    bytes: &[u8],
) -> Result<T, CliError> {
    serde_json::from_slice(bytes).map_err(|error| {
        // The reader's own lines begin with 1, where it says one at all.
        let line = first + error.line().saturating_sub(1);
        wrong(args, file, &format!("line {line}: {}", without_line(&error)))
    })
}

pub(super) fn run(args: &SampleArgs, session: &Session) -> Result<ExitCode, CliError> {
    let wanted = wanted(args)?;
    if !args.manifest.is_dir() {
        let folder = args.manifest.clone();
        return Err(RunError::NoFolder { folder }.into());
    }
    let files =
        versions::read(&args.manifest).map_err(|error| CliError::input(error.to_string(), error.hints()))?;
    let lines = files.get(INSTANCES).map(Vec::as_slice).unwrap_or_default();
    let rows = lines
        .split(|byte| *byte == b'\n')
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(index, line)| read(args, INSTANCES, index + 1, line))
        .collect::<Result<Vec<Instance>, _>>()?;
    if rows.is_empty() {
        let hint = "give the folder of one version: `manifests/<dataset>/<version>`".to_owned();
        return Err(CliError::input(
            format!("find instances in `{}`", args.manifest),
            vec![hint],
        ));
    }
    let manifest: Manifest = match files.get(MANIFEST) {
        None => return Err(wrong(args, MANIFEST, "there is no such file")),
        Some(bytes) if bytes.trim_ascii().is_empty() => return Err(wrong(args, MANIFEST, "it is empty")),
        Some(bytes) => read(args, MANIFEST, 1, bytes)?,
    };
    let checked = verify(&args.manifest)?;
    if !checked.problems.is_empty() {
        return Err(RunError::Unsound {
            folder: args.manifest.clone(),
            problems: checked.problems.len(),
        }
        .into());
    }
    let stratify = Stratify::from(args.stratify);
    let draw = Draw {
        wanted,
        stratify,
        seed: args.seed.clone(),
        parent: Parent::of(&manifest.dataset, &files),
    };
    let drawn = sample(&stratify.strata(&rows), &draw);
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
        "\n{} of {} instances, confidence {}, margin {}, seed `{}`",
        drawn.size,
        drawn.population,
        drawn.confidence.value(),
        drawn.margin.value(),
        drawn.seed
    );
    for (stratum, (there, taken)) in &drawn.strata {
        let _ = writeln!(text, "  {taken:>5} of {there:>5}  {stratum}");
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        args: SampleArgs,
    }

    #[test]
    fn a_margin_below_0_is_told_as_what_it_is() {
        let read = |margin| Only::try_parse_from(["sample", "m", "--seed", "7", "--margin", margin]);
        let refused = wanted(&read("-0.1").unwrap().args).unwrap_err();
        assert!(
            refused.hints[0].contains("`--margin` between 0 and 1"),
            "{refused}"
        );
        assert!(wanted(&read("0.1").unwrap().args).is_ok());
    }
}
