//! `quarry evaluate MANIFEST`: predictions, gold or the empty patch → classes and scores.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use camino::Utf8PathBuf;
use clap::Args;

use super::args::{GithubArgs, SandboxArgs, SourceArgs};
use super::error::CliError;
use super::exit_code::ExitCode;
use super::github;
use super::output;
use super::run::{room_settings, stopped};
use super::session::Session;
use crate::domain::ids::InstanceId;
use crate::evaluate::Report;
use crate::evaluate::report::table;
use crate::evaluate::result::Class;
use crate::evaluate::run::{
    REPORT_FILES, read_predictions, read_report, read_splits, write_logs, write_report,
};
use crate::pipeline::PipelineError;
use crate::pipeline::evaluate::{self, Outcome, Plan, Request, What};
use crate::pipeline::source;
use crate::pipeline::version::{self, Version};
use crate::workspace::Context;

/// How many bytes a file system lets a name have.
const NAME: usize = 255;

/// `quarry evaluate`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Predictions are JSON lines, a JSON list or a JSON map of {\"instance_id\", \"model_patch\", \"model_name_or_path\"}, or a \
folder of `<instance_id>.diff`. Each patch is laid on the base tree, whole or not at all (`git apply`, then a three-way \
merge); the oracle's files are put back over it; one process runs the whole selection; outcomes come through the runner's \
sealed channel. A patch's missing end and its line ends are mended, and that is recorded; nothing else is.

Classes: resolved, unresolved, not_applied, empty, missing, and infra, which says nothing of a prediction and is left out of \
every rate unless --count-infra.

Examples:
  quarry evaluate manifests/swebench/1.0.0 --gold
  quarry evaluate manifests/swebench/1.0.0 --predictions preds.jsonl --runs 3 --out report/
  quarry evaluate manifests/swebench/1.0.0 --predictions diffs/ --only psf__requests-6629
  quarry evaluate manifests/swebench/1.0.0 --gold --swebench-logs .
  quarry evaluate swebench-1.0.0/ --predictions preds.jsonl --mirror psf+requests.git

A workspace that did not verify the version reads a mirror first (`--mirror`; of several repositories each by `quarry mine`) and \
builds each environment again of the version's lock; where it comes out as another one, nothing is said of the prediction.

A run that is in the ledger for the same patch, oracle, environment and settings is not made again; an evaluation that was \
stopped goes on where it was. `quarry compare` sets reports side by side.")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
pub struct EvaluateArgs {
    /// The folder of an emitted version
    #[arg(value_name = "MANIFEST")]
    pub manifest: Utf8PathBuf,
    /// Predictions: a file, or a folder of diffs
    #[arg(long, value_name = "FILE|DIR", required_unless_present_any = ["gold", "null"], conflicts_with_all = ["gold", "null"])]
    pub predictions: Option<Utf8PathBuf>,
    /// Evaluate the gold patches: every instance must be resolved
    #[arg(long, conflicts_with = "null")]
    pub gold: bool,
    /// Evaluate the empty patch: no instance may be resolved
    #[arg(long)]
    pub null: bool,
    /// Which model, where the predictions are of several
    #[arg(long, value_name = "NAME", requires = "predictions", conflicts_with_all = ["gold", "null"])]
    pub model: Option<String>,
    /// Only these instances (repeatable): `owner__name-N`, or `owner/name#N`
    #[arg(long, value_name = "INSTANCE")]
    pub only: Vec<String>,
    /// Run each prediction so often; it is resolved when it is in every run
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Let each hunk lack so many lines of context, and count its lines anew, where a patch does not apply otherwise
    #[arg(long, value_name = "LINES", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub fuzz: u8,
    /// Count what the outside broke off as not resolved, instead of leaving it out of every rate
    #[arg(long)]
    pub count_infra: bool,
    /// Run again what the ledger knows
    #[arg(long)]
    pub again: bool,
    /// Say which split each instance is in: a JSON object, or lines of an id, a tab and a name
    #[arg(long, value_name = "FILE")]
    pub splits: Option<Utf8PathBuf>,
    /// Where report.json, report.md and report.html go [default: .quarry/evaluations/DATASET-VERSION/MODEL; with --only
    /// MODEL+only-…]
    #[arg(long, value_name = "DIR")]
    pub out: Option<Utf8PathBuf>,
    /// Write what SWE-bench's harness would have left of this evaluation below this folder, too
    #[arg(
        long,
        value_name = "DIR",
        long_help = "Write what SWE-bench's harness would have left of this evaluation below this folder, too: \
            logs/run_evaluation/DATASET-VERSION/MODEL/INSTANCE/ with patch.diff, test_output.txt, report.json and \
            run_instance.log. The `swebench` package grades these logs as Quarry does (`swebench report` reads those of \
            --gold), but for one thing: to it a test of PASS_TO_PASS that is skipped is kept, here it has not passed. \
            Instances on which the two differ for that are named."
    )]
    pub swebench_logs: Option<Utf8PathBuf>,
    /// A mirror to read first, where this workspace is not the one that verified the version.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Where tests run: a verdict from another room is another verdict.
    #[command(flatten)]
    pub sandbox: SandboxArgs,
}

pub(super) async fn run(args: &EvaluateArgs, session: &Session) -> Result<ExitCode, CliError> {
    let version = version::read(&args.manifest)?;
    let what = match &args.predictions {
        Some(file) => What::Predictions {
            all: read_predictions(file).map_err(PipelineError::from)?,
            file: file.to_string(),
            model: args.model.clone(),
        },
        None if args.gold => What::Gold,
        None => What::Null,
    };
    let splits = match &args.splits {
        Some(file) => read_splits(file).map_err(PipelineError::from)?,
        None => BTreeMap::new(),
    };
    let only: Vec<InstanceId> = args.only.iter().map(|id| InstanceId::named(id)).collect();
    let plan = evaluate::plan(&version, what, &only)?;
    let folder = folder(args, session, &version, &plan)?;
    let (context, _lock) = session.open()?;
    if let Some(place) = github::place(&args.source, &GithubArgs::default())? {
        let (source, summary) = source::mine(&context, place, args.source.repo.clone(), false).await?;
        if summary.stopped {
            return Ok(stopped(session));
        }
        source.admitted_by(&version.loaded.recipe)?;
    }
    let request = Request {
        plan,
        runs: args.runs,
        fuzz: args.fuzz,
        again: args.again,
        count_infra: args.count_infra,
        splits,
        settings: room_settings(session, &version.loaded, &args.sandbox)?,
    };
    let done = match evaluate::run(&context, &version, request).await? {
        Outcome::Done(done) => done,
        Outcome::Interrupted => return Ok(stopped(session)),
    };
    let report = &done.report;
    let logs = logs(&context, report)?;
    write_report(&folder, report, &logs).map_err(PipelineError::from)?;
    let mut text = table(report);
    let against = report.against();
    for outcome in &against {
        let _ = writeln!(
            text,
            "against what must be: {} is {}",
            outcome.instance_id,
            outcome.class.name()
        );
    }
    if let Some(folder) = &args.swebench_logs {
        let logs = done.swebench_logs(&version);
        write_logs(folder, &logs).map_err(PipelineError::from)?;
        for id in &logs.differing {
            let _ = writeln!(
                text,
                "SWE-bench resolves {id}: all that did not pass is of PASS_TO_PASS and skipped"
            );
        }
        let _ = writeln!(text, "\nSWE-bench's logs are in {folder}/{}", logs.folder);
    }
    let _ = writeln!(text, "\nreport.json, report.md and report.html are in {folder}");
    session.printer.result(report, &text)?;
    Ok(if against.is_empty() {
        ExitCode::Success
    } else {
        ExitCode::Unsound
    })
}

/// Where the report goes. What would keep it from there is said before any run.
fn folder(
    args: &EvaluateArgs,
    session: &Session,
    version: &Version,
    plan: &Plan,
) -> Result<Utf8PathBuf, CliError> {
    if let Some(folder) = &args.swebench_logs {
        output::must_take_files(folder, &[])?;
    }
    let name = plan.folder_name();
    let Some(folder) = &args.out else {
        if name.len() > NAME {
            return Err(CliError::input(
                format!(
                    "name a folder after the model `{}…`: the name has {} bytes, and a file system takes {NAME}",
                    plan.model().chars().take(40).collect::<String>(),
                    name.len()
                ),
                vec!["name the report's folder with `--out DIR`".to_owned()],
            ));
        }
        let dataset = &version.manifest.dataset;
        let all = session.workspace.evaluations();
        return Ok(all
            .join(format!("{}-{}", dataset.name, dataset.version))
            .join(name));
    };
    output::must_take_files(folder, &REPORT_FILES)?;
    if !plan.only.is_empty() && read_report(folder).is_ok_and(|there| there.conditions.only.is_empty()) {
        return Err(CliError::input(
            format!("write the report of some instances over that of all in `{folder}`"),
            vec!["name another folder with `--out`, or leave out `--only`".to_owned()],
        ));
    }
    Ok(folder.clone())
}

/// The logs that the page shows: those of what was not resolved.
fn logs(context: &Context, report: &Report) -> Result<BTreeMap<InstanceId, Vec<String>>, CliError> {
    let mut found = BTreeMap::new();
    for outcome in report.outcomes.iter().filter(|one| one.class != Class::Resolved) {
        let mut texts = vec![];
        for id in &outcome.logs {
            let bytes = context.blobs.get(id)?;
            texts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        found.insert(outcome.instance_id.clone(), texts);
    }
    Ok(found)
}
