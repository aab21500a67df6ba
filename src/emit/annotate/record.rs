//! What of people's judgement a version holds.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::questions::Question;
use super::sheet::sums_hash;
use crate::domain::decimal::Decimal;
use crate::domain::ids::InstanceId;
use crate::domain::rate::Share;
use crate::emit::assemble::Files;
use crate::emit::manifest::DatasetName;
use crate::emit::sample::{Level, Sample, Stratify};

/// The rows' file.
pub const ANNOTATIONS: &str = "annotations.jsonl";

/// The version that another one was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parent {
    /// The dataset's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of its `SHA256SUMS`: it stands for every file.
    pub sha256: String,
}

impl Parent {
    /// The version of these files, as another one names it.
    pub fn of(dataset: &DatasetName, files: &Files) -> Self {
        Self {
            name: dataset.name.clone(),
            version: dataset.version.clone(),
            sha256: sums_hash(files),
        }
    }
}

/// What people said of one instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnotationRow {
    /// The instance.
    pub instance_id: InstanceId,
    /// Answers, by annotator and question.
    pub answers: BTreeMap<String, BTreeMap<String, String>>,
    /// Remarks, by annotator; those that are not empty.
    pub remarks: BTreeMap<String, String>,
    /// What was decided, by question, where the answers do not agree on whether the instance stays.
    pub adjudicated: BTreeMap<String, String>,
    /// The remark on what was decided; empty where there is none.
    pub adjudication_remarks: String,
    /// Why it goes, in the questions' order; empty when it stays.
    pub reasons: Vec<String>,
}

impl AnnotationRow {
    /// The row of an instance of which nobody said anything.
    pub fn new(instance_id: InstanceId) -> Self {
        Self {
            instance_id,
            answers: BTreeMap::new(),
            remarks: BTreeMap::new(),
            adjudicated: BTreeMap::new(),
            adjudication_remarks: String::new(),
            reasons: vec![],
        }
    }
}

/// A number between −1 and 1, kept and written to four decimals.
pub type Coefficient = Decimal<10_000, -10_000, 10_000>;

/// Cohen's kappa, with 95 % bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kappa {
    /// The estimate.
    #[schemars(with = "f64", range(min = -1.0, max = 1.0))]
    pub kappa: Coefficient,
    /// The lower bound.
    #[schemars(with = "f64", range(min = -1.0, max = 1.0))]
    pub low: Coefficient,
    /// The upper bound.
    #[schemars(with = "f64", range(min = -1.0, max = 1.0))]
    pub high: Coefficient,
}

/// How well two annotators agree on one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// One annotator.
    pub first: String,
    /// The other.
    pub second: String,
    /// Instances to which both gave the same answer.
    pub same: u64,
    /// The same, of all.
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    pub share: Share,
    /// Cohen's kappa of the answers; `null` where both gave one answer to all, and chance would have agreed as well.
    pub kappa: Option<Kappa>,
    /// The same with linear weights, for answers that are a scale; else `null`.
    pub weighted: Option<Kappa>,
    /// Cohen's kappa of whether the answers drop the instance.
    pub drops: Option<Kappa>,
}

/// How well annotators agree on one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// The question's id; empty for whether the instance stays, by each one's own answers to all questions.
    pub question: String,
    /// Each two of the annotators.
    pub pairs: Vec<Pair>,
    /// Fleiss' kappa over all annotators, when there are more than two.
    #[schemars(with = "Option<f64>", range(min = -1.0, max = 1.0))]
    pub fleiss: Option<Coefficient>,
}

/// How many instances go for exactly these reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    /// The reasons, in the questions' order.
    pub reasons: Vec<String>,
    /// How many instances.
    pub instances: u64,
}

/// How many instances go for one reason, whatever else speaks against them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReasonCount {
    /// The reason.
    pub reason: String,
    /// How many instances.
    pub instances: u64,
}

/// The sample that people looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// How many instances the parent has.
    pub population: u64,
    /// How many were drawn.
    pub size: u64,
    /// How often the interval holds the truth; this and what each share was taken of are missing where they were not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub confidence: Option<Level>,
    /// Half the interval's width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub margin: Option<Level>,
    /// What each share was taken of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stratify: Option<Stratify>,
    /// What they were drawn by.
    pub seed: String,
    /// How many of each stratum.
    pub strata: Vec<DrawnStratum>,
}

impl From<&Sample> for Drawn {
    fn from(sample: &Sample) -> Self {
        let strata = sample.strata.iter();
        Self {
            population: sample.population as u64,
            size: sample.size as u64,
            confidence: Some(sample.confidence),
            margin: Some(sample.margin),
            stratify: Some(sample.stratify),
            seed: sample.seed.clone(),
            strata: strata
                .map(|(name, (instances, drawn))| DrawnStratum {
                    name: name.clone(),
                    instances: *instances as u64,
                    drawn: *drawn as u64,
                })
                .collect(),
        }
    }
}

/// One stratum of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawnStratum {
    /// Its name.
    pub name: String,
    /// How many instances it has.
    pub instances: u64,
    /// How many were drawn.
    pub drawn: u64,
}

/// What people were asked, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// The questions.
    pub questions: Vec<Question>,
    /// Who was asked, by name.
    pub annotators: Vec<String>,
    /// The sample; `null` when everything was looked at.
    pub sample: Option<Drawn>,
    /// Instances that were looked at.
    pub annotated: u64,
    /// Those on which annotators did not agree whether they stay, and it was decided.
    pub adjudicated: u64,
    /// Those that stay.
    pub kept: u64,
    /// Those that go.
    pub dropped: u64,
    /// How well annotators agree, before anything was decided: by question, and at last on whether instances stay.
    pub agreement: Vec<Agreement>,
    /// How many go for each reason, in the questions' order; one instance may go for several.
    pub reasons: Vec<ReasonCount>,
    /// How many go for exactly which reasons.
    pub combinations: Vec<Combination>,
}
