//! `quarry compare A B…`: evaluations side by side, with tests and intervals.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::evaluate::Report;
use crate::evaluate::compare::{Rules, Strata, compare, same_version, text};
use crate::evaluate::run::read_report;
use crate::pipeline::PipelineError;

/// `quarry compare`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Every report after the first is compared with the first, over the tasks of which both say something; the others are counted by \
why they do not. Told are the paired table, McNemar's exact test, the Cochran–Mantel–Haenszel test over strata, the difference \
of the rates with a bootstrap interval, and, where predictions have `cost` and `steps`, stratified permutation tests of these. \
The same reports and the same seed give the same numbers.

Example:
  quarry compare .quarry/evaluations/swebench-1.0.0/issue .quarry/evaluations/swebench-1.0.0/compact --strata repo")]
pub struct CompareArgs {
    /// Reports of `quarry evaluate`: their files, or the folders that hold them
    #[arg(required = true, num_args = 2.., value_name = "REPORT")]
    pub reports: Vec<Utf8PathBuf>,
    /// What tasks are put together by
    #[arg(long, value_enum, default_value_t = StrataArg::Repo)]
    pub strata: StrataArg,
    /// Compare only tasks that were run under both: leave out predictions without a patch, or whose patch does not apply
    #[arg(long)]
    pub scorable: bool,
    /// The seed of bootstrap samples and of drawn arrangements
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// What tasks are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrataArg {
    /// Their repository
    Repo,
    /// Their split
    Split,
    /// The month of their merge
    Month,
}

pub(super) fn run(args: &CompareArgs, session: &Session) -> Result<ExitCode, CliError> {
    let mut reports: Vec<(String, Report)> = vec![];
    for place in &args.reports {
        let report = read_report(place).map_err(PipelineError::from)?;
        // The model's name, unless that says nothing or is another's already.
        let model = report.model.clone();
        let taken = reports.iter().any(|(name, _)| *name == model);
        let name = if model.is_empty() || taken {
            place.to_string()
        } else {
            model
        };
        reports.push((name, report));
    }
    let rules = Rules {
        strata: match args.strata {
            StrataArg::Repo => Strata::Repo,
            StrataArg::Split => Strata::Split,
            StrataArg::Month => Strata::Month,
        },
        scorable: args.scorable,
        seed: args.seed,
    };
    let Some(((first, reference), others)) = reports.split_first() else {
        return Err(CliError::usage("compare fewer than two reports", vec![]));
    };
    let mut compared = vec![];
    for (name, report) in others {
        same_version(reference, report).map_err(|why| {
            let hint = "evaluate both on the same version".to_owned();
            CliError::input(format!("compare `{first}` and `{name}`: {why}"), vec![hint])
        })?;
        compared.push(compare((first, name), reference, report, rules));
    }
    let told: Vec<String> = compared.iter().map(text).collect();
    session.printer.result(&compared, &told.join("\n"))?;
    Ok(ExitCode::Success)
}
