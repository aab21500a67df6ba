//! Predictions, splits and reports as files.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::domain::ids::InstanceId;
use crate::evaluate::error::EvaluateError;
use crate::evaluate::predictions::{Prediction, from_files, parse};
use crate::evaluate::report::{Report, SCHEMA_VERSION, html, markdown};
use crate::evaluate::swebench::{FILES, Logs};

/// The name of the report in its folder.
const REPORT: &str = "report.json";
/// The files of a report's folder.
pub const REPORT_FILES: [&str; 3] = [REPORT, "report.md", "report.html"];

fn io(action: &'static str, path: &Utf8Path) -> impl FnOnce(std::io::Error) -> EvaluateError {
    let path = path.to_owned();
    move |source| EvaluateError::Io { action, path, source }
}

/// Reads predictions from a file, or from a folder of `<instance_id>.diff`. Hidden files of a folder are passed over.
///
/// # Errors
/// When they cannot be read, or some are written wrong.
pub fn read_predictions(path: &Utf8Path) -> Result<Vec<Prediction>, EvaluateError> {
    if !path.is_dir() {
        let bytes = fs::read(path).map_err(io("read the predictions", path))?;
        return Ok(parse(path.as_str(), &bytes)?);
    }
    let mut files = vec![];
    for entry in path.read_dir_utf8().map_err(io("list", path))? {
        let entry = entry.map_err(io("list", path))?;
        let name = entry.file_name().to_owned();
        if entry.path().is_file() && !name.starts_with('.') {
            let bytes = fs::read(entry.path()).map_err(io("read", entry.path()))?;
            files.push((name, bytes));
        }
    }
    files.sort();
    let whole = path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
    Ok(from_files(whole.as_str(), files)?)
}

/// Reads which split each instance is in: a JSON object, or lines of an id, a tab and a name.
///
/// # Errors
/// When the file cannot be read or a line is neither.
pub fn read_splits(path: &Utf8Path) -> Result<BTreeMap<InstanceId, String>, EvaluateError> {
    let text = fs::read_to_string(path).map_err(io("read the splits", path))?;
    let bad = |problem: String| EvaluateError::Content {
        path: path.to_owned(),
        problem,
        hint: "write `{\"owner__name-N\": \"dev\"}`, or a line `owner__name-N<TAB>dev` for each instance"
            .to_owned(),
    };
    if text.trim_start().starts_with('{') {
        let splits: BTreeMap<InstanceId, String> =
            serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        return Ok(splits);
    }
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let (id, split) = line
                .split_once('\t')
                .ok_or_else(|| bad(format!("line {} has no tab", index + 1)))?;
            Ok((InstanceId::from(id.trim()), split.trim().to_owned()))
        })
        .collect()
}

/// Reads an evaluation's report: its file, or the folder that holds it.
///
/// # Errors
/// When there is none, or it is of a newer shape.
pub fn read_report(path: &Utf8Path) -> Result<Report, EvaluateError> {
    let file = if path.is_dir() {
        path.join(REPORT)
    } else {
        path.to_owned()
    };
    let bytes = fs::read(&file).map_err(io("read the report", &file))?;
    let bad = |problem: String| EvaluateError::Content {
        path: file.clone(),
        problem,
        hint: "name a `report.json` of `quarry evaluate`, or the folder that holds it".to_owned(),
    };
    let report: Report = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
    if report.schema_version > SCHEMA_VERSION {
        return Err(bad(format!(
            "it is of shape {}, which is newer than {SCHEMA_VERSION}",
            report.schema_version
        )));
    }
    Ok(report)
}

/// Writes a report into `folder` as JSON, Markdown and one HTML page; `logs` are shown in the page. Gives the files.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_report(
    folder: &Utf8Path,
    report: &Report,
    logs: &BTreeMap<InstanceId, Vec<String>>,
) -> Result<Vec<Utf8PathBuf>, EvaluateError> {
    fs::create_dir_all(folder).map_err(io("make the folder", folder))?;
    let json = serde_json::to_vec_pretty(report).map_err(|error| EvaluateError::Adapter {
        message: format!("write the report as JSON: {error}"),
        hints: vec![],
    })?;
    let page = html(report, logs).map_err(|error| EvaluateError::Adapter {
        message: format!("write the report as a page: {error}"),
        hints: vec![],
    })?;
    let mut written = vec![];
    let files = [json, markdown(report).into_bytes(), page.into_bytes()];
    for (name, bytes) in REPORT_FILES.into_iter().zip(files) {
        let path = folder.join(name);
        // Whole or not at all, also when the process is killed.
        let aside = folder.join(format!(".{name}.new"));
        fs::write(&aside, bytes).map_err(io("write", &aside))?;
        fs::rename(&aside, &path).map_err(io("write", &path))?;
        written.push(path);
    }
    Ok(written)
}

/// Writes the logs that SWE-bench's harness would have left. What an earlier evaluation left of the same instances goes.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_logs(folder: &Utf8Path, logs: &Logs) -> Result<(), EvaluateError> {
    for (instance, files) in &logs.instances {
        let inner = folder.join(&logs.folder).join(instance.as_str());
        fs::create_dir_all(&inner).map_err(io("make the folder", &inner))?;
        for name in FILES {
            let path = inner.join(name);
            match files.get(name) {
                Some(bytes) => fs::write(&path, bytes).map_err(io("write", &path))?,
                None if path.exists() => fs::remove_file(&path).map_err(io("remove", &path))?,
                None => {}
            }
        }
    }
    Ok(())
}
