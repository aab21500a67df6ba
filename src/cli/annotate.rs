//! `quarry annotate export|import`: what people say of a version's instances, asked for and taken.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::error::CliError;
use super::exit_code::ExitCode;
use super::output::must_be_no_address;
use super::session::Session;
use crate::emit::Release;
use crate::emit::annotate::child::Name;
use crate::emit::run::annotate::{ADJUDICATION, About, Import, export_sheets, import_sheets};

/// `quarry annotate`.
#[derive(Debug, Subcommand)]
pub enum AnnotateVerb {
    /// Write a sheet for each annotator, as CSV and as a form that a browser opens from disk
    #[command(
        after_long_help = "Every sheet asks the same questions of the same instances. The form keeps what is chosen in the browser and gives \
            the sheet as a download; the CSV can be filled in with any spreadsheet instead. `questions.toml` in the folder is what \
            was asked, and the pattern for questions of one's own.\n\nThe questions are those of Doc2Feat-Bench's Verified subset \
            (section 2.2): how clear the task is and how accurate its tests are, each from 0 to 3, and whether something else is \
            wrong.\n\nExamples:\n  \
            quarry sample manifests/doc2feat/0.1.0 --seed 7 --json > sample.json\n  \
            quarry annotate export manifests/doc2feat/0.1.0 --sample sample.json --annotators ada,ben --out sheets"
    )]
    Export(ExportSheetsArgs),
    /// Take filled sheets: agreement, what is disputed, and the version of what stays
    #[command(
        after_long_help = "While annotators do not agree on whether an instance stays, `DIR/adjudication/` gets a sheet with only that, both \
            answers shown; it is decided there and given with `--adjudicated`, beside the same sheets. What all let go needs no \
            decision: it goes for the reasons that all give or, where each gives others, for all of these. Then \
            `DIR/<name>/<version>/` is a version like any other: it names its parent by name, version and hash, and holds every \
            answer, the agreement (Cohen's kappa with 95 % bounds) and the reasons; `quarry diff PARENT CHILD` tells why each \
            dropped instance is not in it.\n\nExamples:\n  \
            quarry annotate import manifests/doc2feat/0.1.0 sheets/ada.csv sheets/ben.csv --sample sample.json --out manifests\n  \
            quarry annotate import manifests/doc2feat/0.1.0 sheets/ada.csv sheets/ben.csv --sample sample.json --out manifests \\\n      \
            --adjudicated manifests/adjudication/adjudication.csv\n  \
            quarry diff manifests/doc2feat/0.1.0 manifests/doc2feat-verified/0.1.0"
    )]
    Import(ImportSheetsArgs),
}

/// What is asked, of what.
#[derive(Debug, Args)]
pub struct AboutArgs {
    /// The folder of an emitted version
    #[arg(value_name = "MANIFEST")]
    pub manifest: Utf8PathBuf,
    /// Ask only about a sample: the file that `quarry sample MANIFEST --json` printed
    #[arg(long, value_name = "FILE")]
    pub sample: Option<Utf8PathBuf>,
    /// Other questions than Doc2Feat-Bench's: a TOML file, as `questions.toml` of an export
    #[arg(long, value_name = "FILE")]
    pub questions: Option<Utf8PathBuf>,
}

impl AboutArgs {
    fn about(&self) -> About {
        About {
            folder: self.manifest.clone(),
            questions: self.questions.clone(),
            sample: self.sample.clone(),
        }
    }
}

/// `quarry annotate export`.
#[derive(Debug, Args)]
pub struct ExportSheetsArgs {
    /// What is asked.
    #[command(flatten)]
    pub about: AboutArgs,
    /// Who is asked: names, which the result will hold
    #[arg(long, required = true, value_name = "NAME,…", value_delimiter = ',')]
    pub annotators: Vec<String>,
    /// The folder to write: a new one
    #[arg(long, value_name = "DIR")]
    pub out: Utf8PathBuf,
}

/// `quarry annotate import`.
#[derive(Debug, Args)]
pub struct ImportSheetsArgs {
    /// What was asked.
    #[command(flatten)]
    pub about: AboutArgs,
    /// The filled sheets, one of each annotator
    #[arg(required = true, value_name = "SHEET")]
    pub sheets: Vec<Utf8PathBuf>,
    /// The sheet on which was decided what annotators did not agree on
    #[arg(long, value_name = "SHEET")]
    pub adjudicated: Option<Utf8PathBuf>,
    /// What the version of what stays is called [default: the parent's name and `-verified`, and its version]
    #[arg(long = "as", value_name = "NAME@VERSION", value_parser = Name::read)]
    pub name: Option<Name>,
    /// Where versions stand, `<name>/<version>` each: `manifests`
    #[arg(long, value_name = "DIR")]
    pub out: Utf8PathBuf,
}

pub(super) fn run(verb: &AnnotateVerb, session: &Session) -> Result<ExitCode, CliError> {
    match verb {
        AnnotateVerb::Export(args) => export(args, session),
        AnnotateVerb::Import(args) => import(args, session),
    }
}

const fn word(release: Release) -> &'static str {
    match release {
        Release::New => "written",
        Release::AlreadyThere => "there already, the same",
    }
}

fn export(args: &ExportSheetsArgs, session: &Session) -> Result<ExitCode, CliError> {
    must_be_no_address(args.out.as_std_path())?;
    let report = export_sheets(&args.about.about(), &args.annotators, &args.out)?;
    let text = format!(
        "{}: {} instances to look at, {} sheets, {}\n",
        report.folder,
        report.instances,
        args.annotators.len(),
        word(report.release)
    );
    let json = serde_json::json!({
        "folder": report.folder,
        "files": report.files,
        "instances": report.instances,
        "new": report.release == Release::New,
    });
    session.printer.result(&json, &text)?;
    Ok(ExitCode::Success)
}

fn import(args: &ImportSheetsArgs, session: &Session) -> Result<ExitCode, CliError> {
    must_be_no_address(args.out.as_std_path())?;
    let report = import_sheets(&Import {
        about: args.about.about(),
        sheets: args.sheets.clone(),
        adjudicated: args.adjudicated.clone(),
        name: args.name.clone(),
        out: args.out.clone(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    if args.sheets.len() == 1 {
        session.printer.note(
            "note: there is one annotator, and so no agreement: nothing tells how reliable the answers are",
        );
    }
    let open = report.disputed.len();
    let new = report.release == Release::New;
    let (text, json) = if open == 0 {
        let text = format!(
            "{}\n{}: {} instances, {}\n",
            report.annotation.text(),
            report.folder,
            report.annotation.kept,
            word(report.release)
        );
        let json = serde_json::json!({
            "annotation": report.annotation, "disputed": {}, "folder": report.folder, "new": new,
        });
        (text, json)
    } else {
        let text = format!(
            "{}\n{open} of {} to be decided: fill in `{}/{ADJUDICATION}.csv` or `.html`, and give it with `--adjudicated`\n",
            report.annotation.agreement_text(),
            report.annotation.annotated,
            report.folder
        );
        let json = serde_json::json!({
            "agreement": report.annotation.agreement, "disputed": report.disputed, "folder": report.folder, "new": new,
        });
        (text, json)
    };
    session.printer.result(&json, &text)?;
    Ok(if open == 0 {
        ExitCode::Success
    } else {
        ExitCode::Unsound
    })
}
