//! Where pull requests come from: a mirror's place → a repository's name and folder, mined.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::PipelineError;
use crate::build::detect;
use crate::domain::ids::{CandidateId, CommitSha, RepoName};
use crate::domain::licence;
use crate::domain::path::RepoPath;
use crate::emit::manifest::Source;
use crate::git::{self, Mirror, mirror_repo_name};
use crate::mine;
use crate::recipe::model::Recipe;
use crate::sample;
use crate::workspace::Context;

/// Where a mirror is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A folder of this machine, which is only read, or an address that the git program clones into the workspace (and
    /// fetches from when the clone is there).
    Mirror(String),
    /// The sample that the program carries.
    Sample,
}

/// A mined repository, as the ledger remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinedSource {
    /// `owner/name`.
    pub repo: RepoName,
    /// Its mirror on this machine. Never goes into a manifest.
    pub mirror: PathBuf,
    /// What a manifest says of it.
    pub source: Source,
}

/// Cursors of this name remember mined repositories.
const CURSOR: &str = "source:";

impl MinedSource {
    /// This source, if the recipe is for it.
    ///
    /// # Errors
    /// [`PipelineError::OtherRepository`] when it is for others.
    pub fn admitted_by(self, recipe: &Recipe) -> Result<Self, PipelineError> {
        if recipe.source.admits(&self.repo) {
            return Ok(self);
        }
        let names: Vec<_> = recipe
            .source
            .repositories
            .iter()
            .map(ToString::to_string)
            .collect();
        Err(PipelineError::OtherRepository {
            repo: self.repo,
            dataset: recipe.dataset.name.clone(),
            wanted: names.join(", "),
        })
    }
}

/// Mines a mirror into the ledger and remembers it there. A summary that says `stopped` was cut short by the user.
///
/// # Errors
/// When the mirror cannot be read, its place does not tell its repository, or the ledger cannot be written.
pub async fn mine(
    context: &Context,
    place: Place,
    repo: Option<RepoName>,
    again: bool,
) -> Result<(MinedSource, mine::run::Summary), PipelineError> {
    let source = match place {
        Place::Mirror(text) => text,
        Place::Sample => {
            let folder = context.workspace.mirrors().join(sample::FOLDER);
            git::fast_import(sample::STREAM, folder.as_std_path())?;
            folder.into_string()
        }
    };
    let settings = mine::run::Settings {
        source,
        repo,
        again,
        limits: mine::sides::Limits::default(),
    };
    let summary = mine::run::run(context, &settings).await?;
    let mirror = std::path::absolute(&summary.mirror).map_err(|source| PipelineError::Scratch {
        path: summary.mirror.clone(),
        source,
    })?;
    let refs = &summary.refs;
    let mined = MinedSource {
        repo: summary.repo.clone(),
        mirror,
        source: Source {
            repo: summary.repo.clone(),
            branch: refs.branch.clone(),
            commit: refs.commit,
            refs_sha256: Source::fingerprint(refs.all.iter().map(|(name, commit)| (name.as_str(), *commit))),
            license: license(summary.mirror.as_std_path(), refs.commit),
        },
    };
    if !summary.stopped {
        let data = serde_json::to_value(&mined).unwrap_or_default();
        context
            .store
            .put_cursor(&format!("{CURSOR}{}", mined.repo), data)?;
    }
    Ok((mined, summary))
}

/// Pull requests as the ledger spells them: a repository's name in other letters is still its name.
pub fn spelled(sources: &[MinedSource], ids: &[CandidateId]) -> Vec<CandidateId> {
    let spell = |id: &CandidateId| {
        let known = sources.iter().find(|source| source.repo.is(&id.repo));
        id.of(known.map_or_else(|| id.repo.clone(), |source| source.repo.clone()))
    };
    ids.iter().map(spell).collect()
}

/// A note, where a mirror seems to be of another repository than the one that is asked for: by its own address, or, where
/// that does not tell, by the repositories that the commit's packaging files name.
///
/// # Errors
/// When the mirror cannot be read.
pub fn other_repository(
    asked: &RepoName,
    mirror: &Mirror,
    commit: CommitSha,
) -> Result<Option<String>, PipelineError> {
    if let Some(own) = mirror_repo_name(mirror.path()) {
        let other = !own.is(asked);
        return Ok(other.then(|| format!("the mirror says that it is of {own}, and not of {asked}")));
    }
    let mut named = BTreeSet::new();
    for file in ["pyproject.toml", "setup.cfg", "setup.py"] {
        let text = mirror.read(commit, &RepoPath::from(file))?.unwrap_or_default();
        named.extend(detect::repositories(&String::from_utf8_lossy(&text)));
    }
    // A repository that was given to somebody else, or forked, keeps its name.
    let is_it = |name: &RepoName| name.name().eq_ignore_ascii_case(asked.name());
    let said: Vec<String> = named.iter().map(ToString::to_string).collect();
    let other = !named.is_empty() && !named.iter().any(is_it);
    Ok(other.then(|| {
        format!(
            "nothing in the mirror says that it is of {asked}: its packaging files name {}",
            said.join(", ")
        )
    }))
}

/// The mined repositories of this workspace that the recipe is for, by name.
///
/// # Errors
/// When there is none, or the ledger cannot be read.
pub fn sources_of(context: &Context, recipe: &Recipe) -> Result<Vec<MinedSource>, PipelineError> {
    let mut sources = mined(context)?;
    sources.retain(|source| recipe.source.admits(&source.repo));
    if sources.is_empty() {
        return Err(PipelineError::NothingMined {
            dataset: recipe.dataset.name.clone(),
            workspace: context.workspace.root().to_owned(),
        });
    }
    Ok(sources)
}

/// Every mined repository of this workspace, by name.
///
/// # Errors
/// When the ledger cannot be read.
pub fn mined(context: &Context) -> Result<Vec<MinedSource>, PipelineError> {
    let rows = context.store.cursors(CURSOR)?;
    // A row of another version is read again by the next mining, which writes it anew.
    Ok(rows
        .into_iter()
        .filter_map(|(_, data)| serde_json::from_value(data).ok())
        .collect())
}

/// The licence that a commit's tree names; what cannot be read tells none.
fn license(mirror: &Path, commit: CommitSha) -> Option<String> {
    let mirror = Mirror::open(mirror).ok()?;
    licence::of_tree(&|name| mirror.read_through(commit, &RepoPath::from(name)).ok().flatten())
}
