//! `quarry images check`: whether the daemon has the images that manifests name.

use std::fmt::Write as _;

use serde::Serialize;

use super::args::ImagesCheckArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::machine::Machine;
use super::session::Session;
use crate::domain::image::BaseImage;
use crate::emit::manifest::Manifest;
use crate::pipeline::PipelineError;
use crate::{recipe, sandbox};

#[derive(Serialize)]
struct Line {
    manifest: String,
    /// `skeleton`, `NAME@sha256:…` or `sha256:…`.
    image: String,
    present: bool,
}

pub(super) fn check(args: &ImagesCheckArgs, session: &Session) -> Result<ExitCode, CliError> {
    let docker = Machine::read().docker_settings();
    let mut lines = Vec::new();
    for folder in &args.manifests {
        let image = image_of(folder)?;
        // The skeleton is made where it is used.
        let present =
            image == BaseImage::Skeleton || sandbox::has(&docker, &image).map_err(PipelineError::from)?;
        lines.push(Line {
            manifest: folder.to_string(),
            image: image.to_string(),
            present,
        });
    }
    let mut text = String::new();
    for line in &lines {
        let state = if line.present { "present" } else { "missing" };
        let _ = writeln!(text, "{state}  {}  {}", line.image, line.manifest);
    }
    session.printer.result(&lines, &text)?;
    Ok(if lines.iter().all(|line| line.present) {
        ExitCode::Success
    } else {
        ExitCode::Unsound
    })
}

/// The image that a version's recipe names.
fn image_of(folder: &camino::Utf8Path) -> Result<BaseImage, CliError> {
    let file = folder.join("manifest.json");
    let wrong = |problem: String| {
        let hint = "name the folder of an emitted version, which holds a `manifest.json`".to_owned();
        CliError::input(format!("read `{file}`: {problem}"), vec![hint])
    };
    let bytes = std::fs::read(&file).map_err(|error| wrong(error.to_string()))?;
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    let loaded = recipe::parse(file.as_str(), &manifest.recipe.text)?;
    Ok(loaded.recipe.room.base_image)
}
