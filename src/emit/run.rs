//! The shell: from the ledger and the blobs to files, and from files to a verdict on them.

pub mod annotate;
pub mod export;
pub mod import;
mod named;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::annotate::AnnotateError;
use super::assemble::{Files, assemble, select};
use super::check::{Checked, check};
use super::docs::DocsTask;
use super::error::EmitError;
use super::import::ImportError;
use super::input::{Change, EmitInput, Ended, Step, Verified};
use super::manifest::{FunnelStep, Source};
use super::schema;
use super::versions::{self, Release, VersionError};
use crate::blobs::BlobError;
use crate::columnar::ColumnarError;
use crate::domain::decision::Decision;
use crate::domain::event::Event;
use crate::domain::ids::{CandidateId, InstanceId};
use crate::domain::patch::Part;
use crate::domain::variant::VariantRecord;
use crate::recipe::model::Recipe;
use crate::store::StoreError;
use crate::workspace::Context;

/// What the pipeline hands over; candidates, diffs and locks come from the ledger and the blobs.
#[derive(Debug, Clone)]
pub struct Request {
    /// The recipe as it is in force: what a command overrides is overridden in it.
    pub recipe: Recipe,
    /// Its file's text, as read.
    pub recipe_text: String,
    /// This program's version.
    pub tool_version: String,
    /// The repositories, as they were read.
    pub sources: Vec<Source>,
    /// What a candidate meets, in order; the recipe's window comes before them by itself.
    pub steps: Vec<Step>,
    /// The decisions that hold now: mining's own, and the recipe's.
    pub decisions: Vec<Decision>,
    /// How stages ended, after all tries.
    pub ended: Vec<Ended>,
    /// What tests said.
    pub verified: Vec<Verified>,
    /// The part of each file, in [`crate::domain::candidate::Candidate::files`]' order (`None`: the split leaves it out); at
    /// least of those that survive.
    pub splits: BTreeMap<CandidateId, Vec<Option<Part>>>,
    /// The variants of those that survive, when the recipe asks for some.
    pub variants: BTreeMap<CandidateId, Vec<VariantRecord>>,
    /// The tasks of those that survive, when documentation tells them.
    pub tasks: BTreeMap<CandidateId, DocsTask>,
}

/// What was emitted.
#[derive(Debug, Clone)]
pub struct Report {
    /// The version's folder.
    pub folder: Utf8PathBuf,
    /// Whether it is new.
    pub release: Release,
    /// How many rows it has.
    pub instances: usize,
    /// The counted steps.
    pub funnel: Vec<FunnelStep>,
}

/// An emission that failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What was handed over makes no version.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The version's folder.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// The folder of a version that options of the command line name, not a recipe; with the options.
    #[error("{0}")]
    Named(VersionError, &'static str),
    /// The ledger.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A diff or a lock.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// Questions or sheets.
    #[error(transparent)]
    Annotate(#[from] AnnotateError),
    /// A file of the caller's could not be read.
    #[error("read `{file}`: {source}")]
    Given {
        /// The file.
        file: Utf8PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A version that its own check does not pass.
    #[error("use `{folder}`: it is not sound ({problems} problems)")]
    Unsound {
        /// The version's folder.
        folder: Utf8PathBuf,
        /// How many problems.
        problems: usize,
    },
    /// The target has other files in it.
    #[error("export into `{folder}`: it is there with other files, as {}", .differing.iter().take(3).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))]
    Taken {
        /// The folder.
        folder: Utf8PathBuf,
        /// Files that differ, are new or are missing.
        differing: Vec<String>,
    },
    /// The format can hold no instance of the version.
    #[error("export `{folder}`: {}", nothing(left_out))]
    NothingHeld {
        /// The version's folder.
        folder: Utf8PathBuf,
        /// Why each instance is left out; empty when the version has none.
        left_out: BTreeMap<InstanceId, String>,
    },
    /// A table could not be made.
    #[error("write the table `{name}`: {source}")]
    Table {
        /// Its file.
        name: String,
        /// Why.
        source: ColumnarError,
    },
    /// A file of rows cannot be read.
    #[error("import `{file}`: {source}")]
    ReadRows {
        /// The file as the caller named it.
        file: String,
        /// The system's word, or the table's.
        source: std::io::Error,
    },
    /// Its rows are no dataset.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// There is no version at this place.
    #[error("check `{folder}`: there is no such folder")]
    NoFolder {
        /// The folder as given.
        folder: Utf8PathBuf,
    },
}

/// Why nothing is left, each reason once with how many it is of.
fn nothing(left_out: &BTreeMap<InstanceId, String>) -> String {
    let mut reasons: BTreeMap<&str, Vec<&InstanceId>> = BTreeMap::new();
    for (id, why) in left_out {
        reasons.entry(why).or_default().push(id);
    }
    let told: Vec<String> = reasons
        .into_iter()
        .map(|(why, ids)| match ids.as_slice() {
            [only] => format!("{only}: {why}"),
            [first, ..] => format!("{first} and {} more: {why}", ids.len() - 1),
            [] => why.to_owned(),
        })
        .collect();
    if told.is_empty() {
        "the version has no instance".to_owned()
    } else {
        format!(
            "the format can hold none of its {} instances; {}",
            left_out.len(),
            told.join("; ")
        )
    }
}

impl RunError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Emit(error) => error.hints(),
            Self::Version(error) => error.hints(),
            Self::Named(error, options) => error.hints_by(options),
            Self::Store(error) => error.hints(),
            Self::Blob(error) => error.hints(),
            Self::Annotate(error) => error.hints(),
            Self::Given { .. } => vec!["give a file that is there and can be read".into()],
            Self::Unsound { folder, .. } => vec![format!("`quarry emit --verify {folder}` names them")],
            Self::Taken { .. } => vec!["name a folder that does not exist yet, or an empty one".into()],
            Self::NothingHeld { .. } => {
                vec![
                    "nothing was written; `--to hf` and `--to croissant` hold every instance as it stands in the version".into(),
                ]
            }
            Self::Table { .. } => {
                vec!["this is a fault of quarry: please report it with the manifest".into()]
            }
            Self::ReadRows { .. } => {
                vec!["give a file of JSON lines, of a JSON list, or a Parquet table of rows".into()]
            }
            Self::Import(error) => error.hints(),
            Self::NoFolder { .. } => {
                vec!["give the folder of one version: `manifests/<dataset>/<version>`".into()]
            }
        }
    }
}

/// The folder that the recipe's version would have, before anything is worked out for it.
///
/// # Errors
/// [`VersionError::Released`] when that version was emitted by another text of the recipe: whatever the run comes to, it
/// could not be put there. [`VersionError::Io`] when nothing can be written there.
pub fn prepare(
    context: &Context,
    recipe: &Recipe,
    recipe_text_sha256: &str,
) -> Result<Utf8PathBuf, RunError> {
    let folder = versions::folder(
        &context.workspace.manifests(),
        &recipe.dataset.name,
        &recipe.dataset.version,
    )?;
    versions::admits(&folder, recipe_text_sha256)?;
    Ok(folder)
}

/// The counted steps of what was worked out, without a version: of all candidates, or of `only` these.
///
/// # Errors
/// As [`run`], as far as steps are counted.
pub fn funnel(
    context: &Context,
    request: Request,
    only: &[CandidateId],
) -> Result<Vec<FunnelStep>, RunError> {
    let mut input = gather(context, request)?;
    if !only.is_empty() {
        input.candidates.retain(|candidate| only.contains(&candidate.id));
        input
            .decisions
            .retain(|decision| only.contains(&decision.candidate));
    }
    Ok(select(&input)?.funnel)
}

/// What was handed over, with the ledger's candidates.
fn gather(context: &Context, request: Request) -> Result<EmitInput, RunError> {
    let mut candidates = Vec::new();
    for source in &request.sources {
        candidates.extend(context.candidates(Some(&source.repo))?);
    }
    Ok(EmitInput {
        recipe: request.recipe,
        recipe_text: request.recipe_text,
        tool_version: request.tool_version,
        candidates,
        sources: request.sources,
        steps: request.steps,
        decisions: request.decisions,
        ended: request.ended,
        verified: request.verified,
        changes: BTreeMap::new(),
        variants: request.variants,
        tasks: request.tasks,
        locks: BTreeMap::new(),
    })
}

/// Makes the version, checks it as `quarry emit --verify` would, and puts it in its place.
///
/// # Errors
/// [`RunError`]; then no version is there that was not before.
pub fn run(context: &Context, request: Request) -> Result<Report, RunError> {
    let (dataset, version) = (
        request.recipe.dataset.name.clone(),
        request.recipe.dataset.version.clone(),
    );
    let folder = versions::folder(&context.workspace.manifests(), &dataset, &version)?;
    let splits = request.splits.clone();
    let mut input = gather(context, request)?;
    let selection = select(&input)?;
    let total = selection.kept.len() as u64;
    context.events.emit(Event::StageStarted {
        stage: "emit",
        unit: "instances",
        total,
    });
    load(context, &mut input, &selection.kept, &splits)?;
    let files = assemble(&input, &selection)?;
    let release = publish(
        &context.workspace.manifests(),
        &folder,
        (&dataset, &version),
        &files,
    )?;
    remember(context, &dataset, &selection.kept, &files)?;
    context.events.emit(Event::StageFinished {
        stage: "emit",
        note: match release {
            Release::New => format!("{total} instances in `{folder}`"),
            Release::AlreadyThere => format!("`{folder}` holds these {total} instances already"),
        },
    });
    Ok(Report {
        folder,
        release,
        instances: selection.kept.len(),
        funnel: selection.funnel,
    })
}

/// Checks a version's files as `quarry emit --verify` would, and puts them in its folder, and the schema beside all versions.
///
/// # Errors
/// [`RunError`]; then no version is there that was not before.
fn publish(
    manifests: &Utf8Path,
    folder: &Utf8Path,
    (name, version): (&str, &str),
    files: &Files,
) -> Result<Release, RunError> {
    let checked = check(files, Some((name, version)));
    if !checked.problems.is_empty() {
        return Err(EmitError::Unsound {
            dataset: name.to_owned(),
            problems: checked.problems,
        }
        .into());
    }
    let release = versions::release(folder, files)?;
    let schema = schema::document().map_err(|source| EmitError::Json {
        file: schema::FILE,
        source,
    })?;
    versions::put(&manifests.join(schema::FILE), &schema)?;
    Ok(release)
}

/// Reads the survivors' diffs and every lock.
fn load(
    context: &Context,
    input: &mut EmitInput,
    kept: &[CandidateId],
    splits: &BTreeMap<CandidateId, Vec<Option<Part>>>,
) -> Result<(), RunError> {
    let diffs: BTreeMap<_, _> = input
        .candidates
        .iter()
        .map(|candidate| (&candidate.id, &candidate.diff))
        .collect();
    let mut changes = BTreeMap::new();
    for id in kept {
        let missing = |what| EmitError::Missing {
            candidate: id.clone(),
            what,
        };
        let parts = splits.get(id).ok_or_else(|| missing("split"))?.clone();
        let diff = context
            .blobs
            .get(diffs.get(id).ok_or_else(|| missing("record"))?)?;
        changes.insert(id.clone(), Change { diff, parts });
        context.events.emit(Event::Advanced { stage: "emit", by: 1 });
    }
    input.changes = changes;
    for verified in &input.verified {
        let lock = &verified.environment.lock;
        if !input.locks.contains_key(lock) {
            input.locks.insert(lock.clone(), context.blobs.get(lock)?);
        }
    }
    Ok(())
}

/// Puts the rows into the ledger, where `status` and `explain` find them.
fn remember(context: &Context, dataset: &str, kept: &[CandidateId], files: &Files) -> Result<(), RunError> {
    let rows = files
        .get(super::assemble::INSTANCES)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let rows = rows.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows: Result<Vec<_>, _> = kept
        .iter()
        .cloned()
        .zip(rows)
        .map(|(id, line)| serde_json::from_slice(line).map(|row| (id, row)))
        .collect();
    let rows = rows.map_err(|source| EmitError::Json {
        file: super::assemble::INSTANCES,
        source,
    })?;
    Ok(context.store.put_instances(dataset, rows)?)
}

/// Checks a version's folder: sums, schema, and every row against its oracle.
///
/// # Errors
/// When the folder cannot be read; what is wrong with its content is in the result.
pub fn verify(folder: &Utf8Path) -> Result<Checked, RunError> {
    if !folder.is_dir() {
        return Err(RunError::NoFolder {
            folder: folder.to_owned(),
        });
    }
    let files = versions::read(folder)?;
    let whole = folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned());
    let named = whole
        .parent()
        .and_then(Utf8Path::file_name)
        .zip(whole.file_name());
    // A copy elsewhere may have any name; only a version's own name says what it should be.
    let named = named.filter(|(_, version)| version.split('.').count() == 3);
    Ok(check(&files, named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::fixture;
    use crate::workspace::Workspace;

    fn request(input: &EmitInput) -> Request {
        Request {
            recipe: input.recipe.clone(),
            recipe_text: input.recipe_text.clone(),
            tool_version: input.tool_version.clone(),
            sources: input.sources.clone(),
            steps: input.steps.clone(),
            decisions: input.decisions.clone(),
            ended: input.ended.clone(),
            verified: input.verified.clone(),
            variants: input.variants.clone(),
            tasks: input.tasks.clone(),
            splits: input
                .changes
                .iter()
                .map(|(id, change)| (id.clone(), change.parts.clone()))
                .collect(),
        }
    }

    #[test]
    fn a_version_goes_from_the_ledger_to_files_once() {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temp.path()).unwrap();
        let (context, _lock) = Context::open(&Workspace::at(root)).unwrap();
        let input = fixture::input();
        context
            .store
            .put_mined(input.candidates.clone(), vec![], None)
            .unwrap();
        context.blobs.put(&fixture::change().diff).unwrap();
        context.blobs.put(fixture::LOCK).unwrap();

        let report = run(&context, request(&input)).unwrap();
        assert_eq!((report.release, report.instances), (Release::New, 2));
        assert_eq!(report.folder, root.join("manifests/sample/0.1.0"));
        assert_eq!(verify(&report.folder).unwrap().problems, []);
        assert_eq!(
            context.store.instance_counts().unwrap(),
            [("sample".to_owned(), 2)]
        );
        let written = versions::read(&root.join("manifests")).unwrap();
        assert_eq!(written["schema/v1.json"], schema::document().unwrap());

        // Again: the same; with another recipe text: refused, and nothing changes.
        assert_eq!(
            run(&context, request(&input)).unwrap().release,
            Release::AlreadyThere
        );
        let mut other = request(&input);
        other.recipe_text.push('#');
        let error = run(&context, other).unwrap_err();
        assert!(
            error.to_string().contains("`SHA256SUMS`, `manifest.json`"),
            "{error}"
        );
        assert!(error.hints()[0].contains("bump `version`"));
        assert_eq!(versions::read(&root.join("manifests")).unwrap(), written);

        // A version in a folder of another name is not that version.
        std::fs::rename(&report.folder, root.join("manifests/sample/0.3.0")).unwrap();
        let problems = verify(&root.join("manifests/sample/0.3.0")).unwrap().problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(matches!(verify(&report.folder), Err(RunError::NoFolder { .. })));
    }
}
