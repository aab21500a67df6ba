//! `quarry images build`, `quarry images check`: images of instances, and whether the daemon has what versions name.

use std::fmt::Write as _;

use serde::Serialize;

use super::args::{ImagesBuildArgs, ImagesCheckArgs};
use super::error::CliError;
use super::exit_code::ExitCode;
use super::machine::Machine;
use super::run::{base_image, stopped};
use super::session::Session;
use crate::domain::image::BaseImage;
use crate::emit::manifest::Manifest;
use crate::pipeline::PipelineError;
use crate::pipeline::images::{self, Outcome, Report, Settings};
use crate::sandbox::DockerSettings;
use crate::{recipe, sandbox};

pub(super) async fn build(args: &ImagesBuildArgs, session: &Session) -> Result<ExitCode, CliError> {
    let machine = Machine::read();
    let mut docker = machine.docker_settings();
    if let Some(text) = &args.base_image {
        docker.base_image = base_image(text, &docker)?;
    }
    let (context, _lock) = session.open_existing()?;
    let settings = Settings {
        only: args.only.clone(),
        other_base: args.base_image.is_some(),
        docker,
        build: machine.build_settings(),
        variables: machine.variables,
        min_free_bytes: args.min_free.saturating_mul(1 << 20),
    };
    match images::run(&context, &args.manifest, settings).await? {
        Outcome::Done(report) => {
            session.printer.result(&*report, &told(&report))?;
            Ok(if report.failed.is_empty() {
                ExitCode::Success
            } else {
                ExitCode::Unsound
            })
        }
        Outcome::Interrupted => Ok(stopped(session)),
    }
}

fn told(report: &Report) -> String {
    let mut text = String::new();
    for entry in &report.list.images {
        let _ = writeln!(text, "{}  {}", entry.image, entry.id);
    }
    for (instance, reason) in &report.failed {
        let _ = writeln!(text, "no image of {instance}: {reason}");
    }
    let _ = writeln!(
        text,
        "{} made, {} were there, {} failed; named in `{}`",
        report.made,
        report.there,
        report.failed.len(),
        report.file
    );
    if !report.list.mounts.is_empty() {
        let volumes: Vec<String> = (report.list.mounts.iter())
            .map(|path| format!("--volume {path}:{path}:ro"))
            .collect();
        let _ = writeln!(
            text,
            "they begin from `skeleton` and need this machine's programs: docker run {} …",
            volumes.join(" ")
        );
    }
    text
}

#[derive(Serialize)]
struct Line {
    manifest: String,
    /// A base image (`skeleton`, `NAME@sha256:…` or `sha256:…`), or an instance's image.
    image: String,
    /// Whether it is there and is what it should be.
    present: bool,
    /// Whether there is another one of that name.
    other: bool,
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
            other: false,
        });
        lines.extend(instances(folder, &docker)?);
    }
    let mut text = String::new();
    for line in &lines {
        let state = match (line.present, line.other) {
            (true, _) => "present",
            (false, true) => "other  ",
            (false, false) => "missing",
        };
        let _ = writeln!(text, "{state}  {}  {}", line.image, line.manifest);
    }
    session.printer.result(&lines, &text)?;
    Ok(if lines.iter().all(|line| line.present) {
        ExitCode::Success
    } else {
        ExitCode::Unsound
    })
}

/// The images that were made of a version's instances: of the same layers now as then?
fn instances(folder: &camino::Utf8Path, docker: &DockerSettings) -> Result<Vec<Line>, CliError> {
    let Some(list) = images::read_list(folder)? else {
        return Ok(vec![]);
    };
    let names: Vec<(String, String)> = (list.images.iter())
        .map(|entry| (entry.image.clone(), entry.key.clone()))
        .collect();
    let found = sandbox::present(docker, &names).map_err(PipelineError::from)?;
    let line = |entry: &crate::domain::images::ImageEntry| {
        let layers = found.get(&entry.image);
        let present = layers == Some(&entry.layers);
        Line {
            manifest: folder.to_string(),
            image: entry.image.clone(),
            present,
            other: layers.is_some() && !present,
        }
    };
    Ok(list.images.iter().map(line).collect())
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
