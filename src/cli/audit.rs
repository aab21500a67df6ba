//! `quarry audit MANIFEST`, `quarry diff A B`: why what is not in a version is not, and in what two versions differ.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::error::CliError;
use super::exit_code::ExitCode;
use super::output;
use super::session::Session;
use crate::audit::diff;
use crate::audit::funnel::{Choice, Sort};
use crate::audit::page;
use crate::emit::versions;
use crate::pipeline::audit;

/// `quarry audit`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Told are the funnel, as a whole and by repository, and every pull request that is not in the version with its reason and the values \
that were seen. `--near` needs the workspace that made the version: every rule is asked of what its ledger knows.

Examples:
  quarry audit manifests/swebench/1.0.0
  quarry audit manifests/swebench/1.0.0 --why single-module --near --sort distance
  quarry audit manifests/swebench/1.0.0 --csv > dropped.csv
  quarry audit manifests/swebench/1.0.0 --html audit.html")]
pub struct AuditArgs {
    /// The folder of an emitted version
    #[arg(value_name = "MANIFEST")]
    pub manifest: Utf8PathBuf,
    /// Only what this rule or stage dropped
    #[arg(long, value_name = "RULE")]
    pub why: Option<String>,
    /// Only what one rule alone dropped, with the distance to its threshold
    #[arg(long)]
    pub near: bool,
    /// Only what holds these words in its id, reason or values
    #[arg(long, value_name = "TEXT")]
    pub find: Option<String>,
    /// Only pull requests of this repository
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<String>,
    /// The order of the dropped
    #[arg(long, value_enum, default_value_t = SortArg::Candidate)]
    pub sort: SortArg,
    /// Print the dropped as CSV
    #[arg(long)]
    pub csv: bool,
    /// Write one HTML page of it all, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<Utf8PathBuf>,
}

/// Orders of the dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortArg {
    /// By repository and number
    Candidate,
    /// By the funnel's steps
    Step,
    /// By the distance to the threshold (with --near)
    Distance,
}

/// `quarry diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The folder of a version
    #[arg(value_name = "A")]
    pub a: Utf8PathBuf,
    /// The folder of another one, of the same dataset or of any other
    #[arg(value_name = "B")]
    pub b: Utf8PathBuf,
}

pub(super) fn run(args: &AuditArgs, session: &Session) -> Result<ExitCode, CliError> {
    if args.csv && session.printer.json {
        let hint = "leave one of them out: each is the whole of standard output".to_owned();
        return Err(CliError::usage("print both `--csv` and `--json`", vec![hint]));
    }
    if let Some(file) = &args.html {
        output::must_be_outside_versions(file)?;
        output::must_be_writable(file.as_std_path())?;
    }
    let there = session.of_version(&args.manifest);
    let context = args.near.then(|| there.open_read_only()).transpose()?;
    let mut found = audit::audit(&args.manifest, context.as_ref())?;
    if let Some(why) = &args.why
        && !found.reasons().contains(why)
    {
        let names: Vec<String> = found.reasons().iter().map(|name| format!("`{name}`")).collect();
        return Err(CliError::input(
            format!("find a rule or a stage `{why}` in `{}`", args.manifest),
            vec![format!("there are {}", names.join(", "))],
        ));
    }
    if let Some(repo) = &args.repo
        && !found.by_repo.keys().any(|name| name.eq_ignore_ascii_case(repo))
    {
        let names: Vec<String> = found.by_repo.keys().map(|name| format!("`{name}`")).collect();
        return Err(CliError::input(
            format!("find the repository `{repo}` in `{}`", args.manifest),
            vec![format!("there are {}", names.join(", "))],
        ));
    }
    found.choose(&Choice {
        why: args.why.clone(),
        find: args.find.clone(),
        repo: args.repo.clone(),
        near: args.near,
        sort: match args.sort {
            SortArg::Candidate => Sort::Candidate,
            SortArg::Step => Sort::Step,
            SortArg::Distance => Sort::Distance,
        },
    });
    if let Some(file) = &args.html {
        let page = page::html(&found).map_err(|error| CliError::bug(format!("write the page: {error}")))?;
        versions::put(file, page.as_bytes()).map_err(crate::emit::RunError::from)?;
    }
    if args.csv {
        session.printer.raw(&found.csv())?;
    } else {
        session.printer.result(&found, &found.text())?;
    }
    Ok(ExitCode::Success)
}

pub(super) fn run_diff(args: &DiffArgs, session: &Session) -> Result<ExitCode, CliError> {
    let found = diff::diff(&audit::side(&args.a)?, &audit::side(&args.b)?);
    session.printer.result(&found, &found.text())?;
    Ok(ExitCode::Success)
}
