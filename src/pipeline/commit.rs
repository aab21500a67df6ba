//! One commit → the environment that a run would find for it: asked, searched for, built, and tried on its own tree.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use super::environments::{Asked, Proposed};
use super::error::PipelineError;
use super::prove::{Means, Prover};
use super::search::{Ground, Searched, Shown, own_key};
use super::source::{self, MinedSource};
use super::tried::{self, Search};
use crate::build::run::{BuildOutcome, BuildSettings};
use crate::domain::candidate::{Candidate, DiffSource, Merge, MergeKind};
use crate::domain::environment::Environment;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{BlobId, CandidateId, CommitSha, RepoName};
use crate::emit::manifest::Source;
use crate::git::{Mirror, mirror_repo_name};
use crate::mine::release::version;
use crate::mine::split::Splitter;
use crate::recipe::LoadedRecipe;
use crate::recipe::model::{EnvironmentRecipe, Recipe};
use crate::sandbox::{DockerSettings, Room, RoomKind};
use crate::verify::run::Trial;
use crate::workspace::Context;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The repository.
    pub repo: RepoName,
    /// What names the commit in the mirror.
    pub commit: String,
    /// The mirror's folder; it is only read.
    pub mirror: PathBuf,
    /// How environments are searched for and tests are run; its entries go before what is found out.
    pub recipe: LoadedRecipe,
    /// Where installs and tests run.
    pub room: RoomKind,
    /// The Docker room's daemon.
    pub docker: DockerSettings,
    /// The machine's interpreters and package settings.
    pub build: BuildSettings,
    /// No work begins while less is free, in bytes, on the workspace's disk.
    pub min_free_bytes: u64,
}

/// How it ended.
#[derive(Debug)]
pub enum Outcome {
    /// The search came to an end.
    Done(Box<Report>),
    /// The user asked to stop; what was tried is recorded.
    Interrupted,
}

/// A commit's environment.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The repository.
    pub repo: RepoName,
    /// The commit.
    pub commit: CommitSha,
    /// What there is to say of the repository.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its committer date: dependencies are those an index had before it.
    pub date: String,
    /// Under which name the ledger keeps what was tried: a pull request that is merged into this commit, else
    /// the commit itself.
    pub candidate: CandidateId,
    /// Whose tree was searched for: another one's, when it asks for the same and was searched for before.
    pub searched_for: CandidateId,
    /// What was tried, what each try gave, what was chosen and why.
    pub search: Search,
    /// The chosen environment on this commit's tree; `None` when nothing was chosen.
    pub chosen: Option<Chosen>,
}

/// The chosen environment, built for this commit.
#[derive(Debug, Serialize)]
pub struct Chosen {
    /// What was installed, and how tests are run.
    pub recipe: EnvironmentRecipe,
    /// How the build for this commit ended: `ok`, or its failure's word.
    pub build: String,
    /// What this commit's tests showed in it.
    pub trial: Option<Trial>,
    /// The log of what decided.
    pub log: Option<BlobId>,
    /// What was built, with its lock; `None` when it could not be.
    pub environment: Option<Environment>,
    /// Folders of the workspace that hold it: the dependencies, and the project's own layer.
    pub folders: Vec<PathBuf>,
}

impl Report {
    /// Whether at least one of this commit's tests passed.
    pub fn is_accepted(&self) -> bool {
        let trial = self.chosen.as_ref().and_then(|chosen| chosen.trial.as_ref());
        trial.is_some_and(|trial| trial.passed > 0)
    }

    /// The report for a reader.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("{} at {}, of {}", self.repo, self.commit, self.date)];
        if self.searched_for != self.candidate {
            lines.push(format!(
                "asks for the same as {}, which was searched for before",
                self.searched_for
            ));
        }
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines.push(String::new());
        lines.extend(tried::text(&self.search).lines().map(str::to_owned));
        if let Some(chosen) = &self.chosen {
            lines.extend(chosen.lines());
        }
        lines.push(String::new());
        lines.push(format!(
            "`quarry explain '{0}'` tells this again; `quarry log '{0}'` prints the last log",
            self.candidate
        ));
        lines.join("\n") + "\n"
    }
}

impl Chosen {
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::new(), format!("environment {}", self.recipe.name)];
        if let Some(environment) = &self.environment {
            lines.push(format!("  key          {}", environment.key));
            lines.push(format!("  python       {}", environment.interpreter));
            lines.push(format!(
                "  resolved     by {}, as of {}",
                environment.resolver, environment.exclude_newer
            ));
            lines.push(format!("  lock         {}", environment.lock));
        }
        lines.extend(
            self.recipe
                .install
                .iter()
                .map(|line| format!("  install      {line}")),
        );
        lines.extend(
            (self.recipe.constraints.iter()).map(|constraint| {
                format!("  constraint   {}: {}", constraint.requirement, constraint.reason)
            }),
        );
        lines.extend((self.recipe.newer.iter()).map(|newer| {
            format!(
                "  newer        {} until {}: {}",
                newer.distribution, newer.until, newer.reason
            )
        }));
        lines.extend(
            (self.recipe.left_out.iter())
                .map(|left| format!("  left out     {}: {}", left.distribution, left.reason)),
        );
        lines.push(match &self.trial {
            None => format!("  here         not built: {}", self.build),
            Some(trial) => format!(
                "  here         {}: {} passed, {} failed, {} skipped, {} modules not collected ({})",
                trial.runner, trial.passed, trial.failed, trial.skipped, trial.not_collected, trial.ended
            ),
        });
        lines.extend((self.folders.iter()).map(|folder| format!("  lies in      {}", folder.display())));
        lines
    }
}

/// Finds, builds and tries the environment of a commit.
///
/// # Errors
/// Errors of ours or the caller's, and what the machine lacks.
pub async fn run(context: &Context, request: Request) -> Result<Outcome, PipelineError> {
    let mirror = Mirror::open(&request.mirror)?;
    let commit = mirror.resolve(&request.commit)?;
    let repo = spelled(context, &request.repo, &mirror)?;
    let notes = source::other_repository(&repo, &mirror, commit)?;
    let candidate = candidate(context, &mirror, &repo, commit)?;
    drop(mirror);
    let source = MinedSource {
        repo: repo.clone(),
        mirror: std::path::absolute(&request.mirror).unwrap_or_else(|_| request.mirror.clone()),
        source: Source {
            repo: repo.clone(),
            branch: String::new(),
            commit,
            refs_sha256: String::new(),
            license: None,
        },
    };
    let sources = [source];
    let mut docker = request.docker;
    docker.workspace = context.workspace.root().to_string();
    let room = Room::open(request.room, &docker, context.workspace.scratch().as_std_path())?;
    let splitter = Splitter::new(&request.recipe.recipe.split)?;
    let means = || Means {
        room: room.clone(),
        build: request.build.clone(),
        only_recorded: false,
        min_free_bytes: request.min_free_bytes,
    };
    let plain = request.recipe.recipe;
    let prover = Prover::new(context, &plain, &splitter, &sources, means())?;
    let found = match prover.entry(&candidate)?.cloned() {
        None => search(&prover, &candidate).await?,
        Some(entry) => {
            // What a recipe says outright is not repaired.
            let mut strict: Recipe = plain.clone();
            strict.detection.repairs = 0;
            let prover = Prover::new(context, &strict, &splitter, &sources, means())?;
            let key = KeyHasher::new("detect-entry", 1)
                .part("commit", commit.as_bytes())
                .json("entry", &entry)
                .finish();
            let asked = Asked {
                group: key.clone(),
                proposals: vec![Proposed {
                    environment: entry,
                    because: vec![],
                    optional: BTreeSet::new(),
                }],
                own_modules: BTreeSet::new(),
            };
            let found = prover
                .search(&candidate, &asked, &prover.touched(&candidate), &key)
                .await?;
            halted(&prover)?;
            found
        }
    };
    halted(&prover)?;
    let Some(mut found) = found else {
        return Ok(Outcome::Interrupted);
    };
    let mut chosen = chosen(&prover, &candidate, &found.search).await?;
    let is_hollow = |chosen: &Option<Chosen>| {
        let trial = chosen.as_ref().and_then(|chosen| chosen.trial.as_ref());
        trial.is_none_or(|trial| trial.passed == 0)
    };
    // What does for those who ask for the same may not do for this one.
    if is_hollow(&chosen) && found.of != candidate.id && !matches!(found.search, Search::Infra(_)) {
        let asked = prover.ask_trees(&[&candidate]).await?;
        if let Some(asked) = asked.get(&candidate.id) {
            let key = own_key(&asked.group, &candidate.id);
            let touched = prover.touched(&candidate);
            match prover.search(&candidate, asked, &touched, &key).await? {
                Some(own) => found = own,
                None => return Ok(Outcome::Interrupted),
            }
            chosen = self::chosen(&prover, &candidate, &found.search).await?;
        }
    }
    halted(&prover)?;
    if context.cancel.is_cancelled() {
        return Ok(Outcome::Interrupted);
    }
    Ok(Outcome::Done(Box::new(Report {
        repo,
        commit,
        notes: notes.into_iter().collect(),
        date: candidate.base_date.to_string(),
        candidate: candidate.id,
        searched_for: found.of,
        search: found.search,
        chosen,
    })))
}

fn halted(prover: &Prover<'_>) -> Result<(), PipelineError> {
    match prover.halt() {
        Some(halt) => Err(PipelineError::Halted(halt.clone())),
        None => Ok(()),
    }
}

/// The search of the commit's group, as a run makes it.
async fn search(prover: &Prover<'_>, candidate: &Candidate) -> Result<Option<Searched>, PipelineError> {
    let asked = prover.ask_trees(&[candidate]).await?;
    let groups = prover.search_groups(&[candidate], &asked).await?;
    Ok(groups.into_values().next())
}

/// The chosen environment, built for this commit and tried on its tree.
async fn chosen(
    prover: &Prover<'_>,
    candidate: &Candidate,
    search: &Search,
) -> Result<Option<Chosen>, PipelineError> {
    let Some(recipe) = search.environment() else {
        return Ok(None);
    };
    let work = prover.work_folder("commit-")?;
    let request = prover.build_request(candidate, recipe, work.path().join("tree"))?;
    prover.export(candidate, &request.tree).await?;
    let mut chosen = Chosen {
        recipe: recipe.clone(),
        build: "ok".to_owned(),
        trial: None,
        log: None,
        environment: None,
        folders: vec![],
    };
    let ground = Ground {
        candidate,
        tree: &request.tree,
        touched: &prover.touched(candidate),
    };
    match prover.show(ground, recipe).await? {
        Shown::Stopped => return Ok(None),
        Shown::NotBuilt(reason, log) => (chosen.build, chosen.log) = (reason, log),
        Shown::Tried(trial, log) => (chosen.trial, chosen.log) = (Some(*trial), log),
    }
    if chosen.trial.is_some()
        && let BuildOutcome::Built(built) = prover.builder.build_for(&request).await?
    {
        chosen.folders = built.folders().map(ToOwned::to_owned).into();
        chosen.environment = Some(built.environment);
    }
    Ok(Some(chosen))
}

/// The repository as the ledger spells it, or else as the mirror's address does.
fn spelled(context: &Context, asked: &RepoName, mirror: &Mirror) -> Result<RepoName, PipelineError> {
    let known = context.store.spelled(asked)?;
    if known != *asked {
        return Ok(known);
    }
    let own = mirror_repo_name(mirror.path()).filter(|own| own.is(asked));
    Ok(own.unwrap_or(known))
}

/// The pull request that is merged into this commit, if one was mined (of several the lowest number), else a stand-in
/// that knows no more than the commit.
fn candidate(
    context: &Context,
    mirror: &Mirror,
    repo: &RepoName,
    commit: CommitSha,
) -> Result<Candidate, PipelineError> {
    let mined = context.store.candidates(Some(repo))?;
    let mut mined: Vec<Candidate> = mined
        .into_iter()
        .filter(|candidate| candidate.base_commit == commit)
        .collect();
    mined.sort_by(|a, b| a.id.cmp(&b.id));
    if let Some(first) = mined.into_iter().next() {
        return Ok(first);
    }
    let date: Timestamp = mirror.committed_at(commit)?;
    Ok(Candidate {
        id: CandidateId::of_commit(repo.clone(), commit),
        head: commit,
        merge: Merge {
            commit,
            branch: String::new(),
            kind: MergeKind::FastForward,
            evidence: vec![],
            relations: vec![],
        },
        base_commit: commit,
        merge_base: commit,
        diff_source: DiffSource::Landed,
        applies: true,
        title: None,
        body: None,
        author: None,
        labels: None,
        commits: vec![],
        commit_count: 0,
        merged_at: date,
        base_date: date,
        references: vec![],
        release: release(mirror, commit)?,
        files: vec![],
        diff: context.blobs.put(b"")?,
        forge: None,
    })
}

/// The youngest release tag at the commit or below it.
fn release(mirror: &Mirror, commit: CommitSha) -> Result<Option<String>, PipelineError> {
    let mut tags: Vec<_> = mirror
        .refs("refs/tags/")?
        .into_iter()
        .filter_map(|tip| {
            let name = tip.name.strip_prefix("refs/tags/")?.to_owned();
            Some((version(&name)?, name, tip.commit))
        })
        .collect();
    tags.sort();
    let marked = tags.iter().map(|(_, _, commit)| *commit).collect();
    let nearest = mirror.first_at_or_below(commit, &marked)?;
    // Of several at one commit the greatest version.
    let name = tags.into_iter().rfind(|(_, _, commit)| Some(*commit) == nearest);
    Ok(name.map(|(_, name, _)| name))
}
