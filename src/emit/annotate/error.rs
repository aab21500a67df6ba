//! What can be wrong with questions and sheets.

use crate::domain::count::first;

/// How many faults of a file a message tells.
const TOLD: usize = 5;

/// One fault of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1; `None` where it is of the whole file.
    pub line: Option<usize>,
    /// What is wrong there.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

/// Why people's judgement cannot be asked for or taken.
#[derive(Debug, thiserror::Error)]
pub enum AnnotateError {
    /// A file is not what it must be.
    #[error("read the {what} `{file}`: {}", told(.faults))]
    Text {
        /// What it should be: `questions`, `sheet`, `sample`.
        what: &'static str,
        /// Its name.
        file: String,
        /// Each fault, by line.
        faults: Vec<Fault>,
    },
    /// Names that annotators cannot have.
    #[error("name the annotators `{}`: {why}", .names.join(","))]
    Annotators {
        /// The names as given.
        names: Vec<String>,
        /// What is wrong with them.
        why: &'static str,
    },
    /// The same person twice.
    #[error("read the sheet `{file}`: it is of `{annotator}`, as `{other}` is")]
    Twice {
        /// The sheet.
        file: String,
        /// The sheet that was read before.
        other: String,
        /// Whose both are.
        annotator: String,
    },
    /// Something was decided that was not disputed at all.
    #[error("read the sheet `{file}`: nothing is disputed, so that nothing is to be decided")]
    NothingDisputed {
        /// The sheet.
        file: String,
    },
    /// The version holds annotations itself.
    #[error("annotate `{version}`: it is what an annotation of `{parent}` left")]
    Again {
        /// The version.
        version: String,
        /// Its parent.
        parent: String,
    },
    /// What stays would be called as what it is a part of.
    #[error("call what stays `{name}` {version}: that is its parent")]
    Itself {
        /// The name.
        name: String,
        /// The version.
        version: String,
    },
    /// A page could not be made.
    #[error("write the form: {0}")]
    Page(#[from] minijinja::Error),
}

fn told(faults: &[Fault]) -> String {
    let told = faults.iter().map(|fault| match fault.line {
        Some(line) => format!("line {line}: {}", fault.what),
        None => fault.what.clone(),
    });
    first(told, TOLD, "; ")
}

impl AnnotateError {
    /// One fault of a file.
    pub fn text(what: &'static str, file: &str, fault: Fault) -> Self {
        Self::Text {
            what,
            file: file.to_owned(),
            faults: vec![fault],
        }
    }

    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Text { faults, .. } => {
                let mut hints: Vec<String> = vec![];
                for fault in faults {
                    if !hints.contains(&fault.hint) && hints.len() < TOLD {
                        hints.push(fault.hint.clone());
                    }
                }
                hints
            }
            Self::Annotators { .. } => {
                vec!["name each once, by letters, digits, `-` and `_`: `--annotators ada,ben`".into()]
            }
            Self::Twice { .. } => {
                vec!["give each annotator's sheet once; the column `annotator` says whose it is".into()]
            }
            Self::NothingDisputed { .. } => vec!["give the sheets alone, without `--adjudicated`".into()],
            Self::Again { parent, .. } => vec![format!("give the folder of `{parent}`")],
            Self::Itself { name, version } => vec![format!(
                "name it by `--as NAME@VERSION`, such as `--as {name}-verified@{version}`"
            )],
            Self::Page(_) => {
                vec!["this is a fault of quarry: please report it with the command you ran".into()]
            }
        }
    }
}
