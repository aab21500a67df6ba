//! What can go wrong with emission.

use super::check::Problem;
use crate::domain::ids::{BlobId, CandidateId};

/// A version that cannot be emitted.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// Some candidates are still on their way.
    #[error("emit `{dataset}`: `{first}` still waits for step `{step}` (waiting in all: {count})")]
    Unfinished {
        /// The dataset.
        dataset: String,
        /// The step that the first of them waits for.
        step: String,
        /// How many wait, for this or another step.
        count: usize,
        /// The first of them.
        first: CandidateId,
    },
    /// A decision, attempt or oracle is about a pull request that is no candidate of the sources.
    #[error("emit: a {what} is about `{candidate}`, which is no candidate of the recipe's sources")]
    Stranger {
        /// What it is.
        what: &'static str,
        /// Whom it is about.
        candidate: CandidateId,
    },
    /// Something that an instance needs was not handed over.
    #[error("emit `{candidate}`: its {what} is missing")]
    Missing {
        /// The candidate.
        candidate: CandidateId,
        /// What is missing.
        what: &'static str,
    },
    /// A file's section lies outside of the diff, or the split has another number of files.
    #[error("emit `{candidate}`: its diff and its list of files do not belong together")]
    Section {
        /// The candidate.
        candidate: CandidateId,
    },
    /// No test tells a solution from the base: that is no task.
    #[error("emit `{candidate}`: no test fails before its gold patch and passes after it")]
    NothingFails {
        /// The candidate.
        candidate: CandidateId,
    },
    /// The documentation's change shows no words: that is no task.
    #[error("emit `{candidate}`: its documentation says nothing that could be asked")]
    NothingAsked {
        /// The candidate.
        candidate: CandidateId,
    },
    /// Two environments or locks share a name and differ.
    #[error("emit: two different environments have the key `{key}`")]
    EnvironmentClash {
        /// The key.
        key: String,
    },
    /// A lock's bytes are not those of its name.
    #[error("emit: the lock `{id}` has other bytes than its name says")]
    Lock {
        /// The lock.
        id: BlobId,
    },
    /// A value has no JSON form.
    #[error("write `{file}`: {source}")]
    Json {
        /// The file.
        file: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// The log could not be compressed.
    #[error("compress the selection log: {0}")]
    Compress(std::io::Error),
    /// What was made is not sound: our fault.
    #[error("emit `{dataset}`: what was made does not pass its own check: {}", first(.problems))]
    Unsound {
        /// The dataset.
        dataset: String,
        /// What is wrong.
        problems: Vec<Problem>,
    },
}

fn first(problems: &[Problem]) -> String {
    problems.first().map(ToString::to_string).unwrap_or_default()
}

impl EmitError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Unfinished { .. } => {
                vec!["run `quarry run` with the same recipe again: it goes on where it stopped".into()]
            }
            Self::Stranger { .. } | Self::Missing { .. } | Self::Section { .. } => {
                vec!["mine the repository again with `quarry mine --again`, then run the recipe again".into()]
            }
            Self::NothingFails { .. } => vec![
                "add a rule to the recipe that drops it, such as `keep = \"size(oracle.fail_to_pass) >= 1\"`"
                    .into(),
            ],
            Self::NothingAsked { .. } => vec![
                "add a rule to the recipe that drops it, such as `keep = \"docs.text_lines >= 1\"`".into(),
            ],
            Self::EnvironmentClash { key } => vec![format!(
                "remove `.quarry/envs/{key}` and run `quarry verify` with the same recipe again"
            )],
            Self::Lock { .. } => vec!["run `quarry verify` with the same recipe again".into()],
            Self::Json { .. } | Self::Unsound { .. } => {
                vec!["this is a fault of quarry: please report it with the recipe".into()]
            }
            Self::Compress(_) => vec!["free some memory and run the same command again".into()],
        }
    }
}
