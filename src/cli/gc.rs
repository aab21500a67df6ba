//! `quarry gc`: removes what can be made again and has not been used for a while.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::args::GcArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::machine::Machine;
use super::session::Session;
use crate::pipeline::PipelineError;
use crate::sandbox::{self, SandboxError, Swept};
use crate::workspace::Workspace;

#[derive(Serialize)]
struct Collected {
    dry_run: bool,
    /// Layers of environments, by kind and key.
    layers: Vec<String>,
    /// Bytes that went with them.
    bytes: u64,
    /// Images of instances, and what they share, by name.
    images: Vec<String>,
    /// What went of the container daemon's; absent when none answers.
    daemon: Option<Swept>,
}

pub(super) fn run(args: &GcArgs, session: &Session) -> Result<ExitCode, CliError> {
    let (context, _lock) = session.open_existing()?;
    let span = SignedDuration::from_hours(i64::from(args.unused_for) * 24);
    let cutoff = context.clock.now().checked_sub(span).unwrap_or(Timestamp::MIN);
    let mut collected = Collected {
        dry_run: args.dry_run,
        layers: vec![],
        bytes: 0,
        images: vec![],
        daemon: None,
    };
    for layer in context.workspace.layers()? {
        if layer.used <= cutoff {
            collected.bytes += if args.dry_run {
                layer.bytes()
            } else {
                layer.remove()?
            };
            collected.layers.push(layer.name);
        }
    }
    let docker = Machine::read().docker_settings();
    match sandbox::sweep(&docker, args.dry_run) {
        Ok(swept) => {
            collected.daemon = Some(swept);
            let mut names = unused_images(&context.workspace, cutoff)?;
            if !args.dry_run {
                names = sandbox::remove_all(&docker, &names).map_err(PipelineError::from)?;
                for name in &names {
                    context.workspace.forget_image(name)?;
                }
            }
            collected.images = names;
        }
        Err(SandboxError::NoDaemon { .. } | SandboxError::RemoteDaemon { .. }) => {}
        Err(error) => return Err(PipelineError::from(error).into()),
    }
    session.printer.result(&collected, &render(&collected))?;
    Ok(ExitCode::Success)
}

/// Images that this workspace has not used since `cutoff`: those of instances before what they share.
fn unused_images(workspace: &Workspace, cutoff: Timestamp) -> Result<Vec<String>, CliError> {
    let mut names: Vec<String> = workspace
        .used_images()?
        .into_iter()
        .filter(|image| image.used <= cutoff)
        .map(|image| image.name)
        .collect();
    names.sort_by_key(|name| !name.starts_with("quarry/instance:"));
    Ok(names)
}

fn render(collected: &Collected) -> String {
    let verb = if collected.dry_run {
        "would remove"
    } else {
        "removed"
    };
    let mut text = format!(
        "{verb} {} layers of environments, {} MiB\n",
        collected.layers.len(),
        collected.bytes >> 20
    );
    if !collected.images.is_empty() {
        let _ = writeln!(
            text,
            "{verb} {} images of instances and of what they share",
            collected.images.len()
        );
    }
    if let Some(swept) = &collected.daemon {
        let _ = writeln!(
            text,
            "{verb} {} containers and {} images of Quarry's",
            swept.containers, swept.images
        );
    }
    text
}
