//! `quarry build`: what environment a repository at a commit asks for, or that environment itself.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

use camino::Utf8PathBuf;
use clap::Args;
use serde::Serialize;

use super::args::SandboxArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::machine::Machine;
use super::run::{room_settings, stopped};
use super::session::Session;
use crate::build::detect::{Detected, FactKind, Origin, Tree, detect};
use crate::domain::ids::RepoName;
use crate::domain::path::RepoPath;
use crate::git::Mirror;
use crate::pipeline::PipelineError;
use crate::pipeline::commit::{self, Outcome};
use crate::pipeline::source::other_repository;
use crate::recipe::{self, LoadedRecipe};

/// `quarry build`.
#[derive(Debug, Args)]
#[command(
    after_long_help = "What a run would do for a pull request merged into this commit is done here: the tree is read, ways to \
        install and test it are proposed, resolved as of the commit's date, locked, built and tried, repaired where their \
        own words say how, and the one with most passing tests is chosen. The ledger holds every try, so a run of the same \
        commit uses it, and `quarry explain` and `quarry log` tell it again.\n\nWith --explain the tree at the commit is read and nothing of it is run: pyproject.toml, setup.cfg, setup.py, \
        requirement files, tox.ini, noxfile.py, hatch.toml, the Makefile and the automation's files. Interpreters come \
        newest first, among those that the project names, that were released before the commit and that are on this \
        machine. Proposals come in the order of their evidence: what the automation really runs, then tox, nox and hatch, \
        then the Makefile, then groups and extras named after tests, then requirement files, then the project alone.\n\n\
        Examples:\n  quarry build pallets/flask@4c288bc --mirror pallets+flask.git\n  quarry build --explain pallets/flask@4c288bc --mirror pallets+flask.git"
)]
pub struct BuildArgs {
    /// The repository and the commit: an object name, whole or abbreviated, a branch or a tag
    #[arg(value_name = "OWNER/NAME@SHA")]
    pub target: Target,
    /// Print the proposals and where each line of them comes from
    #[arg(long)]
    pub explain: bool,
    /// A git mirror that has the commit
    #[arg(long, value_name = "PATH")]
    pub mirror: PathBuf,
    /// Print the project's sets of requirements and the interpreters it names as well
    #[arg(long, requires = "explain")]
    pub facts: bool,
    /// Search, install and test as this recipe says [default: the shipped `swebench`]
    #[arg(long, value_name = "RECIPE", conflicts_with = "explain")]
    pub recipe: Option<Utf8PathBuf>,
    /// Where tests run.
    #[command(flatten)]
    pub sandbox: SandboxArgs,
}

/// A repository at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The repository.
    pub repo: RepoName,
    /// What names the commit.
    pub commit: String,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (repo, commit) = text
            .split_once('@')
            .filter(|(_, commit)| !commit.is_empty())
            .ok_or("write the repository, `@` and the commit: `pallets/flask@4c288bc`")?;
        let repo = repo.parse().map_err(|error| format!("{error}"))?;
        Ok(Self {
            repo,
            commit: commit.to_owned(),
        })
    }
}

/// The answer as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    repo: String,
    commit: String,
    date: String,
    #[serde(flatten)]
    detected: &'a Detected,
}

pub(super) async fn run(args: &BuildArgs, session: &Session) -> Result<ExitCode, CliError> {
    if args.explain {
        return explain(args, session);
    }
    let loaded = match &args.recipe {
        Some(file) => recipe::load(file.as_std_path())?,
        None => shipped()?,
    };
    // What is wrong with the input makes no workspace.
    let mirror = Mirror::open(&args.mirror).map_err(PipelineError::from)?;
    mirror.resolve(&args.target.commit).map_err(PipelineError::from)?;
    drop(mirror);
    let room = room_settings(session, &loaded, &args.sandbox)?;
    let (context, _lock) = session.open()?;
    let request = commit::Request {
        repo: args.target.repo.clone(),
        commit: args.target.commit.clone(),
        mirror: args.mirror.clone(),
        recipe: loaded,
        room: room.room,
        docker: room.docker,
        build: room.build,
        min_free_bytes: room.min_free_bytes,
    };
    let ended = Box::pin(commit::run(&context, request)).await;
    match ended? {
        Outcome::Done(report) => {
            session.printer.result(&*report, &report.text())?;
            Ok(if report.is_accepted() {
                ExitCode::Success
            } else {
                ExitCode::Unsound
            })
        }
        Outcome::Interrupted => Ok(stopped(session)),
    }
}

/// The recipe that speaks of no repository.
fn shipped() -> Result<LoadedRecipe, CliError> {
    const NAME: &str = "swebench.toml";
    let text = recipe::SHIPPED.iter().find(|(name, _)| *name == NAME);
    let (name, text) = text.ok_or_else(|| CliError::bug("find the shipped recipe"))?;
    Ok(recipe::parse(name, text)?)
}

fn explain(args: &BuildArgs, session: &Session) -> Result<ExitCode, CliError> {
    let machine = Machine::read();
    machine.install_pythons(&args.sandbox.install_python)?;
    let mirror = Mirror::open(&args.mirror).map_err(PipelineError::from)?;
    let commit = mirror.resolve(&args.target.commit).map_err(PipelineError::from)?;
    let date = mirror.committed_at(commit).map_err(PipelineError::from)?;
    let files = mirror.files(commit).map_err(PipelineError::from)?;
    let paths: BTreeSet<RepoPath> = files.into_iter().map(|file| file.path).collect();
    let read = |path: &str| mirror.read_through(commit, &RepoPath::from(path)).ok().flatten();
    let settings = machine.build_settings();
    let mut versions: Vec<_> = settings
        .search
        .interpreters()
        .into_iter()
        .map(|found| found.version)
        .collect();
    versions.sort();
    let mut detected = detect(
        Tree {
            paths: &paths,
            read: &read,
        },
        date,
        &versions,
    );
    detected
        .notes
        .extend(other_repository(&args.target.repo, &mirror, commit)?);
    let answer = Answer {
        repo: args.target.repo.to_string(),
        commit: commit.to_string(),
        date: date.to_string(),
        detected: &detected,
    };
    session.printer.result(&answer, &text(&answer, args.facts))?;
    Ok(if detected.proposals.is_empty() {
        ExitCode::Unsound
    } else {
        ExitCode::Success
    })
}

fn text(answer: &Answer<'_>, all_facts: bool) -> String {
    let mut out = String::new();
    let detected = answer.detected;
    let _ = writeln!(out, "{} at {}, of {}", answer.repo, answer.commit, answer.date);
    out.push_str("\ninterpreters, in the order they are tried\n");
    for choice in &detected.interpreters {
        let mut because = choice.because.iter();
        let first = because.next().map(reason).unwrap_or_default();
        let more = because.len();
        let more = if more > 0 {
            format!(" (and {more} more)")
        } else {
            String::new()
        };
        let _ = writeln!(out, "  {:<6} {first}{more}", choice.python);
    }
    for (number, proposal) in (1..).zip(&detected.proposals) {
        let _ = writeln!(out, "\nproposal {number}: {}", proposal.environment.name);
        for origin in proposal
            .because
            .iter()
            .filter(|origin| !origin.what.starts_with("python "))
        {
            let _ = writeln!(out, "  {:<40} {}", origin.what, reason(origin));
        }
        let _ = writeln!(
            out,
            "  run: {} {}",
            proposal.runner.name(),
            proposal.args.join(" ")
        );
    }
    let shown = |kind: FactKind| all_facts || !matches!(kind, FactKind::Python | FactKind::Requirements);
    let facts: Vec<_> = detected.facts.iter().filter(|fact| shown(fact.kind)).collect();
    if !facts.is_empty() {
        out.push_str("\nfacts\n");
    }
    for fact in facts {
        let _ = writeln!(out, "  {:<40} {}: {}", fact.value, fact.place, fact.why);
    }
    if !detected.notes.is_empty() {
        out.push_str("\nnotes\n");
    }
    for note in &detected.notes {
        let _ = writeln!(out, "  {note}");
    }
    out
}

fn reason(origin: &Origin) -> String {
    match &origin.place {
        Some(place) => format!("{place}: {}", origin.why),
        None => origin.why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_repository_and_a_commit() {
        let target: Target = "pallets/flask@4c288bc".parse().unwrap();
        assert_eq!(
            (target.repo.to_string().as_str(), target.commit.as_str()),
            ("pallets/flask", "4c288bc")
        );
        for wrong in ["pallets/flask", "pallets/flask@", "flask@1", "@1"] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
