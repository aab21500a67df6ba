//! Rows as a version's files, and whether such a version agrees with itself.

use std::collections::{BTreeMap, BTreeSet};

use super::published::{Columns, ImportError, Published, parse};
use super::recipe as texts;
use super::row::{self, DUPLICATE, KNOWN, Taken};
use crate::domain::decision::Verdict;
use crate::domain::hash::sha256_hex;
use crate::domain::ids::{CandidateId, RuleId};
use crate::emit::assemble::{DOCS, Files, INSTANCES, LOG, MANIFEST, PUBLISHED, VARIANTS, compress, counts};
use crate::emit::check::{Problem, Version};
use crate::emit::entry::{Imported, LogEntry, RuleSaid};
use crate::emit::instance::Instance;
use crate::emit::manifest::{
    DatasetName, Import, LeftOutRow, Manifest, MergeWindow, RecipeText, SCHEMA_VERSION, StepKind, Tool,
};
use crate::emit::walk::{Trail, fresh, trails, walk};
use crate::emit::{EmitError, canonical, sums};
use crate::recipe;

/// The recipe that verifies the instances again.
pub const REVERIFY: &str = "reverify.toml";
/// The funnel's only step.
const STEP: &str = "import";
/// What the rows are like.
const FORMAT: &str = "swebench";

/// What an import is called, and by whom it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The dataset's name: lower-case words joined by `-`.
    pub name: String,
    /// `MAJOR.MINOR.PATCH`.
    pub version: String,
    /// The file's name, without its folder.
    pub file: String,
    /// SHA-256 of the file's bytes.
    pub sha256: String,
    /// This program's version.
    pub tool_version: String,
}

/// Makes a version of rows in JSON (`unit`: what a line of it is called in messages).
///
/// # Errors
/// [`ImportError`] when a row is none, or no instance comes of them; [`EmitError`] when something has no JSON form.
pub fn import(
    named: &Named,
    bytes: &[u8],
    unit: &str,
) -> Result<Result<(Files, Manifest), ImportError>, EmitError> {
    let (rows, faults) = parse(bytes, unit);
    match sort(&named.file, rows, faults) {
        Ok(sorted) => assemble(named, sorted),
        Err(error) => Ok(Err(error)),
    }
}

/// The rows, each where it belongs.
struct Sorted {
    rows: u64,
    columns: BTreeSet<String>,
    /// In the file's order.
    kept: Vec<(u64, Taken, Columns)>,
    left_out: Vec<LeftOutRow>,
    /// Whom those are about, in their order.
    left_out_ids: Vec<CandidateId>,
}

fn sort(file: &str, rows: Vec<Published>, mut faults: Vec<(String, String)>) -> Result<Sorted, ImportError> {
    let mut sorted = Sorted {
        rows: rows.len() as u64,
        columns: BTreeSet::new(),
        kept: vec![],
        left_out: vec![],
        left_out_ids: vec![],
    };
    let mut seen: BTreeMap<CandidateId, u64> = BTreeMap::new();
    for Published { row, place, columns } in rows {
        let taken = match row::take(&columns) {
            Ok(taken) => taken,
            Err(what) => {
                faults.push((place, what));
                continue;
            }
        };
        sorted.columns.extend(columns.0.keys().cloned());
        let refusal = match seen.get(&taken.candidate) {
            Some(first) => Some((DUPLICATE, format!("row {first} has its id already"))),
            None => row::refusal(&taken.instance),
        };
        if let Some((rule, why)) = refusal {
            sorted.left_out.push(LeftOutRow {
                row,
                instance_id: taken.instance.instance_id.to_string(),
                rule: rule.into(),
                why,
            });
            sorted.left_out_ids.push(taken.candidate);
        } else {
            seen.insert(taken.candidate.clone(), row);
            sorted.kept.push((row, taken, columns));
        }
    }
    let file = file.to_owned();
    if !faults.is_empty() {
        return Err(ImportError::Faulty { file, faults });
    }
    match (sorted.kept.is_empty(), sorted.left_out.first()) {
        (false, _) => Ok(sorted),
        (true, None) => Err(ImportError::Empty { file }),
        (true, Some(first)) => Err(ImportError::Nothing {
            file,
            rows: sorted.rows,
            row: first.row,
            why: first.why.clone(),
        }),
    }
}

fn assemble(named: &Named, sorted: Sorted) -> Result<Result<(Files, Manifest), ImportError>, EmitError> {
    let (known, other): (Vec<String>, Vec<String>) = sorted
        .columns
        .iter()
        .cloned()
        .partition(|name| KNOWN.contains(&name.as_str()));
    let log = log(&sorted);
    let import = Import {
        format: FORMAT.to_owned(),
        file: named.file.clone(),
        sha256: named.sha256.clone(),
        rows: sorted.rows,
        columns: known,
        other_columns: other,
        repeated_tests: sorted.kept.iter().map(|(_, taken, _)| taken.repeated).sum(),
        left_out: sorted.left_out,
    };
    let (mut instances, mut published) = (BTreeMap::new(), vec![]);
    for (_, taken, columns) in sorted.kept {
        instances.insert(taken.candidate, taken.instance);
        published.push(columns);
    }
    let ids: Vec<CandidateId> = instances.keys().cloned().collect();
    let instances: Vec<Instance> = instances.into_values().collect();
    let text = texts::imported(named, &import, &ids);
    let loaded = match recipe::parse("the import's recipe", &text) {
        Ok(loaded) => loaded,
        Err(error) => {
            return Ok(Err(ImportError::Name {
                name: named.name.clone(),
                version: named.version.clone(),
                problem: error.to_string(),
            }));
        }
    };
    let mut funnel = vec![fresh(STEP, StepKind::Mine, "", "")];
    let mut lines = vec![];
    for (_, trail) in trails(log) {
        lines.append(&mut walk(&trail, &mut funnel).entries);
    }
    let dataset = loaded.recipe.dataset;
    let manifest = Manifest {
        schema_version: SCHEMA_VERSION,
        dataset: DatasetName {
            name: dataset.name,
            version: dataset.version,
            description: dataset.description,
        },
        tool: Tool {
            name: "quarry".into(),
            version: named.tool_version.clone(),
        },
        recipe: RecipeText {
            sha256: sha256_hex(text.as_bytes()),
            text,
        },
        sources: vec![],
        window: MergeWindow {
            merged_since: None,
            merged_before: None,
        },
        counts: counts(&lines, &funnel, instances.len()),
        funnel,
        failures: vec![],
        environments: vec![],
        variants: None,
        characteristics: BTreeMap::new(),
        parent: None,
        annotation: None,
        import: Some(import),
    };
    let json = |file| move |source| EmitError::Json { file, source };
    let log = canonical::lines(&lines).map_err(json(LOG))?;
    let mut files = Files::from([
        (
            MANIFEST.to_owned(),
            canonical::document(&manifest).map_err(json(MANIFEST))?,
        ),
        (
            INSTANCES.to_owned(),
            canonical::lines(&instances).map_err(json(INSTANCES))?,
        ),
        (
            PUBLISHED.to_owned(),
            canonical::lines(&published).map_err(json(PUBLISHED))?,
        ),
        (REVERIFY.to_owned(), texts::reverify(named, &ids).into_bytes()),
        (LOG.to_owned(), compress(&log).map_err(EmitError::Compress)?),
    ]);
    files.insert(sums::NAME.into(), sums::write(&files).into_bytes());
    Ok(Ok((files, manifest)))
}

/// A line for each instance, and one for each pull request of which there is no instance.
fn log(sorted: &Sorted) -> Vec<LogEntry> {
    let kept = sorted.kept.iter().map(|(row, taken, _)| {
        LogEntry::Imported(Imported {
            candidate: taken.candidate.clone(),
            row: *row,
            base_commit: taken.instance.base_commit,
        })
    });
    let mut entries: Vec<LogEntry> = kept.collect();
    let is_kept: BTreeSet<_> = entries.iter().map(|entry| entry.candidate().clone()).collect();
    let mut told: BTreeSet<&CandidateId> = BTreeSet::new();
    for (row, id) in sorted.left_out.iter().zip(&sorted.left_out_ids) {
        if !is_kept.contains(id) && told.insert(id) {
            entries.push(LogEntry::Decision(RuleSaid {
                candidate: id.clone(),
                rule: row.rule.clone(),
                verdict: Verdict::Drop,
                kept: false,
                observed: serde_json::json!({"row": row.row}),
                evidence: row.why.clone(),
            }));
        }
    }
    entries
}

/// Says in what the files of an import, or of what people let stay of one, do not agree, beyond what holds of every version.
/// `walked` are the log's trails, and who is kept at their ends.
pub(in crate::emit) fn agree(
    version: &Version,
    import: &Import,
    files: &Files,
    walked: (&BTreeMap<CandidateId, Trail>, &[CandidateId]),
    problems: &mut Vec<Problem>,
) {
    let manifest = &version.manifest;
    let taken = walked.0.iter().filter(|(_, trail)| trail.imported.is_some());
    let taken: Vec<CandidateId> = taken.map(|(id, _)| id.clone()).collect();
    let told = import.left_out.len() as u64 + taken.len() as u64;
    if import.rows != told {
        let what = format!(
            "it has {} rows, and {told} are instances or left out",
            import.rows
        );
        problems.push(Problem::at(MANIFEST, "import.rows", what));
    }
    if !manifest.environments.is_empty() || !manifest.sources.is_empty() {
        let what = "an import has no environments, and was read from no repository";
        problems.push(Problem::of(MANIFEST, what));
    }
    for name in [VARIANTS, DOCS]
        .into_iter()
        .filter(|name| files.contains_key(*name))
    {
        problems.push(Problem::of(name, "an import has no such file"));
    }
    let of_rules = |rule: &RuleId| import.left_out.iter().filter(|row| row.rule == *rule).count() as u64;
    if manifest
        .counts
        .not_mined
        .iter()
        .any(|one| one.pull_requests > of_rules(&one.rule))
    {
        problems.push(Problem::at(
            MANIFEST,
            "import.left_out",
            "it does not name what the log tells of",
        ));
    }
    let (name, number) = match &manifest.parent {
        Some(parent) => (&parent.name, &parent.version),
        None => (&manifest.dataset.name, &manifest.dataset.version),
    };
    let named = Named {
        name: name.clone(),
        version: number.clone(),
        file: import.file.clone(),
        sha256: import.sha256.clone(),
        tool_version: manifest.tool.version.clone(),
    };
    let text = files.get(REVERIFY).map(Vec::as_slice);
    if text != Some(texts::reverify(&named, &taken).as_bytes()) {
        problems.push(Problem::of(REVERIFY, "it is not the recipe of these instances"));
    }
    if manifest.recipe.text != texts::imported(&named, import, &taken) {
        problems.push(Problem::at(
            MANIFEST,
            "recipe.text",
            "it is not that of this import",
        ));
    }
    rows(version, files, &taken, walked.1, problems);
}

/// Holds the rows to what was published.
fn rows(
    version: &Version,
    files: &Files,
    taken: &[CandidateId],
    kept: &[CandidateId],
    problems: &mut Vec<Problem>,
) {
    let published = files.get(PUBLISHED).map(Vec::as_slice).unwrap_or_default();
    let (rows, faults) = parse(published, "line");
    for (place, what) in faults {
        problems.push(Problem::at(PUBLISHED, place, what));
    }
    let mut expected = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        match row::take(&row.columns) {
            Ok(taken) => {
                if let Some((_, why)) = row::refusal(&taken.instance) {
                    problems.push(Problem::line(PUBLISHED, index, why));
                }
                if expected.insert(taken.candidate, taken.instance).is_some() {
                    problems.push(Problem::line(
                        PUBLISHED,
                        index,
                        "its id is that of an earlier line",
                    ));
                }
            }
            Err(what) => problems.push(Problem::line(PUBLISHED, index, what)),
        }
    }
    if !expected.keys().eq(taken) {
        let what = "its instances are not those that the log tells of";
        problems.push(Problem::of(PUBLISHED, what));
    }
    let kept: BTreeSet<&CandidateId> = kept.iter().collect();
    expected.retain(|id, _| kept.contains(id));
    let expected: Vec<Instance> = expected.into_values().collect();
    let differing = version
        .instances
        .iter()
        .zip(&expected)
        .position(|(one, other)| one != other);
    let length = version.instances.len().min(expected.len());
    let differing = differing.or((version.instances.len() != expected.len()).then_some(length));
    if let Some(index) = differing {
        let what = format!("it is not what `{PUBLISHED}` says of this instance");
        problems.push(Problem::line(INSTANCES, index, what));
    }
}
