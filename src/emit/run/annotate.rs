//! The shell of annotation: a version's folder into sheets, and filled sheets into a version of what stays.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::named::publish_named;
use super::{RunError, verify};
use crate::domain::ids::InstanceId;
use crate::domain::text::without_line;
use crate::emit::annotate::child::{Name, child};
use crate::emit::annotate::form::{self, Page};
use crate::emit::annotate::judge::{Judged, decide, everything, judge};
use crate::emit::annotate::questions::{self, Question};
use crate::emit::annotate::record::{AnnotationRow, Drawn, Parent};
use crate::emit::annotate::sheet::{self, Asked, Sheet};
use crate::emit::annotate::{AnnotateError, Annotation, Fault, summary};
use crate::emit::assemble::Files;
use crate::emit::export::Version;
use crate::emit::instance::Instance;
use crate::emit::sample::{Draw, Sample, sample as redraw};
use crate::emit::versions::{self, Release, VersionError};
use crate::emit::{EmitError, canonical};

/// The folder and the name of the sheet for what is disputed.
pub const ADJUDICATION: &str = "adjudication";

/// Which instances of which version are asked about, and what.
#[derive(Debug, Clone)]
pub struct About {
    /// The version's folder.
    pub folder: Utf8PathBuf,
    /// A file of questions; the program's own when there is none.
    pub questions: Option<Utf8PathBuf>,
    /// What `quarry sample --json` printed; everything when there is none.
    pub sample: Option<Utf8PathBuf>,
}

/// What sheets were written.
#[derive(Debug, Clone)]
pub struct SheetsReport {
    /// The folder.
    pub folder: Utf8PathBuf,
    /// Whether it is new.
    pub release: Release,
    /// Its files.
    pub files: Vec<String>,
    /// How many instances each sheet asks about.
    pub instances: usize,
}

/// What to make of filled sheets.
#[derive(Debug, Clone)]
pub struct Import {
    /// What was asked.
    pub about: About,
    /// The sheets.
    pub sheets: Vec<Utf8PathBuf>,
    /// The sheet with what was decided.
    pub adjudicated: Option<Utf8PathBuf>,
    /// What the version is to be called [default: the parent's name and `-verified`, and its version].
    pub name: Option<Name>,
    /// The folder that versions stand in, `<name>/<version>` each.
    pub out: Utf8PathBuf,
    /// This program's version.
    pub tool_version: String,
}

/// What filled sheets came to.
#[derive(Debug, Clone)]
pub struct ImportReport {
    /// How well annotators agree, and what goes.
    pub annotation: Annotation,
    /// What is still to be decided, by instance: the questions.
    pub disputed: BTreeMap<InstanceId, Vec<String>>,
    /// The folder that was written: the version, or the sheet for what is disputed.
    pub folder: Utf8PathBuf,
    /// Whether it is new.
    pub release: Release,
}

/// Everything that both ways need.
struct Asking {
    files: Files,
    version: Version,
    mark: String,
    questions: Vec<Question>,
    questions_text: String,
    drawn: Option<Drawn>,
    due: BTreeMap<InstanceId, Asked>,
}

fn given(file: &Utf8Path) -> Result<Vec<u8>, RunError> {
    fs::read(file).map_err(|source| RunError::Given {
        file: file.to_owned(),
        source,
    })
}

fn read(about: &About) -> Result<Asking, RunError> {
    let checked = verify(&about.folder)?;
    if !checked.problems.is_empty() {
        return Err(RunError::Unsound {
            folder: about.folder.clone(),
            problems: checked.problems.len(),
        });
    }
    let files = versions::read(&about.folder)?;
    let version = Version::read(&files)?;
    if let Some(parent) = &version.manifest.parent {
        let dataset = &version.manifest.dataset;
        return Err(AnnotateError::Again {
            version: format!("{} {}", dataset.name, dataset.version),
            parent: format!("{} {}", parent.name, parent.version),
        }
        .into());
    }
    let (questions, questions_text) = match &about.questions {
        None => (questions::default_questions()?, questions::DEFAULT.to_owned()),
        Some(file) => {
            let text = String::from_utf8_lossy(&given(file)?).into_owned();
            (questions::parse(file.as_str(), &text)?, text)
        }
    };
    let ids = version.instances.iter().map(|row| &row.instance_id);
    let (drawn, due) = match &about.sample {
        None => (None, everything(ids, &questions)),
        Some(file) => {
            let sample = read_sample(file, &given(file)?, &about.folder, &version, &files)?;
            let due = everything(&sample.instances, &questions);
            (Some(Drawn::from(&sample)), due)
        }
    };
    Ok(Asking {
        mark: sheet::mark(&version, &files),
        files,
        version,
        questions,
        questions_text,
        drawn,
        due,
    })
}

/// Reads a sample and draws it again: what is recorded of it must be what was looked at.
fn read_sample(
    file: &Utf8Path,
    bytes: &[u8],
    folder: &Utf8Path,
    version: &Version,
    files: &Files,
) -> Result<Sample, AnnotateError> {
    let fault = |line, what, hint| AnnotateError::text("sample", file.as_str(), Fault { line, what, hint });
    // What is no sample may be any file: nothing is to be written over it.
    let usual = || format!("give the file that `quarry sample {folder} --seed … --json` printed");
    if bytes.trim_ascii().is_empty() {
        return Err(fault(None, "it is empty".to_owned(), usual()));
    }
    let sample: Sample = serde_json::from_slice(bytes)
        .map_err(|error| fault(Some(error.line()), without_line(&error), usual()))?;
    let parent = Parent::of(&version.manifest.dataset, files);
    let draw = Draw {
        parent: parent.clone(),
        ..sample.draw()
    };
    let again = format!(
        "draw it again, by the same seed: `{} > {file}`",
        draw.command(folder.as_str())
    );
    if sample.parent != parent {
        let named = |of: &Parent| {
            let sha256: String = of.sha256.chars().take(12).collect();
            format!("`{}` {} ({sha256})", of.name, of.version)
        };
        let what = format!(
            "it was drawn from {}, not from {}",
            named(&sample.parent),
            named(&parent)
        );
        return Err(fault(None, what, again));
    }
    let drawn = redraw(&sample.stratify.strata(&version.instances), &draw);
    match sample.fault(&drawn) {
        None => Ok(sample),
        Some(what) => Err(fault(None, what, again)),
    }
}

impl Asking {
    /// The two files of a sheet.
    fn sheet(
        &self,
        annotator: &str,
        due: &BTreeMap<InstanceId, Asked>,
        annotations: &[AnnotationRow],
    ) -> Result<[(String, Vec<u8>); 2], RunError> {
        let rows = self.version.instances.iter();
        let rows: Vec<&Instance> = rows.filter(|row| due.contains_key(&row.instance_id)).collect();
        let table = sheet::table(&self.mark, annotator, &self.questions, &rows, due);
        let file = format!("{annotator}.csv");
        let page = form::html(Page {
            mark: &self.mark,
            annotator,
            file: &file,
            table: &table,
            questions: &self.questions,
            rows: &rows,
            due,
            annotations,
        })?;
        Ok([
            (file, table.csv()),
            (format!("{annotator}.html"), page.into_bytes()),
        ])
    }

    fn filled(&self, file: &Utf8Path, due: &BTreeMap<InstanceId, Asked>) -> Result<Sheet, RunError> {
        Ok(sheet::read(
            file.as_str(),
            &given(file)?,
            &self.mark,
            &self.questions,
            due,
        )?)
    }
}

/// What makes names of annotators unfit for files and columns.
fn unfit(annotators: &[String]) -> Option<&'static str> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let mut names: Vec<String> = annotators.iter().map(|name| name.to_ascii_lowercase()).collect();
    names.sort();
    names.dedup();
    if names.is_empty()
        || annotators
            .iter()
            .any(|name| name.is_empty() || !name.bytes().all(fits))
    {
        Some("a name is letters, digits, `-` and `_`")
    } else if names.len() < annotators.len() {
        Some("one is there twice")
    } else if names.iter().any(|name| name == ADJUDICATION) {
        Some("`adjudication` is the sheet on which disputes are decided")
    } else {
        None
    }
}

/// Writes an empty sheet for each annotator, as CSV and as a form, and the questions, into a new folder. A run killed at any
/// moment leaves the whole folder or none; a sheet that somebody has filled in is never overwritten.
///
/// # Errors
/// [`RunError`] when the version is not sound, or the folder is there with other files.
pub fn export_sheets(about: &About, annotators: &[String], out: &Utf8Path) -> Result<SheetsReport, RunError> {
    if let Some(why) = unfit(annotators) {
        return Err(AnnotateError::Annotators {
            names: annotators.to_vec(),
            why,
        }
        .into());
    }
    let asking = read(about)?;
    let mut files = Files::new();
    for annotator in annotators {
        files.extend(asking.sheet(annotator, &asking.due, &[])?);
    }
    files.insert("questions.toml".to_owned(), asking.questions_text.into_bytes());
    let (folder, release) = put(out, &files)?;
    Ok(SheetsReport {
        folder,
        release,
        files: files.into_keys().collect(),
        instances: asking.due.len(),
    })
}

/// Puts a folder of other files than a version's in its place.
fn put(target: &Utf8Path, files: &Files) -> Result<(Utf8PathBuf, Release), RunError> {
    let target = camino::absolute_utf8(target).unwrap_or_else(|_| target.to_owned());
    let release = versions::release(&target, files).map_err(|error| match error {
        VersionError::Released { folder, differing } => RunError::Taken { folder, differing },
        other => other.into(),
    })?;
    Ok((target, release))
}

/// Takes filled sheets: writes the version of what stays, or, while something is disputed, the sheet on which that is
/// decided.
///
/// # Errors
/// [`RunError`] when a sheet is not what it must be, or what would be written is there with other bytes.
pub fn import_sheets(import: &Import) -> Result<ImportReport, RunError> {
    let asking = read(&import.about)?;
    let name = child_name(import, &asking)?;
    let sheets = import
        .sheets
        .iter()
        .map(|file| asking.filled(file, &asking.due))
        .collect::<Result<Vec<_>, _>>()?;
    let mut judged = judge(&asking.questions, &sheets)?;
    match &import.adjudicated {
        Some(file) if judged.disputed.is_empty() => {
            return Err(AnnotateError::NothingDisputed {
                file: file.to_string(),
            }
            .into());
        }
        Some(file) => {
            let decided = asking.filled(file, &judged.disputed)?;
            decide(&asking.questions, &mut judged, &decided);
        }
        None => {}
    }
    let annotation = summary(&asking.questions, &judged.rows, asking.drawn.clone());
    let (folder, release) = if judged.disputed.is_empty() {
        release_child(import, &asking, &name, annotation.clone(), &judged)?
    } else {
        let mut files = Files::from(asking.sheet(ADJUDICATION, &judged.disputed, &judged.rows)?);
        let agreement = canonical::document(&annotation.agreement).map_err(|source| EmitError::Json {
            file: "agreement.json",
            source,
        })?;
        files.insert("agreement.json".to_owned(), agreement);
        put(&import.out.join(ADJUDICATION), &files)?
    };
    let disputed = judged.disputed.into_iter();
    Ok(ImportReport {
        annotation,
        disputed: disputed
            .map(|(id, asked)| (id, asked.questions.into_iter().collect()))
            .collect(),
        folder,
        release,
    })
}

/// What the version of what stays is called.
fn child_name(import: &Import, asking: &Asking) -> Result<Name, AnnotateError> {
    let parent = &asking.version.manifest.dataset;
    let name = import.name.clone().unwrap_or_else(|| Name {
        name: format!("{}-verified", parent.name),
        version: parent.version.clone(),
    });
    if (&name.name, &name.version) == (&parent.name, &parent.version) {
        return Err(AnnotateError::Itself {
            name: name.name,
            version: name.version,
        });
    }
    Ok(name)
}

fn release_child(
    import: &Import,
    asking: &Asking,
    name: &Name,
    annotation: Annotation,
    judged: &Judged,
) -> Result<(Utf8PathBuf, Release), RunError> {
    let files = child(
        &asking.files,
        name,
        &import.tool_version,
        annotation,
        &judged.rows,
    )?;
    publish_named(
        &import.out,
        (&name.name, &name.version),
        &files,
        "`--as NAME@VERSION`",
    )
}
