//! `quarry gc`: removes what can be made again and has not been used for a while.

use std::fmt::Write as _;

use jiff::SignedDuration;
use serde::Serialize;

use super::args::GcArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::machine::Machine;
use super::session::Session;
use crate::pipeline::PipelineError;
use crate::sandbox::{self, SandboxError, Swept};

#[derive(Serialize)]
struct Collected {
    dry_run: bool,
    /// Layers of environments, by kind and key.
    layers: Vec<String>,
    /// Bytes that went with them.
    bytes: u64,
    /// What went of the container daemon's; absent when none answers.
    daemon: Option<Swept>,
}

pub(super) fn run(args: &GcArgs, session: &Session) -> Result<ExitCode, CliError> {
    let (context, _lock) = session.open()?;
    let span = SignedDuration::from_hours(i64::from(args.unused_for) * 24);
    let cutoff = context
        .clock
        .now()
        .checked_sub(span)
        .unwrap_or(jiff::Timestamp::MIN);
    let mut collected = Collected {
        dry_run: args.dry_run,
        layers: vec![],
        bytes: 0,
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
    match sandbox::sweep(&Machine::read().docker_settings(), args.dry_run) {
        Ok(swept) => collected.daemon = Some(swept),
        Err(SandboxError::NoDaemon { .. } | SandboxError::RemoteDaemon { .. }) => {}
        Err(error) => return Err(PipelineError::from(error).into()),
    }
    session.printer.result(&collected, &render(&collected))?;
    Ok(ExitCode::Success)
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
    if let Some(swept) = &collected.daemon {
        let _ = writeln!(
            text,
            "{verb} {} containers and {} images of Quarry's",
            swept.containers, swept.images
        );
    }
    text
}
