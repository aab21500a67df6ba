//! What a command can end with, other than its result: a kind, a message, hints, and an exit code.

use std::fmt;

use super::exit_code::ExitCode;
use crate::blobs::BlobError;
use crate::emit;
use crate::evaluate::EvaluateError;
use crate::filter::CompileError;
use crate::filter::run::FilterError;
use crate::github::GithubError;
use crate::mine::run::MineError;
use crate::pipeline::PipelineError;
use crate::recipe::RecipeError;
use crate::store::StoreError;
use crate::strip::run::StripError;
use crate::workspace::WorkspaceError;

/// An error for the person or program that called. The message finishes "failed to …".
#[derive(Debug)]
pub struct CliError {
    /// The exit code, which is also the kind.
    pub exit: ExitCode,
    /// A lower-case fragment that finishes "failed to …".
    pub message: String,
    /// What to do about it, a sentence each.
    pub hints: Vec<String>,
}

impl CliError {
    /// An input is wrong.
    pub fn input(message: impl Into<String>, hints: Vec<String>) -> Self {
        Self {
            exit: ExitCode::Input,
            message: message.into(),
            hints,
        }
    }

    /// The workspace cannot be used.
    pub fn workspace(message: impl Into<String>, hints: Vec<String>) -> Self {
        Self {
            exit: ExitCode::Workspace,
            message: message.into(),
            hints,
        }
    }

    /// The machine lacks something.
    pub fn machine(message: impl Into<String>, hints: Vec<String>) -> Self {
        Self {
            exit: ExitCode::Machine,
            message: message.into(),
            hints,
        }
    }

    /// The command line is wrong in a way clap cannot see.
    pub fn usage(message: impl Into<String>, hints: Vec<String>) -> Self {
        Self {
            exit: ExitCode::Usage,
            message: message.into(),
            hints,
        }
    }

    /// A fault of this program.
    pub fn bug(message: impl Into<String>) -> Self {
        let hint = "this is a fault in quarry: please report it with the command you ran".to_owned();
        Self {
            exit: ExitCode::Workspace,
            message: message.into(),
            hints: vec![hint],
        }
    }

    /// The kind's name in JSON.
    pub const fn kind(&self) -> &'static str {
        match self.exit {
            ExitCode::Success => "success",
            ExitCode::Unsound => "unsound",
            ExitCode::Usage => "usage",
            ExitCode::Input => "input",
            ExitCode::Workspace => "workspace",
            ExitCode::Machine => "machine",
            ExitCode::Released => "released",
            ExitCode::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CliError {}

impl From<WorkspaceError> for CliError {
    fn from(error: WorkspaceError) -> Self {
        Self::workspace(error.to_string(), error.hints())
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::workspace(error.to_string(), error.hints())
    }
}

impl From<PipelineError> for CliError {
    fn from(error: PipelineError) -> Self {
        use PipelineError as P;
        let exit = match &error {
            P::Mine(
                MineError::Store(_) | MineError::Blob(_) | MineError::Worker { .. } | MineError::Page { .. },
            )
            | P::Filter(FilterError::Store(_) | FilterError::Blob(_)) => ExitCode::Workspace,
            P::Mine(MineError::Github(error)) => github_exit(error),
            P::OtherRepository { .. }
            | P::NothingMined { .. }
            | P::NoCandidate { .. }
            | P::NoLog { .. }
            | P::NoCommit { .. }
            | P::Unverified { .. }
            | P::BadVersion { .. }
            | P::Recipe(_)
            | P::Mine(_)
            | P::Split(_)
            | P::Compile(_)
            | P::Filter(_)
            | P::Git(_)
            | P::Evaluate(
                EvaluateError::Predictions(_)
                | EvaluateError::NoInstance { .. }
                | EvaluateError::Io { .. }
                | EvaluateError::Content { .. },
            )
            | P::Strip(StripError::Git(_)) => ExitCode::Input,
            P::Gate { .. } => ExitCode::Unsound,
            P::Halted(halt) if halt.reason == "disk-full" => ExitCode::Workspace,
            P::Halted(_) | P::Build(_) | P::Sandbox(_) | P::Strip(StripError::Threads(_)) => {
                ExitCode::Machine
            }
            P::Emit(emit) => return Self::emit(emit),
            P::Workspace(_)
            | P::Scratch { .. }
            | P::Broken { .. }
            | P::Verify(_)
            | P::Evaluate(_)
            | P::Strip(_)
            | P::Store(_)
            | P::Blob(_) => ExitCode::Workspace,
        };
        Self {
            exit,
            message: error.to_string(),
            hints: error.hints(),
        }
    }
}

/// Wrong words are the caller's, everything else is the machine's: its network, its tokens.
fn github_exit(error: &GithubError) -> ExitCode {
    match error {
        GithubError::NoRepository { .. } => ExitCode::Input,
        GithubError::Address { .. } => ExitCode::Usage,
        GithubError::Stopped | GithubError::Budget { .. } => ExitCode::Interrupted,
        _ => ExitCode::Machine,
    }
}

impl From<emit::RunError> for CliError {
    fn from(error: emit::RunError) -> Self {
        Self::emit(&error)
    }
}

impl CliError {
    fn emit(error: &emit::RunError) -> Self {
        use emit::versions::VersionError;
        let exit = match error {
            emit::RunError::Version(VersionError::Released { .. })
            | emit::RunError::Named(VersionError::Released { .. }, _) => ExitCode::Released,
            emit::RunError::NoFolder { .. }
            | emit::RunError::Unsound { .. }
            | emit::RunError::Taken { .. }
            | emit::RunError::Annotate(_)
            | emit::RunError::Given { .. }
            | emit::RunError::ReadRows { .. }
            | emit::RunError::NothingHeld { .. }
            | emit::RunError::Import(_)
            | emit::RunError::Emit(_)
            | emit::RunError::Version(VersionError::Name { .. } | VersionError::Stranger { .. })
            | emit::RunError::Named(VersionError::Name { .. } | VersionError::Stranger { .. }, _) => {
                ExitCode::Input
            }
            _ => ExitCode::Workspace,
        };
        Self {
            exit,
            message: error.to_string(),
            hints: error.hints(),
        }
    }
}

impl From<RecipeError> for CliError {
    fn from(error: RecipeError) -> Self {
        Self::input(error.to_string(), error.hints())
    }
}

impl From<CompileError> for CliError {
    fn from(error: CompileError) -> Self {
        Self::input(error.to_string(), error.hints())
    }
}

impl From<BlobError> for CliError {
    fn from(error: BlobError) -> Self {
        Self::workspace(error.to_string(), error.hints())
    }
}
