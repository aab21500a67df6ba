//! The version of what stays.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::json;

use super::record::{ANNOTATIONS, Annotation, AnnotationRow, Parent};
use crate::domain::decision::Verdict;
use crate::domain::ids::{CandidateId, InstanceId, RuleId};
use crate::emit::assemble::{DOCS, Files, INSTANCES, LOG, MANIFEST, VARIANTS, compress, counts};
use crate::emit::canonical;
use crate::emit::docs::characteristics::of_instances;
use crate::emit::entry::{LogEntry, RuleSaid};
use crate::emit::error::EmitError;
use crate::emit::export::Version;
use crate::emit::manifest::{FunnelStep, StepKind};
use crate::emit::sums;
use crate::emit::walk::{End, fresh, trails, walk};
use crate::recipe::{is_kebab, is_version};

/// The step that leaves what was drawn to be looked at.
pub const SAMPLED: &str = "annotation-sample";
/// The step that leaves what nobody has a reason against.
pub const ANNOTATED: &str = "annotation";
const PAPER: &str = "Doc2Feat-Bench, section 2.2";

/// What the child is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The dataset's name.
    pub name: String,
    /// `MAJOR.MINOR.PATCH`.
    pub version: String,
}

impl Name {
    /// Reads `NAME@VERSION`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let Some((name, version)) = text.split_once('@') else {
            return Err("it is not NAME@VERSION, such as `doc2feat-verified@0.1.0`");
        };
        if !is_kebab(name) || name == "schema" {
            return Err("the name is lower-case words joined by `-`, such as `doc2feat-verified`");
        }
        if !is_version(version) {
            return Err("the version is MAJOR.MINOR.PATCH, such as `0.1.0`");
        }
        Ok(Self {
            name: name.to_owned(),
            version: version.to_owned(),
        })
    }
}

/// The steps that people's judgement adds to the parent's.
pub fn steps(annotation: &Annotation) -> Vec<FunnelStep> {
    let rule = |id, reason| fresh(id, StepKind::Rule, reason, PAPER);
    let sampled = annotation
        .sample
        .is_some()
        .then(|| rule(SAMPLED, "people looked at a sample, drawn by stratum"));
    let judged = rule(ANNOTATED, "people found nothing that speaks against it as a task");
    sampled.into_iter().chain([judged]).collect()
}

/// What people's judgement says of one instance of the parent; `row` when it was looked at.
pub fn decisions(
    candidate: &CandidateId,
    annotation: &Annotation,
    row: Option<&AnnotationRow>,
) -> Vec<RuleSaid> {
    let said = |rule: &str, kept: bool, observed, evidence| RuleSaid {
        candidate: candidate.clone(),
        rule: RuleId(rule.to_owned()),
        verdict: if kept { Verdict::Keep } else { Verdict::Drop },
        kept,
        observed: canonical::sorted(&observed),
        evidence,
    };
    let mut decisions = vec![];
    if let Some(sample) = &annotation.sample {
        let (is, evidence) = match row {
            Some(_) => (true, "it was drawn"),
            None => (false, "it was not drawn"),
        };
        decisions.push(said(
            SAMPLED,
            is,
            json!({"seed": sample.seed, "drawn": sample.size, "population": sample.population}),
            format!("{evidence}: {} of {}", sample.size, sample.population),
        ));
    }
    if let Some(row) = row {
        let evidence = if row.reasons.is_empty() {
            "nothing speaks against it".to_owned()
        } else {
            row.reasons.join(", ")
        };
        decisions.push(said(
            ANNOTATED,
            row.reasons.is_empty(),
            json!({"answers": row.answers, "adjudicated": row.adjudicated}),
            evidence,
        ));
    }
    decisions
}

/// The child's files: the parent's rows that stay, its whole log with what people said, and every annotation.
///
/// # Errors
/// [`EmitError`] when a file of the parent is not what its schema says.
pub fn child(
    parent: &Files,
    name: &Name,
    tool_version: &str,
    annotation: Annotation,
    rows: &[AnnotationRow],
) -> Result<Files, EmitError> {
    let version = Version::read(parent)?;
    let by_id: BTreeMap<&InstanceId, &AnnotationRow> =
        rows.iter().map(|row| (&row.instance_id, row)).collect();
    let mut trails = trails(read_log(parent)?);
    for instance in &version.instances {
        let candidate = CandidateId::pull(instance.repo.clone(), instance.pull_number);
        let row = by_id.get(&instance.instance_id).copied();
        for said in decisions(&candidate, &annotation, row) {
            trails
                .entry(candidate.clone())
                .or_default()
                .add(LogEntry::Decision(said));
        }
    }
    let mut manifest = version.manifest.clone();
    let bare = |step: &FunnelStep| fresh(&step.step, step.kind, &step.reason, &step.source);
    let mut funnel: Vec<FunnelStep> = manifest.funnel.iter().map(bare).collect();
    funnel.extend(steps(&annotation));
    let (mut log, mut kept) = (vec![], BTreeSet::new());
    for (id, trail) in &trails {
        let mut way = walk(trail, &mut funnel);
        log.append(&mut way.entries);
        if way.end == End::Kept {
            kept.insert(id.instance());
        }
    }
    manifest.parent = Some(Parent::of(&manifest.dataset, parent));
    manifest.dataset.name.clone_from(&name.name);
    manifest.dataset.version.clone_from(&name.version);
    tool_version.clone_into(&mut manifest.tool.version);
    manifest.counts = counts(&log, &funnel, kept.len());
    manifest.funnel = funnel;
    manifest.annotation = Some(annotation);
    if !manifest.characteristics.is_empty() {
        let rows = version.instances.iter();
        manifest.characteristics = of_instances(rows.filter(|row| kept.contains(&row.instance_id)));
    }
    let json = |file| move |source| EmitError::Json { file, source };
    let mut files: Files = parent
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), MANIFEST | LOG | sums::NAME))
        .map(|(name, bytes)| (name.clone(), bytes.clone()))
        .collect();
    for file in [INSTANCES, VARIANTS, DOCS] {
        if let Some(bytes) = parent.get(file) {
            files.insert(file.to_owned(), only(file, bytes, &kept)?);
        }
    }
    files.insert(
        MANIFEST.into(),
        canonical::document(&manifest).map_err(json(MANIFEST))?,
    );
    files.insert(
        ANNOTATIONS.into(),
        canonical::lines(rows).map_err(json(ANNOTATIONS))?,
    );
    let log = canonical::lines(&log).map_err(json(LOG))?;
    files.insert(LOG.into(), compress(&log).map_err(EmitError::Compress)?);
    files.insert(sums::NAME.into(), sums::write(&files).into_bytes());
    Ok(files)
}

/// The lines of the log.
fn read_log(files: &Files) -> Result<Vec<LogEntry>, EmitError> {
    let packed = files.get(LOG).map(Vec::as_slice).unwrap_or_default();
    let bytes = zstd::stream::decode_all(packed).map_err(EmitError::Compress)?;
    lines(LOG, &bytes).map(|(_, entry)| entry).collect()
}

/// The lines that are about these instances, as they stand.
fn only(file: &'static str, bytes: &[u8], kept: &BTreeSet<InstanceId>) -> Result<Vec<u8>, EmitError> {
    #[derive(serde::Deserialize)]
    struct Row {
        instance_id: InstanceId,
    }
    let mut left = vec![];
    for (line, row) in lines::<Row>(file, bytes) {
        if kept.contains(&row?.instance_id) {
            left.extend_from_slice(line);
        }
    }
    Ok(left)
}

/// Each line with its value.
fn lines<'b, T: DeserializeOwned>(
    file: &'static str,
    bytes: &'b [u8],
) -> impl Iterator<Item = (&'b [u8], Result<T, EmitError>)> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.map(move |line| {
        let value = serde_json::from_slice(line);
        (line, value.map_err(|source| EmitError::Json { file, source }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_a_recipe_could_call_it() {
        let named = Name::read("doc2feat-verified@0.1.0").unwrap();
        assert_eq!(
            (named.name.as_str(), named.version.as_str()),
            ("doc2feat-verified", "0.1.0")
        );
        for (text, said) in [
            ("doc2feat", "NAME@VERSION"),
            ("Doc 2@0.1.0", "lower-case"),
            ("schema@0.1.0", "lower-case"),
            ("@0.1.0", "lower-case"),
            ("doc2feat@", "MAJOR.MINOR.PATCH"),
            ("doc2feat@1", "MAJOR.MINOR.PATCH"),
            ("doc2feat@01.0.0", "MAJOR.MINOR.PATCH"),
        ] {
            let error = Name::read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
