//! What stops a run: never a candidate's fault, and never the outside's fault on one candidate.

use camino::Utf8PathBuf;

use super::brake::Halt;
use crate::build::BuildError;
use crate::domain::ids::{CandidateId, RepoName};
use crate::evaluate::EvaluateError;
use crate::filter::CompileError;
use crate::filter::run::FilterError;
use crate::git::GitError;
use crate::mine::run::MineError;
use crate::mine::split::SplitError;
use crate::recipe::RecipeError;
use crate::sandbox::SandboxError;
use crate::store::StoreError;
use crate::strip::run::StripError;
use crate::verify::VerifyError;
use crate::workspace::WorkspaceError;
use crate::{blobs, emit};

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A mirror that the recipe is not for.
    #[error("use the mirror of `{repo}`: the recipe `{dataset}` is for {wanted}")]
    OtherRepository {
        /// The mirror's repository.
        repo: RepoName,
        /// The recipe's dataset.
        dataset: String,
        /// The recipe's repositories.
        wanted: String,
    },
    /// Nothing was mined yet that the recipe is for.
    #[error("find a mined repository for the recipe `{dataset}` in `{workspace}`")]
    NothingMined {
        /// The recipe's dataset.
        dataset: String,
        /// The workspace.
        workspace: Utf8PathBuf,
    },
    /// A pull request that is no candidate.
    #[error("find the merged pull request `{id}` in the ledger")]
    NoCandidate {
        /// The pull request.
        id: CandidateId,
    },
    /// A commit that nothing is known of, or more than one.
    #[error("find `{what}` among the commits in the ledger")]
    NoCommit {
        /// How it was asked for.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A log that is not there.
    #[error("find one log for `{what}`")]
    NoLog {
        /// How it was asked for.
        what: String,
        /// What to do.
        hint: String,
    },
    /// Candidates that would have to be built and run first.
    #[error("emit `{dataset}`: {} not verified yet", if *missing == 1 { "1 candidate is".to_owned() } else { format!("{missing} candidates are") })]
    Unverified {
        /// The dataset.
        dataset: String,
        /// How many.
        missing: usize,
    },
    /// A folder that is no sound version.
    #[error("use the version `{folder}`: {problem}")]
    BadVersion {
        /// The folder.
        folder: Utf8PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The machine lacks something that every candidate needs.
    #[error("go on ({}): {}", .0.reason, .0.detail)]
    Halted(Halt),
    /// A scratch folder cannot be handled.
    #[error("use the scratch folder `{path}`: {source}")]
    Scratch {
        /// The folder.
        path: Utf8PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A task of ours broke.
    #[error("finish the work on `{candidate}`: {reason}")]
    Broken {
        /// Whom it was for.
        candidate: String,
        /// What happened.
        reason: String,
    },
    /// Mining.
    #[error(transparent)]
    Mine(#[from] MineError),
    /// The recipe's split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A rule.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Filtering.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Building.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The room.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Verifying.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// Evaluating.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// Instances whose gold or empty patch was seen to give what it must not.
    #[error("emit `{dataset}`: {} of its instances {} against gold or the empty patch: {}", instances.len(), if instances.len() == 1 { "is" } else { "are" }, instances.join("; "))]
    Gate {
        /// The dataset.
        dataset: String,
        /// Which, and what was seen.
        instances: Vec<String>,
    },
    /// Making variants.
    #[error(transparent)]
    Strip(#[from] StripError),
    /// The workspace's own files.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The recipe of a version.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// Emitting.
    #[error(transparent)]
    Emit(#[from] emit::RunError),
    /// The mirror.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The ledger.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The blob store.
    #[error(transparent)]
    Blob(#[from] blobs::BlobError),
}

impl PipelineError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::OtherRepository { .. } => {
                vec!["use another recipe, or add the repository to its `source.repositories`".to_owned()]
            }
            Self::NothingMined { .. } => {
                vec!["mine one first: `quarry mine --mirror PATH|URL`, or give `--mirror PATH|URL` to `quarry run RECIPE` or `quarry evaluate VERSION`".to_owned()]
            }
            Self::NoCandidate { id } => {
                vec![format!("`quarry explain '{id}'` says what is known of it")]
            }
            Self::NoLog { hint, .. } | Self::NoCommit { hint, .. } => vec![hint.clone()],
            Self::Unverified { .. } => {
                vec!["`quarry verify RECIPE` does that; `quarry run RECIPE` does it and emits".to_owned()]
            }
            Self::BadVersion { .. } => vec![
                "name the folder of an emitted version; `quarry emit --verify DIR` says all that is wrong with one"
                    .to_owned(),
            ],
            Self::Halted(halt) => halt.hints(),
            Self::Scratch { .. } => vec!["check the workspace's disk and permissions".to_owned()],
            Self::Broken { .. } => {
                vec!["this is a fault in quarry: please report it with the command you ran".to_owned()]
            }
            Self::Mine(error) => error.hints(),
            Self::Split(error) => error.hints(),
            Self::Compile(error) => error.hints(),
            Self::Filter(error) => error.hints(),
            Self::Build(error) => error.hints(),
            Self::Sandbox(error) => error.hints(),
            Self::Verify(error) => error.hints(),
            Self::Evaluate(error) => error.hints(),
            Self::Gate { .. } => vec![
                "`quarry log OWNER/NAME#N` shows the run; `quarry evaluate MANIFEST --gold --again` runs it again"
                    .to_owned(),
                "a rule can leave such a pull request out: `!(pr.number in [N])`".to_owned(),
            ],
            Self::Strip(error) => error.hints(),
            Self::Workspace(error) => error.hints(),
            Self::Recipe(error) => error.hints(),
            Self::Emit(error) => error.hints(),
            Self::Git(error) => error.hints(),
            Self::Store(error) => error.hints(),
            Self::Blob(error) => error.hints(),
        }
    }
}
