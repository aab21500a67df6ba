//! A candidate whose tests need what it begins to ask for itself: no environment of its base commit has that, so its
//! tree is asked again with the pull request's own packaging files laid over it.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::environments::{Asked, own_modules};
use super::error::PipelineError;
use super::proof::Proof;
use super::prove::Prover;
use super::tried::Search;
use crate::build::after::{PackagingAfter, is_packaging_file};
use crate::build::repair::{Trouble, symptoms};
use crate::domain::attempt::AttemptOutcome;
use crate::domain::candidate::Candidate;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{BlobId, CandidateId};
use crate::domain::patch::FileChange;
use crate::domain::path::RepoPath;
use crate::git::Mirror;
use crate::git::apply::{ApplyError, apply};
use crate::mine::split::section;
use crate::verify::run::said_at_last;

/// The key of a search in a tree with a candidate's packaging files laid over it.
fn after_key(group: &str, candidate: &CandidateId) -> String {
    KeyHasher::new("detect-after", 1)
        .part("group", group.as_bytes())
        .json("candidate", candidate)
        .finish()
}

impl Prover<'_> {
    /// A proof in the environment that the pull request itself asks for, where its tests lack something in the one that its
    /// base commit asks for and judge by more tests then; else the proof as it is. `None` when it was stopped, or when the
    /// ledger does not know and nothing may be run.
    pub(super) async fn prove_after(
        &self,
        candidate: &Candidate,
        asked: &Asked,
        proof: Proof,
    ) -> Result<Option<Proof>, PipelineError> {
        let touched = packaging_files(candidate).next().is_some();
        let Some(log) = proof.log.as_ref().filter(|_| touched) else {
            return Ok(Some(proof));
        };
        let Some(reason) = self.lacks(candidate, asked, log)? else {
            return Ok(Some(proof));
        };
        let Some(after) = self.packaging_after(candidate)? else {
            return Ok(Some(proof));
        };
        let files: Vec<_> = after.names().map(str::to_owned).collect();
        let mut later = self.ask_tree(candidate, Some(after)).await?;
        // It asks for nothing else.
        if later.group == asked.group {
            return Ok(Some(proof));
        }
        later.group = after_key(&later.group, &candidate.id);
        for proposal in &mut later.proposals {
            proposal.environment.requirements_after = Some(reason.clone());
        }
        let why = format!("again, with its own {}: {reason}; ", files.join(", "));
        self.record_group(candidate, &later, &why)?;
        let Some(found) = self
            .search(candidate, &later, &self.touched(candidate), &later.group)
            .await?
        else {
            return Ok(None);
        };
        if let Search::Infra(word) = &found.search {
            let broken_off = Proof::of(candidate);
            return Ok(Some(broken_off.without_environment(AttemptOutcome::Infra, word)));
        }
        let Some(environment) = found.search.environment() else {
            return Ok(Some(proof));
        };
        let Some(own) = self.prove_in(candidate, environment).await? else {
            return Ok(None);
        };
        let is_better = own.is_broken_off() || own.shows_more_than(&proof);
        Ok(Some(if is_better { own } else { proof }))
    }

    /// What the tests lack, gold or not, that no work tree brings, in the words of one of them; `None` when nothing.
    fn lacks(
        &self,
        candidate: &Candidate,
        asked: &Asked,
        log: &BlobId,
    ) -> Result<Option<String>, PipelineError> {
        let log = self.context.blobs.get(log)?;
        let brought = own_modules(candidate.files.iter().map(|file| &file.path));
        let is_own = |module: &str| {
            let top = module.split('.').next().unwrap_or(module);
            asked.own_modules.contains(top) || brought.contains(top)
        };
        let said = said_at_last(&String::from_utf8_lossy(&log));
        let mut lacking = said.iter().filter_map(|(test, message)| {
            let symptom = symptoms(message)
                .into_iter()
                .find(|symptom| match &symptom.trouble {
                    Trouble::MissingModule { module } => !is_own(module),
                    Trouble::MissingFixture { .. } => true,
                    _ => false,
                })?;
            Some(format!("{test} says: {}", symptom.evidence))
        });
        Ok(lacking.next())
    }

    /// A candidate's packaging files as its change leaves them, laid over those of its base commit; `None` when it changes
    /// none, or when its change does not fit them.
    ///
    /// # Errors
    /// When the mirror, the blobs or the scratch folder cannot be used.
    pub(super) fn packaging_after(
        &self,
        candidate: &Candidate,
    ) -> Result<Option<PackagingAfter>, PipelineError> {
        let files: Vec<&FileChange> = packaging_files(candidate).collect();
        if files.is_empty() {
            return Ok(None);
        }
        let mirror = Mirror::open(self.mirror(candidate)?)?;
        let folder = self.work_folder("after-")?;
        let place = |path: &RepoPath| folder.path().join(std::ffi::OsStr::from_bytes(path.as_bytes()));
        let scratch = |source: std::io::Error| PipelineError::Scratch {
            path: self.context.workspace.scratch(),
            source,
        };
        let diff = self.context.blobs.get(&candidate.diff)?;
        let mut sections = Vec::new();
        for file in &files {
            let old = file.old_path.as_ref().unwrap_or(&file.path);
            if let Some(bytes) = mirror.read(candidate.base_commit, old)? {
                let path = place(old);
                fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(scratch)?;
                fs::write(&path, bytes).map_err(scratch)?;
            }
            sections.extend_from_slice(section(&diff, file));
        }
        match apply(folder.path(), &sections) {
            Ok(()) => {}
            Err(ApplyError::DoesNotApply { .. }) => return Ok(None),
            Err(ApplyError::Outside { source }) => return Err(source.into()),
        }
        let paths = files
            .iter()
            .flat_map(|file| file.old_path.iter().chain([&file.path]));
        Ok(PackagingAfter::new(
            paths.map(|path| (path.clone(), fs::read(place(path)).ok())),
        ))
    }
}

/// The packaging files among what a candidate changes.
fn packaging_files(candidate: &Candidate) -> impl Iterator<Item = &FileChange> {
    let files = candidate.files.iter();
    files
        .filter(|file| is_packaging_file(&file.path) || file.old_path.as_ref().is_some_and(is_packaging_file))
}
