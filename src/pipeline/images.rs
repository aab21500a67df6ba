//! A version's instances → an image each: base → interpreter → environment (shared) → the instance's own work tree.
//!
//! What goes in is what verification used: the same locked environment at the same paths, the base commit's tree with what
//! installing left in it, the same user and variables. The work tree is a repository of one root commit (`git::seal`). An
//! image is named by everything it is made of, so one that is there is not made again; the file beside the version says
//! which they are.

mod maker;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;

use self::maker::{End, Maker};
use super::brake::{Brake, WORKSPACE};
use super::error::PipelineError;
use super::prove::{Means, Prover};
use super::select::field;
use super::source::sources_of;
use super::version::{self, Version, candidate_of};
use crate::build::run::BuildSettings;
use crate::domain::candidate::Candidate;
use crate::domain::event::Event;
use crate::domain::ids::{CandidateId, InstanceId};
use crate::domain::images::{ImageList, SCHEMA_VERSION};
use crate::emit::instance::Instance;
use crate::emit::{RunError, versions};
use crate::sandbox::{DockerSettings, Images, Room, RoomKind};
use crate::workspace::Context;

/// What making images needs to be told beside the version.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Only these instances; all, when empty.
    pub only: Vec<CandidateId>,
    /// The daemon. Its base image is the recipe's unless `base_image` says otherwise.
    pub docker: DockerSettings,
    /// Whether the base image of `docker` goes before the recipe's.
    pub other_base: bool,
    /// The machine's interpreters and package settings, before the recipe's room has its say.
    pub build: BuildSettings,
    /// The user's environment, which the recipe's room may ask.
    pub variables: BTreeMap<String, String>,
    /// No image is begun while less is free, in bytes, where the workspace is and where the daemon keeps images.
    pub min_free_bytes: u64,
}

/// How it ended.
#[derive(Debug)]
pub enum Outcome {
    /// Every instance was looked at.
    Done(Box<Report>),
    /// The user asked to stop; images that are made stay.
    Interrupted,
}

/// What was made.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The file that names the images.
    pub file: Utf8PathBuf,
    /// Its content.
    pub list: ImageList,
    /// How many images were made now.
    pub made: usize,
    /// How many were there.
    pub there: usize,
    /// Instances without an image, and why.
    pub failed: BTreeMap<InstanceId, String>,
}

/// The file that names a version's images, beside the version's folder.
///
/// # Errors
/// When there is no such folder.
pub fn list_file(folder: &Utf8Path) -> Result<Utf8PathBuf, PipelineError> {
    let bad = |problem: String| PipelineError::BadVersion {
        folder: folder.to_owned(),
        problem,
    };
    let whole = folder
        .canonicalize_utf8()
        .map_err(|error| bad(error.to_string()))?;
    let name = whole
        .file_name()
        .ok_or_else(|| bad("it has no name".to_owned()))?;
    Ok(whole.with_file_name(format!("{name}.images.json")))
}

/// Reads the file that names a version's images; `None` when none were made.
///
/// # Errors
/// When there is no such version, or the file cannot be read.
pub fn read_list(folder: &Utf8Path) -> Result<Option<ImageList>, PipelineError> {
    let file = list_file(folder)?;
    if !file.exists() {
        return Ok(None);
    }
    let read = || -> Result<ImageList, String> {
        let bytes = std::fs::read(&file).map_err(|error| error.to_string())?;
        let list: ImageList = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        if list.schema_version > SCHEMA_VERSION {
            return Err(format!("it is of shape {}, which is newer", list.schema_version));
        }
        Ok(list)
    };
    read().map(Some).map_err(|problem| PipelineError::BadVersion {
        folder: folder.to_owned(),
        problem: format!("`{file}`: {problem}"),
    })
}

/// Makes the images of the version in `folder` that the daemon lacks, and the file that names them.
///
/// # Errors
/// Errors of ours or the caller's, and what the machine lacks; what fails on one instance is in the report.
pub async fn run(context: &Context, folder: &Utf8Path, settings: Settings) -> Result<Outcome, PipelineError> {
    let file = list_file(folder)?;
    let Version {
        manifest,
        instances,
        loaded,
        locks: _,
    } = version::read(folder)?;
    let recipe = &loaded.recipe;
    let mut docker = settings.docker;
    if !settings.other_base {
        docker.base_image = recipe.room.base_image.clone();
    }
    let folder_of_state = context.workspace.state();
    let build = settings
        .build
        .opened_by(&recipe.room, &settings.variables, folder_of_state.as_std_path())?;
    docker.network.clone_from(&recipe.room.network);
    docker.workspace = context.workspace.root().to_string();

    let wanted: Vec<&Instance> = instances
        .iter()
        .filter(|row| settings.only.is_empty() || settings.only.contains(&candidate_of(row)))
        .collect();
    let ids: Vec<CandidateId> = wanted.iter().map(|row| candidate_of(row)).collect();
    for id in &settings.only {
        if !ids.contains(id) {
            return Err(PipelineError::BadVersion {
                folder: folder.to_owned(),
                problem: format!("it has no instance of `{id}`"),
            });
        }
    }
    let sources = sources_of(context, recipe)?;
    let field = field(context, recipe, &sources, &ids)?;
    let room = Room::open(
        RoomKind::Docker,
        &docker,
        context.workspace.scratch().as_std_path(),
    )?;
    let images = Images::open(&docker).await?;
    let mut places = vec![(context.workspace.root().into(), WORKSPACE)];
    places.extend(
        images
            .place()
            .await
            .map(|place| (place, "the daemon keeps images")),
    );
    let prover = Prover::new(
        context,
        recipe,
        &field.splitter,
        &sources,
        Means {
            room,
            build,
            only_recorded: true,
            min_free_bytes: settings.min_free_bytes,
        },
    )?;
    let candidates: Vec<&Candidate> = field.candidates.iter().collect();
    let maker = Maker {
        prover,
        images,
        brake: Brake::new(places, settings.min_free_bytes),
        shared: tokio::sync::Mutex::new(()),
    };
    let events = &context.events;
    events.emit(Event::StageStarted {
        stage: "images",
        unit: "instances",
        total: wanted.len() as u64,
    });
    let ends: Vec<Option<(InstanceId, End)>> = stream::iter(&wanted)
        .map(|row| async {
            let candidate = candidates
                .iter()
                .find(|candidate| candidate.id == candidate_of(row));
            let end = match candidate {
                Some(candidate) => maker.one(row, candidate).await?,
                None => Some(Err("the workspace does not know this pull request".to_owned())),
            };
            events.emit(Event::Advanced {
                stage: "images",
                by: 1,
            });
            Ok::<_, PipelineError>(end.map(|end| (row.instance_id.clone(), end)))
        })
        .buffer_unordered(context.jobs)
        .try_collect()
        .await?;
    if let Some(halt) = maker.brake.why() {
        return Err(PipelineError::Halted(halt.clone()));
    }
    if ends.iter().any(Option::is_none) {
        return Ok(Outcome::Interrupted);
    }
    let before = read_list(folder)?;
    let mut report = Report {
        list: ImageList {
            schema_version: SCHEMA_VERSION,
            dataset: manifest.dataset.name,
            version: manifest.dataset.version,
            base_image: docker.base_image.to_string(),
            mounts: maker
                .images
                .mounts()
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            images: vec![],
        },
        file,
        made: 0,
        there: 0,
        failed: BTreeMap::new(),
    };
    let mut entries = BTreeMap::new();
    for (id, end) in ends.into_iter().flatten() {
        match end {
            Ok((entry, is_new)) => {
                *(if is_new {
                    &mut report.made
                } else {
                    &mut report.there
                }) += 1;
                entries.insert(id, entry);
            }
            Err(reason) => {
                report.failed.insert(id, reason);
            }
        }
    }
    // Those that were not asked for now stay named, if they begin from the same image.
    for entry in before
        .filter(|before| before.base_image == report.list.base_image)
        .map(|before| before.images)
        .unwrap_or_default()
    {
        let is_asked = wanted.iter().any(|row| row.instance_id == entry.instance_id);
        if !is_asked {
            entries.insert(entry.instance_id.clone(), entry);
        }
    }
    report.list.images = entries.into_values().collect();
    let mut text = serde_json::to_vec_pretty(&report.list).unwrap_or_default();
    text.push(b'\n');
    versions::put(&report.file, &text).map_err(RunError::from)?;
    events.emit(Event::StageFinished {
        stage: "images",
        note: format!("{} made, {} were there", report.made, report.there),
    });
    Ok(Outcome::Done(Box::new(report)))
}
