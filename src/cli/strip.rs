//! `quarry strip`: a variant of a tree, of a commit, or of one file.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;
use clap::Args;

use super::error::CliError;
use super::exit_code::ExitCode;
use super::output::{apart, must_be_no_address, must_be_writable, real};
use super::session::Session;
use super::strip_one::one;
pub use super::strip_policy::PolicyArgs;
use super::strip_policy::{CheckArg, Form, VariantArg};
use crate::strip::python::Untouched;
use crate::strip::run::{
    CommitSource, FolderSink, FolderSource, InPlaceSink, Judge, Settings, StripError, TarSink, TreeSink,
    is_restorable, run as strip_tree,
};
use crate::strip::{Check, Report};

/// `quarry strip`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the switches of a command line"
)]
#[derive(Debug, Args)]
#[command(
    after_long_help = "A tree's files that are no Python 3, or in no known codec, stay as they are and are in the report: no fault. \
        The exit code is 1 when a result was not proven to be the same program (that file stays as it was, too), when a file or \
        folder of the tree could not be read, and when the one file that was asked for was left as it was."
)]
pub struct StripArgs {
    /// A folder, a file, or `-` for standard input
    #[arg(conflicts_with = "commit", value_name = "SRC")]
    pub source: Option<PathBuf>,
    /// Strip a commit's tree, from a mirror's objects
    #[arg(long, value_name = "SHA", requires = "mirror")]
    pub commit: Option<String>,
    /// The mirror that `--commit` is in
    #[arg(long, value_name = "PATH", requires = "commit")]
    pub mirror: Option<PathBuf>,
    /// Where the result goes: a new folder, a file, or `-` for standard output
    #[arg(long, value_name = "DST")]
    pub out: Option<PathBuf>,
    /// What a tree is written as
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Folder)]
    pub format: Form,
    /// Change the source itself
    #[arg(long, conflicts_with_all = ["out", "commit"])]
    pub in_place: bool,
    /// With --in-place: even where git cannot bring the source back
    #[arg(long, requires = "in_place")]
    pub force: bool,
    /// Which variant
    #[arg(long, value_enum, default_value_t = VariantArg::CodeOnly)]
    pub variant: VariantArg,
    /// What the variant is made by.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Do not check the result before it is written
    #[arg(long, conflicts_with = "check")]
    pub no_check: bool,
    /// How each file is proven to be the same program
    #[arg(long, value_enum, default_value_t = CheckArg::Tokens)]
    pub check: CheckArg,
    /// Ask this Python interpreter, too: its own ast and compile
    #[arg(long, value_name = "PYTHON")]
    pub verify_with: Option<String>,
    /// Write the full report here, as JSON; `-` for standard output, in the place of the table
    #[arg(long, value_name = "FILE")]
    pub report: Option<Utf8PathBuf>,
    /// Print the report's JSON Schema and end
    #[arg(long, exclusive = true)]
    pub report_schema: bool,
}

impl From<StripError> for CliError {
    fn from(error: StripError) -> Self {
        let (message, hints) = (error.to_string(), error.hints());
        match error {
            StripError::Threads(_) | StripError::Judge { .. } => Self::machine(message, hints),
            StripError::Adapter { .. } => Self::workspace(message, hints),
            StripError::Nested { .. } => Self::usage(message, hints),
            _ => Self::input(message, hints),
        }
    }
}

pub(super) fn run(args: &StripArgs, session: &Session) -> Result<ExitCode, CliError> {
    if args.report_schema {
        session
            .printer
            .raw(&format!("{:#}\n", crate::strip::report::schema()))?;
        return Ok(ExitCode::Success);
    }
    check_outputs(args, session)?;
    let check = if args.no_check {
        Check::None
    } else {
        args.check.into()
    };
    let settings = Settings {
        variant: args.variant.into(),
        policy: args.policy.policy(check),
        jobs: session.jobs,
        verify_with: args.verify_with.clone(),
    };
    if let Some(out) = &args.out {
        must_be_no_address(out)?;
    }
    if let Some(python) = &settings.verify_with {
        // Before anything is made that would be left half done.
        Judge::start(python)?;
    }
    if let (Some(commit), Some(mirror)) = (&args.commit, &args.mirror) {
        return of_commit(args, session, &settings, mirror, commit);
    }
    let Some(source) = &args.source else {
        return Err(CliError::usage(
            "tell what to strip",
            vec!["name a folder, a file or `-`, or a commit: --commit SHA --mirror PATH".into()],
        ));
    };
    if source.is_dir() {
        return of_folder(args, session, &settings, source);
    }
    one(args, session, &settings, source)
}

/// Refuses, before the work, what could not be written after it, or would be written over something that is needed.
fn check_outputs(args: &StripArgs, session: &Session) -> Result<(), CliError> {
    let refuse = |what: &str, hint: &str| Err(CliError::usage(what, vec![hint.to_owned()]));
    let is_one_file = args.source.as_deref().is_some_and(|source| !source.is_dir());
    let result_on_stdout = !args.in_place
        && (is_one_file || args.format == Form::Tar)
        && args.out.as_deref().is_none_or(|out| out == Path::new("-"));
    let report_on_stdout = args.report.as_deref().is_some_and(is_standard);
    if result_on_stdout && (session.printer.json || report_on_stdout)
        || report_on_stdout && args.format == Form::Tree
    {
        return refuse(
            "write the result and a report on it to standard output",
            "name a file for one of them: --out FILE, --report FILE",
        );
    }
    if args.format == Form::Tree && args.out.is_some() {
        return refuse(
            "write a git tree to a path",
            "leave --out out: the tree goes into the mirror, and its name is printed",
        );
    }
    if let Some(path) = args.report.as_deref().filter(|path| !is_standard(path)) {
        let path = path.as_std_path();
        must_be_writable(path)?;
        let real = real(path);
        for place in args.source.iter().chain(&args.out).chain(&args.mirror) {
            if place != Path::new("-") && real.starts_with(self::real(place)) {
                return refuse(
                    &format!(
                        "write the report to `{}`: it lies in `{}`",
                        path.display(),
                        place.display()
                    ),
                    "name a file beside what is read and written",
                );
            }
        }
    }
    Ok(())
}

/// Whether a path stands for standard output.
pub(super) fn is_standard(path: &camino::Utf8Path) -> bool {
    path == "-"
}

fn of_commit(
    args: &StripArgs,
    session: &Session,
    settings: &Settings,
    mirror: &Path,
    commit: &str,
) -> Result<ExitCode, CliError> {
    let source = CommitSource::new(mirror, commit)?;
    let report = match args.format {
        Form::Folder => strip_tree(&source, &mut FolderSink::new(out(args)?)?, settings)?,
        Form::Tar => to_tar(args, |sink| strip_tree(&source, sink, settings))?,
        Form::Tree => {
            let mut sink = TreeSink::new(mirror, source.objects())?;
            let report = strip_tree(&source, &mut sink, settings)?;
            let tree = sink.finish()?;
            if !session.printer.json {
                session.printer.raw(&format!("{tree}\n"))?;
            }
            return finish(args, session, &report, Some(&tree.to_string()));
        }
    };
    finish(args, session, &report, None)
}

fn of_folder(
    args: &StripArgs,
    session: &Session,
    settings: &Settings,
    folder: &Path,
) -> Result<ExitCode, CliError> {
    let source = FolderSource::new(folder);
    if args.in_place && args.format != Form::Folder {
        return Err(CliError::usage(
            "write another form in place",
            vec!["leave --format out, or --in-place".into()],
        ));
    }
    let report = if args.in_place {
        if !args.force {
            is_restorable(folder)?;
        }
        strip_tree(&source, &mut InPlaceSink::new(folder), settings)?
    } else {
        match args.format {
            Form::Folder => {
                let target = out(args)?;
                apart(folder, target)?;
                strip_tree(&source, &mut FolderSink::new(target)?, settings)?
            }
            Form::Tar => to_tar(args, |sink| strip_tree(&source, sink, settings))?,
            Form::Tree => {
                return Err(CliError::usage(
                    "write a git tree of a folder",
                    vec!["--format tree needs --commit and --mirror".into()],
                ));
            }
        }
    };
    finish(args, session, &report, None)
}

fn out(args: &StripArgs) -> Result<&Path, CliError> {
    args.out.as_deref().ok_or_else(|| {
        CliError::usage(
            "tell where the result goes",
            vec!["say --out DST, or --in-place".into()],
        )
    })
}

type Tar = TarSink<Box<dyn std::io::Write + Send + Sync>>;

fn to_tar(
    args: &StripArgs,
    strip: impl FnOnce(&mut Tar) -> Result<Report, StripError>,
) -> Result<Report, CliError> {
    let name = args.out.clone().unwrap_or_else(|| "-".into());
    let out: Box<dyn std::io::Write + Send + Sync> = if name == Path::new("-") {
        Box::new(BufWriter::new(std::io::stdout()))
    } else {
        let file = std::fs::File::create(&name).map_err(|source| StripError::Write {
            path: name.clone(),
            source,
        })?;
        Box::new(BufWriter::new(file))
    };
    let mut sink = TarSink::new(out, name);
    let report = strip(&mut sink)?;
    sink.finish()?;
    Ok(report)
}

/// Writes the report, where one was asked for.
pub(super) fn write_report(args: &StripArgs, session: &Session, report: &Report) -> Result<(), CliError> {
    let Some(path) = &args.report else { return Ok(()) };
    let text = report
        .document()
        .map_err(|error| CliError::bug(format!("write the report as JSON: {error}")))?;
    if is_standard(path) {
        return session.printer.raw(&text);
    }
    std::fs::write(path, text).map_err(|source| {
        CliError::from(StripError::Write {
            path: path.as_std_path().to_owned(),
            source,
        })
    })
}

/// Writes the report, prints the totals, names what went wrong, and says how that ends.
fn finish(
    args: &StripArgs,
    session: &Session,
    report: &Report,
    tree: Option<&str>,
) -> Result<ExitCode, CliError> {
    write_report(args, session, report)?;
    let is_tar = args.format == Form::Tar && args.out.as_deref().is_none_or(|out| out == Path::new("-"));
    let to_stdout = is_tar || args.report.as_deref().is_some_and(is_standard);
    let mut totals = serde_json::json!({ "totals": report.totals });
    if let Some(tree) = tree {
        totals["tree"] = tree.into();
    }
    if to_stdout && session.printer.json {
        // The report is the document.
    } else if to_stdout || (tree.is_some() && !session.printer.json) {
        session.printer.note(report.table().trim_end());
    } else {
        // What was asked for is in the output; the table is a word about it.
        let table = report.table();
        let table = if session.printer.quiet { "" } else { &table };
        session.printer.result(&totals, table)?;
    }
    let faults = report.faults();
    if faults > 0 {
        for file in &report.files {
            let (what, why) = match &file.untouched {
                Some(why @ Untouched::Unreadable { .. }) if !args.in_place => ("is not in the result", why),
                Some(why @ Untouched::Unreadable { .. }) => ("is left as it was", why),
                Some(why) if why.is_fault() => ("is left as it was", why),
                _ => continue,
            };
            session.printer.note(&format!("`{}` {what}: {why}", file.path));
        }
        for skipped in report.skipped.iter().filter(|skipped| skipped.refused) {
            let what = if args.in_place {
                "is left as it was"
            } else {
                "is not in the result"
            };
            session
                .printer
                .note(&format!("`{}` {what}: {}", skipped.path, skipped.reason));
        }
        return Ok(ExitCode::Unsound);
    }
    Ok(ExitCode::Success)
}
