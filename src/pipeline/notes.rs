//! A mirror's release notes, with what GitHub tells beside git: texts of releases, and who closed issues.

use camino::Utf8Path;
use serde::Serialize;

use super::enrich::{Asking, client, is_context};
use super::error::PipelineError;
use crate::git::transport::Transfer;
use crate::github::{Spent, timeline};
use crate::mine::release_notes::run::outside::{self, AskedClosers};
use crate::mine::release_notes::run::{Notes, Settings, notes};
use crate::mine::run::MineError;
use crate::mine::run::enrich::{Question, enrich};
use crate::workspace::Context;

/// What asking for notes came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// What it would cost.
    WouldCost {
        /// Issues that would be asked.
        issues: usize,
        /// Requests, when GitHub is not slow and each timeline has one page.
        requests: u64,
        /// Points.
        points: u64,
    },
    /// What was asked.
    Asked {
        /// Who closed issues; `None` when it was stopped before that.
        closers: Option<AskedClosers>,
        /// What it cost.
        spent: Spent,
        /// Why it stopped before its end; the same command goes on.
        stopped: Option<String>,
    },
}

/// Reads notes with what the workspace knows already from GitHub; where nothing tells the repository's name, without.
///
/// # Errors
/// When the mirror or the ledger cannot be read.
pub fn known(context: &Context, mut settings: Settings) -> Result<Notes, PipelineError> {
    let named = settings.repo.clone();
    if let Some(repo) = named.or_else(|| crate::git::mirror_repo_name(&settings.mirror)) {
        settings.outside = outside::outside(context, &repo)?;
    }
    Ok(notes(&settings)?)
}

/// Reads notes, asks GitHub for the releases and for who closed what git does not resolve, and reads them with that.
///
/// # Errors
/// When the mirror or the ledger cannot be read, or GitHub cannot be asked. A spent budget and a stop are no errors.
pub async fn ask(
    context: &Context,
    settings: Settings,
    asking: &Asking,
) -> Result<(Notes, Told), PipelineError> {
    let read = known(context, settings.clone())?;
    let repo = read.repo.clone();
    if asking.dry_run {
        let issues = outside::unasked(context, &repo, &outside::open(&read))?.len();
        let (requests, points) = timeline::cost(issues, asking.github.batch);
        let new = u64::from(context.releases(&repo)?.is_none());
        let told = Told::WouldCost {
            issues,
            requests: requests + new,
            points: points + new,
        };
        return Ok((read, told));
    }
    let client = client(context, asking.github.clone())?;
    let question = Question {
        repo: &repo,
        candidates: &[],
        refresh: asking.refresh,
        is_context: &is_context,
    };
    let first = enrich(context, &client, question).await?;
    let (closers, stopped) = if let Some(why) = first.stopped {
        (None, Some(why))
    } else {
        // Texts of releases name issues, too.
        let with_releases = known(context, settings.clone())?;
        match outside::ask(context, &client, &repo, &outside::open(&with_releases)).await {
            Err(MineError::Github(error)) if error.is_pause() => (None, Some(error.to_string())),
            other => (Some(other?), None),
        }
    };
    let told = Told::Asked {
        closers,
        spent: client.spent(),
        stopped,
    };
    Ok((known(context, settings)?, told))
}

/// The mirror of a repository, cloned into the workspace or fetched there first, for an address; and whether that was
/// stopped before its end.
///
/// # Errors
/// When it cannot be had.
pub fn mirror(context: &Context, source: &str, settings: &mut Settings) -> Result<Transfer, PipelineError> {
    let (folder, repo, stopped) = crate::mine::run::mirror(
        context,
        &crate::mine::run::Settings {
            source: source.to_owned(),
            repo: settings.repo.clone(),
            again: false,
            limits: crate::mine::sides::Limits::default(),
        },
    )?;
    Utf8Path::as_std_path(&folder).clone_into(&mut settings.mirror);
    settings.repo = Some(repo);
    Ok(if stopped {
        Transfer::Stopped
    } else {
        Transfer::Done
    })
}
