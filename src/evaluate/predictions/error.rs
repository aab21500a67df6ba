//! Predictions that cannot be taken, and why.

use super::Named;
use crate::domain::count::first;

/// How many faults an error names.
const NAMED: usize = 10;

/// Predictions that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PredictionError {
    /// Some are written wrong.
    #[error("read the predictions `{file}`: {}", told(faults))]
    Faulty {
        /// The file or folder.
        file: String,
        /// Where, and what is wrong.
        faults: Vec<(String, String)>,
    },
    /// There are several models' predictions.
    #[error("evaluate `{file}`: it holds predictions of {} models: {}", models.len(), listed(models))]
    Models {
        /// The file.
        file: String,
        /// Their names.
        models: Vec<String>,
    },
    /// There are none of that model.
    #[error("find predictions of `{model}` in `{file}`: it has {}", listed(models))]
    NoModel {
        /// The file.
        file: String,
        /// The name asked for.
        model: String,
        /// The names there.
        models: Vec<String>,
    },
    /// None is of this dataset.
    #[error("evaluate `{file}`: none of its {} predictions is for an instance of this version: {}", strangers.len(), shortly(strangers))]
    Strangers {
        /// The file.
        file: String,
        /// Those it holds.
        strangers: Vec<Named>,
    },
    /// There are none at all.
    #[error("evaluate `{file}`: it holds no prediction")]
    Nothing {
        /// The file or folder.
        file: String,
    },
}

impl PredictionError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Faulty { .. } => vec![
                "a prediction is `{\"instance_id\": \"owner__name-N\", \"model_patch\": \"diff --git …\", \
                 \"model_name_or_path\": \"…\"}`: one a line, in a JSON list, or in a JSON map by instance id"
                    .to_owned(),
                "or give a folder that holds a `<instance_id>.diff` for each".to_owned(),
            ],
            Self::Models { .. } => vec!["choose one with `--model NAME`".to_owned()],
            Self::NoModel { .. } => vec!["give one of these names to `--model`".to_owned()],
            Self::Nothing { .. } => vec![
                "give a line for each instance, or a `<instance_id>.diff`; to evaluate the empty patch, give `--null`"
                    .to_owned(),
            ],
            Self::Strangers { .. } => {
                vec!["check that the predictions are for this dataset: ids are `owner__name-N`".to_owned()]
            }
        }
    }
}

fn told(faults: &[(String, String)]) -> String {
    let lines = faults.iter().map(|(place, what)| format!("{place}: {what}"));
    first(lines, NAMED, "; ")
}

fn shortly(strangers: &[Named]) -> String {
    let words = strangers
        .iter()
        .map(|named| format!("`{}` ({})", named.instance, named.place));
    first(words, NAMED, ", ")
}

fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
